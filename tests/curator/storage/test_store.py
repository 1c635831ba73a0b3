from __future__ import annotations

import threading

import pytest

from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from curator.storage.project import create_project, open_project
from tests.curator.storage.filler import document, in_a_folder

IN_BOTH_DIALECTS = True


def test_an_exception_takes_the_whole_unit_back(store):
    with pytest.raises(ZeroDivisionError), store.write() as unit:
        unit.meta.set("k", str(1 // 0) if unit.meta.set("k", "v") is None else "")
    with store.read() as unit:
        assert unit.meta.get("k") is None


def test_a_reader_sees_one_state_and_never_waits_for_a_writer(store):
    with store.read() as reading:
        assert reading.meta.get("k") is None
        with store.write() as unit:
            unit.meta.set("k", "v")
            with store.read() as other:
                assert other.meta.get("k") is None
        assert reading.meta.get("k") is None
    with store.read() as reading:
        assert reading.meta.get("k") == "v"


def test_a_reading_unit_cannot_write(store):
    with pytest.raises(UserError, match="cannot be written"), store.read() as unit:
        unit.meta.set("k", "v")


@in_a_folder
def test_a_full_disk_is_told_and_nothing_is_half_written(fill):
    fill.mentions()
    with fill.store.write() as unit:
        conn = unit.connection
        pages = conn.exec_driver_sql("PRAGMA page_count").scalar()
        conn.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(UserError, match="disk is full"):
        fill.file(*(document(str(i)) for i in range(2000)))
    with fill.store.read() as unit:
        assert len(unit.files.all()) == 1


def test_several_threads_decide_and_read_at_once(fill):
    ids = fill.mentions(80)
    failures: list[BaseException] = []

    def work(mine):
        try:
            for mention_id in mine:
                fill.decide(mention_id, Verdict.nil())
                with fill.store.read() as unit:
                    assert mention_id in unit.decisions.current([mention_id])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(ids[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with fill.store.read() as unit:
        assert unit.documents.row(fill.document_id).decided == unit.decisions.count() == 80


@in_a_folder
def test_foreign_keys_hold_and_the_log_is_kept_beside_the_database(store):
    with store.write() as unit:
        conn = unit.connection
        values = [conn.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "foreign_keys")]
        assert values == ["wal", 1]


@in_a_folder
def test_every_unit_is_synced_to_the_disk_without_its_writer_waiting(store, monkeypatch):
    go_on, synced = threading.Event(), []

    def slowly(path):
        go_on.wait()
        synced.append(path.name)

    store.settle()  # what making it wrote
    monkeypatch.setattr("curator.storage.db.syncing.sync_file", slowly)
    for n in range(3):
        with store.write() as unit:
            unit.meta.set("k", str(n))
    with store.read() as unit:
        assert (unit.meta.get("k"), synced) == ("2", [])
    go_on.set()
    store.settle()
    assert set(synced) == {"project.sqlite-wal"}
    assert len(synced) <= 3


@in_a_folder
def test_a_disk_that_fails_under_a_decision_is_told_before_the_next(store, monkeypatch):
    def fails(path):
        raise OSError(5, "Input/output error")

    store.settle()  # what making it wrote
    monkeypatch.setattr("curator.storage.db.syncing.sync_file", fails)
    with store.write() as unit:
        unit.meta.set("k", "v")
    with pytest.raises(UserError, match=r"could not be saved to disk: Input/output error"):
        store.settle()
    for _ in range(2):  # not once
        with pytest.raises(UserError, match="no more are accepted until they are"), store.write():
            pass
    monkeypatch.undo()
    store.settle()
    with store.write() as unit:
        unit.meta.set("k", "w")
    store.settle()


def test_a_disk_that_fails_under_the_last_decision_is_told_at_closing(tmp_path, monkeypatch):
    def fails(path):
        raise OSError(5, "Input/output error")

    store = create_project(tmp_path / "q.curation", name="Q")
    store.settle()  # what making it wrote is not what fails
    monkeypatch.setattr("curator.storage.db.syncing.sync_file", fails)
    with store.write() as unit:
        unit.meta.set("k", "v")
    with pytest.raises(UserError, match="could not be saved to disk"):
        store.close()
    store.close()
    monkeypatch.undo()
    with open_project(tmp_path / "q.curation") as again, again.read() as unit:
        assert unit.meta.get("k") == "v"


@in_a_folder
def test_a_unit_in_a_unit_and_a_closed_store_are_bugs(store):
    with store.write(), pytest.raises(RuntimeError, match="inside another"), store.write():
        pass
    store.close()
    store.close()
    with pytest.raises(RuntimeError, match="closed"), store.read():
        pass
