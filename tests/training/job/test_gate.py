import json

import pytest

from training.evaluation import Report
from training.job.gate import Alone, GateOutcome, judge


def report(recall: float, accuracy: float = 0.7) -> Report:
    return Report(
        mentions=200, in_kb=180, nil_mentions=20, composites=0, unanswered=0, alternate_ids=0, unknown_ids=0, k=64,
        recall={1: recall, 64: 0.95}, accuracy=accuracy,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "before", "after", "weight", "verdict"),
    [
        (0.80, 0.82, 0.4, 0.6, 1.0, GateOutcome.PROMOTE),
        (0.80, 0.79, 0.4, 0.6, 1.0, GateOutcome.REFUSED),
        (0.80, 0.82, 0.4, 0.3, 1.0, GateOutcome.REFUSED),
        (0.80, 0.80, 0.4, 0.3, 0.0, GateOutcome.REFUSED),
        (0.80, 0.80, 0.4, 0.6, 0.0, GateOutcome.NO_GAIN),
        (0.80, 0.80, 0.4, 0.6, 0.5, GateOutcome.NO_GAIN),
        (0.80, 0.82, 0.4, 0.4, 0.5, GateOutcome.PROMOTE),
        (0.80, 0.82, 0.4, 0.37, 0.5, GateOutcome.PROMOTE),  # the standard error of 180 mentions is .037
        (0.80, 0.82, 0.4, 0.36, 0.5, GateOutcome.REFUSED),
    ],
)
def test_verdicts(old: float, new: float, before: float, after: float, weight: float, verdict: GateOutcome) -> None:
    result = judge(report(old), report(new), Alone(before, after, 0.9, 0.9), weight=weight, stage="pel-pb")
    assert result.verdict is verdict
    assert "180 held-out linked mentions" in result.sentence
    assert f"{100 * after:.1f} %" in result.sentence
    assert json.loads(json.dumps(result.to_json()))["verdict"] == verdict.value


@pytest.mark.parametrize(
    ("recall", "accuracy", "verdict"),
    [
        (0.82, 0.72, GateOutcome.PROMOTE),
        (0.82, 0.69, GateOutcome.NO_GAIN),  # the standard error of 200 mentions is .032
        (0.82, 0.66, GateOutcome.REFUSED),
        (0.80, 0.66, GateOutcome.REFUSED),
        (0.80, 0.72, GateOutcome.NO_GAIN),
    ],
)
def test_nil_counts_too(recall: float, accuracy: float, verdict: GateOutcome) -> None:
    result = judge(report(0.80), report(recall, accuracy), Alone(0.4, 0.6, 0.9, 0.9), weight=1.0, stage="pel-pb")
    assert result.verdict is verdict
    assert (result.old_accuracy, result.new_accuracy) == (0.7, accuracy)
    if accuracy < 0.7:
        assert f"{100 * accuracy:.1f} %" in result.sentence
