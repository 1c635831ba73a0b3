"""Proxy-based loss of PEL (Wiatrak et al. 2022, eq. 3): entities are proxies, positives and negatives decoupled."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import softplus

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


def proxy_loss(
    positive: Tensor, negative: Tensor, eligible: Tensor, linked: Tensor, *, alpha: float, delta: float
) -> Tensor:
    """PEL eq. 3 for each mention, [B].

    `positive` [B]: s⁺ (ignored for a NIL mention); `negative` [B, N]: s⁻; `eligible` [B, N] and `linked` [B] bool.

    softplus(−α(s⁺−δ)) + log(1 + Σ exp(α(s⁻+δ))). The 1 under the second logarithm is exp(0), so the term is a logsumexp
    with an appended zero: it cannot overflow, and is 0 without negatives. A NIL mention has no positive, so it has the
    second term only (our reading). Its gradients are eq. 4.
    """
    pull = softplus(-alpha * (positive - delta))
    exponents = (alpha * (negative + delta)).masked_fill(~eligible, -torch.inf)
    zero = torch.zeros_like(positive).unsqueeze(1)
    push = torch.logsumexp(torch.cat([zero, exponents], dim=1), dim=1)
    return torch.where(linked, pull, torch.zeros_like(pull)) + push


class ProxyLoss(Loss):
    """Mean of PEL eq. 3 over the batch.

    `alpha` > 0 sharpens, `delta` is the margin in units of the score. The paper: alpha 32, delta 0, cosine. With
    `nil_negatives`, NIL mentions add the second term (our reading); without it they are left out, as in the paper.
    `shift` is subtracted from every score; the paper has 0. Untrained encoders give every pair a cosine well above 0,
    so a few decisions would mainly move mentions away from all entities. With `calibrated` the job sets the shift with
    `calibrate` before training (our option; the order of candidates is unchanged).
    """

    def __init__(
        self,
        *,
        alpha: float = 32.0,
        delta: float = 0.0,
        nil_negatives: bool = True,
        shift: float = 0.0,
        calibrated: bool = False,
        similarity: Similarity = Similarity.COSINE,
    ) -> None:
        super().__init__()
        self.alpha = check_positive("alpha", alpha)
        self.delta = delta
        self.nil_negatives = nil_negatives
        self.shift, self.calibrated = shift, calibrated
        self.similarity = similarity

    def calibrate(self, batch: LossInputs) -> None:
        """Set the shift midway between the scores of positives and hardest negatives of `batch`."""
        found = working_point(batch, self.similarity)
        if found is not None:
            self.shift = found[0]

    def compute(self, batch: LossInputs) -> Tensor:
        each = proxy_loss(
            pair_scores(batch.mentions, batch.positives, self.similarity) - self.shift,
            scores(batch.mentions, batch.candidates, self.similarity) - self.shift,
            batch.eligible,
            batch.linked,
            alpha=self.alpha,
            delta=self.delta,
        )
        if self.nil_negatives:
            return each.mean()
        return mean_over(each, batch.linked)
