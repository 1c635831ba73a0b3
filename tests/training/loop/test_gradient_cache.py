"""Gradients of a batch piece by piece equal those in one go, dropout and all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from tests.training.toy import ToyTask
from training.loop.gradient_cache import Piece, cached_backward
from training.loop.trainer import TrainSettings, train

CPU = torch.device("cpu")
BATCH = list(range(9))


def gradients(task: ToyTask) -> list[Tensor]:
    return [p.grad.clone() for p in (*task.network.parameters(), task.radius) if p.grad is not None]


def plain(task: ToyTask) -> tuple[float, list[Tensor]]:
    torch.manual_seed(3)
    loss = task.loss(BATCH)
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach()), gradients(task)


def cached(task: ToyTask, chunk: int) -> tuple[float, list[Tensor]]:
    torch.manual_seed(3)
    batch = task.pieces(BATCH, chunk=chunk)
    assert batch is not None
    loss = cached_backward(batch, where=CPU, backward=torch.autograd.backward)
    return float(loss), gradients(task)


@pytest.mark.parametrize("chunk", [1, 2, 4, 100])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_equal_gradients(chunk: int, dropout: float) -> None:
    value, wanted = plain(ToyTask(dropout=dropout, chunk=chunk))
    found_value, found = cached(ToyTask(dropout=dropout), chunk)
    assert found_value == pytest.approx(value, abs=1e-6)
    assert len(found) == len(wanted) == 6
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def test_without_replay_dropout_would_make_other_gradients() -> None:
    """What the test above would miss if dropout had no effect."""
    one, other = (cached(ToyTask(dropout=rate), 2)[1] for rate in (0.0, 0.4))
    assert not torch.allclose(one[0], other[0], atol=1e-4)


def test_draws_go_on_as_after_one_pass() -> None:
    torch.manual_seed(3)
    task = ToyTask()
    batch = task.pieces(BATCH, chunk=3)
    assert batch is not None
    torch.manual_seed(3)
    for piece in batch.pieces:
        piece()
    wanted = torch.get_rng_state()
    torch.manual_seed(3)
    cached_backward(batch, where=CPU, backward=torch.autograd.backward)
    assert torch.equal(torch.get_rng_state(), wanted)


def test_no_more_than_a_chunk_is_encoded_at_once_with_a_graph() -> None:
    task = ToyTask(limit=3)
    _, found = cached(task, 3)
    assert task.largest == 3
    assert all(bool(part.abs().sum() > 0) for part in found)


@dataclass
class LookedUp:
    """One piece learns, the other is a table; the third is not used by the loss."""

    layer: nn.Linear
    table: Tensor

    @property
    def pieces(self) -> Sequence[Piece]:
        return [lambda: self.layer(torch.ones(2, 3)), lambda: self.table, lambda: self.layer(torch.zeros(1, 3))]

    def loss(self, outputs: Sequence[Tensor]) -> Tensor:
        return (outputs[0] @ outputs[1]).square().mean()


def test_frozen_vectors_and_unused_pieces_are_left_alone() -> None:
    torch.manual_seed(0)
    batch = LookedUp(nn.Linear(3, 4), torch.randn(4, 5))
    (batch.layer(torch.ones(2, 3)) @ batch.table).square().mean().backward()
    wanted = [p.grad.clone() for p in batch.layer.parameters() if p.grad is not None]
    batch.layer.zero_grad()
    cached_backward(batch, where=CPU, backward=torch.autograd.backward)
    for parameter, other in zip(batch.layer.parameters(), wanted, strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, other)
    assert batch.table.grad is None


def test_a_run_with_caching_learns_the_same() -> None:
    def weights(chunk: int, caches: bool = True) -> Tensor:
        task = ToyTask(dropout=0.0, caches=caches)
        list(train(task, TrainSettings(epochs=2, learning_rate=0.01, gradient_chunk=chunk, accumulation=2)))
        return task.weights()

    torch.testing.assert_close(weights(3), weights(0), atol=1e-6, rtol=0)
    assert torch.equal(weights(3, caches=False), weights(0))  # a task that cannot takes whole batches
