from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester

from curator.domain.decisions import Verdict
from curator.domain.suggestions import Candidate
from curator.ui.candidates.candidate_model import CandidateModel, candidate_rows
from tests.curator.ui.samples import span, suggestion, view

FK = span("FK506")


def test_the_model_keeps_qt_s_contract(qapp: QApplication, qtmodeltester: ModelTester) -> None:
    model = CandidateModel()
    qtmodeltester.check(model)
    model.show_mention(view(1, FK, made=suggestion(1, 64)))
    qtmodeltester.check(model)
    model.show_mention(None)
    qtmodeltester.check(model)


def test_a_row_is_spoken_with_rank_name_facts_and_score(qapp: QApplication) -> None:
    model = CandidateModel()
    model.show_mention(view(1, FK))
    said = [model.index(at, 0).data(Qt.ItemDataRole.AccessibleTextRole) for at in (0, 1)]
    assert said[0] == "1: Tacrolimus, matched “FK506” · MESH:D016559 · Chemical, score 0.90"
    assert "matched" not in said[1], "the name itself matched"
    assert [row.margin for row in model.rows[:2]] == pytest.approx([0.45, -0.45])


def test_the_linked_candidate_is_chosen() -> None:
    rows = candidate_rows(view(1, FK, verdict=Verdict.link("MESH:D016560")))
    assert [row.chosen for row in rows] == [False, True, False]


@pytest.mark.parametrize(
    ("scores", "bars"), [((0.8, 0.2), [0.8, 0.2]), ((4.0, 1.0), [1.0, 0.25]), ((0.1, -0.5), [0.1, 0])]
)
def test_bars_show_the_score_or_its_share_of_the_best(scores: tuple[float, ...], bars: list[float]) -> None:
    made = replace(suggestion(1), candidates=tuple(Candidate(f"X:{s}", "n", (), "n", s) for s in scores))
    assert [row.fraction for row in candidate_rows(view(1, FK, made=made))] == pytest.approx(bars)


def test_a_single_candidate_has_no_margin() -> None:
    (row,) = candidate_rows(view(1, FK, made=suggestion(1, 1)))
    assert row.margin is None


def test_a_mention_without_suggestion_has_no_rows() -> None:
    assert candidate_rows(replace(view(1, FK), suggestion=None)) == []
    assert candidate_rows(None) == []


def test_enter_takes_the_first_candidate_unless_nil_is_suggested() -> None:
    rows = candidate_rows(view(1, FK))
    assert [row.accepted for row in rows] == [True, False, False]
    rows = candidate_rows(view(1, FK, made=suggestion(1, nil=True)))
    assert not any(row.accepted for row in rows)
    assert not any(row.accepted for row in candidate_rows(view(1, FK, verdict=Verdict.link("E1")))), (
        "Enter only says so"
    )


def test_probabilities_are_shown_where_there_are_any_and_what_was_decided_before() -> None:
    candidates = (
        Candidate("X:1", "n", ("T",), "n", 0.9, probability=0.6, decided_times=3, decided_documents=2),
        Candidate("X:2", "n", ("T",), "n", 0.1, probability=0.1, decided_times=1, decided_documents=1),
        Candidate("X:3", "n", (), "n", 0.0),
    )
    rows = candidate_rows(view(1, FK, made=replace(suggestion(1), candidates=candidates)))
    assert [row.value for row in rows] == [0.6, 0.1, 0.0]
    assert [row.margin for row in rows] == pytest.approx([0.5, -0.5, -0.6])
    assert rows[0].facts == "decided 3 times in 2 documents · X:1 · T"
    assert rows[1].before == "decided once in 1 document"
    assert rows[2].facts == "X:3"
