from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from curator.domain.decisions import OperationKind, Verdict
from curator.storage.db.hash_chain import DECISION, OPERATION, broken_decisions, broken_operations, link
from curator.storage.db.schema import DecisionRow, OperationRow
from tests.curator.storage.filler import AT


def test_every_column_is_hashed():
    for row, columns in ((OperationRow, OPERATION), (DecisionRow, DECISION)):
        assert {*columns, "hash"} == {column.name for column in row.__table__.columns}


def test_a_hash_depends_on_the_one_before_and_on_every_value():
    some = link(None, [1, "a", None], b"x")
    others = [link(some, [1, "a", None], b"x"), link(None, [1, "b", None], b"x"), link(None, [1, "a", None], b"y")]
    assert len({some, *others, link(None, [1, "a", None]), link(None, [1, "a", 0], b"x")}) == 6


@pytest.fixture
def database(fill):
    ids = fill.mentions(8)
    fill.decide(ids[0], Verdict.nil())  # imported: of no operation
    for mention in ids:
        with fill.store.write() as unit:
            one = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="é")
            unit.decisions.append([mention], [Verdict.nil()], curator="a", at=AT, operation_id=one, shown=[None])
    fill.store.close()
    return fill.store.folder / "project.sqlite"


def found(database, last=None):
    with closing(sqlite3.connect(database)) as conn:
        every = (*broken_operations(conn, last=last), *broken_decisions(conn, last=last))
        return [(one.table, one.id) for one in every if one is not None]


def change(database, statement):
    with closing(sqlite3.connect(database)) as conn, conn:
        for name in ("decisions_no_update", "decisions_no_delete", "operations_no_update", "operations_no_delete"):
            conn.execute(f"DROP TRIGGER {name}")
        conn.execute(statement)


def test_what_is_unchanged_holds(database):
    assert found(database) == found(database, last=3) == []


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE operations SET text = 'other' WHERE id = 3", [("operations", 3)]),
        ("UPDATE operations SET payload = '[]' WHERE id = 3", [("operations", 3)]),
        ("DELETE FROM operations WHERE id = 3", [("operations", 4)]),
        ("UPDATE operations SET hash = x'00' WHERE id = 3", [("operations", 3), ("operations", 4)]),
        ("UPDATE decisions SET note = 'x' WHERE id = 1", [("decisions", 1)]),
        ("UPDATE decisions SET entity_ids = '[\"X\"]' WHERE id = 3", [("decisions", 3)]),
        ("UPDATE decisions SET shown = x'00' WHERE id = 3", [("decisions", 3)]),
        ("DELETE FROM decisions WHERE id = 3", [("decisions", 4)]),
    ],
)
def test_what_is_changed_or_missing_is_found(database, statement, broken):
    change(database, statement)
    assert found(database) == broken
    assert found(database, last=2) == []
