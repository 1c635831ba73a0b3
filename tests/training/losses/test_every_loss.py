"""What holds for every loss over mentions, entities and candidates; each loss's own file has its equation."""

from __future__ import annotations

import pkgutil
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.nn.functional import pad

import training.losses
from models.encoders.pooling import Pooling
from models.errors import ModelError
from models.retrievers.scorers import TokenStates
from tests.training.losses.batches import EVERY, Masks, Vectors, chance, gradients, inputs, texts, tokens, vectors
from training.job.recipes import LOSSES, PAIR_LOSSES
from training.losses.amh import AdaptiveMixupLoss
from training.losses.base import Loss, LossInputs, Similarity
from training.losses.cross_entropy import CandidateCrossEntropy
from training.losses.multi_similarity import MultiSimilarityLoss
from training.losses.nce import NoiseContrastiveLoss
from training.losses.prototype import PrototypeTripletLoss
from training.losses.proxy import ProxyLoss
from training.losses.triplet import TripletLoss

CLUSTERS = [0, 1, 0, 2, 1]
WIDE = 50.0  # a margin that keeps every mention away from the hinge
ALL = 1e9  # a margin within which every pair counts


def _of(name: str, loss: Loss, similarity: Similarity) -> object:
    return pytest.param(loss, similarity, id=f"{name}-{similarity.value}")


DISTANCES = [
    _of(f"{name}-{squared}", kind(margin=WIDE, squared=squared), Similarity.EUCLIDEAN)
    for name, kind in (("triplet", TripletLoss), ("prototype", PrototypeTripletLoss))
    for squared in (True, False)
]
CONTRASTS = [
    *(_of("nce", NoiseContrastiveLoss(similarity=one), one) for one in EVERY),
    *(_of("multi", MultiSimilarityLoss(beta=4.0, margin=ALL, similarity=one), one) for one in EVERY),
]
THROUGH = [_of("amh", AdaptiveMixupLoss(top_k=3, gradient_through_mix=True, similarity=one), one) for one in EVERY]
PROXIES = [_of("proxy", ProxyLoss(alpha=2.0, nil_negatives=False, similarity=one), one) for one in EVERY]
NIL_PUSHED = [_of("nil-proxy", ProxyLoss(alpha=2.0, similarity=one), one) for one in EVERY]
MIXED = [_of("mix", AdaptiveMixupLoss(top_k=3, similarity=one), one) for one in EVERY]
STEEP = [
    *(_of("steep-multi", MultiSimilarityLoss(beta=1e5, similarity=one), one) for one in EVERY),
    *(_of("steep-proxy", ProxyLoss(alpha=1e5, similarity=one), one) for one in EVERY),
]
LINKED = [*DISTANCES, *CONTRASTS, *PROXIES, *THROUGH, *MIXED]
ALL_LOSSES = [*LINKED, *NIL_PUSHED]


def test_every_loss_is_here_documented_and_has_a_name_for_recipes() -> None:
    """The cross-entropy of a re-ranker takes scores: its tests are all its own."""
    kinds = {type(one.values[0]) for one in ALL_LOSSES} | {CandidateCrossEntropy}  # type: ignore[attr-defined]
    assert kinds == {*LOSSES.values(), *PAIR_LOSSES.values()}
    modules = {one.name for one in pkgutil.iter_modules(training.losses.__path__)} - {"base", "hinge"}
    assert {one.__module__.rpartition(".")[2] for one in kinds} == modules
    assert all(one.__doc__ for one in kinds)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("loss", "similarity"), [*DISTANCES, *CONTRASTS, *PROXIES, *NIL_PUSHED, *THROUGH])
def test_gradcheck(loss: Loss, similarity: Similarity, shared: bool) -> None:
    """But for the adaptive mixup with its weights as constants, which differences do not see."""
    given, masks = texts(similarity, shared=shared, batch=3, negatives=3)

    def value(*tensors: Tensor) -> Tensor:
        eligible = chance(batch=3, negatives=3)
        return loss(inputs(Vectors(*tensors), masks, eligible=eligible, linked=[True, False, True], clusters=[0, 1, 0]))

    assert gradcheck(value, tuple(given))


@pytest.mark.parametrize("negatives", [0, 4])
@pytest.mark.parametrize(("loss", "similarity"), [*DISTANCES, *CONTRASTS])
def test_without_any_negative_the_loss_is_zero(loss: Loss, similarity: Similarity, negatives: int) -> None:
    given, masks = texts(similarity, negatives=negatives)
    nobody = torch.zeros(5, negatives, dtype=torch.bool)
    value = loss(inputs(given, masks, eligible=nobody, clusters=CLUSTERS))
    assert value.item() == 0.0
    assert not any(grad.any() for grad in gradients(value, given))


@pytest.mark.parametrize(("loss", "similarity"), LINKED)
def test_nil_mentions_are_left_out(loss: Loss, similarity: Similarity) -> None:
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


@pytest.mark.parametrize(("loss", "similarity"), ALL_LOSSES)
def test_ineligible_candidates_change_nothing(loss: Loss, similarity: Similarity) -> None:
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


@pytest.mark.parametrize(("loss", "similarity"), ALL_LOSSES)
def test_padding_changes_nothing(loss: Loss, similarity: Similarity) -> None:
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


@pytest.mark.parametrize(("loss", "similarity"), [*ALL_LOSSES, *STEEP])
def test_extreme_scores_stay_finite(loss: Loss, similarity: Similarity) -> None:
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


@pytest.mark.parametrize(("loss", "similarity"), ALL_LOSSES)
def test_half_precision_is_as_good(loss: Loss, similarity: Similarity) -> None:
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


@pytest.mark.parametrize(("loss", "similarity"), DISTANCES)
def test_tokens_are_refused(loss: Loss, similarity: Similarity) -> None:
    """A loss over vectors has nothing to do with states of tokens."""
    given, masks = tokens()
    with pytest.raises(ModelError, match="Only SOM compares states of tokens"):
        loss(inputs(given, masks, clusters=CLUSTERS))
    assert loss(inputs(vectors(), clusters=CLUSTERS)).isfinite()
