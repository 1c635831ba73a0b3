"""The names' task on a tiny encoder: who is pushed from whom, what is trained, and that a loss falls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from models.core.kb import KnowledgeBase
from models.encoders.encoders import Encoder, load_encoder
from models.types import EntityRecord
from training.losses.base import Loss, Similarity
from training.losses.nce import NoiseContrastiveLoss
from training.losses.prototype import PrototypeTripletLoss
from training.negatives.kinship import NameKinship
from training.tasks.names_task import NamedMention, NamesTask, train_layers

KB = KnowledgeBase(
    (
        EntityRecord("A", "heart failure", synonyms=("cardiac failure",)),
        EntityRecord("B", "breast cancer"),
        EntityRecord("C", "ovarian cancer", parents=("B",)),
        EntityRecord("D", "acute pain"),
        EntityRecord("E", "failure of the heart"),
    )
)
SHARP = NoiseContrastiveLoss(similarity=Similarity.COSINE, temperature=0.05)
HEART, CARDIAC, BREAST, OVARIAN, PAIN = range(5)


@pytest.fixture
def encoder(tiny_encoder: Path) -> Encoder:
    return load_encoder(tiny_encoder, device="cpu", max_tokens=16)


def mentions(encoder: Encoder) -> list[NamedMention]:
    texts = encoder.token_ids(["failing heart", "cancer of the breast", "acute pain attack", "heart fails"])
    return [
        NamedMention(texts[0], (0,), (HEART, CARDIAC), (BREAST, OVARIAN, PAIN), 0),
        NamedMention(texts[1], (1,), (BREAST,), (HEART, PAIN), 1),
        NamedMention(texts[2], (3,), (PAIN,), (HEART, OVARIAN), 2),
        NamedMention(texts[3], (0,), (CARDIAC, HEART), (PAIN,), 0),
    ]


def task(encoder: Encoder, loss: Loss, *, negatives: int = 2, batch_size: int = 4) -> NamesTask:
    def entity(rows: Sequence[int]) -> list[int]:
        found: list[int] = KB.name_entity[list(rows)].tolist()
        return found

    return NamesTask(
        encoder.module,
        mentions(encoder),
        loss,
        names=lambda rows: encoder.token_ids([KB.names[row] for row in rows]),
        entity=entity,
        kinship=NameKinship(KB),
        negatives=negatives,
        batch_size=batch_size,
        seed=7,
        pad_id=0,
        device=torch.device("cpu"),
    )


def test_no_name_of_kin_is_a_negative(encoder: Encoder) -> None:
    made = task(encoder, SHARP, negatives=4)
    batch = made.inputs([0, 1, 2, 3])
    assert isinstance(batch.candidates, torch.Tensor)
    expected = torch.from_numpy(encoder.encode(["ovarian cancer"], normalize=False))
    breast = batch.eligible[1]
    [column] = torch.isclose(batch.candidates, expected, atol=1e-5).all(dim=1).nonzero().flatten().tolist()
    assert not breast[column], "a narrower concept is no rival"
    assert batch.eligible[2][column]
    assert batch.eligible[0].sum() == len(batch.candidates) - 2, "neither of its entity's own names"
    assert isinstance(batch.positives, torch.Tensor)
    assert torch.allclose(
        batch.positives[3], torch.from_numpy(encoder.encode(["cardiac failure"], normalize=False))[0], atol=1e-5
    )


def test_half_of_the_rivals_are_the_nearest(encoder: Encoder) -> None:
    made = task(encoder, SHARP, negatives=2)
    drawn = [made.rivals(made.mentions[0]) for _ in range(20)]
    assert {rows[0] for rows in drawn} == {BREAST}
    assert {rows[1] for rows in drawn} == {OVARIAN, PAIN}


def test_before_the_first_step_it_is_the_encoder_itself(encoder: Encoder) -> None:
    batch = task(encoder, SHARP).inputs([2])
    alone = encoder.encode(["acute pain attack"], normalize=False)
    assert isinstance(batch.mentions, torch.Tensor)
    np.testing.assert_allclose(batch.mentions.detach().numpy(), alone, atol=1e-5)


def test_the_upper_half_learns_and_the_loss_falls(encoder: Encoder) -> None:
    train_layers(encoder.module)
    before = {name: value.clone() for name, value in encoder.module.state_dict().items()}
    made = task(encoder, SHARP)
    optimiser = torch.optim.Adam([p for p in encoder.module.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(8):
        value = made.loss([0, 1, 2, 3])
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        losses.append(value.item())
    assert losses[-1] < losses[0] / 2
    moved = {name for name, value in encoder.module.state_dict().items() if not torch.equal(value, before[name])}
    layers = len(list(encoder.module.layers))
    assert moved
    assert all(int(name.partition("layer.")[2].partition(".")[0]) >= layers // 2 for name in moved)


def test_mentions_of_a_cluster_stand_together_and_batches_are_reproducible(encoder: Encoder) -> None:
    made = task(encoder, PrototypeTripletLoss(margin=0.3), batch_size=2)
    for epoch in range(6):
        batches = made.batches(epoch)
        assert sorted(number for batch in batches for number in batch) == [0, 1, 2, 3]
        assert batches == made.batches(epoch)
    together = sum([0, 3] in [sorted(batch) for batch in made.batches(epoch)] for epoch in range(30))
    assert together > 10
    assert made.loss([0, 3]).item() >= 0
