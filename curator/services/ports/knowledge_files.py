"""What may be asked of the readers of knowledge bases, and what a table looks like before it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FIELDS = ("id", "name", "synonyms", "types", "definition", "alt_ids", "parents", "tree_numbers")
"""What a column of a table may hold. `id` and `name` are needed."""
ENGLISH = ("en",)


@dataclass(frozen=True, slots=True)
class KbOptions:
    """Choices for one reading; each format takes from it what it has.

    `columns` says for a field of `FIELDS` which column of a table holds it, by its heading or its number from 1; '' for
    none. `languages` are those whose names are read, as ISO 639-1 codes, none for English; `vocabularies` the UMLS's
    source abbreviations (`MSH`), none for all; `types` the only types to be read, by name or semantic type number
    (`T047`).
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    sheet: str = ""
    languages: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    suppressed: bool = False

    @property
    def read_languages(self) -> tuple[str, ...]:
        return self.languages or ENGLISH


@dataclass(frozen=True, slots=True)
class TablePreview:
    """A table's headings, its first rows, the sheets of a workbook, and which column was taken for which field."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()
