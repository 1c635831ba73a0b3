"""How often the gate promotes: a stage that knows something, one that knows nothing, and one that misleads.

`python -m tests.benchmarks.gate_simulation [--runs 40] [--mentions 500]`: invented mentions, of which the names put the
right entity first in 93 %, and a trained stage with errors of its own; the real combiner, hearing, NIL model and gate.
Promoted should be ≥ 90 % of the runs with a stage that alone is right in 60 %, and ≤ 5 % of those with one trained on
shuffled decisions, which is right by chance.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from tests.training.job.invented import A_DOCUMENT, STAGE, Stage, Weights, contrary, invented, sometimes_right
from training.job.calibration import cross_fitted, refit
from training.job.gate import RECALL, Alone, GateOutcome, GateResult, judge

FOLDS = 5
ALONE = Alone(0.0, 0.0, 0.0, 0.0)
STAGES: dict[str, Stage] = {
    "right in 60 % alone": sometimes_right(0.6),
    "right in 40 % alone": sometimes_right(0.4),
    "shuffled decisions": sometimes_right(0.0),
    "against the decisions": contrary,
}


def verdict(stage: Stage, mentions: int, seed: int) -> GateResult:
    linker: Any = Weights()
    scored, gold = invented(mentions, stage, seed=seed, nil_every=12)
    documents = {one.document.key: at for at, one in enumerate(scored[::A_DOCUMENT])}
    folds = [[one for one in scored if documents[one.document.key] % FOLDS == at] for at in range(FOLDS)]
    old, new = (cross_fitted(linker, folds, gold, k=5, stage=name) for name in ("", STAGE))
    heard = STAGE in refit(linker, scored, gold, stage=STAGE).combiner.heard
    return judge(old, new, gold, ALONE, heard=heard, stage=STAGE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--mentions", type=int, default=500)
    options = parser.parse_args()
    for name, stage in STAGES.items():
        results = [verdict(stage, options.mentions, seed) for seed in range(options.runs)]
        counts = Counter(one.verdict for one in results)
        gain = sum(one.gains[RECALL].new - one.gains[RECALL].old for one in results) / len(results)
        told = ", ".join(f"{one.value} {counts[one]}" for one in GateOutcome)
        print(f"{name:24} {told}; recall@1 {100 * gain:+.1f} points in the mean")


if __name__ == "__main__":
    main()
