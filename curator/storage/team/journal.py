"""The journal of this computer: steps that are saved here and not yet on the server.

One line of JSON per step, in the order in which they were taken, and on the disk when `put` returns. A step that was
sent gets a line of its own; a journal without unsent steps is deleted. A line that was cut off by the end of the
program was never called saved, and is ignored.

Each process has a folder of its own, which it locks. At its start it also takes over the folders that nobody holds:
those of killed processes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from curator.domain.wording import ProjectLockedError, UserError, tr
from curator.storage.db.lock import ProjectLock
from curator.storage.db.syncing import sync_folder

Step = Mapping[str, Any]
"""A step as data, with its `key` and the time `at`."""
FOLDER, FILE = "unsent", "steps.jsonl"
NOT_KEPT = (
    "{path} cannot be written ({strerror}), so nothing was saved, neither here nor on the server. Check the disk."
)
UNREAD = (
    "{path} cannot be read ({strerror}). It may hold steps that are not yet on the server, so nothing was opened and "
    "nothing was changed. Open the project again, and check the disk."
)
log = logging.getLogger(__name__)


class Journal:
    """The journal of a shared project, in its folder on this computer. Thread-safe."""

    def __init__(self, folder: Path, login: str, person: str = "") -> None:
        """Take over what earlier processes with the same login left: the server may refuse another's steps. Also those
        of the same `person`, whose login was renamed. Raises UserError if the folder cannot be written, or a journal
        cannot be read: it would be deleted with its steps as soon as this process has sent its own."""
        self._guard = threading.Lock()
        self._places: list[Path] = []
        self._locks: list[ProjectLock] = []
        self._pending: dict[str, Step] = {}
        self._root = folder / FOLDER / hashlib.sha256(login.encode()).hexdigest()[:16]
        try:
            found = self._taken_over(person)
        except BaseException:
            self.close()
            raise
        self._pending = {one["key"]: one for one in sorted(found, key=lambda one: str(one["at"]))}

    def _taken_over(self, person: str) -> list[Step]:
        found: list[Step] = []
        for place in sorted(self._root.parent.glob("*/*")):
            if (place.parent == self._root or _all_of(place / FILE, person)) and self._take(place):
                try:
                    found += _unsent(place / FILE)
                except OSError as error:
                    raise UserError(tr(UNREAD, path=place / FILE, strerror=error.strerror or error)) from error
        return found

    def _take(self, place: Path) -> bool:
        lock = ProjectLock(place)
        try:
            lock.acquire()
        except ProjectLockedError:
            return False
        self._places.append(place)
        self._locks.append(lock)
        return True

    @property
    def pending(self) -> list[Step]:
        """Unsent steps, oldest first."""
        with self._guard:
            return list(self._pending.values())

    def __len__(self) -> int:
        return len(self._pending)

    def put(self, step: Step) -> None:
        """Keep the step; it is on the disk afterwards. Raises UserError, and keeps nothing of it, if that fails."""
        with self._guard:
            self._append(step)
            self._pending[step["key"]] = step

    def sent(self, key: str, why_not: str = "") -> None:
        """Forget a step that is on the server. `why_not`: it was refused there; then it stays in the file."""
        with self._guard:
            self._append({"sent": key, "refused": why_not} if why_not else {"sent": key}, sync=False)  # or sent again
            del self._pending[key]
            if not self._pending:
                self._clear()

    def close(self) -> None:
        with self._guard:
            for place, lock in zip(self._places, self._locks, strict=True):
                lock.release()
                with suppress(OSError):
                    (place / "project.lock").unlink()
                    place.rmdir()  # only if it is empty
            self._places, self._locks = [], []

    def _append(self, line: Mapping[str, Any], *, sync: bool = True) -> None:
        if not self._places:
            self._make()
        path = self._places[0] / FILE
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        try:
            fresh = not path.exists()
            with path.open("ab") as out:
                end = out.tell()
                try:
                    out.write(data)
                    out.flush()
                    if sync:
                        os.fsync(out.fileno())
                except OSError:
                    out.truncate(end)
                    raise
            if fresh:
                sync_folder(path.parent)
        except OSError as error:
            raise UserError(tr(NOT_KEPT, path=path, strerror=error.strerror or error)) from error

    def _make(self) -> None:
        try:
            for number in count():
                place = self._root / str(number)
                place.mkdir(parents=True, exist_ok=True)
                if self._take(place):
                    sync_folder(self._root)
                    return
        except OSError as error:
            raise UserError(tr(NOT_KEPT, path=self._root, strerror=error.strerror or error)) from error

    def _clear(self) -> None:
        """Delete the files, but those with refused steps."""
        for place in self._places:
            path = place / FILE
            with suppress(OSError):
                if not any("sent" in line and "refused" in line for line in _lines(path)[0]):
                    path.unlink()


def _all_of(path: Path, person: str) -> bool:
    """Whether it holds unsent steps, and only those of this person. Another process may be writing it. False if it
    cannot be read: then it stays as it is."""
    try:
        return bool(person) and {one.get("curator") for one in _read(path)[0]} == {person}
    except OSError:
        return False


def _unsent(path: Path) -> list[Step]:
    """The unsent steps. Raises OSError."""
    steps, whole = _read(path)
    if not whole:  # or the next line would continue it
        with suppress(OSError), path.open("ab") as out:
            out.write(b"\n")
    return steps


def _read(path: Path) -> tuple[list[Step], bool]:
    """The unsent steps, and whether the last line is whole. Raises OSError, but not for a missing file."""
    steps: dict[str, Step] = {}
    lines, whole = _lines(path)
    for step in lines:
        if "sent" in step:
            steps.pop(step["sent"], None)
        else:
            steps[step["key"]] = step
    return list(steps.values()), whole


def _lines(path: Path) -> tuple[list[Step], bool]:
    """The steps and what was noted about them, and whether the last line is whole. Raises OSError, but not for a
    missing file."""
    found: list[Step] = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return [], True
    for line in lines[:-1]:  # the last one is empty, or was cut off
        try:
            step = json.loads(line)
            if not isinstance(step.get("sent", step.get("key")), str):
                raise ValueError("neither a step nor a note about one")
            found.append(step)
        except (ValueError, AttributeError):
            log.exception("A line of %s cannot be read", path)
    return found, not lines[-1]
