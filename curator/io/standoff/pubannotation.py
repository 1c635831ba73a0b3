"""PubAnnotation JSON: a document, a list of them or one a line; a folder or a zip archive of such files.

Denotations are mentions, including those of all projects (`tracks`); offsets count code points. A denotation can state
its type and its identifier in many ways: an attribute `identifier` in addition to the type, `Type:ID`, a CURIE, a web
address. Relations, attributes, blocks and everything else in a document stay in its record, which is its exact text.
`SourceMention.record` is the denotation's index in the document, continued through its tracks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.files.archives import Files, holds_many, open_files
from curator.io.files.field_meanings import other_texts
from curator.io.files.idstyle import read_ids
from curator.io.files.json_stream import JsonStream
from curator.io.files.source import Source, plain_text
from curator.io.standoff.pubannotation_tree import (
    Denotation,
    denotations,
    is_identifier,
    may_have,
    objects,
    relations_of,
    type_and_ids,
)
from curator.io.standoff.pubannotation_write import ENDINGS, write_files
from curator.io.standoff.standoff import FilesReader, first_line, plain_passages
from curator.services.ports.files import Carries, ExportDocument, Problem

_KNOWN = frozenset(
    {"sourcedb", "sourceid", "divid", "section", "target", "text", "project", "denotations", "attributes", "blocks"}
    | {"namespaces", "tracks", "relations", "modifications"}
)
"""Top-level keys of a document that contains only mentions; relations and modifications must be empty."""
_KEYS = (b'"sourcedb"', b'"denotations"', b'"tracks"')


class PubAnnotationReader(FilesReader):
    """Yields the documents file by file."""

    format = "pubannotation"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        number = 0
        for name in self._files.names:
            stream = JsonStream(self._files.source(name), (), whole=True)
            between = ""
            for before, raw, value, line in stream:
                if "text" not in value:
                    self._problem(line, "set aside", tr("{name}: an object without a text", name=name))
                    continue
                self.head = before if not number else self.head
                between = between or (before if number else "")
                number += 1
                yield self._document(value, raw, line, number)
            self.tail = stream.rest
            self.extra = json.dumps({"between": between})
        if not number:
            raise UserError(
                tr("{path} contains no PubAnnotation document: no object with a text", path=self._files.path)
            )
        if len(self._files.names) > 1:
            self.head = self.tail = self.extra = ""

    def _document(self, value: dict[str, Any], raw: str, line: int, number: int) -> SourceDocument:
        given = value["text"] if isinstance(value["text"], str) else ""
        text = plain_text(given)
        key = _document_id(value) or f"document {number}"
        if text != given:
            self._problem(line, "repaired", tr("document {key} contains lone surrogates, read as U+FFFD", key=key))
        named = {str(one.get("prefix")): str(one.get("uri")) for one in objects(value.get("namespaces"))}
        mentions = [
            mention
            for record, found in enumerate(denotations(value))
            if (mention := self._mention(found, record, named, text, f"document {key}", line))
        ]
        return SourceDocument(
            key, first_line(text), text, _passages(value, text), tuple(mentions), plain_text(raw), line
        )

    def _mention(
        self, found: Denotation, record: int, namespaces: Mapping[str, str], text: str, where: str, line: int
    ) -> SourceMention | None:
        spans = _spans(found.value.get("span"), len(text))
        if not spans:
            self._problem(
                line,
                "set aside",
                tr(
                    "{where}: the denotation at {get} is outside the text",
                    where=where,
                    get=json.dumps(found.value.get("span"))[:80],
                ),
            )
            return None
        kind, stated = type_and_ids(found, namespaces)
        ids = read_ids(stated)
        words = " ".join(text[span.start : span.end] for span in spans)
        return SourceMention(spans, words, kind, ids, "|".join(stated), bool(stated) and not ids, record)


class PubAnnotationFormat:
    """Reads and writes PubAnnotation. `problems` lists data that the last `write` left out."""

    name = "pubannotation"
    title = "PubAnnotation JSON"
    can_read = True
    can_write = True
    endings = ENDINGS
    carries = Carries(
        mentions=True,
        discontinuous=True,
        several_ids=True,
        nil=True,
        relations=True,
        attributes=True,
        own_fields=True,
    )
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        start = head.lstrip()
        return start[:1] in (b"{", b"[") and b'"text"' in head and any(key in head for key in _KEYS)

    def sniff_files(self, files: Files) -> bool:
        names = files.with_suffix(".json")
        return bool(names) and all(self.sniff(files.path, files.head(name, 1 << 16)) for name in names[:20])

    def reads(self, files: Files) -> Sequence[str]:
        return files.with_suffix(".json")

    def open(self, path: Path) -> PubAnnotationReader:
        """Raises UserError for a missing, empty, unsafe or foreign source."""
        files = open_files(path)
        many = holds_many(path)
        if not (self.sniff_files(files) if many else self.sniff(path, Source(path).head())):
            raise UserError(
                tr("{path} is not PubAnnotation: no JSON of texts with denotations; choose another format", path=path)
            )
        return PubAnnotationReader(files.only(files.with_suffix(".json")) if many else files)

    def holds_more(self, raw: str) -> bool:
        value = json.loads(raw)
        homes = [value, *objects(value.get("tracks"))]
        about = any(one.get("modifications") for one in homes)
        others = (one for home in homes for one in objects(home.get("attributes")) if not is_identifier(one))
        return bool(about or value.keys() - _KNOWN or any(True for _ in others))

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = denotations(json.loads(raw)) if may_have(raw, "attributes") else ()
        return {record: found for record, one in enumerate(listed) if (found := one.held())}

    def fields_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsFields`."""
        listed = enumerate(denotations(json.loads(raw)))
        return {record: other_texts(one.value, ("id", "span", "obj")) | one.unread() for record, one in listed}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return relations_of(raw, extra)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `pubannotation_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


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
    apart = all(one.end <= other.start for one, other in pairwise(spans))
    return tuple(spans) if apart else ()


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
