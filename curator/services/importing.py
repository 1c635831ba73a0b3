"""Documents and knowledge bases into the project, in short transactions, visible only when complete.

A file is imported whole or not at all. What is here already is left out, and what is here with another text or other
annotations stays as it is unless `ImportChoices` says otherwise. Each file goes into the list of imports.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from curator.domain.changes import Change, ChangeKind
from curator.domain.documents import SourceDocument, SourceFile, Split
from curator.domain.errors import UserError
from curator.domain.imports import Changed, ImportKind
from curator.domain.jobs import Progress
from curator.domain.wording import ntr, tr
from curator.services.events import EventBus
from curator.services.gold import GoldWriter
from curator.services.import_comparing import Compared, Comparer, Standing
from curator.services.import_sources import sources_of
from curator.services.kb_importing import KbResult, KbWish, KnowledgeImport
from curator.services.knowledge import add_missing
from curator.services.ports import Clock, DocumentReader, FormatRegistry, Problem, Store, TextMover, UnitOfWork
from curator.services.restoring import restore_comments
from curator.services.text_changes import plan_change
from curator.services.text_taking import TextTaker
from curator.services.unfinished_import import UNFINISHED, UnfinishedImport

CONCERNED = "decisions to look at"  # what a new version of the knowledge base means for them: see `remap_plan`
HERE, KEPT = "already here", "changed, left as they are"
"""Words of the report's counts."""
ONE_HERE = "{n:,} document is in the project already and was left out"
MANY_HERE = "{n:,} documents are in the project already and were left out"
ONE_KEPT = "{n:,} document is here with another text or other annotations, and stayed as it was"
MANY_KEPT = "{n:,} documents are here with another text or other annotations, and stayed as they were"
DOCUMENTS_PER_UNIT = 50
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem with the file that it is about."""

    file: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What becomes of documents that are here with another text or other annotations: `usual`, and by the id of the
    project's document what was chosen for it alone."""

    usual: Changed = Changed.KEEP
    of: Mapping[int, Changed] = field(default_factory=dict)

    def choice(self, document_id: int) -> Changed:
        return self.of.get(document_id, self.usual)


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


@dataclass(frozen=True, slots=True)
class _Wish:
    gold: bool
    split: Split
    hold_out: int
    choices: ImportChoices
    batch: int


@dataclass(slots=True)
class _Reading:
    """One file on its way in."""

    source: SourceFile
    reader: DocumentReader
    comparer: Comparer
    gold: GoldWriter
    file_id: int = 0
    ids: list[int] = field(default_factory=list)
    read: int = 0
    to_take: dict[int, SourceDocument] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def sort(self, found: Sequence[Compared], choices: ImportChoices) -> list[SourceDocument]:
        """The documents that are imported as new ones; what is taken later is kept, the rest is counted."""
        new = []
        self.read += len(found)
        for one in found:
            choice = choices.choice(one.document_id)
            if one.standing is Standing.NEW or (one.standing is Standing.CHANGED and choice is Changed.APART):
                new.append(one.source)
            elif one.standing is Standing.CHANGED and choice is Changed.TAKE and one.document_id not in self.to_take:
                self.to_take[one.document_id] = one.source
            else:
                self.counts[HERE if one.standing is Standing.SAME else KEPT] += 1
        return new

    def notes(self) -> list[Problem]:
        """What was left out because it is here already."""
        here, kept = self.counts[HERE], self.counts[KEPT]
        words = [ntr(ONE_HERE, MANY_HERE, here)] if here else []
        words += [ntr(ONE_KEPT, MANY_KEPT, kept)] if kept else []
        return [Problem(0, "note", one) for one in words]


class ImportService:
    """Each generator yields its progress and returns the report; closing it cancels and leaves nothing visible."""

    def __init__(
        self,
        store: Store,
        formats: FormatRegistry,
        events: EventBus,
        clock: Clock,
        *,
        curator: Callable[[], str],
        mover: TextMover,
    ) -> None:
        self._store = store
        self._formats = formats
        self._events = events
        self._clock = clock
        self._curator = curator
        self._mover = mover

    def documents(
        self,
        paths: Sequence[Path],
        *,
        gold: bool = False,
        split: Split = Split.TRAIN,
        hold_out: int = 0,
        choices: ImportChoices | None = None,
    ) -> Generator[Progress, None, ImportReport]:
        """Read document files, and the files of folders. With `gold` each annotation becomes a decision by
        `import:FILE`; `hold_out` documents, evenly spread over each file, get the split validation instead.

        A file whose content was imported before changes nothing and is noted; one whose import was undone comes back.
        Raises UserError for a file that cannot be read (files before it in `paths` stay imported) and for gold without
        a knowledge base.
        """
        if gold and self._store_has_no_kb():
            raise UserError(
                tr("Gold needs a knowledge base to look identifiers up in. Import one first (`curator kb import`).")
            )
        tally = _Tally()
        found = sources_of(paths, self._formats)  # a wrong file among several stops before anything is written
        tally.problems += [FileProblem(str(one.path), Problem(0, "note", one.words)) for one in found.left]
        with self._store.read() as unit:
            batch = unit.imports.next_batch()
        wish = _Wish(gold, split, hold_out, choices or ImportChoices(), batch)
        unfinished = UnfinishedImport(found.paths, 0, gold, split, hold_out)
        for number, path in enumerate(found.paths):
            if len(found.paths) > 1:
                self._remember(replace(unfinished, done=number))
            yield from self._file(path, tally, wish)
        self._remember(None)
        return tally.report()

    def unfinished(self) -> UnfinishedImport | None:
        """An import of several files that was stopped before its last one."""
        with self._store.read() as unit:
            return UnfinishedImport.load(unit.meta.get(UNFINISHED) or "")

    def forget_unfinished(self) -> None:
        self._remember(None)

    def _remember(self, what: UnfinishedImport | None) -> None:
        wanted = what.dump() if what is not None else ""
        with self._store.read() as unit:
            known = unit.meta.get(UNFINISHED) or ""
        if known != wanted:
            with self._store.write() as unit:
                unit.meta.set(UNFINISHED, wanted)

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

    def _file(self, path: Path, tally: _Tally, wish: _Wish) -> Generator[Progress, None, None]:
        sha256 = self._formats.digest(path)
        with self._store.read() as unit:
            known = unit.documents.find_file(sha256)
            withdrawn = known is not None and unit.imports.is_withdrawn(known.id)
        if known is not None:
            self._known(path, known, tally, wish, withdrawn=withdrawn)
            return
        format_ = self._formats.recognise(path)
        reader = format_.open(path)
        source = SourceFile(0, str(path.resolve()), path.name, format_.name, sha256, imported_at=self._clock.now())
        reading = _Reading(source, reader, Comparer(path, format_.name), GoldWriter(path.name, self._clock))
        try:
            yield from self._read(reading, wish)
            self._complete(reading, wish)
        except BaseException:  # cancelled or failed: nothing half-read stays
            self._remove_incomplete()
            raise
        tally.files.append(str(path))
        tally.note(path, [*reader.problems, *(reading.gold.problems() if wish.gold else ()), *reading.notes()])
        tally.counts.update(reading.counts)
        self._tell(reading)

    def _known(self, path: Path, known: SourceFile, tally: _Tally, wish: _Wish, *, withdrawn: bool) -> None:
        """A file of the same content: nothing is to do, unless its import was undone."""
        if not withdrawn:
            note = tr("imported before as {name}; nothing was changed", name=known.name)
            tally.note(path, [Problem(0, "note", note)])
            tally.counts["files imported before"] += 1
            return
        with self._store.write() as unit:
            unit.imports.set_withdrawn(known.id, False)
            ids = unit.documents.ids_of_file(known.id)
            counts = {"documents brought back": len(ids)}
            unit.imports.record(
                known.id,
                ImportKind.RESTORED,
                batch=wish.batch,
                curator=self._curator(),
                at=self._clock.now(),
                counts=counts,
            )
            add_missing(unit)
        tally.files.append(str(path))
        tally.counts.update(counts)
        note = tr("imported before and undone; its documents are back, with everything that was decided in them")
        tally.note(path, [Problem(0, "note", note)])
        text = tr("Brought {number:,} documents of {name} back", number=len(ids), name=known.name)
        self._events.emit(Change(ChangeKind.IMPORTED, self._curator(), text, tuple(ids)))

    def _read(self, reading: _Reading, wish: _Wish) -> Generator[Progress, None, None]:
        """Store the new documents of a still invisible file; those to be taken wait for its end."""
        any_read = False
        for batch in _batches(iter(reading.reader), DOCUMENTS_PER_UNIT):
            any_read = True
            with self._store.write() as unit:
                new = reading.sort(reading.comparer.compare(unit, batch), wish.choices)
                if new:
                    if not reading.file_id:  # the reader knows the head when it yields its first document
                        reading.file_id = unit.documents.add_file(_with_head(reading.source, reading.reader))
                    gold = reading.gold if wish.gold else None
                    reading.ids += _store_batch(unit, reading.file_id, new, wish.split, gold)
            reading.counts.update(documents=len(new), mentions=sum(len(one.mentions) for one in new))
            done, total = reading.reader.position
            words = ntr("{n:,} document", "{n:,} documents", reading.read)
            yield Progress(tr("import {name}", name=reading.source.name), done, total, words)
        if not any_read:
            path = reading.source.path
            raise UserError(tr("{path} holds no document that could be read. Check its format.", path=path))

    def _complete(self, reading: _Reading, wish: _Wish) -> None:
        """Everything of the file becomes visible at once, and what was chosen to be taken is taken with it."""
        reader = reading.reader
        if not reading.ids and not reading.to_take:
            return  # nothing of it is new
        with self._store.write() as unit:
            if not reading.file_id:
                reading.file_id = unit.documents.add_file(_with_head(reading.source, reader))
            unit.documents.set_split(_spread(reading.ids, wish.hold_out), Split.VALIDATION)
            unit.documents.complete_file(reading.file_id, tail=reader.tail, extra=reader.extra)
            taker = TextTaker(self._mover, self._clock)
            for document_id, source in reading.to_take.items():
                reading.counts += taker.take(
                    unit,
                    plan_change(unit, document_id, source, self._mover),
                    file_id=reading.file_id,
                    file_name=reading.source.name,
                    curator=self._curator(),
                    gold=reading.gold if wish.gold else None,
                )
            if wish.gold:
                reading.counts.update(reading.gold.counts)
            unit.imports.record(
                reading.file_id,
                ImportKind.IMPORTED,
                batch=wish.batch,
                curator=self._curator(),
                at=self._clock.now(),
                counts=+reading.counts,
            )
            add_missing(unit)

    def _tell(self, reading: _Reading) -> None:
        taken, name, who = tuple(reading.to_take), reading.source.name, self._curator()
        if taken:
            text = tr("Took {number:,} new texts from {name}", number=len(taken), name=name)
            self._events.emit(Change(ChangeKind.MENTIONS, who, text, taken))
        if reading.ids or taken:
            text = tr("Imported {number:,} documents from {name}", number=len(reading.ids), name=name)
            self._events.emit(Change(ChangeKind.IMPORTED, who, text, tuple(reading.ids)))

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
