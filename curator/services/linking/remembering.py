"""Keeps the linker's memory equal to the current link and NIL decisions of train documents.

A document is sent as a whole after each change: absent decisions are forgotten, so undo needs no special handling.
Documents of other splits are not sent. A restarted linker process gets all of them again, in small requests.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from itertools import islice

from curator.domain.decisions import Change, ChangeKind, Outcome
from curator.domain.documents import Split
from curator.domain.entities import Entity
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus, Progress
from curator.domain.wording import LinkerUnavailableError, tr
from curator.services.core.context import Context, Service
from curator.services.ports.processes import DecidedDocument, DecidedMention, LinkerPort, LinkMention
from curator.services.ports.storage import Store, UnitOfWork

PER_REQUEST = 16
PER_LESSON = 64
TICK = 0.2
"""Seconds between two checks for cancellation while the linker learns."""
MOMENT = 0.05
"""Seconds for painting after a key press; decisions made meanwhile are sent together."""
TEACHES = {ChangeKind.DECIDED, ChangeKind.MENTIONS, ChangeKind.ENTITIES}
TEACHES_ALL = {ChangeKind.IMPORTED, ChangeKind.KNOWLEDGE_BASE, ChangeKind.TYPE_MAPPING}
REMEMBERED = (Outcome.LINK, Outcome.NIL)
NOT_LEARNT = "The linker could not learn the project's decisions and new entities: {message} Try again."
log = logging.getLogger(__name__)


def teach(linker: LinkerPort, store: Store) -> Generator[Progress, None, None]:
    """Give the linker's memory the decisions of all train documents. Raises UserError and LinkerUnavailableError."""
    ids = _teaching(store)
    for at in range(0, len(ids), PER_LESSON):
        documents = [one for one in decided_documents(store, ids[at : at + PER_LESSON]) if one.mentions]
        if documents:
            inbox: queue.SimpleQueue[JobOutcome] = queue.SimpleQueue()
            linker.remember(documents, on_end=inbox.put)
            yield from _finished(inbox, Progress("remember decisions", at, len(ids)))
        yield Progress("remember decisions", min(at + PER_LESSON, len(ids)), len(ids))


def taught_documents(store: Store) -> list[DecidedDocument]:
    """The documents that `teach` gives to a linker, all at once."""
    return [one for one in decided_documents(store, _teaching(store)) if one.mentions]


def _teaching(store: Store) -> Sequence[int]:
    with store.read() as unit:
        return unit.documents.ids(split=Split.TRAIN, answered=True)


def _finished(inbox: queue.SimpleQueue[JobOutcome], waiting: Progress) -> Generator[Progress, None, None]:
    """Wait until the linker has taken something in. Raises LinkerUnavailableError if it could not."""
    outcome = None
    while outcome is None:
        yield waiting
        with suppress(queue.Empty):
            outcome = inbox.get(timeout=TICK)
    if outcome.state is not JobState.DONE:
        raise LinkerUnavailableError(tr(NOT_LEARNT, message=outcome.message))


def decided_documents(store: Store, document_ids: Sequence[int]) -> list[DecidedDocument]:
    """The content of the memory for these documents; those without mentions are to be forgotten."""
    with store.read() as unit:
        return [_decided(unit, one) for one in document_ids]


class MemoryService(Service):
    """Reads and sends in its own thread, a moment after the change: nothing is read for the memory before the window
    responds to the key. Changes made meanwhile are sent together. Nothing is lost if some are not sent when the project
    closes: the next linker process learns from the stored decisions.

    `learnt` is called, in that thread, whenever the memory has changed.
    """

    def __init__(self, context: Context, linker: LinkerPort, *, learnt: Callable[[], None]) -> None:
        super().__init__(context)
        self._linker = linker
        self._learnt = learnt
        self._process = 0  # the linker process whose memory is current
        self._news = threading.Condition()  # guards these four
        self._closed = False
        self._everything = False  # whether to teach all train documents again
        self._resting = False  # whether nothing is read or sent
        self._fresh: dict[int, None] = {}  # documents that have changed just now
        self._unlisted = False  # whether to teach all, before they have been listed
        self._changed: dict[int, None] = {}  # documents in order that may be forgotten in part
        self._left: dict[int, None] = {}  # other documents to teach
        self._failure = ""  # why some could not be taught
        self._thread = threading.Thread(target=self._work, name="linker memory", daemon=True)

    def start(self) -> None:
        """Listen to changes and to the linker. Does nothing in a read-only project."""
        if self._store.read_only:
            return
        self._thread.start()
        self._linker.on_status(self._status_changed)
        self._events.subscribe(self._heard)
        self._status_changed(self._linker.status)

    def close(self) -> None:
        """Stop; nothing is read after this returns."""
        with self._news:
            self._closed = True
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def current(self) -> Generator[Progress, None, None]:
        """Wait until the linker, which is ready, has learnt every decision made before the call; where this service was
        not started, as for a single command, teach it here. Raises LinkerUnavailableError if it could not learn."""
        if not self._thread.is_alive():
            yield from teach(self._linker, self._store)
            return
        if self._is_current() and (self._changed or self._left):
            self._wake(everything=True)  # what failed before
        while not self._is_current():
            if (status := self._linker.status).state is LinkerState.FAILED:
                raise LinkerUnavailableError(status.message)
            yield Progress("remember decisions", 0, 0)
            with self._news:
                self._news.wait_for(self._is_current, TICK)
        if self._changed or self._left:
            raise LinkerUnavailableError(tr(NOT_LEARNT, message=self._failure))

    def _is_current(self) -> bool:
        waiting = self._fresh or self._everything or not self._resting
        return self._closed or (not waiting and self._process == self._linker.status.process)

    # --- in any thread ---

    def _status_changed(self, status: LinkerStatus) -> None:
        if status.state is LinkerState.READY and status.process != self._process:
            self._process = status.process
            self._wake(everything=True)

    def _heard(self, change: Change) -> None:
        if not self._process:
            return
        if change.kind in TEACHES_ALL:
            self._wake(everything=True)
        elif change.kind in TEACHES and change.document_ids:
            self._wake(change.document_ids)

    def _wake(self, changed: Sequence[int] = (), *, everything: bool = False) -> None:
        with self._news:
            self._everything |= everything
            self._fresh |= dict.fromkeys(changed)
            self._news.notify_all()

    # --- in the memory's thread ---

    def _work(self) -> None:
        while self._rest():
            try:
                self._teach()
            except Exception as error:  # the rest is sent with the next change
                self._failure = str(error)
                log.exception("Decisions could not be taught")

    def _rest(self) -> bool:
        """Wait until there is something to do and the window has responded to the key; False at the end."""
        with self._news:
            self._resting = True
            self._news.notify_all()
            self._news.wait_for(lambda: self._fresh or self._everything or self._closed)
            self._resting = False
            self._news.wait_for(lambda: self._closed, MOMENT)
            self._changed |= self._fresh
            self._unlisted |= self._everything
            self._fresh, self._everything = {}, False
            return not self._closed

    def _teach(self) -> None:
        """Send documents in small requests, changed ones first, until there is something newer."""
        if self._unlisted:
            self._left = dict.fromkeys(_teaching(self._store))
            self._unlisted = False
        while not (self._closed or self._fresh) and (waiting := self._changed or self._left):
            part = list(islice(waiting, PER_REQUEST))
            changed = waiting is self._changed
            documents = [one for one in decided_documents(self._store, part) if one.mentions or changed]
            for one in part:
                self._changed.pop(one, None)
                self._left.pop(one, None)
            if documents and not self._taken_in(documents):
                return
            if not waiting:
                self._learnt()

    def _taken_in(self, documents: Sequence[DecidedDocument]) -> bool:
        outcomes: list[JobOutcome] = []

        def end(outcome: JobOutcome) -> None:
            with self._news:
                outcomes.append(outcome)
                self._news.notify_all()

        self._linker.remember(documents, on_end=end)
        with self._news:
            self._news.wait_for(lambda: self._closed or outcomes)
        if self._closed or outcomes[0].state is JobState.DONE:
            return not self._closed
        self._failure = outcomes[0].message
        if outcomes[0].state is not JobState.CANCELLED:
            log.warning("The linker could not take decisions in: %s", self._failure)
        return False


def _decided(unit: UnitOfWork, document_id: int) -> DecidedDocument:
    document = unit.documents.get(document_id)
    if document.split is not Split.TRAIN or unit.imports.is_withdrawn(document.source_file_id):
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


# Keeps the linker's entities equal to the provisional ones: new entities are suggested from the next answer on. A
# bundle knows only the entities it was built with, so every bundle put into use gets all of them again. Within one
# bundle only differences are sent; the linker itself repeats them to a process that it restarts.


class EntityTeacher(Service):
    """`learnt` is called, in the linker's thread, whenever its entities have changed."""

    def __init__(self, context: Context, linker: LinkerPort, *, learnt: Callable[[], None]) -> None:
        super().__init__(context)
        self._linker = linker
        self._learnt = learnt
        self._lock = threading.Lock()
        self._bundle = ""  # the bundle that got the entities
        self._taught: dict[str, Entity] = {}
        self._closed = False

    def start(self) -> None:
        """Listen to changes and to the linker. Does nothing in a read-only project."""
        if self._store.read_only:
            return
        self._linker.on_status(self._status_changed)
        self._events.subscribe(self._changed)
        self._status_changed(self._linker.status)

    def close(self) -> None:
        self._closed = True

    def _status_changed(self, status: LinkerStatus) -> None:
        if status.state is LinkerState.READY and status.bundle_id != self._bundle and not self._closed:
            with self._lock:
                self._bundle, self._taught = status.bundle_id, {}
            try:
                self._send()
            except BaseException:  # it is tried again with the next status
                self._bundle = ""
                raise

    def _changed(self, change: Change) -> None:
        if change.kind is ChangeKind.ENTITIES and self._bundle and not self._closed:
            self._send()

    def _send(self) -> None:
        wanted = wanted_entities(self._store)
        with self._lock:
            upsert = [one for one in wanted.values() if self._taught.get(one.id) != one]
            remove = [one for one in self._taught if one not in wanted]
            self._taught = wanted
        if upsert or remove:
            self._linker.change_entities(upsert=upsert, remove=remove, on_end=self._ended)

    def _ended(self, outcome: JobOutcome) -> None:
        if outcome.state is JobState.DONE and not self._closed:
            self._learnt()
        elif outcome.state is not JobState.CANCELLED:
            log.warning("The linker could not take new entities in: %s", outcome.message)
            with self._lock:
                self._taught = {}


def wanted_entities(store: Store) -> dict[str, Entity]:
    """The provisional entities that can be linked to and are not in any bundle."""
    with store.read() as unit:
        outside = unit.kb.provisional_only()
        return {one.id: one.entity for one in unit.kb.all_provisional() if one.id in outside}


def teach_entities(linker: LinkerPort, store: Store) -> Generator[Progress, None, None]:
    """Give the linker in use all provisional entities. Raises LinkerUnavailableError if it is not available."""
    wanted = wanted_entities(store)
    if not wanted:
        return
    inbox: queue.SimpleQueue[JobOutcome] = queue.SimpleQueue()
    linker.change_entities(upsert=list(wanted.values()), remove=(), on_end=inbox.put)
    yield from _finished(inbox, Progress("new entities", 0, len(wanted)))
