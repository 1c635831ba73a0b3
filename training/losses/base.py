"""The input of every loss and the checks they share; a subclass holds only its mathematics.

A loss sees vectors or, for SOM, the states of tokens, never texts. Pooling or the states' mask keeps padding out, and
`training.negatives` decides which entities are negatives of which mentions; the loss only applies the mask.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum

import torch
from torch import Tensor, nn

from models.errors import ModelError, say
from models.retrievers.scorers import TokenStates, cosine, dot, sum_of_max

Texts = Tensor | TokenStates
"""Encoded texts: vectors [n, d], or states of their tokens [n, t, d] with a mask [n, t]."""


class Similarity(StrEnum):
    """How a mention is scored against an entity; higher is more similar. SOM compares tokens, the others vectors.

    DOT is the papers' DUAL over vectors pooled at [CLS], and their pooling mean over vectors that are means.
    """

    COSINE = "cosine"
    DOT = "dot"
    EUCLIDEAN = "euclidean"
    SOM = "som"


@dataclass(frozen=True, slots=True)
class LossInputs:
    """One batch.

    `mentions` [B, d] float. `positives` [B, d] float: the vector of the gold entity; any finite value for a NIL
    mention. `candidates` [N, d] (one set for the whole batch) or [B, N, d] (a set for each mention); N may be 0. For
    SOM all three are token states, of [B, t, d], [B, t, d] and [N, t, d] or [B, N, t, d]; t may differ among them.
    `eligible` [B, N] bool: True where the candidate may serve as a negative of that mention. `linked` [B] bool: False
    for a NIL mention. `clusters` [B] int64 or None: mentions of one entity in one document, or of one cluster in it,
    share a number; a mention with a negative number is in no cluster.
    """

    mentions: Texts
    positives: Texts
    candidates: Texts
    eligible: Tensor
    linked: Tensor
    clusters: Tensor | None = None


class Loss(nn.Module, ABC):
    """Base of the losses: `forward` validates shapes and calls `compute`, which returns a scalar."""

    def forward(self, batch: LossInputs) -> Tensor:
        """Scalar loss of the batch, in float32 or higher. Raises ModelError if shapes do not match."""
        check_shapes(batch)
        with exact(batch):
            return self.compute(widened(batch))

    @abstractmethod
    def compute(self, batch: LossInputs) -> Tensor:
        """The loss itself. Shapes are checked, numbers are float32 or higher, and autocast is off."""


def count(texts: Texts) -> int:
    """The number of texts."""
    return len(_numbers(texts))


def take(texts: Texts, index: Tensor) -> Texts:
    """The texts of the rows `index` [...], of any shape: [..., d] or [..., t, d]; repeated rows are fine."""
    if isinstance(texts, TokenStates):
        return TokenStates(texts.states[index], texts.mask[index])
    return texts[index]


def detached(texts: Texts) -> Texts:
    """The same texts without their graph."""
    if isinstance(texts, TokenStates):
        return TokenStates(texts.states.detach(), texts.mask)
    return texts.detach()


def pick(candidates: Texts, index: Tensor) -> Texts:
    """Each mention's candidates (see LossInputs) at the positions in its row of `index` [B, K]: [B, K, d] or [B, K, t,
    d]."""
    own = _numbers(candidates).dim() == 3 + isinstance(candidates, TokenStates)
    if not own:
        return take(candidates, index)
    rows = torch.arange(len(index), device=index.device).unsqueeze(1)
    if isinstance(candidates, TokenStates):
        return TokenStates(candidates.states[rows, index], candidates.mask[rows, index])
    return candidates[rows, index]


def vectors_of(texts: Texts) -> Tensor:
    """The vectors [n, d]; raises ModelError for states of tokens."""
    if isinstance(texts, TokenStates):
        raise ModelError(say("Only SOM compares states of tokens. Pool them to vectors, or choose SOM in the recipe."))
    return texts


def tokens_of(texts: Texts) -> TokenStates:
    """The states of tokens; raises ModelError for vectors."""
    if not isinstance(texts, TokenStates):
        raise ModelError(
            say("SOM compares states of tokens, but got vectors. Choose another similarity in the recipe.")
        )
    return texts


def scores(mentions: Texts, candidates: Texts, similarity: Similarity) -> Tensor:
    """Scores [B, N] of B mentions against N candidates, the same for all or each mention's own (see LossInputs).

    The Euclidean score is the negative distance, not squared. Raises ModelError for SOM with vectors, or another
    similarity with tokens.
    """
    if similarity is Similarity.SOM:
        return sum_of_max(tokens_of(mentions), tokens_of(candidates))
    points, others = vectors_of(mentions), vectors_of(candidates)
    if similarity is Similarity.EUCLIDEAN:
        return -distances(points, others)
    return cosine(points, others) if similarity is Similarity.COSINE else dot(points, others)


def pair_scores(mentions: Texts, entities: Texts, similarity: Similarity) -> Tensor:
    """Scores [B] of B mentions against the entity of the same row."""
    return scores(mentions, _one_each(entities), similarity).squeeze(1)


def distances(points: Tensor, candidates: Tensor, *, squared: bool = False) -> Tensor:
    """Euclidean distances [B, N] of `points` [B, d] to `candidates` [N, d] or [B, N, d], squared if requested.

    If two points coincide, the distance and its gradient are 0 (a plain square root would give NaN).
    """
    squares = (points.unsqueeze(1) - candidates).square().sum(-1)
    if squared:
        return squares
    apart = squares > 0
    return torch.where(apart, torch.where(apart, squares, 1.0).sqrt(), 0.0)


def mean_over(each: Tensor, kept: Tensor) -> Tensor:
    """The mean of `each` [B] where `kept` [B] is True; 0, with a zero gradient, if it is True nowhere."""
    return torch.where(kept, each, 0.0).sum() / kept.sum().clamp(min=1)


def exact(batch: LossInputs) -> torch.autocast:
    """A context without autocast: exponents of α·s need more digits than half precision has."""
    return torch.autocast(_numbers(batch.mentions).device.type, enabled=False)


def widened(batch: LossInputs) -> LossInputs:
    """The batch in float32 if it is in half precision; double stays double."""
    return replace(
        batch,
        mentions=_widened(batch.mentions),
        positives=_widened(batch.positives),
        candidates=_widened(batch.candidates),
    )


def wide(numbers: Tensor) -> Tensor:
    """The numbers [...] in float32 if they are in half precision."""
    return numbers.float() if numbers.dtype in (torch.float16, torch.bfloat16) else numbers


def check_positive(name: str, value: float) -> float:
    """`value`; raises ModelError if it is not above zero."""
    if not value > 0:
        raise ModelError(
            say(
                "The loss parameter '{name}' must be above 0, but is {value}. Change it in the recipe.",
                name=name,
                value=value,
            )
        )
    return value


def check_shapes(batch: LossInputs) -> None:
    """Raise ModelError if the shapes of a batch's tensors do not match."""
    mentions, tokens = _numbers(batch.mentions), isinstance(batch.mentions, TokenStates)
    if mentions.dim() != 2 + tokens or not len(mentions):
        wanted = "(batch > 0, tokens, width)" if tokens else "(batch > 0, width)"
        raise ModelError(
            say(
                "Loss input 'mentions' has shape {shape}; expected {wanted}.",
                shape=tuple(mentions.shape),
                wanted=wanted,
            )
        )
    _check_kinds(batch, tokens=tokens)
    for name, (tensor, shape) in _expected(batch, tokens=tokens).items():
        if tuple(tensor.shape) != shape:
            raise ModelError(
                say(
                    "Loss input '{name}' has shape {shape}; expected {shape2}.",
                    name=name,
                    shape=tuple(tensor.shape),
                    shape2=shape,
                )
            )
    for name, mask in (("eligible", batch.eligible), ("linked", batch.linked)):
        if mask.dtype != torch.bool:
            raise ModelError(say("Loss input '{name}' must be boolean, but is {dtype}.", name=name, dtype=mask.dtype))


def _expected(batch: LossInputs, *, tokens: bool) -> dict[str, tuple[Tensor, tuple[int, ...]]]:
    """Each tensor except the mentions with its expected shape; the number of tokens may vary."""
    rows, width = len(_numbers(batch.mentions)), _numbers(batch.mentions).shape[-1]
    positives, candidates = _numbers(batch.positives), _numbers(batch.candidates)
    own = candidates.dim() == 3 + tokens
    negatives = candidates.shape[own] if candidates.dim() > own else -1
    expected = {
        "positives": (positives, (rows, *_tokens(positives, tokens), width)),
        "candidates": (candidates, (*([rows] if own else []), negatives, *_tokens(candidates, tokens), width)),
        "eligible": (batch.eligible, (rows, negatives)),
        "linked": (batch.linked, (rows,)),
    }
    if batch.clusters is not None:
        expected["clusters"] = (batch.clusters, (rows,))
    return expected


def _check_kinds(batch: LossInputs, *, tokens: bool) -> None:
    """All three texts are vectors, or all three are token states with matching masks."""
    for name, texts in (("mentions", batch.mentions), ("positives", batch.positives), ("candidates", batch.candidates)):
        if isinstance(texts, TokenStates) != tokens:
            kind = "states of tokens" if tokens else "vectors"
            raise ModelError(say("Loss input '{name}' must be {kind}, as 'mentions' are.", name=name, kind=kind))
        if isinstance(texts, TokenStates) and texts.mask.shape != texts.states.shape[:-1]:
            shapes = f"{tuple(texts.mask.shape)}, expected {tuple(texts.states.shape[:-1])}"
            raise ModelError(say("The mask of loss input '{name}' has shape {shapes}.", name=name, shapes=shapes))


def _numbers(texts: Texts) -> Tensor:
    return texts.states if isinstance(texts, TokenStates) else texts


def _tokens(numbers: Tensor, tokens: bool) -> tuple[int, ...]:
    return tuple(numbers.shape[-2:-1]) if tokens else ()


def _one_each(entities: Texts) -> Texts:
    """Row b as the only candidate of mention b."""
    if isinstance(entities, TokenStates):
        return TokenStates(entities.states.unsqueeze(1), entities.mask.unsqueeze(1))
    return entities.unsqueeze(1)


def _widened(texts: Texts) -> Texts:
    if isinstance(texts, TokenStates):
        return TokenStates(wide(texts.states), texts.mask)
    return wide(texts)


def working_point(batch: LossInputs, similarity: Similarity) -> tuple[float, float] | None:
    """The centre and spread of a batch's scores before training: midway between the mean score of gold entities and the
    mean score of each mention's hardest negative, and the spread of the negatives' scores.

    None if no linked mention has a negative. Untrained encoders give every pair a score far from 0; a loss with a fixed
    zero would first move all entities away from all mentions.
    """
    check_shapes(batch)
    with torch.no_grad(), exact(batch):
        given = widened(batch)
        kept = (given.linked & given.eligible.any(dim=1)).nonzero().squeeze(1)
        if not len(kept):
            return None
        positive = pair_scores(given.mentions, given.positives, similarity)[kept]
        every, allowed = scores(given.mentions, given.candidates, similarity)[kept], given.eligible[kept]
        hardest = every.masked_fill(~allowed, -torch.inf).amax(dim=1)
        return float(positive.mean() + hardest.mean()) / 2, float(every[allowed].std())
