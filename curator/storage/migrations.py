"""The schema's versions: numbered steps, a backup before an upgrade, a refusal of newer ones.

SQLite's `user_version` holds the version, `application_id` marks the file as ours.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from curator.domain.wording import DamagedProjectError, NewerProjectError, UserError, tr
from curator.storage.db.errors import as_user_errors
from curator.storage.db.former_schemas import (
    VERSION_1,
    VERSION_2,
    VERSION_3,
    VERSION_4,
    VERSION_5,
    VERSION_6,
    VERSION_7,
    VERSION_8,
    VERSION_9,
    VERSION_10,
    VERSION_11,
    fill,
)
from curator.storage.db.hash_chain import fill_chain
from curator.storage.db.sqlite_files import RoomWatch, needs_room
from curator.storage.db.suggestion_facts import fill_facts, fill_names, fill_others
from curator.storage.db.syncing import sync_folder
from curator.storage.kb.kb_index import upgrade_versions

Step = Callable[[sqlite3.Connection], None]

CHAINED = 10
"""The version from which operations and decisions have hashes."""
APPLICATION_ID = 0x43757261  # "Cura"


def _create_version_1(conn: sqlite3.Connection) -> None:
    for statement in VERSION_1:
        conn.execute(statement)


def _add_indexes(conn: sqlite3.Connection) -> None:
    for statement in VERSION_2:
        conn.execute(statement)


def _add_workbench(conn: sqlite3.Connection) -> None:
    for statement in VERSION_3:
        conn.execute(statement)
    fill(conn)
    upgrade_versions(conn)


def _add_imports(conn: sqlite3.Connection) -> None:
    for statement in VERSION_4:
        conn.execute(statement)


def _add_attributes(conn: sqlite3.Connection) -> None:
    for statement in VERSION_5:
        conn.execute(statement)


def _add_opinions(conn: sqlite3.Connection) -> None:
    for statement in VERSION_6:
        conn.execute(statement)


def _add_suggestion_facts(conn: sqlite3.Connection) -> None:
    for statement in VERSION_7:
        conn.execute(statement)
    fill_facts(conn)


def _add_relations(conn: sqlite3.Connection) -> None:
    for statement in VERSION_8:
        conn.execute(statement)


def _add_other_candidates(conn: sqlite3.Connection) -> None:
    for statement in VERSION_9:
        conn.execute(statement)
    fill_others(conn)


def _add_chain(conn: sqlite3.Connection) -> None:
    for statement in VERSION_10:
        conn.execute(statement)
    fill_chain(conn)


def _add_other_names(conn: sqlite3.Connection) -> None:
    for statement in VERSION_11:
        conn.execute(statement)
    fill_names(conn)


# Step i takes a database from version i to version i + 1. A released step is never edited; append a new one.
STEPS: tuple[Step, ...] = (
    _create_version_1,
    _add_indexes,
    _add_workbench,
    _add_imports,
    _add_attributes,
    _add_opinions,
    _add_suggestion_facts,
    _add_relations,
    _add_other_candidates,
    _add_chain,
    _add_other_names,
)


MARKER_NAME = "project.curator"
"""The file by which the systems know a project's folder."""


def current_version() -> int:
    return len(STEPS)


def create_database(path: Path, *, steps: Sequence[Step] | None = None) -> None:
    """Create a new, empty database of the newest version."""
    with as_user_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute("PRAGMA journal_mode = WAL")
        _run(conn, STEPS if steps is None else steps, 0)


def check_version(
    conn: sqlite3.Connection, path: Path, *, steps: Sequence[Step] | None = None, newer: bool = False
) -> int:
    """The version of the open database `path`. Raises NewerProjectError unless `newer` ones are allowed, and UserError
    if it is not ours: DamagedProjectError if it lies in a project."""
    newest = len(STEPS if steps is None else steps)
    with as_user_errors(path):
        ours = conn.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
        version = int(conn.execute("PRAGMA user_version").fetchone()[0])
    if not ours or version < 1:
        if (path.parent / MARKER_NAME).is_file():
            raise DamagedProjectError(tr("{path} is damaged: it is not marked as a project's database.", path=path))
        raise UserError(
            tr("{path} is not a project of this program. Choose a folder that ends in .curation.", path=path)
        )
    if version > newest and not newer:
        raise NewerProjectError(
            tr(
                "{path} was written by a newer version of this program (schema {version}; this version "
                "reads up to {newest}). Update the program; the project was not changed.",
                path=path,
                version=version,
                newest=newest,
            )
        )
    return version


def upgrade_database(path: Path, *, steps: Sequence[Step] | None = None) -> Path | None:
    """Upgrade the database to the newest version; the caller holds the project's lock.

    An older one is first copied to `project.sqlite.backup-vN`; returns that copy, or None if nothing had to be done. A
    failed or interrupted upgrade leaves the database unchanged, so that the older program still opens it.
    """
    chosen = STEPS if steps is None else steps
    with as_user_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as conn:
        version = check_version(conn, path, steps=chosen)
        if version == len(chosen):
            return None
        backup = _back_up(conn, path, version)
        if needs_room(path):
            RoomWatch(path).attach(conn)
        _run(conn, chosen, version)
        return backup


def run_steps(conn: sqlite3.Connection, version: int) -> None:
    """Turn an empty database into one of this version."""
    _run(conn, STEPS[:version], 0)


def _run(conn: sqlite3.Connection, steps: Sequence[Step], version: int) -> None:
    """All steps in one transaction."""
    conn.execute("PRAGMA foreign_keys = OFF")  # a step may rebuild a table that others refer to
    conn.execute("BEGIN EXCLUSIVE")
    try:
        for step in steps[version:]:
            step(conn)
        conn.execute(f"PRAGMA user_version = {len(steps)}")
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise


def _back_up(conn: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the database, including its WAL, next to it, atomically."""
    target = path.with_name(f"{path.name}.backup-v{version}")
    part = path.with_name(f"{target.name}.part")
    for left in (part, path.with_name(f"{part.name}-journal")):  # which SQLite would play back into the new copy
        left.unlink(missing_ok=True)
    with closing(sqlite3.connect(part)) as copy:
        conn.backup(copy)
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    part.replace(target)
    sync_folder(path.parent)
    return target
