"""The transformation: A climbs where the encoders descend, stays in its ball, and is gone outside of training."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from models.encoders.encoders import EncoderModule, pad_ids
from models.errors import ModelError
from tests.training.regularisers.conftest import MakeTask, Watching, gradients
from training.loop.towers import Towers
from training.losses.base import Similarity
from training.regularisers.embeddings import freeze_embeddings
from training.regularisers.transformation import Ascent, Transformation, reversed_gradient, transformed, within
from training.tasks.retriever_task import RetrieverTask

ALL = [0, 1, 2, 3, 4]
SIMILARITIES = [Similarity.DOT, Similarity.COSINE, Similarity.SOM]


def filled(*, size: float = 0.1, seed: int = 0, **options: object) -> Transformation:
    """A transformation of width 8 in double precision, its A's random."""
    made = Transformation(8, **options).double()  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for matrix in made.parameters():
            matrix.copy_(size * torch.randn(8, 8, generator=generator, dtype=torch.double))
    return made


def transformed_loss(make_task: MakeTask, regulariser: Transformation, **options: object) -> Tensor:
    """L' alone."""
    task = make_task(regulariser, **options)
    task.loss(ALL)
    assert isinstance(task.loss_of, Watching)
    return task.loss_of.compute(task.loss_of.seen[-1])


def test_reversal_keeps_the_value_and_turns_the_gradient_round() -> None:
    matrix = torch.randn(3, 3, requires_grad=True)
    assert torch.equal(reversed_gradient(matrix), matrix)
    (gradient,) = torch.autograd.grad((reversed_gradient(matrix) ** 2).sum(), matrix)
    torch.testing.assert_close(gradient, -2 * matrix)


@pytest.mark.parametrize("layer", [0, 1, 3])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_gradient_of_a_has_the_sign_of_ascent(make_task: MakeTask, layer: int, similarity: Similarity) -> None:
    regulariser = filled(layer=layer)
    task = make_task(regulariser, similarity=similarity)
    task.loss(ALL).backward()
    for matrix in (regulariser.of_mentions, regulariser.of_entities):
        assert matrix.grad is not None
        for at in ((0, 0), (2, 5), (7, 1)):
            values = []
            for step in (1e-5, -1e-5):
                with torch.no_grad():
                    matrix[at] += step
                values.append(transformed_loss(make_task, regulariser, similarity=similarity).item())
                with torch.no_grad():
                    matrix[at] -= step
            rise = (values[0] - values[1]) / 2e-5
            assert matrix.grad[at].item() == pytest.approx(-rise, rel=1e-4, abs=1e-7)
            assert abs(rise) > 1e-6


def test_the_encoders_gradients_are_not_turned_round(make_task: MakeTask) -> None:
    regulariser = filled(weight=0.7)
    task = make_task(regulariser)
    task.loss(ALL).backward()
    found = gradients(task)
    other = make_task()
    drawn = other.draw(ALL)
    clean = drawn.inputs(drawn.mentions.whole(), drawn.entities.whole())
    a, b = regulariser.of_mentions.detach(), regulariser.of_entities.detach()
    with transformed(drawn.towers.mention, lambda: a, layer=1), transformed(drawn.towers.entity, lambda: b, layer=1):
        moved = drawn.inputs(drawn.mentions.whole(), drawn.entities.whole())
    (other.loss_of(clean) + 0.7 * other.loss_of(moved)).backward()
    expected = gradients(other)
    assert found.keys() - expected.keys() == {"2.of_mentions", "2.of_entities"}
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, msg=name)


def test_ascent_with_fixed_encoders_raises_the_loss(make_task: MakeTask, towers: Towers) -> None:
    for module in (towers.mention, towers.entity):
        module.requires_grad_(False)
    regulariser = Transformation(8, epsilon=32.0).double()
    task = make_task(regulariser)
    (group,) = regulariser.parameter_groups(SimpleNamespace(learning_rate=1e-3))  # type: ignore[arg-type]
    assert (group["lr"], group["weight_decay"]) == (pytest.approx(1e-2), 0.0)
    optimiser = torch.optim.AdamW([group], lr=1.0)
    values = []
    for _ in range(30):
        optimiser.zero_grad()
        task = make_task(regulariser)
        loss = task.loss(ALL)
        values.append(loss.item())
        loss.backward()
        optimiser.step()
        task.after_step()
    assert values[-1] > 1.5 * values[0]
    assert all(torch.linalg.matrix_norm(matrix) <= regulariser.radius + 1e-9 for matrix in regulariser.parameters())


def test_projection_holds_the_norm_and_keeps_the_direction(make_task: MakeTask) -> None:
    regulariser = filled(size=50.0, epsilon=32.0)
    before = [matrix.detach().clone() for matrix in regulariser.parameters()]
    make_task(regulariser).after_step()
    for matrix, old in zip(regulariser.parameters(), before, strict=True):
        assert torch.linalg.matrix_norm(matrix).item() == pytest.approx(regulariser.radius)
        torch.testing.assert_close(matrix / matrix.norm(), old / old.norm())
        assert matrix.requires_grad
    inside = filled(size=1e-3)
    before = [matrix.detach().clone() for matrix in inside.parameters()]
    inside.after_step()
    assert all(torch.equal(matrix, old) for matrix, old in zip(inside.parameters(), before, strict=True))
    assert not within(torch.ones(2, 2), 0.0).any()


def test_the_bound_is_scaled_to_the_width() -> None:
    assert Transformation(768, epsilon=32.0).radius == 32.0
    assert Transformation(192, epsilon=32.0).radius == 16.0


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("layer", [0, 1])
def test_a_of_0_gives_the_loss_twice(make_task: MakeTask, similarity: Similarity, layer: int) -> None:
    clean = make_task(similarity=similarity).loss(ALL)
    twice = make_task(Transformation(8, layer=layer).double(), similarity=similarity).loss(ALL)
    torch.testing.assert_close(twice, 2 * clean)
    none = make_task(Transformation(8, ascent=Ascent.NORMALISED, epsilon=0.0).double(), similarity=similarity)
    torch.testing.assert_close(none.loss(ALL), 2 * clean)


def by_hand(module: EncoderModule, ids: Tensor, matrix: Tensor, *, layer: int) -> Tensor:
    """The states of one text, layer by layer, with Z + A Z after the layer `layer`."""
    states = module.transformer.embeddings(input_ids=ids)
    for number in range(len(module.layers) + 1):
        if number:
            states = module.layers[number - 1](states)
        if number == layer:
            states = torch.stack([z + matrix @ z for z in states[0]])[None]
    return states


@pytest.mark.parametrize("layer", [0, 1, 2, 3])
def test_the_layer_above_which_z_is_moved(towers: Towers, layer: int) -> None:
    ids, mask = pad_ids(towers.texts.of([3]), pad_id=towers.pad_id, device=towers.device)
    matrix = filled().of_mentions.detach()
    with torch.no_grad(), transformed(towers.entity, lambda: matrix, layer=layer):
        found = towers.entity.token_states(ids, mask)
    with torch.no_grad():
        torch.testing.assert_close(found, by_hand(towers.entity, ids, matrix, layer=layer))
        plain = towers.entity.token_states(ids, mask)
    torch.testing.assert_close(plain, by_hand(towers.entity, ids, 0 * matrix, layer=layer))
    assert (found - plain).abs().max() > 1e-2


def test_layers_that_give_more_than_their_states() -> None:
    """As those of older transformers do."""

    class Layer(torch.nn.Module):
        def forward(self, states: Tensor) -> tuple[Tensor, str]:
            return 2 * states, "weights"

    layer = Layer()
    module = SimpleNamespace(layers=[layer])
    with transformed(module, lambda: torch.eye(2), layer=1):  # type: ignore[arg-type]
        states, rest = layer(torch.ones(1, 3, 2))
    assert (states.unique().tolist(), rest) == ([4.0], "weights")


def test_each_side_has_its_own_a(make_task: MakeTask) -> None:
    for name, mentions, entities in (("of_entities", True, False), ("of_mentions", False, True)):
        regulariser = filled()
        with torch.no_grad():
            getattr(regulariser, name).zero_()
        task = make_task(regulariser)
        task.loss(ALL)
        clean, moved = task.loss_of.seen  # type: ignore[union-attr]
        assert torch.allclose(clean.mentions, moved.mentions) is not mentions
        assert torch.allclose(clean.candidates, moved.candidates) is not entities
        assert torch.equal(clean.eligible, moved.eligible)


def test_nothing_of_it_outside_of_training(make_task: MakeTask, towers: Towers) -> None:
    rows = np.arange(5)
    with torch.no_grad():
        before = towers.encode_entities(rows), towers.encode_mentions(make_task().examples)
    names = [*towers.mention.state_dict()], [*towers.entity.state_dict()]
    task = make_task(filled())
    task.loss(ALL).backward()
    with torch.no_grad():
        after = towers.encode_entities(rows), towers.encode_mentions(task.examples)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert ([*towers.mention.state_dict()], [*towers.entity.state_dict()]) == names
    with pytest.raises(ZeroDivisionError), transformed(towers.entity, lambda: torch.ones(8, 8), layer=0):
        raise ZeroDivisionError
    with torch.no_grad():
        assert torch.equal(towers.encode_entities(rows), before[0])


@pytest.mark.parametrize("chunk", [1, 3])
def test_other_pads_change_nothing(make_task: MakeTask, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    whole = make_task(filled(), similarity=Similarity.SOM).loss(ALL)
    monkeypatch.setattr("training.loop.towers.CHUNK", chunk)
    torch.testing.assert_close(make_task(filled(), similarity=Similarity.SOM).loss(ALL), whole)


def step_from_zero(make_task: MakeTask, **options: object) -> tuple[RetrieverTask, Tensor, Tensor]:
    """A task with a normalised step, and the A's of its transformed batch."""
    regulariser = Transformation(8, ascent=Ascent.NORMALISED, **options).double()  # type: ignore[arg-type]
    task = make_task(regulariser)
    return task, *regulariser.highest(task.draw(ALL), task.loss_of)


def test_a_normalised_step_goes_to_the_ball_along_the_gradient(make_task: MakeTask) -> None:
    task, *matrices = step_from_zero(make_task, epsilon=32.0)
    kept = filled(size=0.0)
    make_task(kept).loss(ALL).backward()
    for matrix, start in zip(matrices, kept.parameters(), strict=True):
        assert start.grad is not None
        torch.testing.assert_close(matrix, -task.regulariser.radius * start.grad / start.grad.norm())  # type: ignore[union-attr]
        assert not matrix.requires_grad
    small = make_task(Transformation(8, ascent=Ascent.NORMALISED, epsilon=1e-3).double())
    assert small.loss(ALL) > 2 * make_task().loss(ALL)
    assert task.modules() == task.towers.trained()
    assert not [p for p in task.regulariser.parameters() if p.requires_grad]  # type: ignore[union-attr]
    assert task.regulariser.parameter_groups(SimpleNamespace(learning_rate=1.0)) == []  # type: ignore[union-attr,arg-type]


def test_of_a_frozen_entity_tower_only_mentions_are_moved(make_task: MakeTask, towers: Towers) -> None:
    vectors = np.random.default_rng(0).normal(size=(38, 8)).astype(np.float32)
    frozen = replace(towers, mention=towers.mention.float(), entity_vectors=vectors)
    for regulariser in (filled().float(), Transformation(8, ascent=Ascent.NORMALISED)):
        task = make_task(regulariser, towers=frozen)
        task.loss(ALL).backward()
        assert regulariser.of_entities.grad is None
        clean, moved = task.loss_of.seen[-2:]  # type: ignore[union-attr]
        assert torch.equal(clean.candidates, moved.candidates)
        assert not torch.allclose(clean.mentions, moved.mentions)
    kept = filled()
    make_task(kept, towers=frozen)
    (group,) = kept.parameter_groups(SimpleNamespace(learning_rate=1.0))  # type: ignore[arg-type]
    assert [p is kept.of_mentions for p in group["params"]] == [True]


def test_frozen_embeddings_stay_and_the_layers_learn(make_task: MakeTask, towers: Towers) -> None:
    freeze_embeddings(towers.entity)
    task = make_task(filled(layer=0))
    task.loss(ALL).backward()
    assert all(parameter.grad is None for parameter in towers.entity.embeddings.parameters())
    assert all(parameter.grad is not None for parameter in towers.entity.layers.parameters())
    learnt = {id(p) for group in task.parameter_groups(SimpleNamespace(learning_rate=1.0)) for p in group["params"]}  # type: ignore[arg-type]
    assert not learnt & {id(parameter) for parameter in towers.entity.embeddings.parameters()}
    bare = EncoderModule(torch.nn.Linear(2, 2), pooling=towers.entity.pooling)
    with pytest.raises(ModelError, match="embedding layer"):
        freeze_embeddings(bare)


def test_impossible_settings_are_refused(make_task: MakeTask, towers: Towers) -> None:
    with pytest.raises(ModelError, match="layers 1 to 3"):
        make_task(Transformation(8, layer=4))
    narrow = copy.deepcopy(towers.entity)
    narrow.transformer.config.embedding_size = 4
    with pytest.raises(ModelError, match="Choose layer 1"):
        make_task(Transformation(8, layer=0), towers=replace(towers, entity=narrow))
    with pytest.raises(ModelError, match="epsilon"):
        Transformation(8, epsilon=-1.0)
    with pytest.raises(ModelError, match="rate"):
        Transformation(8, rate=0.0)
