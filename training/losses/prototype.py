"""Prototype-based triplet loss of the dual-encoder re-ranker (prototype triplet 2023, §3.2.2, eq. 3)."""

from __future__ import annotations

import torch
from torch import Tensor

from models.errors import ModelError, say
from training.losses.base import Loss, LossInputs, Similarity, check_positive, mean_over
from training.losses.hinge import check_by_distance, hardest_negatives, hinges, nearest_of, points_of


def prototypes(mentions: Tensor, clusters: Tensor) -> Tensor:
    """Means [C, d] of the `mentions` [M, d] of each cluster; `clusters` [M] holds 0..C-1, none empty."""
    members = membership(clusters).to(mentions.dtype)
    return members @ mentions / members.sum(1, keepdim=True)


def first_members(clusters: Tensor) -> Tensor:
    """Index [C] of the first mention of each cluster: its anchor."""
    return membership(clusters).int().argmax(dim=1)


def membership(clusters: Tensor) -> Tensor:
    """[C, M] bool: which mentions each cluster has. Raises ModelError if a cluster of 0..C-1 has none."""
    members = torch.arange(int(clusters.max()) + 1, device=clusters.device).unsqueeze(1) == clusters
    if not bool(members.any(dim=1).all()):
        raise ModelError(say("Cluster numbers must run from 0 without gaps."))
    return members


class PrototypeTripletLoss(Loss):
    """[‖p − e⁺‖ − ‖p − e⁻‖ + margin]₊ (eq. 3), mean over clusters; Euclidean distance, **not** squared.

    p is the mean of the mentions of a cluster, and e⁻ the eligible candidate nearest to the cluster's anchor, which is
    its first mention in the batch (in random order). Eligibility and e⁺ are those of the anchor. A cluster may be all
    mentions of one entity in one document, as in eq. 3, or the soft-radius neighbours among them (§3.2.3). The order of
    cluster numbers does not matter; a mention with a negative number is in no cluster. Such mentions, NIL mentions and
    clusters without an eligible candidate are left out.

    `margin` is in units of the distance: 1.2 (MedMentions) and 1.6 (BC5CDR) in the paper, for SapBERT. `squared` is our
    option for the squared distance of eqs. 1–2, for which the margin must be tuned again. With `similarity` COSINE,
    also ours, all vectors and p have length 1, for a stage that compares by cosine. Raises ModelError without clusters,
    and for SOM and DOT.
    """

    def __init__(
        self, *, margin: float = 1.6, squared: bool = False, similarity: Similarity = Similarity.EUCLIDEAN
    ) -> None:
        super().__init__()
        self.similarity = check_by_distance(similarity)
        self.margin = check_positive("margin", margin)
        self.squared = squared

    def compute(self, batch: LossInputs) -> Tensor:
        if batch.clusters is None:
            raise ModelError(say("The prototype triplet loss needs the clusters of the mentions."))
        texts = (batch.mentions, batch.positives, batch.candidates)
        mentions, positives, candidates = (points_of(one, self.similarity) for one in texts)
        kept = (batch.linked & (batch.clusters >= 0)).nonzero().squeeze(1)
        if not len(kept):
            return mentions.sum() * 0.0
        clusters = torch.unique(batch.clusters[kept], return_inverse=True)[1]
        anchors = kept[first_members(clusters)]
        own = candidates if candidates.dim() == 2 else candidates[anchors]
        index, there = hardest_negatives(mentions[anchors], own, batch.eligible[anchors])
        each = hinges(
            points_of(prototypes(mentions[kept], clusters), self.similarity),
            positives[anchors],
            nearest_of(own, index),
            margin=self.margin,
            squared=self.squared,
        )
        return mean_over(each, there)
