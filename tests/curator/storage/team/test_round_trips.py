"""A decision waits for the server twice, and what is sent without waiting is still kept as a whole or not at all."""

from __future__ import annotations

import select

import psycopg
import pytest
from sqlalchemy import insert

from curator.domain.decisions import OperationKind, Verdict
from curator.domain.wording import InconsistentDataError, UserError
from curator.storage.db.ahead import ahead_of, answer
from curator.storage.db.schema import MetaRow
from curator.storage.team.project import open_shared_project
from tests.curator.storage.filler import AT, Filler

FULL = (
    "CREATE FUNCTION curator.full() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RAISE 'No space left on device' USING ERRCODE = 'disk_full'; END $$"
)
FULL_MENTIONS = (
    "CREATE TRIGGER full_disk BEFORE UPDATE ON curator.mentions FOR EACH ROW EXECUTE FUNCTION curator.full()"
)


def test_a_decision_waits_for_the_server_twice(shared, monkeypatch):
    with open_shared_project(shared) as store:
        first, second = Filler(store).mentions(2)
        waits = []
        for kind, name in ((psycopg.Pipeline, "sync"), (psycopg.Connection, "commit")):
            whole = getattr(kind, name)
            monkeypatch.setattr(kind, name, lambda *_, whole=whole, name=name: (waits.append(name), whole(*_)))
        for one in (first, second):
            with store.write() as unit:
                unit.decisions.expect([one], actor="ada")
                unit.mentions.get_many([one])
                step = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="t")
                unit.decisions.append([one], [Verdict.nil()], curator="ada", at=AT, operation_id=step, shown=[None])
                assert unit.decisions.current([one])[one].operation_id == step
        assert waits == ["sync", "commit"] * 2
        with store.read() as unit:
            assert set(unit.decisions.current([first, second])) == {first, second}
            assert unit.documents.row(1).decided == 2


@pytest.mark.parametrize("arrived", [False, True], ids=["error-at-commit", "error-before-commit"])
def test_an_insertion_that_fails_later_takes_the_unit_back(shared, arrived):
    with open_shared_project(shared) as store:
        with pytest.raises(InconsistentDataError):
            insert_twice(store, arrived=arrived)
        with store.write() as unit:
            assert (unit.meta.get("k"), unit.meta.get("twice")) == (None, None)


def test_a_unit_reads_no_answers_of_a_failed_one(server, shared):
    """They arrive before or after the error is raised."""
    with open_shared_project(shared) as store:
        [mention] = Filler(store).mentions(1)
        server.sql(FULL, FULL_MENTIONS, base=shared.base)
        for _ in range(150):
            with pytest.raises(UserError, match="The disk of the server"):
                decide(store, mention)
        server.sql("DROP FUNCTION curator.full CASCADE", base=shared.base)
        decide(store, mention)


def decide(store, mention):
    with store.write() as unit:
        unit.decisions.expect([mention], actor="ada")
        step = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="t")
        unit.decisions.append([mention], [Verdict.nil()], curator="ada", at=AT, operation_id=step, shown=[None])
        unit.decisions.current([mention])


def insert_twice(store, *, arrived):
    """With `arrived`, the server's error is there when the next statement is sent."""
    with store.write() as unit:
        unit.meta.set("k", "v")
        for _ in range(2):
            unit.connection.execute(insert(MetaRow), {"key": "twice", "value": "v"})
        if arrived:
            raw = unit.connection.connection.dbapi_connection
            raw.pgconn.send_flush_request()
            raw.pgconn.flush()
            assert select.select([raw.fileno()], [], [], 60)[0]


def test_each_answer_is_used_once(shared):
    with open_shared_project(shared) as store, store.write() as unit:
        ahead = ahead_of(unit.connection)
        one = insert(MetaRow)
        ahead.keep(one, {"a": 1}, [("early",)])
        assert (answer(unit.connection, one, {"a": 1}), ahead.take(one, {"a": 1})) == ([("early",)], None)
