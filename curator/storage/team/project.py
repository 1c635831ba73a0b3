"""A shared project: a PostgreSQL database, and a folder on each computer that works on it.

The folder holds data that can be fetched or recomputed: the copy of the knowledge base, linkers and evaluations. It is
named after the project's id, so that each database has one folder, however its address is written.
"""

from __future__ import annotations

import os
import re
import uuid
from contextlib import suppress
from pathlib import Path

import platformdirs
from sqlalchemy import Connection

from curator.domain.wording import UserError, tr, well_formed
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from curator.storage.db.errors import as_user_errors
from curator.storage.db.meta import SqlMeta
from curator.storage.project import BUNDLES_NAME, SUFFIX
from curator.storage.team.postgres import (
    alone,
    check_clock,
    locked,
    other_writer,
    reading_team_engine,
    using,
    writing_team_engine,
)
from curator.storage.team.roles import refusals, renew, standing
from curator.storage.team.schema import check_schema_version, create_schema, migrate, newest_version
from curator.storage.team.store import SharedStore

FOLDER_VARIABLE = "CURATOR_SHARED_DIR"
LONGEST = 60
"""The most characters of the project's name in the folder name."""
_PLAIN = re.compile(r"[^\w.-]+")
NO_FOLDER = "{folder} cannot be created: {strerror}. Choose another folder in {variable}."


def create_shared_project(address: SharedAddress, *, name: str) -> SharedStore:
    """Create a project in the empty database at `address`, completely or not at all, and open it for writing.

    Raises UserError if the database is unreachable or not empty, or this login may not change it.
    """
    given = well_formed(name).strip() or address.name
    with (
        using(writing_team_engine(address)) as engine,
        as_user_errors(address),
        refusals(address, None),
        engine.begin() as conn,
    ):
        create_schema(conn, address)
        renew(conn)
        SqlMeta(conn).set("project.id", uuid.uuid4().hex)
        SqlMeta(conn).set("project.name", given)
        check_clock(conn, address)  # what would keep it from being opened
        _make(local_folder(conn))
    return open_shared_project(address)


def open_shared_project(address: SharedAddress, *, read_only: bool = False) -> SharedStore:
    """Open the project at `address`. For writing, this upgrades an older project and removes remains of interrupted
    imports, unless others have it open.

    A login that may only read opens it read-only. Raises ProjectLockedError, NewerProjectError, and UserError for a
    missing server, login or project.
    """
    with (
        using(reading_team_engine(address)) as engine,
        as_user_errors(address),
        refusals(address, None),
        engine.connect() as conn,
    ):
        version = check_schema_version(conn, address, older=not read_only)
        role, name = standing(conn) if version == newest_version() else (Role.OWNER, "")
        folder = local_folder(conn)
    _make(folder)
    store = SharedStore(address, folder, read_only=read_only or role is Role.READER)
    store.person, store.role = name, role
    try:
        if not store.read_only:
            _enter(store, address, role)
    except BaseException:
        store.close()
        raise
    return store


def _enter(store: SharedStore, address: SharedAddress, role: Role) -> None:
    """Upgrade an older project and remove remains of interrupted imports, both only if nobody else has it open and the
    login may. The knowledge base is copied first, because others wait while this client writes."""
    with store.read() as unit:
        unit.kb.part(0, 1)
    with store.write() as unit:
        check_clock(unit.connection, address)
        store.sole = alone(unit.connection)
        if store.sole:
            if migrate(unit.connection, address):
                store.person = standing(unit.connection)[1]
            if role is not Role.CURATOR:
                unit.files.remove_incomplete()
                unit.kb.remove_incomplete()
        elif check_schema_version(unit.connection, address, older=True) < newest_version():
            raise locked(address, other_writer(unit.connection))


def local_folder(conn: Connection) -> Path:
    """The folder with this computer's part of the project."""
    meta = SqlMeta(conn)
    project_id, name = meta.get("project.id") or "", meta.get("project.name") or ""
    chosen = os.environ.get(FOLDER_VARIABLE)
    root = Path(chosen) if chosen else platformdirs.user_data_path("curator") / "shared"
    plain = _PLAIN.sub("-", name).strip("-.")[:LONGEST] or "project"
    key = _PLAIN.sub("", project_id)[:LONGEST] or "unknown"
    return root / key / f"{plain}{SUFFIX}"


def _make(folder: Path) -> None:
    try:
        (folder / BUNDLES_NAME).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            tr(NO_FOLDER, folder=folder, strerror=error.strerror or error, variable=FOLDER_VARIABLE)
        ) from error
    with suppress(OSError):
        folder.parent.chmod(0o700)  # it holds data that the database protects by a login
