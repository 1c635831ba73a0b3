from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ModelError
from models.rankers.ranker import RerankRule, choose_margin, relative_by_gap, relative_by_softmax

SCORES = st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=20)


@given(SCORES)
def test_relative_scores_are_at_most_zero_and_keep_the_order(values: list[float]) -> None:
    scores = np.asarray(values, dtype=np.float32)
    for relative in (relative_by_gap, relative_by_softmax):
        found = relative(scores)
        assert found.max() == 0
        assert found.min() >= -1
        order = np.argsort(scores, kind="stable")
        assert (np.diff(found[order]) >= -1e-6).all()


def test_relative_scores_by_hand() -> None:
    np.testing.assert_allclose(relative_by_gap(np.array([-5, -1, -2], dtype=np.float32)), [-0.8, 0, -0.5])
    logits = np.log(np.array([0.7, 0.2, 0.1])).astype(np.float32)
    np.testing.assert_allclose(relative_by_softmax(logits), [0, -0.5, -0.6], atol=1e-6)
    for relative in (relative_by_gap, relative_by_softmax):
        assert relative(np.zeros(0, dtype=np.float32)).shape == (0,)
        assert relative(np.full(3, 2.5, dtype=np.float32)).tolist() == [0, 0, 0]


def test_the_margin_holds_the_share_of_smallest_leads() -> None:
    leads = [0.5, 0.1, 0.4, 0.2, 0.3, float("inf"), 0.9, 0.8, 0.7, 0.6]
    for share, asked in ((0.1, 1), (0.3, 3), (0.001, 1), (0.9, 9)):
        margin = choose_margin(leads, share)
        assert margin is not None
        assert sum(lead <= margin for lead in leads) == asked
    assert choose_margin(leads, 1.0) is None
    assert choose_margin([], 0.1) == -1.0


def test_a_rule_is_read_back_and_tells_what_it_does() -> None:
    rule = RerankRule(8, 0.03, 0.1, 10.0)
    assert RerankRule.from_json(8, {"inputs": {}, "rule": rule.to_json()}) == rule
    assert RerankRule.from_json(16, {}) == RerankRule(16)
    assert rule.sentence("x") == (
        "“x” re-ranks the first 8 candidates if the first leads by at most 3 percentage points of probability, "
        "for at most 10 s per document."
    )
    assert RerankRule(2).sentence("x") == "“x” re-ranks the first 2 candidates."


@pytest.mark.parametrize(
    ("top_k", "rule"),
    [
        (0, {}),
        ("8", {}),
        (8, {"margin": "small", "share": 1.0}),
        (8, {"margin": float("nan"), "share": 1.0}),
        (8, {"margin": True, "share": 1.0}),
        (8, {"share": 0}),
        (8, {"share": 2}),
        (8, {"margin": 0.1}),
        (8, {"share": 1.0, "seconds": []}),
        (8, [1]),
    ],
)
def test_a_damaged_rule_is_refused(top_k: Any, rule: Any) -> None:
    with pytest.raises(ModelError, match="ranker rule is damaged"):
        RerankRule.from_json(top_k, {"rule": rule})
