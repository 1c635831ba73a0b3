"""PubAnnotation JSON: a document, a list of them or one a line; a folder or a zip archive of such files.

Denotations are mentions, including those of all projects (`tracks`); offsets count code points. A denotation can state
its type and its identifier in many ways: an attribute `identifier` in addition to the type, `Type:ID`, a CURIE, a web
address. Relations, attributes, blocks and everything else in a document stay in its record, which is its exact text.
`SourceMention.record` is the denotation's index in the document, continued through its tracks.

Denotations within a PubAnnotation document, and the many ways in which they state a type and an identifier.

Write PubAnnotation: one JSON file for each source file, a list of documents unless the source had a single one or
lines.

* An unchanged document is written back as its exact text.
* A decision is an attribute `identifier` for each entity, `NIL` for none; a denotation with `Type:ID` keeps this form
  if there is one entity.
* An attribute of a mention is an attribute of its denotation, with its name as predicate and its value as object.
* A relation that a curator deleted is removed; new ones are between denotations of one project.
* The attributes, relations and modifications of a deleted or rejected denotation are removed too; removed relations are
  noted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from curator.domain.curies import REGISTRIES, contract, usual_prefix
from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.id_fields import identifier_key
from curator.domain.relations import RelationKind, SourceEnd, SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.archives import Files, holds_many, open_files
from curator.io.files.attributes import AttributeNames, any_of, json_text, said_value
from curator.io.files.export import Action, FreeNames, WrittenSource, action_for, write_streams
from curator.io.files.field_meanings import identifiers_in, is_empty, kind_in, other_texts
from curator.io.files.idstyle import IdStyle, read_id, read_ids
from curator.io.files.json_layout import rewritten
from curator.io.files.json_stream import JsonStream
from curator.io.files.reading import mention_place
from curator.io.files.relations import relations_for, unique_keys, unwritten
from curator.io.files.source import Source, plain_text
from curator.io.standoff.standoff import FilesReader, extra_of, first_line, plain_passages
from curator.services.ports.files import Carries, ExportDocument, ExportMention, Problem

IDENTIFIER = "identifier"
ID_PREDICATES = frozenset(
    {IDENTIFIER, "identifiers", "resolved_to", "normalized_to", "normalised_to", "dbid", "concept_id", "entity_id"}
    | {"skos:exactmatch", "owl:sameas", "rdf:resource"}
)


class Home:
    """An object that has denotations, the document or one of its tracks, with its attributes by subject."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self._about: dict[object, list[dict[str, Any]]] = {}
        self._gone: set[int] = set()
        for one in objects(value.get("attributes")):
            self._about.setdefault(_hashable(one.get("subj")), []).append(one)

    def about(self, key: object) -> list[dict[str, Any]]:
        """The attributes of the denotation with this id."""
        return list(self._about.get(_hashable(key), ())) if key else []

    def add(self, key: object, attribute: dict[str, Any]) -> None:
        self.value.setdefault("attributes", []).append(attribute)
        self._about.setdefault(_hashable(key), []).append(attribute)

    def discard(self, key: object, attributes: Sequence[dict[str, Any]]) -> None:
        """Remove attributes of a denotation; from the list itself with `settle`."""
        self._gone |= {id(one) for one in attributes}
        if attributes:
            self._about[_hashable(key)] = [one for one in self.about(key) if id(one) not in self._gone]

    def settle(self) -> None:
        if self._gone:
            self.value["attributes"] = [one for one in self.value["attributes"] if id(one) not in self._gone]
            self._gone.clear()


@dataclass(frozen=True, slots=True)
class Denotation:
    value: dict[str, Any]
    home: Home

    def attributes(self) -> list[dict[str, Any]]:
        """Attributes with its identifiers."""
        return [one for one in self.home.about(self.value.get("id")) if is_identifier(one)]

    def others(self) -> list[dict[str, Any]]:
        """Other attributes."""
        return [one for one in self.home.about(self.value.get("id")) if not is_identifier(one)]

    def unread(self) -> dict[str, str]:
        """Values of the others that are not texts or numbers, as texts."""
        odd = {said_value(one.get("pred")): one.get("obj") for one in self.others()}
        return other_texts({name: value for name, value in odd.items() if not isinstance(value, str | float)}, ())

    def held(self) -> dict[str, str]:
        """The names and values of the others; the first of a repeated name."""
        found: dict[str, str] = {}
        for one in self.others():
            name, value = plain_text(said_value(one.get("pred"))), plain_text(said_value(one.get("obj")))
            if name and value:
                found.setdefault(name, value)
        return found


def _hashable(key: object) -> object:
    """A name; in a damaged file, the text of a list or of an object in its place."""
    return (json.dumps(key),) if isinstance(key, list | dict) else key


def may_have(raw: str, key: str) -> bool:
    """Whether a record can have this key: it is there, or something that may be it is behind an escape."""
    return f'"{key}"' in raw or "\\u" in raw


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list; empty for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def names(value: Mapping[str, Any], *fields: str) -> set[str | int]:
    """The names in these fields of an object; a list or an object is not a name."""
    return {one for name in fields if isinstance(one := value.get(name), str | int)}


def denotations(document: dict[str, Any]) -> list[Denotation]:
    """The denotations of the document itself and of its tracks, in order."""
    homes = [Home(one) for one in (document, *objects(document.get("tracks")))]
    return [Denotation(one, home) for home in homes for one in objects(home.value.get("denotations"))]


def relations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(key, relation, the object that it is in) of each, of the document itself and of its tracks, in their order."""
    homes = [document, *objects(document.get("tracks"))]
    found = [(one, home) for home in homes for one in objects(home.get("relations"))]
    keys = unique_keys([_relation_key(one) for one, _ in found])
    return [(key, one, home) for key, (one, home) in zip(keys, found, strict=True)]


def relations_of(raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG001 as every format's
    """The relations of a document's record. A relation between anything but two denotations cannot be edited."""
    if not may_have(raw, "relations"):
        return []
    document = json.loads(raw)
    records = {
        (id(found.home.value), str(found.value["id"])): record
        for record, found in reversed(list(enumerate(denotations(document))))
        if found.value.get("id") is not None
    }
    made = []
    for key, one, home in relations(document):
        names = [str(one.get(end, "")) for end in ("subj", "obj")]
        ends = tuple(
            SourceEnd(role, records[id(home), name]) if (id(home), name) in records else SourceEnd(role, name=name)
            for role, name in zip(("subj", "obj"), names, strict=True)
        )
        fixed = any(end.record < 0 for end in ends)
        made.append(SourceRelation(key, plain_text(str(one.get("pred", ""))) or "relation", ends, fixed))
    return made


def _relation_key(one: Mapping[str, Any]) -> str:
    return plain_text(str(one.get("id") or " ".join(str(one.get(name, "")) for name in ("subj", "pred", "obj"))))


def is_identifier(attribute: Mapping[str, Any]) -> bool:
    """Whether an attribute states identifiers, or that there are none."""
    named = str(attribute.get("pred", "")).lower() in ID_PREDICATES or _vocabulary(attribute) is not None
    return named and bool(_ids(attribute))


def _vocabulary(attribute: Mapping[str, Any]) -> str | None:
    """The vocabulary of an attribute's identifiers, see `identifier_key`."""
    return identifier_key(str(attribute.get("pred", "")), " ".join(_ids(attribute)))


def _ids(attribute: Mapping[str, Any]) -> list[str]:
    """The identifiers in an attribute; an empty one if it is empty."""
    value = attribute.get("obj")
    return [""] if is_empty(value) else identifiers_in(value)


def type_and_ids(found: Denotation, namespaces: Mapping[str, str]) -> tuple[str, list[str]]:
    """A denotation's type, and its identifiers as stated."""
    value = found.value.get("obj")
    whole = _words(value)
    described = [value] if isinstance(value, dict) else objects(value)
    if described and (inside := identifiers_in(value)) and not found.attributes():
        return kind_in([one.get("type") for one in described]) or inside[0].partition(":")[0], inside
    stated = [
        words if not (prefix := _vocabulary(one)) or ":" in words else f"{prefix}:{words}"
        for one in found.attributes()
        for words in _ids(one)
    ]
    if stated:
        return whole, stated
    if is_address(whole, namespaces):
        curie = _curie(whole, namespaces)
        return curie.partition(":")[0], [curie]
    head, colon, tail = whole.partition(":")
    if colon and head and any(ch.isdigit() for ch in tail) and not any(ch.isspace() for ch in tail):
        return head, list(IdStyle().split(tail, head))
    return whole, []


def is_address(text: str, namespaces: Mapping[str, str]) -> bool:
    """Whether an object is only an identifier: a web address that is known, or one with a known prefix."""
    head, colon, local = _curie(text, namespaces).partition(":")
    return bool(colon and local) and usual_prefix(head) in REGISTRIES and not any(ch.isspace() for ch in local)


def _curie(text: str, namespaces: Mapping[str, str]) -> str:
    head, colon, local = text.partition(":")
    if colon and head in namespaces:
        text = contract(namespaces[head] + local)
    elif "_base" in namespaces and "://" not in text:
        text = contract(namespaces["_base"] + text)
    return read_id(text)


def _words(value: object) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return plain_text("|".join(value))
    return (kind_in(value) if isinstance(value, dict) else "") or ("" if value is None else json_text(value))


_KNOWN = frozenset(
    {"sourcedb", "sourceid", "divid", "section", "target", "text", "project", "denotations", "attributes", "blocks"}
    | {"namespaces", "tracks", "relations", "modifications"}
)
"""Top-level keys of a document that contains only mentions; relations and modifications must be empty."""
_KEYS = (b'"sourcedb"', b'"denotations"', b'"tracks"')


class PubAnnotationReader(FilesReader):
    """Yields the documents file by file."""

    format = "pubannotation"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        number = 0
        for name in self._files.names:
            stream = JsonStream(self._files.source(name), (), whole=True)
            between = ""
            for before, raw, value, line in stream:
                if "text" not in value:
                    self._problem(line, "set aside", tr("{name}: an object without a text", name=name))
                    continue
                self.head = before if not number else self.head
                between = between or (before if number else "")
                number += 1
                yield self._document(value, raw, line, number)
            self.tail = stream.rest
            self.extra = json.dumps({"between": between})
        if not number:
            raise UserError(
                tr("{path} contains no PubAnnotation document: no object with a text", path=self._files.path)
            )
        if len(self._files.names) > 1:
            self.head = self.tail = self.extra = ""

    def _document(self, value: dict[str, Any], raw: str, line: int, number: int) -> SourceDocument:
        given = value["text"] if isinstance(value["text"], str) else ""
        text = plain_text(given)
        key = _document_id(value) or f"document {number}"
        if text != given:
            self._problem(line, "repaired", tr("document {key} contains lone surrogates, read as U+FFFD", key=key))
        named = {str(one.get("prefix")): str(one.get("uri")) for one in objects(value.get("namespaces"))}
        mentions = [
            mention
            for record, found in enumerate(denotations(value))
            if (mention := self._mention(found, record, named, text, f"document {key}", line))
        ]
        return SourceDocument(
            key, first_line(text), text, _passages(value, text), tuple(mentions), plain_text(raw), line
        )

    def _mention(
        self, found: Denotation, record: int, namespaces: Mapping[str, str], text: str, where: str, line: int
    ) -> SourceMention | None:
        spans = _spans(found.value.get("span"), len(text))
        if not spans:
            self._problem(
                line,
                "set aside",
                tr(
                    "{where}: the denotation at {get} is outside the text",
                    where=where,
                    get=json.dumps(found.value.get("span"))[:80],
                ),
            )
            return None
        kind, stated = type_and_ids(found, namespaces)
        ids = read_ids(stated)
        words = " ".join(text[span.start : span.end] for span in spans)
        return SourceMention(spans, words, kind, ids, "|".join(stated), bool(stated) and not ids, record)


class PubAnnotationFormat:
    """Reads and writes PubAnnotation. `problems` lists data that the last `write` left out."""

    name = "pubannotation"
    title = "PubAnnotation JSON"
    can_read = True
    can_write = True
    endings = (".json",)
    carries = Carries(
        mentions=True,
        discontinuous=True,
        several_ids=True,
        nil=True,
        relations=True,
        attributes=True,
        own_fields=True,
    )
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        start = head.lstrip()
        return start[:1] in (b"{", b"[") and b'"text"' in head and any(key in head for key in _KEYS)

    def sniff_files(self, files: Files) -> bool:
        names = files.with_suffix(".json")
        return bool(names) and all(self.sniff(files.path, files.head(name, 1 << 16)) for name in names[:20])

    def reads(self, files: Files) -> Sequence[str]:
        return files.with_suffix(".json")

    def open(self, path: Path) -> PubAnnotationReader:
        """Raises UserError for a missing, empty, unsafe or foreign source."""
        files = open_files(path)
        many = holds_many(path)
        if not (self.sniff_files(files) if many else self.sniff(path, Source(path).head())):
            raise UserError(
                tr("{path} is not PubAnnotation: no JSON of texts with denotations; choose another format", path=path)
            )
        return PubAnnotationReader(files.only(files.with_suffix(".json")) if many else files)

    def holds_more(self, raw: str) -> bool:
        value = json.loads(raw)
        homes = [value, *objects(value.get("tracks"))]
        about = any(one.get("modifications") for one in homes)
        others = (one for home in homes for one in objects(home.get("attributes")) if not is_identifier(one))
        return bool(about or value.keys() - _KNOWN or any(True for _ in others))

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = denotations(json.loads(raw)) if may_have(raw, "attributes") else ()
        return {record: found for record, one in enumerate(listed) if (found := one.held())}

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsFields`."""
        listed = enumerate(denotations(json.loads(raw)))
        return {record: other_texts(one.value, ("id", "span", "obj")) | one.unread() for record, one in listed}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return relations_of(raw, extra)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `pubannotation_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


def _document_id(value: Mapping[str, Any]) -> str:
    key = value.get("sourceid")
    if key is None:
        return plain_text(str(value.get("target") or ""))
    part = value.get("divid")
    return plain_text(f"{key}" if part is None else f"{key}-{part}")


def _spans(value: object, length: int) -> tuple[Span, ...]:
    """One span or a list of them, in text order; none if one is wrong or outside of the text."""
    spans = []
    for one in value if isinstance(value, list) else [value]:
        start, end = (one.get("begin"), one.get("end")) if isinstance(one, dict) else (None, None)
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
            return ()
        spans.append(Span(start, end))
    spans.sort()
    apart = all(one.end <= other.start for one, other in pairwise(spans))
    return tuple(spans) if apart else ()


def _passages(value: Mapping[str, Any], text: str) -> tuple[Passage, ...]:
    """Blocks named title, abstract or section; else the whole text, named like its section."""
    found = []
    for block in objects(value.get("blocks")):
        kind = str(block.get("obj", "")).lower()
        spans = _spans(block.get("span"), len(text))
        if spans and kind in ("title", "abstract", "section"):
            found.append(Passage(kind, spans[0].start, spans[-1].end))
    if found:
        return tuple(sorted(found, key=lambda one: one.start))
    section = plain_text(str(value.get("section") or ""))
    if section and section.upper() != "TIAB" and text:
        return (Passage("title" if section.lower() == "title" else "section", 0, len(text), section),)
    return plain_passages(text)


_DEPENDENT = ("attributes", "relations", "modifications")
ATTRIBUTES = AttributeNames("PubAnnotation", any_of(ID_PREDICATES))
_PUBMED = ("pubtator", "pubmed-xml", "medline")


def write_files(
    files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path, problems: list[Problem]
) -> list[Path]:
    """See `export.write_streams`."""

    def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
        return (plain_text(piece).encode("utf-8") for piece in _file_text(sources, problems))

    return write_streams(
        files, out, pieces, format_name="pubannotation", suffix=".json", endings=PubAnnotationFormat.endings
    )


def _file_text(sources: Sequence[WrittenSource], problems: list[Problem]) -> Iterator[str]:
    first = sources[0][0]
    own = first.format == "pubannotation" and len(sources) == 1
    known = extra_of(first, "pubannotation").get("between") if own else ""
    own = own and ("[" in first.head) == ("]" in first.tail)  # mixed lists and single objects are written as a list
    if known and str(known).strip() != ("," if "[" in first.head else ""):
        own, known = False, ""
    head, tail = (first.head, first.tail) if own and first.extra else ("[\n", "\n]\n")
    between = known or (",\n" if "[" in head else "\n")
    begun = False
    for file, documents in sources:
        edited = file.format == "pubannotation"
        for item in documents:
            yield between if begun else head
            begun = True
            if edited and item.raw:
                yield item.raw if item.is_bare else _Edit(item, file, problems).text()
            else:
                yield new_document(item, file, problems)
    yield tail


def new_document(item: ExportDocument, file: SourceFile, problems: list[Problem]) -> str:
    """A document that came from another format."""
    document = item.document
    value: dict[str, Any] = {
        "sourcedb": "PubMed" if file.format in _PUBMED else file.name or "Curator",
        "sourceid": document.external_id,
        "text": document.text,
        "denotations": [],
    }
    blocks = [
        {"id": f"B{number}", "span": {"begin": one.start, "end": one.end}, "obj": one.kind}
        for number, one in enumerate(document.passages, 1)
        if one.end > one.start
    ]
    if blocks:
        value["blocks"] = blocks
    edit = _Edit(item, file, problems, value)
    edit.apply()
    return json.dumps(value, ensure_ascii=False)


class _Edit:
    """One document while its denotations are edited."""

    def __init__(
        self,
        item: ExportDocument,
        file: SourceFile,
        problems: list[Problem],
        value: dict[str, Any] | None = None,
    ) -> None:
        self._item = item
        self._file = file
        self._problems = problems
        self._spelling = Spelling(item, file, "pubannotation")
        self._has_records = value is None
        self.value: dict[str, Any] = json.loads(item.raw) if value is None else value
        self._found = denotations(self.value)
        self._home = next((one.home for one in self._found if one.home.value is self.value), Home(self.value))
        self._named = {str(one.get("prefix")): str(one.get("uri")) for one in objects(self.value.get("namespaces"))}
        homes = [self.value, *objects(self.value.get("tracks"))]
        lists = ("denotations", "blocks", *_DEPENDENT)
        self._taken = FreeNames(
            str(key) for home in homes for name in lists for one in objects(home.get(name)) for key in names(one, "id")
        )
        self._changed = False
        self._written: dict[int, Denotation] = {}  # by the id of the mention

    def text(self) -> str:
        self.apply()
        if not self._changed:
            return self._item.raw
        return rewritten(self._item.raw, self.value)

    def apply(self) -> None:
        gone = [self._found[record] for record in self._item.removed_records]
        for gold in sorted(self._item.mentions, key=lambda one: one.mention.spans):
            action = action_for(gold, self._item.document.external_id, self._problems)
            known = gold.mention.record >= 0 and self._has_records
            found = self._found[gold.mention.record] if known else None
            if action is Action.DROP:
                gone += [found] if found else []
                continue
            if found is not None:
                self._written[gold.mention.id] = found
            if found is None:
                found = self._append(gold)
            elif action is not Action.KEEP:
                self._edit(found, gold, action)
            self._attribute(found, gold)
        for home in {id(one.home): one.home for one in [*self._found, *self._written.values()]}.values():
            home.settle()
            self._remove(home.value, [one.value for one in gone if one.home is home])
        self._relate()

    def _relate(self) -> None:
        """Remove the relations that a curator deleted, and write new ones."""
        stated = relations(self.value) if self._has_records and self._item.removed_relations else []
        keys = frozenset(self._item.removed_relations)
        gone = {id(one) for key, one, _ in stated if key in keys}
        for home in {id(home): home for _, one, home in stated if id(one) in gone}.values():
            home["relations"] = [one for one in home["relations"] if id(one) not in gone]
            self._changed = True
        own, kinds = self._has_records, (RelationKind.MENTIONS,)
        wanted = relations_for(
            self._item, self._problems, own=own, kinds=kinds, written=self._written, title="PubAnnotation"
        )
        for made in wanted:
            first, second = (self._written[one] for one in made.mention_ids)
            if first.home is not second.home:
                unwritten(self._item, self._problems, made, "PubAnnotation")
                continue
            for end in (first, second):
                end.value.setdefault("id", self._key("T"))
            value = {"id": self._key("R"), "pred": made.type, "subj": first.value["id"], "obj": second.value["id"]}
            first.home.value.setdefault("relations", []).append(value)
            self._changed = True

    def _edit(self, found: Denotation, gold: ExportMention, action: Action) -> None:
        before = repr([found.value, found.attributes()])
        kind, stated = type_and_ids(found, self._named)
        typed = bool(stated) and not found.attributes() and not is_address(str(found.value["obj"]), self._named)
        if gold.reshaped:
            found.value["span"] = _span(gold)
            kind = gold.mention.type
        if action is Action.WRITE:
            self._say(found, kind, stated_ids(gold, self._item, self._file) or (), typed=typed)
        elif gold.reshaped and (typed or not stated or found.attributes()):
            found.value["obj"] = ":".join([kind, *stated]) if typed else kind
        self._changed = self._changed or repr([found.value, found.attributes()]) != before

    def _append(self, gold: ExportMention) -> Denotation:
        value: dict[str, Any] = {"id": self._key("T"), "span": _span(gold), "obj": gold.mention.type}
        self.value.setdefault("denotations", []).append(value)
        self._changed = True
        made = self._written[gold.mention.id] = Denotation(value, self._home)
        ids = stated_ids(gold, self._item, self._file)
        if ids is not None:
            self._say(made, gold.mention.type, ids, typed=False)
        elif type_and_ids(made, self._named)[1]:
            self._note(gold, tr("its type looks like an identifier and will be read as one"))
        return made

    def _attribute(self, found: Denotation, gold: ExportMention) -> None:
        """Update the project's attributes to their current values."""
        for name, value in ATTRIBUTES.changes(gold, found.held(), self._problems).items():
            old = [one for one in found.others() if plain_text(said_value(one.get("pred"))) == name]
            found.home.discard(found.value.get("id"), old if value is None else old[1:])
            if old and value is not None:
                old[0]["obj"] = value
            elif value is not None:
                key = found.value.setdefault("id", self._key("T"))
                found.home.add(key, {"id": self._key("A"), "subj": key, "pred": name, "obj": value})
            self._changed = True

    def _say(self, found: Denotation, kind: str, ids: tuple[str, ...], *, typed: bool) -> None:
        """Write the identifiers: in the object if it held one and there is one, else as attributes."""
        wanted = self._spelling.ids(ids)
        if typed and len(ids) == 1:
            whole = {"obj": f"{kind}:{wanted[0]}"}
            if type_and_ids(Denotation(whole, Home({})), self._named) == (kind, wanted):
                found.value.update(whole)
                return
        found.value["obj"] = kind
        key = found.value.setdefault("id", self._key("T"))
        old = found.attributes()
        kept = [one for one in old if read_id(str(one.get("obj"))) in ids]
        there = {read_id(str(one.get("obj"))) for one in kept}
        found.home.discard(key, [one for one in old if one not in kept])
        for one in wanted:
            if read_id(one) not in there:
                found.home.add(key, {"id": self._key("A"), "subj": key, "pred": IDENTIFIER, "obj": one})

    def _remove(self, home: dict[str, Any], gone: list[dict[str, Any]]) -> None:
        """Remove denotations with all that is about them, and about that."""
        if not gone:
            return
        self._changed = True
        lists = [name for name in _DEPENDENT if isinstance(home.get(name), list)]
        about: dict[str | int, dict[str, list[dict[str, Any]]]] = {}
        for name in lists:
            for one in objects(home[name]):
                for key in names(one, "subj", "obj"):
                    about.setdefault(key, {}).setdefault(name, []).append(one)
        removed = {id(one) for one in gone}
        for denotation in gone:
            keys = list(names(denotation, "id"))
            while keys:
                found = {name: [one for key in keys for one in about.get(key, {}).get(name, ())] for name in lists}
                keys = []
                for name, several in found.items():
                    new = list({id(one): one for one in several if id(one) not in removed}.values())
                    removed |= {id(one) for one in new}
                    keys += [key for one in new for key in names(one, "id")]
                    if name != "attributes":
                        self._noted(new)
        for name in ("denotations", *lists):
            home[name] = [one for one in home[name] if id(one) not in removed]

    def _noted(self, about: list[dict[str, Any]]) -> None:
        for one in about:
            removed = one.get("id", one.get("pred"))
            text = tr(
                "document {document}: {removed} was removed together with the denotation it refers to",
                document=self._item.document.external_id,
                removed=removed,
            )
            self._problems.append(Problem(0, "note", text))

    def _key(self, letter: str) -> str:
        return self._taken.take(f"{letter}1", lambda number: f"{letter}{number}")

    def _note(self, gold: ExportMention, text: str) -> None:
        where = mention_place(self._item.document.external_id, gold.mention.text)
        self._problems.append(Problem(0, "note", f"{where}: {text}"))


def _span(gold: ExportMention) -> object:
    spans = [{"begin": one.start, "end": one.end} for one in gold.mention.spans]
    return spans[0] if len(spans) == 1 else spans
