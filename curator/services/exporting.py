"""Decisions out of the project, through the formats' writers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from curator.services.ports import FormatRegistry, Store


@dataclass(frozen=True, slots=True)
class ExportReport:
    format: str
    paths: tuple[Path, ...]
    documents: int
    mentions: int
    unchanged: int


class ExportService:
    def __init__(self, store: Store, formats: FormatRegistry) -> None:
        self._store = store
        self._formats = formats

    def formats(self) -> list[tuple[str, str]]:
        """(name, title) of the formats that can be written."""
        return [(one.name, one.title) for one in self._formats.formats() if one.can_write]

    def export(self, out: Path, format_name: str, *, only_done: bool = False) -> ExportReport:
        """Write all documents (or the done ones) atomically. Raises UserError."""
        raise NotImplementedError
