from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from errno import EIO, ENOSPC
from pathlib import Path

import pytest

from curator.domain.wording import DamagedProjectError, MissingStepsError, ProjectLockedError, UserError
from curator.storage import project
from curator.storage.db import syncing
from curator.storage.project import open_project
from curator.storage.safety import restoring
from curator.storage.safety.backups import Backups, backups_of
from curator.storage.safety.restoring import continue_without, restore
from tests.curator.storage.safety.conftest import decide_in


@pytest.fixture
def root(tmp_path):
    return tmp_path / "backups"


@pytest.fixture
def backup(folder, root):
    return Backups(folder, root=lambda: root, most=lambda: 10**9).make(lambda: None)


def decisions(folder):
    with open_project(folder) as store, store.read() as unit:
        return unit.decisions.count()


@pytest.mark.parametrize("damage", ["none", "missing", "cut", "no database", "no marker either"])
def test_a_backup_takes_the_place_and_what_was_there_is_kept(folder, decide, backup, root, damage):
    decide([50, 51])
    database = folder / "project.sqlite"
    if damage in ("missing", "no marker either"):
        database.unlink()
        with pytest.raises(DamagedProjectError, match="has lost its database"):
            open_project(folder)
    elif damage != "none":
        database.write_bytes(database.read_bytes()[:5000] if damage == "cut" else b"x" * 5000)
        with pytest.raises(DamagedProjectError):
            open_project(folder)
    if damage == "no marker either":
        (folder / "project.curator").unlink()
    before = database.read_bytes() if database.exists() else None
    (found,) = backups_of(folder, root)
    done = restore(folder, found)
    assert decisions(folder) == 40
    assert json.loads((folder / "project.curator").read_text())["name"] == "P"
    kept = list(folder.glob("project.sqlite.before-*"))
    assert list(done.kept) == kept
    assert [one.read_bytes() for one in kept] == ([before] if before is not None else [])
    assert not list(folder.glob("*.part"))
    assert "Restored" in done.text


def test_what_was_restored_can_be_opened_as_often_as_one_likes(folder, decide, backup):
    decide([50])
    restore(folder, backup)
    for _ in range(3):  # an opening that changes nothing used to leave the hash of another file
        assert decisions(folder) == 40


def test_a_database_without_a_log_can_be_opened_as_often_as_one_likes(folder, backup):
    shutil.copy(backup.path, folder / "project.sqlite")
    continue_without(folder)
    for _ in range(3):
        assert decisions(folder) == 40


@pytest.mark.parametrize("stopped", ["unlink", "replace", "sync_folder", "renew_marker", "mark_as_it_is"])
def test_a_restoration_that_was_stopped_is_completed_by_the_next_opening(folder, decide, backup, monkeypatch, stopped):
    decide([50, 51])
    stop_at(monkeypatch, folder, stopped)
    with pytest.raises(KeyboardInterrupt):
        restore(folder, backup)
    monkeypatch.undo()
    if (folder / "project.sqlite.restored").exists():
        with pytest.raises(UserError, match="was being restored when Curator ended"):
            open_project(folder, read_only=True)
    assert decisions(folder) == 40
    assert not list(folder.glob("project.sqlite.restored*"))
    assert len(list(folder.glob("project.sqlite.before-*"))) == 1


def stop_at(monkeypatch, folder, what):
    """As if the process ended there, once the copy has its name."""
    place = Path if what in ("unlink", "replace") else project
    real = getattr(place, what)

    def stopped(*arguments, **more):
        if (folder / "project.sqlite.restored").exists() or what in ("renew_marker", "mark_as_it_is"):
            raise KeyboardInterrupt
        return real(*arguments, **more)

    monkeypatch.setattr(place, what, stopped)


def test_a_restoration_that_fails_leaves_nothing(folder, decide, backup, monkeypatch):
    decide([50, 51])

    def full(*_):
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(restoring, "sync_file", full)
    with pytest.raises(UserError, match="was not restored"):
        restore(folder, backup)
    assert decisions(folder) == 42
    assert not list(folder.glob("project.sqlite.*"))


def test_a_restoration_that_fails_later_says_how_it_is_completed(folder, decide, backup, monkeypatch):
    decide([50, 51])

    def broken(*_):
        raise OSError(EIO, "Input/output error")

    monkeypatch.setattr(project, "sync_folder", broken)
    with pytest.raises(UserError, match="begun but not completed"):
        restore(folder, backup)
    monkeypatch.undo()
    assert decisions(folder) == 40


@pytest.mark.parametrize("at", [1, 2, 3])
def test_whenever_the_disk_fails_the_state_before_is_still_there(folder, decide, backup, monkeypatch, at):
    """The third time, the backup already has the name of the database."""
    decide([50, 51])
    before = (folder / "project.sqlite").read_bytes()
    synced = []

    def failing(path):
        synced.append(path)
        if len(synced) == at:
            raise OSError(EIO, os.strerror(EIO), str(path))

    monkeypatch.setattr(project, "sync_folder", failing)
    with pytest.raises(UserError, match="this completes the restoration"):
        restore(folder, backup)
    monkeypatch.undo()
    assert [one.read_bytes() for one in folder.glob("project.sqlite.before-*")] == [before]
    assert decisions(folder) == 40


def test_a_folder_that_the_disk_does_not_find_is_not_a_lost_one(folder, backup, monkeypatch):
    def stat(path, **_):
        raise OSError(EIO, os.strerror(EIO), str(path))

    with monkeypatch.context() as patched:
        patched.setattr(type(folder), "stat", stat)
        with pytest.raises(UserError, match="was not restored"):
            restore(folder, backup)
    assert decisions(folder) == 40


def test_the_log_of_the_state_before_is_kept_with_it_and_never_applied(folder, backup, tmp_path):
    killed = tmp_path / "killed.curation"
    with open_project(folder) as store:
        decide_in(store, [50, 51])
        store.settle()
        shutil.copytree(folder, killed)
    restore(killed, backup)
    assert decisions(killed) == 40
    first, log = sorted(killed.glob("project.sqlite.before-*"))
    assert log.name == f"{first.name}-wal"
    for side, path in (("", first), ("-wal", log)):
        shutil.copy(path, killed / f"project.sqlite{side}")
    continue_without(killed)
    assert decisions(killed) == 42


def test_a_damaged_backup_or_an_open_project_changes_nothing(folder, backup):
    with open_project(folder), pytest.raises(ProjectLockedError):
        restore(folder, backup)
    before = (folder / "project.sqlite").read_bytes()
    backup.path.write_bytes(b"x" * 8192)
    with pytest.raises(UserError, match=r"is damaged\. Choose another one"):
        restore(folder, backup)
    assert (folder / "project.sqlite").read_bytes() == before
    assert not list(folder.glob("*before*"))


def test_a_project_whose_folder_is_lost_is_restored(folder, backup, root):
    shutil.rmtree(folder)
    (found,) = backups_of(folder, root)
    whole = backup.path.read_bytes()
    backup.path.write_bytes(b"x" * 8192)
    with pytest.raises(UserError, match=r"is damaged\. Choose another one"):
        restore(folder, found)
    assert not folder.exists()
    backup.path.write_bytes(whole)
    restore(folder, found)
    assert decisions(folder) == 40


def test_a_foreign_view_does_not_keep_backups_from_being_listed(folder, backup, root):
    (folder / "project.curator").unlink()
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn, conn:
        conn.execute("DROP TABLE meta")
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
        conn.execute(f"CREATE VIEW meta AS {endless} SELECT x AS key, x AS value FROM c")
    assert len(backups_of(folder, root)) == 1
    with pytest.raises(DamagedProjectError):
        continue_without(folder)


def test_nothing_is_continued_where_no_project_is(tmp_path):
    for folder in (tmp_path / "p.curation", tmp_path / "p"):
        folder.mkdir()
        with pytest.raises(UserError, match="is not a project"):
            continue_without(folder)
        assert not list(folder.iterdir())


def test_a_project_that_lacks_steps_can_go_on_without_them(folder, decide, tmp_path):
    older = (folder / "project.sqlite").read_bytes()
    decide([50])
    (folder / "project.sqlite").write_bytes(older)
    with pytest.raises(MissingStepsError, match="lacks 1 step"):
        open_project(folder)
    continue_without(folder)
    assert decisions(folder) == 40


def test_a_backup_is_not_written_through_a_link(folder, backup, root, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"what the user wrote")
    (folder / "project.sqlite.restored.part").symlink_to(victim)
    (folder / "project.curator.part").symlink_to(victim)
    (found,) = backups_of(folder, root)
    restore(folder, found)
    assert victim.read_bytes() == b"what the user wrote"
    assert decisions(folder) == 40


@pytest.mark.skipif(os.name != "posix", reason="Windows does not delete open files")
@pytest.mark.parametrize("more", [True, False])
def test_a_project_that_was_deleted_while_it_was_open_is_restored_with_its_last_decision(
    folder, root, more, monkeypatch
):
    monkeypatch.setattr(syncing, "PATROL", 1000.0 if more else 0.01)
    store, noticed = open_project(folder), threading.Event()
    store.refuge = Backups(folder, root=lambda: root, most=lambda: 0).rescue
    decide_in(store, [50])
    store.settle()
    store.on_saving(lambda saving: noticed.set() if saving.why else None)
    shutil.rmtree(folder)
    if more:  # nothing is accepted after this one
        decide_in(store, [51])
        with pytest.raises(UserError, match=r"deleted or replaced while .* Everything up to now is in the backup"):
            store.settle()
        with pytest.raises(UserError, match="no more decisions are accepted"):
            decide_in(store, [52])
    assert noticed.wait(10), "also by somebody who only reads"
    with pytest.raises(UserError, match="or restore a backup"):
        store.close()
    (found,) = backups_of(folder, root)
    assert not list(root.rglob("*.part"))
    restore(folder, found)
    assert decisions(folder) == (42 if more else 41)


def test_without_a_place_for_a_backup_nobody_says_that_there_is_one(folder, tmp_path):
    (tmp_path / "file").touch()
    store = open_project(folder)
    store.refuge = Backups(folder, root=lambda: tmp_path / "file", most=lambda: 10**9).rescue
    folder.rename(moved := tmp_path / "moved.curation")
    decide_in(store, [50])
    with pytest.raises(UserError, match="may not yet be on disk"):
        store.close()
    assert decisions(moved) == 41


def test_a_copy_that_cannot_be_read_is_not_a_damaged_backup(folder, backup, monkeypatch):
    before = (folder / "project.sqlite").read_bytes()
    content = bytearray(backup.path.read_bytes())
    content[-4096:] = bytes(range(256)) * 16
    backup.path.write_bytes(content)
    monkeypatch.setattr("curator.storage.safety.restoring.is_unread", lambda _: True)
    with pytest.raises(UserError, match="The disk failed"):
        restore(folder, backup)
    assert (folder / "project.sqlite").read_bytes() == before
