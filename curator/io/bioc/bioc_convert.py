"""BioC XML as BioC JSON and back: documents, and the header of a collection, with all infons and relations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from lxml import etree

from curator.domain.documents import Document, Passage, SourceFile
from curator.domain.relations import RelationKind
from curator.domain.wording import ntr, tr
from curator.io.bioc.bioc_ids import ATTRIBUTES, InfonStyle, changed, signed, with_attributes
from curator.io.bioc.bioc_json_tree import infons_of as json_infons
from curator.io.bioc.bioc_json_tree import relation_infons
from curator.io.bioc.bioc_relations import fresh_id, written_relation
from curator.io.bioc.bioc_xml_tree import infons_of as xml_infons
from curator.io.bioc.bioc_xml_tree import text_in
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.export import Action, FreeNames, action_for, is_gold
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
