"""FGSM for pairs: only the entity's positions move, each coordinate by the sign of what moving it does to the score."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from models.core.kb import KnowledgeBase
from models.encoders.encoders import Encoder
from models.encoders.pooling import mean_pool
from models.errors import ModelError
from models.rankers.cross_encoder import CrossEncoderModule, new_head
from tests.training.regularisers.conftest import SETTINGS
from training.data.examples import EntityTexts, Example
from training.negatives.kinship import Kinship
from training.regularisers.fgsm_pairs import PairFGSM
from training.tasks.cross_encoder import CrossEncoderTask, EncodedPair

EPSILON, STEP = 0.03, 1e-6
MakePairs = Callable[..., CrossEncoderTask]


@pytest.fixture
def make_pairs(small: Encoder, kb: KnowledgeBase, examples: Sequence[Example]) -> MakePairs:
    """A task over the linked examples with three to five candidates each."""
    head = new_head(small, seed=1)
    with torch.no_grad():
        head.weight.mul_(50)  # else all scores are alike
    module = copy.deepcopy(CrossEncoderModule(small.module, head)).double().eval()
    linked = [example for example in examples if example.gold]

    def make(regulariser: PairFGSM | None = None, **options: Any) -> CrossEncoderTask:
        return CrossEncoderTask(
            options.get("module", module),
            small,
            linked,
            texts=EntityTexts(kb, tokenizer=small.tokenizer, settings=SETTINGS),
            ranked=[range(30, 34 + number) for number in range(len(linked))],
            kinship=Kinship(kb.entities),
            candidates=6,
            batch_size=4,
            seed=2,
            regulariser=regulariser,
        )

    return make


def entity_starts(task: CrossEncoderTask, batch: Sequence[int]) -> list[int]:
    """Where the entity begins in each pair of a batch: behind the mention's tokens, its [SEP] included."""
    return [len(task.examples[number].tokens.ids) for number in batch for _ in range(1 + len(task.wrong[number]))]


def score(module: CrossEncoderModule, pair: EncodedPair, added: Tensor) -> Tensor:
    """Scores (k,) of one pair read k times with `added` [k, t, d] to its word embeddings, without any hook."""
    transformer = module.encoder.transformer
    words = transformer.embeddings.word_embeddings(torch.tensor([pair.ids])) + added
    mask = torch.ones(len(added), len(pair.ids), dtype=torch.long)
    states = transformer(inputs_embeds=words, attention_mask=mask).last_hidden_state
    return (mean_pool(states, mask) @ module.head.weight.T).squeeze(-1)


def moved_by_definition(module: CrossEncoderModule, pair: EncodedPair, *, start: int) -> float:
    """The score after every coordinate from `start` on was moved by ε, the gold pair's down and any other's up."""
    width = module.encoder.hidden_size
    steps = STEP * torch.eye(len(pair.ids) * width, dtype=torch.double).reshape(-1, len(pair.ids), width)
    with torch.no_grad():
        up, down = score(module, pair, steps), score(module, pair, -steps)
        move = EPSILON * (up - down).sign().reshape(1, len(pair.ids), width) * (-1 if pair.gold else 1)
        move[:, :start] = 0
        return score(module, pair, move).item()


@pytest.mark.parametrize("whole", [False, True])
def test_moves_follow_the_finite_difference_of_the_score(make_pairs: MakePairs, whole: bool) -> None:
    task = make_pairs(PairFGSM(epsilon=EPSILON, whole=whole))
    made = task.drawn([0, 1])
    starts = entity_starts(task, [0, 1])
    found = torch.cat([made.moved(task.regulariser, part) for part in made.parts]).tolist()
    order = [number for part in made.parts for number in part]
    assert sorted(order) == list(range(len(made.pairs)))
    for number, value in zip(order, found, strict=True):
        pair = made.pairs[number]
        expected = moved_by_definition(task.module, pair, start=0 if whole else starts[number])
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert sum(pair.gold for pair in made.pairs) == 2


@pytest.mark.parametrize("whole", [False, True])
def test_pads_stay_where_they_are_and_the_mention_is_the_clean_one(make_pairs: MakePairs, whole: bool) -> None:
    task = make_pairs(PairFGSM(epsilon=EPSILON, whole=whole))
    made = task.drawn([0, 1])
    starts = entity_starts(task, [0, 1])
    given: list[Tensor] = []
    layer = task.module.encoder.transformer.embeddings.LayerNorm
    layer.register_forward_hook(lambda _, inputs, output: given.append(inputs[0].detach()))
    (part,) = made.parts
    made.moved(task.regulariser, part)
    steps = (given[1] - given[0]).abs()
    assert len({len(made.pairs[number].ids) for number in part}) > 1
    for row, number in enumerate(part):
        pair = made.pairs[number]
        start = 0 if whole else starts[number]
        assert not steps[row, :start].any()
        assert not steps[row, len(pair.ids) :].any()
        moved = steps[row, start : len(pair.ids)]
        torch.testing.assert_close(moved, torch.full_like(moved, EPSILON))


def test_the_gold_pair_goes_down_and_the_others_come_up(make_pairs: MakePairs) -> None:
    regulariser = PairFGSM(epsilon=1e-4)
    made = make_pairs(regulariser).drawn([0, 1, 2, 3])
    clean = torch.cat([made.clean(part) for part in made.parts])
    moved = torch.cat([made.moved(regulariser, part) for part in made.parts])
    gold = torch.tensor([made.pairs[number].gold for part in made.parts for number in part])
    assert bool((moved < clean)[gold].all())
    assert bool((moved > clean)[~gold].all())


def test_the_sign_is_detached(make_pairs: MakePairs) -> None:
    task = make_pairs(PairFGSM(epsilon=EPSILON))
    made = task.drawn([0])
    (part,) = made.parts
    given: list[Tensor] = []
    layer = task.module.encoder.transformer.embeddings.LayerNorm
    handle = layer.register_forward_hook(lambda _, inputs, output: given.append(inputs[0]))
    found = torch.autograd.grad(made.moved(task.regulariser, part).sum(), task.module.head.weight)[0]
    handle.remove()
    move = (given[1] - given[0]).detach()
    handle = layer.register_forward_pre_hook(lambda _, inputs: (inputs[0] + move,))
    expected = torch.autograd.grad(made.clean(part).sum(), task.module.head.weight)[0]
    handle.remove()
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("weight", [0.0, 1.0, 0.3])
def test_epsilon_of_0_gives_1_plus_lambda_times_the_loss(make_pairs: MakePairs, weight: float) -> None:
    clean = make_pairs().loss([0, 1, 2])
    both = make_pairs(PairFGSM(epsilon=0.0, weight=weight)).loss([0, 1, 2])
    torch.testing.assert_close(both, (1 + weight) * clean)


def test_moved_pairs_are_harder(make_pairs: MakePairs) -> None:
    assert make_pairs(PairFGSM(epsilon=0.01)).loss([0, 1, 2]) > 2 * make_pairs().loss([0, 1, 2])


def test_an_encoder_without_that_layer_is_refused(make_pairs: MakePairs) -> None:
    strange = copy.deepcopy(make_pairs().module)
    del strange.encoder.transformer.embeddings.LayerNorm
    with pytest.raises(ModelError, match=r"embeddings.LayerNorm"):
        make_pairs(PairFGSM(), module=strange)
    with pytest.raises(ModelError, match="lambda"):
        PairFGSM(weight=-1.0)
