"""Towers and tasks on the tiny encoder: pads change nothing, gold and aliases are masked, batches repeat."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
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
from models.errors import ModelError
from models.retrievers.scorers import TokenStates, sum_of_max
from models.types import EntityRecord
from tests.training.conftest import document_lines, entities, write_lines
from training.data.domains import Domain
from training.data.examples import EntityTexts, Example, make_examples, shuffled_labels, worth_learning
from training.data.snapshot import read_snapshot
from training.loop.towers import Towers, identity_projection
from training.loop.trainer import TrainSettings, train
from training.losses.base import Loss, LossInputs, Similarity, pair_scores, scores
from training.losses.nce import NoiseContrastiveLoss
from training.losses.proxy import ProxyLoss
from training.negatives.kinship import Kinship
from training.negatives.sampling import RandomNegatives, Reach
from training.regularisers.base import Regulariser
from training.regularisers.fgsm import FGSM
from training.regularisers.transformation import Transformation
from training.tasks.retriever_task import RetrieverTask
from training.tasks.vectors import entity_vectors, mention_vectors, pool_vectors, untrained_vectors

SETTINGS = InputSettings(mention_tokens=20, entity_tokens=28, style=EntityStyle.TYPES_SYNONYMS)


class Recorder(Loss):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[LossInputs] = []

    def compute(self, batch: LossInputs) -> Tensor:
        self.seen.append(batch)
        return batch.mentions.sum()


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> Encoder:
    return load_encoder(tiny_encoder, device="cpu")


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    made = [{**entity, "synonyms": tuple(entity["synonyms"]), "types": tuple(entity["types"])} for entity in entities()]
    return order_entities(EntityRecord(**{**entity, "alt_ids": tuple(entity["alt_ids"])}) for entity in made)


@pytest.fixture(scope="module")
def examples(kb: KnowledgeBase, encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> tuple[Example, ...]:
    lines = document_lines("train", 6, seed=4)
    lines[0]["mentions"][0]["gold"]["ids"] = ["OLD:1", "X:7"]
    folder = write_lines(tmp_path_factory.mktemp("snapshot"), lines, kb_hash="")
    return make_examples(read_snapshot(folder).documents, kb, tokenizer=encoder.tokenizer, settings=SETTINGS)


@pytest.fixture
def towers(kb: KnowledgeBase, encoder: Encoder) -> Towers:
    texts = EntityTexts(kb, tokenizer=encoder.tokenizer, settings=SETTINGS)
    return Towers(encoder.module, encoder.module, texts, encoder.tokenizer.pad_token_id, torch.device("cpu"))


def drain(work: object) -> object:
    while True:
        try:
            next(work)  # type: ignore[call-overload]
        except StopIteration as end:
            return end.value


def test_examples_resolve_alternates_and_cluster_by_document_and_entity(
    examples: Sequence[Example], kb: KnowledgeBase
) -> None:
    assert examples[0].gold == (kb.rows["X:1"], kb.rows["X:7"])
    assert {len(example.gold) for example in examples} == {0, 1, 2}
    by_cluster: dict[int, set[tuple[str, tuple[int, ...]]]] = {}
    for example in examples:
        by_cluster.setdefault(example.cluster, set()).add((example.key.split(".")[0], example.gold))
    assert all(len(members) == 1 for members in by_cluster.values())
    nil = [example.cluster for example in examples if not example.gold]
    assert len(set(nil)) == len(nil)
    assert all(row == kb.rows["X:1"] for row in (example.shown[-1] for example in examples))


def test_shuffled_labels_keep_mentions_and_counts(examples: Sequence[Example]) -> None:
    dealt = shuffled_labels(examples, seed=0)
    assert [example.tokens for example in dealt] == [example.tokens for example in examples]
    assert sorted(example.gold for example in dealt) == sorted(example.gold for example in examples)
    assert sum(a.gold == b.gold for a, b in zip(dealt, examples, strict=True)) < len(examples) / 2


@pytest.mark.parametrize("of_mention", list(MentionVector))
def test_pads_change_nothing(towers: Towers, examples: Sequence[Example], of_mention: MentionVector) -> None:
    marked = replace(towers, of_mention=of_mention)
    marked.mention.eval()
    together = marked.encode_mentions(examples[:9])
    alone = torch.cat([marked.encode_mentions([example]) for example in examples[:9]])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)
    rows = np.arange(38)
    one_by_one = torch.cat([towers.encode_entities(rows[n : n + 1]) for n in range(38)])
    torch.testing.assert_close(towers.encode_entities(rows), one_by_one, atol=1e-5, rtol=1e-4)


def test_token_states_pool_to_the_vectors_and_score_by_som(towers: Towers, examples: Sequence[Example]) -> None:
    towers.mention.eval()
    mentions, rows = towers.mention_states(examples[:9]), np.arange(37, -1, -1)
    entities = towers.entity_states(rows)
    pooled = [(mentions, towers.encode_mentions(examples[:9])), (entities, towers.encode_entities(rows))]
    for texts, vectors in pooled:
        torch.testing.assert_close(texts.pooled(towers.mention.pooling), vectors, atol=1e-5, rtol=1e-4)
    together = sum_of_max(mentions, entities)
    alone = [sum_of_max(towers.mention_states([example]), entities) for example in examples[:9]]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-3, rtol=1e-4)
    together.sum().backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in towers.entity.layers.parameters())
    towers.entity.zero_grad()


def test_frozen_vectors_stand_in_for_the_entity_tower(towers: Towers) -> None:
    frozen = replace(towers, entity_vectors=np.arange(76, dtype=np.float32).reshape(38, 2))
    assert frozen.encode_entities(np.array([3, 1])).tolist() == [[6.0, 7.0], [2.0, 3.0]]


def test_a_projection_maps_frozen_vectors_and_learns(towers: Towers) -> None:
    vectors = np.arange(38 * 32, dtype=np.float32).reshape(38, 32) / 1000
    projection = identity_projection(32, device=torch.device("cpu"))
    frozen = replace(towers, entity_vectors=vectors, entity_projection=projection)
    rows = np.array([3, 1])
    np.testing.assert_array_equal(frozen.encode_entities(rows).detach().numpy(), vectors[rows])
    frozen.encode_entities(rows).sum().backward()
    assert projection.weight.grad is not None
    with torch.no_grad():
        projection.weight.mul_(2.0)
    np.testing.assert_allclose(frozen.projected(vectors)[rows], frozen.encode_entities(rows).detach().numpy())
    assert frozen.trained() == [towers.mention, projection]
    assert replace(frozen, entity_projection=None).projected(vectors) is vectors
    with pytest.raises(ModelError, match="frozen entity tower"):
        replace(towers, entity_projection=projection)


def test_vectors_without_gradient_equal_those_of_training(
    towers: Towers, encoder: Encoder, examples: Sequence[Example], tmp_path: Path
) -> None:
    towers.mention.eval()
    with torch.no_grad():
        expected = towers.encode_mentions(examples).numpy()
    np.testing.assert_allclose(mention_vectors(towers, examples), expected, atol=1e-5)
    vectors = drain(entity_vectors(encoder, towers.texts))
    assert isinstance(vectors, np.ndarray)
    np.testing.assert_allclose(pool_vectors(towers, [5, 0]), vectors[[5, 0]], atol=1e-5)
    first = drain(untrained_vectors(encoder, towers.texts, kb_hash="k", cache=tmp_path))
    again = drain(untrained_vectors(encoder, towers.texts, kb_hash="k", cache=tmp_path))
    assert isinstance(first, tuple)
    assert isinstance(again, tuple)
    assert (first[1], again[1]) == (False, True)
    np.testing.assert_array_equal(first[0], again[0])
    next(tmp_path.rglob("*.npy")).write_bytes(b"damaged")
    repaired = drain(untrained_vectors(encoder, towers.texts, kb_hash="k", cache=tmp_path))
    assert isinstance(repaired, tuple)
    assert not repaired[1]


def retriever_task(
    towers: Towers, examples: Sequence[Example], kb: KnowledgeBase, loss: Loss, **options: Any
) -> RetrieverTask:
    given = {"sampler": RandomNegatives(size=6, entities=38), "similarity": Similarity.COSINE, **options}
    return RetrieverTask(towers, examples, loss, kinship=Kinship(kb.entities), batch_size=7, seed=1, **given)


def test_batches_cover_everything_and_repeat(towers: Towers, examples: Sequence[Example], kb: KnowledgeBase) -> None:
    task, again = (retriever_task(towers, examples, kb, Recorder()) for _ in range(2))
    assert sorted(number for batch in task.batches(0) for number in batch) == list(range(len(examples)))
    assert task.batches(0) == again.batches(0)
    assert task.batches(0) != task.batches(1)
    assert min(len(batch) for batch in retriever_task(towers, examples[:8], kb, Recorder()).batches(0)) == 8


def test_batches_are_of_one_domain_as_far_as_they_can_be_filled(
    towers: Towers, examples: Sequence[Example], kb: KnowledgeBase
) -> None:
    first, second = Domain(((0, 20),)), Domain(((20, 38),))
    domains = [first if number % 3 else second for number in range(len(examples))]
    sampler = RandomNegatives(size=6, entities=38, reach=Reach(domains=domains))
    task = retriever_task(towers, examples, kb, Recorder(), sampler=sampler)
    batches = task.batches(0)
    mixed = [batch for batch in batches if len({domains[number] for number in batch}) > 1]
    assert sorted(number for batch in batches for number in batch) == list(range(len(examples)))
    assert sum(map(len, mixed)) < 2 * task.batch_size, "what is left of each domain"
    assert batches != task.batches(1)


def test_half_of_what_is_learned_are_links_that_names_do_not_decide(examples: Sequence[Example]) -> None:
    named = [replace(examples[0], key=str(number), gold=(1,), named=number >= 6) for number in range(40)]
    few, more = (worth_learning(named, most, seed=1) for most in (10, 30))
    assert [sum(not one.named for one in chosen) for chosen in (few, more)] == [5, 6]
    assert [len(few), len(more)] == [10, 30]
    assert [int(one.key) for one in few] == sorted(int(one.key) for one in few)
    assert worth_learning(named, 40, seed=1) == tuple(named)
    nil = [replace(one, gold=(), named=False) for one in named]
    assert len(worth_learning(nil, 10, seed=1)) == 10


def test_retriever_batch_holds_gold_and_never_offers_it_as_a_negative(
    towers: Towers, examples: Sequence[Example], kb: KnowledgeBase
) -> None:
    recorder = Recorder()
    task = retriever_task(towers, examples, kb, recorder)
    for batch in task.batches(0):
        task.loss(batch)
        seen, chosen = recorder.seen[-1], [examples[number] for number in batch]
        assert seen.linked.tolist() == [bool(example.gold) for example in chosen]
        assert seen.eligible[~seen.linked].all()
        for row, example in enumerate(chosen):
            positive = (seen.candidates == seen.positives[row]).all(dim=1)
            if example.gold:
                assert positive.any()
                assert not seen.eligible[row][positive].any()


def test_a_batch_of_nil_only_works(towers: Towers, examples: Sequence[Example], kb: KnowledgeBase) -> None:
    nil = [example for example in examples if not example.gold]
    loss = retriever_task(towers, nil, kb, ProxyLoss()).loss([0, 1])
    assert loss.isfinite()


def test_without_in_batch_negatives_only_drawn_rows_are_pushed_away(
    towers: Towers, examples: Sequence[Example], kb: KnowledgeBase
) -> None:
    both = [retriever_task(towers, examples, kb, Recorder(), in_batch=flag) for flag in (True, False)]
    within, without = (task.draw(range(7)) for task in both)
    np.testing.assert_array_equal(within.rows, without.rows)
    golds = {row for example in without.examples for row in example.gold}
    assert without.eligible.any(dim=0).sum() <= 6
    assert set(without.rows[~without.eligible.any(dim=0).numpy()].tolist()) <= golds
    assert within.eligible.sum() > without.eligible.sum()
    assert bool((within.eligible | ~without.eligible).all())


def test_som_compares_the_states_of_tokens(towers: Towers, examples: Sequence[Example], kb: KnowledgeBase) -> None:
    towers.mention.eval()
    loss = NoiseContrastiveLoss(similarity=Similarity.SOM)
    task = retriever_task(towers, examples, kb, loss, similarity=Similarity.SOM)
    drawn = task.draw(range(7))
    seen = drawn.inputs(drawn.mentions.whole(), drawn.entities.whole())
    assert isinstance(seen.mentions, TokenStates)
    assert isinstance(seen.candidates, TokenStates)
    expected = sum_of_max(towers.mention_states(examples[:7]), towers.entity_states(drawn.rows))
    torch.testing.assert_close(scores(seen.mentions, seen.candidates, Similarity.SOM), expected)
    gold = pair_scores(seen.mentions, seen.positives, Similarity.SOM)
    torch.testing.assert_close(gold, expected[torch.arange(7), drawn.place])
    assert task.loss(range(7)).isfinite()


def test_som_of_a_frozen_entity_tower_has_no_graph(towers: Towers) -> None:
    frozen = replace(towers, entity_vectors=np.zeros((38, 32), dtype=np.float32))
    states = frozen.entity_states(np.array([4, 2]))
    assert not states.states.requires_grad
    torch.testing.assert_close(states.states, towers.entity_states(np.array([4, 2])).states.detach())


def test_nil_mentions_with_nothing_drawn(towers: Towers, examples: Sequence[Example], kb: KnowledgeBase) -> None:
    nil = [example for example in examples if not example.gold]
    nothing = RandomNegatives(size=0, entities=38)
    task = retriever_task(towers, nil, kb, ProxyLoss(), sampler=nothing)
    assert not task.draw([0, 1]).eligible.any()
    assert task.loss([0, 1]).item() == 0.0


def test_projection_and_regulariser_learn_at_their_own_rates(
    towers: Towers, examples: Sequence[Example], kb: KnowledgeBase
) -> None:
    projection = identity_projection(32, device=torch.device("cpu"))
    frozen = replace(towers, entity_vectors=np.zeros((38, 32), np.float32), entity_projection=projection)
    regulariser = Transformation(32, rate=5.0)
    task = retriever_task(frozen, examples, kb, Recorder(), projection_rate=20.0, regulariser=regulariser)
    assert task.modules() == [frozen.mention, projection, regulariser]
    encoders, mapped, shifted = task.parameter_groups(TrainSettings(epochs=1, learning_rate=1e-3))
    assert encoders == {"params": list(frozen.mention.parameters())}
    assert (mapped["params"], mapped["lr"], mapped["weight_decay"]) == ([projection.weight], pytest.approx(2e-2), 0.0)
    assert (len(shifted["params"]), shifted["lr"], shifted["weight_decay"]) == (1, pytest.approx(5e-3), 0.0)
    shared = retriever_task(towers, examples, kb, Recorder())
    (group,) = shared.parameter_groups(TrainSettings(epochs=1, learning_rate=1e-3))
    assert len(group["params"]) == len(list(towers.mention.parameters()))


@pytest.mark.soak
@pytest.mark.parametrize(
    ("make", "precision"), [(FGSM, "bf16"), (lambda: Transformation(32, epsilon=4.0, rate=30.0), "fp32")]
)
def test_training_with_a_regulariser_lowers_the_clean_loss(
    towers: Towers, examples: Sequence[Example], kb: KnowledgeBase, make: Callable[[], Regulariser], precision: str
) -> None:
    apart = replace(towers, mention=copy.deepcopy(towers.mention), entity=copy.deepcopy(towers.entity))

    def task(regulariser: Regulariser | None = None) -> RetrieverTask:
        given = {"similarity": Similarity.DOT, "regulariser": regulariser}
        return retriever_task(apart, examples[:14], kb, NoiseContrastiveLoss(), **given)

    def clean() -> float:
        """The mean over several draws of negatives."""
        apart.mention.eval()
        apart.entity.eval()
        with torch.no_grad():
            drawn = [task() for _ in range(10)]
            for seed, own in enumerate(drawn):
                own.random = np.random.default_rng(seed)
            return float(np.mean([own.loss(range(14)).item() for own in drawn]))

    regulariser, before = make(), clean()
    settings = TrainSettings(epochs=10, learning_rate=5e-3, precision=precision)
    list(train(task(regulariser), settings))
    assert clean() < 0.95 * before
    for matrix in regulariser.parameters():
        assert 0 < torch.linalg.matrix_norm(matrix) <= regulariser.radius * 1.0001  # type: ignore[operator]
