"""The tree of one BioC XML document: read as parts, and edited in place. Other elements are not touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from lxml import etree

from curator.io.bioc.bioc import BioCAnnotation, BioCDocument, BioCPassage, BioCRelation, Infons, OffsetText
from curator.io.files.source import plain_text
from curator.io.files.xml_stream import safe_xml


def xml_document(root: Any) -> BioCDocument:
    """The parts of a `document` element."""
    passages = [
        BioCPassage(xml_infons(one), _part(one), [_part(sentence) for sentence in one.findall("sentence")])
        for one in root.findall("passage")
    ]
    annotations = [_annotation(one, passage, sentence) for one, passage, sentence in _walk(root)]
    return BioCDocument(text_in(root, "id").strip(), xml_infons(root), passages, annotations, root.sourceline or 0)


class XmlTree:
    """See `bioc_write.Tree`."""

    def __init__(self, text: str) -> None:
        self.root = etree.fromstring(text.encode("utf-8"), safe_xml())
        self._nodes = [one for one, _, _ in _walk(self.root)]
        self._relations = list(_walk(self.root, "relation"))

    def document(self) -> BioCDocument:
        return xml_document(self.root)

    def remove(self, record: int) -> None:
        _take_out(self._nodes[record])

    def set_infons(self, record: int, infons: Infons) -> None:
        node = self._nodes[record]
        old = node.findall("infon")
        tail = old[0].tail if old else node.text
        at = node.index(old[0]) if old else 0
        for one in old:
            node.remove(one)
        node[at:at] = [_infon(key, value, tail) for key, value in infons]  # one by one would count each position again

    def set_place(self, record: int, places: Sequence[tuple[int, int]], text: str) -> None:
        node = self._nodes[record]
        for one in (*node.findall("location"), *node.findall("text")):
            node.remove(one)
        _set_place(node, places, text)

    def add(self, passage: int, sentence: int, one: BioCAnnotation) -> None:
        owner = self.root
        if passage >= 0:
            owner = owner.findall("passage")[passage]
        if sentence >= 0:
            owner = owner.findall("sentence")[sentence]
        node = etree.Element("annotation", id=one.id)
        for key, value in one.infons:
            node.append(_infon(key, value))
        _set_place(node, one.places or (), one.text)
        owner.insert(_place_for(owner), node)
        node.tail = "\n"

    def relations(self) -> list[BioCRelation]:
        """The relations, in an order that editing does not change."""
        return [
            BioCRelation(one.get("id", ""), xml_infons(one), _nodes(one), passage, sentence)
            for one, passage, sentence in self._relations
        ]

    def remove_relation(self, number: int) -> None:
        _take_out(self._relations[number][0])

    def add_relation(self, relation: BioCRelation) -> None:
        """Add a relation to the document."""
        node = etree.SubElement(self.root, "relation", id=relation.id)
        for key, value in relation.infons:
            node.append(_infon(key, value))
        for refid, role in relation.nodes:
            etree.SubElement(node, "node", refid=refid, role=role)
        node.tail = "\n"

    def references(self) -> Iterator[str]:
        """The ids of the annotations that relations name."""
        return (node.get("refid", "") for node in self.root.iter("node"))

    def text(self) -> str:
        return str(etree.tostring(self.root, encoding="unicode", with_tail=False))


def xml_infons(element: Any) -> Infons:
    return [(one.get("key", ""), "".join(one.itertext())) for one in element.findall("infon")]


def _walk(root: Any, tag: str = "annotation") -> Iterator[tuple[Any, int, int]]:
    """Every annotation with its passage and sentence, in an order that editing does not change."""
    for number, passage in enumerate(root.findall("passage")):
        yield from ((one, number, -1) for one in passage.findall(tag))
        for index, sentence in enumerate(passage.findall("sentence")):
            yield from ((one, number, index) for one in sentence.findall(tag))
    yield from ((one, -1, -1) for one in root.findall(tag))


def _take_out(node: Any) -> None:
    before, parent = node.getprevious(), node.getparent()
    if node.tail and before is not None:
        before.tail = node.tail
    parent.remove(node)


def _nodes(relation: Any) -> list[tuple[str, str]]:
    return [(one.get("refid", ""), one.get("role", "")) for one in relation.findall("node")]


def _annotation(found: Any, passage: int, sentence: int) -> BioCAnnotation:
    places = tuple((_number(one.get("offset")), _number(one.get("length"))) for one in found.findall("location"))
    known = None if any(a is None or b is None for a, b in places) else places
    text, line = text_in(found, "text"), found.sourceline or 0
    return BioCAnnotation(found.get("id", ""), xml_infons(found), text, known, passage, sentence, line)  # type: ignore[arg-type]


def _set_place(node: Any, places: Sequence[tuple[int, int]], text: str) -> None:
    for offset, length in places:
        etree.SubElement(node, "location", offset=str(offset), length=str(length))
    etree.SubElement(node, "text").text = text


def _place_for(owner: Any) -> int:
    """The position after the last annotation, otherwise before the relations."""
    annotations = owner.iterchildren("annotation", reversed=True)
    others = (one for one in owner.iterchildren(reversed=True) if one.tag != "relation")
    last = next(chain(annotations, others), None)
    return 0 if last is None else int(owner.index(last)) + 1


def _infon(key: str, value: str, tail: str | None = None) -> Any:
    node = etree.Element("infon", key=plain_text(key))
    node.text, node.tail = value, tail
    return node


def _part(found: Any) -> OffsetText:
    return OffsetText(_number(text_in(found, "offset")), text_in(found, "text"))


def text_in(found: Any, tag: str) -> str:
    """The text of a child element, with that in inline markup; '' if there is none."""
    child = found.find(tag)
    return "" if child is None else "".join(child.itertext())


def _number(value: str | None) -> int | None:
    value = (value or "").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else None
