"""W3C Web Annotation (JSON-LD): a collection with its pages, a page, a list, single annotations; a folder or a zip.

The annotated texts must be included: in the collection's `documents` (as written by this program), as `value` of a
target's source, or as text files named by the targets' addresses, in the folder or next to the file. A
`TextPositionSelector` counts code points; a `TextQuoteSelector` checks it, or finds the position if there is no other
selector. Several targets in one text are the fragments of one mention. `SourceMention.record` is the annotation's index
in its document's record, which is a list; the rest of the collection is kept for the whole source.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError, ntr, tr
from curator.io.files.anchoring import Anchors, Stated
from curator.io.files.archives import Files, holds_many, open_files
from curator.io.files.attributes import json_text
from curator.io.files.field_meanings import other_texts
from curator.io.files.idstyle import read_ids
from curator.io.files.json_stream import JsonStream
from curator.io.files.opening import own_file
from curator.io.files.source import Source, plain_text
from curator.io.standoff.standoff import FilesReader, first_line, plain_passages
from curator.io.standoff.webannotation_tree import (
    CONTEXT,
    NOT_MENTIONS,
    bodies,
    held_attributes,
    is_a,
    key_of,
    motivations,
    named_by,
    objects,
    place,
    role,
    selected,
    targets,
    type_and_ids,
)
from curator.io.standoff.webannotation_write import ENDINGS, write_files
from curator.services.ports.files import Carries, ExportDocument, Problem

ADDRESS = "urn:curator:document:"
_KNOWN = frozenset({"@context", "id", "type", "motivation", "body", "bodyValue", "target", "creator", "created"})
DEEPEST = 100


class WebAnnotationReader(FilesReader):
    """Yields the texts in the order in which they occur in the files."""

    format = "webannotation"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        texts: dict[str, tuple[str, str]] = {}
        annotations: dict[str, list[dict[str, Any]]] = {}
        envelope: dict[str, Any] = {}
        others: list[dict[str, Any]] = []
        for one in self._annotations(texts, envelope):
            address = self._home(one, texts)
            if address is None:
                others.append(one)
            else:
                annotations.setdefault(address, []).append(one)
        if others:
            self._problem(
                0,
                "note",
                ntr(
                    "{n} annotation does not refer to a text in the file: kept, but not shown",
                    "{n:,} annotations do not refer to a text in the file: kept, but not shown",
                    len(others),
                ),
            )
        if not texts:
            raise UserError(
                tr("{path}: the texts of its annotations are missing: put them next to the file", path=self._files.path)
            )
        for address in texts:
            yield self._document(address, texts[address], annotations.get(address, []))
        kept = {_document_id(one): one for one in texts}
        extra = {"envelope": envelope, "others": others, "addresses": kept}
        self.extra = plain_text(json.dumps(extra, ensure_ascii=False))

    def _annotations(self, texts: dict[str, tuple[str, str]], envelope: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The annotations of all files; texts within the files are put into `texts`, the rest of the collection into
        `envelope`."""
        pages: set[str] = set()
        wanted: set[str] = set()
        for name in self._files.with_suffix(*ENDINGS) or self._files.names:
            for _, _, value, _ in JsonStream(self._files.source(name), (), whole=True):
                for document in objects(value.get("documents")):
                    text, title = document.get("value"), document.get("title")
                    if isinstance(text, str) and key_of(document):
                        texts[key_of(document)] = plain_text(text), plain_text(str(title or ""))
                yield from self._unwrapped(value, envelope, pages, wanted)
        if missing := sorted(wanted - pages):
            self._problem(
                0,
                "set aside",
                tr("the page {missing} was not found: import its folder, or save all pages", missing=missing[0]),
            )

    def _unwrapped(
        self, value: dict[str, Any], envelope: dict[str, Any], pages: set[str], wanted: set[str], depth: int = 0
    ) -> Iterator[dict[str, Any]]:
        if depth > DEEPEST:
            raise UserError(
                tr(
                    "{path}: pages are nested more than {deepest} deep: save each page by itself",
                    path=self._files.path,
                    deepest=DEEPEST,
                )
            )
        if is_a(value, "AnnotationCollection"):
            for key, part in value.items():
                if key not in ("first", "last", "items", "documents", "total"):
                    envelope.setdefault(key, part)
            parts = [*objects(value.get("first")), *objects(value.get("items"))]
            wanted |= {value["first"]} if isinstance(value.get("first"), str) else set()
        elif is_a(value, "AnnotationPage") or "items" in value:
            pages.add(key_of(value))
            wanted |= {value["next"]} if isinstance(value.get("next"), str) else set()
            parts = [*objects(value.get("items")), *objects(value.get("next"))]
        else:
            yield value
            return
        for part in parts:
            yield from self._unwrapped(part, envelope, pages, wanted, depth + 1)

    def _home(self, annotation: dict[str, Any], texts: dict[str, tuple[str, str]]) -> str | None:
        """The address of the only text of an annotation; None if there is none, or several."""
        for target in objects(annotation.get("target")):
            source = target.get("source")
            if isinstance(source, dict) and isinstance(source.get("value"), str) and key_of(source):
                texts.setdefault(key_of(source), (plain_text(source["value"]), ""))
        addresses = {address for address, selector in targets(annotation) if selector is not None}
        if len(addresses) != 1:
            return None
        (address,) = addresses
        if address not in texts and (text := self._beside(address)) is not None:
            texts[address] = text, ""
        return address if address in texts else None

    def _beside(self, address: str) -> str | None:
        """The text of a file that an address names, by its whole path or by its last part. Nothing is downloaded.
        Raises UserError for a link that leads out of the folder."""
        wanted = PurePosixPath(unquote(urlsplit(address).path).lstrip("/"))
        if wanted.suffix.lower() not in (".txt", ".text") or ".." in wanted.parts:
            return None
        for name in self._files.names:
            if name == str(wanted) or PurePosixPath(name).name == wanted.name:
                return self._text(name)
        file = self._files.path.parent / wanted.name
        if self._files.path.is_file() and not holds_many(self._files.path) and file.is_file():
            return open_files(own_file(file, file.parent)).text(file.name)
        return None

    def _document(self, address: str, found: tuple[str, str], annotations: list[dict[str, Any]]) -> SourceDocument:
        text, title = found
        anchors, key = Anchors(text, ()), _document_id(address)
        if words := anchors.learn(_stated(annotations)):
            self._problem(0, "note", tr("document {key}: {words}", key=key, words=words))
        mentions = [
            mention
            for record, one in enumerate(annotations)
            if (mention := self._mention(one, record, anchors, text, key)) is not None
        ]
        raw = plain_text(json.dumps(annotations, ensure_ascii=False))
        return SourceDocument(key, title or first_line(text), text, plain_passages(text), tuple(mentions), raw)

    def _mention(
        self, annotation: dict[str, Any], record: int, anchors: Anchors, text: str, key: str
    ) -> SourceMention | None:
        kind, stated = type_and_ids(annotation)
        if not kind and not stated and motivations(annotation) & NOT_MENTIONS:
            return None
        spans: list[Span] = []
        for _, selector in targets(annotation):
            span = self._span(
                selector, anchors, text, f"document {key}: {key_of(annotation) or f'annotation {record}'}"
            )
            if span is None:
                return None
            spans.append(span)
        spans.sort()
        if not spans or any(one.end > other.start for one, other in pairwise(spans)):
            self._problem(
                0,
                "set aside",
                tr("document {key}: the targets of {key_of} overlap", key=key, key_of=key_of(annotation)),
            )
            return None
        ids = read_ids(map(plain_text, stated))
        words = " ".join(text[span.start : span.end] for span in spans)
        raw_ids = plain_text("|".join(stated))
        return SourceMention(tuple(spans), words, plain_text(kind), ids, raw_ids, bool(stated) and not ids, record)

    def _span(self, selector: object, anchors: Anchors, text: str, where: str) -> Span | None:
        """The span of one target; None if it is skipped with a problem."""
        start, end, exact, prefix, suffix = place(selector)
        if exact is None:
            found = (start, end) if start is not None and end is not None else selected(selector, text)
            if found is not None and 0 <= found[0] < found[1] <= len(text):
                return Span(*found)
            self._problem(
                0,
                "set aside",
                tr("{where}: no position in the text ({selector})", where=where, selector=json.dumps(selector)[:80]),
            )
            return None
        at = text.find(prefix + exact + suffix)
        if start is None and at >= 0 and exact and text.find(prefix + exact + suffix, at + 1) < 0:
            return Span(at + len(prefix), at + len(prefix) + len(exact))
        known = start is not None and end is not None
        anchor = anchors.find(start or 0, end or 0, exact) if known or text.count(exact) == 1 else None
        if anchor is None:
            self._problem(
                0,
                "set aside",
                tr(
                    '{where}: the position of "{exact}" is ambiguous, or it does not occur in the text',
                    where=where,
                    exact=exact[:80],
                ),
            )
            return None
        if anchor.repair and known:
            span = anchor.span
            self._problem(
                0,
                "repaired",
                tr(
                    '{where}: "{exact}": {repair}; read as {start}-{end}',
                    where=where,
                    exact=exact[:80],
                    repair=anchor.repair,
                    start=span.start,
                    end=span.end,
                ),
            )
        return anchor.span


class WebAnnotationFormat:
    """Reads and writes Web Annotations. `problems` lists data that the last `write` left out."""

    name = "webannotation"
    title = "W3C Web Annotation (JSON-LD)"
    can_read = True
    can_write = True
    endings = ENDINGS
    carries = Carries(mentions=True, discontinuous=True, several_ids=True, nil=True, attributes=True, own_fields=True)
    carries_people = True

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        start = head.lstrip()
        return start[:1] in (b"{", b"[") and b"//www.w3.org/ns/anno" in head

    def sniff_files(self, files: Files) -> bool:
        names = files.with_suffix(*ENDINGS)
        return bool(names) and all(self.sniff(files.path, files.head(name, 1 << 16)) for name in names[:20])

    def reads(self, files: Files) -> Sequence[str]:
        """The files to read, including texts that may be annotated."""
        return files.with_suffix(*ENDINGS, ".txt", ".text")

    def open(self, path: Path) -> WebAnnotationReader:
        """Raises UserError for a missing, empty, unsafe or foreign source."""
        files = open_files(path)
        if not (self.sniff_files(files) if holds_many(path) else self.sniff(path, Source(path).head())):
            raise UserError(
                tr(
                    "{path} is not a Web Annotation file: no JSON with the context {context}; choose another format",
                    path=path,
                    context=CONTEXT,
                )
            )
        return WebAnnotationReader(files)

    def holds_more(self, raw: str) -> bool:
        found = [one for one in json.loads(raw) if isinstance(one, dict)]
        return any(one.keys() - _KNOWN or not all(role(body, one) for body in bodies(one)) for one in found)

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = enumerate(json.loads(raw) if raw else ())
        held = ((record, held_attributes(one)) for record, one in listed if isinstance(one, dict))
        return {record: found for record, found in held if found}

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsFields`: unknown keys, and bodies that are neither types nor identifiers nor attributes."""
        found = {}
        for record, one in enumerate(json.loads(raw)):
            others: defaultdict[str, str] = defaultdict(str)
            for body in bodies(one):
                if not role(body, one):
                    others[named_by(body, one)] += f" {json_text(body)}"
            found[record] = {**others, **other_texts(one, _KNOWN)}
        return found

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `webannotation_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


def _stated(annotations: Iterable[dict[str, Any]]) -> Iterator[Stated]:
    """The offsets and quoted texts of targets."""
    for one in annotations:
        for _, selector in targets(one):
            start, end, exact, _, _ = place(selector)
            if start is not None and end is not None and exact is not None:
                yield start, end, exact


def _document_id(address: str) -> str:
    """A document's id from the address of its text: without our prefix, or the file's path without its ending."""
    if address.startswith(ADDRESS):
        return unquote(address[len(ADDRESS) :])
    parts = urlsplit(address)
    if not parts.scheme and parts.path.lower().endswith((".txt", ".text")):
        return plain_text(unquote(parts.path).rpartition(".")[0])
    return plain_text(address)
