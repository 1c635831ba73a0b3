"""Deciding while the server is away: what is read, where steps are kept, and how they are sent.

* **The server is away** from the first unit that cannot reach it, or that it cannot save (its disk is full), or from
  the end of the connection for news, until that connection is made again and everything kept here was sent. Only a
  client that follows the news keeps steps: others (single commands) get the error.
* **Steps go into the journal** (`journal.py`), fsynced, and are taken in the copies of the documents (`reserve.py`),
  from which the window reads. The window says that they are saved on this computer and not yet shared.
* **They are sent in order, once**: each is a unit of its own on the server, as if it had been taken there, with its own
  time. Its key is in its operation; a step whose answer was lost is found by it. New steps queue up behind those that
  are being sent.
* **What collides is kept on both sides**: a step that comes later is in force, and is shown with the other's.
* A step that the server refuses (its mention was deleted meanwhile) stays in the journal's file; the window says it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import func, select

from curator.domain.decisions import Change, ChangeKind
from curator.domain.wording import AwayError, UnableError, UserError, tr
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import UnitOfWork
from curator.storage.db.schema import OperationRow
from curator.storage.team.journal import Journal
from curator.storage.team.local_copy import LocalCopy
from curator.storage.team.reserve import Reserve
from curator.storage.team.roles import LostRoleError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from curator.storage.store import SqlUnitOfWork

Step = Mapping[str, Any]
Perform = Callable[[UnitOfWork, Step], Change]
AWAY = (
    "The server does not answer. You can go on deciding in the documents that are on this computer: your decisions are "
    "saved here, and sent when {address} answers again."
)
UNABLE = (
    "{why} You can go on deciding in the documents that are on this computer. Your decisions are saved here, and sent "
    "as soon as that is possible."
)
MARGIN = 1000
"""More operations than all curators can save while one waits for the answer to a step."""
HANGING = 10.0
"""Seconds after which the thread of the news gives up a step or a query: while it waits, nobody else notices that the
server does not answer."""
TOGETHER = 20
"""Steps after which the window is called while they are sent."""
KEPT = "Saved on this computer"
REFUSED = "A step that you took while the server was away is not possible any more: {why}"
log = logging.getLogger(__name__)


class Server(Protocol):
    """The units of work on the server itself."""

    @property
    def place(self) -> SharedAddress: ...

    def reading(self) -> AbstractContextManager[SqlUnitOfWork]: ...

    def writing(self, *, quiet: bool = False) -> AbstractContextManager[SqlUnitOfWork]: ...

    def watched(self, seconds: float) -> AbstractContextManager[None]: ...


class Absence:
    """`changed` is called in any thread after every change of `sentence`, `kept` or `refused`."""

    def __init__(self, folder: Path, server: Server, copy_of_kb: LocalCopy, changed: Callable[[], None]) -> None:
        self._folder = folder
        self._copy_of_kb = copy_of_kb
        self._server = server
        self._changed = changed
        self._guard = threading.RLock()
        self._journal: Journal | None = None
        self._perform: Perform | None = None
        self._person = ""
        self.reserve: Reserve | None = None
        self.sentence = ""
        """Why the server is away; '' while it is not."""
        self.refused = ""
        """Why the last refused step was refused; '' if none was."""

    def begin(self, perform: Perform, login: str, person: str = "") -> None:
        """Work on from now on while the server is away. Steps are sent as those of `person`, '' as they were taken: the
        name may have been changed since. Raises UserError if the folder cannot be written."""
        self._perform, self._person = perform, person
        self._journal = Journal(self._folder, login, person)
        self.reserve = Reserve(self._folder, self._server.reading, self._copy_of_kb)
        if self.kept:  # by a process that was killed, or closed while the server was away
            self._changed()

    def close(self) -> None:
        if self.reserve is not None:
            self.reserve.close()
        if self._journal is not None:
            self._journal.close()

    @property
    def kept(self) -> int:
        """The number of steps that are only on this computer."""
        return len(self._journal) if self._journal is not None else 0

    def seen(self, now: int) -> int:
        """The last operation that was seen before the oldest kept step; `now` if none is kept."""
        pending = self._journal.pending if self._journal is not None else []
        return min((int(one.get("seen", now)) for one in pending), default=now)

    @property
    def reads(self) -> Reserve | None:
        """The copies to read from; None while the server is there, or without copies."""
        return self.reserve if self.sentence and self.reserve is not None and self.reserve.ready else None

    @property
    def opened(self) -> tuple[int, ...]:
        """The document that was opened last, if any."""
        return self.reserve.current if self.reserve is not None else ()

    @property
    def hides(self) -> bool:
        """Whether steps are kept that neither the server nor a copy shows: their mentions would look undecided."""
        return bool(self.sentence and self.kept) and self.reads is None

    def lost(self, error: AwayError, words: str = "") -> bool:
        """The server did not answer, cannot save anything (UnableError), or may not be written (`words`). Returns
        whether this is the first notice of it."""
        if isinstance(error, UnableError):
            words = tr(UNABLE, why=error)
        with self._guard:
            if self._journal is None or (self.sentence and self.sentence == (words or self.sentence)):
                return False
            try:
                if self.reserve is not None:
                    self.reserve.enter()
            except Exception:  # what was decided in the last minute looks undecided
                log.exception("The copies of documents")
            self.sentence = words or tr(AWAY, address=self._server.place)  # from now on others read the copies
        log.warning("%s", self.sentence)
        log.info("%s", error)  # which says that nothing was saved, though the step may be kept now
        self._changed()
        return True

    def keep(self, step: Step, error: AwayError, *, seen: int) -> Change:
        """Keep a step that failed with `error` on this computer; `seen` is the last operation seen before it. Raises
        UserError if it is not possible or cannot be kept, and `error` without a journal. The change has the operation
        0."""
        if self._journal is None or self._perform is None:
            raise error
        whole = {**step, "after": max(seen - MARGIN, 0), "seen": seen}
        with self._guard:
            self.lost(error)  # again, if the server has just come back
            reserve = self.reads
            if reserve is not None and reserve.holds(step):
                with reserve.write() as unit:
                    change = self._perform(unit, step)
                    self._journal.put(whole)
                reserve.touched(change.document_ids)
            else:
                self._journal.put(whole)
                change = Change(ChangeKind.DECIDED, step["curator"], tr(KEPT), (), tuple(step.get("mentions", ())))
        self._changed()
        return replace(change, operation_id=0)

    def did(self, change: Change, step: Step) -> None:
        """Note a step that was saved on the server: the copies lack it until they are made again."""
        perform = self._perform
        if self.reserve is not None and perform is not None:
            self.reserve.did(change.operation_id or 0, change.document_ids, lambda unit: perform(unit, step))

    def send(self) -> list[Change]:
        """Send all steps; the server is there again afterwards. Returns what was changed. Raises AwayError, with the
        rest still kept."""
        changes: list[Change] = []
        while True:
            steps = self._journal.pending if self._journal is not None else []
            there = self._known(steps) if steps else set()
            for step in steps:
                self._send(step, changes) if step["key"] not in there else self._sent(step)
            with self._guard:
                if self._journal is None or not self._journal.pending:
                    self.sentence = ""
                    break
        if self.reserve is not None:
            self.reserve.leave()
        self._changed()
        return changes

    def _known(self, steps: Sequence[Step]) -> set[str]:
        """The keys that the server has: of steps whose answer was lost. In a turn, so that none is being saved."""
        after, who = min(one["after"] for one in steps), sorted({self._person, *(one["curator"] for one in steps)})
        first = func.least(after, select(func.max(OperationRow.id) - MARGIN).scalar_subquery())  # of a restored backup
        query = select(OperationRow.payload).where(OperationRow.id > first, OperationRow.actor.in_(who))
        with self._server.watched(HANGING), self._server.writing(quiet=True) as unit:
            return {json.loads(payload).get("key", "") for payload in unit.connection.execute(query).scalars()}

    def _send(self, step: Step, changes: list[Change]) -> None:
        assert self._perform is not None
        try:
            with self._server.watched(HANGING), self._server.writing() as unit:
                change = self._perform(unit, {**step, "curator": self._person or step["curator"]})
        except AwayError:
            raise
        except LostRoleError as error:  # the step waits until the login has its role again
            away = AwayError(str(error))
            self.lost(away, words=str(error))
            raise away from error
        except UserError as error:
            self.refused = tr(REFUSED, why=error)
            self._sent(step, why_not=str(error))
            return
        changes.append(change)
        self._sent(step)

    def _sent(self, step: Step, why_not: str = "") -> None:
        assert self._journal is not None
        self._journal.sent(step["key"], why_not)
        if self.kept % TOGETHER == 0:
            self._changed()
