"""UIMA XMI (DKPro, INCEpTION, WebAnno, cTAKES): one document per file, with a type system next to it or in the archive.

Mentions are the annotations of entity types; tokens, sentences, parts of speech, relations and further views stay in
the record, which is the file. A type is the feature `value`, or the type's own name; identifiers are in `identifier`.
Annotations of the type `xmi_tree.PART` are further parts of a discontinuous mention. `SourceMention.record` counts the
mentions' annotations in the order of the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span, Utf16Map, slice_spans
from curator.domain.relations import SourceRelation
from curator.domain.wording import UnreadableError, UserError, ntr, tr
from curator.io.files.archives import Files, chosen_files, holds_many, open_files
from curator.io.files.idstyle import read_ids
from curator.io.files.opening import FREE_BYTES, MOST_SWELLING
from curator.io.files.source import GZIP_MAGIC, Source
from curator.io.standoff.cas_relations import xmi_elements, xmi_relations
from curator.io.standoff.standoff import FilesReader, first_line, plain_passages
from curator.io.standoff.xmi_tree import ID, PART, Cas, dump, held_attributes, parse, type_and_ids, type_name
from curator.io.standoff.xmi_write import write_files
from curator.services.ports.files import Carries, ExportDocument, Problem

_PLAIN_TYPES = (".Token", ".Sentence", ".Paragraph", ".DocumentMetaData", ".DocumentAnnotation")
TYPE_SYSTEMS = ("TypeSystem.xml", "typesystem.xml", "dkpro-core-types.xml")


class XmiReader(FilesReader):
    """Yields the documents in the order of their names."""

    format = "xmi"
    title = "XMI"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        found = 0
        for name in self._files.names:
            if _is_type_system(self._files, name):
                continue
            try:
                document = self._document(name, self._bytes(name))
            except UnreadableError:
                raise
            except UserError as error:
                self._problem(0, "set aside", str(error))
                continue
            found += 1
            yield document
        if not found:
            raise UserError(
                self.problems[0].text
                if self.problems
                else tr("{path} contains no {title} document", path=self._files.path, title=self.title)
            )
        systems = [name for name in self._files.names if _is_type_system(self._files, name)]
        texts = {name: text for name in systems if (text := self._text(name)) is not None}
        self.extra = json.dumps({"types": texts}, ensure_ascii=False) if texts else ""

    def _bytes(self, name: str) -> bytes:
        if self._files.head(name, 2) != GZIP_MAGIC:
            return self._files.read(name)
        most = FREE_BYTES + MOST_SWELLING * len(self._files.read(name))
        with self._files.source(name).stream() as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise UserError(
                tr("{shown} unpacks to far more than its own size: it was not opened", shown=self._files.shown(name))
            )
        return data

    def _cas(self, name: str, data: bytes) -> tuple[Cas, str]:
        """A file's CAS and the record of its document. Raises UserError."""
        cas = parse(data, self._files.shown(name))
        return cas, data.decode("utf-8") if _is_utf_8(data) else _as_utf_8(cas)

    def _document(self, name: str, data: bytes) -> SourceDocument:
        cas, raw = self._cas(name, data)
        by_id, parts, units = cas.by_id(), cas.parts(), Utf16Map(cas.text)
        if cas.other_views():
            self._problem(
                0,
                "note",
                ntr(
                    "{name}: {n} other view is kept, but not shown",
                    "{name}: {n:,} other views are kept, but not shown",
                    cas.other_views(),
                    name=name,
                ),
            )
        mentions = [
            mention
            for record, one in enumerate(cas.mentions())
            if (mention := self._mention(name, [one, *parts.get(one.get(ID, ""), ())], record, by_id, cas, units))
            is not None
        ]
        for part in [one for key in parts.keys() - {one.get(ID) for one in cas.mentions()} for one in parts[key]]:
            place = f"{part.get('begin')}-{part.get('end')}"
            text = tr("{name}: the mention for the part at {place} is missing", name=name, place=place)
            self._problem(part.sourceline or 0, "set aside", text)
        key = name.removesuffix(".gz").removesuffix(".xmi").removesuffix(".xml").removesuffix(".json")
        title = _title(cas) or first_line(cas.text)
        return SourceDocument(key, title, cas.text, plain_passages(cas.text), tuple(mentions), raw, 1)

    def _mention(
        self, name: str, pieces: list[Any], record: int, by_id: dict[str, Any], cas: Cas, units: Utf16Map
    ) -> SourceMention | None:
        """The mention of an annotation and its further parts; None if it is skipped with a problem."""
        kind, stated = type_and_ids(pieces[0], by_id)
        spans = []
        for one in pieces:
            span = _span(one, units, len(cas.text))
            if span is None:
                place = f"{one.get('begin')}-{one.get('end')}"
                text = tr("{name}: {kind} at {place} contains no text", name=name, kind=kind, place=place)
                self._problem(one.sourceline or 0, "set aside", text)
                return None
            spans.append(span)
        spans.sort()
        if any(one.end > other.start for one, other in pairwise(spans)):
            place = ", ".join(f"{one.start}-{one.end}" for one in spans)
            text = tr("{name}: the parts of {kind} at {place} overlap", name=name, kind=kind, place=place)
            self._problem(pieces[0].sourceline or 0, "set aside", text)
            return None
        ids = read_ids(stated)
        nil = bool(stated) and not ids
        return SourceMention(tuple(spans), slice_spans(cas.text, spans), kind, ids, "|".join(stated), nil, record)


class XmiFormat:
    """Reads and writes XMI. `problems` lists data that the last `write` left out."""

    name = "xmi"
    title = "UIMA XMI"
    can_read = True
    can_write = True
    document_endings = (".xmi",)
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
        return start.startswith(b"<") and b"http://www.omg.org/XMI" in start and b":XMI" in start

    def sniff_files(self, files: Files) -> bool:
        return bool(_members(files, self))

    def reads(self, files: Files) -> Sequence[str]:
        systems = (name for name in files.with_suffix(".xml") if _is_type_system(files, name))
        return list(dict.fromkeys([*_members(files, self), *systems]))

    def open(self, path: Path) -> XmiReader:
        """Raises UserError for a missing, empty, unsafe or foreign source."""
        if holds_many(path):
            files = open_files(path)
            members = _members(files, self)
            systems = [name for name in files.with_suffix(".xml") if _is_type_system(files, name)]
            if members:
                return XmiReader(files.only([*members, *(one for one in systems if one not in members)]))
        elif self.sniff(path, Source(path).head()):
            systems = [name for name in TYPE_SYSTEMS if (path.parent / name).is_file()][:1]
            return XmiReader(chosen_files(path.parent, [path.name, *systems], path=path))
        raise UserError(
            tr("{path} is not UIMA XMI: no file with an `xmi:XMI` element; choose another format", path=path)
        )

    def holds_more(self, raw: str) -> bool:
        """Whether there are annotations of other types than tokens and sentences, and than relations."""
        return bool(other_annotations(parse(raw.encode("utf-8"), "")))

    def attributes_in(self, raw: str) -> dict[int, dict[str, str]]:
        """See `HoldsAttributes`."""
        listed = parse(raw.encode("utf-8"), "").mentions() if raw else ()
        return {record: found for record, one in enumerate(listed) if (found := held_attributes(one))}

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:
        return xmi_relations(raw, extra)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `xmi_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


def other_annotations(cas: Cas) -> list[Any]:
    """The annotations that are neither mentions nor relations, without tokens, sentences and the like."""
    known = {one.get(ID) for one in (*cas.mentions(), *(one for one, _ in xmi_elements(cas)))}
    others = (one for one in cas.root if one.get("begin") is not None and one.get(ID) not in known)
    return [one for one in others if type_name(one) != PART and not type_name(one).endswith(_PLAIN_TYPES)]


def _members(files: Files, form: XmiFormat) -> list[str]:
    names = files.with_suffix(".xmi", ".xml")
    return [name for name in names if form.sniff(files.path, files.head(name))]


def _is_type_system(files: Files, name: str) -> bool:
    return name.lower().endswith(".xml") and b"<typeSystemDescription" in files.head(name)


def _span(one: Any, units: Utf16Map, length: int) -> Span | None:
    try:
        start, end = int(one.get("begin", "")[:18]), int(one.get("end", "")[:18])
    except ValueError:
        return None
    if not 0 <= start < end <= units.to_utf16(length):
        return None
    first, last = units.to_code_point(start), units.to_code_point(end)
    return Span(first, last) if first < last else None


def _is_utf_8(data: bytes) -> bool:
    declared = data[:200].partition(b"?>")[0].lower()
    if b"encoding" in declared and b"utf-8" not in declared:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _as_utf_8(cas: Cas) -> str:
    return dump(cas).decode("utf-8")


def _title(cas: Cas) -> str:
    found = (one.get("documentTitle") for one in cas.root if one.get("documentTitle"))
    return str(next(found, ""))
