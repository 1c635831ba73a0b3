"""The projection of frozen entity vectors: the identity first, then what was learnt, in chunks as at once."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from models.errors import ModelError
from training.loop.towers import identity_projection, project

CPU = torch.device("cpu")


def vectors(count: int = 7, width: int = 5) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, width)).astype(np.float32)


def test_before_training_nothing_changes_and_nothing_is_drawn() -> None:
    before = torch.get_rng_state()
    projection = identity_projection(5, device=CPU)
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(project(projection, vectors()), vectors())
    assert [name for name, _ in projection.named_parameters()] == ["weight"]
    assert projection.weight.requires_grad


@pytest.mark.parametrize("chunk", [1, 3, 100])
def test_chunks_give_what_a_product_gives(chunk: int) -> None:
    projection = identity_projection(5, device=CPU)
    with torch.no_grad():
        projection.weight.copy_(torch.arange(25.0).reshape(5, 5) / 10)
    expected = vectors() @ projection.weight.detach().numpy().T
    np.testing.assert_allclose(project(projection, vectors(), chunk=chunk), expected, rtol=1e-5, atol=1e-6)
    assert project(projection, vectors(0)).shape == (0, 5)


def test_vectors_of_another_encoder_are_refused() -> None:
    with pytest.raises(ModelError, match="another encoder"):
        project(identity_projection(5, device=CPU), vectors(width=4))
    with pytest.raises(ModelError, match="at least 1"):
        identity_projection(0, device=CPU)
