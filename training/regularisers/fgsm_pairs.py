"""FGSM for a cross-encoder (PEL appendix B, table 6), which reads mention and entity as one text.

The paper gives λ = 1 and ε = 0.01 for its cross-encoder and does not say which embeddings are moved. Equations 6 and 7
move the entity's embeddings for a clean mention; we do the same at the entity's positions in each pair (our reading).
The alternative moves the whole pair. A pair has one score, so each mention has its own moved copy of each candidate.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.rankers.cross_encoder import CrossEncoderModule
from training.regularisers.embeddings import changed_sum, score_sign, sum_layer
from training.regularisers.fgsm import not_negative


class PairFGSM(nn.Module):
    """The scores of pairs whose entity is moved, for λ L(m, P_adv) of eq. 8.

    `epsilon` ≥ 0 is in units of an embedding's coordinate, `weight` is λ ≥ 0. With `whole` the mention's positions
    move as well.
    """

    def __init__(self, *, epsilon: float = 0.01, weight: float = 1.0, whole: bool = False) -> None:
        super().__init__()
        self.epsilon = not_negative("epsilon", epsilon)
        self.weight = not_negative("lambda", weight)
        self.whole = whole

    def bind(self, module: CrossEncoderModule) -> None:
        """Called once by the task; raises ModelError if the encoder does not expose its input embeddings."""
        sum_layer(module.encoder)

    def scores(self, module: CrossEncoderModule, ids: Tensor, mask: Tensor, *, starts: Tensor, gold: Tensor) -> Tensor:
        """(n,) scores of the moved pairs, with a graph.

        `ids` and `mask` are [n, t]; `starts` [n] is where the entity begins in each pair; `gold` [n] bool marks the
        pairs to be moved down (eq. 7); all others are moved up (eq. 6).
        """
        moving = mask.bool() & (torch.arange(ids.shape[1], device=ids.device) >= starts.unsqueeze(1))
        up = torch.where(gold, -1.0, 1.0)

        def objective() -> Tensor:
            found: Tensor = module(ids, mask)
            return (found * up).sum()

        sign = score_sign(module.encoder, mask if self.whole else moving, objective)
        with changed_sum(module.encoder, lambda z: z + self.epsilon * sign):
            moved: Tensor = module(ids, mask)
        return moved
