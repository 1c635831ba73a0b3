"""The project's guidelines: Markdown that every curator sees next to the text."""

from __future__ import annotations

from curator.domain.wording import UserError, tr
from curator.services.ports import Store

GUIDELINES_KEY = "guidelines"
LONGEST = 1_000_000
"""Characters; a hundred times what guidelines usually have."""


class GuidelineService:
    """Read and write them; they are stored in the project, so that they travel with it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def text(self) -> str:
        """'' before the first were written."""
        with self._store.read() as unit:
            return unit.meta.get(GUIDELINES_KEY) or ""

    def set_text(self, text: str) -> None:
        """Raises UserError where they are far too long, or the project is read-only."""
        if len(text) > LONGEST:
            raise UserError(
                tr(
                    "Guidelines can have at most {longest:,} characters; these have {number:,}.",
                    longest=LONGEST,
                    number=len(text),
                )
            )
        with self._store.write() as unit:
            unit.meta.set(GUIDELINES_KEY, text)
