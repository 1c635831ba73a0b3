"""How a mention is scored against an entity, from the states of their tokens; higher is more similar.

    cosine  cosine of the pooled vectors                            PEL-Pb (pel_2022)
    dot     dot product of the pooled vectors                       PEL-CE; pooling is the encoders' own
    dual    dot product of the [CLS] states                         DUAL (t_biencoder_2022 eq. 4, amh_2023 eq. 4)
    mean    dot product of the means of all states                  pooling mean (amh_2023 eq. 5)
    som     Σ over mention tokens of max over entity tokens of the  sum of max (t_biencoder_2022 eq. 5, amh_2023 eq. 6)
            dot product of their states

The papers sum up to |m| and |e|: padding is never a token; special tokens are. All functions here are differentiable
and take whole batches; ``models.retrievers.som`` searches with the same scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor
from torch.nn.functional import normalize

from models.encoders.pooling import Pooling, pool

BLOCK_ENTRIES = 2**24  # of products of tokens at once, 64 MiB in float32


class Scorer(StrEnum):
    """A way to score; recipes and bundles store the value."""

    COSINE = "cosine"
    DOT = "dot"
    DUAL = "dual"
    MEAN = "mean"
    SOM = "som"

    @property
    def pooling(self) -> Pooling | None:
        """The pooling that the scorer needs; None if it is the encoder's own or if there is none."""
        return {Scorer.DUAL: Pooling.CLS, Scorer.MEAN: Pooling.MEAN}.get(self)


@dataclass(frozen=True, slots=True)
class TokenStates:
    """``states`` (n, tokens, d) of n texts, or (b, n, tokens, d) if each mention has its own n entities; ``mask`` has
    the same shape without d, 1 (or True) at real tokens, including special tokens, 0 at padding."""

    states: Tensor
    mask: Tensor

    def pooled(self, pooling: Pooling) -> Tensor:
        """(n, d) or (b, n, d) vectors."""
        flat = pool(self.states.flatten(0, -3), self.mask.flatten(0, -2), pooling)
        return flat.reshape(*self.states.shape[:-2], self.states.shape[-1])


def score(mentions: TokenStates, entities: TokenStates, scorer: Scorer, *, pooling: Pooling = Pooling.MEAN) -> Tensor:
    """(b, n) scores of b mentions against n entities, the same for all or each mention's own.

    ``pooling`` is the encoders' pooling, for scorers that use it.
    """
    if scorer is Scorer.SOM:
        return sum_of_max(mentions, entities)
    used = scorer.pooling or pooling
    compare = cosine if scorer is Scorer.COSINE else dot
    return compare(mentions.pooled(used), entities.pooled(used))


def dot(mentions: Tensor, entities: Tensor) -> Tensor:
    """(b, n) dot products of (b, d) vectors with (n, d), or with the (b, n, d) of each."""
    if entities.dim() == 2:
        return mentions @ entities.T
    return torch.einsum("bd,bnd->bn", mentions, entities)


def cosine(mentions: Tensor, entities: Tensor) -> Tensor:
    """(b, n) cosines, like ``dot``; the cosine with a zero vector is 0."""
    return dot(normalize(mentions, dim=-1), normalize(entities, dim=-1))


def sum_of_max(mentions: TokenStates, entities: TokenStates) -> Tensor:
    """(b, n): Σ over a mention's tokens of the largest dot product with a token of the entity.

    A text without any token scores 0. If several tokens of the entity share the maximum, the gradient is divided evenly
    among them. Entities are processed in blocks of at most ``BLOCK_ENTRIES`` token products.
    """
    count, width = mentions.states.shape[:2]
    number, tokens = entities.states.shape[-3:-1]
    size = max(1, BLOCK_ENTRIES // max(1, count * width * tokens))
    if number <= size:
        return _sum_of_max(mentions, entities)
    blocks = zip(torch.split(entities.states, size, dim=-3), torch.split(entities.mask, size, dim=-2), strict=True)
    return torch.cat([_sum_of_max(mentions, TokenStates(states, mask)) for states, mask in blocks], dim=1)


def _sum_of_max(mentions: TokenStates, entities: TokenStates) -> Tensor:
    if entities.states.dim() == 3:
        products = torch.einsum("btd,nsd->bnts", mentions.states, entities.states)
        real = entities.mask.bool()[None, :, None, :]
    else:
        products = torch.einsum("btd,bnsd->bnts", mentions.states, entities.states)
        real = entities.mask.bool()[:, :, None, :]
    if not products.shape[-1]:
        return products.sum((-2, -1))
    best = products.masked_fill(~real, -torch.inf).amax(-1)
    counts = mentions.mask.bool()[:, None, :] & real.any(-1)
    return torch.where(counts, best, 0.0).sum(-1)
