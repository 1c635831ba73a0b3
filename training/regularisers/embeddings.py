"""Access to the input embeddings of an encoder, the sums of word, position and segment embeddings.

BERT and its relatives normalise that sum by a layer named LayerNorm within `embeddings`; a hook before it sees the sum
(as FGSM needs it, PEL §5.3) and may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from models.encoders.encoders import EncoderModule
from models.errors import ModelError, say


def sum_layer(module: EncoderModule) -> nn.Module:
    """The layer that takes the sum of the embeddings; ModelError if this kind of encoder has none."""
    layer = getattr(getattr(module.transformer, "embeddings", None), "LayerNorm", None)
    if not isinstance(layer, nn.Module):
        raise ModelError(
            say(
                "FGSM shifts the sum of word, position and segment embeddings, which this kind of "
                "encoder ({name__}) does not expose: it has no embeddings.LayerNorm. Choose an encoder "
                "of the BERT family, or a recipe without FGSM.",
                name__=type(module.transformer).__name__,
            )
        )
    return layer


@contextmanager
def changed_sum(module: EncoderModule, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within this context the encoder reads `change(z)` in place of the sum z [n, t, d] of its input embeddings."""

    def before(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (change(given[0]), *given[1:])

    handle = sum_layer(module).register_forward_pre_hook(before)
    try:
        yield
    finally:
        handle.remove()


def score_sign(module: EncoderModule, mask: Tensor, objective: Callable[[], Tensor]) -> Tensor:
    """The sign [n, t, d] of the gradient of `objective`, a scalar, by the input embeddings; 0 where `mask` [n, t] is 0.

    `objective` lets `module` encode once. The sign is a constant: no gradient flows through it. The generators' states
    are restored, so that dropout is the same when the moved input is encoded next, and the sign belongs to the same
    function.
    """
    sums: list[Tensor] = []

    def leaf(z: Tensor) -> Tensor:
        sums.append(z.detach().requires_grad_())
        return sums[-1]

    device = mask.device
    devices = [] if device.type == "cpu" else [device]
    with torch.random.fork_rng(devices=devices, device_type=device.type if devices else "cuda"):
        with torch.enable_grad(), changed_sum(module, leaf):
            value = objective()
        (gradient,) = torch.autograd.grad(value, sums)
    return gradient.sign() * mask.unsqueeze(-1).to(gradient.dtype)


def embedding_layer(module: EncoderModule) -> nn.Module:
    """The embedding layer, its normalisation included; ModelError if this kind of encoder does not expose one."""
    embeddings = getattr(module.transformer, "embeddings", None)
    if not isinstance(embeddings, nn.Module):
        raise ModelError(
            say(
                "This kind of encoder ({name__}) does not expose its embedding layer, so the layer "
                "cannot be frozen or followed by a transformation. Choose an encoder of the BERT "
                "family, or do not change the embedding layer in the recipe.",
                name__=type(module.transformer).__name__,
            )
        )
    return embeddings


def freeze_embeddings(module: EncoderModule) -> None:
    """Keep the embedding layer as it is (T-Biencoder §4.3); the layers above it learn."""
    embedding_layer(module).requires_grad_(False)
