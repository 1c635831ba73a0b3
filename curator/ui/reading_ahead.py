"""Looks into files beside the window's thread, one after another, a little at a time."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Generator
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from curator.domain.wording import tr
from curator.services.foreseeing import Foreseen
from curator.ui.latest import Latest

Steps = Generator[Foreseen, None, Foreseen]
Look = Callable[[Path], Steps]
SLICE, MOST = 0.15, 6.0
"""Seconds of reading at a time, and for each file by default; what is left then is estimated."""
log = logging.getLogger(__name__)


class ReadingAhead(QObject):
    """`found` tells of a file as soon as anything is known of it, and again as more is."""

    found = Signal(object)  # Foreseen

    def __init__(self, look: Look, parent: QObject | None = None, *, most: float = MOST) -> None:
        """`most`: seconds for each file; infinite, every number becomes exact in the end."""
        super().__init__(parent)
        self._look, self._most = look, most
        self._latest = Latest(self)
        self._latest.here = False
        self._waiting: deque[tuple[Path, Steps]] = deque()
        self._spent = 0.0

    @property
    def reading(self) -> bool:
        return bool(self._waiting)

    def use(self, look: Look) -> None:
        """Look so at the files that are added from now on."""
        self._look = look

    def add(self, path: Path) -> None:
        self._waiting.append((path, self._look(path)))
        if len(self._waiting) == 1:
            self._go_on()

    def drop(self, paths: Collection[Path]) -> None:
        """They are not wanted any more. The one that is being read is dropped at its next step."""
        kept = [one for number, one in enumerate(self._waiting) if not number or one[0] not in paths]
        self._waiting = deque(kept)

    def close(self, *, wait: bool = True) -> None:
        """Stop after the step that is under way; with `wait`, when it is over."""
        self._waiting.clear()
        self._latest.close(wait=wait)

    def _go_on(self) -> None:
        path, steps = self._waiting[0]
        self._latest.ask(lambda: _advance(path, steps), self._told)

    def _told(self, result: tuple[Foreseen | None, bool]) -> None:
        found, ended = result
        if not self._waiting:
            return
        self._spent += SLICE
        if ended or self._spent >= self._most:
            self._waiting.popleft()
            self._spent = 0.0
        if found is not None:
            self.found.emit(found)
        if self._waiting:
            self._go_on()


def _advance(path: Path, steps: Steps) -> tuple[Foreseen | None, bool]:
    """As far as a slice of time allows: the last that was told, and whether that is all."""
    until = time.monotonic() + SLICE
    found = None
    try:
        while time.monotonic() < until:
            found = next(steps)
    except StopIteration as end:
        return end.value, True
    except Exception:  # thread boundary: the import itself will say what is wrong
        log.exception("A file could not be looked into")
        return replace(found or Foreseen(path), problem=tr("This file could not be looked into.")), True
    return found, False
