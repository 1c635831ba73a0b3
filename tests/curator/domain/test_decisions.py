"""Outcome, entities and reason of a verdict must fit together."""

from __future__ import annotations

import pytest

from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict


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
