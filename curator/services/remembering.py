"""Keeps the linker's memory equal to the current link and NIL decisions of train documents.

A document is sent whole after each change: what is absent is forgotten, so undo needs nothing of its own. Documents of
other splits teach nothing. A linker process that was started anew is taught anew, in small requests.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from curator.domain.changes import Change, ChangeKind
from curator.domain.decisions import Outcome
from curator.domain.documents import Split
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus
from curator.services.events import EventBus
from curator.services.ports import DecidedDocument, DecidedMention, LinkerPort, LinkMention, Store, UnitOfWork

PER_REQUEST = 16
TEACHES = {ChangeKind.DECIDED, ChangeKind.MENTIONS, ChangeKind.ENTITIES}
TEACHES_ALL = {ChangeKind.IMPORTED, ChangeKind.KNOWLEDGE_BASE, ChangeKind.TYPE_MAPPING}
REMEMBERED = (Outcome.LINK, Outcome.NIL)
log = logging.getLogger(__name__)


def decided_documents(store: Store, document_ids: Sequence[int]) -> list[DecidedDocument]:
    """What the memory should hold of these documents; those without mentions are to be forgotten."""
    with store.read() as unit:
        return [_decided(unit, one) for one in document_ids]


class MemoryService:
    """`learnt` is called, in the linker's thread, whenever the memory has changed."""

    def __init__(self, store: Store, linker: LinkerPort, events: EventBus, *, learnt: Callable[[], None]) -> None:
        self._store = store
        self._linker = linker
        self._events = events
        self._learnt = learnt
        self._lock = threading.Lock()
        self._process = 0  # the linker process that was taught
        self._left: list[int] = []  # documents still to be taught
        self._changed_ones: set[int] = set()  # those of them of which something may have to be forgotten
        self._teaching = False
        self._closed = False

    def start(self) -> None:
        """Listen to changes and to the linker. Does nothing on a read-only project."""
        if self._store.read_only:
            return
        self._linker.on_status(self._status_changed)
        self._events.subscribe(self._changed)
        self._status_changed(self._linker.status)

    def close(self) -> None:
        self._closed = True

    def _status_changed(self, status: LinkerStatus) -> None:
        if status.state is LinkerState.READY and status.process != self._process and not self._closed:
            self._process = status.process
            self._teach_all()

    def _changed(self, change: Change) -> None:
        if self._closed or not self._process:
            return
        if change.kind in TEACHES_ALL:
            self._teach_all()
        elif change.kind in TEACHES and len(change.document_ids) > PER_REQUEST:
            self._teach([*self._left, *change.document_ids], changed=change.document_ids)
        elif change.kind in TEACHES and change.document_ids:
            self._send(change.document_ids)

    def _teach_all(self) -> None:
        with self._store.read() as unit:
            ids = unit.documents.ids(split=Split.TRAIN, answered=True)
        self._teach([*ids, *self._changed_ones])

    def _teach(self, document_ids: Sequence[int], *, changed: Sequence[int] = ()) -> None:
        """In small requests, of which all but the first are made in the linker's thread: a step over thousands of
        documents must not hold up the window."""
        with self._lock:
            self._left = list(dict.fromkeys(document_ids))
            self._changed_ones |= set(changed)
            begin, self._teaching = not self._teaching, True
        if begin:
            self._next()

    def _next(self) -> None:
        """Send the next part that holds any decision; after the last one all is learnt."""
        while not self._closed:
            with self._lock:
                part, self._left = self._left[:PER_REQUEST], self._left[PER_REQUEST:]
                self._teaching = bool(part)
            if not part:
                self._learnt()
                return
            with self._lock:
                changed, self._changed_ones = self._changed_ones & set(part), self._changed_ones - set(part)
            documents = [one for one in decided_documents(self._store, part) if one.mentions or one.id in changed]
            if documents:
                self._linker.remember(documents, on_end=self._part_ended)
                return

    def _part_ended(self, outcome: JobOutcome) -> None:
        if _succeeded(outcome):
            self._next()
        else:
            with self._lock:
                self._teaching = False

    def _send(self, document_ids: Sequence[int]) -> None:
        self._linker.remember(decided_documents(self._store, document_ids), on_end=self._ended)

    def _ended(self, outcome: JobOutcome) -> None:
        if _succeeded(outcome) and not self._closed:
            self._learnt()


def _succeeded(outcome: JobOutcome) -> bool:
    if outcome.state not in (JobState.DONE, JobState.CANCELLED):
        log.warning("The linker could not take decisions in: %s", outcome.message)
    return outcome.state is JobState.DONE


def _decided(unit: UnitOfWork, document_id: int) -> DecidedDocument:
    document = unit.documents.get(document_id)
    if document.split is not Split.TRAIN or unit.documents.is_withdrawn(document.source_file_id):
        return DecidedDocument(document_id, "", ())
    current = unit.decisions.current_of_document(document_id)
    mapping = unit.meta.type_mapping()
    mentions = []
    for mention in unit.mentions.of_document(document_id) if current else ():
        decision = current.get(mention.id)
        if decision is not None and decision.verdict.outcome in REMEMBERED:
            asked = LinkMention(mention.id, mention.spans, mapping.types_for(mention.type))
            mentions.append(DecidedMention(asked, decision.verdict.entity_ids))
    return DecidedDocument(document_id, document.text, tuple(mentions))
