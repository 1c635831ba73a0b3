from __future__ import annotations

import numpy as np
import pytest

from tests.training.evaluation.worlds import answer, gold, gold_set
from training.evaluation.outcomes import MISSED, outcomes

GOLD = gold_set(
    gold("m0", "A", document="one", types=("Disease",)),
    gold("m1", "A", "B", document="one", types=("Drug", "Chemical")),
    gold("m2", document="two", types=("Disease",)),
    gold("m3", "C", document="two"),
    gold("m4", "A", "C", document="two"),
)
ANSWERS = (
    answer("m0", "B", "A"),
    answer("m1", "A", "C", "B"),
    answer("m2", "A", nil=0.9, is_nil=True),
    answer("m4", "A", "B", nil=0.7, is_nil=True),
    answer("other", "A"),
)


def test_ranks_documents_and_groups() -> None:
    found = outcomes(ANSWERS, GOLD)
    assert found.document.tolist() == [0, 0, 1, 1, 1]
    assert found.any_rank.tolist() == [2, 1, MISSED, MISSED, 1]
    assert found.all_rank.tolist() == [2, 3, MISSED, MISSED, MISSED]
    assert found.size.tolist() == [1, 2, 0, 1, 2]
    assert found.groups == ("Chemical or Drug", "Disease", "any")
    assert found.group.tolist() == [1, 0, 1, 2, 2]
    assert found.answered.tolist() == [True, True, True, False, True]
    assert found.nil.tolist() == [False, False, True, False, False]


def test_what_is_right_with_and_without_the_flag() -> None:
    found = outcomes(ANSWERS, GOLD)
    assert found.right.tolist() == [False, True, True, False, False]
    assert found.first_right.tolist() == [False, True, False, False, True]


def test_all_match_grants_as_many_places_as_there_are_entities() -> None:
    found = outcomes([answer("m1", "B", "A"), answer("m4", "A", "B", "C")], GOLD)
    assert found.found_all(1).tolist() == [False, True, False, False, False]
    assert found.found_all(3).tolist() == [False, True, False, False, True]
    assert found.found_any(1).tolist() == [False, True, False, False, True]


def test_confidence_is_that_of_the_decision() -> None:
    answers = (answer("m0", "B", "A", sure=0.75), answer("m1"), *ANSWERS[2:])
    np.testing.assert_allclose(outcomes(answers, GOLD).confidence(), [0.75, 0.0, 0.9, 0.0, 0.7])


def test_no_mention_at_all() -> None:
    found = outcomes(ANSWERS, gold_set())
    assert len(found) == 0
    assert found.groups == ()
    assert found.found_any(1).tolist() == []


def test_mentions_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="unique"):
        outcomes([], gold_set(gold("m0", "A", document="one"), gold("m0", "B", document="two")))
