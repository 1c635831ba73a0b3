"""Automatic backups and checks of the project, in a thread.

In the window a backup is made every hour in which something changed, and after the project was closed. A command makes
one if the last one is older than an hour. Failures do not stop the work: they are reported once, and retried.

Nobody hears of a failure after the project was closed. So soon after the next opening, a backup is made of what none
holds yet. It fails for the same reason, which is then reported, or it makes up for the other. Nothing is remembered for
this: a full disk would not allow it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from curator.boundary import logged
from curator.domain.wording import CancelledError, UserError, localised, tr
from curator.services.core.context import Context, Service
from curator.services.ports.curation import StepFilter
from curator.services.ports.safety import Backup, BackupStore, Checked

log = logging.getLogger(__name__)
Trouble = Callable[[str], None]
SETTLED = 20.0
"""Seconds after opening before the project is backed up and checked: the linker starts first."""
HOUR = 3600.0
REST = 0.004
"""Seconds between two steps of a copy or a check, so that no key waits for either."""

BUG = "An automatic backup or check failed because of an error in Curator ({error}). Curator tries again in an hour."
BEHIND = (
    "The clock of this computer is behind: it says {now}, and the last step in this project is of {last}. Check the "
    "date, because decisions get this time. Their order, undoing and backups do not depend on it."
)


class BackupService(Service):
    """The backups of an open project. `begin` is for a session in the window; a command has none."""

    def __init__(self, context: Context, backups: BackupStore) -> None:
        super().__init__(context)
        self._backups = backups
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._listeners: list[Trouble] = []
        self._troubles: list[str] = []
        self._failed: dict[Callable[[], None], str] = {}
        """What was said of each step that has failed since the last backup."""

    def all(self) -> list[Backup]:
        """The backups of the project at this location, newest first, then those made at other locations."""
        return self._backups.all()

    def make(self) -> Backup | None:
        """Make one now; None if nothing changed since the last one. Raises UserError."""
        made = self._backups.make(lambda: None)
        self._failed.clear()
        return made

    def check(self) -> Checked:
        """Check the project now."""
        return self._backups.check(self._rest)

    def clock_warning(self) -> str:
        """A warning if the clock is more than an hour earlier than the last step; '' otherwise, and for a read-only
        project."""
        if self._store.read_only:
            return ""
        with self._store.read() as unit:
            last = next((one.operation.at for one in unit.operations.steps(StepFilter(), limit=1)), None)
            if last is None:  # nothing was decided; at most documents were imported
                last = max((one.at for one in unit.imports.all() if one.at is not None), default=None)
        now = self._clock.now()
        if last is None or last - now < timedelta(seconds=HOUR):
            return ""
        words = (localised(one.astimezone(), "%d %b %Y, %H:%M") for one in (now, last))
        return tr(BEHIND, now=next(words), last=next(words))

    def place_warning(self) -> str:
        """A warning if the project and its backups are in one folder; otherwise, and without backups, ''."""
        return self._backups.place_warning if self._backups.wanted and not self._store.read_only else ""

    def on_trouble(self, listener: Trouble) -> None:
        """Call `listener`, in another thread, with each sentence about a backup that failed or damage that was found;
        at once with earlier ones."""
        self._listeners.append(listener)
        for words in self._troubles:
            listener(words)

    def begin(self) -> None:
        """Make a backup of what the last session left without one, check the project if that is due, and make a backup
        every hour, until `close`."""
        if not self._store.read_only:
            self._thread = threading.Thread(target=self._work, name="backups", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End the thread, before the store is closed."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def after(self) -> None:
        """Call it once the store is closed. The session's last backup is made in a thread that outlives the window; if
        it fails, the next session says so. A command makes it itself, at most every hour."""
        self._listeners.clear()
        if self._store.read_only or not self._backups.wanted:
            return
        if self._thread is not None:
            threading.Thread(target=self._last, name="last backup").start()
        elif self._store.written > 1 and self._due():  # opening writes once
            self._last()

    @property
    def troubles(self) -> tuple[str, ...]:
        """The sentences so far."""
        return tuple(self._troubles)

    def _due(self) -> bool:
        before = self._backups.newest() or _made(self._store.folder)
        # in the future: the clock was set back
        return before is not None and abs(self._clock.now() - before) > timedelta(seconds=HOUR)

    def _last(self) -> None:
        try:
            self._backups.make(lambda: None)
        except UserError as error:
            log.warning("%s", error)
            self._say(str(error))
        except Exception:  # the boundary of the thread
            log.exception("The last backup failed")

    def _work(self) -> None:
        """A step that fails, such as a read from a server that is away, ends none of the others."""
        with suppress(CancelledError):
            self._attempt(self._warn)
            if self._stop.wait(SETTLED):
                return
            for step in (self._make, self._check):
                self._attempt(step)
            while not self._stop.wait(HOUR):
                self._attempt(self._make)

    def _warn(self) -> None:
        for words in (self.clock_warning(), self.place_warning()):
            if words:
                self._say(words)

    def _make(self) -> None:
        """Make a backup if something changed since the newest one."""
        if self._backups.wanted:
            self._backups.make(self._rest)
            self._failed.clear()

    def _check(self) -> None:
        if self._backups.check_due(self._clock.now()):
            found = self._backups.check(self._rest)
            if found.findings:
                self._say(" ".join((found.text, found.findings[0].text)))

    def _attempt(self, step: Callable[[], None]) -> None:
        """Only the first failure of each step is reported, and each reason once."""
        try:
            step()
        except CancelledError:
            raise
        except Exception as error:  # the boundary of the thread
            log.warning("Backups: %s", error, exc_info=not isinstance(error, UserError))
            words = str(error) if isinstance(error, UserError) else tr(BUG, error=repr(error))
            if step not in self._failed and words not in self._failed.values():
                self._say(words)
            self._failed.setdefault(step, words)

    def _rest(self) -> None:
        if self._stop.wait(REST):
            raise CancelledError

    def _say(self, words: str) -> None:
        self._troubles.append(words)
        for listener in tuple(self._listeners):
            with logged(log, "A listener to the backups failed"):
                listener(words)


def _made(folder: Path) -> datetime | None:
    """When the project was created."""
    try:
        return datetime.fromtimestamp((folder / "project.curator").stat().st_mtime).astimezone()
    except OSError:
        return None
