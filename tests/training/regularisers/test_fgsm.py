"""FGSM against the definition: a coordinate moves by the sign of what moving it does to the score."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from models.encoders.encoders import EncoderModule, pad_ids
from models.errors import ModelError
from models.retrievers.scorers import TokenStates
from tests.training.regularisers.conftest import (
    MakeTask,
    Watching,
    gradients,
)
from training.data.examples import Example
from training.loop.towers import Towers
from training.losses.base import LossInputs, Similarity, Texts, pair_scores, scores, take
from training.losses.proxy import ProxyLoss
from training.negatives.batch import DrawnNegatives
from training.negatives.kinship import Rows
from training.negatives.sampling import RandomNegatives
from training.regularisers.embeddings import changed_sum, score_sign
from training.regularisers.fgsm import FGSM, shared_roles
from training.tasks.retriever_task import RetrieverTask

EPSILON, STEP = 0.03, 1e-6
ALL = [0, 1, 2, 3, 4]
SIMILARITIES = [Similarity.DOT, Similarity.COSINE, Similarity.SOM]


def read(towers: Towers, ids: Sequence[int], added: Tensor, *, tokens: bool) -> Texts:
    """One entity read k times with `added` [k, t, d] to its word embeddings, without any hook."""
    module = towers.entity
    given, mask = pad_ids([ids], pad_id=towers.pad_id, device=towers.device)
    words = module.transformer.embeddings.word_embeddings(given) + added
    mask = mask.expand(len(added), -1)
    states = module.transformer(inputs_embeds=words, attention_mask=mask).last_hidden_state
    texts = TokenStates(states, mask)
    return texts if tokens else texts.pooled(module.pooling)


def moved_by_definition(
    towers: Towers, row: int, mentions: Texts, weights: Tensor, similarity: Similarity, *, epsilon: float = EPSILON
) -> Texts:
    """The entity with every coordinate moved by ε in the direction in which Σ weights·score rises, found by moving
    one coordinate after the other up and down."""
    (ids,) = towers.texts.of([row])
    width = towers.entity.hidden_size
    tokens = similarity is Similarity.SOM
    steps = STEP * torch.eye(len(ids) * width, dtype=torch.double).reshape(-1, len(ids), width)
    with torch.no_grad():
        up, down = (
            (scores(mentions, read(towers, ids, side * steps, tokens=tokens), similarity) * weights[:, None]).sum(0)
            for side in (1, -1)
        )
        sign = (up - down).sign().reshape(1, len(ids), width)
        assert sign.abs().sum() > 0.9 * sign.numel()
        return read(towers, ids, epsilon * sign, tokens=tokens)


def assert_same_texts(found: Texts, expected: Texts) -> None:
    if isinstance(found, TokenStates) and isinstance(expected, TokenStates):
        length = int(expected.mask.sum())
        torch.testing.assert_close(found.states[:, :length], expected.states[:, :length])
        assert int(found.mask.sum()) == length
    else:
        torch.testing.assert_close(found, expected)


def both(task: RetrieverTask) -> tuple[LossInputs, LossInputs]:
    """The clean and the moved batch of all examples."""
    assert isinstance(task.loss_of, Watching)
    task.loss(ALL)
    clean, moved = task.loss_of.seen
    return clean, moved


def drawn_rows(make_task: MakeTask, **options: object) -> Rows:
    return make_task(None, **options).draw(ALL).rows


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_moves_follow_the_finite_difference_of_the_score(
    make_task: MakeTask, towers: Towers, examples: Sequence[Example], similarity: Similarity
) -> None:
    clean, moved = both(make_task(FGSM(epsilon=EPSILON), similarity=similarity))
    rows = drawn_rows(make_task)
    columns = clean.eligible.any(0).nonzero().squeeze(1)
    torch.testing.assert_close(moved.eligible, clean.eligible[:, columns])
    for number, column in enumerate(columns.tolist()):
        weights = clean.eligible[:, column].double()
        expected = moved_by_definition(towers, rows[column], clean.mentions, weights, similarity)
        assert_same_texts(take(moved.candidates, torch.tensor([number])), expected)
    for mention, example in enumerate(examples):
        if example.gold:
            weights = torch.tensor([-1.0 if other.gold == example.gold else 0.0 for other in examples]).double()
            expected = moved_by_definition(towers, example.gold[0], clean.mentions, weights, similarity)
            assert_same_texts(take(moved.positives, torch.tensor([mention])), expected)


def test_own_moves_follow_the_finite_difference_of_each_mentions_score(
    make_task: MakeTask, towers: Towers, examples: Sequence[Example]
) -> None:
    clean, moved = both(make_task(FGSM(epsilon=EPSILON, shared=False), similarity=Similarity.COSINE))
    rows = drawn_rows(make_task)
    assert isinstance(moved.candidates, Tensor)
    assert moved.candidates.shape[:2] == clean.eligible.shape
    torch.testing.assert_close(moved.eligible, clean.eligible)
    alone = torch.eye(len(examples), dtype=torch.double)
    for mention, column in clean.eligible.nonzero().tolist()[::3]:
        expected = moved_by_definition(towers, rows[column], clean.mentions, alone[mention], Similarity.COSINE)
        torch.testing.assert_close(moved.candidates[mention, column], expected[0])
    for mention, example in enumerate(examples[:2]):
        expected = moved_by_definition(towers, example.gold[0], clean.mentions, -alone[mention], Similarity.COSINE)
        torch.testing.assert_close(take(moved.positives, torch.tensor([mention])), expected)


@pytest.mark.parametrize("shared", [True, False])
def test_negatives_come_nearer_and_positives_go_away(make_task: MakeTask, shared: bool) -> None:
    clean, moved = both(make_task(FGSM(epsilon=1e-4, shared=shared)))
    pushed = [(scores(b.mentions, b.candidates, Similarity.DOT) * b.eligible).sum() for b in (clean, moved)]
    pulled = [pair_scores(b.mentions, b.positives, Similarity.DOT)[b.linked] for b in (clean, moved)]
    assert pushed[1] > pushed[0]
    assert bool((pulled[1] < pulled[0])[2:].all())
    assert pulled[1].sum() < pulled[0].sum()


def test_a_gold_entity_that_is_another_mentions_negative_is_moved_in_both_roles(
    make_task: MakeTask, examples: Sequence[Example]
) -> None:
    drawn = make_task(None, sampler=RandomNegatives(size=0, entities=38)).draw(ALL)
    roles = shared_roles(drawn, drawn.eligible)
    golds = sorted({example.gold[0] for example in examples if example.gold})
    assert roles.rows.tolist() == [*golds, *golds]
    first = golds.index(examples[0].gold[0])
    assert roles.signs[first].tolist() == [0, 0, 1, 1, 1]
    assert roles.signs[len(golds) + first].tolist() == [-1, -1, 0, 0, 0]
    assert roles.positives[:2].tolist() == [len(golds) + first] * 2
    without = make_task(None, sampler=RandomNegatives(size=0, entities=38), in_batch=False).draw(ALL)
    assert shared_roles(without, without.eligible).rows.tolist() == golds


def test_candidates_of_one_mention_each_are_moved_alike_shared_or_not(make_task: MakeTask) -> None:
    class Apart(RandomNegatives):
        def draw(self, mentions: Sequence[int], random: np.random.Generator) -> DrawnNegatives:
            return DrawnNegatives(np.arange(20, 25), np.eye(5, dtype=bool))

    sampler = Apart(size=5, entities=38)
    chosen = [0, 2, 3, 4]
    values = []
    for shared in (True, False):
        task = make_task(FGSM(epsilon=EPSILON, shared=shared), sampler=sampler, in_batch=False)
        task.examples = [task.examples[number] for number in (*chosen, 4)]
        values.append(task.loss(range(5)))
    torch.testing.assert_close(values[0], values[1])


def recorded(module: EncoderModule) -> list[Tensor]:
    """What the layer behind the embeddings' sum is given from now on, after all hooks before it."""
    given: list[Tensor] = []
    layer = module.transformer.embeddings.LayerNorm
    layer.register_forward_hook(lambda _, inputs, output: given.append(inputs[0].detach()))
    return given


def test_pads_stay_where_they_are_and_real_tokens_move_by_epsilon(make_task: MakeTask, towers: Towers) -> None:
    task = make_task(FGSM(epsilon=EPSILON))
    drawn = task.draw(ALL)
    inputs = drawn.inputs(drawn.mentions.whole(), drawn.entities.whole())
    roles = task.regulariser.roles(drawn)  # type: ignore[union-attr]
    (part,) = drawn.entity_side(roles.rows).parts
    given = recorded(towers.entity)
    task.regulariser.term(drawn, task.loss_of, inputs)  # type: ignore[union-attr]
    clean, moved = given
    assert bool((part.mask == 0).any())
    assert not (moved - clean)[part.mask == 0].any()
    steps = (moved - clean)[part.mask == 1].abs()
    torch.testing.assert_close(steps, torch.full_like(steps, EPSILON))


def test_other_pads_change_nothing(make_task: MakeTask, monkeypatch: pytest.MonkeyPatch) -> None:
    values = []
    for chunk in (1, 3, 32):
        monkeypatch.setattr("training.loop.towers.CHUNK", chunk)
        values.append(make_task(FGSM(epsilon=EPSILON), similarity=Similarity.SOM).loss(ALL))
    torch.testing.assert_close(values, [values[0]] * 3)


def test_the_mention_is_the_clean_one_and_is_read_once(make_task: MakeTask, towers: Towers) -> None:
    given = recorded(towers.mention)
    clean, moved = both(make_task(FGSM(epsilon=EPSILON)))
    assert len(given) == 1
    assert moved.mentions is clean.mentions
    assert isinstance(moved.mentions, Tensor)
    assert moved.mentions.requires_grad


def test_the_sign_is_detached(make_task: MakeTask, towers: Towers) -> None:
    ids, mask = pad_ids(towers.texts.of([3]), pad_id=towers.pad_id, device=towers.device)
    sign = score_sign(towers.entity, mask, lambda: towers.entity(ids, mask).sum())
    assert not sign.requires_grad
    assert sign.grad_fn is None
    assert gradients(make_task()) == {}


def test_gradients_are_those_of_a_constant_move(make_task: MakeTask, towers: Towers) -> None:
    task = make_task(FGSM(epsilon=EPSILON))
    given = recorded(towers.entity)
    task.loss(ALL).backward()
    found = gradients(task)
    move = given[2] - given[1]  # clean entities, then the roles clean, then the roles moved
    drawn = make_task().draw(ALL)
    roles = FGSM().roles(drawn)
    clean = drawn.inputs(drawn.mentions.whole(), drawn.entities.whole())
    with changed_sum(towers.entity, lambda z: z + move):
        entities = drawn.entity_side(roles.rows).whole()
    adversarial = replace(
        clean,
        positives=take(entities, roles.positives),
        candidates=take(entities, roles.negatives),
        eligible=roles.eligible,
    )
    (task.loss_of(clean) + task.loss_of(adversarial)).backward()
    expected = gradients(task)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, msg=name)


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("weight", [0.0, 1.0, 0.3])
def test_epsilon_of_0_gives_1_plus_lambda_times_the_loss(
    make_task: MakeTask, similarity: Similarity, shared: bool, weight: float
) -> None:
    clean = make_task(similarity=similarity).loss(ALL)
    both = make_task(FGSM(epsilon=0.0, weight=weight, shared=shared), similarity=similarity).loss(ALL)
    torch.testing.assert_close(both, (1 + weight) * clean)


def test_nil_mentions_move_their_negatives_only_where_the_loss_uses_them(make_task: MakeTask) -> None:
    drawn = make_task().draw(ALL)
    used, unused = FGSM().roles(drawn), FGSM(nil_negatives=False).roles(drawn)
    assert used.signs[:, 4].any()
    assert not unused.signs[:, 4].any()
    assert not unused.eligible[4].any()
    for regulariser in (FGSM(), FGSM(nil_negatives=False), FGSM(shared=False)):
        assert make_task(regulariser, loss=ProxyLoss(), similarity=Similarity.COSINE).loss([4]).isfinite()
    nothing = RandomNegatives(size=0, entities=38)
    task = make_task(FGSM(), sampler=nothing, loss=ProxyLoss(), similarity=Similarity.COSINE)
    assert task.loss([4]).item() == 0.0


def test_under_dropout_the_sign_is_that_of_the_function_it_moves(make_task: MakeTask, towers: Towers) -> None:
    towers.entity.train()
    rows, weight = np.arange(6), torch.linspace(-1, 1, 8).double()
    (part,) = towers.entity_side(rows).parts
    torch.manual_seed(1)
    before = torch.get_rng_state()
    sign = score_sign(towers.entity, part.mask, lambda: towers.entity(part.ids, part.mask).sum(0) @ weight)
    assert torch.equal(torch.get_rng_state(), before)
    values = []
    for size in (0.0, 1e-5):
        torch.set_rng_state(before)
        with torch.no_grad(), changed_sum(towers.entity, lambda z, size=size: z + size * sign):
            values.append(towers.entity(part.ids, part.mask) @ weight)
    assert bool((values[1] > values[0]).all())


def test_no_hook_is_left_even_after_an_error(towers: Towers) -> None:
    asked: list[Tensor] = []

    def fail(summed: Tensor) -> Tensor:
        asked.append(summed)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), changed_sum(towers.entity, fail):
        towers.encode_entities(np.arange(2))
    assert len(asked) == 1
    towers.encode_entities(np.arange(2))
    assert len(asked) == 1


def test_a_frozen_entity_tower_is_refused(make_task: MakeTask, towers: Towers) -> None:
    frozen = replace(towers, entity_vectors=np.zeros((38, 8), dtype=np.float32))
    with pytest.raises(ModelError, match="Train the entity tower"):
        make_task(FGSM(), towers=frozen)


def test_an_encoder_without_that_layer_is_refused(make_task: MakeTask, towers: Towers) -> None:
    strange = copy.deepcopy(towers.entity)
    del strange.transformer.embeddings.LayerNorm
    with pytest.raises(ModelError, match=r"BertModel.*embeddings.LayerNorm"):
        make_task(FGSM(), towers=replace(towers, entity=strange))


def test_parameters_below_zero_are_refused() -> None:
    with pytest.raises(ModelError, match="epsilon"):
        FGSM(epsilon=-0.01)
    with pytest.raises(ModelError, match="lambda"):
        FGSM(weight=float("nan"))
