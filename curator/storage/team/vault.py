"""Linkers of a shared project: stored in the database in pieces, so that every computer gets the one in use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from curator.domain.wording import UserError, tr
from curator.storage.db.syncing import sync_file
from curator.storage.team.schema import LINKER_PIECES, LINKERS
from curator.storage.team.store import SharedStore

PIECE = 2**20
"""Bytes of one piece."""
AT_ONCE = 8
"""Pieces sent in one transaction, so that a decision waits for no more than these."""
ABSENT = "Linker {name} is not in the shared project. Another linker must be put into use, or this one be built again."
CUT = "Linker {name} could not be fetched whole from the shared project. Try again, or build it again."
OUTSIDE = "Linker {name} names a file outside of its folder ({path}). It was not fetched."


class LinkerVault:
    """See `ports.BundleVault`. Partly sent linkers count as missing, and are sent again."""

    def __init__(self, store: SharedStore) -> None:
        self._store = store

    def has(self, name: str) -> bool:
        with self._store.read() as unit:
            return unit.connection.execute(_COMPLETE.where(LINKERS.c.id == name)).first() is not None

    def keep(self, name: str, folder: Path) -> None:
        if self.has(name):
            return
        self.forget(name)
        with self._store.write() as unit:
            unit.connection.execute(insert(LINKERS), [{"id": name, "complete": False, "pieces": 0}])
        batch: list[dict[str, Any]] = []
        number = 0
        for number, (path, data) in enumerate(_pieces(folder), start=1):
            batch.append({"linker": name, "place": number, "path": path, "data": data})
            if len(batch) == AT_ONCE:
                self._send(batch)
        self._send(batch)
        with self._store.write() as unit:
            done = update(LINKERS).where(LINKERS.c.id == name).values(complete=True, pieces=number)
            unit.connection.execute(done)

    def fetch(self, name: str, folder: Path) -> None:
        """The caller compares the files with the linker's manifest."""
        with self._store.read() as unit:
            fetch_linker(unit.connection, name, folder)

    def forget(self, name: str) -> None:
        with self._store.write() as unit:
            unit.connection.execute(delete(LINKER_PIECES).where(LINKER_PIECES.c.linker == name))
            unit.connection.execute(delete(LINKERS).where(LINKERS.c.id == name))

    def _send(self, batch: list[dict[str, Any]]) -> None:
        if batch:
            with self._store.write() as unit:
                unit.connection.execute(insert(LINKER_PIECES), batch)
            batch.clear()


def send_linker(conn: Connection, name: str, folder: Path) -> None:
    """Send the whole linker in the connection's current transaction."""
    conn.execute(insert(LINKERS), [{"id": name, "complete": False, "pieces": 0}])
    number = 0
    for number, (path, data) in enumerate(_pieces(folder), start=1):
        conn.execute(insert(LINKER_PIECES), [{"linker": name, "place": number, "path": path, "data": data}])
    conn.execute(update(LINKERS).where(LINKERS.c.id == name).values(complete=True, pieces=number))


def fetch_linker(conn: Connection, name: str, folder: Path) -> None:
    """Write its files to the folder, and sync them. Raises UserError, and OSError."""
    row = conn.execute(_COMPLETE.where(LINKERS.c.id == name)).first()
    if row is None:
        raise UserError(tr(ABSENT, name=name))
    number = 0
    for path, data in _stored(conn, name):
        number += 1
        target = _inside(folder, name, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab") as file:
            file.write(data)
    if number != row.pieces:
        raise UserError(tr(CUT, name=name))
    for one in folder.rglob("*"):
        if one.is_file():
            sync_file(one)


_COMPLETE = select(LINKERS.c.pieces).where(LINKERS.c.complete)


def _raise(error: OSError) -> None:
    raise error


def _pieces(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Each file's name within the folder with a piece of it, in order; an empty file has one empty piece. Raises
    OSError, also for a folder that cannot be listed: without its files, the linker would count as whole."""
    for top, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            path = Path(top) / name
            with path.open("rb") as file:
                data = file.read(PIECE)
                while True:
                    yield path.relative_to(folder).as_posix(), data
                    data = file.read(PIECE)
                    if not data:
                        break


def _stored(conn: Connection, name: str) -> Iterator[tuple[str, bytes]]:
    last = 0
    while True:
        query = select(LINKER_PIECES.c.place, LINKER_PIECES.c.path, LINKER_PIECES.c.data)
        query = query.where(LINKER_PIECES.c.linker == name, LINKER_PIECES.c.place > last)
        rows = conn.execute(query.order_by(LINKER_PIECES.c.place).limit(AT_ONCE)).all()
        for place, path, data in rows:
            last = place
            yield path, data
        if len(rows) < AT_ONCE:
            return


def _inside(folder: Path, name: str, path: str) -> Path:
    """Check that a path is inside the folder, as anybody with a login could have written it."""
    plain = PurePosixPath(path)
    if plain.is_absolute() or ".." in plain.parts or not plain.parts or "\\" in path or ":" in path:
        raise UserError(tr(OUTSIDE, name=name, path=path))
    return folder.joinpath(*plain.parts)
