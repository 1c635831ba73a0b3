"""MeSH in NLM's XML and ASCII forms: descriptors (`desc2024.xml`) and supplementary records (`supp2024.xml`).

Names are the terms of every concept of a record, including permuted terms, which occur in corpora and CTD. The type is
the branch of the tree that a descriptor is in, in the singular if corpora have a mention type for it; mental disorders
(F03) are diseases, as in CTD's vocabulary. Parents come from tree numbers, those of supplementary records are the
descriptors that they are mapped to. Qualifiers are not entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from curator.domain.entities import Entity
from curator.domain.wording import ntr, tr
from curator.io.files.source import without_line_end
from curator.io.files.xml_stream import records
from curator.io.kb.base import KbReader, clean_names


def text_of(element: Any) -> str:
    """All text in it, with runs of white space as one space; '' for None."""
    return "" if element is None else " ".join("".join(element.itertext()).split())


BRANCHES = {
    "A": "Anatomy",
    "B": "Organism",
    "C": "Disease",
    "D": "Chemical",
    "E": "Procedure",
    "F": "Psychology",
    "F03": "Disease",
    "G": "Phenomenon",
    "H": "Discipline",
    "I": "Anthropology",
    "J": "Technology",
    "K": "Humanities",
    "L": "Information",
    "M": "Person",
    "N": "Health care",
    "V": "Publication",
    "Z": "Place",
}
CLASSES = {"1": "Chemical", "2": "Protocol", "3": "Disease", "4": "Organism", "5": "Person", "6": "Anatomy"}
"""SCRClass of a supplementary record -> type."""
_RECORDS = ("DescriptorRecord", "SupplementalRecord")
_START = re.compile(rb"<(DescriptorRecordSet|SupplementalRecordSet)[\s>]")


class MeshXmlReader(KbReader):
    """Streams one file, after a first pass that collects the tree numbers."""

    format = "mesh-xml"
    title = "MeSH XML"
    refusal = "{path} is not MeSH XML: it has no DescriptorRecordSet and no SupplementalRecordSet"

    @staticmethod
    def sniff(head: bytes) -> bool:
        return head.lstrip().startswith(b"<") and _START.search(head) is not None

    def entities(self) -> Iterator[tuple[int, Entity]]:
        at = {
            text_of(number): text_of(record.find("DescriptorUI"))
            for record in records(self.source, _RECORDS[:1])
            for number in record.iterfind("TreeNumberList/TreeNumber")
        }
        for record in records(self.source, _RECORDS):
            line = record.sourceline or 0
            descriptor = record.tag == "DescriptorRecord"
            kind = "Descriptor" if descriptor else "SupplementalRecord"
            ui, name = text_of(record.find(f"{kind}UI")), text_of(record.find(f"{kind}Name/String"))
            if not ui or not name:
                self.problems.set_aside(_incomplete(ui, name), line)
                continue
            yield line, self._descriptor(record, ui, name, at) if descriptor else _supplementary(record, ui, name)

    def _descriptor(self, record: Any, ui: str, name: str, at: dict[str, str]) -> Entity:
        numbers = clean_names(text_of(one) for one in record.iterfind("TreeNumberList/TreeNumber"))
        above = (at.get(number.rpartition(".")[0], "") for number in numbers)
        return Entity(
            f"MESH:{ui}",
            name,
            synonyms=_terms(record, name),
            types=types_of(numbers),
            definition=_scope_note(record),
            tree_numbers=numbers,
            parents=clean_names(f"MESH:{one}" for one in above if one and one != ui),
        )


def types_of(numbers: tuple[str, ...]) -> tuple[str, ...]:
    """The branches of tree numbers, each once."""
    return clean_names(BRANCHES.get(one[:3], BRANCHES.get(one[:1], "")) for one in numbers)


def _supplementary(record: Any, ui: str, name: str) -> Entity:
    mapped = record.iterfind("HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI")
    type_ = CLASSES.get(record.get("SCRClass", "1"), "")
    return Entity(
        f"MESH:{ui}",
        name,
        synonyms=_terms(record, name),
        types=(type_,) if type_ else (),
        definition=text_of(record.find("Note")),
        parents=clean_names(f"MESH:{text_of(one).lstrip('*')}" for one in mapped),
    )


def _terms(record: Any, name: str) -> tuple[str, ...]:
    terms = record.iterfind("ConceptList/Concept/TermList/Term/String")
    return clean_names((text_of(one) for one in terms), besides=name)


def _scope_note(record: Any) -> str:
    """The scope note of the preferred concept; other concepts' notes describe narrower meanings."""
    for concept in record.iterfind("ConceptList/Concept"):
        if concept.get("PreferredConceptYN") == "Y":
            return text_of(concept.find("ScopeNote"))
    return ""


def _incomplete(ui: str, name: str) -> str:
    return tr("the record {ui} has no {value}", ui=ui or name, value="name" if ui else "UI")


# --- NLM's ASCII form ---

_NEW_RECORD = re.compile(rb"^\*NEWRECORD\s*$", re.MULTILINE)
_FIELD = re.compile(r"([A-Z][A-Z0-9 ]*?) = (.*)")


@dataclass(slots=True)
class _Record:
    line: int
    fields: dict[str, list[str]] = field(default_factory=dict)

    def all(self, *names: str) -> list[str]:
        return [value for name in names for value in self.fields.get(name, [])]

    def first(self, *names: str) -> str:
        return next(iter(self.all(*names)), "")


class MeshAsciiReader(KbReader):
    """`*NEWRECORD`, then `FIELD = value` lines (`d2024.bin`, `c2024.bin`). A supplementary record refers to descriptors
    by name only, and its class is the field `SC`."""

    format = "mesh-ascii"
    title = "MeSH ASCII"
    refusal = "{path} is not MeSH in ASCII: it has no line *NEWRECORD"

    @staticmethod
    def sniff(head: bytes) -> bool:
        return _NEW_RECORD.search(head) is not None

    def entities(self) -> Iterator[tuple[int, Entity]]:
        at = {number: record.first("UI") for record in self._records() for number in record.all("MN")}
        qualifiers = 0
        for record in self._records():
            ui, name = record.first("UI"), record.first("MH", "NM")
            if record.first("RECTYPE") == "Q":
                qualifiers += 1
            elif not ui or not name:
                self.problems.set_aside(_incomplete(ui, name), record.line)
            else:
                yield record.line, _entity(record, ui, name, at)
        if qualifiers:
            one, several = (
                "{n} qualifier was skipped: it is not an entity",
                "{n:,} qualifiers were skipped: they are not entities",
            )
            self.problems.note(ntr(one, several, qualifiers))

    def _records(self) -> Iterator[_Record]:
        record: _Record | None = None
        for number, line in enumerate(self.source.lines(), 1):
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
