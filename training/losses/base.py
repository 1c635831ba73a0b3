"""What every loss takes and the checks they share; a subclass holds only its mathematics.

A loss sees vectors, never texts. Pads are gone by now (pooling masked them), and who may be a negative of
whom was settled by `training.negatives`; the loss only obeys the mask.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from models.errors import ModelError


class Similarity(StrEnum):
    """How a mention vector is scored against an entity vector. Higher is more alike."""

    COSINE = "cosine"
    DOT = "dot"
    EUCLIDEAN = "euclidean"


@dataclass(frozen=True, slots=True)
class LossInputs:
    """One batch.

    `mentions` [B, d] float. `positives` [B, d] float: the vector of the gold entity; any finite value for a NIL
    mention. `candidates` [N, d] (one set for the whole batch) or [B, N, d] (own set for each mention); N may be 0.
    `eligible` [B, N] bool: True where the candidate may serve as a negative of that mention.
    `linked` [B] bool: False for a NIL mention. `clusters` [B] int64, values 0..C-1, or None: mentions of one
    entity in one document share a number.
    """

    mentions: Tensor
    positives: Tensor
    candidates: Tensor
    eligible: Tensor
    linked: Tensor
    clusters: Tensor | None = None


class Loss(nn.Module, ABC):
    """Base of the losses: `forward` validates shapes and calls `compute`, which returns a scalar."""

    def forward(self, batch: LossInputs) -> Tensor:
        """Scalar loss of the batch. Raises ModelError where shapes do not fit together."""
        check_shapes(batch)
        return self.compute(batch)

    @abstractmethod
    def compute(self, batch: LossInputs) -> Tensor:
        """The mathematics. Shapes hold."""


def scores(mentions: Tensor, candidates: Tensor, similarity: Similarity) -> Tensor:
    """Scores [B, N] of `mentions` [B, d] against `candidates` [N, d] or [B, N, d].

    Euclidean is the negative distance, not squared.
    """
    if similarity is Similarity.COSINE:
        mentions, candidates = normalize(mentions, dim=-1), normalize(candidates, dim=-1)
    if similarity is Similarity.EUCLIDEAN:
        return -distances(mentions, candidates)
    if candidates.dim() == 2:
        return mentions @ candidates.T
    return torch.einsum("bd,bnd->bn", mentions, candidates)


def pair_scores(mentions: Tensor, entities: Tensor, similarity: Similarity) -> Tensor:
    """Scores [B] of `mentions` [B, d] against the entity of the same row [B, d]."""
    return scores(mentions, entities.unsqueeze(1), similarity).squeeze(1)


def distances(points: Tensor, candidates: Tensor) -> Tensor:
    """Euclidean distances [B, N] of `points` [B, d] to `candidates` [N, d] or [B, N, d]; not squared.

    Where two points coincide the distance is 0 and its gradient is 0 (not NaN, as a bare square root would give).
    """
    difference = points.unsqueeze(1) - candidates
    squared = difference.square().sum(-1)
    apart = squared > 0
    return torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)


def check_positive(name: str, value: float) -> float:
    """`value`, or ModelError where it is not above zero."""
    if not value > 0:
        raise ModelError(f"The loss parameter '{name}' must be above 0, it is {value}. Change it in the recipe.")
    return value


def check_shapes(batch: LossInputs) -> None:
    """Raise ModelError where the tensors of a batch do not fit together."""
    count, width = _matrix_shape(batch.mentions)
    negatives = batch.candidates.shape[-2] if batch.candidates.dim() in (2, 3) else -1
    expected = {
        "positives": (batch.positives, (count, width)),
        "eligible": (batch.eligible, (count, negatives)),
        "linked": (batch.linked, (count,)),
    }
    if batch.candidates.dim() == 3:
        expected["candidates"] = (batch.candidates, (count, negatives, width))
    else:
        expected["candidates"] = (batch.candidates, (negatives, width))
    if batch.clusters is not None:
        expected["clusters"] = (batch.clusters, (count,))
    for name, (tensor, shape) in expected.items():
        if tuple(tensor.shape) != shape:
            raise ModelError(f"Loss input '{name}' has shape {tuple(tensor.shape)}, expected {shape}.")
    for name, mask in (("eligible", batch.eligible), ("linked", batch.linked)):
        if mask.dtype != torch.bool:
            raise ModelError(f"Loss input '{name}' must be boolean, it is {mask.dtype}.")


def _matrix_shape(mentions: Tensor) -> tuple[int, int]:
    if mentions.dim() != 2 or mentions.shape[0] == 0:
        raise ModelError(f"Loss input 'mentions' has shape {tuple(mentions.shape)}, expected (batch > 0, width).")
    return mentions.shape[0], mentions.shape[1]
