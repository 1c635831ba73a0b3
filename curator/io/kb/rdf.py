"""SKOS vocabularies in RDF/XML, Turtle or N-Triples, and OWL in the latter two, through rdflib.

An entity is each `skos:Concept` and each named `owl:Class`. rdflib holds the whole graph in memory, so that a file
beyond `LARGEST` is refused. JSON-LD is not read: its contexts would have to be fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator.domain.curies import contract, curie
from curator.domain.entities import Entity
from curator.domain.errors import UserError
from curator.io.kb.base import KbSource, first_of_each, needs_some
from curator.io.kb.owl import sniff as is_owl_xml
from curator.io.kb.terms import Term, entities
from curator.io.reading import SourceReader
from curator.io.source import Source
from curator.services.ports.knowledge_files import KbOptions

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

LARGEST = 300 << 20
"""Bytes; a graph takes up to ten times its file."""
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_OIO = "http://www.geneontology.org/formats/oboInOwl#"
_IAO = "http://purl.obolibrary.org/obo/IAO_"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABELS = (f"{_SKOS}prefLabel", f"{_RDFS}label")
SYNONYMS = (
    f"{_SKOS}altLabel",
    f"{_SKOS}hiddenLabel",
    *(f"{_OIO}has{scope}Synonym" for scope in ("Exact", "Narrow", "Broad", "Related")),
)
DEFINITIONS = (f"{_SKOS}definition", f"{_IAO}0000115", f"{_SKOS}scopeNote", f"{_RDFS}comment")
_XML = re.compile(rb"<(?:[A-Za-z]+:)?RDF[\s>]")
_TURTLE = re.compile(rb"^\s*@?prefix\s+[\w-]*:\s*<", re.MULTILINE | re.IGNORECASE)
_TRIPLE = re.compile(rb"^(?:<[^>\s]+>|_:\S+)\s+<[^>\s]+>\s+.+\.\s*$", re.MULTILINE)


class RdfReader(SourceReader):
    format = "skos"

    def __init__(self, path: Path, options: KbOptions) -> None:
        super().__init__(path)
        self._languages = options.languages

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        graph = self._graph()
        spaces = {str(space): prefix for prefix, space in graph.namespaces()}
        terms = sorted(self._terms(graph, spaces), key=lambda term: term.id)  # a graph has no order of its own
        found = first_of_each(entities(lambda: terms, self.problems, nameless="concept"), self.problems)
        yield from needs_some(found, self._source.path, self.problems)

    def _graph(self) -> Graph:
        from xml.sax import SAXException

        from rdflib import Graph  # loaded when such a file is read
        from rdflib.exceptions import Error

        broken = (Error, SAXException, SyntaxError, ValueError, LookupError, TypeError, AttributeError)
        kind = syntax(self._source.head())
        graph = Graph(bind_namespaces="none")
        with self._source.stream() as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise UserError(
                f"{self._source.path} is larger than {LARGEST >> 20} MB: split the vocabulary, or export OBO"
            )
        if kind == "xml" and b"<!ENTITY" in data:
            raise UserError(f"{self._source.path} declares XML entities, which are refused: export the file again")
        try:
            graph.parse(data=data, format=kind)
        except (*broken, AssertionError, RecursionError) as error:  # rdflib's parsers raise what comes
            words = " ".join(str(error).split())[:200]
            raise UserError(
                f"{self._source.path} could not be read ({words}): fetch or export the file again"
            ) from error
        return graph

    def _terms(self, graph: Graph, spaces: dict[str, str]) -> Iterator[Term]:
        from rdflib import URIRef

        for kind in (f"{_SKOS}Concept", f"{_OWL}Class"):
            for node in graph.subjects(URIRef(_TYPE), URIRef(kind)):
                if isinstance(node, URIRef):
                    yield self._term(graph, node, spaces)

    def _term(self, graph: Graph, node: Node, spaces: dict[str, str]) -> Term:
        term_id = contract(str(node), spaces)
        labels = self._texts(graph, node, LABELS)
        return Term(
            term_id,
            name=labels[0] if labels else "",
            names=[*labels[1:], *self._texts(graph, node, SYNONYMS)],
            definition=next(iter(self._texts(graph, node, DEFINITIONS)), ""),
            types=self._schemes(graph, node, spaces),
            alt_ids=[curie(str(one)) for one in _values(graph, node, (f"{_OIO}hasAlternativeId",))],
            parents=_ids(graph, node, (f"{_SKOS}broader", f"{_RDFS}subClassOf"), spaces),
            deprecated=any(str(one).lower() in ("true", "1") for one in _values(graph, node, (f"{_OWL}deprecated",))),
            replaced_by=_ids(graph, node, (f"{_IAO}0100001", "http://purl.org/dc/terms/isReplacedBy"), spaces),
        )

    def _schemes(self, graph: Graph, node: Node, spaces: dict[str, str]) -> list[str]:
        """Types: what the schemes or namespaces that it belongs to are called."""
        named = [str(one) for one in _values(graph, node, (f"{_OIO}hasOBONamespace",))]
        for scheme in _values(graph, node, (f"{_SKOS}inScheme",)):
            titles = (*LABELS, "http://purl.org/dc/terms/title", "http://purl.org/dc/elements/1.1/title")
            named.append(next(iter(self._texts(graph, scheme, titles)), "") or contract(str(scheme), spaces))
        return sorted(named)

    def _texts(self, graph: Graph, node: Node, predicates: Sequence[str]) -> list[str]:
        """In the languages that are read, the first of them first; within one in the order of the alphabet."""
        order = {"": len(self._languages)} | {language: n for n, language in enumerate(self._languages)}
        found = []
        for place, predicate in enumerate(predicates):
            for one in _values(graph, node, (predicate,)):
                language = (getattr(one, "language", None) or "").lower().partition("-")[0]
                if language in order:
                    found.append((order[language], place, " ".join(str(one).split())))
        return [text for _, _, text in sorted(found) if text]


def _values(graph: Graph, node: Node, predicates: Sequence[str]) -> list[Any]:
    from rdflib import URIRef

    return [one for predicate in predicates for one in graph.objects(node, URIRef(predicate))]


def _ids(graph: Graph, node: Node, predicates: Sequence[str], spaces: dict[str, str]) -> list[str]:
    from rdflib import BNode

    return sorted(contract(str(one), spaces) for one in _values(graph, node, predicates) if not isinstance(one, BNode))


def syntax(head: bytes) -> str:
    """rdflib's name of the syntax; '' for none of them."""
    if _XML.search(head) is not None:
        return "xml"
    if _TURTLE.search(head) is not None:
        return "turtle"
    return "nt" if _TRIPLE.match(head.lstrip()) is not None else ""


def sniff(head: bytes) -> bool:
    kind = syntax(head.removeprefix(b"\xef\xbb\xbf"))
    about = _SKOS.encode() in head or (_OWL.encode() in head and kind != "xml")
    return bool(kind) and about and not (kind == "xml" and is_owl_xml(head))


def open_reader(path: Path, options: KbOptions | None = None) -> RdfReader:
    """Raises UserError for a missing, empty, truncated or foreign file."""
    if not syntax(Source(path).head()):
        raise UserError(f"{path} is neither RDF/XML nor Turtle nor N-Triples: convert it to one of them")
    reader = RdfReader(path, options or KbOptions())
    reader.prepare()
    return reader


RDF = KbSource("skos", "SKOS (RDF/XML, Turtle)", sniff, open_reader, chooses=True)
