"""Cross-entropy over the candidates of a mention (PEL eq. 1, for the ranker of appendix B)."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from models.errors import ModelError, say
from training.losses.base import wide


class CandidateCrossEntropy(nn.Module):
    """``−log(exp s⁺ / Σ exp s)`` over each mention's candidates, averaged over mentions; its gradient is eq. 2.

    Unlike the other losses it takes scores, since a cross-encoder has no vector of a mention or of an entity.
    """

    def forward(self, scores: Tensor, given: Tensor) -> Tensor:
        """Scalar loss of `scores` [B, C] float, the gold entity's in column 0, where `given` [B, C] bool marks the
        columns that hold a candidate. Raises ModelError if shapes do not match or a mention has no gold entity
        (NIL)."""
        if scores.dim() != 2 or not len(scores) or given.shape != scores.shape:
            raise ModelError(
                say(
                    "Scores have shape {shape} and their mask {shape2}; expected (batch > 0, C).",
                    shape=tuple(scores.shape),
                    shape2=tuple(given.shape),
                )
            )
        if not bool(given[:, 0].all()):
            raise ModelError(
                say("A mention without a gold entity reached the ranker's loss. NIL must be left out before that.")
            )
        masked = wide(scores).masked_fill(~given, float("-inf"))
        return cross_entropy(masked, scores.new_zeros(len(scores)).long())
