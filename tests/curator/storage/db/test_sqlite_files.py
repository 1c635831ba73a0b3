"""What happens to the files that SQLite has open: other programs, full disks."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from curator.domain.wording import UserError
from curator.storage.db import sqlite_files
from curator.storage.project import open_project
from curator.storage.safety.backups import Backups

READ = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM meta').fetchall(); c.close()"


def write(store, key):
    with store.write() as unit:
        unit.meta.set(key, "v")
    store.settle()


def log_of(store):
    return store.folder / "project.sqlite-wal"


def keys_in(database):
    with closing(sqlite3.connect(database)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = conn.execute("SELECT key FROM meta WHERE key IN ('before', 'after', 'refused') ORDER BY key")
        return [key for (key,) in found]


@pytest.fixture
def backed_up(store, tmp_path):
    store.refuge = Backups(store.folder, root=lambda: tmp_path / "backups", most=lambda: 0).rescue
    return store


@pytest.mark.skipif(os.name != "posix", reason="only POSIX drops the locks of other handles")
def test_another_program_that_reads_the_open_project_leaves_its_log(store):
    write(store, "one")
    subprocess.run([sys.executable, "-S", "-c", READ, store.folder / "project.sqlite"], check=True)
    assert log_of(store).stat().st_size > 0


@pytest.mark.skipif(os.name != "posix", reason="Windows does not replace an open file")
@pytest.mark.parametrize("taken", ["log", "database"])
def test_decisions_of_files_that_were_taken_away_are_backed_up_and_no_more_are_accepted(backed_up, tmp_path, taken):
    store, database = backed_up, backed_up.folder / "project.sqlite"
    write(store, "before")
    if taken == "log":
        log_of(store).unlink()
    else:
        shutil.copyfile(database, tmp_path / "other.sqlite")
        (tmp_path / "other.sqlite").replace(database)
    with pytest.raises(UserError, match=r"deleted or replaced while .* is in the backup .*/backups/"):
        write(store, "after")
    with pytest.raises(UserError, match="no more decisions are accepted"):
        write(store, "refused")
    (copy,) = (tmp_path / "backups").rglob("*.sqlite")
    assert keys_in(copy) == ["after", "before"]
    assert (taken == "log") or not log_of(store).exists(), "it belongs to another database"
    with pytest.raises(UserError, match="close the project"):
        store.close()
    if taken == "log":
        with open_project(store.folder) as again, again.read() as unit:
            assert unit.meta.get("after") == "v"


@pytest.mark.skipif(os.name != "posix", reason="Windows does not rename a folder with open files")
def test_a_project_that_is_renamed_while_it_is_open_goes_on_once_it_is_back(store):
    write(store, "before")
    other = store.folder.with_name("renamed.curation")
    store.folder.rename(other)
    with pytest.raises(UserError, match=r"was moved, .* may not yet be on disk\. Move it back"):
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


def test_without_room_for_the_shared_memory_a_project_is_only_read(store, monkeypatch):
    write(store, "one")
    folder = store.folder
    store.close()
    monkeypatch.setattr(sqlite_files.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(UserError, match=r"cannot be written \(No space left on device\)\. Free some space, or open it"):
        open_project(folder)
    with open_project(folder, read_only=True) as reading, reading.read() as unit:
        assert unit.meta.get("one") == "v"
    assert not (folder / "project.sqlite-shm").exists()
