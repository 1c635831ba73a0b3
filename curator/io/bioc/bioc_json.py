"""BioC JSON: collections (one, or a list of them), PubTator 3's answers, single documents and JSON lines of them.

A document is written back as its exact text unless a decision in it changed; then the changed annotations are edited in
its tree, and everything else stays, including fields outside of BioC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from curator.domain.documents import SourceDocument, SourceFile
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.bioc.bioc_ids import InfonStyle, attributes_of, learn, says_more
from curator.io.bioc.bioc_json_tree import (
    BEFORE,
    JsonTree,
    document_of,
    has_half_characters,
    own_text,
    separator,
    unread_of_relations,
)
from curator.io.bioc.bioc_reading import BioCReading
from curator.io.bioc.bioc_relations import stated_relations
from curator.io.bioc.bioc_write import JSON_ENDINGS, write_json
from curator.io.files.field_meanings import Unread
from curator.io.files.json_stream import JsonStream
from curator.io.files.reading import DocumentSourceReader
from curator.io.files.source import Source
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
        first = (document_of(found, line) for _, _, found, line in islice(self._stream(), LEARNED))
        style = learn(one for document in first for one in document.annotations)
        self.extra = style.dump()
        reading = BioCReading(style, self.problems)
        stream, number, left = self._stream(), 0, Unread()
        for number, (before, text, found, line) in enumerate(stream, 1):
            self.head = before if number == 1 else self.head
            kept = before if number > 1 and before != separator(self.head) else ""
            document = document_of(found, line)
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
