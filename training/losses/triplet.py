"""Triplet loss of the dual-encoder re-ranker's baselines (prototype triplet 2023, §3.2.2, eqs. 1–2)."""

from __future__ import annotations

from torch import Tensor

from training.losses.base import Loss, LossInputs, Similarity, check_positive, mean_over
from training.losses.hinge import check_by_distance, hardest_negatives, hinges, nearest_of, points_of


class TripletLoss(Loss):
    """[‖m − e⁺‖² − ‖m − e⁻‖² + margin]₊ (eq. 2), mean over mentions; Euclidean distance, **squared**.

    e⁻ is each mention's hardest negative: the eligible candidate that is currently nearest (§3.2.2, the paper's choice
    for all its triplet losses). The paper's settings "all samples" and "down-sampled" concern which mentions are in a
    batch. The task chooses these; `clusters` are not used. NIL mentions and mentions without an eligible candidate are
    left out.

    `margin` is in units of the (squared) distance. The paper gives 1.2 (MedMentions) and 1.6 (BC5CDR) without
    distinguishing eq. 2 from eq. 3, so it should be tuned for each kind of distance. `squared=False` is our option for
    the distance of eq. 3. With `similarity` COSINE, also ours, all vectors have length 1, for a stage that compares by
    cosine; SOM and DOT raise ModelError.
    """

    def __init__(
        self, *, margin: float = 1.6, squared: bool = True, similarity: Similarity = Similarity.EUCLIDEAN
    ) -> None:
        super().__init__()
        self.similarity = check_by_distance(similarity)
        self.margin = check_positive("margin", margin)
        self.squared = squared

    def compute(self, batch: LossInputs) -> Tensor:
        texts = (batch.mentions, batch.positives, batch.candidates)
        mentions, positives, candidates = (points_of(one, self.similarity) for one in texts)
        index, there = hardest_negatives(mentions, candidates, batch.eligible)
        negatives = nearest_of(candidates, index)
        each = hinges(mentions, positives, negatives, margin=self.margin, squared=self.squared)
        return mean_over(each, there & batch.linked)
