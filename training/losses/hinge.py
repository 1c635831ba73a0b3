"""Code shared by the triplet losses (prototype triplet 2023, §3.2.2): the hardest candidate, and the hinge over it."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize, relu

from models.errors import ModelError, say
from training.losses.base import Similarity, Texts, distances, pick, vectors_of


def check_by_distance(similarity: Similarity) -> Similarity:
    """`similarity`; raises ModelError if no Euclidean distance orders as it does."""
    if similarity not in (Similarity.EUCLIDEAN, Similarity.COSINE):
        raise ModelError(
            say(
                "A triplet loss compares distances, and the similarity “{similarity}” is not one. Choose euclidean or "
                "cosine in the recipe.",
                similarity=similarity.value,
            )
        )
    return similarity


def points_of(texts: Texts, similarity: Similarity) -> Tensor:
    """Vectors [n, d] or [B, n, d] whose Euclidean distances order as the similarity does: scaled to length 1 for the
    cosine, since ‖a − b‖² = 2 − 2 cos(a, b) then."""
    vectors = vectors_of(texts)
    return normalize(vectors, dim=-1) if similarity is Similarity.COSINE else vectors


def hardest_negatives(anchors: Tensor, candidates: Tensor, eligible: Tensor) -> tuple[Tensor, Tensor]:
    """For each anchor the index [A] of the nearest eligible candidate, and a mask [A] of the anchors that have one.

    `anchors` [A, d], `candidates` [N, d] or [A, N, d], `eligible` [A, N]; nearest by Euclidean distance.
    """
    there = eligible.any(dim=1)
    if eligible.shape[1] == 0:
        return torch.zeros_like(there, dtype=torch.long), there
    points = anchors if candidates.dim() == 2 else anchors.unsqueeze(1)
    with torch.no_grad():  # cdist holds no [A, N, d] differences; squared distances would have the same order
        apart = torch.cdist(points, candidates, compute_mode="donot_use_mm_for_euclid_dist")
        apart = apart.view_as(eligible)
    return apart.masked_fill(~eligible, torch.inf).argmin(dim=1), there


def hinges(points: Tensor, positives: Tensor, negatives: Tensor, *, margin: float, squared: bool) -> Tensor:
    """[d(x, e⁺) − d(x, e⁻) + margin]₊ for each row of `points`, `positives`, `negatives` [A, d]; with Euclidean
    distances or their squares."""
    near, far = (distances(points, each.unsqueeze(1), squared=squared).squeeze(1) for each in (positives, negatives))
    return relu(near - far + margin)


def nearest_of(candidates: Tensor, index: Tensor) -> Tensor:
    """The candidate [A, d] at each anchor's `index` [A]; zeros if there are no candidates."""
    if candidates.shape[-2] == 0:
        return candidates.new_zeros(len(index), candidates.shape[-1])
    return vectors_of(pick(candidates, index.unsqueeze(1))).squeeze(1)
