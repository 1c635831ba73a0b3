from __future__ import annotations

from dataclasses import replace

import pytest

from curator.domain.decisions import (
    NilReason,
    OperationKind,
    Outcome,
    RejectReason,
    Shown,
    ShownCandidate,
    SkipReason,
    Verdict,
)
from curator.domain.documents import Split
from curator.domain.wording import InconsistentDataError, UserError
from curator.services.ports.curation import Effort
from curator.storage.team.store import SharedStore
from tests.curator.storage.filler import AT, document, mention

VERDICTS = [
    Verdict.link("MESH:D1", "MESH:D2"),
    Verdict.nil(NilReason.TOO_GENERAL),
    Verdict.reject(RejectReason.WRONG_SPAN),
    Verdict.skip(SkipReason.AMBIGUOUS),
    Verdict(Outcome.CLEARED),
]


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda v: v.outcome.value)
def test_a_decision_comes_back_as_it_was(fill, verdict):
    ids = fill.mentions()
    seen = Shown("b1", (ShownCandidate("MESH:D1", 0.1 + 0.2), ShownCandidate("MESH:D9", -3e-9)), nil_score=1 / 3)
    shown = replace(seen, nil_first=True, unseen=replace(seen, nil_first=False))
    with fill.store.write() as unit:
        operation = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="x")
        made = unit.decisions.append(
            ids[:1], [verdict], curator="ada", at=AT, operation_id=operation, shown=[shown], notes=["é"]
        )
    with fill.store.read() as unit:
        assert unit.decisions.history(ids[0]) == unit.decisions.of_operation(operation) == made
        assert (made[0].verdict, made[0].shown, made[0].note, made[0].at) == (verdict, shown, "é", AT)


def test_current_is_the_last_one_and_cleared_makes_undecided(fill):
    ids = fill.mentions()
    first = fill.decide(ids[0], Verdict.link("D1"))
    second = fill.decide(ids[0], Verdict.nil())
    with fill.store.read() as unit:
        assert unit.decisions.current(ids) == unit.decisions.current_of_document(fill.document_id) == {ids[0]: second}
        assert unit.decisions.before_many([second]) == {second.id: first}
        assert unit.decisions.before_many([first]) == {}
    cleared = fill.decide(ids[0], Verdict(Outcome.CLEARED))
    with fill.store.read() as unit:
        assert unit.decisions.current(ids) == {}
        assert unit.decisions.history(ids[0]) == [first, second, cleared]
        assert (unit.decisions.count(), unit.documents.row(fill.document_id).decided) == (3, 0)


REPLACE = "INSERT OR REPLACE INTO {t} SELECT * FROM {t}"


@pytest.mark.parametrize("table", ["decisions", "operations"])
@pytest.mark.parametrize(
    "statement",
    ["UPDATE {t} SET at = 'x'", "DELETE FROM {t}", REPLACE],
)
def test_history_cannot_be_rewritten_even_by_sql(fill, table, statement):
    ids = fill.mentions()
    with fill.store.write() as unit:
        operation = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="x")
    fill.decide(ids[0], Verdict.nil(), operation_id=operation)
    if statement == REPLACE and isinstance(fill.store, SharedStore):
        statement = "TRUNCATE {t} CASCADE"  # PostgreSQL knows no REPLACE
    with pytest.raises(InconsistentDataError, match="append-only"), fill.store.write() as unit:
        unit.connection.exec_driver_sql(statement.format(t=table))


def test_a_complete_file_cannot_be_made_incomplete_to_reach_its_decisions(fill):
    fill.mentions()
    with pytest.raises(InconsistentDataError, match="stays complete"), fill.store.write() as unit:
        unit.connection.exec_driver_sql("UPDATE source_files SET complete = FALSE")


def test_the_cost_of_an_unknown_operation_is_refused_with_an_error_of_our_own(fill):
    with pytest.raises(InconsistentDataError), fill.store.write() as unit:
        unit.operations.add_efforts([Effort(7, 1, 1000)])
    with fill.store.read() as unit:
        assert unit.operations.efforts() == []


def test_an_unknown_mention_is_refused_and_nothing_of_the_unit_stays(fill):
    ids = fill.mentions()

    def decide_both():
        with fill.store.write() as unit:
            unit.decisions.append(ids[:1], [Verdict.nil()], curator="a", at=AT, operation_id=0, shown=[None])
            unit.decisions.append([999], [Verdict.nil()], curator="a", at=AT, operation_id=0, shown=[None])

    with pytest.raises(UserError, match="mention 999"):
        decide_both()
    with fill.store.read() as unit:
        assert (unit.decisions.count(), unit.decisions.current(ids)) == (0, {})


def test_thousands_at_once(fill):
    fill.file(document(mentions=[mention(i, i + 1) for i in range(2500)]))
    document_id, ids = fill.stored[0]
    with fill.store.write() as unit:
        unit.decisions.append(
            ids, [Verdict.nil()] * 2500, curator="import:f", at=AT, operation_id=0, shown=[None] * 2500
        )
        assert len(unit.decisions.current(ids)) == unit.documents.row(document_id).decided == 2500


def test_sequences_of_different_length_are_a_bug(fill):
    ids = fill.mentions()
    with pytest.raises(ValueError, match="shorter"), fill.store.write() as unit:
        unit.decisions.append(ids, [Verdict.nil()], curator="a", at=AT, operation_id=0, shown=[None])


def test_links_of_a_split_are_counted_by_type_and_entities(fill):
    chemical = mention(6, 8, type_="Chemical")
    fill.file(document(mentions=[mention(0, 2), mention(2, 4), mention(4, 6), chemical]), sha="train")
    first, second, third, other = fill.stored[0][1]
    fill.file(document(mentions=[mention(0, 2)]), split=Split.TEST, sha="test")
    for mention_id in (first, second, other, *fill.stored[0][1]):
        fill.decide(mention_id, Verdict.link("MESH:D1", "MESH:D2"))
    fill.decide(second, Verdict.link("MESH:D3"))
    fill.decide(third, Verdict.nil())
    with fill.store.read() as unit:
        found = unit.decisions.links(Split.TRAIN, {"Disease"})
    assert sorted(found) == [("Disease", ("MESH:D1", "MESH:D2"), 1), ("Disease", ("MESH:D3",), 1)]
