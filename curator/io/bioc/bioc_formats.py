"""BioC JSON: collections (one, or a list of them), PubTator 3's answers, single documents and JSON lines of them.

A document is written back as its exact text unless a decision in it changed; then the changed annotations are edited in
its tree, and everything else stays, including fields outside of BioC.

BioC XML: one collection, or a single document. Documents are written back exactly unless a decision in them changed;
then the changed annotations are edited in the document's tree, and everything else stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lxml import etree

from curator.domain.documents import SourceDocument, SourceFile
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
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
from curator.io.bioc.bioc_write import JSON_ENDINGS, XML_ENDINGS, write_json, write_xml
from curator.io.bioc.bioc_xml_tree import XmlTree, xml_document
from curator.io.files.field_meanings import Unread
from curator.io.files.json_stream import JsonStream
from curator.io.files.reading import DocumentSourceReader
from curator.io.files.source import Source
from curator.io.files.xml_stream import ENTITIES, records, xml_attributes
from curator.services.ports.files import Carries, ExportDocument, Problem

LEARNED = 200  # documents from which the style of a file is learnt

_LISTS = ("documents", "PubTator3")
_COLLECTION = re.compile(r'"(documents|PubTator3)"\s*:\s*\[')
_PASSAGES = re.compile(r'"passages"\s*:\s*\[')
CARRIES = Carries(
    mentions=True,
    discontinuous=True,
    several_ids=True,
    nil=True,
    relations=True,
    attributes=True,
    own_fields=True,
    takes_from=frozenset({"bioc-xml", "bioc-json"}),
)


class BioCJsonReader(DocumentSourceReader):
    """Streams one file; `head` is the text before the first document, `tail` the text after the last."""

    format = "bioc-json"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._whole = not _COLLECTION.search(_head_before_passages(Source(path).head()))

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        first = (json_document(found, line) for _, _, found, line in islice(self._stream(), LEARNED))
        style = learn(one for document in first for one in document.annotations)
        self.extra = style.dump()
        reading = BioCReading(style, self.problems)
        stream, number, left = self._stream(), 0, Unread()
        for number, (before, text, found, line) in enumerate(stream, 1):
            self.head = before if number == 1 else self.head
            kept = before if number > 1 and before != separator(self.head) else ""
            document = json_document(found, line)
            left.mention_fields.update(unread_of_relations(found))
            if has_half_characters(found):
                words = tr("document {key} contains lone surrogates, read as U+FFFD", key=document.id)
                self.problems.append(Problem(line, "repaired", words))
            yield reading.document(document, f"{kept}{BEFORE}{text}" if kept else text)
        if not number:
            raise UserError(tr("{path} contains no BioC document", path=self._source.path))
        self.tail = stream.rest
        self.problems += [*reading.closing(), *(Problem(0, "note", words) for words in left.sentences())]

    def _stream(self) -> JsonStream:
        return JsonStream(self._source, _LISTS, whole=self._whole)


class BioCJsonFormat:
    """Reads and writes BioC JSON. `problems` holds what the last `write` could not carry."""

    name = "bioc-json"
    title = "BioC JSON"
    can_read = True
    can_write = True
    endings = JSON_ENDINGS
    carries = CARRIES
    carries_people = True

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        text = head.decode("utf-8", "ignore").lstrip()
        if text[:1] not in ("{", "["):
            return False
        passages = _PASSAGES.search(text)
        if passages is None:
            return _COLLECTION.search(text) is not None and '"infons"' in text
        return '"infons"' in text or '"offset"' in text[passages.end() :]

    def open(self, path: Path) -> BioCJsonReader:
        """Raises UserError for a missing, empty, truncated or foreign file."""
        if not self.sniff(path, Source(path).head()):
            raise UserError(
                tr("{path} is not BioC JSON: it has no passages with infons; choose another format", path=path)
            )
        reader = BioCJsonReader(path)
        reader.prepare()
        return reader

    def holds_more(self, raw: str) -> bool:
        return says_more(JsonTree(own_text(raw)).document())

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = JsonTree(own_text(raw)).document().annotations if raw else ()
        return {record: found for record, one in enumerate(listed) if (found := attributes_of(one.said()))}

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsFields`."""
        return dict(enumerate(JsonTree(own_text(raw)).other_texts()))

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        tree = JsonTree(own_text(raw))
        return stated_relations(tree.document(), tree.relations(), InfonStyle.load(extra))

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """One collection for each file. On a UserError nothing is changed."""
        self.problems = []
        return write_json(files, out, self.problems)


def _head_before_passages(head: bytes) -> str:
    text: str = head.decode("utf-8", "ignore")
    found = _PASSAGES.search(text)
    return text[: found.start()] if found else text


DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_ROOT = re.compile(rb"<(collection|document)[\s>]")
_PASSAGE = re.compile(rb"<(passage|document|source)[\s>/]")


class BioCXmlReader(DocumentSourceReader):
    """Streams one file; `head` is the collection's beginning with everything before its first document."""

    format = "bioc-xml"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        first = (xml_document(one) for one in islice(self._documents(), LEARNED))
        style = learn(one for document in first for one in document.annotations)
        self.extra = style.dump()
        reading = BioCReading(style, self.problems)
        root: Any = None
        number = 0
        for number, one in enumerate(self._documents(), 1):
            if number == 1:
                root = one.getparent()
                self.head = _head(self._source.path, root, one)
            raw = etree.tostring(one, encoding="unicode", with_tail=False)
            yield reading.document(xml_document(one), raw)
        if not number:
            raise UserError(tr("{path} contains no BioC document", path=self._source.path))
        self.tail = _tail(root)
        self.problems += reading.closing()

    def _documents(self) -> Iterator[Any]:
        return records(self._source, ("document",))


class BioCXmlFormat:
    """Reads and writes BioC XML. `problems` holds what the last `write` could not carry."""

    name = "bioc-xml"
    title = "BioC XML"
    can_read = True
    can_write = True
    endings = XML_ENDINGS
    carries = CARRIES
    carries_people = True

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        found = _ROOT.search(head) if head.lstrip().startswith(b"<") else None
        return found is not None and _PASSAGE.search(head, found.end()) is not None

    def open(self, path: Path) -> BioCXmlReader:
        """Raises UserError for a missing, empty, truncated or foreign file, and for one that declares entities."""
        head = Source(path).head()
        if not self.sniff(path, head):
            raise UserError(
                tr("{path} is not BioC XML: it has no collection of documents; choose another format", path=path)
            )
        if b"<!ENTITY" in head:
            raise UserError(tr(ENTITIES, path=path))
        reader = BioCXmlReader(path)
        reader.prepare()
        return reader

    def holds_more(self, raw: str) -> bool:
        return says_more(XmlTree(raw).document())

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = XmlTree(raw).document().annotations if raw else ()
        return {record: found for record, one in enumerate(listed) if (found := attributes_of(one.infons))}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        tree = XmlTree(raw)
        return stated_relations(tree.document(), tree.relations(), InfonStyle.load(extra))

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """One collection for each file. Raises UserError; then nothing was changed."""
        self.problems = []
        return write_xml(files, out, self.problems)


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
