"""Adaptive mixup hard negatives (Cai et al. 2023, §3.3–3.4), for DUAL, pooling mean and SOM.

    eq. 8   e⁻₁ … e⁻_K = the K negatives of the batch with the highest scores f(m, e⁻)
    eq. 9   W = exp f(m, e⁺) / (exp f(m, e⁺) + Σ_K exp f(m, e⁻))
    eq. 10  V_strong = α·W·V⁺ + V⁻, one for each of the K
    eq. 11  L = −log σ(f(m, e⁺)) − Σ_K log(1 − σ(f(m, e_strong)))

σ is the logistic function, 1 − σ(x) = σ(−x), and f(m, e) a logit. By our reading W and V⁺ are constants in the
mix, so that ∂L/∂f(m, e⁺) = −σ(−f(m, e⁺)) and ∂L/∂V⁻ = σ(f(m, e_strong)) · ∂f(m, e_strong)/∂V_strong.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, logsigmoid, pad

from models.errors import ModelError, say
from models.retrievers.scorers import TokenStates
from training.losses.base import (
    Loss,
    LossInputs,
    Similarity,
    Texts,
    check_positive,
    mean_over,
    pair_scores,
    pick,
    scores,
    tokens_of,
    vectors_of,
    working_point,
)


def adaptive_weight(positive: Tensor, hardest: Tensor) -> Tensor:
    """W of eq. 9, [B] in (0, 1]: the positive's share in a softmax over it and the K hardest negatives.

    `positive` [B], `hardest` [B, K] with −inf where there is no negative. It uses log-softmax, so large scores are
    safe.
    """
    return log_softmax(torch.cat([positive.unsqueeze(1), hardest], dim=1), dim=1)[:, 0].exp()


def choose(every: Tensor, eligible: Tensor, *, top_k: int) -> tuple[Tensor, Tensor, Tensor]:
    """The K hardest eligible candidates of eq. 8: scores [B, K] (−inf: none left), positions [B, K], and a mask of the
    existing ones [B, K].

    `every` and `eligible` are [B, N]; K is `top_k`, or N if that is less.
    """
    hardest, index = every.masked_fill(~eligible, -torch.inf).topk(min(top_k, every.shape[1]), dim=1)
    return hardest, index, eligible.gather(1, index)


def mix(positives: Texts, hardest: Texts, weight: Tensor, *, alpha: float, through: bool = False) -> Texts:
    """Strong hard negatives of eq. 10: α·W·V⁺ + V⁻, for vectors [B, K, d] or the states of tokens [B, K, t, d].

    `positives` are B texts, `hardest` K for each of them, `weight` is [B]. Tokens are mixed position by position. The
    paper's matrices all have the same length; ours do not. The strong negative has the tokens of V⁻; at positions where
    V⁺ has no token, V⁻ is unchanged (our reading). W and V⁺ are constants in the mix, so the gradient flows through V⁻
    alone (our reading); `through` lets it flow through all three.
    """
    share = alpha * (weight if through else weight.detach())
    if isinstance(hardest, TokenStates):
        added = _fitted(tokens_of(positives), hardest.states.shape[-2])
        return TokenStates(_add(added, hardest.states, share, through=through), hardest.mask)
    return _add(vectors_of(positives), hardest, share, through=through)


def _add(positives: Tensor, hardest: Tensor, share: Tensor, *, through: bool) -> Tensor:
    added = positives if through else positives.detach()
    return share.view(-1, *[1] * added.dim()) * added.unsqueeze(1) + hardest


def _fitted(texts: TokenStates, tokens: int) -> Tensor:
    """The states of `texts`, zero at padding, truncated or zero-padded to `tokens` positions."""
    states = texts.states.masked_fill(~texts.mask.bool().unsqueeze(-1), 0.0)
    return pad(states, (0, 0, 0, tokens - states.shape[-2]))


class AdaptiveMixupLoss(Loss):
    """BCE with logits of the positive against K strong hard negatives, summed over K, mean over linked mentions.

    `alpha` in [0, 1] is the strength of the mix (0: hard negatives as they are), `top_k` the number of hard negatives
    (the paper: 0.3, and 1 for DUAL and mean, 10 for SOM). NIL mentions are left out. `scale` and `shift` turn a score
    into a logit, scale·f + shift; the paper has 1 and 0. Encoders that come from similarity training give every pair a
    large dot product, so that all logits would saturate: with `calibrated` the job sets both by `calibrate` from the
    scores before training (our reading; ranking is unchanged). With `gradient_through_mix` W and V⁺ are not constants.
    Raises ModelError for values out of range.
    """

    def __init__(
        self,
        *,
        alpha: float = 0.3,
        top_k: int = 1,
        scale: float = 1.0,
        shift: float = 0.0,
        calibrated: bool = False,
        gradient_through_mix: bool = False,
        similarity: Similarity = Similarity.DOT,
    ) -> None:
        super().__init__()
        if not 0 <= alpha <= 1:
            raise ModelError(
                say("The loss parameter 'alpha' must be in [0, 1], but is {alpha}. Change the recipe.", alpha=alpha)
            )
        self.alpha = alpha
        self.top_k = int(check_positive("top_k", top_k))
        self.scale = check_positive("scale", scale)
        self.shift = shift
        self.calibrated = calibrated
        self.gradient_through_mix = gradient_through_mix
        self.similarity = similarity

    def calibrate(self, batch: LossInputs) -> None:
        """Set scale and shift from the scores of `batch`: unit spread, zero midway between positives and hardest
        negatives."""
        found = working_point(batch, self.similarity)
        if found is not None:
            self.scale = 1.0 / max(found[1], 1e-6)
            self.shift = -self.scale * found[0]

    def compute(self, batch: LossInputs) -> Tensor:
        positive = self._logit(pair_scores(batch.mentions, batch.positives, self.similarity))
        every = self._logit(scores(batch.mentions, batch.candidates, self.similarity))
        hardest, index, there = choose(every, batch.eligible, top_k=self.top_k)
        weight = adaptive_weight(positive, hardest)
        strong = mix(
            batch.positives,
            pick(batch.candidates, index),
            weight,
            alpha=self.alpha,
            through=self.gradient_through_mix,
        )
        negative = self._logit(scores(batch.mentions, strong, self.similarity))
        push = torch.where(there, -logsigmoid(-negative), 0.0).sum(1)
        return mean_over(-logsigmoid(positive) + push, batch.linked)

    def _logit(self, score: Tensor) -> Tensor:
        return self.scale * score + self.shift
