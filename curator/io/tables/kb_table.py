"""A table as a knowledge base: one entity per row, or consecutive rows of one entity.

Columns are recognised by headings or given (`KbOptions.columns`). Several values in a cell are separated by `|`, or by
`;` if a column has no `|`. Of consecutive rows with the same id, the first gives the name, and the names of the others
are synonyms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Self

from curator.domain.curies import curie
from curator.domain.entities import Entity
from curator.domain.wording import UnreadableError, UserError, tr
from curator.io.files.source import plain_text
from curator.io.kb.base import KbReader, clean_names
from curator.io.tables.columns import key, place, unread_note
from curator.io.tables.columns import sniffed as sniffed_by
from curator.io.tables.tables import (
    MISSING,
    Cells,
    Table,
    extra_cells,
    headings_in,
    is_converted,
    is_only_table,
    is_workbook,
)
from curator.services.ports.files import FIELDS, KbOptions, Problem, TablePreview

HEADINGS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "identifier", "curie", "entityid", "conceptid", "termid", "code", "accession", "cui", "uri", "iri"),
    "name": ("name", "label", "preflabel", "preferredname", "preferredlabel", "term", "title", "conceptname", "symbol"),
    "synonyms": ("synonyms", "synonym", "altlabel", "altlabels", "aliases", "alias", "othernames", "exactsynonyms"),
    "types": ("types", "type", "semantictype", "semantictypes", "category", "class", "namespace", "kind"),
    "definition": ("definition", "description", "scopenote", "comment", "gloss"),
    "alt_ids": ("altids", "altid", "alternateids", "alternateid", "alternativeids", "secondaryids", "xrefs"),
    "parents": ("parents", "parent", "parentids", "parentid", "isa", "broader", "subclassof"),
    "tree_numbers": ("treenumbers", "treenumber"),
}
"""Field -> headings that mean it, letters and digits only, in lower case."""
TEXTS = frozenset(("text", "abstract", "body", "passage", "mention", "start", "end", "pmid", "documentid", "docid"))
"""Headings that tables of documents or mentions have: such a table is not a knowledge base."""
SHOWN = 5
SEPARATORS = "|;"


class KbTableReader(KbReader):
    format = "table"
    title = "a table (CSV, TSV, XLSX)"
    chooses = frozenset({"columns", "sheet"})

    def __init__(self, path: Path, options: KbOptions | None = None) -> None:
        super().__init__(path, options)
        self._table = Table(path, sheet=self.options.sheet)
        self._columns = self.options.columns

    @staticmethod
    def sniff(head: bytes) -> bool:
        """Whether the first line has headings for id and name, and none of documents."""
        return is_kb(headings_in(head))

    @classmethod
    def sniff_path(cls, path: Path) -> bool:
        """Whether it is a workbook with such headings in its first sheet, or a UTF-16 text with them."""
        try:
            return path.is_file() and is_only_table(path) and is_kb(next(iter(Table(path).first(1)), []))
        except UnreadableError:
            raise
        except UserError:
            return False

    @classmethod
    def open(cls, path: Path, options: KbOptions | None = None) -> Self:
        """Raises UserError for a missing, empty, truncated or foreign file, and for missing columns."""
        reader = cls(path, options)
        reader._table.verify()
        places_of(path, next(iter(reader._table.first(1)), []), reader._columns)
        return reader

    @property
    def position(self) -> tuple[int, int]:
        return self._table.position

    def entities(self) -> Iterator[tuple[int, Entity]]:
        self._cells, self._unread = Cells(), set[str]()
        for _, group in groupby(self._rows(), key=lambda found: found[1].id):
            (line, entity), *more = group
            yield line, _joined(entity, [one for _, one in more]) if more else entity
        self.problems += [*unread_note(self._unread), *self._cells.notes()]
        if self._table.repair:
            self.problems.insert(0, Problem(0, "repaired", self._table.repair))

    def _rows(self) -> Iterator[tuple[int, Entity]]:
        rows = self._table.rows()
        headings = next(rows, (0, []))[1]
        places = places_of(self._table.path, headings, self._columns)
        others = {at: one for at, one in enumerate(headings) if one.strip() and at not in places.values()}
        for line, cells in rows:
            for at in [at for at in others if at < len(cells) and cells[at].strip() not in ("", *MISSING)]:
                self._unread.add(others.pop(at))
            if len(cells) > len(headings) and any(cell.strip() for cell in cells[len(headings) :]):
                self.problems.repaired(extra_cells(len(cells), len(headings)), line)
            values = {
                field: self._cells.value(plain_text(cells[at]), line) for field, at in places.items() if at < len(cells)
            }
            if made := [values[field] for field in ("id", "name") if is_converted(values.get(field, ""))]:
                self._converted(line, made)
                continue
            if not values.get("id") or not values.get("name"):
                missing = "name" if values.get("id") else "id"
                self.problems.set_aside(tr("the row has no {missing}", missing=missing), line)
                continue
            yield line, self._entity(line, values)

    def _entity(self, line: int, values: Mapping[str, str]) -> Entity:
        def several(field: str) -> list[str]:
            found = [one for cell in split(values.get(field, "")) if (one := self._cells.value(cell, line))]
            if made := [one for one in found if is_converted(one)]:
                self._converted(line, made)
            return [one for one in found if one not in made]

        entity_id, name = curie(values["id"]), " ".join(values["name"].split())
        return Entity(
            entity_id,
            name,
            synonyms=clean_names(several("synonyms"), besides=name),
            types=clean_names(several("types")),
            definition=values.get("definition", ""),
            alt_ids=clean_names(map(curie, several("alt_ids")), besides=entity_id),
            tree_numbers=clean_names(several("tree_numbers")),
            parents=clean_names(map(curie, several("parents")), besides=entity_id),
        )

    def _converted(self, line: int, made: Sequence[str]) -> None:
        text = tr(
            "“{cells}” is left out: a spreadsheet may have converted a name or identifier to this date, logical "
            "value or number. Correct the cell and format its column as text.",
            cells=", ".join(made),
        )
        self.problems.set_aside(text, line)


def _joined(first: Entity, more: Sequence[Entity]) -> Entity:
    every = (first, *more)

    def union(field: str) -> tuple[str, ...]:
        return clean_names(value for one in every for value in getattr(one, field))

    return replace(
        first,
        synonyms=clean_names((name for one in every for name in (one.name, *one.synonyms)), besides=first.name),
        definition=next((one.definition for one in every if one.definition), ""),
        types=union("types"),
        alt_ids=union("alt_ids"),
        tree_numbers=union("tree_numbers"),
        parents=union("parents"),
    )


def split(cell: str) -> tuple[str, ...]:
    """The values of a cell."""
    if not cell:  # as most are
        return ()
    separator = next((one for one in SEPARATORS if one in cell), None)
    return clean_names(" ".join(part.split()) for part in (cell.split(separator) if separator else [cell]))


def sniffed(headings: Sequence[str]) -> dict[str, str]:
    """The likely column of each field."""
    return sniffed_by(headings, HEADINGS)


def places_of(path: Path, headings: Sequence[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Field -> index of its column. Raises UserError for a missing column, and if there is neither id nor name."""
    unknown = [one for one in columns if one not in FIELDS]
    if unknown:
        raise UserError(
            tr(
                "an entity has no field {unknown!r}: choose one of {fields}",
                unknown=unknown[0],
                fields=", ".join(FIELDS),
            )
        )
    chosen = {**sniffed(headings), **columns}
    named = ", ".join(one for one in headings if one.strip()) or "none"
    places = {field: place(path, headings, one) for field, one in chosen.items() if one}
    for field in ("id", "name"):
        if field not in places:
            raise UserError(
                tr(
                    "{path}: no column was chosen for the {field}. Its columns are {named}: choose one "
                    "(--column {field}=HEADING, or in the dialog)",
                    path=path,
                    field=field,
                    named=named,
                )
            )
    return places


def preview_kb_table(path: Path, options: KbOptions | None = None) -> TablePreview:
    """The beginning of a table, for the choice of columns. Raises UserError."""
    options = options or KbOptions()
    table = Table(path, sheet=options.sheet)
    headings, *rows = table.first(SHOWN + 1) or [[]]
    columns = {**sniffed(headings), **{field: one for field, one in options.columns.items() if one}}
    return TablePreview(tuple(headings), tuple(tuple(row) for row in rows), columns, table.sheets())


def is_kb(headings: Sequence[str]) -> bool:
    found = sniffed(headings)
    return "id" in found and "name" in found and TEXTS.isdisjoint(map(key, headings))


def is_table(path: Path) -> bool:
    """Whether a choice of columns makes sense: a workbook, or text with a separator in its first line."""
    if path.is_dir():
        return False
    if is_workbook(path):
        return True
    line = next((one for one in Table(path).first(1)), [])
    return len(line) > 1
