"""What happens to the files that SQLite has open: other programs, handles, full disks."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from curator.domain.wording import UserError
from curator.storage.db import sqlite_files
from curator.storage.db.engine import FOLD_BYTES
from curator.storage.db.mark import digest_of
from curator.storage.project import open_project

READ = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM meta').fetchall(); c.close()"


def write(store, key):
    with store.write() as unit:
        unit.meta.set(key, "v")
    store.settle()


def full(file, size):
    raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


@pytest.fixture
def with_a_quota(store, monkeypatch):
    """The project on a disk where each change needs space."""
    monkeypatch.setattr(sqlite_files, "_is_btrfs", lambda folder: True)
    monkeypatch.setattr(sqlite_files, "STEPS", 500)
    folder = store.folder
    store.close()
    with open_project(folder) as again:
        yield again


def log_of(store):
    return store.folder / "project.sqlite-wal"


def test_a_transaction_that_fails_leaves_the_log_as_long_as_it_was(store):
    write(store, "before")
    length = log_of(store).stat().st_size

    def write_much() -> None:
        with store.write() as unit:
            unit.connection.exec_driver_sql("PRAGMA cache_size = 10")  # the rest is written to the log at once
            unit.meta.set("large", "x" * FOLD_BYTES)
            unit.meta.set("more", "x")
            assert log_of(store).stat().st_size > FOLD_BYTES
            raise UserError("The disk is full")

    with open_project(store.folder, read_only=True) as reader, reader.read() as seen:
        assert seen.meta.get("before") == "v"
        with pytest.raises(UserError, match="full"):
            write_much()
    assert log_of(store).stat().st_size == length
    write(store, "after")
    with store.read() as unit:
        assert [unit.meta.get(key) for key in ("before", "large", "after")] == ["v", None, "v"]
        assert unit.connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


@pytest.mark.skipif(os.name != "posix", reason="only POSIX drops the locks of other handles")
def test_another_program_that_reads_the_open_project_leaves_its_log(store):
    write(store, "one")
    digest_of(store.folder / "project.sqlite", whole=True)
    subprocess.run([sys.executable, "-S", "-c", READ, store.folder / "project.sqlite"], check=True)
    assert log_of(store).stat().st_size > 0


def test_a_handle_is_kept_until_the_last_store_is_closed(store):
    with open_project(store.folder, read_only=True):
        digest_of(store.folder / "project.sqlite", whole=True)
    (kept,) = sqlite_files._kept.values()
    assert kept[-1].name == str(store.folder / "project.sqlite")
    assert not kept[-1].closed
    store.close()
    assert kept[-1].closed
    assert not sqlite_files._kept
    assert not sqlite_files._users


def test_decisions_in_a_log_that_was_taken_away_are_saved_and_no_more_are_accepted(store, tmp_path):
    write(store, "before")
    log_of(store).unlink()
    write(store, "after")
    copy = shutil.copyfile(store.folder / "project.sqlite", tmp_path / "on-disk.sqlite")
    with closing(sqlite3.connect(copy)) as conn:
        assert conn.execute("SELECT count(*) FROM meta WHERE key IN ('before', 'after')").fetchone() == (2,)
    with pytest.raises(UserError, match=r"deleted or replaced .*project\.sqlite-wal while .* is saved\. Close"):
        write(store, "refused")
    store.close()
    with open_project(store.folder) as again, again.read() as unit:
        assert unit.meta.get("after") == "v"
        assert not again.altered


def test_what_cannot_be_taken_from_a_lost_log_is_not_called_saved(store, monkeypatch):
    write(store, "before")
    log_of(store).rename(log_of(store).with_name("elsewhere"))
    monkeypatch.setattr(store._syncer, "_rescue", lambda: False)
    with pytest.raises(UserError, match="could not be saved to disk: another program deleted or replaced its"):
        write(store, "after")
    assert not store.saving.holds(store.saving.asked)
    with pytest.raises(UserError, match="could not be saved"):
        store.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows does not replace an open file")
def test_decisions_of_a_database_that_was_replaced_are_kept_in_a_file_of_their_own(store, tmp_path):
    write(store, "before")
    database = store.folder / "project.sqlite"
    shutil.copyfile(database, tmp_path / "other.sqlite")
    (tmp_path / "other.sqlite").replace(database)
    with pytest.raises(UserError, match=r"deleted or replaced .*project\.sqlite while .* is in .*\.kept-"):
        write(store, "after")
    with pytest.raises(UserError, match="no more decisions are accepted"):
        write(store, "refused")
    (copy,) = store.folder.glob("project.sqlite.kept-*")
    with closing(sqlite3.connect(copy)) as conn:
        found = conn.execute("SELECT key FROM meta WHERE key IN ('before', 'after', 'refused') ORDER BY key").fetchall()
        assert found == [("after",), ("before",)]
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert not log_of(store).exists()
    with pytest.raises(UserError, match="Close the project, and give the file that you want to keep the name"):
        store.close()


@pytest.mark.skipif(os.name != "posix", reason="Windows does not rename a folder with open files")
def test_a_project_that_is_renamed_while_it_is_open_goes_on_once_it_is_back(store):
    write(store, "before")
    other = store.folder.with_name("renamed.curation")
    store.folder.rename(other)
    with pytest.raises(UserError, match=r"curation was moved, renamed or deleted while .* Move it back"):
        write(store, "after")
    other.rename(store.folder)
    store.settle()
    write(store, "again")
    store.folder.rename(other)
    with pytest.raises(UserError, match="was moved"):
        write(store, "last")
    with pytest.raises(UserError, match="open it at its new place"):
        store.close()
    with open_project(other) as there, there.read() as unit:
        assert [unit.meta.get(key) for key in ("before", "after", "again", "last")] == ["v"] * 4


@pytest.mark.skipif(sys.platform != "linux", reason="space is reserved on Linux")
def test_without_room_for_the_shared_memory_a_project_is_only_read(store, monkeypatch):
    write(store, "one")
    folder = store.folder
    store.close()

    monkeypatch.setattr(sqlite_files, "_allocate", full)
    with pytest.raises(
        UserError, match=r"cannot be written \(Disk quota exceeded\)\. Free some space, or open it read"
    ):
        open_project(folder)
    with open_project(folder, read_only=True) as reading, reading.read() as unit:
        assert unit.meta.get("one") == "v"
    assert not (folder / "project.sqlite-shm").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="Btrfs is Linux's")
def test_the_shared_memory_that_is_made_on_btrfs_is_used_like_sqlites_own(store, monkeypatch):
    store.close()
    monkeypatch.setattr(sqlite_files, "_is_btrfs", lambda folder: True)
    (store.folder / "project.sqlite").chmod(0o640)
    with open_project(store.folder) as again:
        write(again, "one")
        assert (store.folder / "project.sqlite-shm").stat().st_mode & 0o777 == 0o640
        assert (store.folder / "project.sqlite-shm").stat().st_size == sqlite_files.ROOM
    assert not (store.folder / "project.sqlite-shm").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="Btrfs is Linux's")
def test_where_a_quota_counts_every_change_each_write_needs_room(store, monkeypatch):
    write(store, "one")
    store.close()
    monkeypatch.setattr(sqlite_files, "_is_btrfs", lambda folder: True)
    with open_project(store.folder) as again:
        with monkeypatch.context() as quota:
            quota.setattr(sqlite_files, "_allocate", full)
            with pytest.raises(UserError, match=r"cannot be written \(Disk quota exceeded\)\. Free some space"):
                write(again, "two")
        write(again, "three")


@pytest.mark.skipif(sys.platform != "linux", reason="space is reserved on Linux")
@pytest.mark.parametrize(("rows", "value"), [(200, "v"), (2, "v" * 200_000)], ids=["many", "large"])
def test_a_transaction_ends_before_it_has_used_up_a_quota(with_a_quota, monkeypatch, rows, value):
    def write_all():
        with with_a_quota.write() as unit:
            for number in range(rows):
                unit.meta.set(str(number), value)

    def nearly_full(file, size):
        if size > sqlite_files.ROOM:
            full(file, size)

    with monkeypatch.context() as quota:
        quota.setattr(sqlite_files, "_allocate", nearly_full)
        with pytest.raises(UserError, match=r"^The disk is full: nothing of this step was saved in .*sqlite\. Free"):
            write_all()
        write(with_a_quota, "small")
    with with_a_quota.read() as unit:
        assert (unit.meta.get("0"), unit.meta.get("small")) == (None, "v")


@pytest.mark.skipif(sys.platform != "linux", reason="space is reserved on Linux")
def test_without_room_the_log_stays_at_closing_and_is_read_again(with_a_quota, monkeypatch):
    write(with_a_quota, "one")
    with monkeypatch.context() as quota:
        quota.setattr(sqlite_files, "_allocate", full)
        assert not with_a_quota._syncer.fold()
        with_a_quota.close()
    assert log_of(with_a_quota).stat().st_size > 0
    with open_project(with_a_quota.folder) as again, again.read() as unit:
        assert unit.meta.get("one") == "v"
    assert not log_of(with_a_quota).exists()
