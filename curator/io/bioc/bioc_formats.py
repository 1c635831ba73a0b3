"""BioC JSON: collections (one, or a list of them), PubTator 3's answers, single documents and JSON lines of them.

A document is written back as its exact text unless a decision in it changed; then the changed annotations are edited in
its tree, and everything else stays, including fields outside of BioC.

BioC XML: one collection, or a single document. Documents are written back exactly unless a decision in them changed;
then the changed annotations are edited in the document's tree, and everything else stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from curator.domain.documents import SourceDocument
from curator.domain.relations import SourceRelation
from curator.domain.wording import tr
from curator.io.bioc.bioc import BioCReading, InfonStyle, attributes_of, learn, says_more, stated_relations
from curator.io.bioc.bioc_json_tree import (
    BEFORE,
    JsonTree,
    has_half_characters,
    json_document,
    own_text,
    separator,
    unread_of_relations,
)
from curator.io.bioc.bioc_write import BioCTree, json_pieces, xml_pieces
from curator.io.bioc.bioc_xml_tree import XmlTree, xml_document
from curator.io.files.export import WrittenSource
from curator.io.files.field_meanings import Unread
from curator.io.files.format import Format
from curator.io.files.json_stream import JsonStream
from curator.io.files.reading import Reader
from curator.io.files.xml_stream import records, xml_attributes
from curator.services.ports.files import Carries

LEARNED = 200  # documents from which the style of a file is learnt

_LISTS = ("documents", "PubTator3")
_COLLECTION = re.compile(r'"(documents|PubTator3)"\s*:\s*\[')
_PASSAGES = re.compile(r'"passages"\s*:\s*\[')


class BioCJsonReader(Reader):
    """Streams one file; `head` is the text before the first document, `tail` the text after the last."""

    format = "bioc-json"
    none = "{path} contains no BioC document"

    def documents(self) -> Iterator[SourceDocument]:
        whole = not _COLLECTION.search(_head_before_passages(self.source.head()))
        first = (json_document(found, line) for _, _, found, line in islice(self._stream(whole), LEARNED))
        style = learn(one for document in first for one in document.annotations)
        self.extra = style.dump()
        reading = BioCReading(style, self.problems)
        stream, left = self._stream(whole), Unread()
        for number, (before, text, found, line) in enumerate(stream, 1):
            self.head = before if number == 1 else self.head
            kept = before if number > 1 and before != separator(self.head) else ""
            document = json_document(found, line)
            left.mention_fields.update(unread_of_relations(found))
            if has_half_characters(found):
                words = tr("document {key} contains lone surrogates, read as U+FFFD", key=document.id)
                self.problems.repaired(words, line)
            yield reading.document(document, f"{kept}{BEFORE}{text}" if kept else text)
        self.tail = stream.rest
        reading.close()
        self.problems.notes(left.sentences())

    def _stream(self, whole: bool) -> JsonStream:
        return JsonStream(self.source, _LISTS, whole=whole)


class _BioC(Format):
    """What the two formats share: a document's record as a tree."""

    carries = Carries(
        mentions=True,
        discontinuous=True,
        several_ids=True,
        nil=True,
        relations=True,
        attributes=True,
        own_fields=True,
        takes_from=frozenset({"bioc-xml", "bioc-json"}),
    )
    carries_people = True

    def tree(self, raw: str) -> BioCTree:
        raise NotImplementedError

    def holds_more(self, raw: str) -> bool:
        return says_more(self.tree(raw).document())

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        listed = self.tree(raw).document().annotations if raw else ()
        return {record: found for record, one in enumerate(listed) if (found := attributes_of(one.said()))}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        tree = self.tree(raw)
        return stated_relations(tree.document(), tree.relations(), InfonStyle.load(extra))


class BioCJsonFormat(_BioC):
    name = "bioc-json"
    title = "BioC JSON"
    refusal = "{path} is not BioC JSON: it has no passages with infons; choose another format"
    reader = BioCJsonReader
    endings = (".bioc.json", ".json")
    suffix = ".bioc.json"

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        text = head.decode("utf-8", "ignore").lstrip()
        if text[:1] not in ("{", "["):
            return False
        passages = _PASSAGES.search(text)
        if passages is None:
            return _COLLECTION.search(text) is not None and '"infons"' in text
        return '"infons"' in text or '"offset"' in text[passages.end() :]

    def tree(self, raw: str) -> JsonTree:
        return JsonTree(own_text(raw))

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        return dict(enumerate(self.tree(raw).other_texts()))

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str]:
        return json_pieces(sources, self.problems)


def _head_before_passages(head: bytes) -> str:
    text: str = head.decode("utf-8", "ignore")
    found = _PASSAGES.search(text)
    return text[: found.start()] if found else text


DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ROOT = re.compile(rb"<(collection|document)[\s>]")
_DOCUMENT = ("document",)
_PASSAGE = re.compile(rb"<(passage|document|source)[\s>/]")


class BioCXmlReader(Reader):
    """Streams one file; `head` is the collection's beginning with everything before its first document."""

    format = "bioc-xml"
    none = "{path} contains no BioC document"

    def documents(self) -> Iterator[SourceDocument]:
        first = (xml_document(one) for one in islice(records(self.source, _DOCUMENT), LEARNED))
        style = learn(one for document in first for one in document.annotations)
        self.extra = style.dump()
        reading = BioCReading(style, self.problems)
        root: Any = None
        for number, one in enumerate(records(self.source, _DOCUMENT), 1):
            if number == 1:
                root = one.getparent()
                self.head = _head(self.path, root, one)
            raw = etree.tostring(one, encoding="unicode", with_tail=False)
            yield reading.document(xml_document(one), raw)
        self.tail = _tail(root)
        reading.close()


class BioCXmlFormat(_BioC):
    name = "bioc-xml"
    title = "BioC XML"
    refusal = "{path} is not BioC XML: it has no collection of documents; choose another format"
    reader = BioCXmlReader
    endings = (".bioc.xml", ".xml")
    suffix = ".bioc.xml"

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        found = _ROOT.search(head) if head.lstrip().startswith(b"<") else None
        return found is not None and _PASSAGE.search(head, found.end()) is not None

    def tree(self, raw: str) -> XmlTree:
        return XmlTree(raw)

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[str]:
        return xml_pieces(sources, self.problems)


def _head(path: Path, root: Any, first: Any) -> str:
    """Declaration, document type and the collection up to its first document; a single document's has no collection."""
    info = first.getroottree().docinfo
    head = DECLARATION + (f"{info.doctype}\n" if info.doctype else "")
    if root is None:
        return head
    shell = etree.Element(root.tag, attrib=xml_attributes(path, root))
    for one in root.iterchildren():
        if one is first:
            break
        shell.append(etree.fromstring(etree.tostring(one, encoding="utf-8", with_tail=False)))
    text: str = etree.tostring(shell, encoding="unicode")
    return head + (text[:-2] + ">" if text.endswith("/>") else text.removesuffix(f"</{root.tag}>")) + "\n"


def _tail(root: Any) -> str:
    """The collection's end, with everything after its documents."""
    if root is None:
        return ""
    last = "".join(
        etree.tostring(one, encoding="unicode", with_tail=False) for one in root.iterchildren() if one.tag != "document"
    )
    return f"{last}</{root.tag}>\n"
