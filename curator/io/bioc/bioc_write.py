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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from lxml import etree

from curator.domain.documents import Document, Passage, SourceFile
from curator.domain.relations import Relation, RelationKind
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
from curator.io.files.editing import DocumentEdit, is_untouched
from curator.io.files.export import Action, FreeNames, WrittenSource, action_for, entity_ids, is_gold
from curator.io.files.relations import relations_for
from curator.io.files.report import Report
from curator.services.ports.files import ExportDocument, ExportMention

Json = dict[str, Any]
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KNOWN = {
    "document": {"id", "infons", "passages", "annotations", "relations"},
    "passage": {"offset", "infons", "text", "sentences", "annotations", "relations"},
}


def json_of_xml(root: Any, problems: Report) -> Json:
    """A `document` element as BioC JSON."""
    name = text_in(root, "id").strip()
    found = {"id": name, "infons": _infons(root, name, problems)}
    passages = [_text_of(one, name, problems, sentences=True) for one in root.findall("passage")]
    return found | {"passages": passages} | _annotated(root, name, problems)


def xml_of_json(found: Json, problems: Report) -> str:
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
    build.report(problems)
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

    def report(self, problems: Report) -> None:
        where = tr("document {document}", document=self._document)
        if self._characters:
            one = "{where}: {n} character that XML does not allow was written as U+FFFD"
            several = "{where}: {n:,} characters that XML does not allow were written as U+FFFD"
            problems.repaired(ntr(one, several, self._characters, where=where))
        if self._foreign:
            names = ", ".join(self._foreign)
            problems.note(tr("{where}: BioC XML cannot store {names}: left out", where=where, names=names))


def _text_of(found: Any, name: str, problems: Report, *, sentences: bool = False) -> Json:
    offset = text_in(found, "offset").strip()
    made: Json = {"offset": int(offset) if _is_number(offset) else 0}
    made |= {"infons": _infons(found, name, problems), "text": text_in(found, "text")}
    if sentences:
        made["sentences"] = [_text_of(one, name, problems) for one in found.findall("sentence")]
    return made | _annotated(found, name, problems)


def _annotated(owner: Any, name: str, problems: Report) -> Json:
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


def _infons(owner: Any, name: str, problems: Report) -> dict[str, str]:
    """The infons; values of infons with the same key are joined, since JSON has one value per key."""
    found: dict[str, str] = {}
    for key, value in xml_infons(owner):
        if key in found:
            problems.repaired(
                tr(
                    "document {name}: several infons {key!r} were joined into one, separated by |",
                    name=name,
                    key=key,
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


def new_document(item: ExportDocument, file: SourceFile, style: InfonStyle, problems: Report) -> Json:
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


def _new_relations(item: ExportDocument, ids: dict[int, str], style: InfonStyle, problems: Report) -> list[Json]:
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
    gold: ExportMention, ids: tuple[str, ...] | None, number: str, style: InfonStyle, problems: Report
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


def _note_collections(sources: Sequence[WrittenSource], problems: Report) -> None:
    """Report that the metadata of all but the first merged collection is left out."""
    others = {file.head.strip() for file, _ in sources if file.format in ("bioc-xml", "bioc-json")}
    if len(others) > 1:
        first = sources[0][0]
        text = tr(
            "All documents are written to one collection, with the metadata of {name}. Export to a "
            "folder to keep the collections separate.",
            name=first.name or first.path,
        )
        problems.note(text)


def xml_pieces(sources: Sequence[WrittenSource], problems: Report) -> Iterator[str]:
    _note_collections(sources, problems)
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


def _xml_text(file: SourceFile, item: ExportDocument, style: InfonStyle, problems: Report) -> str:
    """Raises UserError for a text that XML readers refuse for its length."""
    if file.format == "bioc-xml" and item.raw:
        return edited(item, file, item.raw, XmlTree, style, problems)
    own = file.format == "bioc-json" and item.raw
    root = JsonTree(own_text(item.raw)).root if own else new_document(item, file, style, problems)
    text = xml_of_json(root, problems)
    if len(text.encode("utf-8", "surrogatepass")) > MOST_XML:
        try:
            XmlTree(text)
        except SyntaxError as error:
            raise UserError(tr(TOO_LONG, external_id=item.document.external_id, error=error)) from error
    return edited(item, file, text, XmlTree, style, problems) if own else text


def json_pieces(sources: Sequence[WrittenSource], problems: Report) -> Iterator[str]:
    _note_collections(sources, problems)
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


def _json_text(file: SourceFile, item: ExportDocument, style: InfonStyle, problems: Report) -> str:
    if file.format == "bioc-json" and item.raw:
        return edited(item, file, own_text(item.raw), JsonTree, style, problems)
    if file.format == "bioc-xml" and item.raw:
        found = json_of_xml(XmlTree(item.raw).root, problems)
        return edited(item, file, json.dumps(found, ensure_ascii=False), JsonTree, style, problems)
    return json.dumps(new_document(item, file, style, problems), ensure_ascii=False)


def _style(file: SourceFile) -> InfonStyle:
    """Bare identifiers that are all of MeSH are written under its name, as in the CDR corpus."""
    if file.format in ("bioc-xml", "bioc-json"):
        return InfonStyle.load(file.extra)
    ids = source_style(file)
    return InfonStyle(ids, "MESH" if ids.bare.keys() == {"MESH"} and not ids.prefixes else "")


def edited(
    item: ExportDocument,
    file: SourceFile,
    text: str,
    opener: Callable[[str], BioCTree],
    style: InfonStyle,
    problems: Report,
) -> str:
    """The document with the changed mentions' annotations rewritten; `text` itself when nothing changed."""
    if is_untouched(item):
        return text
    edit = _Edit(item, file, problems, opener(text), style)
    edit.run()
    return edit.tree.text() if edit.changed else text


class _Edit(DocumentEdit[BioCAnnotation]):
    """One document's tree, with the layout that maps positions of the stored text to the file."""

    title = "BioC"
    names = ATTRIBUTES
    kinds = (RelationKind.MENTIONS, RelationKind.ENTITIES)
    in_text_order = False

    def __init__(
        self, item: ExportDocument, file: SourceFile, problems: Report, tree: BioCTree, style: InfonStyle
    ) -> None:
        super().__init__(item, file, problems, own=True)
        self.tree = tree
        self._style = style
        self._document = tree.document()
        self._layout = fitted(self._document)
        self._there = tree.relations()
        self._stated = stated_relations(self._document, self._there, style)
        found = self._document.annotations
        self._before = {id(one): (record, one.infons) for record, one in enumerate(found)}
        numbers = [one.id for one in found if one.id.isascii() and one.id.isdigit() and len(one.id) < 16]
        self._next = max(map(int, numbers), default=-1) + 1
        self._new: list[tuple[Segment | None, BioCAnnotation]] = []
        self._taken = FreeNames(one.id for one in self._there)
        self._gone = set[str]()

    def run(self) -> None:
        super().run()
        for part in self.parts.values():
            record, infons = self._before.get(id(part), (-1, part.infons))
            if part.infons != infons:
                self.tree.set_infons(record, part.infons)
                self.changed = True
        for segment, one in self._new:
            self.tree.add(*((segment.passage, segment.sentence) if segment else (-1, -1)), one)
        named = dict.fromkeys(one for one in self.tree.references() if one in self._gone)
        self.problems.notes(tr(WIDOWED, document=self.item.document.external_id, id=one) for one in named)

    def part(self, record: int) -> BioCAnnotation:
        return self._document.annotations[record]

    def edit(self, part: BioCAnnotation, gold: ExportMention, action: Action) -> bool:
        self.changed = True
        if gold.reshaped:
            places = self._places(gold, self._layout.segment_of(part))
            self.tree.set_place(self._before[id(part)][0], places, gold.mention.text)
            part.infons = with_infon(part.infons, "type", gold.mention.type)
        if action is Action.WRITE:
            part.infons = signed(changed(part.infons, entity_ids(gold), self._style), gold.decision)
        return True

    def add(self, gold: ExportMention) -> BioCAnnotation:
        self.changed = True
        segment = self._layout.segment_at(gold.mention.spans[0].start)
        infons = signed(changed([("type", gold.mention.type)], entity_ids(gold), self._style), gold.decision)
        one = BioCAnnotation(str(self._next), infons, gold.mention.text, self._places(gold, segment))
        self._next += 1
        self._new.append((segment, one))
        return one

    def held(self, part: BioCAnnotation) -> dict[str, str]:
        return attributes_of([(key, BINARY if value == "true" else value) for key, value in part.said()])

    def set_attribute(self, part: BioCAnnotation, name: str, value: str | None) -> None:
        part.infons = with_attributes(part.infons, {name: value})

    def remove(self, gone: list[BioCAnnotation]) -> None:
        self._gone = {one.id for one in gone} - {""}
        for one in gone:
            self.tree.remove(self._before[id(one)][0])

    def relatable(self) -> Collection[int]:
        return {mention for mention, part in self.parts.items() if part.id}

    def unrelate(self, keys: frozenset[str]) -> None:
        for number, one in enumerate(self._stated):
            if one.key in keys:
                self.tree.remove_relation(number)
                self.changed = True

    def relate(self, relation: Relation) -> None:
        ids = {mention: part.id for mention, part in self.parts.items()}
        made = written_relation(relation, fresh_id(self._taken), ids, self._style, self._there)
        self.tree.add_relation(made)
        self.changed = True

    def _places(self, gold: ExportMention, segment: Segment | None) -> tuple[tuple[int, int], ...]:
        return tuple((self._layout.to_file(segment, span.start), span.end - span.start) for span in gold.mention.spans)


def with_infon(infons: Infons, key: str, value: str) -> Infons:
    """The infons with the value of this key changed, or with a new infon in front."""
    for number, (name, _) in enumerate(infons):
        if name.lower() == key:
            return [*infons[:number], (name, value), *infons[number + 1 :]]
    return [(key, value), *infons]
