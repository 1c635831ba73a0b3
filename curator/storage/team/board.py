"""News of others' writes, and assigned documents, for the clients of a shared project.

Each writing transaction sends `NOTIFY`; a thread of every other client receives it (`LISTEN`) and asks for the numbers
of the operations after the last that it reported. Missed notifications do no harm: after a lost connection, the same
query finds everything written meanwhile. Claims expire by the server's clock, and are not announced. Writers take turns
(`postgres`), so that no document is assigned twice.
"""

from __future__ import annotations

import logging
import select as waiting
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, DateTime, column, delete, func, insert, select, table, update

from curator.domain.decisions import Change, ChangeKind
from curator.domain.documents import DocumentState
from curator.domain.wording import AwayError, UserError, tr
from curator.storage.db.errors import as_user_errors
from curator.storage.db.rows import visible
from curator.storage.db.schema import DocumentRow
from curator.storage.team.absence import HANGING, Perform
from curator.storage.team.postgres import BELL, OTHER, dial
from curator.storage.team.roles import refusals

if TYPE_CHECKING:
    import psycopg

    from curator.storage.team.store import SharedStore

AGAIN = 0.5
"""Seconds between two attempts to reach a lost server."""
REST = 0.4
"""Least seconds between two reads, so that the decisions of thirty curators are read in batches."""
BEAT = 4.0
"""Seconds without news after which the server is asked whether it is there, and seconds to wait for its answer."""
AT_LEAST = 20
"""News that a slow computer reads in a second."""
UPGRADED = (
    "{address} was upgraded by a newer version of this program. Update the program, and open the project again. What "
    "you decided meanwhile is kept on this computer."
)
NOT_HERE = "The server of {address} does not answer, and this was not copied to this computer before."
SILENT = "The server of {address} has stopped answering."
CLAIMS = table("claims", column("document_id"), column("curator"), column("until", DateTime(timezone=True)))
RESTORED = (
    "The database of {address} was restored to an earlier state: what was decided after it is missing. Check your last "
    "decisions."
)
NEW = "SELECT id, hash FROM operations WHERE id > %s ORDER BY id"
_LAST = "SELECT id, hash FROM operations ORDER BY id DESC LIMIT 1"
_HASH = "SELECT hash FROM operations WHERE id = %s"
_LOGIN = select(func.current_user())
_NOW = func.now()
log = logging.getLogger(__name__)


class TeamBoard:
    """News and claims shared by the clients of a shared project."""

    def __init__(self, store: SharedStore) -> None:
        self._store = store
        self._heard: Callable[[Sequence[int]], None] = lambda _: None
        self._seen = 0
        self._mark: bytes | None = None  # the hash of the last operation seen
        self._restored: list[Change] = []  # to be announced when the server is read again
        self._version = 0  # of the schema; 0: not yet read
        self._closed = False
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._sent: Callable[[Sequence[Change], Sequence[int]], None] = lambda *_: None
        self._thread = threading.Thread(target=self._work, name="news", daemon=True)

    # --- news ---

    def follow(
        self,
        heard: Callable[[Sequence[int]], None],
        *,
        perform: Perform | None = None,
        sent: Callable[[Sequence[Change], Sequence[int]], None] = lambda *_: None,
    ) -> None:
        """Call `heard` in a thread, soon after others wrote, with their new operations (none for other writes). If it
        raises an exception, it is called again. May be called once.

        With `perform`, which takes a kept step in a unit, steps are kept while the server is away; `sent` is called
        with what they changed, when they were sent, and with the operations that were appended between the first of
        these steps and `follow`: `heard` does not get them."""
        with self._store.read() as unit:
            last = unit.connection.exec_driver_sql(_LAST).first()
            self._seen, self._mark = (last[0], last[1]) if last is not None else (0, None)
            login = str(unit.connection.execute(_LOGIN).scalar_one())
        self._heard, self._sent = heard, sent
        if perform is not None and not self._store.read_only:
            self._store.absence.begin(perform, login, self._store.person)
            with suppress(AwayError):  # the next connection waits less anyway
                self._store.wait_less()
        self._thread.start()

    # --- while the server is away ---

    def keep(self, step: Mapping[str, Any], error: AwayError) -> Change:
        """Keep a step on this computer that failed with `error`, and send it when the server is back. Raises `error` if
        this client does not follow the news."""
        change = self._store.absence.keep(step, error, seen=self._seen)
        self.wake()
        return change

    def did(self, change: Change, step: Mapping[str, Any]) -> None:
        """Note a step that was saved on the server, for the documents on this computer."""
        self._store.absence.did(change, step)

    def opened(self, document_id: int) -> None:
        """Copy the document and the next ones to this computer, soon, if this client follows the news. Raises AwayError
        while it would look undecided: steps are kept that no copy shows."""
        if self._store.absence.hides:
            raise AwayError(tr(NOT_HERE, address=self._store.place))
        if self._store.absence.reserve is not None:
            self._store.absence.reserve.opened(document_id)

    def changed(self, document_ids: Sequence[int]) -> None:
        """Note that copies of these are no longer up to date."""
        if self._store.absence.reserve is not None:
            self._store.absence.reserve.changed(document_ids)

    def wake(self) -> None:
        """Connect again, since a unit could not reach the server."""
        self._wake.send(b".")

    # --- news, again ---

    def close(self) -> None:
        """Stop calling `heard`, before this returns; idempotent."""
        if self._closed:
            return
        self._closed = True
        self._wake.send(b".")
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(BEAT)
            if self._thread.is_alive():  # it waits for a server that does not answer
                self._store.cut()
                self._thread.join()
        self._wake.close()
        self._woken.close()

    def _work(self) -> None:
        while not self._closed:
            try:
                self._listen()
            except UserError as error:  # connection lost: missed operations are read later
                log.log(logging.DEBUG if self._store.absence.sentence else logging.INFO, "news of others: %s", error)
                if isinstance(error, AwayError):
                    self._store.absence.lost(error)
                elif self._store.absence.sentence:  # it answers again, but not to this login: steps wait here
                    self._store.absence.lost(AwayError(str(error)), words=str(error))
            except Exception:  # a listener failed: it is called again
                log.exception("news of others")
            if not self._closed:
                self._rest(AGAIN)

    def _rest(self, seconds: float) -> None:
        """Wait until somebody wakes this thread, at most so long."""
        waiting.select([self._woken.fileno()], [], [], seconds)
        self._empty_the_wake()

    def _empty_the_wake(self) -> None:
        """Or nothing would be waited for any more, and no silence of the server noticed."""
        with suppress(BlockingIOError):
            self._woken.recv(1024)

    def _listen(self) -> None:
        place, token = self._store.place, self._store.token
        with closing(dial(place, autocommit=True)) as conn:
            rung: set[str] = set()
            behind = False
            conn.add_notify_handler(lambda one: rung.add(one.payload))  # some come with the answer of a query
            self._store.connected(conn)
            with as_user_errors(place), refusals(place, self._store.role), self._store.watched(HANGING):
                conn.execute(f"LISTEN {BELL}")
                self._check_version(conn)
                self._check_restored(conn)
            if self._store.absence.sentence or self._store.absence.kept:
                missed = self._missed(conn)
                self._sent(self._store.absence.send(), missed)
            if self._restored:  # now everything is read from the server again
                self._sent(self._restored, ())
                self._restored = []
            self._tell(conn, others=True)
            while not self._closed:
                ready = rung or waiting.select([conn.fileno(), self._woken.fileno()], [], [], BEAT)[0]
                self._empty_the_wake()
                if not ready:
                    self._ask(conn)
                    if behind:  # only this client's own steps: no news, but `_check_restored` needs the last number
                        self._tell(conn, others=False)
                        behind = False
                if self._store.absence.sentence:  # another connection was lost: see whether all can be made again
                    return
                with as_user_errors(place):
                    conn.pgconn.consume_input()
                while (one := conn.pgconn.notifies()) is not None:
                    rung.add(one.extra.decode())
                heard = {one for one in rung if one.removesuffix(OTHER) != token}
                behind = behind or heard < rung
                rung.clear()
                if heard:
                    self._tell(conn, others=any(one.endswith(OTHER) for one in heard))
                    self._rest(REST)

    def _missed(self, conn: psycopg.Connection[Any]) -> list[int]:
        """Operations that this client will not hear of, after the last one seen before the oldest kept step: it was
        closed meanwhile."""
        with as_user_errors(self._store.place), self._store.watched(HANGING):
            found = conn.execute(NEW, (self._store.absence.seen(self._seen),))
            return [one for one, _ in found if one <= self._seen]

    def _check_version(self, conn: psycopg.Connection[Any]) -> None:
        """Raises AwayError if the project was upgraded while this client was not connected."""
        [(version,)] = conn.execute("SELECT version FROM schema_version")
        if self._version not in (0, version):
            error = AwayError(tr(UPGRADED, address=self._store.place))
            self._store.absence.lost(error, words=str(error))
            raise error
        self._version = version

    def _check_restored(self, conn: psycopg.Connection[Any]) -> None:
        """Notice a backup that was restored while this client was not connected: the last operation seen is missing, or
        another has its number. Then everything is to be read again, or news up to this number would be missed."""
        written = self._store.last_written  # before the question, so that the answer contains it
        there = conn.execute(_HASH, (self._seen,)).fetchone()
        last = conn.execute(_LAST).fetchone() or (0, None)
        same = not self._seen or (there is not None and there[0] == self._mark)
        if same and last[0] >= written:
            return
        words = tr(RESTORED, address=self._store.place)
        log.warning("%s", words)
        self._store.forget()
        self._seen, self._mark = last
        opened = self._store.absence.opened
        self._restored = [Change(ChangeKind.IMPORTED, "", words), Change(ChangeKind.DECIDED, "", words, opened)]

    def _ask(self, conn: psycopg.Connection[Any]) -> None:
        """Raises AwayError if the server does not answer: it is suspended, or the network is cut without a word. Units
        that wait for an answer are ended, too."""
        with as_user_errors(self._store.place):
            conn.pgconn.send_query(b"")
            conn.pgconn.flush()
            if not waiting.select([conn.fileno()], [], [], BEAT)[0]:
                self._store.cut()
                raise AwayError(tr(SILENT, address=self._store.place))
            while conn.pgconn.get_result() is not None:
                pass

    def _tell(self, conn: psycopg.Connection[Any], *, others: bool) -> None:
        """Report operations, and `others`: writes that are not operations. Operations become visible in numerical
        order, as writers take turns."""
        self._store.others_wrote()
        with (
            as_user_errors(self._store.place),
            refusals(self._store.place, self._store.role),
            self._store.watched(2 * BEAT),
        ):
            found = conn.execute(NEW, (self._seen,)).fetchall()
        news = [one for one, _ in found if not self._store.wrote(one)]
        with self._store.watched(HANGING + len(news) / AT_LEAST):
            if others:
                self._heard([])
            if news:
                self._heard(news)
        self._seen, self._mark = found[-1] if found else (self._seen, self._mark)

    # --- documents handed out ---

    def next(self, curator: str, *, seconds: int) -> int | None:
        """Assign the first document that is not done and not assigned to others, or return this curator's; None if
        there is none."""
        with self._store.write(quiet=True) as unit:
            conn = unit.connection
            conn.execute(delete(CLAIMS).where((CLAIMS.c.until < _NOW) | CLAIMS.c.document_id.in_(_finished())))
            own = select(CLAIMS.c.document_id).where(CLAIMS.c.curator == curator).order_by(CLAIMS.c.document_id)
            found = conn.execute(own.limit(1)).scalar()
            if found is None:
                free = select(DocumentRow.id).where(DocumentRow.state != DocumentState.DONE.value, visible())
                free = free.where(DocumentRow.id.not_in(select(CLAIMS.c.document_id))).order_by(DocumentRow.id)
                found = conn.execute(free.limit(1)).scalar()
                if found is None:
                    return None
                values: dict[str, Any] = {"document_id": found, "curator": curator, "until": _NOW}
                conn.execute(insert(CLAIMS).values(values))
            conn.execute(_prolonged(curator, found, seconds))
            return int(found)

    def prolong(self, document_id: int, curator: str, *, seconds: int) -> bool:
        """Extend the claim; False if the curator no longer has the document."""
        with self._store.write(quiet=True) as unit:
            return bool(unit.connection.execute(_prolonged(curator, document_id, seconds)).rowcount)


def _finished() -> Any:
    return select(DocumentRow.id).where(DocumentRow.state == DocumentState.DONE.value)


def _own(curator: str, document_id: int) -> ColumnElement[bool]:
    return (CLAIMS.c.document_id == document_id) & (CLAIMS.c.curator == curator)


def _prolonged(curator: str, document_id: int, seconds: int) -> Any:
    """Extend a claim, even an expired one if nobody else has the document."""
    return update(CLAIMS).where(_own(curator, document_id)).values(until=_NOW + timedelta(seconds=seconds))
