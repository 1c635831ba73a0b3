"""CTD's vocabularies (`CTD_diseases.tsv.gz`, `CTD_chemicals.csv`, `CTD_genes.tsv` …), recognised by their `# Fields:`.

Cells of several values are separated by `|`. Diseases are MEDIC: MeSH and OMIM merged, one of the ids primary and the
others alternate.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from curator.domain.curies import medic_id, with_prefix
from curator.domain.entities import Entity
from curator.domain.wording import tr
from curator.io.files.source import BOM, without_line_end
from curator.io.kb.base import KbReader, clean_names


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    type: str
    prefix: str
    id: str
    name: str
    names: tuple[str, ...]
    alternates: str = ""


_VOCABULARIES = (
    _Vocabulary("Disease", "MESH", "DiseaseID", "DiseaseName", ("Synonyms",), "AltDiseaseIDs"),
    _Vocabulary("Chemical", "MESH", "ChemicalID", "ChemicalName", ("Synonyms",)),
    _Vocabulary("Gene", "NCBIGene", "GeneID", "GeneSymbol", ("GeneName", "Synonyms"), "AltGeneIDs"),
    _Vocabulary("Pathway", "", "PathwayID", "PathwayName", ()),
)
LONGEST_CELL = 1 << 17  # characters
_FIELDS = re.compile(rb"^#\s*Fields:\s*$", re.MULTILINE)
_ID = re.compile(rb"^#\s*(DiseaseName|ChemicalName|GeneSymbol|PathwayName)[\t,]", re.MULTILINE)


class CtdReader(KbReader):
    """Streams one vocabulary; its comment states the columns."""

    format = "ctd"
    title = "CTD vocabulary"
    refusal = "{path} is not a CTD vocabulary: it has no comment `# Fields:` with a known id"

    @staticmethod
    def sniff(head: bytes) -> bool:
        return _FIELDS.search(head) is not None and _ID.search(head) is not None

    def entities(self) -> Iterator[tuple[int, Entity]]:
        columns: list[str] = []
        for number, line in enumerate(self.source.lines(), 1):
            text = without_line_end(line.removeprefix(BOM) if number == 1 else line)
            if text.startswith("#"):
                named = _cells(text.lstrip("# "))
                columns = columns or (named if any(one.id in named for one in _VOCABULARIES) else [])
            elif text.strip():
                yield from self._row(number, columns, _cells(text))

    def _row(self, line: int, columns: list[str], cells: list[str]) -> Iterator[tuple[int, Entity]]:
        if len(cells) > len(columns):
            self.problems.set_aside(
                tr("has {number} cells for {number2} columns", number=len(cells), number2=len(columns)), line
            )
            return
        row = dict(zip(columns, cells, strict=False))
        vocabulary = next((one for one in _VOCABULARIES if one.id in row), None)
        if vocabulary is None or not row[vocabulary.id].strip() or not row.get(vocabulary.name, "").strip():
            self.problems.set_aside(tr("the row has no id or no name"), line)
            return
        yield line, _entity(vocabulary, row)


def _entity(vocabulary: _Vocabulary, row: Mapping[str, str]) -> Entity:
    def ids(column: str) -> Iterator[str]:
        return (with_prefix(one, vocabulary.prefix) for one in row.get(column, "").split("|"))

    entity_id, name = with_prefix(row[vocabulary.id], vocabulary.prefix), row[vocabulary.name].strip()
    alternates = clean_names(ids(vocabulary.alternates), besides=entity_id) if vocabulary.alternates else ()
    return Entity(
        entity_id,
        name,
        synonyms=clean_names((one for col in vocabulary.names for one in row.get(col, "").split("|")), besides=name),
        types=(vocabulary.type,),
        definition=row.get("Definition", "").strip(),
        alt_ids=alternates,
        tree_numbers=clean_names(row.get("TreeNumbers", "").split("|")),
        parents=clean_names(ids("ParentIDs"), besides=entity_id),
    )


def _cells(text: str) -> list[str]:
    """The cells of a line: separated by tabs without quotes, or, without tabs, as CSV with quotes."""
    if "\t" in text:
        return text.split("\t")
    try:
        cells = next(csv.reader([text]), [])
    except csv.Error:
        cells = [text]
    return cells if all(len(cell) <= LONGEST_CELL for cell in cells) else [text]  # else not a table's line


# --- MEDIC in the form of DNorm and CTD's early releases: `ID|ALTERNATE|…||NAME|SYNONYM|…`, one disease a line ---

_LINE = re.compile(rb"(?:[CD]?\d*)(?:\|[CD]?\d+)*\|\|[^|\r\n]+(?:\|[^|\r\n]+)*\r?")
_LOOKED_AT = 5


class MedicReader(KbReader):
    """The ids end at the first empty field. Ids of digits are OMIM's, the others MeSH's."""

    format = "medic"
    title = "MEDIC (ID||names)"
    refusal = "{path} is not MEDIC: its lines are not `ID||NAME|SYNONYM`"

    @staticmethod
    def sniff(head: bytes) -> bool:
        lines = [one for one in head.split(b"\n")[:_LOOKED_AT] if one.strip()]
        return bool(lines) and all(_LINE.fullmatch(one) for one in lines)

    def entities(self) -> Iterator[tuple[int, Entity]]:
        for number, line in enumerate(self.source.lines(), 1):
            text = without_line_end(line.removeprefix(BOM) if number == 1 else line)
            if not text.strip():
                continue
            ids, apart, names = text.partition("||")
            own, *others = [medic_id(one.strip()) for one in ids.split("|")]
            spelt = clean_names(names.split("|"))
            if not apart or not ids or not spelt:
                self.problems.set_aside(tr("is not `ID||NAME`: {text}", text=text[:60]), number)
                continue
            yield number, Entity(own, spelt[0], spelt[1:], ("Disease",), alt_ids=clean_names(others, besides=own))
