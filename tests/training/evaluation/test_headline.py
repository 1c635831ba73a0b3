from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.training.evaluation.worlds import answer, gold, gold_set
from training.evaluation.headline import compare, curves, headline, probabilities, slice_estimates
from training.evaluation.outcomes import Outcomes, outcomes
from training.evaluation.resampling import DocumentBootstrap

GOLD = gold_set(
    *(gold(f"m{n}", "A" if n % 3 else "B", document=f"d{n % 7}", types=(("X", "Y")[n % 2],)) for n in range(40)),
    *(gold(f"n{n}", document=f"d{n % 7}", types=("X",)) for n in range(10)),
    gold("c0", "A", "B", document="d0", types=("Y",)),
    gold("c1", "A", "B", document="d1", types=("Y",)),
)


def linked(shift: int = 0) -> Outcomes:
    """Right for some, NIL flagged for some; `shift` makes another linker."""
    answers = [answer(f"m{n}", "A", "B", nil=(n % 10) / 20) for n in range(shift, 40)]
    answers += [answer(f"n{n}", "A", nil=0.3 + n / 20, is_nil=n > 4 + shift) for n in range(10)]
    answers += [answer("c0", "A", "C", "B"), answer("c1", "A", "B")]
    return outcomes(answers, GOLD)


def value(name: str, found: Outcomes, k: int = 8) -> float:
    return float(headline(found, k=k)[name](np.ones((1, len(found))))[0])


def test_headline_figures_by_hand() -> None:
    found = linked()
    right = sum(1 for n in range(40) if n % 3)
    assert value("recall@1", found) == pytest.approx((right + 2) / 42)
    assert value("recall@8", found) == 1.0
    assert value("recall@1, single", found) == pytest.approx(right / 40)
    assert value("recall@1, composite, any-match", found) == 1.0
    assert value("recall@1, composite, all-match", found) == 0.5
    by_type = [[n % 3 != 0 for n in range(40) if n % 2 == odd] for odd in (0, 1)]
    by_type[1] += [True, True]
    assert value("recall@1, macro over types", found) == pytest.approx(sum(sum(t) / len(t) for t in by_type) / 2)
    assert value("NIL precision", found) == 1.0
    assert value("NIL recall", found) == 0.5
    assert value("NIL F1", found) == pytest.approx(2 / 3)
    assert value("right in all, NIL included", found) == pytest.approx((right + 2 + 5) / 52)


def test_every_headline_figure_has_an_interval_or_says_why_not() -> None:
    found = linked()
    estimates = DocumentBootstrap(found.document, resamples=200).estimates(headline(found, k=8))
    without = {name for name, one in estimates.items() if one.low is None}
    assert without == {"recall@8", "recall@8, all-match", "recall@8, macro over types", "NIL precision",
                       "recall@1, composite, any-match", "Brier, first candidate"}  # fmt: skip
    for name, one in estimates.items():
        if name not in without:
            assert one.value is not None
            assert one.low is not None
            assert one.high is not None
            assert one.low <= one.value <= one.high or name.startswith("ECE"), name


def test_probabilities_of_the_first_candidate_and_of_nil() -> None:
    """Every first candidate is said to be right with one half; where NIL is true it never is."""
    found = linked()
    name, (said, true, part) = next(iter(probabilities(found).items()))
    assert (name, part.sum(), set(said[part])) == ("first candidate", 52, {0.5})
    assert value(f"Brier, {name}", found) == pytest.approx(0.25)
    rate = true.mean()
    assert rate == pytest.approx(28 / 52)
    assert value(f"Brier gain over base rate, {name}", found) == pytest.approx(1 - 0.25 / (rate * (1 - rate)))
    silent = replace(found, probability=np.full(52, np.nan))
    assert list(probabilities(silent)) == ["NIL"]


def test_slices_have_the_intervals_of_their_mentions() -> None:
    found = linked()
    first = np.arange(len(found)) < 40
    bootstrap = DocumentBootstrap(found.document, resamples=100)
    part = slice_estimates(found, {"first": first}, bootstrap, k=8)["first"]
    assert part["recall@1"].value == pytest.approx(26 / 40)
    assert part["recall@k"].value == 1.0
    assert part["accuracy"].value == pytest.approx(26 / 40)
    assert part["recall@1"].low is not None


def test_a_comparison_counts_who_alone_is_right() -> None:
    this, other = linked(), linked(shift=3)
    found = compare(this, other, DocumentBootstrap(this.document, resamples=100), k=8)
    lost = [n for n in range(3) if n % 3]
    assert found.first.only_this == len(lost)
    assert found.first.only_other == 0
    assert found.decisions.only_this == len(lost) + 3, "three NIL flags besides"
    assert found.figures["recall@1"].difference.value == pytest.approx(len(lost) / 42)
    assert json.loads(json.dumps(found.to_json()))["decisions"]["p_value"] == found.decisions.p_value


def test_curves_are_plain_json() -> None:
    raw = json.loads(json.dumps(curves(linked())))
    assert raw["threshold"] == [0.5, 1.0]
    assert raw["precision_recall"][-1][0] == 1.0
    assert raw["risk_coverage"][-1] == [1.0, pytest.approx(1 - 33 / 52, abs=1e-6)]
    assert sum(one["count"] for one in raw["calibration"]["first candidate"]) == 52
    assert raw["base_rate"] == pytest.approx(10 / 52)
