"""Previews files in a background thread, one after another."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Generator
from dataclasses import replace
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, Signal

from curator.domain.wording import CancelledError, tr
from curator.services.importing.foreseeing import Foreseen
from curator.ui.kit.worker import Deliver, Worker

Steps = Generator[Foreseen, None, Foreseen]
Look = Callable[[Path], Steps]
SLICE, MOST = 0.15, 6.0
"""Seconds between two reports, and the limit for each file; the rest is estimated."""
log = logging.getLogger(__name__)


class FilePreviewer(QObject):
    """`found` reports a file as soon as anything is known about it, and again with each update."""

    found = Signal(object)  # Foreseen

    def __init__(self, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._worker = Worker(self, in_turn=True)
        self._dropped: dict[Path, Event] = {}

    @property
    def reading(self) -> bool:
        return self._worker.busy

    def use(self, look: Look) -> None:
        """Use this preview function for files added from now on."""
        self._look = look

    def add(self, path: Path) -> None:
        steps, stop = self._look(path), self._worker.stop
        dropped = self._dropped[path] = Event()
        report = self._worker.reporter(self._tell)
        self._worker.ask(lambda: _read(path, steps, report, (stop, dropped)), self._tell)

    def drop(self, paths: Collection[Path]) -> None:
        """Remove files; the one being read stops at its next step."""
        for path in paths:
            if path in self._dropped:
                self._dropped.pop(path).set()

    def close(self) -> None:
        """Stop after the current step, and report nothing more."""
        self._worker.close()

    def abandon(self) -> None:
        """The same if `look` uses only the file: a project that is closed does not wait for the current step."""
        self._worker.stop.set()

    def _tell(self, found: Foreseen) -> None:
        self.found.emit(found)


def _read(path: Path, steps: Steps, report: Deliver, stops: Collection[Event]) -> Foreseen:
    """Return the preview at the end of the file or of its time limit; reports progress after every slice."""
    spent = 0.0
    while not any(one.is_set() for one in stops):
        found, ended = _advance(path, steps)
        spent += SLICE
        if ended or spent >= MOST:
            return found
        report(found)
    raise CancelledError


def _advance(path: Path, steps: Steps) -> tuple[Foreseen, bool]:
    """Read for a slice of time, at least one step; return the preview and whether it is complete."""
    until = time.monotonic() + SLICE
    found = Foreseen(path)
    try:
        found = next(steps)
        while time.monotonic() < until:
            found = next(steps)
    except StopIteration as end:
        return end.value, True
    except Exception:  # thread boundary: the import itself will report the error
        log.exception("A file could not be looked into")
        return replace(found, problem=tr("This file could not be read.")), True
    return found, False
