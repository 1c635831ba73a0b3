from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime

import pytest

from curator.domain.decisions import OperationKind, Verdict
from curator.domain.entities import TypeMapping
from curator.domain.rounds import RoundKind
from curator.domain.wording import InconsistentDataError, MissingStepsError, UserError
from curator.services.ports.safety import Backup
from curator.storage.db import mark as mark_module
from curator.storage.db.mark import (
    LENGTH,
    NAME,
    WRITES,
    Top,
    WriteCount,
    mark_as_it_is,
    read_mark,
    unclean_end,
    write_mark,
)
from curator.storage.project import create_project, open_project
from curator.storage.safety.restoring import restore
from tests.curator.storage.filler import AT, Filler
from tests.failing_reads import fail_reads


def decide(store, mention, text="Linked"):
    with store.write() as unit:
        one = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text=text)
        unit.decisions.append([mention], [Verdict.nil()], curator="ada", at=AT, operation_id=one, shown=[None])
    store.settle()
    return one


@pytest.fixture
def folder(tmp_path):
    """As a program that was killed leaves it: five decisions, three of them in the log only."""
    with create_project(tmp_path / "made", name="P") as store:
        ids = Filler(store).mentions(5)
        decide(store, ids[0])
    copy = tmp_path / "p.curation"
    with open_project(store.folder) as store:
        for one in ids[1:]:
            decide(store, one)
        shutil.copytree(store.folder, copy)
    return copy


def test_the_mark_follows_what_is_saved_and_says_whether_it_was_closed(tmp_path):
    with create_project(tmp_path / "p", name="P") as store:
        ids = Filler(store).mentions(2)
        for one in ids:
            number = decide(store, one)
            mark = read_mark(store.folder)
            assert (mark.top.operation, mark.closed) == (number, False)
    assert read_mark(store.folder).closed
    assert (store.folder / NAME).stat().st_size == LENGTH


def test_what_is_whole_opens(folder):
    with open_project(folder, read_only=True) as store, store.read() as unit:
        assert unit.decisions.count() == 5
    open_project(folder).close()
    open_project(folder).close()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("damage", ["deleted", "cut", "flipped"])
def test_a_lost_log_is_noticed_and_nothing_is_changed(folder, damage, read_only):
    log = folder / "project.sqlite-wal"
    content = log.read_bytes()
    if damage == "deleted":
        log.unlink()
    else:
        half = len(content) // 2
        log.write_bytes(content[:half] + (b"" if damage == "cut" else b"\xff" + content[half + 1 :]))
    for _ in range(2):
        with pytest.raises(MissingStepsError, match=r"lacks \d step.* saved until 20") as found:
            open_project(folder, read_only=read_only)
    assert "2024-05-06" in str(found.value)
    with open_project(folder, read_only=read_only, lacking=True) as store, store.read() as unit:
        assert 1 <= unit.decisions.count() < 5
    if not read_only:
        open_project(folder).close()  # what is there is the state from now on


def test_another_database_in_its_place_is_noticed(folder):
    open_project(folder).close()
    with create_project(folder.parent / "other", name="O") as store:
        for one in Filler(store).mentions(9):
            decide(store, one, "Another")
    shutil.copy(store.folder / "project.sqlite", folder / "project.sqlite")
    with pytest.raises(MissingStepsError, match="the last ones are others"):
        open_project(folder)


def test_a_mark_that_cannot_be_read_or_written_stops_nothing(folder):
    for damage in (
        b"",
        b"{}",
        b"x" * LENGTH,
        (folder / NAME).read_bytes().replace(b'"operation":5', b'"operation":9'),
    ):
        (folder / NAME).write_bytes(damage)
        assert read_mark(folder) is None
        open_project(folder).close()
    (folder / NAME).unlink()
    (folder / NAME).mkdir()
    open_project(folder).close()


def test_a_read_of_the_mark_that_fails_once_hides_no_lost_log(folder, monkeypatch):
    (folder / "project.sqlite-wal").unlink()
    failed = fail_reads(monkeypatch, NAME)
    with pytest.raises(MissingStepsError):
        open_project(folder)
    assert failed() == 1


def test_a_mark_that_is_a_link_is_not_followed(folder, tmp_path):
    other = tmp_path / "other"
    other.write_bytes((folder / NAME).read_bytes())
    (folder / NAME).unlink()
    (folder / NAME).symlink_to(other)
    with pytest.raises(UserError, match="is a link"):
        open_project(folder)


def test_a_closed_file_that_something_else_changed_is_noticed(folder):
    open_project(folder).close()
    database = folder / "project.sqlite"
    database.write_bytes(database.read_bytes().replace(b"The text of the abstract", b"The text in the abstract"))
    for _ in range(2):
        with pytest.raises(MissingStepsError, match="changed by something other than Curator"):
            open_project(folder)
    open_project(folder, lacking=True).close()
    open_project(folder).close()


@pytest.mark.parametrize("folded", [False, True])
def test_a_failure_of_the_power_at_closing_is_no_change_by_others(folder, monkeypatch, folded):
    open_project(folder).close()
    on_disk = {"mark": (folder / NAME).read_bytes()}
    sync = os.fsync

    def record(handle):
        sync(handle)
        if os.path.samestat(os.fstat(handle), (folder / NAME).stat()):
            on_disk["mark"] = (folder / NAME).read_bytes()

    monkeypatch.setattr(mark_module.os, "fsync", record)
    monkeypatch.setattr(mark_module.Marker, "finish", lambda _: None)
    store = open_project(folder)
    with store.write() as unit:
        unit.meta.set("guidelines", "x")
    store.settle()
    if folded:
        store._syncer.fold()
    store.close()
    monkeypatch.undo()
    (folder / NAME).write_bytes(on_disk["mark"])  # what was not synced is lost
    open_project(folder).close()


def test_a_copy_by_links_keeps_its_mark(folder, tmp_path):
    os.link(folder / NAME, tmp_path / "kept")
    before = (tmp_path / "kept").read_bytes()
    write_mark(folder / "project.sqlite", read_mark(folder).top)
    assert (tmp_path / "kept").read_bytes() == before


def test_a_log_that_a_failure_of_the_power_left_beside_an_older_mark_can_be_opened_again_and_again(folder, tmp_path):
    whole = tmp_path / "w.curation"
    open_project(folder).close()
    older = (folder / NAME).read_bytes()
    with open_project(folder) as store:
        decide(store, 1)
        shutil.copytree(folder, whole)
    (whole / NAME).write_bytes(older)
    for _ in range(3):
        with open_project(whole) as store, store.read() as unit:
            assert unit.decisions.count() == 6


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO comments (document_id, author, at, text, deleted) VALUES (1, 'ada', '2026-01-01', 'x', 0)",
        "INSERT INTO relations (document_id, source, type, ends, author, at, deleted)"
        " VALUES (1, '', 'x', '[]', 'ada', '2026-01-01', 0)",
    ],
)
def test_a_comment_or_relation_that_is_lost_is_noticed(folder, statement):
    open_project(folder).close()
    older = (folder / "project.sqlite").read_bytes()
    with open_project(folder) as store, store.write() as unit:
        unit.connection.exec_driver_sql(statement)
    assert (folder / "project.mark").stat().st_size == 1024
    (folder / "project.sqlite").write_bytes(older)
    with pytest.raises(MissingStepsError, match=r"lacks changes that were saved until 20.*comments, relations"):
        open_project(folder)


CHANGES = {
    "guidelines": lambda unit: unit.meta.set("guidelines", "Link the shortest mention."),
    "round": lambda unit: unit.rounds.create("First", RoundKind.BLIND, [1], at=AT),
    "type mapping": lambda unit: unit.meta.set_type_mapping(TypeMapping({"Gene": ("GENE",)})),
    "flag": lambda unit: unit.documents.flag_documents([1], True),
}
"""Changes that are no steps, and have no rows of their own in the mark."""


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("read_only", [False, True])
def test_changes_without_steps_that_are_lost_with_the_log_of_a_killed_program_are_noticed(folder, change, read_only):
    open_project(folder).close()
    killed = folder.parent / "killed.curation"
    with open_project(folder) as store:
        with store.write() as unit:
            CHANGES[change](unit)
        store.settle()
        shutil.copytree(folder, killed)
    whole = shutil.copytree(killed, folder.parent / "whole.curation")
    (killed / "project.sqlite-wal").unlink()
    for _ in range(2):
        with pytest.raises(MissingStepsError, match=r"lacks changes that were saved until 20.*rounds or guidelines"):
            open_project(killed, read_only=read_only)
    open_project(killed, lacking=True).close()
    open_project(killed).close()
    open_project(whole, read_only=read_only).close()
    open_project(whole).close()


def written(folder):
    return read_mark(folder).top.written


def test_each_transaction_that_changes_something_is_counted_once(folder):
    open_project(folder).close()
    before = written(folder)
    with open_project(folder) as store:
        with store.write():
            pass
        with store.write() as unit:
            unit.meta.get("guidelines")
        with pytest.raises(InconsistentDataError), store.write() as unit:
            unit.connection.exec_driver_sql("INSERT INTO meta (key, value) SELECT 'x', 'x' UNION ALL SELECT 'x', 'x'")
        store.settle()
        assert written(folder) == before
        for number in (1, 2, 3):
            with store.write() as unit:
                unit.meta.set("guidelines", "x")
                unit.meta.set("other", str(number))
            store.settle()
            assert written(folder) == before + number
    open_project(folder).close()
    assert written(folder) == before + 3


def test_a_bulk_load_counts_each_of_its_transactions():
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        conn.execute("CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)")
        count = WriteCount(conn)
        count.add()
        for number in (1, 2):
            conn.execute("INSERT INTO meta VALUES (?, 'x')", (str(number),))
            count.add()
            count.add()
            assert conn.execute("SELECT value FROM meta WHERE key = ?", (WRITES,)).fetchone() == (str(number),)


@pytest.mark.parametrize("value", ["x", "-5", "9223372036854775807", "1e300", ""])
def test_a_number_of_transactions_that_a_stranger_made_up_stops_nothing(folder, value):
    with open_project(folder) as store, store.write() as unit:
        unit.meta.set(WRITES, value)
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn, conn:
        conn.execute("UPDATE meta SET value = ? WHERE key = ?", (value, WRITES))  # the store has counted this, too
    mark_as_it_is(folder / "project.sqlite")
    for _ in range(3):
        with open_project(folder) as store, store.write() as unit:
            unit.meta.set("guidelines", "x")
        assert written(folder) > 0


def test_an_unclean_end_is_kept_until_another_one_or_a_restoration(folder, tmp_path):
    """`folder` was left by a program that was killed."""
    assert not read_mark(folder).closed
    end = unclean_end(read_mark(folder))
    assert end == read_mark(folder).at
    for _ in range(2):
        with open_project(folder) as store:
            assert store.unclean == end
            decide(store, 1)
            assert unclean_end(read_mark(folder)) != end, "this session is not closed yet"
        assert read_mark(folder).closed
        assert unclean_end(read_mark(folder)) == end
    with open_project(folder, lacking=True) as store:
        assert store.unclean == end
    mark_as_it_is(folder / "project.sqlite")
    assert unclean_end(read_mark(folder)) == end
    database = tmp_path / "backup.sqlite"
    shutil.copyfile(folder / "project.sqlite", database)
    restore(folder, Backup(database, datetime.now(UTC), 1, folder, None, None))
    assert unclean_end(read_mark(folder)) == ""
    with open_project(folder) as store:
        assert store.unclean == ""
    (folder / NAME).unlink()
    assert unclean_end(read_mark(folder)) == ""


def test_a_backup_that_goes_back_has_the_number_of_its_own_time(folder, tmp_path):
    open_project(folder).close()
    database = tmp_path / "backup.sqlite"
    shutil.copyfile(folder / "project.sqlite", database)
    before = written(folder)
    with open_project(folder) as store:
        decide(store, 1)
    assert written(folder) > before
    restore(folder, Backup(database, datetime.now(UTC), 1, folder, None, None))
    open_project(folder).close()
    assert written(folder) == before


def test_a_mark_with_large_numbers_has_room(folder):
    many = Top(2**62, "f" * 32, 2**62)
    write_mark(folder / "project.sqlite", many, unclean="x" * 5000)
    assert read_mark(folder).top == many
    assert (folder / NAME).stat().st_size == LENGTH


@pytest.mark.parametrize("number", ["x", -1, 2**63, 1.5, True, None, [1]])
def test_a_mark_that_a_stranger_made_up_is_not_compared(folder, number):
    for name in ("operation", "written"):
        data = {"top": {**asdict(Top()), name: number}, "at": "2024-05-06", "closed": True, "digest": "", "unclean": ""}
        text = json.dumps({**data, "sum": mark_module._sum(data)}).encode()
        (folder / NAME).write_bytes(text.ljust(LENGTH))
        assert read_mark(folder) is None
    open_project(folder).close()
