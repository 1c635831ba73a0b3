"""Random batches in double precision for the loss tests, and the scores of single pairs by plain arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from models.retrievers.scorers import TokenStates
from training.losses.base import LossInputs, Similarity, Texts

Vector = list[float]
Plain = list[float] | list[list[float]]  # a vector, or for SOM the vectors of the real tokens
PAD = 1e3  # what padding holds: nobody may see it


class Vectors(NamedTuple):
    """The numbers of a batch: vectors, or states of tokens where there are masks."""

    mentions: Tensor
    positives: Tensor
    candidates: Tensor


class Masks(NamedTuple):
    """1 at real tokens."""

    mentions: Tensor
    positives: Tensor
    candidates: Tensor


Given = tuple[Vectors, Masks | None]


def vectors(*, batch: int = 5, negatives: int = 4, width: int = 3, shared: bool = True, seed: int = 0) -> Vectors:
    generator = torch.Generator().manual_seed(seed)
    shape = (negatives, width) if shared else (batch, negatives, width)
    made = [
        torch.randn(size, generator=generator, dtype=torch.double) for size in ((batch, width), (batch, width), shape)
    ]
    return Vectors(*(tensor.requires_grad_() for tensor in made))


def tokens(
    *, batch: int = 5, negatives: int = 4, width: int = 3, shared: bool = True, seed: int = 0
) -> tuple[Vectors, Masks]:
    """States of texts of 1 to 3 (mentions), 1 to 4 (positives) and 1 to 3 tokens (candidates), padded."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(batch, 3), (batch, 4), (negatives, 3) if shared else (batch, negatives, 3)]
    states, masks = [], []
    for shape in shapes:
        lengths = torch.randint(1, shape[-1] + 1, shape[:-1], generator=generator)
        mask = torch.arange(shape[-1]) < lengths.unsqueeze(-1)
        values = torch.randn((*shape, width), generator=generator, dtype=torch.double)
        states.append(values.masked_fill(~mask.unsqueeze(-1), PAD).requires_grad_())
        masks.append(mask.long())
    return Vectors(*states), Masks(*masks)


def texts(similarity: Similarity, *, batch: int = 5, negatives: int = 4, shared: bool = True, seed: int = 0) -> Given:
    """What `similarity` compares."""
    if similarity is Similarity.SOM:
        return tokens(batch=batch, negatives=negatives, shared=shared, seed=seed)
    return vectors(batch=batch, negatives=negatives, shared=shared, seed=seed), None


def inputs(
    given: Vectors,
    masks: Masks | None = None,
    *,
    eligible: Tensor | None = None,
    linked: list[bool] | None = None,
    clusters: list[int] | None = None,
) -> LossInputs:
    made: list[Texts] = list(given if masks is None else map(TokenStates, given, masks))
    count, negatives = given.mentions.shape[0], given.candidates.shape[-2 if masks is None else -3]
    return LossInputs(
        mentions=made[0],
        positives=made[1],
        candidates=made[2],
        eligible=torch.ones(count, negatives, dtype=torch.bool) if eligible is None else eligible,
        linked=torch.tensor([True] * count if linked is None else linked),
        clusters=None if clusters is None else torch.tensor(clusters),
    )


def chance(share: float = 0.6, *, batch: int = 5, negatives: int = 4, seed: int = 1) -> Tensor:
    """A random mask of eligibility."""
    return torch.rand(batch, negatives, generator=torch.Generator().manual_seed(seed)) < share


def row_of(given: Vectors, masks: Masks | None, row: int) -> tuple[Plain, Plain, list[Plain]]:
    """The mention, the positive and the candidates of one row as plain numbers, without padding."""
    own = given.candidates.dim() == (3 if masks is None else 4)
    numbers = [given.mentions[row], given.positives[row], given.candidates[row] if own else given.candidates]
    if masks is None:
        return numbers[0].tolist(), numbers[1].tolist(), numbers[2].tolist()
    seen = [masks.mentions[row], masks.positives[row], masks.candidates[row] if own else masks.candidates]
    rivals = [states[mask.bool()].tolist() for states, mask in zip(numbers[2], seen[2], strict=True)]
    return numbers[0][seen[0].bool()].tolist(), numbers[1][seen[1].bool()].tolist(), rivals


def norm(vector: Vector) -> float:
    return sum(x * x for x in vector) ** 0.5


def dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: Vector, b: Vector) -> float:
    return dot(a, b) / (norm(a) * norm(b))


def apart(a: Vector, b: Vector) -> float:
    return norm([x - y for x, y in zip(a, b, strict=True)])


def sum_of_max(mention: list[Vector], entity: list[Vector]) -> float:
    return sum(max(dot(m, e) for e in entity) for m in mention)


SCORE: dict[Similarity, Callable[..., float]] = {
    Similarity.COSINE: cosine,
    Similarity.DOT: dot,
    Similarity.EUCLIDEAN: lambda a, b: -apart(a, b),
    Similarity.SOM: sum_of_max,
}
EVERY = list(SCORE)


def gradients(loss: Tensor, given: Vectors) -> list[Tensor]:
    """∂loss/∂mentions, positives, candidates; zeros where they have no part."""
    found = torch.autograd.grad(loss, tuple(given), allow_unused=True)
    return [torch.zeros_like(one) if grad is None else grad for one, grad in zip(given, found, strict=True)]
