"""How often the gate promotes a useful stage, a useless one, and a misleading one.

`python -m tests.benchmarks.gate_simulation [--runs 40] [--mentions 500] [--nil-every 100]`: invented mentions, of which
the names put the right entity first in 93 %, and a trained stage with errors of its own; the real combiner, hearing,
NIL model and gate. Promoted should be ≥ 90 % of the runs with a stage that alone is right in 60 %, and ≤ 5 % of those
with one trained on shuffled decisions, which is right by chance.

One mention in a hundred has no entity, as in BC5CDR (0.8 % of train); `--nil-every 12` is a corpus full of them. There
the invented NIL looks to every stage like a mention whose names mislead, and what the trained stage puts right was
called NIL before as after: recall@1 rises, being right in all hardly, and the gate promotes less often.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from tests.training.job.invented import A_DOCUMENT, STAGE, Stage, Weights, contrary, invented, sometimes_right
from training.job.fitting import cross_fitted, refit
from training.job.gate import RECALL, Alone, GateOutcome, GateResult, Part, judge

FOLDS = 5
ALONE = Alone(0.0, 0.0, 0.0, 0.0)
STAGES: dict[str, Stage] = {
    "right in 60 % alone": sometimes_right(0.6),
    "right in 40 % alone": sometimes_right(0.4),
    "shuffled decisions": sometimes_right(0.0),
    "against the decisions": contrary,
}


def verdict(stage: Stage, mentions: int, seed: int, nil_every: int) -> GateResult:
    linker: Any = Weights()
    scored, gold = invented(mentions, stage, seed=seed, nil_every=nil_every)
    documents = {one.document.key: at for at, one in enumerate(scored[::A_DOCUMENT])}
    folds = [[one for one in scored if documents[one.document.key] % FOLDS == at] for at in range(FOLDS)]
    old, new = (cross_fitted(linker, folds, gold, k=5, stage=name) for name in ("", STAGE))
    heard = STAGE in refit(linker, scored, gold, stage=STAGE).combiner.heard
    return judge(old, new, gold, Part(STAGE, ALONE, heard))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--mentions", type=int, default=500)
    parser.add_argument("--nil-every", type=int, default=100, help="one mention in so many has no entity; 0 for none")
    options = parser.parse_args()
    for name, stage in STAGES.items():
        results = [verdict(stage, options.mentions, seed, options.nil_every) for seed in range(options.runs)]
        counts = Counter(one.verdict for one in results)
        gain = sum(one.gains[RECALL].new - one.gains[RECALL].old for one in results) / len(results)
        told = ", ".join(f"{one.value} {counts[one]}" for one in GateOutcome)
        print(f"{name:24} {told}; recall@1 {100 * gain:+.1f} points in the mean")


if __name__ == "__main__":
    main()
