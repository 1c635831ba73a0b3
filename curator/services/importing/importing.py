"""Imports documents and knowledge bases into the project, in short transactions, visible only when complete.

A file is imported whole or not at all. Existing documents are left out, and existing documents with another text or
other annotations do not change unless chosen in `ImportChoices`. Each file is added to the list of imports.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path

from curator.domain.decisions import Change, ChangeKind
from curator.domain.documents import Changed, ImportKind, SourceDocument, SourceFile, Split
from curator.domain.jobs import Progress
from curator.domain.wording import UserError, ntr, tr, well_formed
from curator.services.core.context import Context, Service
from curator.services.importing.foreseeing import Foreseen, foresee_documents
from curator.services.importing.gold import GoldWriter
from curator.services.importing.import_comparing import Compared, Comparer, storable
from curator.services.importing.import_reading import (
    FileReading,
    ImportChoices,
    Wish,
    batches,
    spread,
    store_batch,
    with_head,
)
from curator.services.importing.import_report import KNOWN, FileProblem, ImportReport, ImportTally, joined
from curator.services.importing.import_sources import Left, Sources, sources_of
from curator.services.importing.kb_importing import KbResult, KbWish, KnowledgeImport
from curator.services.importing.text_taking import TextChange, TextTaker, plan_change
from curator.services.knowledge.knowledge import add_missing
from curator.services.ports.documents import TextMover
from curator.services.ports.files import DocumentFormat, FormatRegistry, Problem
from curator.services.ports.storage import UnitOfWork

__all__ = ["CONCERNED", "FileProblem", "ImportChoices", "ImportReport", "ImportService", "joined"]

CONCERNED = "decisions to review"  # effects of a new version of the knowledge base: see `remap_plan`
DOCUMENTS_PER_UNIT = 50
TOLD_EACH = 3
"""The number of previously imported files that are listed individually."""
CHANGES_NOTHING = "Already imported as {name}: nothing will change."
COMES_BACK = "Already imported as {name} and undone: its documents will be restored with all their decisions."


class ImportService(Service):
    """Each generator yields its progress and returns the report; closing it cancels and leaves nothing visible."""

    def __init__(self, context: Context, formats: FormatRegistry, *, mover: TextMover) -> None:
        super().__init__(context)
        self._formats = formats
        self._mover = mover

    def documents(
        self,
        paths: Sequence[Path],
        *,
        gold: bool = False,
        split: Split = Split.TRAIN,
        hold_out: int = 0,
        choices: ImportChoices | None = None,
        format_name: str = "",
        left: Sequence[Left] | None = None,
    ) -> Generator[Progress, None, ImportReport]:
        """Read document files, and the files of folders. With `gold` each annotation becomes a decision by
        `import:FILE`; `hold_out` documents, evenly spread over each file, get the split validation instead. Files are
        recognised by their content, or all have the format `format_name`. With `left` (files left out of folders),
        `paths` are the sources found in them, and nothing else is read.

        A file whose content was imported before changes nothing and is noted, so a stopped import is resumed by
        importing the same files again; a file whose import was undone becomes visible again. Raises UserError for a
        file that cannot be read (files before it in `paths` stay imported) and for gold without a knowledge base.
        """
        if gold and self._store_has_no_kb():
            raise UserError(
                tr(
                    "To import gold, Curator has to look up identifiers in a knowledge base. Import one "
                    "first (`curator kb import`)."
                )
            )
        tally = ImportTally()
        # a wrong file among several stops the import before anything is written
        formats = self._formats_as(format_name)
        found = sources_of(paths, formats) if left is None else Sources(tuple(paths), tuple(left))
        tally.problems += [problem for one in found.left for problem in one.problems()]
        with self._store.read() as unit:
            batch = unit.imports.next_batch()
        wish = Wish(gold, split, hold_out, choices or ImportChoices(), batch, format_name=format_name)
        for path in found.paths:
            yield from self._file(path, tally, wish)
        if (more := tally.counts[KNOWN] - TOLD_EACH) > 0:
            note = ntr("and {n:,} more file was already imported", "and {n:,} more files were already imported", more)
            tally.problems.append(FileProblem(str(found.paths[-1]), Problem(0, "note", note)))
        return tally.report()

    def _formats_as(self, format_name: str) -> FormatRegistry:
        """Raises UserError for an unknown format."""
        return self._formats.fixed(format_name) if format_name else self._formats

    def _known(self, unit: UnitOfWork, sha256: str, format_name: str) -> SourceFile | None:
        """The imported file with this content, unless another format is now chosen for it."""
        found = unit.files.find(sha256)
        return None if found is not None and format_name and found.format != format_name else found

    def preview(self, path: Path, format_name: str = "") -> Generator[Foreseen, None, Foreseen]:
        """A progressive preview of importing a source. Nothing is written; a source is a file or a collection found by
        `import_sources`."""
        known = ""
        try:
            formats = self._formats_as(format_name)
            sha256 = formats.digest(path)
            with self._store.read() as unit:
                file = self._known(unit, sha256, format_name)
                if file is not None:
                    known = tr(COMES_BACK if unit.imports.is_withdrawn(file.id) else CHANGES_NOTHING, name=file.name)
            comparer = Comparer(path, formats.recognise(path).name)
        except UserError as error:
            return Foreseen(path, problem=str(error))

        def compare(documents: Sequence[SourceDocument]) -> list[Compared]:
            with self._store.read() as unit:
                return comparer.compare(unit, documents)

        return (yield from foresee_documents(path, formats, compare=None if known else compare, known=known))

    def change(self, compared: Compared) -> TextChange:
        """The mentions that would move with a changed document's new text. Nothing is written."""
        with self._store.read() as unit:
            return plan_change(unit, compared.document_id, compared.source, self._mover)

    def knowledge_base(self, path: Path, wish: KbWish | None = None) -> Generator[Progress, None, ImportReport]:
        """Import a knowledge base: when complete, it replaces the previous one or is added to it. Raises UserError."""
        steps = KnowledgeImport(self._store, self._formats).read(path, wish or KbWish())
        return (yield from self._version(steps, [path], tr("from {name}", name=path.name)))

    def drop_source(self, name: str) -> Generator[Progress, None, ImportReport]:
        """Remove one of several sources from the knowledge base. Raises UserError."""
        return (
            yield from self._version(
                KnowledgeImport(self._store, self._formats).drop(name), [], tr("without {name}", name=name)
            )
        )

    def _version(
        self, steps: Generator[Progress, None, KbResult], paths: Sequence[Path], words: str
    ) -> Generator[Progress, None, ImportReport]:
        tally = ImportTally(files=[well_formed(str(path)) for path in paths])
        result = yield from steps
        tally.counts.update(result.counts)
        if result.concerned:
            tally.counts[CONCERNED] = result.concerned
        tally.note(paths[0] if paths else Path(), result.problems)
        text = ntr(
            "Imported {n} entity {words}",
            "Imported {n:,} entities {words}",
            tally.counts["entities"],
            words=words,
        )
        self._events.emit(Change(ChangeKind.KNOWLEDGE_BASE, self._curator(), text))
        return tally.report()

    def _store_has_no_kb(self) -> bool:
        with self._store.read() as unit:
            return unit.kb.info() is None

    def _file(self, path: Path, tally: ImportTally, wish: Wish) -> Generator[Progress, None, None]:
        sha256 = self._formats.digest(path)
        with self._store.read() as unit:
            known = self._known(unit, sha256, wish.format_name)
            withdrawn = known is not None and unit.imports.is_withdrawn(known.id)
        if known is not None and not withdrawn:
            wish.inside.append(known.id)
            _note_known(path, known, tally)
            return
        if known is not None:
            yield from self._bring_back(path, known, tally, wish)
            return
        format_ = self._formats_as(wish.format_name).recognise(path)
        reader = format_.open(path)
        where, name = well_formed(str(path.resolve())), well_formed(path.name)
        source = SourceFile(0, where, name, format_.name, sha256, imported_at=self._clock.now())
        reading = FileReading(source, reader, Comparer(path, format_.name), GoldWriter(name, self._clock), wish.inside)
        try:
            yield from self._read(reading, format_, wish)
            known = self._complete(reading, wish)
        except BaseException:  # cancelled or failed: nothing of it stays
            self._remove(reading)
            raise
        if known is not None:
            self._remove(reading)
            _note_known(path, known, tally)
            return
        tally.files.append(well_formed(str(path)))
        tally.note(path, [*(reading.gold.problems() if wish.gold else ()), *reader.problems, *reading.notes()])
        tally.counts.update(+reading.counts)
        name = reading.source.name
        self._tell(
            reading,
            ntr(
                "Imported {n} document from {name}",
                "Imported {n:,} documents from {name}",
                len(reading.ids),
                name=name,
            ),
        )

    def _bring_back(
        self, path: Path, known: SourceFile, tally: ImportTally, wish: Wish
    ) -> Generator[Progress, None, None]:
        """Show the documents of an undone import again, and update to its texts if chosen."""
        format_ = self._formats_as(wish.format_name).recognise(path)
        reader = format_.open(path)
        reading = FileReading(
            known, reader, Comparer(path, known.format), GoldWriter(known.name, self._clock), file_id=known.id
        )
        if Changed.TAKE in (wish.choices.usual, *wish.choices.of.values()):
            for batch in batches(storable(reader, format_), DOCUMENTS_PER_UNIT):
                with self._store.read() as unit:
                    reading.sort(reading.comparer.compare(unit, batch), wish.choices)
                yield Progress(tr("import {name}", name=known.name), *reader.position)
        reading.counts.clear()
        with self._store.write() as unit:
            unit.imports.set_withdrawn(known.id, False)
            reading.ids = unit.documents.ids_of_file(known.id)
            reading.counts["documents brought back"] = len(reading.ids)
            self._take(unit, reading, wish)
            self._record(unit, reading, ImportKind.RESTORED, wish)
        tally.files.append(well_formed(str(path)))
        tally.counts.update(+reading.counts)
        note = tr("already imported and undone; its documents were restored with all their decisions")
        tally.note(path, [Problem(0, "note", note)])
        self._tell(
            reading,
            ntr(
                "Restored {n} document of {name}",
                "Restored {n:,} documents of {name}",
                len(reading.ids),
                name=known.name,
            ),
        )

    def _read(self, reading: FileReading, format_: DocumentFormat, wish: Wish) -> Generator[Progress, None, None]:
        """Store the new documents of a still invisible file; those to update wait for its end."""
        any_read = False
        for batch in batches(storable(reading.reader, format_), DOCUMENTS_PER_UNIT):
            any_read = True
            with self._store.write() as unit:
                new = reading.sort(reading.comparer.compare(unit, batch), wish.choices)
                if new:
                    if not reading.file_id:  # the reader knows the head when it yields its first document
                        reading.file_id = unit.files.add(with_head(reading.source, reading.reader))
                    gold = reading.gold if wish.gold else None
                    reading.ids += store_batch(unit, reading.file_id, new, wish.split, gold)
            reading.stored = reading.file_id
            reading.counts.update(documents=len(new), mentions=sum(len(one.mentions) for one in new))
            done, total = reading.reader.position
            words = ntr("{n:,} document", "{n:,} documents", reading.read)
            yield Progress(tr("import {name}", name=reading.source.name), done, total, words)
        if not any_read:
            path = reading.source.path
            if first := next(iter(reading.reader.problems), None):
                raise UserError(tr("{path}, line {line}: {text}", path=path, line=first.line, text=first.text))
            raise UserError(tr("{path} contains no readable document. Check its format.", path=path))

    def _remove(self, reading: FileReading) -> None:
        # on a full disk this fails too; then it is removed when the project is next opened
        if reading.stored:
            with suppress(UserError), self._store.write() as unit:
                unit.files.remove(reading.stored)

    def _complete(self, reading: FileReading, wish: Wish) -> SourceFile | None:
        """Make the whole file visible at once, together with the chosen text updates. If somebody else has imported it
        meanwhile, nothing is changed, and their file is returned."""
        reader = reading.reader
        if not reading.ids and not reading.to_take:
            return None  # it has nothing new
        with self._store.write() as unit:
            known = self._known(unit, reading.source.sha256, wish.format_name)
            if known is not None and not unit.imports.is_withdrawn(known.id):
                return known
            if not reading.file_id:
                reading.file_id = unit.files.add(with_head(reading.source, reader))
            unit.documents.set_split(spread(reading.ids, wish.hold_out), Split.VALIDATION)
            unit.files.complete(reading.file_id, tail=reader.tail.replace("\0", "\ufffd"), extra=reader.extra)
            self._take(unit, reading, wish)
            if wish.gold:
                reading.counts.update(reading.gold.counts)
            self._record(unit, reading, ImportKind.IMPORTED, wish)
        wish.inside.append(reading.file_id)
        return None

    def _take(self, unit: UnitOfWork, reading: FileReading, wish: Wish) -> None:
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

    def _record(self, unit: UnitOfWork, reading: FileReading, kind: ImportKind, wish: Wish) -> None:
        unit.imports.record(
            reading.file_id,
            kind,
            batch=wish.batch,
            curator=self._curator(),
            at=self._clock.now(),
            counts=+reading.counts,
        )
        add_missing(unit)

    def _tell(self, reading: FileReading, text: str) -> None:
        taken, name, who = tuple(reading.to_take), reading.source.name, self._curator()
        if taken:
            said = ntr(
                "Updated {n} text from {name}",
                "Updated {n:,} texts from {name}",
                len(taken),
                name=name,
            )
            self._events.emit(Change(ChangeKind.MENTIONS, who, said, taken))
        if reading.ids or taken:
            self._events.emit(Change(ChangeKind.IMPORTED, who, text, tuple(reading.ids)))


def _note_known(path: Path, known: SourceFile, tally: ImportTally) -> None:
    tally.counts[KNOWN] += 1
    if tally.counts[KNOWN] <= TOLD_EACH:
        note = tr("already imported as {name}; nothing was changed", name=known.name)
        tally.note(path, [Problem(0, "note", note)])
