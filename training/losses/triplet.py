"""Triplet loss of the dual-encoder re-ranker's baselines (prototype triplet 2023, §3.2.2, eqs. 1–2)."""

from __future__ import annotations

from torch import Tensor

from training.losses.base import Loss, LossInputs, check_positive, mean_over, vectors_of
from training.losses.hinge import hardest_negatives, hinges, nearest_of


class TripletLoss(Loss):
    """[‖m − e⁺‖² − ‖m − e⁻‖² + margin]₊ (eq. 2), mean over mentions; Euclidean distance, **squared**.

    e⁻ is each mention's hardest negative: the eligible candidate that is currently nearest (§3.2.2, the paper's choice
    for all its triplet losses). The paper's settings "all samples" and "down-sampled" concern which mentions are in a
    batch. The task chooses these; `clusters` are not used. NIL mentions and mentions without an eligible candidate are
    left out.

    `margin` is in units of the (squared) distance. The paper gives 1.2 (MedMentions) and 1.6 (BC5CDR) without
    distinguishing eq. 2 from eq. 3, so it should be tuned for each kind of distance. `squared=False` is our option for
    the distance of eq. 3.
    """

    def __init__(self, *, margin: float = 1.6, squared: bool = True) -> None:
        super().__init__()
        self.margin = check_positive("margin", margin)
        self.squared = squared

    def compute(self, batch: LossInputs) -> Tensor:
        mentions, positives, candidates = map(vectors_of, (batch.mentions, batch.positives, batch.candidates))
        index, there = hardest_negatives(mentions, candidates, batch.eligible)
        negatives = nearest_of(candidates, index)
        each = hinges(mentions, positives, negatives, margin=self.margin, squared=self.squared)
        return mean_over(each, there & batch.linked)
