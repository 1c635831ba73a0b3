from __future__ import annotations

import errno
import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.storage.db import syncing
from curator.storage.db.engine import connect
from curator.storage.db.turns import Turns


def write(store, value="v"):
    with store.write() as unit:
        unit.meta.set("k", value)


def log_of(store):
    return store.folder / "project.sqlite-wal"


def until(true):
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        threading.Event().wait(0.002)


class Watched:
    """A connection that calls `at_fold` in the middle of a checkpoint."""

    def __init__(self, conn, at_fold):
        self._conn, self._at_fold = conn, at_fold

    def execute(self, statement):
        if "checkpoint" in statement:
            self._at_fold()
        return self._conn.execute(statement)

    def close(self):
        self._conn.close()


@pytest.fixture
def short(monkeypatch):
    """Every log is long, and every moment quiet."""
    monkeypatch.setattr(syncing, "FOLD_BYTES", 1)
    monkeypatch.setattr(syncing, "QUIET", 0.0)


def test_a_long_log_is_folded_and_cut_while_the_store_is_open(store, short):
    database = store.folder / "project.sqlite"
    before = database.stat().st_size
    write(store, "v" * 1_000_000)
    until(lambda: database.stat().st_size > before + 900_000 and log_of(store).stat().st_size < 50_000)
    write(store, "w")
    with store.read() as unit:
        assert unit.meta.get("k") == "w"


def test_no_writer_commits_while_the_log_is_folded(store, short, monkeypatch):
    found, threads = [], []

    def at_fold():
        if threads:
            return
        threads.append(threading.Thread(target=write, args=(store, "later")))
        threads[0].start()
        until(lambda: store.contended)
        with store.read() as unit:
            found.append(unit.meta.get("k"))

    monkeypatch.setattr(syncing, "connect", lambda *args, **options: Watched(connect(*args, **options), at_fold))
    write(store, "before")
    until(lambda: found)
    threads[0].join()
    assert found == ["before"]
    with store.read() as unit:
        assert unit.meta.get("k") == "later"


def test_folding_waits_for_nobody(store, monkeypatch):
    write(store, "v" * 100_000)
    store.settle()
    turns = Turns()
    syncer = syncing.Syncer(store.folder / "project.sqlite", turns)
    with turns.turn():
        write(store, "w")
        folded = []
        thread = threading.Thread(target=lambda: folded.append(syncer.fold()))
        thread.start()
        thread.join()
        assert folded == [False]
    with store.read() as unit:
        unit.meta.get("k")
        write(store, "x")
        statements: list[str] = []

        def traced(*args, **kwargs):
            conn = connect(*args, **kwargs)
            conn.set_trace_callback(statements.append)
            return conn

        monkeypatch.setattr(syncing, "connect", traced)
        assert not syncer.fold()  # the reader needs the older pages
        folds = statements.index("PRAGMA wal_checkpoint(TRUNCATE)")
        assert statements.index("PRAGMA busy_timeout = 0") < folds, "it would wait for the reader"
    assert syncer.fold()


def test_nothing_is_folded_while_the_disk_is_slow(store, short, monkeypatch):
    folds = []
    monkeypatch.setattr(syncing.Syncer, "fold", lambda syncer: folds.append(1))
    monkeypatch.setattr(syncing, "SLOW", 0.0)
    write(store)
    store.settle()
    monkeypatch.setattr(syncing, "SLOW", 1000.0)
    write(store)
    store.settle()
    until(lambda: folds)
    assert folds == [1]


def test_saving_says_what_is_on_the_disk_and_when(store, monkeypatch):
    go_on, told = threading.Event(), []
    store.settle()
    write(store)
    store.settle()
    before = store.saving
    assert before.holds(before.asked)
    assert before.at is not None
    end = store.on_saving(told.append)
    monkeypatch.setattr(syncing, "sync_file", lambda path: go_on.wait())
    write(store)
    number = store.saving.asked
    assert not store.saving.holds(number)
    assert told == []
    go_on.set()
    store.settle()
    until(lambda: told)
    assert told[-1].holds(number)
    assert told[-1].at >= before.at
    end()


def test_a_failing_disk_is_tried_again_until_all_is_in_the_database(store, monkeypatch):
    told, folds, fold, sync_file = [], [], syncing.Syncer.fold, syncing.sync_file

    def fails(path):
        raise OSError(28, "No space left on device")

    store.settle()
    store.on_saving(told.append)
    monkeypatch.setattr(syncing, "RETRY", 0.001)
    monkeypatch.setattr(syncing.Syncer, "fold", lambda syncer: folds.append(1) or fold(syncer))
    monkeypatch.setattr(syncing, "sync_file", fails)
    write(store)
    number = store.saving.asked
    until(lambda: len([one for one in told if one.asked == number]) > 3)
    assert not any(one.holds(number) for one in told)
    assert "No space left on device" in told[-1].why
    with pytest.raises(UserError, match="not yet on disk"):
        write(store)
    assert not folds
    monkeypatch.setattr(syncing, "sync_file", sync_file)
    until(lambda: not store.saving.why)
    assert store.saving.holds(number)
    assert folds
    write(store)
    assert sqlite3.connect(store.folder / "project.sqlite").execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_listener_that_fails_keeps_nobody_waiting(store):
    def fails(_):
        raise ValueError("a bug")

    store.on_saving(fails)
    for value in ("a", "b"):
        write(store, value)
        store.settle()
    assert store.saving.done == store.saving.asked


@pytest.mark.parametrize("name", ["project.sqlite", "project.sqlite-wal"])
def test_a_file_that_the_disk_does_not_find_once_is_not_a_deleted_one(store, monkeypatch, name):
    """As in a network folder whose connection is lost. Else the log would be deleted, and nothing more accepted."""
    write(store, "before")
    store.settle()
    real, left = Path.stat, [1]

    def stat(path, **options):
        if left and path.name == name:
            left.pop()
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    write(store, "after")
    store.settle()
    assert not left
    write(store, "last")
    store.settle()
    assert list(store.folder.glob("*.kept-*")) == []
    with store.read() as unit:
        assert unit.meta.get("k") == "last"


def test_a_bug_in_the_thread_is_said_and_tried_again(store, monkeypatch):
    """Whoever closes the project would wait for ever for a thread that has ended."""
    monkeypatch.setattr(syncing, "RETRY", 0.005)
    syncer = store._syncer
    works = syncer._synced
    failing = threading.Event()
    failing.set()

    def fail(*given):
        if failing.is_set():
            raise RuntimeError("a bug")
        return works(*given)

    monkeypatch.setattr(syncer, "_synced", fail)
    write(store)
    with pytest.raises(UserError, match="a bug"):
        store.settle()
    failing.clear()
    until(lambda: not store.saving.why)
    store.settle()
