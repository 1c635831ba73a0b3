"""OWL ontologies in RDF/XML, as published by the OBO Foundry, EFO and ORDO: named classes as entities.

It is streamed by our own reader instead of pronto, which holds the whole ontology in memory and stops at the first
unknown line. Names are `rdfs:label`, the synonyms of oboInOwl and of SKOS; parents are named superclasses. The type is
the OBO namespace, or else the prefix of the class. Classes that are only referenced have no name and are skipped. A
class may also be an `rdf:Description` of that type, or several of one subject. Other syntaxes of OWL: see `rdf` for
Turtle; Manchester and functional syntax are not read (ROBOT converts them).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from curator.domain.curies import contract, curie
from curator.domain.entities import Entity
from curator.domain.wording import UserError, tr
from curator.io.files import Source, SourceReader
from curator.io.kb.base import KbSource, first_of_each, needs_some
from curator.io.kb.mesh_xml import records, text_of
from curator.io.kb.ontology_terms import OntologyTerm, entities
from curator.services.ports import KbOptions

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_RDFS = "{http://www.w3.org/2000/01/rdf-schema#}"
_OWL = "{http://www.w3.org/2002/07/owl#}"
_OBO = "{http://purl.obolibrary.org/obo/}"
_OIO = "{http://www.geneontology.org/formats/oboInOwl#}"
_SKOS = "{http://www.w3.org/2004/02/skos/core#}"
_EFO = "{http://www.ebi.ac.uk/efo/}"
_DESCRIPTION, _CLASS = f"{_RDF}Description", f"{_OWL}Class".strip("{").replace("}", "")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
SYNONYMS = (
    *(f"{_OIO}has{scope}Synonym" for scope in ("Exact", "Narrow", "Broad", "Related")),
    f"{_SKOS}altLabel",
    f"{_EFO}alternative_term",
    f"{_OBO}IAO_0000118",
)
DEFINITIONS = (f"{_OBO}IAO_0000115", f"{_SKOS}definition", f"{_EFO}definition")
_START = re.compile(rb"<(?:[A-Za-z]+:)?RDF[\s>]")
_OWL_MARK = re.compile(rb"http://www\.w3\.org/2002/07/owl#")


class OwlReader(SourceReader):
    """Streams one file twice: first for the replacements of deprecated classes."""

    format = "owl"

    def __init__(self, path: Path, options: KbOptions) -> None:
        super().__init__(path)
        self._languages = options.read_languages

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        found = first_of_each(entities(self._terms, self.problems, self.obsolete, nameless="class"), self.problems)
        yield from needs_some(found, self._source.path, self.problems)

    def _terms(self) -> Iterator[OntologyTerm]:
        described: dict[str, list[OntologyTerm]] = {}
        classes: set[str] = set()
        for element in records(self._source, (f"{_OWL}Class", _DESCRIPTION), attributes_may_refer=True):
            address = element.get(f"{_RDF}about", "")
            if address and element.tag == _DESCRIPTION:
                described.setdefault(address, []).append(self._term(element, contract(address)))
                if any(one.get(f"{_RDF}resource") == _CLASS for one in element.iterfind(f"{_RDF}type")):
                    classes.add(address)
            elif address:
                yield self._term(element, contract(address))
        yield from (_joined(found) for address, found in described.items() if address in classes)

    def _term(self, element: Any, term_id: str) -> OntologyTerm:
        labels = self._texts(element, f"{_RDFS}label") or self._texts(element, f"{_SKOS}prefLabel")
        space = [text_of(one) for one in element.iterfind(f"{_OIO}hasOBONamespace")]
        return OntologyTerm(
            term_id,
            element.sourceline or 0,
            name=labels[0] if labels else "",
            names=[*labels[1:], *(text for tag in SYNONYMS for text in self._texts(element, tag))],
            definition=next((text for tag in DEFINITIONS for text in self._texts(element, tag)), ""),
            types=space[:1] or [_type_of(term_id)],
            alt_ids=[curie(text_of(one)) for one in element.iterfind(f"{_OIO}hasAlternativeId")],
            parents=_resources(element, f"{_RDFS}subClassOf"),
            deprecated=text_of(element.find(f"{_OWL}deprecated")).lower() in ("true", "1"),
            replaced_by=_resources(element, f"{_OBO}IAO_0100001"),
            consider=_resources(element, f"{_OIO}consider"),
        )

    def _texts(self, element: Any, tag: str) -> list[str]:
        """The texts in the chosen languages, in this order; texts without a language belong to all."""
        found = [(one.get(_LANG, "").lower().partition("-")[0], text_of(one)) for one in element.iterfind(tag)]
        order = {"": 0} | {language: n for n, language in enumerate(self._languages)}
        kept = sorted((order[language], n, text) for n, (language, text) in enumerate(found) if language in order)
        return [text for _, _, text in kept if text]


def _joined(parts: Sequence[OntologyTerm]) -> OntologyTerm:
    """Several `rdf:Description` elements of one class, merged."""
    first, names = parts[0], [one.name for one in parts if one.name]
    spaces = [kind for one in parts for kind in one.types if kind != _type_of(first.id)]
    return OntologyTerm(
        first.id,
        first.line,
        name=names[0] if names else "",
        names=[*names[1:], *(name for one in parts for name in one.names)],
        definition=next((one.definition for one in parts if one.definition), ""),
        types=spaces[:1] or first.types,
        alt_ids=[alt for one in parts for alt in one.alt_ids],
        parents=[parent for one in parts for parent in one.parents],
        deprecated=any(one.deprecated for one in parts),
        replaced_by=[other for one in parts for other in one.replaced_by],
        consider=[other for one in parts for other in one.consider],
    )


def _type_of(term_id: str) -> str:
    """The prefix of a class, '' for an address."""
    return term_id.partition(":")[0] if ":" in term_id and "//" not in term_id else ""


def _resources(element: Any, tag: str) -> list[str]:
    """CURIEs that an element refers to, as an attribute or as text."""
    found = [one.get(f"{_RDF}resource", "") or ("" if len(one) else text_of(one)) for one in element.iterfind(tag)]
    return [contract(one) if "//" in one else curie(one) for one in found if one]


def sniff(head: bytes) -> bool:
    return _START.search(head) is not None and _OWL_MARK.search(head) is not None and not _is_skos(head)


def _is_skos(head: bytes) -> bool:
    return b"ConceptScheme" in head or re.search(rb"<\w*:?Concept[\s>]|skos/core#Concept[\"']", head) is not None


def open_reader(path: Path, options: KbOptions | None = None) -> OwlReader:
    """Raises UserError for a missing, empty, truncated or foreign file."""
    if _START.search(Source(path).head()) is None:
        raise UserError(
            tr("{path} is not RDF/XML: convert the ontology to it (for example with ROBOT) and try again", path=path)
        )
    reader = OwlReader(path, options or KbOptions())
    reader.prepare()
    return reader


OWL = KbSource("owl", "OWL (RDF/XML)", sniff, open_reader, chooses=frozenset({"languages"}))
