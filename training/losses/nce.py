"""Noise-contrastive estimation: cross-entropy of the gold entity against its negatives.

PEL's L_CE (Wiatrak et al. 2022, eq. 1), the T-Biencoder's L and L′ (Sun et al. 2022, eq. 6), and the loss of the
bi-encoder that AMH is compared with (Cai et al. 2023, eq. 7). With a temperature it is InfoNCE (van den Oord et al.
2018, eq. 4): over names it is SapBERT's self-alignment (Liu et al. 2021) with one positive. With candidates ranked by
the encoder itself it is the objective of BioSyn (Sung et al. 2020, eq. 5), with the sum over positives reduced to the
nearest one.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from training.losses.base import Loss, LossInputs, Similarity, check_positive, mean_over, pair_scores, scores


def nce_loss(positive: Tensor, negative: Tensor, eligible: Tensor) -> Tensor:
    """PEL eq. 1 for each mention, [B]: −log(exp s⁺ / (exp s⁺ + Σ exp s⁻)); 0 if no negative is eligible.

    `positive` [B]: s⁺; `negative` [B, N]: s⁻; `eligible` [B, N] bool. With p the softmax over the gold entity and the
    eligible negatives, the gradients are those of eq. 2: ∂L/∂s⁺ = p⁺ − 1 and ∂L/∂s⁻ = p⁻. Both vanish if s⁺ is well
    above all s⁻, so random negatives soon have no effect (PEL §4.1).
    """
    rivals = negative.masked_fill(~eligible, -torch.inf)
    return -log_softmax(torch.cat([positive.unsqueeze(1), rivals], dim=1), dim=1)[:, 0]


class NoiseContrastiveLoss(Loss):
    """Mean of PEL eq. 1 over linked mentions; NIL mentions have no positive and are left out.

    Scores are divided by `temperature`. None of the papers has a temperature: their scores are unbounded dot products
    (or SOM). With cosines, which are at most 1, the loss could hardly decrease (PEL-Pb uses α for this). A temperature
    of 0.05 separates cosines that differ by a few hundredths, as those of rival names do.
    """

    def __init__(self, *, similarity: Similarity = Similarity.DOT, temperature: float = 1.0) -> None:
        super().__init__()
        self.similarity = similarity
        self.temperature = check_positive("temperature", temperature)

    def compute(self, batch: LossInputs) -> Tensor:
        each = nce_loss(
            pair_scores(batch.mentions, batch.positives, self.similarity) / self.temperature,
            scores(batch.mentions, batch.candidates, self.similarity) / self.temperature,
            batch.eligible,
        )
        return mean_over(each, batch.linked)
