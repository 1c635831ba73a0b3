"""Random batches in double precision for the loss tests."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from training.losses import LossInputs


class Vectors(NamedTuple):
    mentions: Tensor
    positives: Tensor
    candidates: Tensor


def vectors(*, batch: int = 5, negatives: int = 4, width: int = 3, shared: bool = True, seed: int = 0) -> Vectors:
    generator = torch.Generator().manual_seed(seed)
    shape = (negatives, width) if shared else (batch, negatives, width)
    made = [
        torch.randn(size, generator=generator, dtype=torch.double) for size in ((batch, width), (batch, width), shape)
    ]
    return Vectors(*(tensor.requires_grad_() for tensor in made))


def inputs(
    given: Vectors,
    *,
    eligible: Tensor | None = None,
    linked: list[bool] | None = None,
    clusters: list[int] | None = None,
) -> LossInputs:
    count, negatives = given.mentions.shape[0], given.candidates.shape[-2]
    return LossInputs(
        mentions=given.mentions,
        positives=given.positives,
        candidates=given.candidates,
        eligible=torch.ones(count, negatives, dtype=torch.bool) if eligible is None else eligible,
        linked=torch.tensor([True] * count if linked is None else linked),
        clusters=None if clusters is None else torch.tensor(clusters),
    )


def norm(vector: list[float]) -> float:
    return sum(x * x for x in vector) ** 0.5


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: list[float], b: list[float]) -> float:
    return dot(a, b) / (norm(a) * norm(b))


def apart(a: list[float], b: list[float]) -> float:
    return norm([x - y for x, y in zip(a, b, strict=True)])
