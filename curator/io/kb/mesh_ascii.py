"""MeSH in NLM's ASCII form (`d2024.bin`, `c2024.bin`): `*NEWRECORD`, then `FIELD = value` lines.

Types, tree numbers and names are those of `mesh_xml`, except that a supplementary record refers to descriptors by name
only, and its class is the field `SC`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from curator.domain.entities import Entity
from curator.domain.wording import UserError, ntr, tr
from curator.io.files.reading import SourceReader
from curator.io.files.source import Source, without_line_end
from curator.io.kb.base import KbSource, clean_names, first_of_each, needs_some
from curator.io.kb.mesh_xml import CLASSES, types_of

_START = re.compile(rb"^\*NEWRECORD\s*$", re.MULTILINE)
_FIELD = re.compile(r"([A-Z][A-Z0-9 ]*?) = (.*)")


@dataclass(slots=True)
class _Record:
    line: int
    fields: dict[str, list[str]] = field(default_factory=dict)

    def all(self, *names: str) -> list[str]:
        return [value for name in names for value in self.fields.get(name, [])]

    def first(self, *names: str) -> str:
        return next(iter(self.all(*names)), "")


class MeshAsciiReader(SourceReader):
    """Streams one file, after a first pass that collects the tree numbers. Qualifiers are not entities."""

    format = "mesh-ascii"

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        at = {number: record.first("UI") for record in self._records() for number in record.all("MN")}
        found = first_of_each(self._entities(at), self.problems)
        yield from needs_some(found, self._source.path, self.problems)

    def _entities(self, at: dict[str, str]) -> Iterator[tuple[int, Entity]]:
        qualifiers = 0
        for record in self._records():
            ui, name = record.first("UI"), record.first("MH", "NM")
            if record.first("RECTYPE") == "Q":
                qualifiers += 1
            elif not ui or not name:
                self._problem(
                    record.line,
                    "set aside",
                    tr("the record {ui} has no {value}", ui=ui or name, value="name" if ui else "UI"),
                )
            else:
                yield record.line, _entity(record, ui, name, at)
        if qualifiers:
            self._problem(
                0,
                "note",
                ntr(
                    "{n} qualifier was skipped: it is not an entity",
                    "{n:,} qualifiers were skipped: they are not entities",
                    qualifiers,
                ),
            )

    def _records(self) -> Iterator[_Record]:
        record: _Record | None = None
        for number, line in enumerate(self._source.lines(), 1):
            if not (text := without_line_end(line)):
                continue
            if text.strip() == "*NEWRECORD":
                if record is not None:
                    yield record
                record = _Record(number)
            elif record is not None and (found := _FIELD.match(text)):
                record.fields.setdefault(found[1], []).append(found[2].strip())
        if record is not None:
            yield record


def _entity(record: _Record, ui: str, name: str, at: dict[str, str]) -> Entity:
    numbers = clean_names(record.all("MN"))
    above = (at.get(number.rpartition(".")[0], "") for number in numbers)
    supplementary = record.first("RECTYPE") == "C"
    class_ = CLASSES.get(record.first("SC") or "1", "") if supplementary else ""
    terms = record.all("ENTRY", "PRINT ENTRY", "SY")
    return Entity(
        f"MESH:{ui}",
        name,
        synonyms=clean_names((term.partition("|")[0] for term in terms), besides=name),
        types=(class_,) if class_ else types_of(numbers),
        definition=" ".join(record.first("MS", "NO").split()),
        tree_numbers=numbers,
        parents=clean_names(f"MESH:{one}" for one in above if one and one != ui),
    )


def sniff(head: bytes) -> bool:
    return _START.search(head) is not None


def open_reader(path: Path) -> MeshAsciiReader:
    """Raises UserError for a missing, empty, truncated or foreign file."""
    if not sniff(Source(path).head()):
        raise UserError(tr("{path} is not MeSH in ASCII: it has no line *NEWRECORD", path=path))
    reader = MeshAsciiReader(path)
    reader.prepare()
    return reader


MESH_ASCII = KbSource("mesh-ascii", "MeSH ASCII", sniff, open_reader)
