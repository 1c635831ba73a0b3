"""The version of the schema, and how an older database would become one of the newest version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from curator.domain.decisions import Verdict
from curator.domain.wording import DamagedProjectError, NewerProjectError, UserError
from curator.storage import migrations
from curator.storage.foreign import check_schema
from curator.storage.project import create_project, open_project
from tests.curator.storage.filler import Filler

VERSION_1 = "a564d687f9c3"
"""What the statements of version 1 hash to."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with create_project(tmp_path / "p", name="P") as store:
        fill = Filler(store)
        fill.decide(fill.mentions()[0], Verdict.nil())
    return store.folder


def test_what_is_released_stays_as_it_is():
    assert migrations.current_version() == 1, "a migration needs the statements of version 1 in a test of its own"
    found = sha256("\n".join(migrations.statements()).encode()).hexdigest()[:12]
    assert found == VERSION_1, "append a migration: stored projects are compared with these statements"


def add_column(conn: sqlite3.Connection) -> None:
    conn.execute("ALTER TABLE meta ADD COLUMN extra TEXT")


def fail(conn: sqlite3.Connection) -> None:
    conn.execute("DROP TABLE meta")
    raise ZeroDivisionError


def test_an_older_project_is_migrated_in_one_transaction_and_compared(folder, monkeypatch):
    database = folder / "project.sqlite"
    monkeypatch.setattr(migrations, "MIGRATIONS", (add_column, fail))
    with pytest.raises(UserError, match="older version"):
        open_project(folder, read_only=True)
    with pytest.raises(ZeroDivisionError):
        open_project(folder)
    monkeypatch.setattr(migrations, "MIGRATIONS", (add_column,))
    with pytest.raises(DamagedProjectError, match="has a table called “meta”"):  # which `schema` does not declare
        open_project(folder)
    with closing(sqlite3.connect(database)) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (1,)
        check_schema(conn, database)
    monkeypatch.setattr("curator.storage.project.check_schema", lambda *_: None)
    with open_project(folder) as store, store.read() as unit:
        assert unit.decisions.count() == 1
    with closing(sqlite3.connect(database)) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (2,)
        assert conn.execute("SELECT DISTINCT extra FROM meta").fetchall() == [(None,)]
    assert '"schema_version": 2' in (folder / "project.curator").read_text()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_project_is_refused_and_untouched(folder, read_only):
    newer = migrations.current_version() + 1
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
        conn.execute(f"PRAGMA user_version = {newer}")
    before = (folder / "project.sqlite").read_bytes()
    with pytest.raises(NewerProjectError, match=rf"newer version of this program \(schema {newer};"):
        open_project(folder, read_only=read_only)
    assert (folder / "project.sqlite").read_bytes() == before
