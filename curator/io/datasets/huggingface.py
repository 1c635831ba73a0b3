"""Hugging Face datasets on disk: folders from `save_to_disk`, or with Parquet or JSON lines; single files.

Arrow and Parquet need only `pyarrow`, not `datasets` and its dependencies; JSON lines need neither. Nothing is
downloaded, and no loading script is run. The contents of rows are recognised by their columns: see `huggingface_rows`.
Files and folders called train, validation (dev, valid) or test determine the split of their documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from curator.domain.documents import SourceDocument, SourceMention, Split
from curator.domain.relations import SourceRelation
from curator.domain.wording import UserError, tr
from curator.io.datasets.decisions import is_document
from curator.io.datasets.huggingface_rows import (
    LISTS,
    TRIPLES,
    Row,
    ids_of,
    is_min_row,
    is_row,
    is_task,
    packed,
    parsed,
    relations_in,
)
from curator.io.files.field_meanings import Unread
from curator.io.files.format import ReadOnly
from curator.io.files.json_stream import JsonStream, first_object, has_keys
from curator.io.files.opening import failure_behind, first_bytes, unreadable
from curator.io.files.reading import FilesReader, Placing, first_line, stated_mention
from curator.io.files.source import Files, holds_many, open_files
from curator.io.wiki.zeshel import DOCUMENT_KEYS
from curator.services.ports.files import Carries

ROWS = 200
PARQUET, ARROW = b"PAR1", (b"\xff\xff\xff\xff", b"ARROW1")
_SPLITS = {"train": Split.TRAIN, "test": Split.TEST} | dict.fromkeys(("validation", "valid", "dev"), Split.VALIDATION)
_CACHES = re.compile(r"(^|/)(cache-|tmp)[^/]*\.arrow$")
_BESIDE = frozenset({"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"})
_ELSEWHERE = frozenset({"denotations", "tracks", "context_left", "label_document_id", "@context", "infons"})
Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a row: its file, its number in it, and its line."""

    name: str
    number: int
    line: int


class HuggingFaceReader(FilesReader):
    """Yields the rows of all files, in the order of their names."""

    format = "huggingface"
    none = "{path} contains no row with a text{why}"

    def documents(self) -> Iterator[SourceDocument]:
        self._left = Unread()
        for name in data_files(self.files):
            split = split_of(name)
            for number, (value, names, line) in enumerate(self._rows(name), 1):
                document = self._document(value, names, _Place(name, number, line or number), split)
                if document is not None:
                    yield document
        self.problems.notes(self._left.sentences())

    def _rows(self, name: str) -> Iterator[tuple[Mapping[str, Any], Names, int]]:
        """Each row with the names of its tags and its line, 0 if the file has no lines."""
        head = self.files.head(name, 8)
        if not head.startswith((PARQUET, *ARROW)):
            stream = JsonStream(self.files.source(name), (), whole=True)
            yield from ((value, {}, line) for _, _, value, line in stream if isinstance(value, dict))
            return
        with self.files.open(name) as file:
            rows = arrow_rows(file, self.files.shown(name), parquet=head.startswith(PARQUET))
            yield from ((value, names, 0) for value, names in rows)
        self.files.mark_read(name)

    def _parsed(self, value: Mapping[str, Any], names: Names) -> Row | None:
        """The document in a row; None if it adds nothing. Raises ValueError without a text."""
        return parsed(value, names)

    def _document(
        self, value: Mapping[str, Any], names: Names, place: _Place, split: Split | None
    ) -> SourceDocument | None:
        try:
            row = self._parsed(value, names)
        except ValueError as error:
            where = tr("{file}, row {row}", file=place.name, row=place.number)
            self.problems.set_aside(f"{where} {error}", place.line)
            return None
        if row is None:
            return None
        key = row.key or f"{Path(place.name).stem} {place.number}"
        mentions = self._mentions(row, place.line, key)
        for one in row.unread:
            words = "document {key}: {element} is not a mention of the form [start, end, type]"
            self.problems.set_aside(tr(words, key=key, element=one), place.line)
        raw, lost = packed(row.relations, row.attributes, {one.record for one in mentions})
        row.left.relations["relations"] += lost
        self._left.add(row.left)
        title = row.title or first_line(row.text)
        return SourceDocument(key, title, row.text, row.passages, mentions, raw, place.line, split=split)

    def _mentions(self, row: Row, line: int, key: str) -> tuple[SourceMention, ...]:
        placing = Placing(row.text, row.passages, self.problems, key)
        placing.learn(((one.ranges, one.quote) for one in row.entities), line)
        found = []
        for number, one in enumerate(row.entities):
            stated = ", ".join(f"{start}-{end}" for start, end in one.ranges)
            where = f'document {key}: mention "{one.quote[:80] if one.quote.strip() else stated}"'
            if one.quote.strip():
                spans = placing.find(one.ranges, one.quote, where, line)
            elif not (spans := placing.inside(one.ranges)):
                self.problems.set_aside(tr("{said}: it has no position in the text", said=where), line)
            if spans:
                found.append(stated_mention(row.text, spans, one.kind, one.stated, number, ids_of(one.stated)))
        return tuple(found)


class HuggingFaceFormat(ReadOnly):
    name = "huggingface"
    title = "Hugging Face dataset"
    refusal = "{path} contains no Arrow, Parquet or JSON lines file: choose a dataset's folder"
    reader = HuggingFaceReader
    takes_folders = True
    carries = Carries(mentions=True, discontinuous=True, several_ids=True, nil=True, relations=True)

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether it is JSON lines with a text, or a JSON list of annotated texts, in no other format."""
        found = _first_row(head)
        ours = (
            is_document(found)
            or is_task(found)
            or is_min_row(found)
            or has_keys(found, DOCUMENT_KEYS)
            or not _ELSEWHERE.isdisjoint(found)
        )
        return not ours and is_row(found)

    def sniff_path(self, path: Path) -> bool:
        """A file of Arrow or Parquet."""
        return _is_arrow(first_bytes(path, 8))

    def sniff_files(self, files: Files) -> bool:
        names = data_files(files)
        heads = [files.head(name, 1 << 14) for name in names[:3]]
        return bool(names) and all(_is_arrow(head[:8]) or self.sniff(files.path, head) for head in heads)

    def reads(self, files: Files) -> Sequence[str]:
        """Also the metadata files of `datasets`."""
        ours = {*data_files(files), *(name for name in files.names if _CACHES.search(name))}
        return [name for name in files.names if name in ours or name.rpartition("/")[2] in _BESIDE]

    def relations(self, raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG002 as every format's
        return relations_in(raw)

    def holds_more(self, raw: str) -> bool:
        """Whether there are events and the like, which no other format is given."""
        return any(one.fixed for one in relations_in(raw))

    def open(self, path: Path) -> HuggingFaceReader:
        """Raises UserError for a missing or unsafe source, or one without data, and if `pyarrow` is missing."""
        files = open_files(path)
        if holds_many(path) and not data_files(files):
            raise UserError(tr(self.refusal, path=path))
        return HuggingFaceReader(files)


def _first_row(head: bytes) -> Mapping[str, Any]:
    """The first row of JSON lines, or of a JSON list if it has a list of mentions or words; empty without one."""
    if head.lstrip()[:1] == b"{":
        return first_object(head)
    text = head.decode("utf-8", "ignore").lstrip()
    try:
        found, _ = json.JSONDecoder().raw_decode(text[1:].lstrip()) if text[:1] == "[" else ({}, 0)
    except (ValueError, RecursionError):
        return {}
    listed = isinstance(found, dict) and any(isinstance(found.get(one), list) for one in (*LISTS, *TRIPLES, "tokens"))
    return found if listed else {}


def data_files(files: Files) -> list[str]:
    """The files with rows: Arrow or Parquet, or else JSON lines; without the metadata files of `datasets`."""
    if len(files.names) == 1:
        return list(files.names)
    binary = [name for name in files.with_suffix(".arrow", ".parquet") if not _CACHES.search(name)]
    return binary or files.with_suffix(".jsonl", ".jsonl.gz")


def split_of(name: str) -> Split | None:
    """The split named in a part of the file's name: `data/train-00000-of-00001.parquet`."""
    parts = re.split(r"[/._-]", name.lower())
    return next((_SPLITS[part] for part in parts if part in _SPLITS), None)


def arrow_rows(file: BinaryIO, shown: str, *, parquet: bool) -> Iterator[tuple[Mapping[str, Any], Names]]:
    """The rows of an Arrow file. Raises UserError for a damaged file, and if `pyarrow` is missing."""
    try:
        import pyarrow
        from pyarrow import ipc
        from pyarrow import parquet as pq
    except ImportError as error:
        raise UserError(
            tr(
                "{shown} can only be read with pyarrow: install it (pip install 'curator[datasets]') and try again",
                shown=shown,
            )
        ) from error
    try:
        if parquet:
            reader = pq.ParquetFile(file)
            names = tag_names(reader.schema_arrow.metadata)
            batches = reader.iter_batches(batch_size=ROWS)
        else:
            opened = _opened(ipc, pyarrow, file)
            names = tag_names(opened.schema.metadata)
            batches = (opened.get_batch(n) for n in range(opened.num_record_batches)) if _is_file(opened) else opened
        for batch in batches:
            batch.validate(full=True)  # else a damaged file's offsets lead outside its memory: a crash
            for start in range(0, batch.num_rows, ROWS):
                yield from ((row, names) for row in batch.slice(start, ROWS).to_pylist())
    except (pyarrow.ArrowException, OSError, ValueError, KeyError) as error:
        if (failure := failure_behind(error)) is not None:
            raise unreadable(shown, failure) from failure
        raise UserError(
            tr("{shown} is damaged or not a table ({error}): download or save it again", shown=shown, error=error)
        ) from error


def tag_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, Sequence[str]]:
    """Names of numbered labels by column, from the metadata of `datasets`."""
    try:
        features = json.loads((metadata or {}).get(b"huggingface", b"{}")).get("info", {}).get("features", {})
    except (ValueError, AttributeError):
        return {}
    found: dict[str, Sequence[str]] = {}
    for column, feature in features.items() if isinstance(features, dict) else ():
        inner = feature.get("feature", feature) if isinstance(feature, dict) else {}
        names = inner.get("names") if isinstance(inner, dict) else None
        if isinstance(names, list):
            found[column] = [str(one) for one in names]
    return found


def _opened(ipc: Any, pyarrow: Any, file: BinaryIO) -> Any:
    """A reader for streams written by `datasets`, or for Feather files."""
    start = file.read(6)
    file.seek(0)
    source = pyarrow.PythonFile(file, mode="r")
    return ipc.open_file(source) if start == ARROW[1] else ipc.open_stream(source)


def _is_file(opened: Any) -> bool:
    return hasattr(opened, "num_record_batches")


def _is_arrow(head: bytes) -> bool:
    """Whether it begins with a mark and the length of a schema of at most one megabyte, as a stream does."""
    if head.startswith(ARROW[0]):
        return 0 < int.from_bytes(head[4:8], "little") < 1 << 20
    return head.startswith((PARQUET, ARROW[1]))
