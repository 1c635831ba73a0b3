"""Outcome, entities and reason of a verdict must fit together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curator.domain.decisions import (
    KEPT_BACK_OTHER,
    KEPT_BACK_SAME,
    NilReason,
    Outcome,
    RejectReason,
    Shown,
    ShownCandidate,
    SkipReason,
    Verdict,
)


def test_the_four_outcomes() -> None:
    assert Verdict.link("MESH:D1", "MESH:D2").entity_ids == ("MESH:D1", "MESH:D2")
    assert Verdict.nil().reason is NilReason.NOT_IN_KB
    assert Verdict.reject(RejectReason.WRONG_SPAN).outcome is Outcome.REJECTED
    assert Verdict.skip().reason is SkipReason.UNSURE


@pytest.mark.parametrize(
    ("outcome", "ids", "reason"),
    [
        (Outcome.LINK, (), None),
        (Outcome.LINK, ("X:1",), NilReason.NOT_IN_KB),
        (Outcome.NIL, (), None),
        (Outcome.NIL, (), SkipReason.UNSURE),
        (Outcome.NIL, ("X:1",), NilReason.NOT_IN_KB),
        (Outcome.REJECTED, (), None),
        (Outcome.SKIPPED, (), RejectReason.WRONG_SPAN),
        (Outcome.CLEARED, (), SkipReason.UNSURE),
    ],
)
def test_what_does_not_fit_is_refused(
    outcome: Outcome, ids: tuple[str, ...], reason: NilReason | RejectReason | SkipReason | None
) -> None:
    with pytest.raises(ValueError, match="does not go with"):
        Verdict(outcome, ids, reason)


def test_the_rank_of_a_decision_counts_from_what_enter_accepts() -> None:
    plain = Shown("b", (ShownCandidate("A", 2.0), ShownCandidate("B", 1.0)), 0.1, nil_first=False)
    assert [plain.rank_of(Verdict.link(one)) for one in ("A", "B", "C")] == [1, 2, 0]
    assert plain.rank_of(Verdict.link("C", "B")) == 2
    assert plain.rank_of(Verdict.nil()) == 0
    on_top = replace(plain, nil_first=True)
    assert (on_top.rank_of(Verdict.nil()), on_top.rank_of(Verdict.link("A"))) == (1, 2)
    assert replace(plain, nil_first=None).rank_of(Verdict.nil()) == -1  # an older record does not say


def test_a_decision_without_suggestions_or_without_an_answer_has_no_rank() -> None:
    assert Shown("", ()).rank_of(Verdict.link("A")) is None
    seen = Shown("b", (ShownCandidate("A", 2.0),), nil_first=False)
    assert seen.rank_of(Verdict.reject()) is None
    assert seen.rank_of(Verdict.skip()) is None
    assert Shown("b", ()).rank_of(Verdict.link("A")) == 0  # shown, but the list was empty


def test_a_suggestion_that_was_kept_back_tells_only_whether_it_said_the_same() -> None:
    kept = Shown("b", (ShownCandidate("A", 2.0), ShownCandidate("B", 1.0)), nil_first=False)
    hidden = Shown("", (), unseen=kept)
    assert hidden.rank_of(Verdict.link("A")) == KEPT_BACK_SAME
    assert hidden.rank_of(Verdict.link("B")) == hidden.rank_of(Verdict.nil()) == KEPT_BACK_OTHER
    assert hidden.rank_of(Verdict.skip()) is None
