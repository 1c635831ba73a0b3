from dataclasses import replace

import pytest
import torch

from models.errors import ModelError
from tests.training.losses.batches import inputs, vectors
from training.losses import ProxyLoss, Similarity
from training.losses.base import distances, pair_scores, scores


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("mentions", torch.zeros(0, 3)),
        ("mentions", torch.zeros(5)),
        ("positives", torch.zeros(4, 3)),
        ("candidates", torch.zeros(4, 2)),
        ("candidates", torch.zeros(2, 4, 3)),
        ("eligible", torch.ones(5, 3, dtype=torch.bool)),
        ("eligible", torch.ones(5, 4)),
        ("linked", torch.ones(4, dtype=torch.bool)),
        ("clusters", torch.zeros(2, dtype=torch.long)),
    ],
)
def test_wrong_shapes_and_types_are_named(name: str, tensor: torch.Tensor) -> None:
    with pytest.raises(ModelError, match=name):
        ProxyLoss()(replace(inputs(vectors()), **{name: tensor}))


@pytest.mark.parametrize("similarity", [Similarity.COSINE, Similarity.DOT, Similarity.EUCLIDEAN])
def test_shared_and_own_candidates_score_alike(similarity: Similarity) -> None:
    given = vectors()
    own = given.candidates.expand(5, 4, 3)
    shared = scores(given.mentions, given.candidates, similarity)
    torch.testing.assert_close(shared, scores(given.mentions, own, similarity))
    first = pair_scores(given.mentions, given.candidates[:1].expand(5, 3), similarity)
    torch.testing.assert_close(first, shared[:, 0])


def test_distances_are_not_squared() -> None:
    found = distances(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]]))
    assert found.tolist() == [[5.0]]
