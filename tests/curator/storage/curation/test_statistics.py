from __future__ import annotations

import os
import time
from datetime import UTC, date, datetime

import pytest

from curator.domain.decisions import OperationKind, Shown, ShownCandidate, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.statistics import DecidedCell, EffortCell, Holdings, StatisticsFilter
from curator.storage.curation.statistics import decided_query
from curator.storage.db.schema import EffortRow
from tests.curator.storage.filler import AT, Filler, document, in_a_folder, mention

DAY = date(2024, 5, 6)
SHOWN = Shown("b", (ShownCandidate("A", 1.0), ShownCandidate("B", 0.5)), nil_first=False)


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    """Days are local ones; here local is UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    os.environ.pop("TZ")
    time.tzset()


def act(store, ids, verdicts, *, actor="ada", at=AT, kind=OperationKind.DECIDE, target=None, cost=None, shown=SHOWN):
    with store.write() as unit:
        operation = unit.operations.append(kind, actor=actor, at=at, text="", target=target)
        unit.decisions.append(
            ids, verdicts, curator=actor, at=at, operation_id=operation, shown=[shown] * len(verdicts)
        )
        if cost is not None:
            unit.connection.execute(
                EffortRow.__table__.insert().values(operation_id=operation, keys=cost[0], milliseconds=cost[1])
            )
    return operation


def counted(store):
    with store.read() as unit:
        return unit.records.decided(), unit.records.efforts(), unit.records.documents()


def test_current_decisions_are_counted_by_day_curator_split_outcome_and_rank(store, fill):
    ids = fill.mentions(6)
    fill.file(document("200", mentions=[mention(0, 2), mention(3, 5)]), split=Split.TEST, sha="t")
    tests = fill.stored[0][1]
    act(store, ids[:1], [Verdict.link("A")])
    act(store, ids[1:2], [Verdict.link("A")], actor="bob")
    first = act(store, ids[2:3], [Verdict.link("B")])
    act(store, ids[2:3], [Verdict.nil()], at=datetime(2024, 5, 7, 1, tzinfo=UTC), shown=None)  # replaces the one before
    act(store, ids[3:4], [Verdict.link("C")])
    act(store, tests[:1], [Verdict.skip()], actor="import:gold.txt", shown=None)
    act(store, ids[4:5], [Verdict.link("A")])
    with store.write() as unit:
        unit.mentions.set_deleted(ids[4:5], True)
    assert first
    decided, _, _ = counted(store)
    assert set(decided) == {
        DecidedCell(DAY, "ada", "train", "link", 1, 1),
        DecidedCell(DAY, "bob", "train", "link", 1, 1),
        DecidedCell(date(2024, 5, 7), "ada", "train", "nil", None, 1),
        DecidedCell(DAY, "ada", "train", "link", 0, 1),
        DecidedCell(DAY, "import", "test", "skipped", None, 1),
    }


def test_what_is_still_being_imported_does_not_count(store, fill):
    fill.file(document(mentions=[mention(0, 2)]), complete=False)
    act(store, fill.stored[0][1], [Verdict.link("A")])
    assert counted(store) == ([], [], [])


def test_efforts_are_summed_with_the_decisions_they_bought(store, fill):
    ids = fill.mentions(5)
    act(store, ids[:1], [Verdict.link("A")], cost=(1, 800))
    act(store, ids[1:2], [Verdict.link("B")], cost=(4, 5000))
    act(store, ids[2:5], [Verdict.link("A")] * 3, cost=(2, 3000))
    taken = act(store, ids[:1], [Verdict.link("B")], cost=(2, 700))
    act(store, ids[:1], [Verdict.link("A")], kind=OperationKind.UNDO, target=taken, cost=(1, 500))
    _, efforts, _ = counted(store)
    assert sorted(efforts, key=lambda one: (one.many, one.decisions)) == [
        EffortCell(DAY, "ada", "", many=False, decisions=0, one_key=0, keys=3, milliseconds=1200),
        EffortCell(DAY, "ada", "train", many=False, decisions=2, one_key=1, keys=5, milliseconds=5800),
        EffortCell(DAY, "ada", "train", many=True, decisions=3, one_key=0, keys=2, milliseconds=3000),
    ]


def test_documents_come_with_their_mentions_by_state(store, fill):
    ids = fill.mentions(4)
    fill.decide(ids[0], Verdict.link("A"))
    fill.decide(ids[1], Verdict.nil())
    with store.write() as unit:
        unit.documents.set_state(fill.document_id, DocumentState.DONE)
    _, _, (cell,) = counted(store)
    assert (cell.split, cell.state, cell.documents) == (Split.TRAIN, DocumentState.DONE, 1)
    assert dict(cell.mentions) == {"": 2, "link": 1, "nil": 1, "rejected": 0, "skipped": 0}


def test_a_filter_holds_days_people_and_splits():
    where = StatisticsFilter("ada", Split.TEST, since=DAY, until=DAY)
    assert where.holds_day(DAY)
    assert not where.holds_day(date(2024, 5, 7))
    assert not where.holds_day(date(2024, 5, 5))
    assert (where.holds_curator("ada"), where.holds_curator("bob")) == (True, False)
    assert (where.holds_split("test"), where.holds_split(""), where.holds_split("train")) == (True, False, False)
    assert StatisticsFilter().holds_split("")


@in_a_folder
def test_the_decisions_are_counted_without_reading_what_was_shown(store, fill):
    """Half a million lists of candidates would take a second and a gigabyte."""
    fill.mentions(1)
    with store.read() as unit:
        sql = str(decided_query().compile(unit.connection.engine, compile_kwargs={"literal_binds": True}))
        plan = unit.connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}").all()
    assert any("COVERING INDEX ix_decisions_curator" in row[3] for row in plan), plan


def test_the_history_comes_in_pages_newest_first(store, fill):
    ids = fill.mentions(4)
    fill.decide(ids[3], Verdict.link("Z"))
    first = act(store, ids[:1], [Verdict.link("A")])
    act(store, ids[1:2], [Verdict.nil()], actor="bob", shown=None)
    act(store, ids[:1], [Verdict.link("B")], actor="bob")
    act(store, ids[2:3], [Verdict.skip()], actor="import:gold.txt", shown=None)
    assert first
    with store.read() as unit:
        taken = unit.records.taken
        every = taken(limit=10)
        assert [(one.curator, one.outcome, one.entity_ids, one.rank, one.stands) for one in every] == [
            ("bob", "link", ("B",), 2, True),
            ("bob", "nil", (), None, True),
            ("ada", "link", ("A",), 1, False),
            ("ada", "link", ("Z",), None, True),
        ]
        assert (every[0].step, every[3].step, every[0].document, every[0].text) == ("decide", "", "100", "text 0")
        assert taken(limit=2, before=every[1].id) == every[2:]
        assert [one.curator for one in taken(limit=10, curator="ada")] == ["ada", "ada"]
        assert [one.id for one in taken(limit=10, words="TEXT 1")] == [every[1].id]
        assert [one.id for one in taken(limit=10, words='"Z"')] == [every[3].id]
        assert taken(limit=10, words="%") == []
        assert taken(limit=1, imported=True)[0].curator == "import:gold.txt"


def test_what_an_export_has_to_hold(fill: Filler) -> None:
    first, second, third, fourth = fill.mentions(4)
    fill.decide(first, Verdict.link("D1", "D2"))
    fill.decide(second, Verdict.nil())
    fill.decide(third, Verdict.reject())
    fill.decide(fourth, Verdict.skip())
    with fill.store.read() as unit:
        held = unit.records.holdings()
        assert (held.documents, held.mentions + held.others) == (1, 4)
        assert (held.links, held.nil, held.composite, held.attributed, held.relations) == (1, 1, 1, 0, 0)
        assert unit.records.holdings(done=True) == Holdings()
        assert unit.records.holdings(noted="nobody wrote this") == Holdings()
