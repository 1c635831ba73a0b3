"""A read that fails is the disk's failure: SQLite calls it damage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from curator.domain.wording import DamagedProjectError, UserError
from curator.storage.db import errors
from curator.storage.db.engine import check_health
from curator.storage.db.errors import as_user_errors, is_sound_or_unread, is_unread

LOST = "*** in database main ***\nTree 5 page 9: unable to get the page. error code=8458"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "project.sqlite"
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("CREATE TABLE a (text TEXT)")
        conn.executemany("INSERT INTO a VALUES (?)", [("x" * 500,)] * 200)
    return path


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:12288] = bytes(range(256)) * 16
    path.write_bytes(content)


def corrupt() -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def test_a_page_that_could_not_be_read_is_not_damage() -> None:
    assert is_unread(LOST)
    assert is_unread("Main freelist: failed to get page 93")
    assert not is_unread("Main freelist: invalid page number 93")
    assert not is_unread("Tree 5 page 9: btreeInitPage() returns error code 11")
    assert not is_unread("Page 9: unable to get the page. error code=11")


def test_a_sound_database_that_was_called_damaged_was_not_read(database: Path) -> None:
    with pytest.raises(UserError, match="The disk failed while") as caught, as_user_errors(database):
        raise corrupt()
    assert not isinstance(caught.value, DamagedProjectError)


def test_a_damaged_one_is_damaged(database: Path) -> None:
    damage(database)
    with pytest.raises(DamagedProjectError, match="is damaged"), as_user_errors(database):
        raise corrupt()


def test_an_index_that_names_a_missing_row_is_damage(database: Path) -> None:
    def run(*statements: str) -> None:
        with closing(sqlite3.connect(database, isolation_level=None)) as conn:
            conn.execute("PRAGMA writable_schema = ON")
            for one in statements:
                conn.execute(one)

    run("UPDATE a SET text = rowid", "CREATE INDEX b ON a (text)")
    run("CREATE TABLE kept AS SELECT * FROM sqlite_master WHERE name = 'b'", "DELETE FROM sqlite_master WHERE name='b'")
    run("DELETE FROM a WHERE text = '7'", "INSERT INTO sqlite_master SELECT * FROM kept")
    with pytest.raises(DamagedProjectError), as_user_errors(database):
        raise corrupt()


def test_a_page_that_cannot_be_read_again_is_no_damage(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "_look", lambda *_: LOST)
    assert is_sound_or_unread(database)


def test_a_file_that_is_missing_is_not_looked_at(tmp_path: Path) -> None:
    assert not is_sound_or_unread(tmp_path / "project.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_opening_says_that_the_disk_failed(database: Path) -> None:
    class Answering:
        def execute(self, _: str) -> Answering:
            return self

        def fetchone(self) -> tuple[str]:
            return (LOST,)

    with pytest.raises(UserError, match="The disk failed while") as caught:
        check_health(Answering(), database)  # type: ignore[arg-type]
    assert not isinstance(caught.value, DamagedProjectError)
