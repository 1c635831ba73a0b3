"""The open database of a shared project; see `SqlStore` for that of a folder."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakSet

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from curator.boundary import logged
from curator.domain.decisions import Listener, Saving
from curator.domain.wording import AwayError, ProjectClosedError, UserError, tr
from curator.services.ports.address import SharedAddress
from curator.services.ports.safety import Backup, Checked
from curator.services.ports.storage import Role
from curator.storage.db.ahead import AHEAD, LATER, Ahead, Ask
from curator.storage.db.errors import as_user_errors
from curator.storage.db.turns import Turns
from curator.storage.kb.kb import ACTIVE
from curator.storage.kb.kb_tables import SHELF
from curator.storage.kb.provisional import OURS
from curator.storage.store import SqlUnitOfWork
from curator.storage.team import postgres
from curator.storage.team.absence import Absence
from curator.storage.team.board import NOT_HERE, TeamBoard
from curator.storage.team.local_copy import VERSIONS, LocalCopy, with_shelf
from curator.storage.team.postgres import BELL, OTHER, reading_team_engine, writing_team_engine
from curator.storage.team.roles import READER, refusals
from curator.storage.team.round_trips import pipelined

log = logging.getLogger(__name__)
KB_NAME = "kb.sqlite"
IN_DOUBT = (
    "The connection to {address} was lost while this step was being saved. It is saved as a whole or not at all: look "
    "before you repeat it."
)
NEEDED = (
    "The server of {address} does not answer, or cannot save anything, and this step needs it: nothing was saved. You "
    "can decide, and mark documents as done, meanwhile."
)
RING = "SELECT pg_notify(%s, %s)"
WITHOUT_WAITING = {LATER: True}
ALWAYS: Sequence[Ask] = ((ACTIVE, {}), (VERSIONS, {}), (OURS, {}))
"""What a unit that reads ahead asks for its knowledge base."""
PAUSE = 0.5
"""Seconds of a bulk load before other writers get a turn."""


class SharedStore:
    """See `ports.Store`. `folder` holds this computer's part of the project: knowledge base, linkers, evaluations.

    A unit is on the server's disk when `write` returns, so that `settle` never waits. While the server is unreachable,
    every unit raises UserError, and the next one tries again.
    """

    sole = False
    person = ""
    """The name as which this login decides; '' if the program may choose one. Set when the project is opened."""
    role = Role.OWNER
    """What this login may do."""

    def __init__(self, address: SharedAddress, folder: Path, *, read_only: bool) -> None:
        self._address = address
        self._folder = folder
        self._turns = Turns()
        self._reader = reading_team_engine(address)
        self._limits = dict(postgres.LONGEST)
        self._writer: Engine | None = None if read_only else writing_team_engine(address, self._limits)
        self._copy = LocalCopy(folder / KB_NAME)
        self._closed = False
        self._saving = Saving()
        self._guard = threading.Lock()
        self._listeners: list[Listener] = []
        self._connections: WeakSet[Any] = WeakSet()
        for engine in filter(None, (self._reader, self._writer)):
            event.listen(engine, "connect", lambda raw, _: self.connected(raw))
        self.token = uuid.uuid4().hex
        """Identifies this client in notifications."""
        self._own: set[int] = set()
        self._last = 0
        self._heard = 0
        self.absence = Absence(folder, self, self._copy, self._absence_changed)
        self.team = TeamBoard(self)

    def wrote(self, operation_id: int) -> bool:
        return operation_id in self._own

    def wait_less(self) -> None:
        """Wait less for the writers' turn from now on, since steps can be kept on this computer."""
        self._limits["lock_timeout"] = postgres.SOON
        with self.writing(quiet=True) as unit:
            unit.connection.exec_driver_sql(f"SET lock_timeout = '{postgres.SOON}'")

    @property
    def last_written(self) -> int:
        """The number of this client's last saved step; 0 without any."""
        return self._last

    def forget(self) -> None:
        """The database was restored: other steps may get the numbers of this client's."""
        self._own.clear()
        self._last = 0
        self.others_wrote()

    def others_wrote(self) -> None:
        """Invalidate earlier reads."""
        self._heard += 1

    @property
    def place(self) -> SharedAddress:
        return self._address

    @property
    def written(self) -> int:
        return self._saving.asked + self._heard

    @property
    def read_only(self) -> bool:
        return self._writer is None

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def contended(self) -> bool:
        """Whether a writer of this process waits for its turn."""
        return self._turns.contended

    @contextmanager
    def read(self) -> Iterator[SqlUnitOfWork]:
        """A unit with a snapshot of the database; its iterators end with it. While the server is away, it reads the
        documents on this computer, if there are any."""
        reserve, entered = self.absence.reads, False
        if reserve is None:
            try:
                with self.reading() as unit:
                    entered = True
                    yield unit
                return
            except AwayError as error:
                self._lost(error)
                reserve = self.absence.reads
                if entered or reserve is None:
                    raise
        try:
            with reserve.read() as unit:
                yield unit
        except UserError as error:
            raise AwayError(tr(NOT_HERE, address=self._address)) from error

    @contextmanager
    def reading(self) -> Iterator[SqlUnitOfWork]:
        """A reading unit on the server."""
        self._check_open()
        with (
            as_user_errors(self._address),
            refusals(self._address, self.role),
            self._reader.connect() as conn,
            self._copy.shelf() as shelf,
        ):
            yield SqlUnitOfWork(with_shelf(conn, shelf))

    @contextmanager
    def write(self, *, quiet: bool = False) -> Iterator[SqlUnitOfWork]:
        """A unit that is fully on the server's disk after the block, or not at all. Writers of this process take turns
        in order of arrival. Others are not notified of a `quiet` one. Raises AwayError if the server does not answer.

        Only `kb.add`, whose rows are invisible before `kb.activate`, commits in between, so that a bulk load does not
        delay decisions.
        """
        if self.role is Role.READER:
            raise UserError(tr(READER, address=self._address))
        if self.absence.sentence:
            raise AwayError(tr(NEEDED, address=self._address))
        try:
            with self.writing(quiet=quiet) as unit:
                yield unit
        except AwayError as error:
            self._lost(error)
            raise
        self.absence.refused = ""

    @contextmanager
    def writing(self, *, quiet: bool = False) -> Iterator[SqlUnitOfWork]:
        """A writing unit on the server."""
        if self._writer is None:
            raise UserError(tr("{folder} is open read-only. Open it for writing to change it.", folder=self._address))
        with self._turns.turn():
            self._check_open()
            with (
                as_user_errors(self._address),
                refusals(self._address, self.role),
                self._writer.connect() as conn,
                self._copy.shelf() as shelf,
                pipelined(conn) as send,
            ):
                conn.execution_options(**{SHELF: shelf, AHEAD: Ahead(send, ALWAYS)})
                unit = SqlUnitOfWork(conn, pause=partial(self._pause, conn, _Since()))
                yield unit
                self._ring_and_commit(conn, unit.operations.appended, quiet=quiet)
            self._saved()

    def connected(self, raw: object) -> None:
        """Let `cut` end this connection."""
        with self._guard:
            self._connections.add(raw)

    def cut(self) -> None:
        """End all connections: the server does not answer. Also idle ones, on which a unit would wait without limit if
        another server has taken the address."""
        with self._guard:
            for raw in self._connections:
                with suppress(Exception), socket.socket(fileno=os.dup(raw.fileno())) as end:
                    end.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def watched(self, seconds: float) -> Iterator[None]:
        """Cut the connections if the block takes longer."""
        timer = threading.Timer(seconds, self.cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _ring_and_commit(self, conn: Connection, steps: Sequence[int], *, quiet: bool) -> None:
        """Closing the connection without a commit rolls back."""
        self._own.update(steps)  # before others are notified
        try:
            if not quiet:
                conn.exec_driver_sql(RING, (BELL, self.token if steps else self.token + OTHER), WITHOUT_WAITING)
            self._commit(conn)
            self._last = max([self._last, *steps])
        except BaseException:
            self._own.difference_update(steps)  # another client's steps may get the numbers
            raise

    def _commit(self, conn: Connection) -> None:
        try:
            conn.commit()
        except DBAPIError as error:
            if error.connection_invalidated:
                raise AwayError(tr(IN_DOUBT, address=self._address)) from error
            raise

    def settle(self) -> None:
        """Nothing to wait for: written data are on the server's disk."""

    @property
    def saving(self) -> Saving:
        return self._saving

    def damage(self, error: BaseException) -> UserError | None:  # noqa: ARG002
        """None: a value that cannot be read is named where it is read."""
        return None

    def on_saving(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` in the writing thread."""
        self._listeners.append(listener)

        def end() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return end

    def close(self) -> None:
        """Wait for a writing unit, then close the connections; idempotent."""
        self.team.close()
        self.absence.close()
        with self._turns.turn():
            if self._closed:
                return
            self._closed = True
            self._copy.close()
            self._reader.dispose()
            if self._writer is not None:
                self._writer.dispose()

    def __enter__(self) -> SharedStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _saved(self) -> None:
        with self._guard:
            number = self._saving.asked + 1
            self._saving = replace(self._saving, asked=number, done=number, at=datetime.now().astimezone())
        self._tell()

    def _absence_changed(self) -> None:
        self.others_wrote()  # what is read comes from another place, or a step was kept
        self._tell()

    def _tell(self) -> None:
        absence = self.absence
        with self._guard:
            now = replace(self._saving, kept=absence.kept, away=absence.sentence, why=absence.refused)
            self._saving = now
        for listener in tuple(self._listeners):
            with logged(log, "A listener of the disk failed"):
                listener(now)

    def _lost(self, error: AwayError) -> None:
        if self.absence.lost(error):
            self.team.wake()

    def _pause(self, conn: Connection, since: _Since) -> None:
        if self.contended or since.seconds >= PAUSE:
            conn.commit()
            since.restart()
            self._turns.give_way()

    def _check_open(self) -> None:
        if self._closed:
            raise ProjectClosedError(f"{self._address} has been closed")


BY_SERVER = (
    "{address} lies on a server, which makes its backups and checks its disks. Ask whoever runs it for a backup "
    "(`pg_dump`, `pg_basebackup`). `curator export` and `curator audit` write what it contains to files."
)


class ServerBackups:
    """See `ports.BackupStore`: the database and its backups belong to the server."""

    wanted = False
    place_warning = ""

    def __init__(self, address: SharedAddress) -> None:
        self._address = address

    def all(self) -> list[Backup]:
        return []

    def make(self, rest: Callable[[], None]) -> Backup | None:  # noqa: ARG002
        raise UserError(tr(BY_SERVER, address=self._address))

    def newest(self) -> datetime | None:
        return None

    def check_due(self, now: datetime) -> bool:  # noqa: ARG002
        return False

    def check(self, rest: Callable[[], None]) -> Checked:  # noqa: ARG002
        raise UserError(tr(BY_SERVER, address=self._address))


class _Since:
    """Measures seconds since its creation or restart."""

    def __init__(self) -> None:
        self._at = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._at

    def restart(self) -> None:
        self._at = time.monotonic()
