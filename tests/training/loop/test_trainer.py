from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from models.errors import ModelError
from training.data.progress import Event, Phase
from training.loop.loop import Plan
from training.loop.trainer import Task, TrainResult, TrainSettings, plan_batches, train


class Line(Task):
    """Fits y = 2x with one weight and one dropout layer; each batch costs `cost` ticks of a counted clock."""

    def __init__(self, *, cost: float = 0.0, broken_at: int | None = None, count: int = 4) -> None:
        torch.manual_seed(0)
        self.network = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.1), nn.Linear(8, 1))
        self.now, self.cost, self.broken_at, self.calls, self.count = 0.0, cost, broken_at, 0, count
        self.epochs: list[int] = []

    def clock(self) -> float:
        return self.now

    def modules(self) -> Sequence[nn.Module]:
        return [self.network]

    def before_epoch(self, epoch: int) -> Iterator[Event]:
        self.epochs.append(epoch)
        yield Event(Phase.PREPARE, text="mined")

    def batches(self, epoch: int) -> Sequence[Sequence[int]]:
        return [[number, number + 1] for number in range(self.count)]

    def loss(self, batch: Sequence[int]) -> Tensor:
        self.now += self.cost
        self.calls += 1
        x = torch.tensor(batch, dtype=torch.float32).unsqueeze(1) / 4
        scale = float("nan") if self.calls == self.broken_at else 1.0
        return (self.network(x) - 2 * x).square().mean() * scale


def run(task: Line, settings: TrainSettings, *, then_cost: float | None = None) -> tuple[list[Event], TrainResult]:
    """All events and the result; `then_cost` is what a batch costs after the first step."""
    events, work = [], train(task, settings, clock=task.clock)
    while True:
        try:
            events.append(next(work))
        except StopIteration as end:
            return events, end.value
        if events[-1].phase is Phase.TRAIN and then_cost is not None:
            task.cost = then_cost


def weights(task: Line) -> Tensor:
    return torch.cat([p.detach().flatten() for p in task.network.parameters()])


def test_learns_and_reports_every_step() -> None:
    task = Line()
    events, result = run(task, TrainSettings(epochs=60, learning_rate=0.03, weight_decay=0.0))
    steps = [event for event in events if event.phase is Phase.TRAIN]
    assert len(steps) == 240
    assert steps[-1].fraction == 1.0
    assert result.losses[-1] < 0.1 * result.losses[0]
    assert (result.steps, result.epochs, result.cut_short) == (240, 60.0, False)
    assert task.epochs == list(range(60))
    assert not task.network.training


def test_rate_warms_up_and_decays_linearly() -> None:
    events, _ = run(Line(), TrainSettings(epochs=5, learning_rate=1.0, warmup=0.25))
    rates = [event.data["learning_rate"] for event in events if event.phase is Phase.TRAIN]
    assert rates[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert rates[5:] == pytest.approx([(20 - step) / 15 for step in range(5, 20)])


def test_equal_seeds_give_equal_weights_and_others_do_not() -> None:
    def trained(seed: int) -> Tensor:
        task = Line()
        run(task, TrainSettings(epochs=3, learning_rate=0.01, seed=seed))
        return weights(task)

    assert torch.equal(trained(1), trained(1))
    assert not torch.equal(trained(1), trained(2))


def test_a_measured_run_equals_an_unmeasured_one() -> None:
    free, bounded = Line(), Line(cost=1.0)
    run(free, TrainSettings(epochs=3, learning_rate=0.01))
    _, result = run(bounded, TrainSettings(epochs=3, learning_rate=0.01, seconds=1000.0))
    assert not result.cut_short
    assert torch.equal(weights(free), weights(bounded))


def test_accumulation_averages_batches() -> None:
    task = Line()
    before = weights(task)
    _, result = run(task, TrainSettings(epochs=1, learning_rate=0.01, accumulation=3))
    assert result.steps == result.planned_steps == 2
    assert not torch.equal(before, weights(task))


def test_budget_cuts_at_whole_epochs() -> None:
    task = Line(cost=1.0)
    _, result = run(task, TrainSettings(epochs=9, learning_rate=0.01, seconds=3 + 2 * 4 + 2.5))
    assert (result.epochs, result.cut_short, result.planned_steps) == (2.0, False, 8)
    assert task.now <= 14


def test_the_clock_ends_a_run_that_became_slow() -> None:
    task = Line(cost=1.0)
    _, result = run(task, TrainSettings(epochs=9, learning_rate=0.01, seconds=60.0), then_cost=9.0)
    assert result.cut_short
    assert result.steps < result.planned_steps
    assert task.now <= 60 + 9


def test_plan() -> None:
    settings = TrainSettings(epochs=3, learning_rate=1.0, epoch_overhead=5.0)
    assert plan_batches(10, settings, seconds_per_batch=1.0, seconds=None) == 30
    assert plan_batches(10, settings, seconds_per_batch=1.0, seconds=45.0) == 30
    assert plan_batches(10, settings, seconds_per_batch=1.0, seconds=44.0) == 20
    assert plan_batches(10, settings, seconds_per_batch=1.0, seconds=12.0) == 7
    few = replace(settings, max_steps=12)
    assert plan_batches(10, few, seconds_per_batch=1.0, seconds=None) == 12
    assert plan_batches(10, few, seconds_per_batch=1.0, seconds=44.0) == 12
    assert plan_batches(10, few, seconds_per_batch=1.0, seconds=12.0) == 7
    by_three = replace(settings, max_steps=6, accumulation=3)
    planned = plan_batches(10, by_three, seconds_per_batch=1.0, seconds=None)
    assert (planned, Plan(planned, 10, 3).steps) == (16, 6), "the last step of an epoch takes the rest"
    with pytest.raises(ModelError, match="too short"):
        plan_batches(10, settings, seconds_per_batch=1.0, seconds=5.5)


def test_a_loss_that_is_no_number_is_explained() -> None:
    with pytest.raises(ModelError, match=r"no longer a number .*learning rate below 0\.01"):
        run(Line(broken_at=3), TrainSettings(epochs=2, learning_rate=0.01))


def test_nothing_to_train_on() -> None:
    with pytest.raises(ModelError, match="nothing to train on"):
        run(Line(count=0), TrainSettings(epochs=1, learning_rate=0.01))
