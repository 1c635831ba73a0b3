"""Properties of every loss, which each loss's own tests check."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import pad

from models.encoders.pooling import Pooling
from models.errors import ModelError
from models.retrievers.scorers import TokenStates
from tests.training.losses.batches import Masks, Vectors, chance, inputs, texts, tokens, vectors
from training.losses.base import Loss, LossInputs, Similarity

CLUSTERS = [0, 1, 0, 2, 1]


def gradients(loss: Tensor, given: Vectors) -> list[Tensor]:
    """∂loss/∂mentions, positives, candidates; zeros where they have no part."""
    found = torch.autograd.grad(loss, tuple(given), allow_unused=True)
    return [torch.zeros_like(one) if grad is None else grad for one, grad in zip(given, found, strict=True)]


def check_ineligible_candidates_change_nothing(loss: Loss, similarity: Similarity) -> None:
    """Gold entities and their aliases are ineligible: another value there alters nothing, and it gets no gradient."""
    eligible = chance()
    assert not eligible.all()
    for shared in (False, True):
        given, masks = texts(similarity, shared=shared)
        # a shared candidate is out only where it is nobody's negative
        allowed = eligible if not shared else eligible & torch.tensor([True, False, True, True])
        out = ~(allowed if not shared else allowed.any(dim=0))
        where = out.view(*out.shape, *[1] * (given.candidates.dim() - out.dim()))
        other = given._replace(candidates=torch.where(where, given.mentions.detach().sum() + 2.0, given.candidates))
        value = loss(inputs(given, masks, eligible=allowed, clusters=CLUSTERS))
        changed = loss(inputs(other, masks, eligible=allowed, clusters=CLUSTERS))
        assert value.item() == changed.item()
        of_candidates = gradients(value, given)[2]
        assert not of_candidates[out].any()
        assert of_candidates.any()


def check_padding_changes_nothing(loss: Loss, similarity: Similarity) -> None:
    """Two more padded tokens in every text: the same loss and gradients, and no gradient for any padding."""
    given, masks = tokens()
    longer = Vectors(*(pad(states, (0, 0, 0, 2), value=-77.0).detach().requires_grad_() for states in given))
    wider = Masks(*(pad(mask, (0, 2)) for mask in masks))
    value, same = loss(_compared(given, masks, similarity)), loss(_compared(longer, wider, similarity))
    assert value.item() == pytest.approx(same.item(), rel=1e-12)
    found = gradients(same, longer)
    for one, other, mask in zip(gradients(value, given), found, wider, strict=True):
        torch.testing.assert_close(other[..., :-2, :], one)
        assert not other[mask == 0].any()
    assert any(one.any() for one in found)


def _compared(given: Vectors, masks: Masks, similarity: Similarity) -> LossInputs:
    """The batch as `similarity` compares it: the states, or the means of the real ones."""
    batch = inputs(given, masks, clusters=CLUSTERS)
    if similarity is Similarity.SOM:
        return batch
    pooled = [TokenStates(states, mask).pooled(Pooling.MEAN) for states, mask in zip(given, masks, strict=True)]
    return replace(batch, mentions=pooled[0], positives=pooled[1], candidates=pooled[2])


def check_nil_mentions_are_left_out(loss: Loss, similarity: Similarity) -> None:
    """Without linked mentions the loss and its gradients are 0; else it is that of the linked ones alone."""
    given, masks = texts(similarity)
    nobody = loss(inputs(given, masks, linked=[False] * 5, clusters=CLUSTERS))
    assert nobody.item() == 0.0
    assert not any(grad.any() for grad in gradients(nobody, given))
    linked, rows = [True, False, True, True, False], torch.tensor([0, 2, 3])
    some = loss(inputs(given, masks, linked=linked, clusters=CLUSTERS))
    kept = Vectors(given.mentions[rows], given.positives[rows], given.candidates)
    seen = None if masks is None else Masks(masks.mentions[rows], masks.positives[rows], masks.candidates)
    alone = loss(inputs(kept, seen, clusters=[CLUSTERS[row] for row in rows]))
    assert some.item() == pytest.approx(alone.item(), rel=1e-12)
    assert some.item() > 0.0


def check_extreme_scores_stay_finite(loss: Loss, similarity: Similarity) -> None:
    """Scores of 10⁸ and more, either way, and coinciding vectors give finite losses and gradients in float32."""
    given, masks = texts(similarity)
    for factor in (1e4, -1e4, 0.0):
        far = Vectors(
            *(
                values.detach().float().mul(size).requires_grad_()
                for values, size in zip(given, (1e4, factor, 1e4), strict=True)
            )
        )
        value = loss(inputs(far, masks, clusters=CLUSTERS))
        assert value.isfinite()
        assert all(grad.isfinite().all() for grad in gradients(value, far))


def check_half_precision_is_as_good(loss: Loss, similarity: Similarity) -> None:
    """Half-precision numbers are compared in float32, with or without autocast: products may exceed 65,504."""
    given, masks = texts(similarity)
    for kind in (torch.float16, torch.bfloat16):
        half = Vectors(*(values.detach().mul(300).to(kind).requires_grad_() for values in given))
        value = loss(inputs(half, masks, clusters=CLUSTERS))
        full = loss(inputs(Vectors(*(values.detach().float() for values in half)), masks, clusters=CLUSTERS))
        assert value.dtype == torch.float32
        assert value.isfinite()
        assert value.item() == full.item()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert loss(inputs(half, masks, clusters=CLUSTERS)).item() == full.item()
        assert all(grad.dtype == kind for grad in torch.autograd.grad(value, tuple(half)))


def check_tokens_are_refused(loss: Loss) -> None:
    """A loss over vectors has nothing to do with states of tokens."""
    given, masks = tokens()
    with pytest.raises(ModelError, match="Only SOM compares states of tokens"):
        loss(inputs(given, masks, clusters=CLUSTERS))
    assert loss(inputs(vectors(), clusters=CLUSTERS)).isfinite()
