"""Write BioC: unchanged parts are written back exactly, everything else is edited annotation by annotation.

* A changed decision rewrites the infons that hold identifiers, in the file's style, and adds who decided and when
  (`annotator`, `updated_at`, as in TeamTat); a moved or retyped mention its locations, text and type.
* An attribute of a mention is an infon of its annotation.
* A deleted or rejected mention's annotation is removed; relations stay, and those that lose an annotation are reported.
  A relation that a curator deleted is removed; a new one is added to the document, with its curator and time.
* A new mention's annotation is added to the passage or sentence in which it begins.
* Conversion between XML and JSON keeps all infons and relations; a document from another format is written from
  scratch.

BioC XML as BioC JSON and back: documents, and the header of a collection, with all infons and relations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from lxml import etree

from curator.domain.documents import Document, Passage, SourceFile
from curator.domain.relations import RelationKind
from curator.domain.wording import UserError, ntr, tr
from curator.io.bioc.bioc import (
    ATTRIBUTES,
    BioCAnnotation,
    BioCDocument,
    BioCRelation,
    Infons,
    InfonStyle,
    Segment,
    attributes_of,
    changed,
    fitted,
    fresh_id,
    signed,
    stated_relations,
    with_attributes,
    written_relation,
)
from curator.io.bioc.bioc_json_tree import BEFORE, JsonTree, json_infons, own_text, relation_infons, separator
from curator.io.bioc.bioc_xml_tree import XmlTree, text_in, xml_infons
from curator.io.bioc.source_ids import source_style, stated_ids
from curator.io.files.attributes import BINARY
from curator.io.files.export import Action, FreeNames, WrittenSource, action_for, entity_ids, is_gold, write_streams
from curator.io.files.relations import relations_for
from curator.services.ports.files import ExportDocument, ExportMention, Problem

Json = dict[str, Any]
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KNOWN = {
    "document": {"id", "infons", "passages", "annotations", "relations"},
    "passage": {"offset", "infons", "text", "sentences", "annotations", "relations"},
}


def json_of_xml(root: Any, problems: list[Problem]) -> Json:
    """A `document` element as BioC JSON."""
    name = text_in(root, "id").strip()
    found = {"id": name, "infons": _infons(root, name, problems)}
    passages = [_text_of(one, name, problems, sentences=True) for one in root.findall("passage")]
    return found | {"passages": passages} | _annotated(root, name, problems)


def xml_of_json(found: Json, problems: list[Problem]) -> str:
    """A document of BioC JSON as a `document` element. Characters that XML cannot hold become U+FFFD and are
    reported."""
    name = str(found.get("id", found.get("pmid", "")))
    build = _Builder(name)
    root = etree.Element("document")
    build.child(root, "id", name)
    build.infons(root, found)
    for one in _objects(found, "passages"):
        build.text_of(etree.SubElement(root, "passage"), one)
    build.annotated(root, found)
    build.foreign(found, _KNOWN["document"])
    problems += build.problems()
    etree.indent(root, space="  ")
    return str(etree.tostring(root, encoding="unicode"))


def json_head_of_xml(head: str) -> str:
    """The beginning of a collection, up to its first document; '' gives a new collection's."""
    found = {"source": "Curator", "date": "", "key": "", "infons": {}}
    if "<collection" in head:
        root = etree.fromstring((head[head.index("<collection") :] + "</collection>").encode("utf-8"))
        found = {tag: text_in(root, tag) for tag in ("source", "date", "key")}
        found["infons"] = dict(xml_infons(root))
    text = json.dumps(found, ensure_ascii=False, indent=2)
    return text.removesuffix("\n}") + ',\n  "documents": [\n'


def xml_head_of_json(head: str) -> str:
    """The same from the beginning of a JSON collection; fields that do not belong to a collection are left out."""
    found = _collection(head)
    root = etree.Element("collection")
    build = _Builder("")
    for tag in ("source", "date", "key"):
        build.child(root, tag, str(found.get(tag) or ""))
    build.infons(root, found)
    etree.indent(root, space="  ")
    return str(etree.tostring(root, encoding="unicode")).removesuffix("</collection>")


def _collection(head: str) -> Json:
    start = head.find("{")
    for end in ("]}", "]}]"):
        try:
            found = json.loads(head[start:] + end) if start >= 0 else {"source": "Curator"}
        except ValueError:
            continue
        return found if isinstance(found, dict) else {}
    return {}


class _Builder:
    """Creates elements, and records what XML or the DTD cannot hold."""

    def __init__(self, document: str) -> None:
        self._document = document
        self._characters = 0
        self._foreign: dict[str, None] = {}

    def child(self, parent: Any, tag: str, text: str) -> None:
        etree.SubElement(parent, tag).text = self.clean(text)

    def clean(self, text: str) -> str:
        text, count = _NO_XML.subn("\ufffd", text)
        self._characters += count
        return text

    def infons(self, parent: Any, found: Json, *, related: bool = False) -> None:
        told = dict(relation_infons(found) if related else json_infons(found))
        for key, value in told.items():
            etree.SubElement(parent, "infon", key=self.clean(key)).text = self.clean(value)
        own = found.get("infons")
        own = own if isinstance(own, dict) else {}
        self.foreign(own, told)
        parts = {f"{key}.{name}": "" for key in told if isinstance(own.get(key), dict) for name in own[key]}
        self.foreign(parts, {f"{key}.identifier" for key in told})

    def text_of(self, parent: Any, found: Json) -> None:
        """The text of a passage or a sentence."""
        self.infons(parent, found)
        self.child(parent, "offset", str(found.get("offset", 0)))
        sentences = list(_objects(found, "sentences"))
        text = found.get("text")
        if isinstance(text, str) and (text or not sentences):
            self.child(parent, "text", text)
        for one in sentences:
            self.text_of(etree.SubElement(parent, "sentence"), one)
        self.annotated(parent, found)
        self.foreign(found, _KNOWN["passage"])

    def annotated(self, parent: Any, found: Json) -> None:
        for one in _objects(found, "annotations"):
            node = etree.SubElement(parent, "annotation", id=self.clean(str(one.get("id", ""))))
            self.infons(node, one)
            for place in _objects(one, "locations"):
                numbers = {name: self.clean(str(place.get(name, ""))) for name in ("offset", "length")}
                etree.SubElement(node, "location", attrib=numbers)
            self.child(node, "text", one["text"] if isinstance(one.get("text"), str) else "")
        for one in _objects(found, "relations"):
            node = etree.SubElement(parent, "relation", id=self.clean(str(one.get("id", ""))))
            self.infons(node, one, related=True)
            for end in _objects(one, "nodes"):
                names = {name: self.clean(str(end.get(name, ""))) for name in ("refid", "role")}
                etree.SubElement(node, "node", attrib=names)

    def foreign(self, found: Json, known: Iterable[str]) -> None:
        self._foreign |= dict.fromkeys(key for key in found if key not in known)

    def problems(self) -> Iterator[Problem]:
        where = tr("document {document}", document=self._document)
        if self._characters:
            text = ntr(
                "{where}: {n} character that XML does not allow was written as U+FFFD",
                "{where}: {n:,} characters that XML does not allow were written as U+FFFD",
                self._characters,
                where=where,
            )
            yield Problem(0, "repaired", text)
        if self._foreign:
            names = ", ".join(self._foreign)
            yield Problem(0, "note", tr("{where}: BioC XML cannot store {names}: left out", where=where, names=names))


def _text_of(found: Any, name: str, problems: list[Problem], *, sentences: bool = False) -> Json:
    offset = text_in(found, "offset").strip()
    made: Json = {"offset": int(offset) if _is_number(offset) else 0}
    made |= {"infons": _infons(found, name, problems), "text": text_in(found, "text")}
    if sentences:
        made["sentences"] = [_text_of(one, name, problems) for one in found.findall("sentence")]
    return made | _annotated(found, name, problems)


def _annotated(owner: Any, name: str, problems: list[Problem]) -> Json:
    annotations = []
    for one in owner.findall("annotation"):
        places = [{key: _whole(place.get(key)) for key in ("offset", "length")} for place in one.findall("location")]
        infons, text = _infons(one, name, problems), text_in(one, "text")
        annotations.append({"id": one.get("id", ""), "infons": infons, "text": text, "locations": places})
    relations = []
    for one in owner.findall("relation"):
        nodes = [{key: node.get(key, "") for key in ("refid", "role")} for node in one.findall("node")]
        relations.append({"id": one.get("id", ""), "infons": _infons(one, name, problems), "nodes": nodes})
    return {"annotations": annotations, "relations": relations}


def _infons(owner: Any, name: str, problems: list[Problem]) -> dict[str, str]:
    """The infons; values of infons with the same key are joined, since JSON has one value per key."""
    found: dict[str, str] = {}
    for key, value in xml_infons(owner):
        if key in found:
            problems.append(
                Problem(
                    0,
                    "repaired",
                    tr(
                        "document {name}: several infons {key!r} were joined into one, separated by |",
                        name=name,
                        key=key,
                    ),
                )
            )
        found[key] = f"{found[key]}|{value}" if key in found else value
    return found


def _whole(value: str | None) -> int | str:
    value = (value or "").strip()
    return int(value) if _is_number(value) else value


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 16


def _objects(found: Json, key: str) -> Iterator[Json]:
    values = found.get(key)
    return (one for one in (values if isinstance(values, list) else ()) if isinstance(one, dict))


# A document of another format as BioC, in the shape of its JSON. Its text is preserved, and passages keep their
# positions. A single line feed between two passages is in neither; other white space goes to the passage before it, and
# other text outside of passages becomes its own passage.


def new_document(item: ExportDocument, file: SourceFile, style: InfonStyle, problems: list[Problem]) -> Json:
    """The whole document with its gold mentions, and with undecided mentions as in their source."""
    document = item.document
    passages = [_passage(document, one) for one in tiles(document.text, document.passages)]
    name = document.external_id
    chosen = [gold for gold in item.mentions if action_for(gold, name, problems) is not Action.DROP]
    ids: dict[int, str] = {}
    for number, gold in enumerate(sorted(chosen, key=lambda one: one.mention.spans)):
        ids[gold.mention.id] = str(number)
        start = gold.mention.spans[0].start
        owner = next(one for one in reversed(passages) if one["offset"] <= start)
        made = _annotation(gold, stated_ids(gold, item, file), str(number), style, problems)
        owner["annotations"].append(made)
    titled = any(one["infons"].get("type") == "title" for one in passages)
    infons = {"title": document.title} if document.title and not titled else {}
    relations = _new_relations(item, ids, style, problems)
    return {"id": name, "infons": infons, "passages": passages, "annotations": [], "relations": relations}


def _new_relations(item: ExportDocument, ids: dict[int, str], style: InfonStyle, problems: list[Problem]) -> list[Json]:
    kinds, taken = (RelationKind.MENTIONS, RelationKind.ENTITIES), FreeNames()
    wanted = relations_for(item, problems, own=False, kinds=kinds, written=ids, title="BioC")
    written = [written_relation(one, fresh_id(taken), ids, style, ()) for one in wanted]
    return [
        {
            "id": one.id,
            "infons": dict(one.infons),
            "nodes": [{"refid": refid, "role": role} for refid, role in one.nodes],
        }
        for one in written
    ]


def tiles(text: str, passages: tuple[Passage, ...]) -> list[Passage]:
    """Passages that cover the text except for one line feed between two; without a line feed they are adjacent."""
    found: list[Passage] = []
    for one in sorted(passages, key=lambda one: (one.start, -one.end)):
        at = found[-1].end if found else 0
        if one.end <= one.start or one.start < at:
            continue  # empty, or inside another one
        _fill(found, text, one.start)
        _append(found, text, one)
    _fill(found, text, len(text))
    return found


def _fill(found: list[Passage], text: str, end: int) -> None:
    """Cover the text before `end` unless it is one line feed after a passage."""
    start = found[-1].end if found else 0
    gap = text[start:end]
    if not gap or (gap == "\n" and found and end < len(text)):
        return
    if gap == "\n" and end < len(text):
        found.append(Passage("title", 0, 0))
    elif found and gap.isspace():
        found[-1] = replace(found[-1], end=end)
    else:
        from_feed = bool(found) and gap.startswith("\n")
        to_feed = gap.endswith("\n") and end < len(text) and len(gap) > 1 + from_feed
        _append(found, text, Passage("text", start + from_feed, end - to_feed))


def _append(found: list[Passage], text: str, one: Passage) -> None:
    """Append it as its own passage, or to the previous one if nothing would separate the two."""
    if found and one.start == found[-1].end and not _white(text, one.start):
        found[-1] = replace(found[-1], end=one.end)
    else:
        found.append(one)


def _white(text: str, at: int) -> bool:
    return text[at - 1 : at].isspace() or text[at : at + 1].isspace()


def _passage(document: Document, one: Passage) -> Json:
    infons = {"type": one.kind} | ({"label": one.label} if one.label else {})
    text = document.text[one.start : one.end]
    return {"offset": one.start, "infons": infons, "text": text, "sentences": [], "annotations": [], "relations": []}


def _annotation(
    gold: ExportMention, ids: tuple[str, ...] | None, number: str, style: InfonStyle, problems: list[Problem]
) -> Json:
    mention = gold.mention
    infons = [("type", mention.type)]
    if ids is not None:
        infons = changed(infons, ids, style)
    if is_gold(gold):
        infons = signed(infons, gold.decision)
    infons = with_attributes(infons, ATTRIBUTES.changes(gold, {}, problems))
    places = [{"offset": span.start, "length": span.end - span.start} for span in mention.spans]
    return {"id": number, "infons": dict(infons), "text": mention.text, "locations": places}


XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
XML_ENDINGS, JSON_ENDINGS = (".bioc.xml", ".xml"), (".bioc.json", ".json")
Files = Iterable[WrittenSource]
WIDOWED = "document {document}: a relation refers to annotation {id}, which was removed with its mention"


class BioCTree(Protocol):
    """One document opened for editing. Records are the indexes of its annotations when it was opened."""

    def document(self) -> BioCDocument: ...
    def remove(self, record: int) -> None: ...
    def set_infons(self, record: int, infons: Infons) -> None: ...
    def set_place(self, record: int, places: Sequence[tuple[int, int]], text: str) -> None: ...
    def add(self, passage: int, sentence: int, one: BioCAnnotation) -> None: ...
    def relations(self) -> list[BioCRelation]: ...
    def remove_relation(self, number: int) -> None: ...
    def add_relation(self, relation: BioCRelation) -> None: ...
    def references(self) -> Iterator[str]: ...
    def text(self) -> str: ...


MOST_XML = 10_000_000
"""Bytes. Programs that read XML with libxml2, as most do, refuse longer texts."""
TOO_LONG = (
    "Document {external_id} has a text of more than 10 MB, which is too long for XML ({error}). Export it as BioC "
    "JSON, or without this document. Nothing was changed."
)


def write_xml(files: Files, out: Path, problems: list[Problem]) -> list[Path]:
    """One collection for each file, or for all of them; see `export.write_streams`."""

    def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
        _note_collections(sources, problems)
        return (piece.encode("utf-8") for piece in _xml_pieces(sources, problems))

    return write_streams(files, out, pieces, format_name="bioc-xml", suffix=".bioc.xml", endings=XML_ENDINGS)


def write_json(files: Files, out: Path, problems: list[Problem]) -> list[Path]:
    """The same as JSON."""

    def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
        _note_collections(sources, problems)
        return (piece.encode("utf-8") for piece in _json_pieces(sources, problems))

    return write_streams(files, out, pieces, format_name="bioc-json", suffix=".bioc.json", endings=JSON_ENDINGS)


def _note_collections(sources: Sequence[WrittenSource], problems: list[Problem]) -> None:
    """Report that the metadata of all but the first merged collection is left out."""
    others = {file.head.strip() for file, _ in sources if file.format in ("bioc-xml", "bioc-json")}
    if len(others) > 1:
        first = sources[0][0]
        text = tr(
            "All documents are written to one collection, with the metadata of {name}. Export to a "
            "folder to keep the collections separate.",
            name=first.name or first.path,
        )
        problems.append(Problem(0, "note", text))


def _xml_pieces(sources: Sequence[WrittenSource], problems: list[Problem]) -> Iterator[str]:
    first = sources[0][0]
    own = first.format == "bioc-xml" and (len(sources) == 1 or "<collection" in first.head)
    if own:
        yield first.head
    else:
        yield XML_HEAD + xml_head_of_json(first.head if first.format == "bioc-json" else "")
    for file, documents in sources:
        style = _style(file)
        for item in documents:
            yield _xml_text(file, item, style, problems) + "\n"
    yield first.tail if own and len(sources) == 1 else "</collection>\n"


def _xml_text(file: SourceFile, item: ExportDocument, style: InfonStyle, problems: list[Problem]) -> str:
    """Raises UserError for a text that XML readers refuse for its length."""
    if file.format == "bioc-xml" and item.raw:
        return edited(item, item.raw, XmlTree, style, problems)
    own = file.format == "bioc-json" and item.raw
    root = JsonTree(own_text(item.raw)).root if own else new_document(item, file, style, problems)
    text = xml_of_json(root, problems)
    if len(text.encode("utf-8", "surrogatepass")) > MOST_XML:
        try:
            XmlTree(text)
        except SyntaxError as error:
            raise UserError(tr(TOO_LONG, external_id=item.document.external_id, error=error)) from error
    return edited(item, text, XmlTree, style, problems) if own else text


def _json_pieces(sources: Sequence[WrittenSource], problems: list[Problem]) -> Iterator[str]:
    first = sources[0][0]
    own = first.format == "bioc-json" and len(sources) == 1
    head = first.head if own else _new_json_head(first)
    between = separator(head)
    yield head
    begun = False
    for file, documents in sources:
        style = _style(file)
        for item in documents:
            before = item.raw.rpartition(BEFORE)[0] if own else ""
            if begun:
                yield before or between
            begun = True
            yield _json_text(file, item, style, problems)
    yield first.tail if own else "\n]}\n"


def _new_json_head(first: SourceFile) -> str:
    """The beginning of one collection, with the metadata of the first file's collection."""
    if first.format == "bioc-json":
        return json_head_of_xml(xml_head_of_json(first.head))
    return json_head_of_xml(first.head if first.format == "bioc-xml" else "")


def _json_text(file: SourceFile, item: ExportDocument, style: InfonStyle, problems: list[Problem]) -> str:
    if file.format == "bioc-json" and item.raw:
        return edited(item, own_text(item.raw), JsonTree, style, problems)
    if file.format == "bioc-xml" and item.raw:
        found = json_of_xml(XmlTree(item.raw).root, problems)
        return edited(item, json.dumps(found, ensure_ascii=False), JsonTree, style, problems)
    return json.dumps(new_document(item, file, style, problems), ensure_ascii=False)


def _style(file: SourceFile) -> InfonStyle:
    """Bare identifiers that are all of MeSH are written under its name, as in the CDR corpus."""
    if file.format in ("bioc-xml", "bioc-json"):
        return InfonStyle.load(file.extra)
    ids = source_style(file)
    return InfonStyle(ids, "MESH" if ids.bare.keys() == {"MESH"} and not ids.prefixes else "")


def edited(
    item: ExportDocument,
    text: str,
    opener: Callable[[str], BioCTree],
    style: InfonStyle,
    problems: list[Problem],
) -> str:
    """The document with the changed mentions' annotations rewritten; `text` itself when nothing changed."""
    name = item.document.external_id
    steps = [(gold, action_for(gold, name, problems)) for gold in item.mentions]
    steps = [(gold, action) for gold, action in steps if _changes(gold, action) or _may_be_said(gold, action)]
    own = any(not one.source for one in item.relations)
    if not (steps or item.removed_records or item.removed_relations or own):
        return text
    edit = _Edit(opener(text), style, problems)
    for record in item.removed_records:
        edit.tree.remove(record)
        edit.changed = True
    removed = set(item.removed_records)
    for gold, action in steps:
        edit.apply(gold, action)
        if action is Action.DROP:
            removed.add(gold.mention.record)
    edit.relate(item)
    problems += edit.widowed(removed, name)
    return edit.tree.text() if edit.changed else text


def _changes(gold: ExportMention, action: Action) -> bool:
    if gold.mention.record < 0:
        return action is Action.WRITE
    return action is not Action.KEEP


def _may_be_said(gold: ExportMention, action: Action) -> bool:
    """Whether attributes were set for a mention that remains in the file."""
    return bool(gold.attributes) and gold.mention.record >= 0 and action is not Action.DROP


class _Edit:
    """One document's tree, with the layout that maps positions of the stored text to the file."""

    def __init__(self, tree: BioCTree, style: InfonStyle, problems: list[Problem]) -> None:
        self.tree = tree
        self._style = style
        self._problems = problems
        self._before = tree.document()
        self._layout = fitted(self._before)
        numbers = [
            one.id for one in self._before.annotations if one.id.isascii() and one.id.isdigit() and len(one.id) < 16
        ]
        self._next = max(map(int, numbers), default=-1) + 1
        self._made: dict[int, str] = {}  # ids of new annotations, by the mention's
        self._gone: set[int] = set()
        self.changed = False

    def relate(self, item: ExportDocument) -> None:
        """Remove the relations that a curator deleted, and write new ones, unless their annotation has no id."""
        there = self.tree.relations()
        for number, one in enumerate(stated_relations(self._before, there, self._style)):
            if one.key in item.removed_relations:
                self.tree.remove_relation(number)
                self.changed = True
        ids = self._made | {
            gold.mention.id: self._before.annotations[gold.mention.record].id
            for gold in item.mentions
            if gold.mention.record >= 0 and gold.mention.id not in self._gone
        }
        wanted = relations_for(
            item,
            self._problems,
            own=True,
            kinds=(RelationKind.MENTIONS, RelationKind.ENTITIES),
            written={mention for mention, key in ids.items() if key},
            title="BioC",
        )
        taken = FreeNames(one.id for one in there)
        for made in wanted:
            self.tree.add_relation(written_relation(made, fresh_id(taken), ids, self._style, there))
            self.changed = True

    def apply(self, gold: ExportMention, action: Action) -> None:
        record = gold.mention.record
        self.changed = self.changed or action is not Action.KEEP
        self._gone |= {gold.mention.id} if action is Action.DROP else set()
        if record < 0:
            self._add(gold)
        elif action is Action.DROP:
            self.tree.remove(record)
        else:
            self._change(record, gold, action)

    def widowed(self, removed: set[int], document: str) -> list[Problem]:
        """A note for each relation that refers to a removed annotation."""
        gone = {self._before.annotations[record].id for record in removed if record >= 0} - {""}
        named = dict.fromkeys(one for one in self.tree.references() if one in gone)
        return [Problem(0, "note", tr(WIDOWED, document=document, id=one)) for one in named]

    def _change(self, record: int, gold: ExportMention, action: Action) -> None:
        old = self._before.annotations[record]
        infons = old.infons
        if gold.reshaped:
            infons = with_infon(infons, "type", gold.mention.type)
            segment = self._layout.segment_of(old)
            self.tree.set_place(record, self._places(gold, segment), gold.mention.text)
        if action is Action.WRITE:
            infons = signed(changed(infons, entity_ids(gold), self._style), gold.decision)
        infons = self._attributed(infons, gold, old.said())
        if infons != old.infons:
            self.tree.set_infons(record, infons)
            self.changed = True

    def _attributed(self, infons: Infons, gold: ExportMention, said: Infons) -> Infons:
        held = attributes_of([(key, BINARY if value == "true" else value) for key, value in said])
        return with_attributes(infons, ATTRIBUTES.changes(gold, held, self._problems))

    def _add(self, gold: ExportMention) -> None:
        segment = self._layout.segment_at(gold.mention.spans[0].start)
        infons = signed(changed([("type", gold.mention.type)], entity_ids(gold), self._style), gold.decision)
        infons = self._attributed(infons, gold, infons)
        places = self._places(gold, segment)
        one = BioCAnnotation(self._fresh_id(), infons, gold.mention.text, places)
        self._made[gold.mention.id] = one.id
        at = (segment.passage, segment.sentence) if segment else (-1, -1)
        self.tree.add(*at, one)

    def _places(self, gold: ExportMention, segment: Segment | None) -> tuple[tuple[int, int], ...]:
        return tuple((self._layout.to_file(segment, span.start), span.end - span.start) for span in gold.mention.spans)

    def _fresh_id(self) -> str:
        self._next += 1
        return str(self._next - 1)


def with_infon(infons: Infons, key: str, value: str) -> Infons:
    """The infons with the value of this key changed, or with a new infon in front."""
    for number, (name, _) in enumerate(infons):
        if name.lower() == key:
            return [*infons[:number], (name, value), *infons[number + 1 :]]
    return [(key, value), *infons]
