"""Prototype-based triplet loss of the dual-encoder re-ranker (prototype triplet 2023, §3.2.2, eq. 3)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import relu

from models.errors import ModelError
from training.losses.base import Loss, LossInputs, check_positive, distances


def prototypes(mentions: Tensor, clusters: Tensor) -> Tensor:
    """Means [C, d] of the `mentions` [M, d] of each cluster; `clusters` [M] holds 0..C-1, none empty."""
    count = int(clusters.max()) + 1
    sums = mentions.new_zeros(count, mentions.shape[1]).index_add(0, clusters, mentions)
    sizes = torch.bincount(clusters, minlength=count).to(mentions.dtype)
    if bool((sizes == 0).any()):
        raise ModelError("Cluster numbers must run from 0 without gaps.")
    return sums / sizes.unsqueeze(1)


def first_members(clusters: Tensor) -> Tensor:
    """Index [C] of the first mention of each cluster: the anchor (the trainer's order is random by seed)."""
    count = int(clusters.max()) + 1
    positions = torch.arange(clusters.shape[0], device=clusters.device)
    first = positions.new_full((count,), clusters.shape[0])
    return first.scatter_reduce(0, clusters, positions, reduce="amin")


def hardest_negatives(anchors: Tensor, candidates: Tensor, eligible: Tensor) -> tuple[Tensor, Tensor]:
    """For each anchor the index [C] of the nearest eligible candidate, and a mask [C] telling where there is one.

    `anchors` [C, d], `candidates` [N, d] or [C, N, d], `eligible` [C, N]; nearest by Euclidean distance.
    """
    there = eligible.any(dim=1)
    if eligible.shape[1] == 0:
        return torch.zeros_like(there, dtype=torch.long), there
    with torch.no_grad():
        apart = distances(anchors, candidates).masked_fill(~eligible, torch.inf)
    return apart.argmin(dim=1), there


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
        if not bool(batch.linked.any()):
            return batch.mentions.sum() * 0.0
        linked = batch.linked.nonzero().squeeze(1)
        _, clusters = torch.unique(batch.clusters[linked], return_inverse=True)
        anchors = linked[first_members(clusters)]
        means = prototypes(batch.mentions[linked], clusters)
        own = batch.candidates if batch.candidates.dim() == 2 else batch.candidates[anchors]
        return self._triplets(means, batch.mentions[anchors], batch.positives[anchors], own, batch.eligible[anchors])

    def _triplets(
        self, means: Tensor, anchors: Tensor, positives: Tensor, candidates: Tensor, eligible: Tensor
    ) -> Tensor:
        index, there = hardest_negatives(anchors, candidates, eligible)
        if not bool(there.any()):
            return means.sum() * 0.0
        rows = torch.arange(index.shape[0], device=index.device)
        negatives = candidates[index] if candidates.dim() == 2 else candidates[rows, index]
        near = distances(means, positives.unsqueeze(1)).squeeze(1)
        far = distances(means, negatives.unsqueeze(1)).squeeze(1)
        if self.squared:
            near, far = near.square(), far.square()
        return relu(near - far + self.margin)[there].mean()
