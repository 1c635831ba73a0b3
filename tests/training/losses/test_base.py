from dataclasses import replace

import pytest
import torch
from torch import Tensor

from models.errors import ModelError
from models.retrievers.scorers import TokenStates
from tests.training.losses.batches import EVERY, SCORE, inputs, row_of, texts, tokens, vectors
from training.losses.base import (
    Loss,
    LossInputs,
    Similarity,
    count,
    distances,
    mean_over,
    pair_scores,
    pick,
    scores,
    take,
)
from training.losses.proxy import ProxyLoss

VECTORS = [similarity for similarity in EVERY if similarity is not Similarity.SOM]


class Recorder(Loss):
    """Keeps what `compute` is given."""

    def compute(self, batch: LossInputs) -> Tensor:
        self.seen = batch
        self.autocast = torch.is_autocast_enabled("cpu")
        return scores(batch.mentions, batch.candidates, Similarity.SOM).sum()


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("mentions", torch.zeros(0, 3)),
        ("mentions", torch.zeros(5)),
        ("positives", torch.zeros(4, 3)),
        ("candidates", torch.zeros(4, 2)),
        ("candidates", torch.zeros(2, 4, 3)),
        ("candidates", torch.zeros(4)),
        ("eligible", torch.ones(5, 3, dtype=torch.bool)),
        ("eligible", torch.ones(5, 4)),
        ("linked", torch.ones(4, dtype=torch.bool)),
        ("linked", torch.ones(5)),
        ("clusters", torch.zeros(2, dtype=torch.long)),
        ("positives", TokenStates(torch.zeros(5, 2, 3), torch.ones(5, 2))),
    ],
)
def test_wrong_shapes_and_types_are_named(name: str, tensor: torch.Tensor) -> None:
    with pytest.raises(ModelError, match=name):
        ProxyLoss()(replace(inputs(vectors()), **{name: tensor}))


@pytest.mark.parametrize(
    ("name", "states", "mask"),
    [
        ("mentions", (5, 3), (5,)),
        ("mentions", (0, 2, 3), (0, 2)),
        ("positives", (4, 2, 3), (4, 2)),
        ("positives", (5, 2, 4), (5, 2)),
        ("positives", (5, 2, 3), (5, 1)),
        ("candidates", (4, 2, 9), (4, 2)),
        ("candidates", (2, 4, 2, 3), (2, 4, 2)),
        ("candidates", (4, 2, 3), (4, 2, 3)),
        ("candidates", (4, 3), (4,)),
    ],
)
def test_wrong_shapes_of_tokens_are_named(name: str, states: tuple[int, ...], mask: tuple[int, ...]) -> None:
    wrong = TokenStates(torch.zeros(states), torch.ones(mask))
    with pytest.raises(ModelError, match=name):
        ProxyLoss(similarity=Similarity.SOM)(replace(inputs(*tokens()), **{name: wrong}))
    with pytest.raises(ModelError, match="must be states of tokens"):
        ProxyLoss(similarity=Similarity.SOM)(replace(inputs(*tokens()), candidates=torch.zeros(4, 3)))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("similarity", EVERY)
def test_scores_are_those_of_plain_arithmetic(similarity: Similarity, shared: bool) -> None:
    given, masks = texts(similarity, shared=shared)
    batch = inputs(given, masks)
    every = scores(batch.mentions, batch.candidates, similarity)
    pairs = pair_scores(batch.mentions, batch.positives, similarity)
    for row in range(5):
        mention, positive, candidates = row_of(given, masks, row)
        assert pairs[row].item() == pytest.approx(SCORE[similarity](mention, positive))
        assert every[row].tolist() == pytest.approx([SCORE[similarity](mention, c) for c in candidates])


@pytest.mark.parametrize("similarity", EVERY)
def test_shared_and_own_candidates_score_alike(similarity: Similarity) -> None:
    batch = inputs(*texts(similarity))
    everything = torch.arange(4).expand(5, 4)
    own = pick(batch.candidates, everything)
    shared = scores(batch.mentions, batch.candidates, similarity)
    torch.testing.assert_close(shared, scores(batch.mentions, own, similarity))
    first = take(batch.candidates, torch.zeros(5, dtype=torch.long))
    torch.testing.assert_close(pair_scores(batch.mentions, first, similarity), shared[:, 0])


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("similarity", [Similarity.DOT, Similarity.SOM])
def test_picked_candidates_are_those_of_their_row(similarity: Similarity, shared: bool) -> None:
    batch = inputs(*texts(similarity, shared=shared))
    index = torch.tensor([[3, 0], [1, 1], [2, 3], [0, 2], [3, 3]])
    every = scores(batch.mentions, batch.candidates, similarity)
    found = scores(batch.mentions, pick(batch.candidates, index), similarity)
    torch.testing.assert_close(found, every.gather(1, index))


def test_take_and_count() -> None:
    batch = inputs(*tokens())
    taken = take(batch.mentions, torch.tensor([4, 0, 4]))
    assert isinstance(taken, TokenStates)
    assert isinstance(batch.mentions, TokenStates)
    assert (count(taken), count(batch.mentions), count(vectors().positives)) == (3, 5, 5)
    assert torch.equal(taken.states[2], batch.mentions.states[4])
    assert torch.equal(taken.mask[1], batch.mentions.mask[0])
    assert torch.equal(take(torch.arange(6).view(3, 2), torch.tensor([2, 0])), torch.tensor([[4, 5], [0, 1]]))


@pytest.mark.parametrize("similarity", VECTORS)
def test_each_similarity_refuses_what_it_cannot_compare(similarity: Similarity) -> None:
    given = inputs(*tokens())
    with pytest.raises(ModelError, match="Only SOM compares states of tokens"):
        ProxyLoss(similarity=similarity)(given)
    with pytest.raises(ModelError, match="got vectors"):
        ProxyLoss(similarity=Similarity.SOM)(inputs(vectors()))


def test_distances_are_squared_only_if_so_wished() -> None:
    point, other = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    assert distances(point, other).tolist() == [[5.0]]
    assert distances(point, other, squared=True).tolist() == [[25.0]]


def test_mean_over_those_kept_ignores_what_is_not() -> None:
    each = torch.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    mean = mean_over(each, torch.tensor([True, False, True]))
    assert mean.item() == 2.0
    assert torch.autograd.grad(mean, each)[0].tolist() == [0.5, 0.0, 0.5]
    assert mean_over(each, torch.zeros(3, dtype=torch.bool)).item() == 0.0


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_losses_reckon_in_float32_at_least_and_without_autocast(kind: torch.dtype) -> None:
    given, masks = tokens()
    loss = Recorder()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = loss(inputs(type(given)(*(values.detach().to(kind) for values in given)), masks))
    wanted = torch.float64 if kind is torch.float64 else torch.float32
    for name in ("mentions", "positives", "candidates"):
        assert getattr(loss.seen, name).states.dtype == wanted
    assert value.dtype == wanted
    assert not loss.autocast
