"""Memory that runs out: smaller parts, the same effective batch, the same draws."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from models.errors import ModelError
from tests.training.toy import ToyTask, finish
from training.data.progress import Event
from training.loop.checkpoints import Checkpoints
from training.loop.task import Batch, Task
from training.loop.trainer import TrainResult, TrainSettings, train

SETTINGS = TrainSettings(epochs=2, learning_rate=0.02, seed=1)


def run(task: Task, settings: TrainSettings = SETTINGS, **options: Any) -> tuple[list[Event], TrainResult]:
    return finish(train(task, settings, **options))


class Pointwise(Task):
    """A loss that is a mean over examples with weights drawn by numpy: parts give exactly what the whole gives."""

    def __init__(self, *, limit: int = 99, error: str = "CUDA out of memory.", fails_from: int = 0) -> None:
        torch.manual_seed(2)
        self.network = nn.Linear(3, 1)
        self.limit, self.error, self.fails_from, self.calls = limit, error, fails_from, 0
        self.random = np.random.default_rng(4)

    def modules(self) -> Sequence[nn.Module]:
        return [self.network]

    def batches(self, epoch: int) -> Sequence[Batch]:
        return [list(range(start, start + 6)) for start in range(0, 18, 6)]

    def loss(self, batch: Batch) -> Tensor:
        self.calls += 1
        weights = torch.from_numpy(self.random.random(len(batch))).float()
        value = (self.network(torch.eye(3)[[n % 3 for n in batch]]).squeeze(1) - weights).square().mean()
        if len(batch) > self.limit and self.calls > self.fails_from:
            raise RuntimeError(self.error)
        return value

    @property
    def weights(self) -> Tensor:
        return torch.cat([p.detach().flatten() for p in self.network.parameters()])


class OneByOne(ToyTask):
    """Each example is a batch of its own."""

    def batches(self, epoch: int) -> Sequence[Batch]:
        return [[number] for batch in super().batches(epoch) for number in batch]


@pytest.mark.parametrize(("limit", "micro"), [(99, 0), (5, 3), (2, 1)])
@pytest.mark.parametrize("accumulation", [1, 2])
def test_the_effective_batch_stays(limit: int, micro: int, accumulation: int) -> None:
    settings = replace(SETTINGS, accumulation=accumulation)
    whole, parts = Pointwise(), Pointwise(limit=limit, fails_from=1)
    _, wanted = run(whole, settings)
    events, result = run(parts, settings)
    torch.testing.assert_close(parts.weights, whole.weights, atol=1e-6, rtol=0)
    assert result.losses == pytest.approx(wanted.losses, abs=1e-6)
    assert result.micro_batch == micro
    said = [event.text for event in events if event.is_note]
    assert list(result.notes) == said
    assert len(said) == {0: 0, 3: 1, 1: 2}[micro]
    assert all("Out of memory" in text and "effective batch size the same" in text for text in said)


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_task_whose_examples_stand_apart_is_taken_in_parts(at_once: int) -> None:
    """Parts fit where a whole batch would not, nothing is said of it, and the weights are the same."""
    whole, parts = Pointwise(), Pointwise(limit=3)
    parts.at_once = at_once
    _, wanted = run(whole)
    _, result = run(parts)
    torch.testing.assert_close(parts.weights, whole.weights, atol=1e-6, rtol=0)
    assert result.losses == pytest.approx(wanted.losses, abs=1e-6)
    assert result.micro_batch == at_once
    assert result.notes == ()


def test_memory_that_runs_out_halves_the_parts_too() -> None:
    task = Pointwise(limit=1)
    task.at_once = 3
    _, result = run(task)
    assert result.micro_batch == 1
    assert len(result.notes) == 1


def test_the_manifest_can_hold_it() -> None:
    _, result = run(Pointwise(limit=3))
    assert json.loads(json.dumps({"micro_batch": result.micro_batch, "notes": result.notes}))["micro_batch"] == 3


def test_at_one_example_it_is_an_error_in_words() -> None:
    with pytest.raises(ModelError, match=r"not enough memory to train even on one example.*Choose fewer tokens"):
        run(Pointwise(limit=0))


def test_other_errors_pass() -> None:
    with pytest.raises(RuntimeError, match="shapes"):
        run(Pointwise(limit=0, error="mat1 and mat2 shapes cannot be multiplied"))


def test_a_step_is_tried_again_with_the_same_draws() -> None:
    """With dropout: a run that fails in its first step equals one that took small parts from the start."""
    task = ToyTask(limit=3)
    _, result = run(task)
    assert result.micro_batch == 1  # a batch of 4, with its negatives 6; then 2 and 4; then 1 and 3
    again = ToyTask(limit=3)
    run(again)
    assert torch.equal(task.weights(), again.weights())
    small = OneByOne()
    run(small, replace(SETTINGS, accumulation=4))
    torch.testing.assert_close(small.weights(), task.weights(), atol=1e-6, rtol=0)


def test_memory_that_runs_out_while_measuring() -> None:
    clock = iter(range(10_000))
    _, result = run(Pointwise(limit=3), replace(SETTINGS, seconds=9_000.0), clock=lambda: float(next(clock)))
    assert result.micro_batch == 3
    assert len(result.notes) == 1


def test_a_resumed_run_starts_with_the_small_parts(tmp_path: Path) -> None:
    task = ToyTask(limit=4)
    work = train(task, SETTINGS, checkpoints=Checkpoints(tmp_path, identity={}, every=0))
    while next(work).data.get("checkpoint") != 3:
        pass
    work.close()
    whole, other = ToyTask(limit=4), ToyTask(limit=4)
    run(whole)
    _, result = run(other, checkpoints=Checkpoints(tmp_path, identity={}, every=0))
    assert torch.equal(whole.weights(), other.weights())
    assert result.micro_batch == 2
    assert len([text for text in result.notes if "Out of memory" in text]) == 1


def test_an_optimiser_that_does_not_fit_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("torch.optim.AdamW.step", step)
    with pytest.raises(ModelError, match=r"not for the optimiser's state.*frozen"):
        run(Pointwise())


def test_batches_are_cut_evenly() -> None:
    task = Pointwise()
    assert task.split(list(range(7)), 3) == [[0, 1], [2, 3], [4, 5, 6]]
    assert task.split([5], 4) == [[5]]
