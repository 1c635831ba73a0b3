from __future__ import annotations

import errno
import json
import os
import sqlite3
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from curator.domain.decisions import Verdict
from curator.domain.wording import DamagedProjectError, ProjectLockedError, UserError
from curator.storage import migrations, project
from curator.storage.db.lock import ProjectLock
from curator.storage.project import create_project, open_project
from tests.curator.storage.filler import Filler


def test_a_new_project_has_its_parts_and_opens_again_by_folder_name_or_file(tmp_path):
    create_project(tmp_path / "mine", name="Mine ü").close()
    folder = tmp_path / "mine.curation"
    marker = json.loads((folder / "project.curator").read_text("utf-8"))
    expected = (migrations.current_version(), "Mine ü", 32)
    assert (marker["schema_version"], marker["name"], len(marker["project_id"])) == expected
    assert (folder / "bundles").is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.curation"]
    for path in (folder, tmp_path / "mine", folder / "project.curator"):
        with open_project(path) as store, store.read() as unit:
            assert (store.folder, store.read_only) == (folder, False)
            assert unit.meta.get("project.id") == marker["project_id"]


def test_a_project_is_not_made_over_something_nor_nowhere(tmp_path):
    (tmp_path / "a.curation").mkdir()
    with pytest.raises(UserError, match="already exists"):
        create_project(tmp_path / "a", name="a")
    with pytest.raises(UserError, match="not a folder"):
        create_project(tmp_path / "no" / "a", name="a")


def test_no_project_is_made_in_another_one(folder):
    with pytest.raises(UserError, match="is inside a project's folder"):
        create_project(folder / "project.sqlite", name="P")


def test_the_next_new_project_removes_what_killed_processes_left(tmp_path):
    other = f".b.curation.{os.getpid()}.new"
    for name in (".a.curation.1.new", ".c.curation.999999999.new", other, "x.new", ".notes.new"):
        (tmp_path / name).mkdir()
    (tmp_path / ".a.curation.1.new" / "project.lock").write_bytes(b"")
    with ProjectLock(tmp_path / other):
        create_project(tmp_path / "a", name="a").close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [other, ".notes.new", "a.curation", "x.new"]


def test_a_disk_that_fills_while_a_project_is_made_is_said_with_its_name(tmp_path, monkeypatch):
    def full(lock):
        raise UserError("no room") from OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(ProjectLock, "acquire", full)
    with pytest.raises(UserError, match=r"a\.curation cannot be created: No space left"):
        create_project(tmp_path / "a", name="a")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_in_the_new_database_is_said_with_its_name(tmp_path, monkeypatch):
    def full(database):
        raise UserError(f"nothing was saved in {database}")

    monkeypatch.setattr(migrations, "create_database", full)
    with pytest.raises(UserError, match=r"nothing was saved in .*/a\.curation/project\.sqlite"):
        create_project(tmp_path / "a", name="a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="locks as POSIX systems do")
@pytest.mark.parametrize("fails", ["unsupported", "held by nobody"])
def test_no_project_is_made_where_locks_keep_nobody_out(tmp_path, monkeypatch, fails):
    import fcntl

    def flock(*_):
        if fails == "unsupported":
            raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(UserError, match=r"/a\.curation cannot be created.*not support locks.*a disk of this computer"):
        create_project(tmp_path / "a", name="a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks Linux which files were synced")
def test_a_new_project_is_on_the_disk_before_and_under_its_name(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def noted(handle):
        synced.append((Path(f"/proc/self/fd/{handle}").resolve(), (tmp_path / "a.curation").exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    create_project(tmp_path / "a", name="a").close()
    before = {path.name.removesuffix(".part") for path, named in synced if not named}
    assert {"project.curator", f".a.curation.{os.getpid()}.new"} <= before
    assert (tmp_path, True) in synced


def test_a_marker_that_an_upgrade_did_not_reach_is_written_at_the_next_opening(folder, monkeypatch):
    marker = folder / "project.curator"
    right = marker.read_bytes()
    marker.write_text(json.dumps({**json.loads(right), "schema_version": 0}), encoding="utf-8")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("curator.storage.project._write_marker", full)
        with pytest.raises(UserError, match=r"cannot be written \(No space left on device\)\. Free some space"):
            open_project(folder)
    open_project(folder).close()
    assert json.loads(marker.read_bytes()) == json.loads(right)


def test_what_is_no_project_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.curation").mkdir()
    for name, text in (("none", "does not exist"), ("folder", "not a project"), ("empty.curation", "project.sqlite")):
        with pytest.raises(UserError, match=text):
            open_project(tmp_path / name)


@pytest.fixture
def folder(tmp_path):
    with create_project(tmp_path / "p", name="P") as store:
        fill = Filler(store)
        fill.decide(fill.mentions()[0], Verdict.nil())
    return store.folder


@pytest.mark.parametrize("read_only", [False, True])
def test_damage_blocks_opening(folder, read_only):
    database = folder / "project.sqlite"
    good = database.read_bytes()
    database.write_bytes(b"x" * 5000)
    with pytest.raises(UserError, match="not a project database"):
        open_project(folder, read_only=read_only)
    database.write_bytes(good[:4096] + os.urandom(len(good) - 4096))
    with pytest.raises(UserError, match="damaged"):
        open_project(folder, read_only=read_only)
    with closing(sqlite3.connect(folder.parent / "other.db")) as conn:
        conn.execute("CREATE TABLE t (a)")
    database.write_bytes((folder.parent / "other.db").read_bytes())
    with pytest.raises(DamagedProjectError, match="not marked as a project's database"):
        open_project(folder, read_only=read_only)
    (folder / "project.curator").unlink()
    with pytest.raises(UserError, match="not a project of this program"):
        open_project(folder, read_only=read_only)
    database.write_bytes(good)
    open_project(folder, read_only=read_only).close()


def test_a_second_writer_is_told_who_holds_the_project_and_a_reader_is_let_in(folder):
    with open_project(folder) as writer:
        with pytest.raises(ProjectLockedError, match=f"process {os.getpid()} on "):
            open_project(folder)
        with open_project(folder, read_only=True) as reader:
            assert reader.read_only
            with writer.write() as unit:
                unit.meta.set("k", "v")
            with reader.read() as unit:
                assert unit.meta.get("k") == "v"
            with pytest.raises(UserError, match="read-only"), reader.write():
                pass
    open_project(folder).close()


def test_incomplete_imports_are_removed_at_opening(folder):
    with open_project(folder) as store:
        fill = Filler(store)
        fill.file(complete=False)
        with store.write() as unit:
            unit.kb.begin(name="half")
    with open_project(folder) as store, store.write() as unit:
        assert (unit.files.remove_incomplete(), unit.kb.remove_incomplete()) == (0, 0)


@contextmanager
def not_writable(folder):
    """Also when the tests run as root, whom permissions do not bind."""
    ours = [parent for parent in folder.parents if "pytest-" in str(parent)]
    modes = {path: path.stat().st_mode for path in (folder, *folder.iterdir(), *ours)}
    root = os.geteuid() == 0
    for path in modes:
        path.chmod(0o555)
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_folder_that_cannot_be_written_opens_read_only(folder):
    with not_writable(folder):
        with pytest.raises(UserError, match="cannot be written"):
            open_project(folder)
        with open_project(folder, read_only=True) as store, store.read() as unit:
            assert unit.decisions.count() == 1
        with pytest.raises(UserError, match="cannot be created"):
            create_project(folder.parent / "q", name="q")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_decisions_still_in_the_wal_of_such_a_folder_are_read(folder, tmp_path):
    copy = tmp_path / "copy.curation"
    with open_project(folder) as store:
        fill = Filler(store)
        fill.decide(fill.mentions()[0], Verdict.nil())
        copy.mkdir()
        for name in ("project.sqlite", "project.sqlite-wal"):
            (copy / name).write_bytes((folder / name).read_bytes())
    with not_writable(copy), open_project(copy, read_only=True) as store, store.read() as unit:
        assert unit.decisions.count() == 2


def test_a_project_that_is_said_not_to_be_created_is_not_there(tmp_path, monkeypatch):
    """The disk fails when the finished folder has got its name."""
    sync_folder = project.sync_folder

    def fail(path):
        if path == tmp_path:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        sync_folder(path)

    with monkeypatch.context() as patch:
        patch.setattr(project, "sync_folder", fail)
        with pytest.raises(UserError, match="cannot be created: Input/output error"):
            create_project(tmp_path / "p", name="P")
    assert list(tmp_path.iterdir()) == []
    create_project(tmp_path / "p", name="P").close()
