"""Documents and knowledge bases into the project, in short transactions, visible only when complete."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeVar

from curator.domain.changes import Change, ChangeKind
from curator.domain.documents import SourceDocument, SourceFile, Split
from curator.domain.errors import UserError
from curator.domain.jobs import Progress
from curator.domain.wording import tr
from curator.services.events import EventBus
from curator.services.gold import GoldWriter
from curator.services.kb_importing import KbResult, KbWish, KnowledgeImport
from curator.services.knowledge import add_missing
from curator.services.ports import Clock, DocumentReader, FormatRegistry, Problem, Store, UnitOfWork
from curator.services.restoring import restore_comments

CONCERNED = "decisions to look at"  # what a new version of the knowledge base means for them: see `remap_plan`
DOCUMENTS_PER_UNIT = 50
CHUNK = 1 << 20
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem with the file that it is about."""

    file: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `counts` by word: documents, mentions, linked, nil, unresolved ids, entities, names, …"""

    files: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[FileProblem, ...] = ()
    seconds: float = 0.0


def joined(reports: Sequence[ImportReport]) -> ImportReport:
    """One report of several imports."""
    counts: Counter[str] = Counter()
    for one in reports:
        counts.update(one.counts)
    return ImportReport(
        tuple(name for one in reports for name in one.files),
        dict(counts),
        tuple(problem for one in reports for problem in one.problems),
        sum(one.seconds for one in reports),
    )


@dataclass(slots=True)
class _Tally:
    """The report in the making."""

    files: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[FileProblem] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def note(self, path: Path, problems: Sequence[Problem]) -> None:
        self.problems += [FileProblem(str(path), one) for one in problems]

    def report(self) -> ImportReport:
        seconds = time.monotonic() - self.started
        return ImportReport(tuple(self.files), dict(self.counts), tuple(self.problems), seconds)


class ImportService:
    """Each generator yields its progress and returns the report; closing it cancels and leaves nothing visible."""

    def __init__(
        self, store: Store, formats: FormatRegistry, events: EventBus, clock: Clock, *, curator: Callable[[], str]
    ) -> None:
        self._store = store
        self._formats = formats
        self._events = events
        self._clock = clock
        self._curator = curator

    def documents(
        self, paths: Sequence[Path], *, gold: bool = False, split: Split = Split.TRAIN, hold_out: int = 0
    ) -> Generator[Progress, None, ImportReport]:
        """Read document files. With `gold` each annotation becomes a decision by `import:FILE`; `hold_out` documents,
        evenly spread over each file, get the split validation instead.

        A file whose content was imported before changes nothing and is noted. Raises UserError for a file that cannot
        be read (files before it in `paths` stay imported) and for gold without a knowledge base.
        """
        if gold and self._store_has_no_kb():
            raise UserError(
                tr("Gold needs a knowledge base to look identifiers up in. Import one first (`curator kb import`).")
            )
        tally = _Tally()
        for path in paths:
            self._formats.recognise(path)  # a wrong file among several stops before anything is written
        for path in paths:
            yield from self._file(path, tally, gold=gold, split=split, hold_out=hold_out)
        return tally.report()

    def knowledge_base(self, path: Path, wish: KbWish | None = None) -> Generator[Progress, None, ImportReport]:
        """Read a knowledge base: it replaces the one before when it is complete, or joins it. Raises UserError."""
        steps = KnowledgeImport(self._store, self._formats).read(path, wish or KbWish())
        return (yield from self._version(steps, [path], tr("from {name}", name=path.name)))

    def drop_source(self, name: str) -> Generator[Progress, None, ImportReport]:
        """Take one of several sources out of the knowledge base. Raises UserError."""
        return (
            yield from self._version(
                KnowledgeImport(self._store, self._formats).drop(name), [], tr("without {name}", name=name)
            )
        )

    def _version(
        self, steps: Generator[Progress, None, KbResult], paths: Sequence[Path], words: str
    ) -> Generator[Progress, None, ImportReport]:
        tally = _Tally(files=[str(path) for path in paths])
        try:
            result = yield from steps
        except BaseException:  # cancelled or failed: nothing half-read stays
            self._remove_incomplete()
            raise
        tally.counts.update(result.counts)
        if result.concerned:
            tally.counts[CONCERNED] = result.concerned
        tally.note(paths[0] if paths else Path(), result.problems)
        text = tr("Imported {number:,} entities {words}", number=tally.counts["entities"], words=words)
        self._events.emit(Change(ChangeKind.KNOWLEDGE_BASE, self._curator(), text))
        return tally.report()

    def _store_has_no_kb(self) -> bool:
        with self._store.read() as unit:
            return unit.kb.info() is None

    def _file(
        self, path: Path, tally: _Tally, *, gold: bool, split: Split, hold_out: int
    ) -> Generator[Progress, None, None]:
        sha256 = _sha256(path)
        with self._store.read() as unit:
            known = unit.documents.find_file(sha256)
        if known is not None:
            note = f"imported before as {known.name}; nothing was changed"
            tally.note(path, [Problem(0, "note", note)])
            tally.counts["files imported before"] += 1
            return
        format_ = self._formats.recognise(path)
        reader = format_.open(path)
        source = SourceFile(0, str(path.resolve()), path.name, format_.name, sha256, imported_at=self._clock.now())
        writer = GoldWriter(path.name, self._clock) if gold else None
        try:
            ids = yield from self._read(reader, source, split, tally, writer)
            self._complete(reader, ids, hold_out=hold_out)
        except BaseException:  # cancelled or failed: nothing half-read stays
            self._remove_incomplete()
            raise
        tally.files.append(str(path))
        tally.note(path, [*reader.problems, *(writer.problems() if writer else ())])
        tally.counts.update(writer.counts if writer else {})
        text = tr("Imported {number:,} documents from {name}", number=len(ids[1]), name=path.name)
        self._events.emit(Change(ChangeKind.IMPORTED, self._curator(), text, tuple(ids[1])))

    def _read(
        self, reader: DocumentReader, source: SourceFile, split: Split, tally: _Tally, gold: GoldWriter | None
    ) -> Generator[Progress, None, tuple[int, list[int]]]:
        """Store the documents of a still invisible file; returns (file id, document ids)."""
        file_id, ids = 0, list[int]()
        for batch in _batches(iter(reader), DOCUMENTS_PER_UNIT):
            with self._store.write() as unit:
                if not file_id:  # the reader knows the head when it yields its first document
                    file_id = unit.documents.add_file(_with_head(source, reader))
                ids += _store_batch(unit, file_id, batch, split, gold)
            tally.counts.update(documents=len(batch), mentions=sum(len(one.mentions) for one in batch))
            done, total = reader.position
            yield Progress(f"import {source.name}", done, total, f"{len(ids):,} documents")
        if not ids:
            raise UserError(tr("{path} holds no document that could be read. Check its format.", path=source.path))
        return file_id, ids

    def _complete(self, reader: DocumentReader, ids: tuple[int, list[int]], *, hold_out: int) -> None:
        file_id, documents = ids
        with self._store.write() as unit:
            unit.documents.set_split(_spread(documents, hold_out), Split.VALIDATION)
            unit.documents.complete_file(file_id, tail=reader.tail, extra=reader.extra)
        with self._store.write() as unit:
            add_missing(unit)

    def _remove_incomplete(self) -> None:
        # on a full disk this fails too: then the next opening of the project removes it
        with suppress(UserError), self._store.write() as unit:
            unit.documents.remove_incomplete()
            unit.kb.remove_incomplete()


def _store_batch(
    unit: UnitOfWork, file_id: int, batch: Sequence[SourceDocument], split: Split, gold: GoldWriter | None
) -> list[int]:
    stored = unit.documents.add_documents(file_id, batch, split=split)
    restore_comments(unit, list(zip(batch, stored, strict=True)))
    if gold is not None:
        gold.write(unit, list(zip(batch, stored, strict=True)))
    return [document_id for document_id, _ in stored]


def _with_head(source: SourceFile, reader: DocumentReader) -> SourceFile:
    return SourceFile(
        id=0,
        path=source.path,
        name=source.name,
        format=source.format,
        sha256=source.sha256,
        head=reader.head,
        imported_at=source.imported_at,
    )


def _spread(ids: Sequence[int], count: int) -> list[int]:
    """`count` of the ids at even distances."""
    count = min(count, len(ids))
    return [ids[i * len(ids) // count] for i in range(count)]


def _batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch


def _sha256(path: Path) -> str:
    """Of a file's bytes, or of a folder's files with their names."""
    digest = hashlib.sha256()
    try:
        files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        for one in files:
            if path.is_dir():
                digest.update(f"{one.relative_to(path).as_posix()}\0{one.stat().st_size}\0".encode())
            with one.open("rb") as file:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
    except OSError as error:
        raise UserError(
            tr(
                "{path} could not be read ({strerror}). Check the name and its rights.",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    return digest.hexdigest()
