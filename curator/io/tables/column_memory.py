"""Which columns were chosen for tables of which headings, kept in a file of the user's for the next table like them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from curator.io.files.atomic import AtomicWriter
from curator.services.ports.files import DOCUMENT_FIELDS, DocumentOptions

MOST = 200


class ColumnMemory:
    """Reads the file with each question, since another window may have written it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, headings: Sequence[str]) -> DocumentOptions | None:
        """What was chosen last for these headings."""
        found = next((one for one in reversed(self._entries()) if one.get("headings") == list(headings)), None)
        columns = found.get("columns") if found else None
        if not isinstance(columns, dict):
            return None
        chosen = {str(key): str(one) for key, one in columns.items() if key in DOCUMENT_FIELDS}
        return DocumentOptions(chosen, str(found.get("sheet", "")) if found else "")

    def remember(self, headings: Sequence[str], options: DocumentOptions) -> None:
        """Where the file cannot be written the choice is good for nothing, and that is said. Raises UserError."""
        kept = [one for one in self._entries() if one.get("headings") != list(headings)]
        kept.append({"headings": list(headings), "columns": dict(options.columns), "sheet": options.sheet})
        with suppress(OSError):  # writing it says what is wrong
            self._path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(kept[-MOST:], ensure_ascii=False, indent=1)
        AtomicWriter().write({self._path: data.encode("utf-8", "replace")})

    @property
    def is_empty(self) -> bool:
        return not self._path.is_file()

    def _entries(self) -> list[dict[str, Any]]:
        """None where the file is missing or no longer what was written."""
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return []
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
