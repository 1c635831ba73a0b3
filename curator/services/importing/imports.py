"""The list of imports, and undoing one.

Nothing is deleted: the documents of an undone import are hidden with all their records, and importing the same file
again shows them again. Documents that got a newer text from the file get their former text back. Ctrl+Z does not go
back beyond such a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from curator.domain.decisions import Change, ChangeKind, OperationKind
from curator.domain.documents import Handwork, ImportKind, ImportRecord
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.importing.text_taking import TextTaker, base_of
from curator.services.knowledge.knowledge import add_missing
from curator.services.ports.documents import TextMover
from curator.services.ports.storage import UnitOfWork


@dataclass(frozen=True, slots=True)
class FileImport:
    """The current state of a file in the list. `record` has the number of its last import, and counts, time and curator
    of the first; `undone` is when and by whom it was undone, `restored` when it was restored."""

    record: ImportRecord
    documents: int
    undone: ImportRecord | None = None
    restored: ImportRecord | None = None

    @property
    def at(self) -> datetime | None:
        return self.record.at


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The documents that undoing imports would hide. `given_back` are documents of other imports that get their former
    text."""

    files: tuple[FileImport, ...]
    documents: tuple[int, ...]
    given_back: tuple[int, ...]
    handwork: Handwork

    def words(self) -> list[str]:
        """Sentences about the effects."""
        number = len(self.documents)
        found = [ntr("{n:,} document is hidden.", "{n:,} documents are hidden.", number)] if number else []
        if self.given_back:
            found.append(
                ntr(
                    "{n:,} document gets its previous text back.",
                    "{n:,} documents get their previous texts back.",
                    len(self.given_back),
                )
            )
        if self.handwork:
            found.append(tr("Manual work in them: {work}.", work=handwork_words(self.handwork)))
        found.append(tr("Nothing is deleted: importing the same file again restores everything."))
        return found


def handwork_words(work: Handwork) -> str:
    """`12 decisions, 2 comments in 5 documents`; '' for none."""
    parts = [
        (work.decisions, ntr("{n:,} decision", "{n:,} decisions", work.decisions)),
        (work.mentions, ntr("{n:,} changed mention", "{n:,} changed mentions", work.mentions)),
        (work.comments, ntr("{n:,} comment", "{n:,} comments", work.comments)),
        (work.flags, ntr("{n:,} flag", "{n:,} flags", work.flags)),
        (work.judgements, ntr("{n:,} judgement", "{n:,} judgements", work.judgements)),
    ]
    listed = ", ".join(words for number, words in parts if number)
    where = ntr("in {n:,} document", "in {n:,} documents", work.documents)
    return tr("{what} {where}", what=listed, where=where) if listed else ""


class ImportList(Service):
    def __init__(self, context: Context, *, mover: TextMover) -> None:
        super().__init__(context)
        self._taker = TextTaker(mover, context.clock)

    def files(self) -> list[FileImport]:
        """Every imported file, the newest import first."""
        with self._store.read() as unit:
            return _files(unit)

    def last(self) -> tuple[int, ...]:
        """Ids of the files of the last import that was not undone; empty if there is none."""
        present = [one for one in self.files() if one.undone is None]
        if not present:
            return ()
        first = present[0].record
        return tuple(one.record.file.id for one in present if one.record.batch == first.batch and first.batch) or (
            first.file.id,
        )

    def shows(self, document_id: int) -> bool:
        """Whether the document is visible, that is, its import was not undone."""
        with self._store.read() as unit:
            return not unit.imports.is_withdrawn(unit.documents.get(document_id).source_file_id)

    def plan(self, file_ids: Sequence[int]) -> UndoPlan:
        """The effects of undoing these imports. Raises UserError for an import that is already undone."""
        with self._store.read() as unit:
            return _plan(unit, file_ids)

    def undo(self, file_ids: Sequence[int]) -> Change:
        """Hide the documents of these imports. Raises UserError for an import that is already undone."""
        who = self._curator()
        with self._store.write() as unit:
            plan = _plan(unit, file_ids)
            names = ", ".join(one.record.file.name for one in plan.files[:3]) + (", …" if len(plan.files) > 3 else "")
            text = tr("Undid the import of {names}", names=names)
            now = self._clock.now()
            payload = {"files": list(file_ids), "documents": list(plan.documents)}
            operation = unit.operations.append(
                OperationKind.WITHDRAW_IMPORT, actor=who, at=now, text=text, payload=payload
            )
            batch = unit.imports.next_batch()
            for one in plan.files:
                mine = set(unit.documents.ids_of_file(one.record.file.id)) & set(plan.documents)
                unit.imports.set_withdrawn(one.record.file.id, True)
                counts = {"documents hidden": len(mine)}
                unit.imports.record(
                    one.record.file.id, ImportKind.WITHDRAWN, batch=batch, curator=who, at=now, counts=counts
                )
            for document_id in plan.given_back:
                self._give_back(unit, document_id, who)
            add_missing(unit)
        touched = (*plan.documents, *plan.given_back)
        self._events.emit(Change(ChangeKind.MENTIONS, who, text, touched))  # the linker forgets them
        change = Change(ChangeKind.IMPORTED, who, text, touched, operation_id=operation)
        return self._emit(change)

    def _give_back(self, unit: UnitOfWork, document_id: int, who: str) -> None:
        """Restore its former text, repeatedly while the text comes from an undone import."""
        while base_of(unit, document_id):
            file_id = self._taker.give_back(unit, document_id, curator=who)
            if not unit.imports.is_withdrawn(file_id):
                return


def _files(unit: UnitOfWork) -> list[FileImport]:
    came: dict[int, ImportRecord] = {}
    undone: dict[int, ImportRecord | None] = {}
    restored: dict[int, ImportRecord] = {}
    for one in unit.imports.all():
        if one.kind is ImportKind.WITHDRAWN:
            undone[one.file.id] = one
            continue
        if one.kind is ImportKind.RESTORED:
            restored[one.file.id] = one
        first = came.get(one.file.id, one)
        came[one.file.id] = replace(one, counts=first.counts, at=first.at, curator=first.curator)
        undone[one.file.id] = None
    numbers = {
        one: len(unit.documents.ids_of_file(one)) if undone[one] is None else _hidden(undone[one]) for one in came
    }
    found = [FileImport(record, numbers[one], undone[one], restored.get(one)) for one, record in came.items()]
    return sorted(found, key=lambda one: (one.record.id, one.record.file.id), reverse=True)


def _hidden(record: ImportRecord | None) -> int:
    return record.counts.get("documents hidden", 0) if record is not None else 0


def _plan(unit: UnitOfWork, file_ids: Sequence[int]) -> UndoPlan:
    known = {one.record.file.id: one for one in _files(unit)}
    files = [known[one] for one in dict.fromkeys(file_ids) if one in known]
    if not files or any(one.undone is not None for one in files):
        raise UserError(tr("This import does not exist or was already undone; nothing was changed."))
    here = [document for one in files for document in unit.documents.ids_of_file(one.record.file.id)]
    given_back = [one for one in here if base_of(unit, one)]
    hidden = [one for one in here if one not in set(given_back)]
    return UndoPlan(tuple(files), tuple(hidden), tuple(given_back), unit.imports.handwork(here))
