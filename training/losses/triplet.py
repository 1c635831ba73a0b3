"""Triplet loss of the dual-encoder re-ranker's baselines (prototype triplet 2023, §3.2.2, eqs. 1–2)."""

from __future__ import annotations

from torch import Tensor

from training.losses.base import Loss, LossInputs, check_positive, mean_over, vectors_of
from training.losses.hinge import hardest_negatives, hinges, nearest_of


class TripletLoss(Loss):
    """[‖m − e⁺‖² − ‖m − e⁻‖² + margin]₊ (eq. 2), mean over mentions; Euclidean distance, **squared**.

    e⁻ is one negative for each mention, the hardest: the eligible candidate that is nearest to it now (§3.2.2, the
    paper's choice for all its triplet losses). That the paper calls a setting "all samples" or "down-sampled" is about
    mentions: which of them are in a batch is the task's affair, and `clusters` are not looked at. NIL mentions and
    mentions without an eligible candidate are left out.

    `margin` is in units of the (squared) distance. The paper gives 1.2 (MedMentions) and 1.6 (BC5CDR) without telling
    eq. 2 from eq. 3, so it should be tuned for the kind of distance. `squared=False` is our option for eq. 3's kind.
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
