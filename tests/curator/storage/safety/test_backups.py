from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from curator.domain.wording import CancelledError, DamagedProjectError, UserError
from curator.storage.db.mark import mark_as_it_is
from curator.storage.project import open_project
from curator.storage.safety import backup_places
from curator.storage.safety import backups as module
from curator.storage.safety.backup_places import TIME
from curator.storage.safety.backups import Backups, backups_of, way_out
from curator.storage.safety.restoring import restore
from tests.curator.storage.safety.conftest import decide_in
from tests.failing_reads import fail_reads

YEAR = timedelta(days=365)


def nothing() -> None:
    return


@pytest.fixture
def root(tmp_path):
    return tmp_path / "state" / "backups"


@pytest.fixture
def backups(folder, root):
    return Backups(folder, root=lambda: root, most=lambda: 10**9)


def test_a_backup_is_made_only_when_something_changed(folder, backups, decide, root):
    first = backups.make(nothing)
    assert (first.decisions, first.steps, first.place) == (40, 40, folder)
    assert backups.make(nothing) is None
    decide([50])
    with open_project(folder) as store:
        second = backups.make(nothing)  # while it is in use
        assert second is None or second.decisions == 41
        with store.write() as unit:
            unit.meta.set("guidelines", "new")
    assert (root / backups.all()[0].path.parent.name / "place.json").is_file()
    assert not list(root.rglob("*.part"))
    assert backups_of(folder, root) == backups.all()
    with closing(sqlite3.connect(backups.all()[0].path)) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_rescue_that_adds_nothing_is_the_newest_backup(folder, backups, decide):
    def copy(part):
        shutil.copyfile(folder / "project.sqlite", part)

    newest = backups.make(nothing)
    assert backups.rescue(copy) == newest.path
    decide([50])
    assert backups.rescue(copy) != newest.path
    assert [one.decisions for one in backups.all()] == [41, 40]


def test_a_project_and_its_backups_in_one_folder_are_warned_of(folder, root, decide):
    (folder.parent / "link").symlink_to(folder)
    for place, words in (
        (root, ""),
        (folder / "backups", "inside this project's own folder"),
        (folder, "inside this project's own folder"),
        (folder.parent / "link" / "b", "inside this project's own folder"),
        (folder.parent, "This project is inside the backup folder"),
    ):
        backups = Backups(folder, root=lambda place=place: place, most=lambda: 10**9)
        assert words in backups.place_warning
        assert bool(words) == bool(backups.place_warning)
        made = backups.make(nothing)
        decide([50])
        restore(folder, made)
        with open_project(folder) as store, store.read() as unit:
            assert unit.documents.get(3).id == 3


def test_a_backup_is_one_state_and_is_not_begun_again_by_commits(folder, backups, monkeypatch):
    monkeypatch.setattr(module, "PAGES", 8)
    with open_project(folder) as store:
        ids = iter(range(41, 61))
        rests = []

        def decided() -> None:
            rests.append(1)
            if one := next(ids, None):
                decide_in(store, [one])

        made = backups.make(decided)
    assert made.decisions == 40
    assert 5 < len(rests) < 200


def test_what_a_rest_raises_ends_it_and_leaves_nothing(backups, root):
    def stop() -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        backups.make(stop)
    assert backups.all() == []
    assert not list(root.rglob("*.part"))


def test_two_backups_of_one_second_are_both_kept(backups, decide, monkeypatch):
    class Stopped(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 11, 4, 12, 5, 59, tzinfo=tz)

    monkeypatch.setattr(module, "datetime", Stopped)
    first = backups.make(nothing)
    decide([50])
    second = backups.make(nothing)
    assert [one.decisions for one in backups.all()] == [41, 40]
    assert [one.path.stem for one in (second, first)] == ["20261104T120600Z", "20261104T120559Z"]


def test_none_are_made_when_they_are_turned_off(folder, root):
    assert Backups(folder, root=lambda: root, most=lambda: 0).make(nothing) is None
    assert not root.exists()


def test_a_damaged_database_takes_no_backup_s_place(folder, backups, decide):
    backups.make(nothing)
    decide([50])
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn, conn:
        conn.execute("DROP TRIGGER decisions_no_update")
        conn.execute("UPDATE decisions SET entity_ids = '[\"D2\"]' WHERE id = 3")
    with pytest.raises(DamagedProjectError, match="no backup was made"):
        backups.make(nothing)
    assert [one.decisions for one in backups.all()] == [40]


def test_a_full_disk_or_a_folder_that_cannot_be_written_is_said(folder, backups, root, monkeypatch):
    Usage = namedtuple("Usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1, 1, 1000))
    with pytest.raises(UserError, match="less free space"):
        backups.make(nothing)
    monkeypatch.undo()
    backups.make(nothing)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1, 1, 1000))
    assert backups.make(nothing) is None, "nothing changed: no space is needed"
    shutil.rmtree(root)
    root.write_text("a file")
    with pytest.raises(UserError, match="No backup could be written"):
        backups.make(nothing)


@pytest.mark.parametrize("whose", ["own", "all"])
def test_backups_that_cannot_be_listed_are_not_none(folder, backups, root, monkeypatch, whose):
    made = backups.make(nothing)
    broken = made.path.parent if whose == "own" else root
    real = os.listdir

    def listdir(path="."):
        if os.fspath(path) == str(broken):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    for listed in (backups.all, lambda: backups_of(folder, root)):
        with pytest.raises(UserError, match="cannot be listed"):
            listed()
    assert "cannot be listed" in way_out(folder, root)
    monkeypatch.undo()
    assert [one.path for one in backups.all()] == [made.path]


def test_a_backup_whose_size_the_disk_does_not_tell_is_listed(backups, monkeypatch):
    made = backups.make(nothing)
    real = type(made.path).stat

    def stat(path, **options):
        if path == made.path:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return real(path, **options)

    monkeypatch.setattr(type(made.path), "stat", stat)
    [found] = backups.all()
    assert (found.path, found.bytes, found.decisions) == (made.path, 0, made.decisions)


def test_a_failed_read_hides_no_backups_of_a_former_place(folder, root, tmp_path, backups, monkeypatch):
    made = backups.make(nothing)
    moved = folder.rename(tmp_path / "moved.curation")
    failed = fail_reads(monkeypatch, "place.json")
    assert [one.path for one in backups_of(moved, root)] == [made.path]
    assert failed() == 1


def test_a_copied_project_has_backups_of_its_own_and_a_moved_one_finds_its_former_ones(folder, root, tmp_path):
    Backups(folder, root=lambda: root, most=lambda: 10**9).make(nothing)
    moved = tmp_path / "moved.curation"
    shutil.copytree(folder, moved)
    assert [one.place for one in backups_of(moved, root)] == [folder]
    Backups(moved, root=lambda: root, most=lambda: 10**9).make(nothing)
    assert [one.place for one in backups_of(moved, root)] == [moved, folder]
    assert "newest backup is of" in way_out(moved, root)
    for name in ("project.sqlite", "project.curator"):  # found by the place alone
        (moved / name).unlink()
    assert [one.place for one in backups_of(moved, root)] == [moved]


def test_a_backup_of_another_copy_is_named_with_its_place_and_only_if_there_is_none_of_its_own(folder, root, tmp_path):
    other = tmp_path / "other.curation"
    shutil.copytree(folder, other)
    Backups(folder, root=lambda: root, most=lambda: 10**9).make(nothing)
    words = way_out(other, root)
    assert "was made in this folder" in words
    assert f"made in {folder}:" in words
    (made,) = backups_of(other, root)
    assert f"to the state of {made.when} of {folder}" in restore(other, made).text
    assert "to its state of" in restore(folder, made).text
    with open_project(other) as store:
        decide_in(store, [50])
    own = Backups(other, root=lambda: root, most=lambda: 10**9).make(nothing)
    os.utime(own.path, (1, 1))  # older than that of the other copy
    assert own.place == other
    assert str(folder) not in way_out(other, root)
    assert "01 Jan 1970" in way_out(other, root)


def test_which_backups_are_kept(tmp_path):
    now = datetime(2026, 5, 31, 12, tzinfo=UTC)
    days = [now - timedelta(days=n, hours=hour) for n in range(40) for hour in (0, 1, 2)]
    hours = [now + timedelta(minutes=n) for n in range(1, 9)]
    for at in (*days, *hours):
        path = tmp_path / f"{at.strftime(TIME)}.sqlite"
        path.write_bytes(b"x" * 10)
        os.utime(path, (at.timestamp(), at.timestamp()))
    (tmp_path / "other.txt").write_text("stays")

    def kept():
        return sorted(path.stem for path in tmp_path.glob("*.sqlite"))

    module.thin_out(tmp_path, most=10**6, now=now)
    expected = {*sorted([*days, *hours])[-10:], *(now - timedelta(days=n) for n in range(1, 31))}
    assert kept() == sorted(at.strftime(TIME) for at in expected)
    module.thin_out(tmp_path, most=55, now=now)
    assert len(kept()) == 5
    module.thin_out(tmp_path, most=1, now=now)
    assert kept() == [hours[-1].strftime(TIME)]
    assert (tmp_path / "other.txt").exists()


def test_a_clock_that_was_set_back_a_year_changes_neither_the_order_of_backups_nor_which_is_the_newest(
    folder, backups, decide, root
):
    before = backups.make(nothing)
    ahead = before.path.with_name(f"{(datetime.now(UTC) + YEAR).strftime(TIME)}.sqlite")
    later = (datetime.now(UTC) + YEAR).timestamp()
    before.path.rename(ahead)
    os.utime(ahead, (later, later))
    assert backups.newest() > datetime.now(UTC) + YEAR / 2
    decide([50])
    made = backups.make(nothing)
    assert made.path.name > ahead.name
    assert abs(made.at - datetime.now(UTC)) < timedelta(minutes=5)
    assert abs(backups.newest() - datetime.now(UTC)) < timedelta(minutes=5)
    assert [one.decisions for one in backups.all()] == [41, 40]
    assert backups.make(nothing) is None  # compared with the one that was made last
    for number in range(51, 60):
        decide([number])
        backups.make(nothing)
    kept = [one.decisions for one in backups.all()]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == 50


def test_the_check_is_due_once_a_day(backups):
    now = datetime.now(UTC)
    assert backups.check_due(now)
    assert backups.check(nothing).findings == ()
    assert not backups.check_due(now)
    assert backups.check_due(now + timedelta(days=2))
    assert backups.check_due(now - timedelta(days=365))  # the clock was set back


def test_after_an_unclean_end_a_check_is_due_until_one_finds_nothing(folder, root, decide):
    now = datetime.now(UTC)
    place = folder.parent / "place"
    place.mkdir()
    path = place / "p.curation"

    def kill() -> None:
        """Leave the project at `path` as a program that was killed does."""
        with open_project(folder) as store:
            decide_in(store, [50])
            store.settle()
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(folder, path)

    def opened() -> Backups:
        with open_project(path) as store:  # each closing seals the file as it is
            return Backups(path, root=lambda: root, most=lambda: 1, unclean=store.unclean)

    Backups(path, root=lambda: root, most=lambda: 1).check(nothing)
    kill()
    for _ in range(3):
        assert opened().check_due(now)

    def stop() -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        opened().check(stop)
    assert opened().check_due(now)
    text = "UPDATE document_texts SET text = 'x' || text WHERE document_id = {}"
    for change, findings in ((text.format(2), 1), (text.format(2).replace("'x' || text", "substr(text, 2)"), 0)):
        with closing(sqlite3.connect(path / "project.sqlite")) as conn, conn:
            conn.execute(change)
        mark_as_it_is(path / "project.sqlite")
        assert opened().check_due(now)
        assert len(opened().check(nothing).findings) == findings
    assert not opened().check_due(now)
    assert opened().check_due(now + timedelta(days=2))
    kill()
    assert opened().check_due(now), "another unclean end"


def test_transactions_that_only_store_what_can_be_computed_make_no_backup(folder, backups):
    backups.make(nothing)
    with open_project(folder) as store, store.write() as unit:
        unit.connection.exec_driver_sql("UPDATE documents SET stamp_revision = 7")
    assert backups.make(nothing) is None


def test_a_copy_that_cannot_be_read_is_not_a_damaged_project(folder, backups, monkeypatch):
    monkeypatch.setattr("curator.storage.safety.backups.is_unread", lambda _: True)
    with pytest.raises(UserError, match="The disk failed") as caught:
        backups.make(nothing)
    assert not isinstance(caught.value, DamagedProjectError)
    assert backups.all() == []


def test_a_read_of_a_sound_database_that_failed_is_not_damage(folder, backups, monkeypatch):
    def fails(*_):
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    monkeypatch.setattr("curator.storage.safety.backups._copy", fails)
    with pytest.raises(UserError, match="The disk failed") as caught:
        backups.make(nothing)
    assert not isinstance(caught.value, DamagedProjectError)


def test_a_backup_reads_no_other_one_but_the_newest(backups, decide, monkeypatch):
    for number in range(40, 44):
        backups.make(nothing)
        decide([number])
    counted, count = [], backup_places._counts
    monkeypatch.setattr(backup_places, "_counts", lambda path: counted.append(path) or count(path))
    made = backups.make(nothing)
    assert counted == [made.path]
    assert made == backups.all()[0]
