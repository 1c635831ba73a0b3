"""SKOS vocabularies in RDF/XML, Turtle or N-Triples, and OWL in the latter two, through pyoxigraph.

An entity is each `skos:Concept` and each named `owl:Class`. Triples are streamed, and only the parts of entities are
kept; rdflib, which holds the whole graph, took 35 times the file's size and six times as long. JSON-LD is not read: its
contexts would have to be downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO, cast

from curator.domain.curies import contract, curie
from curator.domain.entities import Entity
from curator.domain.wording import UserError, tr
from curator.io.files import Source, SourceReader
from curator.io.kb.base import KbSource, first_of_each, needs_some
from curator.io.kb.ontology_terms import OntologyTerm, entities
from curator.io.kb.owl import sniff as is_owl_xml
from curator.services.ports import KbOptions

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_OIO = "http://www.geneontology.org/formats/oboInOwl#"
_IAO = "http://purl.obolibrary.org/obo/IAO_"
_DC = "http://purl.org/dc/elements/1.1/"
_DCT = "http://purl.org/dc/terms/"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_KINDS = (f"{_SKOS}Concept", f"{_OWL}Class")
LABELS = (f"{_SKOS}prefLabel", f"{_RDFS}label")
SYNONYMS = (
    f"{_SKOS}altLabel",
    f"{_SKOS}hiddenLabel",
    *(f"{_OIO}has{scope}Synonym" for scope in ("Exact", "Narrow", "Broad", "Related")),
)
DEFINITIONS = (f"{_SKOS}definition", f"{_IAO}0000115", f"{_SKOS}scopeNote", f"{_RDFS}comment")
TITLES = (*LABELS, f"{_DCT}title", f"{_DC}title")
PARENTS = (f"{_SKOS}broader", f"{_RDFS}subClassOf")
REPLACED_BY = (f"{_IAO}0100001", f"{_DCT}isReplacedBy")
SCHEME, SPACE, ALTERNATE = f"{_SKOS}inScheme", f"{_OIO}hasOBONamespace", f"{_OIO}hasAlternativeId"
DEPRECATED = f"{_OWL}deprecated"
_READ = frozenset((*TITLES, *SYNONYMS, *DEFINITIONS, *PARENTS, *REPLACED_BY, SCHEME, SPACE, ALTERNATE, DEPRECATED))
MOST_NESTED = 10_000
_Value = tuple[str, str, str]  # predicate, language, text or address
_XML = re.compile(rb"<(?:[A-Za-z]+:)?RDF[\s>]")
_XMLNS = re.compile(rb"""xmlns:([\w.-]+)\s*=\s*(["'])(.*?)\2""", re.ASCII)
_TURTLE = re.compile(rb"^[ \t]*@?prefix[ \t]+[\w-]*:[ \t]*<", re.MULTILINE | re.IGNORECASE)
_TRIPLE = re.compile(rb"^(?:<[^>\s]+>|_:\S+)[ \t]+<[^>\s]+>[ \t]+\S.*\.[ \t]*\r?$", re.MULTILINE)


class RdfReader(SourceReader):
    format = "skos"

    def __init__(self, path: Path, options: KbOptions) -> None:
        super().__init__(path)
        self._languages = options.read_languages

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        terms = self._terms()
        found = first_of_each(entities(lambda: terms, self.problems, self.obsolete, nameless="concept"), self.problems)
        yield from needs_some(found, self._source.path, self.problems)

    def _terms(self) -> list[OntologyTerm]:
        """The terms in the order of their ids, since triples are unordered."""
        concepts, values, prefixes = self._read()
        spaces = {address: prefix for prefix, address in prefixes.items()}

        @cache  # most concepts are in the same scheme
        def title(scheme: str) -> str:
            return next(iter(self._texts(values.get(scheme, ()), TITLES)), "") or contract(scheme, spaces)

        terms = (self._term(one, values.get(one, ()), title, spaces) for one in concepts)
        return sorted(terms, key=lambda term: term.id)

    def _read(self) -> tuple[set[str], dict[str, list[_Value]], Mapping[str, str]]:
        """The addresses of concepts, the properties of each subject, and the file's prefixes."""
        from pyoxigraph import Literal, NamedNode, RdfFormat, parse  # imported when such a file is read

        formats = {"xml": RdfFormat.RDF_XML, "turtle": RdfFormat.TURTLE, "nt": RdfFormat.N_TRIPLES}
        head = self._source.head()
        kind = syntax(head)
        if kind == "xml" and b"<!ENTITY" in head:
            raise UserError(
                tr(
                    "{path} declares XML entities, which Curator does not read: export the file again without them",
                    path=self._source.path,
                )
            )
        concepts: set[str] = set()
        values: dict[str, list[_Value]] = {}
        known = {one: one for one in _READ}  # one text for each predicate
        try:
            with self._source.stream() as stream:
                checked = cast("BinaryIO", _Shallow(stream, self._source.path)) if kind == "turtle" else stream
                triples = parse(checked, formats[kind])
                for triple in triples:
                    node, said = triple.subject, triple.object
                    if not isinstance(node, NamedNode):
                        continue
                    predicate = known.get(triple.predicate.value, "")
                    if predicate and isinstance(said, Literal):
                        text = (predicate, said.language or "", " ".join(said.value.split()))
                        values.setdefault(node.value, []).append(text)
                    elif predicate and isinstance(said, NamedNode):
                        values.setdefault(node.value, []).append((predicate, "", said.value))
                    elif triple.predicate.value == _TYPE and isinstance(said, NamedNode) and said.value in _KINDS:
                        concepts.add(node.value)
                return concepts, values, {**_xml_prefixes(head), **triples.prefixes}
        except (SyntaxError, ValueError) as error:
            words = str(error).partition("(<")[0]
            raise UserError(
                tr(
                    "{path}: {words}: correct the file, or download or export it again",
                    path=self._source.path,
                    words=words,
                )
            ) from error

    def _term(
        self, node: str, own: Sequence[_Value], title: Callable[[str], str], spaces: Mapping[str, str]
    ) -> OntologyTerm:
        labels = self._texts(own, LABELS)
        return OntologyTerm(
            contract(node, spaces),
            name=labels[0] if labels else "",
            names=[*labels[1:], *self._texts(own, SYNONYMS)],
            definition=next(iter(self._texts(own, DEFINITIONS)), ""),
            types=sorted([*_all(own, (SPACE,)), *map(title, _all(own, (SCHEME,)))]),  # its schemes or namespaces
            alt_ids=[curie(text) for text in _all(own, (ALTERNATE,))],
            parents=sorted(contract(one, spaces) for one in _all(own, PARENTS)),
            deprecated=any(text.lower() in ("true", "1") for text in _all(own, (DEPRECATED,))),
            replaced_by=sorted(contract(one, spaces) for one in _all(own, REPLACED_BY)),
        )

    def _texts(self, own: Sequence[_Value], predicates: Sequence[str]) -> list[str]:
        """The texts in the chosen languages, in this order; within a language in alphabetical order."""
        order = {"": len(self._languages)} | {language: n for n, language in enumerate(self._languages)}
        found = []
        for predicate, language, text in own:
            language = language.lower().partition("-")[0]
            if predicate in predicates and language in order and text:
                found.append((order[language], predicates.index(predicate), text))
        return [text for _, _, text in sorted(found)]


class _Shallow:
    """Refuses a Turtle file with brackets nested so deeply that it must be damaged: the parser needs about 350 bytes
    for each open bracket. The count is approximate: it includes brackets in strings, and restarts after each line that
    ends a statement."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self._depth = 0

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        end = max(block.rfind(b".\n"), block.rfind(b".\r\n"))
        opened, closed = (sum(block.count(one, max(end, 0)) for one in pair) for pair in ((b"(", b"["), (b")", b"]")))
        self._depth = max(0, (self._depth if end < 0 else 0) + opened - closed)
        if self._depth > MOST_NESTED:
            raise UserError(
                tr(
                    "{path} nests brackets more than {most:,} deep: correct the file, or download or export it again",
                    path=self._path,
                    most=MOST_NESTED,
                )
            )
        return block


def _all(own: Sequence[_Value], predicates: Sequence[str]) -> list[str]:
    return [text for predicate, _, text in own if predicate in predicates]


def _xml_prefixes(head: bytes) -> dict[str, str]:
    """The prefixes of an XML file, since the parser reports only Turtle's."""
    return {prefix.decode(): address.decode("utf-8", "replace") for prefix, _, address in _XMLNS.findall(head)}


def syntax(head: bytes) -> str:
    """The name of the syntax; '' if unknown."""
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
        raise UserError(tr("{path} is neither RDF/XML nor Turtle nor N-Triples: convert it to one of them", path=path))
    reader = RdfReader(path, options or KbOptions())
    reader.prepare()
    return reader


RDF = KbSource("skos", "SKOS (RDF/XML, Turtle)", sniff, open_reader, chooses=frozenset({"languages"}))
