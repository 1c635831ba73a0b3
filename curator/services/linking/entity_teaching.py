"""Keeps the linker's entities equal to the provisional ones: what was made is suggested from the next answer on.

A bundle knows the entities that it was built with, so whatever bundle serves is told all of them anew. Within one
bundle only differences are sent; the linker itself repeats them to a process that it restarts.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Generator

from curator.domain.changes import Change, ChangeKind
from curator.domain.entities import Entity
from curator.domain.errors import LinkerUnavailableError
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus, Progress
from curator.domain.wording import tr
from curator.services.core.events import EventBus
from curator.services.ports import LinkerPort, Store

TICK = 0.2
log = logging.getLogger(__name__)


class EntityTeacher:
    """`learnt` is called, in the linker's thread, whenever its entities have changed."""

    def __init__(self, store: Store, linker: LinkerPort, events: EventBus, *, learnt: Callable[[], None]) -> None:
        self._store = store
        self._linker = linker
        self._events = events
        self._learnt = learnt
        self._lock = threading.Lock()
        self._bundle = ""  # the bundle that was taught
        self._taught: dict[str, Entity] = {}
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
        if status.state is LinkerState.READY and status.bundle_id != self._bundle and not self._closed:
            with self._lock:
                self._bundle, self._taught = status.bundle_id, {}
            self._send()

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
    """The provisional entities that can be linked to and that no bundle holds by itself."""
    with store.read() as unit:
        outside = unit.kb.provisional_only()
        return {one.id: one.entity for one in unit.kb.all_provisional() if one.id in outside}


def teach_entities(linker: LinkerPort, store: Store) -> Generator[Progress, None, None]:
    """Tell the linker that serves all provisional entities. Raises LinkerUnavailableError where it cannot."""
    wanted = wanted_entities(store)
    if not wanted:
        return
    inbox: queue.SimpleQueue[JobOutcome] = queue.SimpleQueue()
    linker.change_entities(upsert=list(wanted.values()), remove=(), on_end=inbox.put)
    while True:
        yield Progress("new entities", 0, len(wanted))
        try:
            outcome = inbox.get(timeout=TICK)
        except queue.Empty:
            continue
        if outcome.state is not JobState.DONE:
            raise LinkerUnavailableError(
                tr("The linker could not take new entities in: {message} Try again.", message=outcome.message)
            )
        return
