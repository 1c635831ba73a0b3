"""Prototype-based triplet loss of the dual-encoder re-ranker (prototype triplet 2023, §3.2.2, eq. 3)."""

from __future__ import annotations

import torch
from torch import Tensor

from models.errors import ModelError
from training.losses.base import Loss, LossInputs, check_positive, mean_over, vectors_of
from training.losses.hinge import hardest_negatives, hinges, nearest_of


def prototypes(mentions: Tensor, clusters: Tensor) -> Tensor:
    """Means [C, d] of the `mentions` [M, d] of each cluster; `clusters` [M] holds 0..C-1, none empty."""
    members = membership(clusters).to(mentions.dtype)
    return members @ mentions / members.sum(1, keepdim=True)


def first_members(clusters: Tensor) -> Tensor:
    """Index [C] of the first mention of each cluster: its anchor."""
    return membership(clusters).int().argmax(dim=1)


def membership(clusters: Tensor) -> Tensor:
    """[C, M] bool: which mentions each cluster has. ModelError where one of 0..C-1 has none."""
    members = torch.arange(int(clusters.max()) + 1, device=clusters.device).unsqueeze(1) == clusters
    if not bool(members.any(dim=1).all()):
        raise ModelError("Cluster numbers must run from 0 without gaps.")
    return members


class PrototypeTripletLoss(Loss):
    """[‖p − e⁺‖ − ‖p − e⁻‖ + margin]₊, mean over clusters; Euclidean distance, **not** squared.

    p is the mean of the mentions of one entity in one document, e⁻ the eligible candidate nearest to the cluster's
    anchor mention. Clusters without an eligible candidate and NIL mentions are left out. The published margins are
    1.2 (MedMentions) and 1.6 (BC5CDR), for SapBERT; `squared` is our option for eqs. 1–2's kind of distance.
    """

    def __init__(self, *, margin: float = 1.6, squared: bool = False) -> None:
        super().__init__()
        self.margin = check_positive("margin", margin)
        self.squared = squared

    def compute(self, batch: LossInputs) -> Tensor:
        if batch.clusters is None:
            raise ModelError("The prototype triplet loss needs the clusters of the mentions.")
        mentions, positives, candidates = map(vectors_of, (batch.mentions, batch.positives, batch.candidates))
        kept = (batch.linked & (batch.clusters >= 0)).nonzero().squeeze(1)
        if not len(kept):
            return mentions.sum() * 0.0
        clusters = torch.unique(batch.clusters[kept], return_inverse=True)[1]
        anchors = kept[first_members(clusters)]
        own = candidates if candidates.dim() == 2 else candidates[anchors]
        index, there = hardest_negatives(mentions[anchors], own, batch.eligible[anchors])
        each = hinges(
            prototypes(mentions[kept], clusters),
            positives[anchors],
            nearest_of(own, index),
            margin=self.margin,
            squared=self.squared,
        )
        return mean_over(each, there)
