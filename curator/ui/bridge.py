"""From worker threads to the window's thread: callbacks in, signals out."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal, Slot

from curator.domain.changes import Change
from curator.domain.jobs import JobOutcome, LinkerStatus, Progress
from curator.services.events import EventBus
from curator.services.suggestions import SuggestionService


def _nothing() -> None:
    return


class Bridge(QObject):
    """Emits in the window's thread what services and jobs tell from theirs.

    Every signal goes through the event loop, also from the window's own thread: a listener never runs in the middle
    of the action that caused it, so views see the changes in one order. After `close` nothing is emitted any more.
    """

    changed = Signal(object)  # Change
    linker = Signal(object)  # LinkerStatus
    progressed = Signal(int, object)  # job number, Progress
    ended = Signal(int, object)  # job number, JobOutcome

    _changed = Signal(object)
    _linker = Signal(object)
    _progressed = Signal(int, object)
    _ended = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._open = True
        self._unsubscribe: Callable[[], None] = _nothing
        queued = Qt.ConnectionType.QueuedConnection
        self._changed.connect(self._on_changed, queued)
        self._linker.connect(self._on_linker, queued)
        self._progressed.connect(self._on_progress, queued)
        self._ended.connect(self._on_end, queued)

    def listen(self, events: EventBus, suggestions: SuggestionService) -> None:
        self._unsubscribe = events.subscribe(self.tell_change)
        suggestions.on_status(self.tell_status)

    def close(self) -> None:
        """Nothing that arrives later is told."""
        self._open = False
        self._unsubscribe()

    # --- called from any thread ---

    def tell_change(self, change: Change) -> None:
        if self._open:
            self._changed.emit(change)

    def tell_status(self, status: LinkerStatus) -> None:
        if self._open:
            self._linker.emit(status)

    def tell_progress(self, job: int, progress: Progress) -> None:
        if self._open:
            self._progressed.emit(job, progress)

    def tell_end(self, job: int, outcome: JobOutcome) -> None:
        if self._open:
            self._ended.emit(job, outcome)

    # --- in the window's thread ---

    @Slot(object)
    def _on_changed(self, change: Change) -> None:
        if self._open:
            self.changed.emit(change)

    @Slot(object)
    def _on_linker(self, status: LinkerStatus) -> None:
        if self._open:
            self.linker.emit(status)

    @Slot(int, object)
    def _on_progress(self, job: int, progress: Progress) -> None:
        if self._open:
            self.progressed.emit(job, progress)

    @Slot(int, object)
    def _on_end(self, job: int, outcome: JobOutcome) -> None:
        if self._open:
            self.ended.emit(job, outcome)
