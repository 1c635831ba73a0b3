"""The four systems of the dual-encoder re-ranker on the tiny encoder: anchors, means, rivals, state."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from models.core.kb import KnowledgeBase, order_entities
from models.encoders.encoders import Encoder, load_encoder
from models.encoders.inputs import EntityStyle, InputSettings
from models.encoders.pooling import MentionVector
from models.types import EntityRecord
from tests.training.conftest import document_lines, entities, write_lines
from training.data.examples import EntityTexts, Example, make_examples
from training.data.snapshot import read_snapshot
from training.loop.towers import FloatArray, Towers
from training.losses.base import Loss, LossInputs
from training.losses.prototype import PrototypeTripletLoss
from training.losses.triplet import TripletLoss
from training.negatives.kinship import Kinship
from training.tasks.clustering import OUTSIDE, RadiusSettings
from training.tasks.reranking import Hardest, RankerTask, System
from training.tasks.vectors import mention_vectors, pool_vectors

SETTINGS = InputSettings(mention_tokens=20, entity_tokens=28, style=EntityStyle.TYPES_SYNONYMS)


class Recorder(Loss):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[LossInputs] = []

    def compute(self, batch: LossInputs) -> Tensor:
        self.seen.append(batch)
        return torch.as_tensor(0.0)


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> Encoder:
    return load_encoder(tiny_encoder, device="cpu")


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    made = [
        {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()} for one in entities()
    ]
    return order_entities(EntityRecord(**one) for one in made)


@pytest.fixture(scope="module")
def examples(kb: KnowledgeBase, encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    """Documents in which some entities are mentioned up to three times, one of them a composite of two."""
    lines = document_lines("train", 8, seed=4, nil_every=99)
    for line in lines:
        for mention in line["mentions"][:3]:
            mention["gold"]["ids"] = line["mentions"][0]["gold"]["ids"]
    for mention in lines[0]["mentions"][:3]:
        mention["gold"]["ids"] = ["OLD:1", "X:7"]
    folder = write_lines(tmp_path_factory.mktemp("snapshot"), lines, kb_hash="")
    return list(make_examples(read_snapshot(folder).documents, kb, tokenizer=encoder.tokenizer, settings=SETTINGS))


@pytest.fixture
def towers(kb: KnowledgeBase, encoder: Encoder) -> Towers:
    texts = EntityTexts(kb, tokenizer=encoder.tokenizer, settings=SETTINGS)
    pad_id = int(encoder.tokenizer.pad_token_id)
    return Towers(encoder.module, encoder.module, texts, pad_id, torch.device("cpu"), of_mention=MentionVector.MARKERS)


@pytest.fixture(scope="module")
def candidates(examples: list[Example]) -> list[list[int]]:
    draw = np.random.default_rng(0)
    return [[*example.gold, *draw.choice(38, 6, replace=False).tolist()] for example in examples]


@pytest.fixture
def make(towers: Towers, kb: KnowledgeBase, examples: list[Example], candidates: list[list[int]]) -> Any:
    vectors = pool_vectors(towers, range(38))

    def build(system: str, loss: Loss | None = None, *, frozen: bool = True, **options: Any) -> RankerTask:
        given = replace(towers, entity_vectors=vectors) if frozen else towers
        settings: dict[str, Any] = {"vectors": vectors, "batch_size": 5, "seed": 2} | options
        kinship = Kinship(kb.entities)
        return RankerTask(
            given, examples, loss or Recorder(), candidates=candidates, kinship=kinship, system=system, **settings
        )

    return build


def seen(task: RankerTask) -> list[LossInputs]:
    recorder = task.loss_of
    assert isinstance(recorder, Recorder)
    return recorder.seen


def clusters_of(examples: Sequence[Example], batch: Sequence[int]) -> list[int]:
    return [examples[number].cluster for number in batch]


def test_triplet_takes_every_mention_as_an_anchor(make: Any, examples: list[Example]) -> None:
    task = make(System.TRIPLET)
    batches = task.batches(0)
    assert sorted(number for batch in batches for number in batch) == list(range(len(examples)))
    assert [len(batch) for batch in batches[:-1]] == [5] * (len(batches) - 1)
    task.loss(batches[0])
    given = seen(task)[-1]
    assert given.clusters is not None
    assert len(set(given.clusters.tolist())) == 5
    assert bool(given.eligible.any(dim=1).all())


def test_down_sampling_takes_one_mention_of_an_entity_in_a_document(make: Any, examples: list[Example]) -> None:
    task = make(System.DOWNSAMPLED)
    chosen = [sorted(number for batch in task.batches(epoch) for number in batch) for epoch in range(3)]
    assert chosen[0] == chosen[1] == chosen[2]
    found = Counter(clusters_of(examples, chosen[0]))
    assert found == Counter({example.cluster for example in examples})
    assert len(chosen[0]) < len(examples)
    again = make(System.DOWNSAMPLED, redraw=True)
    epochs = [frozenset(number for batch in again.batches(epoch) for number in batch) for epoch in range(6)]
    assert len(set(epochs)) > 1
    assert {len(batch) for batch in epochs} == {len(chosen[0])}
    other = make(System.DOWNSAMPLED, seed=9)
    assert sorted(number for batch in other.batches(0) for number in batch) != chosen[0]


@pytest.mark.parametrize("system", [System.PROTOTYPE, System.SRN])
def test_prototypes_take_whole_clusters_with_a_random_anchor(make: Any, examples: list[Example], system: str) -> None:
    task = make(system)
    first: list[set[int]] = []
    for epoch in range(4):
        anchors = set()
        for batch in task.batches(epoch):
            own = clusters_of(examples, batch)
            assert len(set(own)) <= 5
            whole = [number for number, example in enumerate(examples) if example.cluster in set(own)]
            assert sorted(batch) == whole
            anchors |= {batch[own.index(cluster)] for cluster in own}
        first.append(anchors)
    assert len(set(map(frozenset, first))) > 1
    assert task.batches(1) == make(system).batches(1)


@pytest.mark.parametrize("system", System)
@pytest.mark.parametrize("frozen", [True, False])
def test_anchors_rival_their_own_candidates_never_gold_or_kin(
    make: Any, examples: list[Example], candidates: list[list[int]], kb: KnowledgeBase, system: System, frozen: bool
) -> None:
    task, kinship = make(system, frozen=frozen), Kinship(kb.entities)
    for batch in task.batches(0)[:4]:
        task.loss(batch)
        given = seen(task)[-1]
        own = clusters_of(examples, batch)
        anchors = {own.index(cluster) for cluster in own} if system.clustered else set(range(len(batch)))
        for place, number in enumerate(batch):
            vectors = given.candidates[given.eligible[place]]  # type: ignore[index]
            offered = (*candidates[number], *examples[number].shown)
            rivals = [row for row in offered if row not in kinship.of(examples[number].gold)]
            expected = len(set(rivals)) if place in anchors else 0
            assert len(vectors) == (expected if frozen else min(1, expected))
            assert not bool((vectors == given.positives[place]).all(dim=1).any())  # type: ignore[index]


@pytest.mark.parametrize("hardest", Hardest)
def test_the_hardest_candidate_is_the_nearest_to_its_anchor(
    make: Any, examples: list[Example], candidates: list[list[int]], kb: KnowledgeBase, towers: Towers, hardest: str
) -> None:
    before = np.random.default_rng(1).normal(size=(38, pool_vectors(towers, [0]).shape[1])).astype(np.float32)
    towers.mention.eval()
    task = make(System.PROTOTYPE, frozen=False, hardest=hardest, vectors=before)
    batch = task.batches(0)[0]
    task.loss(batch)
    given, kinship = seen(task)[-1], Kinship(kb.entities)
    compared: FloatArray = before if hardest is Hardest.BEFORE else pool_vectors(towers, range(38))
    present = pool_vectors(towers, range(38))
    own = clusters_of(examples, batch)
    for place in {own.index(cluster) for cluster in own}:
        offered = (*candidates[batch[place]], *examples[batch[place]].shown)
        rivals = [row for row in offered if row not in kinship.of(examples[batch[place]].gold)]
        point = mention_vectors(towers, [examples[batch[place]]])[0]
        nearest = min(rivals, key=lambda row, point=point: float(np.linalg.norm(compared[row] - point)))  # type: ignore[misc]
        chosen = given.candidates[given.eligible[place]].detach().numpy()  # type: ignore[index]
        np.testing.assert_allclose(chosen, present[[nearest]], atol=1e-5)


def test_composite_clusters_have_one_gold_entity_for_all(make: Any, examples: list[Example]) -> None:
    task = make(System.PROTOTYPE)
    chosen: set[tuple[float, ...]] = set()
    for epoch in range(8):
        batch = next(one for one in task.batches(epoch) if any(len(examples[n].gold) == 2 for n in one))
        task.loss(batch)
        places = [place for place, number in enumerate(batch) if len(examples[number].gold) == 2]
        found = {tuple(seen(task)[-1].positives[place].tolist()) for place in places}  # type: ignore[index]
        assert len(found) == 1
        chosen |= found
    assert len(chosen) == 2


def test_srn_leaves_out_who_is_far_from_the_anchor_and_learns_the_radius(
    make: Any, examples: list[Example], towers: Towers
) -> None:
    towers.mention.eval()
    task = make(System.SRN, radius=RadiusSettings(radius=2.0, epsilon=0.0, rescale=True))
    assert [event.text for event in task.before_epoch(0)] == ["Measuring how far apart the mentions of one entity are"]
    reach, out = task.soft.reach, 0
    for batch in task.batches(0):
        task.loss(batch)
        given, own = seen(task)[-1], clusters_of(examples, batch)
        vectors = mention_vectors(towers, [examples[number] for number in batch])
        assert given.clusters is not None
        for place, cluster in enumerate(own):
            apart = float(np.linalg.norm(vectors[place] - vectors[own.index(cluster)]))
            assert (int(given.clusters[place]) == OUTSIDE) == (apart >= reach)
            out += apart >= reach
    assert out > 0
    before = task.soft.radius
    task.after_step()
    assert task.soft.radius != before
    assert list(task.before_epoch(0)) == []
    assert list(make(System.PROTOTYPE).before_epoch(0)) == []


def test_the_radius_starts_as_the_mean_distance_from_the_anchor(make: Any, towers: Towers) -> None:
    task = make(System.SRN)
    list(task.before_epoch(0))
    assert task.soft.epsilon == pytest.approx(task.soft.radius / 11)
    lone = RankerTask(
        towers, [task.examples[0]], Recorder(), candidates=[[1]], vectors=task.vectors, kinship=Kinship([]),
        batch_size=4, seed=0, system="prototype-srn",
    )  # fmt: skip
    list(lone.before_epoch(0))
    assert lone.soft is not None
    assert lone.soft.radius == 11.0


@pytest.mark.parametrize("system", System)
def test_state_goes_on_with_the_same_losses(make: Any, towers: Towers, system: System) -> None:
    loss = PrototypeTripletLoss(margin=3.0) if system.clustered else TripletLoss(margin=3.0)
    towers.mention.eval()
    task, fresh = make(system, loss), make(system, loss)
    list(task.before_epoch(0))
    batches = task.batches(0)
    for batch in batches[:3]:
        task.loss(batch)
        task.after_step()
    fresh.load_state(json.loads(json.dumps(task.state())))
    fresh.random.bit_generator.state = task.random.bit_generator.state
    for batch in batches[3:]:
        one, two = task.loss(batch), fresh.loss(batch)
        assert one.item() == two.item()
        task.after_step()
        fresh.after_step()
    assert json.dumps(task.state()) == json.dumps(fresh.state())


@pytest.mark.parametrize("system", System)
def test_a_batch_is_split_between_clusters(make: Any, examples: list[Example], system: System) -> None:
    task = make(system)
    batch = max(task.batches(0), key=len)
    for size in (1, 2, 3, 100):
        parts = task.split(batch, size)
        assert [number for part in parts for number in part] == list(batch)
        for part, after in zip(parts, [*parts[1:], []], strict=True):
            assert part
            clusters = set(clusters_of(examples, part))
            assert len(part) <= size or (system.clustered and len(clusters) == 1)
            assert not system.clustered or clusters.isdisjoint(clusters_of(examples, after))


def test_the_towers_learn_and_the_radius_is_no_parameter_of_theirs(make: Any) -> None:
    task = make(System.SRN, PrototypeTripletLoss(margin=3.0), frozen=False)
    list(task.before_epoch(0))
    batch = max(task.batches(0), key=len)
    task.loss(batch).backward()
    parameters = [p for module in task.modules() for p in module.parameters()]
    assert any(p.grad is not None and bool((p.grad != 0).any()) for p in parameters)
    assert all(p.dim() > 0 for p in parameters), "the radius is a single number"
    for module in task.modules():
        module.zero_grad(set_to_none=True)


def gradients(task: RankerTask) -> list[Tensor]:
    found = []
    for module in task.modules():
        for parameter in module.parameters():
            found += [] if parameter.grad is None else [parameter.grad.clone()]
            parameter.grad = None
    return found


def test_what_the_curator_passed_over_rivals_first(make: Any, examples: list[Example], kb: KnowledgeBase) -> None:
    kinship = Kinship(kb.entities)
    for rivals, example in zip(make(System.TRIPLET).rivals, examples, strict=True):
        passed_over = [row for row in example.shown if row not in kinship.of(example.gold)]
        assert rivals[: len(passed_over)] == passed_over


def test_unknown_words() -> None:
    with pytest.raises(ValueError, match="quadruplet"):
        System("quadruplet")
