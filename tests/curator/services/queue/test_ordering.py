"""The orders of work, against what their formulas say."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.domain.decisions import Shown, ShownCandidate, Verdict
from curator.domain.facets import Facet, Facets
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.ports.queue import QueueFilter, WorkRow
from curator.services.queue.ordering import ENOUGH, QueueOrder, Seconds, diverse, measured, string_of, uncertain
from tests.curator.services.fakes import World


def row(mention_id: int, text: str, probability: float | None, first: str = "") -> WorkRow:
    margin = None if probability is None else probability / 2
    return WorkRow(mention_id, 1, text, "Disease", first or f"E:{text.casefold()}", probability, margin, False)


def ids(rows: list[WorkRow]) -> list[int]:
    return [one.mention_id for one in rows]


def test_the_uncertain_order_is_by_probability_alone() -> None:
    rows = [row(1, "a", 0.9), row(2, "b", 0.2), row(3, "b", 0.2), row(4, "c", None)]
    assert ids(uncertain(rows)) == [4, 2, 3, 1]


def test_a_frequent_string_comes_before_a_rarer_one_as_unsure_and_once() -> None:
    rows = [row(1, "rare", 0.5), row(2, "often", 0.5), row(3, "Often", 0.5), row(4, "often", 0.5)]
    assert ids(diverse(rows))[:2] == [2, 1]


def test_a_decided_string_has_little_left_to_teach() -> None:
    rows = [row(1, "known", 0.4), row(2, "new", 0.6)]
    assert ids(diverse(rows)) == [1, 2]
    assert ids(diverse(rows, decided={("known", "Disease"): 1})) == [2, 1]


def test_a_cheap_decision_comes_before_a_dear_one_of_equal_gain() -> None:
    """Four mentions at 0.9 promise 0.4 corrections, one at 0.5 promises 0.5, at 3.9 and 7.5 seconds each."""
    rows = [*(row(n, "easy", 0.9) for n in (1, 2, 3, 4)), row(5, "hard", 0.5)]
    assert ids(diverse(rows))[0] == 1
    assert ids(diverse(rows, seconds=Seconds(10, 10)))[0] == 5


def test_mentions_of_one_suggestion_are_no_neighbours() -> None:
    rows = [row(1, "FK506", 0.1, "T"), row(2, "tacrolimus", 0.1, "T"), row(3, "dipyrone", 0.9, "M")]
    assert ids(diverse(rows)) == [1, 3, 2]


ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.floats(0, 1), st.sampled_from(["", "E1", "E2", "E3"])),
    min_size=1,
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_neighbours_share_no_cluster_while_another_is_left(given_rows: list[tuple[str, float, str]]) -> None:
    rows = [WorkRow(n, 1, text, "D", first, p, p, False) for n, (text, p, first) in enumerate(given_rows)]
    order = diverse(rows)
    assert sorted(ids(order)) == list(range(len(rows)))
    for at in range(1, len(order)):
        before = order[at - 1]
        if _alike(before, order[at]):
            assert all(_alike(before, other) for other in order[at:])


def _alike(one: WorkRow, other: WorkRow) -> bool:
    return string_of(one) == string_of(other) or (one.first != "" and one.first == other.first)


def test_seconds_are_believed_once_enough_were_measured() -> None:
    assert measured([1.0] * (ENOUGH - 1), []) == Seconds()
    assert measured([1.0] * 10 + [2.0] * 11, [9.0] * ENOUGH) == Seconds(2.0, 9.0)


@pytest.fixture
def suggested(filled: World) -> World:
    """The four mentions of both documents with falling probabilities, the same in both."""
    store = filled.store
    with store.write() as unit:
        unit.suggestions.save([suggestion(one, 0.1 + 0.2 * ((one - 1) % 4)) for one in range(1, 9)])
    return filled


def suggestion(mention_id: int, probability: float) -> Suggestion:
    candidate = Candidate(f"E{mention_id % 4}", "name", (), "name", 1.0, probability=probability)
    return Suggestion(mention_id, (candidate,), NilEstimate(0.1, False, True), Stamp("b", 0))


def test_lists_of_work_hold_what_the_filter_shows_and_leave_out_what_is_decided(suggested: World) -> None:
    work = suggested.project.ordering.work
    assert work(QueueFilter(), QueueOrder.DOCUMENT) == []
    assert sorted(ids(work(QueueFilter(), QueueOrder.UNCERTAIN)[:2])) == [1, 5]
    suggested.project.curation.decide(1, Verdict.nil())
    assert ids(work(QueueFilter(), QueueOrder.UNCERTAIN, length=1)) == [5]
    chemical = QueueFilter(facets=Facets.of({Facet.TYPE: ["Chemical"]}))
    assert len(work(chemical, QueueOrder.DIVERSE)) == 1
    texts = [one.text for one in work(QueueFilter(), QueueOrder.DIVERSE)]
    assert len(texts) == 7
    assert all(one != other for one, other in pairwise(texts))


def test_seconds_come_from_what_decisions_took(suggested: World) -> None:
    store = suggested.store
    shown = Shown("b", (ShownCandidate("MESH:D008012", 1.0),))
    suggested.project.curation.decide(1, Verdict.link("MESH:D008012"), shown=shown)
    suggested.project.curation.decide(2, Verdict.link("MESH:D006323"), shown=shown)
    suggested.project.curation.decide_many([3, 4], Verdict.nil())
    with store.write() as unit:
        for operation, milliseconds in ((1, 2500), (2, 8000), (3, 100)):
            unit.connection.exec_driver_sql(f"INSERT INTO efforts VALUES ({operation}, 1, {milliseconds})")
    with store.read() as unit:
        assert unit.queue.decision_seconds() == ([2.5], [8.0])
        assert unit.queue.decided_strings() == {
            ("Lidocaine", "Chemical"): 1,
            ("cardiac arrest", "SpecificDisease"): 1,
            ("arrhythmia", "SpecificDisease"): 1,
            ("blorbitis", "SpecificDisease"): 1,
        }
