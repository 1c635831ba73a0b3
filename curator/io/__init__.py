"""Documents and knowledge bases in files: one module for each format, and a registry that joins them.

* **PubMed is queried with urllib** (`eutils.py`), with everything in the body of POST requests, so that no log or error
  contains the key. The module is next to the registry because `curator.bootstrap` needs it without lxml.
* **The formats are imported with the first file**, not with the project.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curator.io.registry import Registry
    from curator.io.tables.columns import ColumnMemory
    from curator.services.ports.files import (
        DocumentFormat,
        DocumentOptions,
        FormatRegistry,
        KbOptions,
        KnowledgeBaseReader,
        TablePreview,
    )

__all__ = ["default_registry"]


def default_registry(columns: ColumnMemory | None = None) -> FormatRegistry:
    """The registry of all formats. `columns` remembers the columns chosen for tables."""
    return _OnFirstQuestion(columns)


class _OnFirstQuestion:
    """Imports the formats at the first call, since this takes 0.4 s and opening a project does not need them. See
    `ports.FormatRegistry`."""

    def __init__(self, columns: ColumnMemory | None) -> None:
        self._columns = columns

    @cached_property
    def _every(self) -> Registry:
        from curator.io.formats import every_format

        return every_format(self._columns)

    def formats(self) -> Sequence[DocumentFormat]:
        return self._every.formats()

    def by_name(self, name: str) -> DocumentFormat:
        return self._every.by_name(name)

    def recognise(self, path: Path, options: DocumentOptions | None = None) -> DocumentFormat:
        return self._every.recognise(path, options)

    def files_in(self, path: Path) -> Sequence[Path]:
        return self._every.files_in(path)

    def unread_in(self, path: Path, form: DocumentFormat) -> Sequence[Path]:
        return self._every.unread_in(path, form)

    def never_read(self, path: Path) -> Mapping[Path, str]:
        return self._every.never_read(path)

    def fixed(self, name: str) -> FormatRegistry:
        return self._every.fixed(name)

    def choose_columns(self, path: Path, options: DocumentOptions) -> None:
        self._every.choose_columns(path, options)

    def digest(self, path: Path) -> str:
        return self._every.digest(path)

    def preview_documents(self, path: Path, options: DocumentOptions | None = None) -> TablePreview | None:
        return self._every.preview_documents(path, options)

    def knowledge_bases(self) -> Sequence[tuple[str, str]]:
        return self._every.knowledge_bases()

    def open_kb(self, path: Path, options: KbOptions | None = None) -> KnowledgeBaseReader:
        return self._every.open_kb(path, options)

    def preview_kb(self, path: Path, options: KbOptions | None = None) -> TablePreview | None:
        return self._every.preview_kb(path, options)

    def kb_titles(self) -> Mapping[str, str]:
        return self._every.kb_titles()

    def kb_choices(self) -> Mapping[str, frozenset[str]]:
        return self._every.kb_choices()
