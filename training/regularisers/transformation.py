"""The transformation of T-Biencoder (2022, §3.3): an encoder that must stay accurate when its hidden states are
shifted.

    Z' = Z + A Z            eq. 8, after layer K; the layers above read Z' in place of Z (eq. 9)
    L + max L'              eq. 10, over ‖A_m‖, ‖A_e‖ ≤ ε; L' is the loss of the transformed texts

There is one A for mentions and one for entities. Both are stored here, not in the encoders, and are used in training
only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.encoders.encoders import EncoderModule
from models.errors import ModelError, say
from training.loop.towers import Side, TextSubset
from training.losses.base import Loss, LossInputs, check_positive
from training.regularisers.base import DrawnBatch, Regulariser
from training.regularisers.embeddings import embedding_layer
from training.regularisers.fgsm import not_negative

if TYPE_CHECKING:
    from training.loop.task import TrainSettings
    from training.loop.towers import Towers

PUBLISHED_WIDTH = 768
Matrix = Callable[[], Tensor]


class Ascent(StrEnum):
    """How the maximum of eq. 10 is searched for; the paper does not specify it.

    REVERSAL (our reading): A_m and A_e persist from batch to batch and are trained with the encoders by reversed
    gradients. After every step they are scaled back into the ball. NORMALISED: for every batch, one step from A = 0
    along the gradient to the ball's surface. It has no state, but the transformed batch is encoded twice.
    """

    REVERSAL = "reversal"
    NORMALISED = "normalised"


def reversed_gradient(matrix: Tensor) -> Tensor:
    """The matrix [d, d] itself, with a negated gradient, so that a descent step of the optimiser ascends."""
    return 2 * matrix.detach() - matrix


def within(matrix: Tensor, radius: float) -> Tensor:
    """The nearest matrix [d, d] whose Frobenius norm is at most `radius`."""
    norm = torch.linalg.matrix_norm(matrix)
    return matrix * (radius / norm) if norm > radius else matrix


@contextmanager
def transformed(module: EncoderModule, matrix: Matrix, *, layer: int) -> Iterator[None]:
    """Within this context Z + A Z replaces Z [n, t, d], the output of layer `layer` (0: the embedding layer).
    `matrix()` gives A [d, d] when the layer is reached."""

    def after(_: nn.Module, __: tuple[Any, ...], output: Any) -> Any:
        states, *rest = output if isinstance(output, tuple) else (output,)
        moved = states + states @ matrix().to(states.dtype).T
        return (moved, *rest) if isinstance(output, tuple) else moved

    handle = layer_of(module, layer).register_forward_hook(after)
    try:
        yield
    finally:
        handle.remove()


def layer_of(module: EncoderModule, layer: int) -> nn.Module:
    """The embedding layer for 0, else the transformer's layer of that number; ModelError if there is none."""
    if layer == 0:
        config = getattr(module.transformer, "config", None)
        if getattr(config, "embedding_size", module.hidden_size) != module.hidden_size:
            raise ModelError(
                say(
                    "This encoder's embeddings are narrower than its layers, so one matrix A cannot be "
                    "used for both. Choose layer 1 or above for the transformation in the recipe."
                )
            )
        return embedding_layer(module)
    if not 0 < layer <= len(module.layers):
        raise ModelError(
            say(
                "The transformation cannot follow layer {layer}: this encoder has the layers 1 to {number}, and "
                "0 is its embedding layer. Change 'layer' in the recipe.",
                layer=layer,
                number=len(module.layers),
            )
        )
    return module.layers[layer - 1]


class Transformation(Regulariser):
    """max L', to be added to the clean loss.

    `dimension` d is the towers' width. `layer` is K, `epsilon` the bound on the Frobenius norm for d = 768 (which norm
    it is the paper does not say; ‖I‖_F = 27.7 lies near its best bounds of 20 to 42: our reading), scaled by √(d/768)
    for other widths (our reading). `weight` is that of L' (eq. 10: 1). `rate` is A's learning rate in multiples of the
    encoders' (our choice: at 1, reaching a norm of 32 would take at least 4,000 steps of 1e-5). A starts at 0 and has
    no weight decay. If entities come from a frozen tower, it moves mentions only.
    """

    def __init__(
        self,
        dimension: int,
        *,
        layer: int = 1,
        epsilon: float = 32.0,
        weight: float = 1.0,
        ascent: Ascent = Ascent.REVERSAL,
        rate: float = 10.0,
    ) -> None:
        super().__init__()
        self.layer = layer
        self.radius = not_negative("epsilon", epsilon) * math.sqrt(dimension / PUBLISHED_WIDTH)
        self.weight = not_negative("weight", weight)
        self.ascent = Ascent(ascent)
        self.rate = check_positive("rate", rate)
        kept = self.ascent is Ascent.REVERSAL
        self.of_mentions = nn.Parameter(torch.zeros(dimension, dimension), requires_grad=kept)
        self.of_entities = nn.Parameter(torch.zeros(dimension, dimension), requires_grad=kept)

    def bind(self, towers: Towers) -> None:
        layer_of(towers.mention, self.layer)
        if towers.entity_vectors is None:
            layer_of(towers.entity, self.layer)
        else:
            self.of_entities.requires_grad_(False)
        self.to(towers.device)

    def term(self, drawn: DrawnBatch, loss: Loss, clean: LossInputs) -> Tensor:  # noqa: ARG002 all texts are moved
        if self.ascent is Ascent.REVERSAL:
            matrices: tuple[Matrix, Matrix] = (
                lambda: reversed_gradient(self.of_mentions),
                lambda: reversed_gradient(self.of_entities),
            )
        else:
            found = self.highest(drawn, loss)
            matrices = (lambda: found[0]), (lambda: found[1])
        mentions, entities = self._sides(drawn, *matrices)
        value: Tensor = loss(drawn.inputs(mentions.whole(), entities.whole()))
        return self.weight * value

    def _sides(self, drawn: DrawnBatch, of_mentions: Matrix, of_entities: Matrix) -> tuple[Side, Side]:
        return (
            self._through(drawn.mentions, drawn.towers.mention, of_mentions),
            self._through(drawn.entities, drawn.towers.entity, of_entities),
        )

    def _through(self, side: Side, module: EncoderModule, matrix: Matrix) -> Side:
        def encode(part: TextSubset) -> Tensor:
            with transformed(module, matrix, layer=self.layer):
                return side.encode(part)

        return side.through(encode)

    def highest(self, drawn: DrawnBatch, loss: Loss) -> tuple[Tensor, Tensor]:
        """One step from 0 to the ball's surface along the gradient of L', for each matrix; 0 if there is no
        gradient."""
        starts = [torch.zeros_like(matrix).requires_grad_() for matrix in (self.of_mentions, self.of_entities)]
        with torch.enable_grad():
            mentions, entities = self._sides(drawn, lambda: starts[0], lambda: starts[1])
            value = loss(drawn.inputs(mentions.whole(), entities.whole()))
        gradients = torch.autograd.grad(value, starts, allow_unused=True)
        found = [torch.zeros_like(start) if g is None else g for start, g in zip(starts, gradients, strict=True)]
        norms = [torch.linalg.matrix_norm(gradient) for gradient in found]
        first, second = (
            gradient * (self.radius / norm) if norm > 0 else gradient
            for gradient, norm in zip(found, norms, strict=True)
        )
        return first, second

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:
        kept = [matrix for matrix in self.parameters() if matrix.requires_grad]
        return [{"params": kept, "lr": self.rate * settings.learning_rate, "weight_decay": 0.0}] if kept else []

    def after_step(self) -> None:
        """Scale A_m and A_e back to ‖A‖_F ≤ ε."""
        with torch.no_grad():
            for matrix in self.parameters():
                matrix.copy_(within(matrix, self.radius))
