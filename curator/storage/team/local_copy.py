"""The knowledge base of a shared project: pieces in the shared database, and a local copy that is searched.

A version never changes once it is active, so it is copied once: the pieces are loaded in order, indexed as in a folder,
and compared with the version's hash. An import fills the local copy and uploads each piece in the same step. Search,
linking and the hierarchy use only the copy.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import DamagedProjectError, tr
from curator.storage.db.ahead import answer
from curator.storage.db.engine import BUSY_MS, connect
from curator.storage.db.errors import as_user_errors
from curator.storage.db.schema import KbVersionRow
from curator.storage.kb.kb_hierarchy import build_hierarchy
from curator.storage.kb.kb_index import build_index
from curator.storage.kb.kb_matching import add_obsolete, add_own_keys, obsolete_entity, sources_of
from curator.storage.kb.kb_tables import SHELF, KbTables, canonical_json, parse_entity
from curator.storage.team.schema import KB_PIECES

log = logging.getLogger(__name__)
AT_ONCE = 50
"""Pieces read from the server in one query, about 20 KB each."""
LONGEST_MS = 600_000
WRONG = (
    "The knowledge base “{name}” that was fetched differs from the one that was imported. Import it again, or ask "
    "whoever runs the server to restore a backup."
)
_MADE = "CREATE TABLE IF NOT EXISTS complete (version INTEGER PRIMARY KEY, content_hash TEXT NOT NULL)"


class LocalCopy:
    """The local file `database`, which several processes may use."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._uri = f"{database.absolute().as_uri()}?mode=rwc"
        self._idle: list[sqlite3.Connection] = []

    @contextmanager
    def shelf(self) -> Iterator[Shelf]:
        """One unit of work's view of the copy. Its writes are kept if the block ends without an exception."""
        shelf = Shelf(self)
        try:
            yield shelf
            shelf.keep()
        except sqlite3.Error:  # those of the server are about its address
            with as_user_errors(self._database):
                raise
        finally:
            shelf.leave()

    def borrow(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            conn = connect(self._uri, writable=True)
            conn.execute(_MADE)
            return conn

    def give_back(self, conn: sqlite3.Connection) -> None:
        self._idle.append(conn)

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


class Shelf:
    """See `LocalCopy.shelf`. The connection is opened for the first query."""

    def __init__(self, copy: LocalCopy) -> None:
        self._copy = copy
        self._local: sqlite3.Connection | None = None

    def tables(self, conn: Connection, version: int) -> KbTables:
        """The tables of a version that is active or being loaded; a missing local copy of an active one is made first.
        Raises DamagedProjectError if the fetched data differ from the imported."""
        local = self._opened()
        row = next((one for one in answer(conn, VERSIONS) if one.id == version), None)
        if row is not None and row.active and not _is_complete(local, version, row.content_hash):
            self._fetch(conn, version, row.name, row.content_hash)
        return SharedTables(local, conn, self, version)

    def begin(self) -> None:
        """Keep everything written to the copy from now on if the unit is committed."""
        local = self._opened()
        if not local.in_transaction:
            local.execute("BEGIN IMMEDIATE")

    def keep(self) -> None:
        if self._local is not None and self._local.in_transaction:
            self._local.execute("COMMIT")

    def leave(self) -> None:
        if self._local is not None:
            if self._local.in_transaction:
                self._local.execute("ROLLBACK")
            self._copy.give_back(self._local)
            self._local = None

    def _opened(self) -> sqlite3.Connection:
        if self._local is None:
            self._local = self._copy.borrow()
        return self._local

    def _fetch(self, conn: Connection, version: int, name: str, content_hash: str) -> None:
        local = self._opened()
        writing = local.in_transaction
        local.execute(f"PRAGMA busy_timeout = {LONGEST_MS}")  # another process may be making the same copy
        try:
            self.begin()
        finally:
            local.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        try:
            if _is_complete(local, version, content_hash):
                return
            tables = KbTables(local, version)
            tables.drop()
            load_pieces(conn, version, tables)
            if tables.content_hash() != content_hash:
                raise DamagedProjectError(tr(WRONG, name=name))
            _complete(local, version, content_hash)
        except BaseException:
            if not writing:
                local.execute("ROLLBACK")
            raise
        finally:
            if not writing and local.in_transaction:
                local.execute("COMMIT")
        log.info("a copy of the knowledge base %s was made", name)


class SharedTables(KbTables):
    """The local tables of a version; loaded data are sent to the shared database in the same step."""

    def __init__(self, local: sqlite3.Connection, shared: Connection, shelf: Shelf, version: int) -> None:
        super().__init__(local, version)
        self._shared = shared
        self._shelf = shelf
        self._version = version

    def create(self) -> None:
        self._shelf.begin()
        super().drop()  # remains of another project or a stopped import
        self.conn.execute("DELETE FROM complete WHERE version = ?", (self._version,))
        super().create()

    def load(self, entities: Sequence[Entity]) -> None:
        self._shelf.begin()
        super().load(entities)
        self._send(None, [canonical_json(one) for one in entities])

    def keep_obsolete(self, source: str, entities: Sequence[ObsoleteEntity]) -> None:
        self._send(source, [json.dumps(asdict(one), ensure_ascii=False) for one in entities])

    def begin_writing(self) -> None:
        self._shelf.begin()

    def finish(self, content_hash: str) -> None:
        """Finish loading: others will fetch the same data."""
        _complete(self.conn, self._version, content_hash)

    def drop(self) -> None:
        """Delete the pieces with the unit and the copy at once; its readers have their own snapshots."""
        self._shelf.begin()
        self._shared.execute(delete(KB_PIECES).where(KB_PIECES.c.version == self._version))
        self.conn.execute("DELETE FROM complete WHERE version = ?", (self._version,))
        super().drop()

    def _send(self, source: str | None, rows: Sequence[str]) -> None:
        if rows:
            query = select(func.coalesce(func.max(KB_PIECES.c.place), 0)).where(KB_PIECES.c.version == self._version)
            place = self._shared.execute(query).scalar_one() + 1
            send_piece(self._shared, self._version, place, source, rows)


def send_piece(shared: Connection, version: int, place: int, source: str | None, rows: Sequence[str]) -> None:
    """Send entities, or the obsolete ones of a source, each as JSON."""
    data = zlib.compress(json.dumps(rows, ensure_ascii=False).encode())
    shared.execute(insert(KB_PIECES), [{"version": version, "place": place, "source": source, "data": data}])


def load_pieces(shared: Connection, version: int, tables: KbTables) -> None:
    """Build the tables and indexes from the pieces in the shared database."""
    tables.create()
    for source, rows in _pieces(shared, version):
        if source is None:
            tables.load([parse_entity(one) for one in rows])
        else:
            add_obsolete(tables, source, [obsolete_entity(one) for one in rows])
    tables.index_names()
    add_own_keys(tables, sources_of(shared, version), _no_pause)
    build_index(tables, tables.type_names(), pause=_no_pause)
    build_hierarchy(tables, pause=_no_pause)


VERSIONS = select(KbVersionRow.id, KbVersionRow.name, KbVersionRow.active, KbVersionRow.content_hash)


def _is_complete(local: sqlite3.Connection, version: int, content_hash: str) -> bool:
    known = local.execute("SELECT content_hash FROM complete WHERE version = ?", (version,)).fetchone()
    return known is not None and bool(known[0] == content_hash)


def _complete(local: sqlite3.Connection, version: int, content_hash: str) -> None:
    local.execute("INSERT OR REPLACE INTO complete VALUES (?, ?)", (version, content_hash))


def _pieces(conn: Connection, version: int) -> Iterator[tuple[str | None, list[str]]]:
    """(None, entities) or (source, obsolete entities), each as JSON, in the order of loading."""
    last = 0
    while True:
        query = select(KB_PIECES.c.place, KB_PIECES.c.source, KB_PIECES.c.data)
        query = query.where(KB_PIECES.c.version == version, KB_PIECES.c.place > last)
        rows: Sequence[Any] = conn.execute(query.order_by(KB_PIECES.c.place).limit(AT_ONCE)).all()
        for place, source, data in rows:
            last = place
            yield source, json.loads(zlib.decompress(data))
        if len(rows) < AT_ONCE:
            return


def _no_pause() -> None:
    return


def with_shelf(conn: Connection, shelf: Shelf) -> Connection:
    """The connection, using the knowledge bases of this shelf."""
    return conn.execution_options(**{SHELF: shelf})
