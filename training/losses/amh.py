"""Adaptive mixup hard negatives (Cai et al. 2023, §3.3–3.4, eqs. 8–11)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import log_softmax, softplus

from models.errors import ModelError
from training.losses.base import Loss, LossInputs, Similarity, check_positive, pair_scores, scores


def adaptive_weight(positive: Tensor, hardest: Tensor) -> Tensor:
    """W of eq. 9, [B] in (0, 1]: the positive's share in a softmax over it and the K hardest negatives.

    `positive` [B], `hardest` [B, K] with −inf where there is no negative. By log-softmax, so large scores are safe.
    """
    return log_softmax(torch.cat([positive.unsqueeze(1), hardest], dim=1), dim=1)[:, 0].exp()


def mix(positives: Tensor, hardest: Tensor, weight: Tensor, *, alpha: float, through: bool = False) -> Tensor:
    """Strong hard negatives of eq. 10, [B, K, d]: α·W·V⁺ + V⁻.

    `positives` [B, d], `hardest` [B, K, d], `weight` [B]. By our reading W and V⁺ are constants in the mix: the
    gradient flows through V⁻ alone; `through` lets it flow through all three.
    """
    if not through:
        positives, weight = positives.detach(), weight.detach()
    return (alpha * weight).view(-1, 1, 1) * positives.unsqueeze(1) + hardest


class AdaptiveMixupLoss(Loss):
    """BCE with logits of the positive against K strong hard negatives, summed over K, mean over linked mentions.

    `alpha` in (0, 1] is the strength of the mix, `top_k` the number of hard negatives (the paper: 0.3 and 1 for
    DUAL). NIL mentions are left out. `scale` and `shift` turn a score into a logit, scale·f + shift; the paper has
    1 and 0. Encoders that come from similarity training give every pair a large dot product, so that all logits
    would saturate: with `calibrated` the job sets both by `calibrate` from the scores before training (our reading;
    ranking is unchanged).
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
        self.alpha = check_positive("alpha", alpha)
        if alpha > 1:
            raise ModelError(f"The loss parameter 'alpha' must lie in (0, 1], it is {alpha}. Change the recipe.")
        self.top_k = int(check_positive("top_k", top_k))
        self.scale = check_positive("scale", scale)
        self.shift = shift
        self.calibrated = calibrated
        self.gradient_through_mix = gradient_through_mix
        self.similarity = similarity

    def calibrate(self, batch: LossInputs) -> None:
        """Set scale and shift from the scores of `batch`: unit spread, zero midway between positives and hardest."""
        with torch.no_grad():
            linked = batch.linked.nonzero().squeeze(1)
            positive = pair_scores(batch.mentions, batch.positives, self.similarity)[linked]
            every = scores(batch.mentions, batch.candidates, self.similarity)[linked]
            allowed = batch.eligible[linked]
            if linked.numel() == 0 or not bool(allowed.any(dim=1).all()):
                return
            hardest = every.masked_fill(~allowed, -torch.inf).amax(dim=1)
            self.scale = 1.0 / max(float(every[allowed].std()), 1e-6)
            self.shift = -self.scale * float(positive.mean() + hardest.mean()) / 2

    def compute(self, batch: LossInputs) -> Tensor:
        positive = self._logit(pair_scores(batch.mentions, batch.positives, self.similarity))
        hardest, vectors = self._choose(batch)
        strong = mix(
            batch.positives,
            vectors,
            adaptive_weight(positive, hardest),
            alpha=self.alpha,
            through=self.gradient_through_mix,
        )
        negative = self._logit(scores(batch.mentions, strong, self.similarity))
        push = torch.where(hardest.isfinite(), softplus(negative), torch.zeros_like(negative)).sum(1)
        each = softplus(-positive) + push
        kept = batch.linked.to(each.dtype)
        return (each * kept).sum() / kept.sum().clamp(min=1.0)

    def _choose(self, batch: LossInputs) -> tuple[Tensor, Tensor]:
        """The K hardest eligible candidates of eq. 8: logits [B, K] (−inf: none left) and vectors [B, K, d]."""
        every = self._logit(scores(batch.mentions, batch.candidates, self.similarity))
        every = every.masked_fill(~batch.eligible, -torch.inf)
        hardest, index = every.topk(min(self.top_k, every.shape[1]), dim=1)
        if batch.candidates.dim() == 2:
            return hardest, batch.candidates[index]
        width = batch.candidates.shape[-1]
        return hardest, batch.candidates.gather(1, index.unsqueeze(-1).expand(-1, -1, width))

    def _logit(self, score: Tensor) -> Tensor:
        return self.scale * score + self.shift
