"""Multi-similarity loss (Wang et al. 2019, Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning),
the loss of SapBERT over names (Liu et al. 2021, eqs. 1 and 2).

    eqs. 11, 12 selected pairs: s⁻ > s⁺ − ε, and s⁺ < max s⁻ + ε
    eq. 15       L = 1/α · log(1 + exp(−α(s⁺ − λ))) + 1/β · log(1 + Σ exp(β(s⁻ − λ)))

With one positive for each mention, the nearest name of its entity, the selected pairs are the triplets of SapBERT's eq.
1, and the sum over positives of eq. 15 has one term. The gradients are ∂L/∂s⁺ = −σ(−α(s⁺ − λ)) and ∂L/∂s⁻ = exp(β(s⁻ −
λ)) / (1 + Σ exp(β(s⁻ − λ))): the weight of a negative depends on λ and the other negatives.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

from models.errors import ModelError, say
from training.losses.base import (
    Loss,
    LossInputs,
    Similarity,
    check_positive,
    mean_over,
    pair_scores,
    scores,
    working_point,
)


def hard_pairs(positive: Tensor, negative: Tensor, eligible: Tensor, *, margin: float) -> Tensor:
    """[B, N] bool: the negatives selected by eq. 11. A mention without any has no pair at all (eq. 12).

    `positive` [B]: s⁺; `negative` [B, N]: s⁻; `eligible` [B, N] bool; `margin`: ε, in units of the score.
    """
    return eligible & (negative > positive.unsqueeze(1) - margin)


def multi_similarity_loss(
    positive: Tensor, negative: Tensor, counts: Tensor, *, alpha: float, beta: float, base: float
) -> Tensor:
    """Eq. 15 for each mention, [B]; `counts` [B, N] are the selected pairs, `base` is λ. 0 without selected pairs.

    The 1 under the second logarithm is exp(0): a logsumexp with a zero appended, which cannot overflow.
    """
    pull = softplus(-alpha * (positive - base)) / alpha
    exponents = (beta * (negative - base)).masked_fill(~counts, -torch.inf)
    zero = torch.zeros_like(positive).unsqueeze(1)
    push = torch.logsumexp(torch.cat([zero, exponents], dim=1), dim=1) / beta
    return torch.where(counts.any(dim=1), pull + push, 0.0)


class MultiSimilarityLoss(Loss):
    """Mean of eq. 15 over linked mentions; NIL mentions have no positive and are left out.

    Wang et al. have alpha 2, beta 50 and ε (`margin`) 0.1, over cosines. `base` is λ, the score between similar and
    different pairs; SapBERT's code uses 0.5. With `calibrated` the job sets it by `calibrate` from the scores before
    training (our option), as the range of cosines differs between encoders. Raises ModelError for values out of range.
    """

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        beta: float = 50.0,
        base: float = 0.5,
        margin: float = 0.1,
        calibrated: bool = False,
        similarity: Similarity = Similarity.COSINE,
    ) -> None:
        super().__init__()
        self.alpha, self.beta = check_positive("alpha", alpha), check_positive("beta", beta)
        if margin < 0:
            raise ModelError(
                say(
                    "The loss parameter 'margin' must not be below 0, but is {margin}. Change the recipe.",
                    margin=margin,
                )
            )
        self.base, self.margin, self.calibrated = base, margin, calibrated
        self.similarity = similarity

    def calibrate(self, batch: LossInputs) -> None:
        """Set λ midway between the scores of positives and hardest negatives of `batch`."""
        found = working_point(batch, self.similarity)
        if found is not None:
            self.base = found[0]

    def compute(self, batch: LossInputs) -> Tensor:
        positive = pair_scores(batch.mentions, batch.positives, self.similarity)
        negative = scores(batch.mentions, batch.candidates, self.similarity)
        counts = hard_pairs(positive, negative, batch.eligible, margin=self.margin)
        each = multi_similarity_loss(positive, negative, counts, alpha=self.alpha, beta=self.beta, base=self.base)
        return mean_over(each, batch.linked)
