"""MeSH in NLM's XML form: descriptors (`desc2024.xml`) and supplementary records (`supp2024.xml`).

Names are the terms of every concept of a record, including permuted terms, which occur in corpora and CTD. The type is
the branch of the tree that a descriptor is in, in the singular if corpora have a mention type for it; mental disorders
(F03) are diseases, as in CTD's vocabulary. Parents come from tree numbers, those of supplementary records are the
descriptors that they are mapped to. Qualifiers are not entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from curator.domain.entities import Entity
from curator.domain.wording import UserError, tr
from curator.io.files.reading import SourceReader
from curator.io.files.source import Source
from curator.io.files.xml_stream import records
from curator.io.kb.base import KbSource, clean_names, first_of_each, needs_some


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


class MeshXmlReader(SourceReader):
    """Streams one file, after a first pass that collects the tree numbers."""

    format = "mesh-xml"

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        at = {
            text_of(number): text_of(record.find("DescriptorUI"))
            for record in records(self._source, _RECORDS[:1])
            for number in record.iterfind("TreeNumberList/TreeNumber")
        }
        found = first_of_each(self._entities(at), self.problems)
        yield from needs_some(found, self._source.path, self.problems)

    def _entities(self, at: dict[str, str]) -> Iterator[tuple[int, Entity]]:
        for record in records(self._source, _RECORDS):
            line = record.sourceline or 0
            descriptor = record.tag == "DescriptorRecord"
            kind = "Descriptor" if descriptor else "SupplementalRecord"
            ui, name = text_of(record.find(f"{kind}UI")), text_of(record.find(f"{kind}Name/String"))
            if not ui or not name:
                self._problem(
                    line, "set aside", tr("the record {ui} has no {value}", ui=ui or name, value="name" if ui else "UI")
                )
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


def sniff(head: bytes) -> bool:
    return head.lstrip().startswith(b"<") and _START.search(head) is not None


def open_reader(path: Path) -> MeshXmlReader:
    """Raises UserError for a missing, empty, truncated or foreign file."""
    if not sniff(Source(path).head()):
        raise UserError(
            tr("{path} is not MeSH XML: it has no DescriptorRecordSet and no SupplementalRecordSet", path=path)
        )
    reader = MeshXmlReader(path)
    reader.prepare()
    return reader


MESH_XML = KbSource("mesh-xml", "MeSH XML", sniff, open_reader)
