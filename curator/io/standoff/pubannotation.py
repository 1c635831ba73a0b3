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
from pathlib import Path
from typing import Any

from curator.domain.curies import REGISTRIES, contract, usual_prefix
from curator.domain.documents import Passage, SourceDocument, SourceFile, Span
from curator.domain.id_fields import identifier_key
from curator.domain.relations import Relation, SourceEnd, SourceRelation
from curator.domain.wording import tr
from curator.io.bioc.source_ids import Spelling, stated_ids
from curator.io.files.attributes import AttributeNames, any_of, json_text, said_value
from curator.io.files.editing import DocumentEdit
from curator.io.files.export import Action, FreeNames, WrittenSource, extra_of
from curator.io.files.field_meanings import identifiers_in, is_empty, kind_in, other_texts
from curator.io.files.format import Format
from curator.io.files.idstyle import IdStyle, read_id
from curator.io.files.json_stream import JsonStream, rewritten
from curator.io.files.reading import FilesReader, are_apart, first_line, plain_passages, stated_mention
from curator.io.files.relations import unique_keys, unwritten
from curator.io.files.report import Report
from curator.io.files.source import Files, plain_text
from curator.services.ports.files import Carries, ExportDocument, ExportMention

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


def relations_of(raw: str) -> list[SourceRelation]:
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
    none = "{path} contains no PubAnnotation document: no object with a text"

    def documents(self) -> Iterator[SourceDocument]:
        number = 0
        for name in self.files.names:
            stream = JsonStream(self.files.source(name), (), whole=True)
            between = ""
            for before, raw, value, line in stream:
                if "text" not in value:
                    self.problems.set_aside(tr("{name}: an object without a text", name=name), line)
                    continue
                self.head = before if not number else self.head
                between = between or (before if number else "")
                number += 1
                yield self._document(value, raw, line, number)
            self.tail = stream.rest
            self.extra = json.dumps({"between": between})
        if len(self.files.names) > 1:
            self.head = self.tail = self.extra = ""

    def _document(self, value: dict[str, Any], raw: str, line: int, number: int) -> SourceDocument:
        given = value["text"] if isinstance(value["text"], str) else ""
        text = plain_text(given)
        key = _document_id(value) or f"document {number}"
        if text != given:
            self.problems.repaired(tr("document {key} contains lone surrogates, read as U+FFFD", key=key), line)
        named = _namespaces(value)
        mentions = []
        for record, found in enumerate(denotations(value)):
            if spans := _spans(found.value.get("span"), len(text)):
                mentions.append(stated_mention(text, spans, *type_and_ids(found, named), record))
                continue
            place = json.dumps(found.value.get("span"))[:80]
            words = "{where}: the denotation at {get} is outside the text"
            self.problems.set_aside(tr(words, where=f"document {key}", get=place), line)
        passages = _passages(value, text)
        return SourceDocument(key, first_line(text), text, passages, tuple(mentions), plain_text(raw), line)


def _namespaces(value: Mapping[str, Any]) -> dict[str, str]:
    return {str(one.get("prefix")): str(one.get("uri")) for one in objects(value.get("namespaces"))}


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
    return tuple(spans) if are_apart(spans) else ()


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
_PUBMED = ("pubtator", "pubmed-xml", "medline")


def new_document(item: ExportDocument, file: SourceFile, problems: Report) -> str:
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
    edit.run()
    return json.dumps(value, ensure_ascii=False)


class _Edit(DocumentEdit[Denotation]):
    """One document while its denotations are edited; `new` is a document without a record."""

    title = "PubAnnotation"
    names = AttributeNames("PubAnnotation", any_of(ID_PREDICATES))

    def __init__(
        self, item: ExportDocument, file: SourceFile, problems: Report, new: dict[str, Any] | None = None
    ) -> None:
        super().__init__(item, file, problems, own=new is None)
        self._spelling = Spelling(item, file, "pubannotation")
        self.value: dict[str, Any] = json.loads(item.raw) if new is None else new
        self._found = denotations(self.value)
        self._home = next((one.home for one in self._found if one.home.value is self.value), Home(self.value))
        self._named = _namespaces(self.value)
        homes = [self.value, *objects(self.value.get("tracks"))]
        lists = ("denotations", "blocks", *_DEPENDENT)
        ids = (key for home in homes for name in lists for one in objects(home.get(name)) for key in names(one, "id"))
        self._taken = FreeNames(map(str, ids))

    def text(self) -> str:
        self.run()
        return rewritten(self.item.raw, self.value) if self.changed else self.item.raw

    def run(self) -> None:
        super().run()
        for home in self._homes():
            home.settle()

    def _homes(self) -> Iterable[Home]:
        return {id(one.home): one.home for one in [*self._found, *self.parts.values()]}.values()

    def part(self, record: int) -> Denotation:
        return self._found[record]

    def unrelate(self, keys: frozenset[str]) -> None:
        stated = relations(self.value)
        gone = {id(one) for key, one, _ in stated if key in keys}
        for home in {id(home): home for _, one, home in stated if id(one) in gone}.values():
            home["relations"] = [one for one in home["relations"] if id(one) not in gone]
            self.changed = True

    def relate(self, relation: Relation) -> None:
        first, second = (self.parts[one] for one in relation.mention_ids)
        if first.home is not second.home:
            unwritten(self.item, self.problems, relation, self.title)
            return
        for end in (first, second):
            end.value.setdefault("id", self._key("T"))
        value = {"id": self._key("R"), "pred": relation.type, "subj": first.value["id"], "obj": second.value["id"]}
        first.home.value.setdefault("relations", []).append(value)
        self.changed = True

    def edit(self, part: Denotation, gold: ExportMention, action: Action) -> bool:
        before = repr([part.value, part.attributes()])
        kind, stated = type_and_ids(part, self._named)
        typed = bool(stated) and not part.attributes() and not is_address(str(part.value["obj"]), self._named)
        if gold.reshaped:
            part.value["span"] = _span(gold)
            kind = gold.mention.type
        if action is Action.WRITE:
            self._say(part, kind, stated_ids(gold, self.item, self.file) or (), typed=typed)
        elif gold.reshaped and (typed or not stated or part.attributes()):
            part.value["obj"] = ":".join([kind, *stated]) if typed else kind
        self.changed = self.changed or repr([part.value, part.attributes()]) != before
        return True

    def add(self, gold: ExportMention) -> Denotation:
        value: dict[str, Any] = {"id": self._key("T"), "span": _span(gold), "obj": gold.mention.type}
        self.value.setdefault("denotations", []).append(value)
        self.changed = True
        made = Denotation(value, self._home)
        ids = stated_ids(gold, self.item, self.file)
        if ids is not None:
            self._say(made, gold.mention.type, ids, typed=False)
        elif type_and_ids(made, self._named)[1]:
            words = tr("its type looks like an identifier and will be read as one")
            self.problems.note(f"{self.where(gold)}: {words}")
        return made

    def held(self, part: Denotation) -> dict[str, str]:
        return part.held()

    def set_attribute(self, part: Denotation, name: str, value: str | None) -> None:
        old = [one for one in part.others() if plain_text(said_value(one.get("pred"))) == name]
        part.home.discard(part.value.get("id"), old if value is None else old[1:])
        if old and value is not None:
            old[0]["obj"] = value
        elif value is not None:
            key = part.value.setdefault("id", self._key("T"))
            part.home.add(key, {"id": self._key("A"), "subj": key, "pred": name, "obj": value})

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

    def remove(self, gone: list[Denotation]) -> None:
        for home in self._homes():
            home.settle()
            self._remove(home.value, [one.value for one in gone if one.home is home])

    def _remove(self, home: dict[str, Any], gone: list[dict[str, Any]]) -> None:
        """Remove denotations with all that is about them, and about that."""
        if not gone:
            return
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
            words = "document {document}: {removed} was removed together with the denotation it refers to"
            self.problems.note(tr(words, document=self.item.document.external_id, removed=removed))

    def _key(self, letter: str) -> str:
        return self._taken.take(f"{letter}1", lambda number: f"{letter}{number}")


def _span(gold: ExportMention) -> object:
    spans = [{"begin": one.start, "end": one.end} for one in gold.mention.spans]
    return spans[0] if len(spans) == 1 else spans


class PubAnnotationFormat(Format):
    name = "pubannotation"
    title = "PubAnnotation JSON"
    refusal = "{path} is not PubAnnotation: no JSON of texts with denotations; choose another format"
    reader = PubAnnotationReader
    endings = (".json",)
    suffix = ".json"
    carries = Carries(
        mentions=True, discontinuous=True, several_ids=True, nil=True, relations=True, attributes=True, own_fields=True
    )
    takes_folders = True

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        start = head.lstrip()
        return start[:1] in (b"{", b"[") and b'"text"' in head and any(key in head for key in _KEYS)

    def sniff_files(self, files: Files) -> bool:
        names = self.reads(files)
        return bool(names) and all(self.sniff(files.path, files.head(name, 1 << 16)) for name in names[:20])

    def reads(self, files: Files) -> Sequence[str]:
        return files.with_suffix(".json")

    def holds_more(self, raw: str) -> bool:
        value = json.loads(raw)
        homes = [value, *objects(value.get("tracks"))]
        about = any(one.get("modifications") for one in homes)
        others = (one for home in homes for one in objects(home.get("attributes")) if not is_identifier(one))
        return bool(about or value.keys() - _KNOWN or any(True for _ in others))

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        listed = denotations(json.loads(raw)) if may_have(raw, "attributes") else ()
        return {record: found for record, one in enumerate(listed) if (found := one.held())}

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        listed = enumerate(denotations(json.loads(raw)))
        return {record: other_texts(one.value, ("id", "span", "obj")) | one.unread() for record, one in listed}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG002
        return relations_of(raw)

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str]:
        first = sources[0][0]
        own = first.format == self.name and len(sources) == 1
        known = extra_of(first, self.name).get("between") if own else ""
        own = own and ("[" in first.head) == ("]" in first.tail)  # mixed lists and single objects are written as a list
        if known and str(known).strip() != ("," if "[" in first.head else ""):
            own, known = False, ""
        head, tail = (first.head, first.tail) if own and first.extra else ("[\n", "\n]\n")
        between = known or (",\n" if "[" in head else "\n")
        begun = False
        for file, documents in sources:
            for item in documents:
                yield between if begun else head
                begun = True
                if file.format != self.name or not item.raw:
                    yield plain_text(new_document(item, file, self.problems))
                else:
                    yield plain_text(item.raw if item.is_bare else _Edit(item, file, self.problems).text())
        yield tail
