"""Write BioC: unchanged parts are written back exactly, everything else is edited annotation by annotation.

* A changed decision rewrites the infons that hold identifiers, in the file's style, and adds who decided and when
  (`annotator`, `updated_at`, as in TeamTat); a moved or retyped mention its locations, text and type.
* An attribute of a mention is an infon of its annotation.
* A deleted or rejected mention's annotation is removed; relations stay, and those that lose an annotation are reported.
  A relation that a curator deleted is removed; a new one is added to the document, with its curator and time.
* A new mention's annotation is added to the passage or sentence in which it begins.
* Conversion between XML and JSON keeps all infons and relations; a document from another format is written from
  scratch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from curator.domain.documents import SourceFile
from curator.domain.relations import RelationKind
from curator.domain.wording import UserError, tr
from curator.io.bioc.bioc import BioCAnnotation, BioCDocument, BioCRelation, Infons, Segment
from curator.io.bioc.bioc_convert import json_head_of_xml, json_of_xml, new_document, xml_head_of_json, xml_of_json
from curator.io.bioc.bioc_ids import ATTRIBUTES, InfonStyle, attributes_of, changed, signed, with_attributes
from curator.io.bioc.bioc_json_tree import BEFORE, JsonTree, own_text, separator
from curator.io.bioc.bioc_reading import fitted
from curator.io.bioc.bioc_relations import fresh_id, stated_relations, written_relation
from curator.io.bioc.bioc_xml_tree import XmlTree
from curator.io.bioc.source_ids import source_style
from curator.io.files.attributes import BINARY
from curator.io.files.export import Action, FreeNames, WrittenSource, action_for, entity_ids, write_streams
from curator.io.files.relations import relations_for
from curator.services.ports.files import ExportDocument, ExportMention, Problem

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
