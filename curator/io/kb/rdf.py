"""Ontologies in OWL and vocabularies in SKOS, in RDF/XML, Turtle or N-Triples: named classes and concepts as entities.

The graph is read with pyoxigraph, so nested elements, relative addresses, `rdf:ID` and descriptions in several places
are what they mean. It is read twice: first to count the places where a subject is described and to find the
replacements of deprecated ones, then to make each entity after its last place. So only the subjects that are still open
are in memory; rdflib and pronto hold the whole ontology.

Parents are named superclasses and broader concepts; restrictions and other anonymous classes are not. The type is the
scheme or the OBO namespace; a class without one has the prefix of its id. JSON-LD is not read: its contexts would have
to be downloaded. Manchester and functional syntax are not read either (ROBOT converts them).

RDF/XML prepared for pyoxigraph.

pyoxigraph reads only UTF-8, ignores a missing end, refuses entity declarations in single quotes, accepts them anywhere
in the file, and expands nested ones without a limit. So the file goes through expat first, which reads the encoding and
the declarations, and checks that the XML is complete. pyoxigraph gets UTF-8 without the document type. Entities that
abbreviate addresses, as ontology editors declare them, are replaced; external and long ones are refused, and no DTD is
loaded.
"""

from __future__ import annotations

import codecs
import re
from codecs import BOM_UTF8
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass, field
from functools import cache, partial
from html import unescape
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, Self, cast
from xml.parsers import expat

from curator.domain.entities import Entity
from curator.domain.wording import UserError, ntr, tr
from curator.io.files.source import Source
from curator.io.kb.base import KbReader, OntologyTerm, entities, inverted, term_id
from curator.services.ports.files import KbOptions

LONGEST_ENTITY = 1000
"""Characters of an entity's text, with the entities in it replaced."""
FREE, MOST_TIMES = 1 << 20, 10
"""Entities may always add this many characters to a file; more may be `MOST_TIMES` what was read."""
DEEPEST, MOST_ATTRIBUTES, LONGEST_TAG = 1000, 512, 1 << 22
"""Elements in each other, attributes of one, bytes of a tag or comment: the parsers' time grows with the squares."""
_BLOCK = 1 << 16  # bytes


class RdfXml:
    """The root element of an RDF/XML file as a stream of UTF-8; lines keep their numbers.

    `read` raises UserError for broken XML, with its line, and for entities that are not replaced.
    """

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._path = path
        self._entities: dict[str, str] = {}
        self._encoding = "utf-8"
        self._root, self._depth, self._fed = -1, 0, 0
        self._parser = expat.ParserCreate()
        self._parser.XmlDeclHandler = self._declaration
        self._parser.EntityDeclHandler = self._entity
        self._parser.StartElementHandler = self._begun
        self._parser.EndElementHandler = self._ended
        self._blocks = self._replaced(self._decoded(stream))
        self._ready = BytesIO()

    def read(self, size: int = -1) -> bytes:
        while not (found := self._ready.read(size)):
            block = next(self._blocks, None)
            if block is None:
                break
            self._ready = BytesIO(block.encode())
        return found

    def _decoded(self, stream: BinaryIO) -> Iterator[str]:
        """The text of the root element; what is before it as empty lines."""
        prolog = []
        while self._root < 0:
            prolog.append(self._checked(stream))
        begin = b"".join(prolog)
        yield "\n" * begin.count(b"\n", 0, self._root)
        decoder = codecs.getincrementaldecoder(self._encoding)()
        yield decoder.decode(begin[self._root :])
        while block := self._checked(stream):
            yield decoder.decode(block)

    def _checked(self, stream: BinaryIO) -> bytes:
        block = stream.read(_BLOCK)
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            raise self._broken(error.lineno, expat.ErrorString(error.code)) from error
        except LookupError as error:  # an encoding that Python does not know
            raise self._broken(1, str(error)) from error
        self._fed += len(block)
        if self._fed - self._parser.CurrentByteIndex > LONGEST_TAG:
            raise self._excessive()
        return block

    def _replaced(self, texts: Iterator[str]) -> Iterator[str]:
        read, made, rest = 0, 0, ""
        reference: re.Pattern[str] | None = None
        for text in texts:
            if not self._entities:
                yield text
                continue
            reference = reference or self._reference()
            read, text = read + len(text), rest + text
            cut = text.rfind("&")
            cut = len(text) if cut < 0 or ";" in text[cut:] or len(text) - cut > LONGEST_ENTITY else cut
            text, rest = text[:cut], text[cut:]
            text = reference.sub(lambda found: self._entities[found[1]], text)
            made += len(text)
            if made > max(read + FREE, MOST_TIMES * read):
                raise self._refused(", ".join(self._entities))
            yield text
        yield rest

    def _reference(self) -> re.Pattern[str]:
        return re.compile(f"&({'|'.join(map(re.escape, self._entities))});")

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = encoding or self._encoding

    def _begun(self, _name: str, attributes: Sized) -> None:
        if self._root < 0:
            self._root = self._parser.CurrentByteIndex
        self._depth += 1
        if self._depth > DEEPEST or len(attributes) > MOST_ATTRIBUTES:
            raise self._excessive()

    def _ended(self, _name: str) -> None:
        self._depth -= 1

    def _entity(self, name: str, parameter: bool, value: str | None, *_external: str | None) -> None:
        if self._entities and value is not None:
            value = self._reference().sub(lambda found: self._entities[found[1]], value)
        if parameter or value is None or len(value) > LONGEST_ENTITY:
            raise self._refused(name)
        self._entities.setdefault(name, value)  # the first declaration counts

    def _excessive(self) -> UserError:
        why = tr("elements are nested too deeply, or have too many attributes, or a tag or comment is too long")
        return self._broken(self._parser.CurrentLineNumber, why)

    def _broken(self, line: int, why: str) -> UserError:
        return UserError(
            tr(
                "{path}, line {lineno}: broken XML ({msg}): download or export the file again",
                path=self._path,
                lineno=line,
                msg=why,
            )
        )

    def _refused(self, names: str) -> UserError:
        return UserError(
            tr(
                "{path} declares XML entities that are external or too long ({names}): export the file again without "
                "them",
                path=self._path,
                names=names,
            )
        )


_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_OIO = "http://www.geneontology.org/formats/oboInOwl#"
_IAO = "http://purl.obolibrary.org/obo/IAO_"
_EFO = "http://www.ebi.ac.uk/efo/"
_DC = "http://purl.org/dc/elements/1.1/"
_DCT = "http://purl.org/dc/terms/"
CONCEPT, CLASS, DEPRECATED_CLASS = f"{_SKOS}Concept", f"{_OWL}Class", f"{_OWL}DeprecatedClass"
KINDS = (CONCEPT, CLASS, DEPRECATED_CLASS)
TYPE = f"{_RDF}type"
LABELS = (f"{_SKOS}prefLabel", f"{_RDFS}label")
SYNONYMS = (
    *(f"{_OIO}has{scope}Synonym" for scope in ("Exact", "Narrow", "Broad", "Related", "")),
    f"{_SKOS}altLabel",
    f"{_SKOS}hiddenLabel",
    f"{_EFO}alternative_term",
    f"{_IAO}0000118",
)
DEFINITIONS = (f"{_SKOS}definition", f"{_IAO}0000115", f"{_EFO}definition")
NOTES = (f"{_SKOS}scopeNote", f"{_RDFS}comment")
"""Definitions of concepts without any other."""
TITLES = (*LABELS, f"{_DCT}title", f"{_DC}title")
PARENTS = (f"{_SKOS}broader", f"{_RDFS}subClassOf")
REPLACED_BY = (f"{_IAO}0100001", f"{_OIO}replacedBy", f"{_DCT}isReplacedBy")
SCHEMES, NARROWER = (f"{_SKOS}inScheme", f"{_SKOS}topConceptOf"), f"{_SKOS}narrower"
SPACE, ALTERNATE = f"{_OIO}hasOBONamespace", f"{_OIO}hasAlternativeId"
DEPRECATED, CONSIDER, IMPORTS = f"{_OWL}deprecated", f"{_OIO}consider", f"{_OWL}imports"
_READ = {
    one: one  # one text for each predicate
    for one in (
        *(TYPE, *TITLES, *SYNONYMS, *DEFINITIONS, *NOTES, *PARENTS, *REPLACED_BY),
        *(*SCHEMES, NARROWER, SPACE, ALTERNATE, DEPRECATED, CONSIDER, IMPORTS),
    )
}
MOST_NESTED = 10_000
_Value = tuple[str, str, str]  # predicate, language, text or address
_TAG = re.compile("<[^>]*>")
_XML = re.compile(rb"<(?:[\w.-]+:)?RDF[\s>]")
_XMLNS = re.compile(rb"""xmlns:([\w.-]+)\s*=\s*(["'])(.*?)\2""", re.ASCII)
_TURTLE = re.compile(rb"^[ \t]*@?prefix[ \t]+[\w-]*:[ \t]*<", re.MULTILINE | re.IGNORECASE)
_TRIPLE = re.compile(rb"^(?:<[^>\s]+>|_:\S+)[ \t]+<[^>\s]+>[ \t]+\S.*\.[ \t]*\r?$", re.MULTILINE)


@dataclass(slots=True)
class _Survey:
    """What must be known before the first entity: the number of places where each subject is described, texts that may
    be titles of schemes, deprecated subjects with their replacements, and the concepts that name a narrower one."""

    places: Counter[str] = field(default_factory=Counter)
    titles: dict[str, list[_Value]] = field(default_factory=dict)
    deprecated: set[str] = field(default_factory=set)
    replaced_by: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    broader: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    imports: list[str] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)

    def successor(self, id_of: Callable[[str], str]) -> dict[str, str]:
        """The replacement of each deprecated id that has exactly one."""
        only = {one: found for one in self.deprecated if len(found := self.replaced_by.get(one, set())) == 1}
        return {id_of(one): id_of(next(iter(found))) for one, found in only.items()}


class RdfReader(KbReader):
    """Streams one file twice."""

    chooses = frozenset({"languages"})

    def entities(self) -> Iterator[tuple[int, Entity]]:
        self._languages = self.options.read_languages
        self._foreign: Counter[str] = Counter()  # languages of names that are in none of the chosen
        survey = self._survey()
        spaces = {} if self.format == "owl" else {address: prefix for prefix, address in survey.prefixes.items()}
        id_of = partial(term_id, namespaces=spaces)
        if survey.imports:
            text = ntr(
                "the ontology imports {addresses}, which is not read: import it as another source if you need it",
                "the ontology imports {addresses}, which are not read: import them as other sources if you need them",
                len(survey.imports),
                addresses=", ".join(survey.imports),
            )
            self.problems.note(text)
        yield from entities(
            self._terms(survey, id_of),
            inverted(survey.successor(id_of)),
            self.problems,
            self.obsolete,
            nameless="class" if self.format == "owl" else "concept",
        )
        if self._foreign:
            text = ntr(
                "{n} entity has no name in the chosen languages, so it keeps its name in another ({languages})",
                "{n:,} entities have no name in the chosen languages, so they keep their names in others ({languages})",
                self._foreign.total(),
                languages=", ".join(sorted(self._foreign)),
            )
            self.problems.note(text)

    def _survey(self) -> _Survey:
        found = _Survey()
        schemes: set[str] = set()
        for node, own in self._described(found.prefixes):
            found.places[node] += 1
            typed = any(predicate == TYPE for predicate, _, _ in own)
            for value in own:
                predicate, _, text = value
                if predicate in TITLES and not typed:
                    found.titles.setdefault(node, []).append(value)
                elif predicate == NARROWER:
                    found.broader[text].append(node)
                elif predicate in SCHEMES:
                    schemes.add(text)
                elif predicate in REPLACED_BY:
                    found.replaced_by[node].add(text)
                elif predicate == IMPORTS:
                    found.imports.append(text)
            if _is_deprecated(own):
                found.deprecated.add(node)
        found.titles = {one: texts for one, texts in found.titles.items() if one in schemes}
        return found

    def _terms(self, survey: _Survey, id_of: Callable[[str], str]) -> Iterator[OntologyTerm]:
        """Each class and concept after the last place that describes it."""

        @cache  # most concepts are in the same scheme
        def title(scheme: str) -> str:
            return next(iter(self._texts(survey.titles.get(scheme, ()), TITLES)), "") or id_of(scheme)

        begun: dict[str, list[_Value]] = {}
        for node, more in self._described({}):
            own = begun.setdefault(node, [])
            own += more
            survey.places[node] -= 1
            if survey.places[node] <= 0:
                del begun[node]
                own += [(PARENTS[0], "", one) for one in survey.broader.get(node, ())]
                if kinds := {text for predicate, _, text in own if predicate == TYPE}:
                    yield self._term(node, own, kinds, title, id_of)

    def _described(self, prefixes: dict[str, str]) -> Iterator[tuple[str, list[_Value]]]:
        """Each subject with its values in one place of the file. `prefixes` gets those of the file."""
        for node, group in groupby(self._statements(prefixes), key=itemgetter(0)):
            yield node, [value for _, value in group]

    def _statements(self, prefixes: dict[str, str]) -> Iterator[tuple[str, _Value]]:
        """The subjects and values that are read, in the order of the file."""
        from pyoxigraph import Literal, NamedNode, RdfFormat, parse  # imported when such a file is read

        formats = {"xml": RdfFormat.RDF_XML, "turtle": RdfFormat.TURTLE, "nt": RdfFormat.N_TRIPLES}
        head = self.source.head()
        kind = syntax(head)
        if kind == "xml":
            prefixes.update(_xml_prefixes(head))
        try:
            with self.source.stream() as stream:
                guarded = (RdfXml if kind == "xml" else _Shallow)(stream, self.path)
                triples = parse(cast("BinaryIO", guarded), formats[kind], lenient=True)
                for triple in triples:
                    predicate = _READ.get(triple.predicate.value)
                    if predicate is None:
                        continue
                    node, said = triple.subject, triple.object
                    if not isinstance(node, NamedNode):
                        continue
                    if isinstance(said, Literal):
                        text = said.value
                        if "<" in text and said.datatype.value == f"{_RDF}XMLLiteral":
                            text = unescape(_TAG.sub("", text))
                        yield node.value, (predicate, said.language or "", " ".join(text.split()))
                    elif isinstance(said, NamedNode) and (predicate != TYPE or said.value in KINDS):
                        yield node.value, (predicate, "", said.value)
                prefixes.update(triples.prefixes)
        except (SyntaxError, ValueError, MemoryError) as error:  # the last for a statement of more than 16 MiB
            words = str(error).partition("(<")[0]
            raise UserError(
                tr(
                    "{path}: {words}: correct the file, or download or export it again",
                    path=self.path,
                    words=words,
                )
            ) from error

    def _term(
        self,
        node: str,
        own: Sequence[_Value],
        kinds: set[str],
        title: Callable[[str], str],
        id_of: Callable[[str], str],
    ) -> OntologyTerm:
        concept = CONCEPT in kinds
        entity_id = id_of(node)
        labels = self._texts(own, LABELS if concept else LABELS[::-1]) or self._foreign_name(own)
        definitions = self._texts(own, (*DEFINITIONS, *NOTES) if concept else DEFINITIONS)
        types = sorted([*_all(own, (SPACE,)), *map(title, _all(own, SCHEMES))])
        prefix = entity_id.partition(":")[0] if ":" in entity_id and "//" not in entity_id else ""
        return OntologyTerm(
            entity_id,
            name=labels[0] if labels else "",
            names=[*labels[1:], *self._texts(own, SYNONYMS)],
            definition=next(iter(definitions), ""),
            types=types if types or concept else [prefix],
            alt_ids=[id_of(text) for text in _all(own, (ALTERNATE,))],
            parents=[id_of(text) for text in _all(own, PARENTS)],
            deprecated=_is_deprecated(own),
            replaced_by=[id_of(text) for text in _all(own, REPLACED_BY)],
            consider=[id_of(text) for text in _all(own, (CONSIDER,))],
        )

    def _texts(self, own: Sequence[_Value], predicates: Sequence[str]) -> list[str]:
        """The texts in the chosen languages, then those without a language; of each, in the order of the predicates and
        then of the file."""
        order = {"": len(self._languages)} | {language: n for n, language in enumerate(self._languages)}
        found = []
        for predicate, language, text in own:
            language = language.lower().replace("_", "-").partition("-")[0]
            if predicate in predicates and language in order and text:
                found.append((order[language], predicates.index(predicate), text))
        return [text for _, _, text in sorted(found, key=itemgetter(0, 1))]

    def _foreign_name(self, own: Sequence[_Value]) -> list[str]:
        """A name in any language, English first: without one the entity would be lost."""
        found = [(language, text) for predicate, language, text in own if predicate in LABELS and text]
        if not found:
            return []
        language, text = min(found, key=lambda one: one[0].partition("-")[0] != "en")
        self._foreign[language] += 1
        return [text]


def _is_deprecated(own: Sequence[_Value]) -> bool:
    return any(
        (predicate == DEPRECATED and text.lower() in ("true", "1")) or text == DEPRECATED_CLASS
        for predicate, _, text in own
    )


class _Shallow:
    """Turtle or N-Triples without a byte order mark.

    Refuses a file with brackets nested so deeply that it must be damaged: the parser needs about 350 bytes for each
    open bracket. The count is approximate: it includes brackets in strings, and restarts after each line that ends a
    statement.
    """

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        self._stream, self._path = stream, path
        self._depth, self._begun = 0, False

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        if not self._begun:
            self._begun, block = True, block.removeprefix(BOM_UTF8) or self._stream.read(size)
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


def _is_skos(head: bytes) -> bool:
    return b"ConceptScheme" in head or re.search(rb"<\w*:?Concept[\s>]|skos/core#Concept[\"']", head) is not None


class OwlReader(RdfReader):
    """RDF/XML of an ontology: its addresses are not shortened by its own prefixes."""

    format = "owl"
    title = "OWL (RDF/XML)"
    refusal = "{path} is not RDF/XML: convert the ontology to it (for example with ROBOT) and try again"

    @staticmethod
    def sniff(head: bytes) -> bool:
        return _XML.search(head) is not None and _OWL.encode() in head and not _is_skos(head)

    @classmethod
    def open(cls, path: Path, options: KbOptions | None = None) -> Self:
        if _XML.search(Source(path).head()) is None:
            raise UserError(tr(cls.refusal, path=path))
        return cls(path, options).prepared()


class SkosReader(RdfReader):
    format = "skos"
    title = "SKOS (RDF/XML, Turtle)"
    refusal = "{path} is neither RDF/XML nor Turtle nor N-Triples: convert it to one of them"

    @staticmethod
    def sniff(head: bytes) -> bool:
        kind, owl = syntax(head), _OWL.encode() in head
        return bool(kind) and not OwlReader.sniff(head) and (_SKOS.encode() in head or (owl and kind != "xml"))

    @classmethod
    def open(cls, path: Path, options: KbOptions | None = None) -> Self:
        if not syntax(Source(path).head()):
            raise UserError(tr(cls.refusal, path=path))
        return cls(path, options).prepared()
