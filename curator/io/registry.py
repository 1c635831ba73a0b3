"""Which format a file has: asked of its content, never of its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from curator.domain.errors import UserError
from curator.io.kb.base import KbSource
from curator.io.source import Source
from curator.services.ports import DocumentFormat, KnowledgeBaseReader


class Registry:
    """The document formats in the order in which they are asked, and the knowledge-base sources likewise."""

    def __init__(self, formats: Sequence[DocumentFormat], kb_sources: Mapping[str, KbSource]) -> None:
        self._formats = tuple(formats)
        self._kb_sources = dict(kb_sources)

    def formats(self) -> Sequence[DocumentFormat]:
        return self._formats

    def by_name(self, name: str) -> DocumentFormat:
        """Raises UserError that lists the names of those that can be written."""
        for form in self._formats:
            if form.name == name.strip().lower():
                return form
        names = ", ".join(form.name for form in self._formats if form.can_write)
        raise UserError(f"there is no format {name!r} to write: choose one of {names}")

    def recognise(self, path: Path) -> DocumentFormat:
        """By content, gzip included. Raises UserError (missing, empty, truncated, unknown)."""
        head = Source(path).head()
        for form in self._formats:
            if form.can_read and form.sniff(path, head):
                return form
        if self._kb_source(head):
            raise UserError(f"{path} is a knowledge base, not documents: import it as the knowledge base")
        titles = ", ".join(form.title for form in self._formats if form.can_read)
        raise UserError(
            f"{path} is none of the document formats that can be read ({titles}): convert it to one of them"
        )

    def open_kb(self, path: Path) -> KnowledgeBaseReader:
        """The reader of a knowledge-base file, or of a folder of ZESHEL documents. Raises UserError."""
        if path.is_dir():
            return self._kb_sources["zeshel"].open(path)
        head = Source(path).head()
        if source := self._kb_source(head):
            return source.open(path)
        titles = ", ".join(source.title for source in self._kb_sources.values())
        what = next((f"is {f.title}, not a knowledge base" for f in self._formats if f.sniff(path, head)), "")
        raise UserError(f"{path} {what or 'is no knowledge base that can be read'}: choose one of {titles}")

    def _kb_source(self, head: bytes) -> KbSource | None:
        return next((source for source in self._kb_sources.values() if source.sniff(head)), None)
