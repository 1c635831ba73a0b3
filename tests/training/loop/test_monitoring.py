"""Live figures, validation that disturbs nothing, TensorBoard files."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from models.errors import ModelError
from tests.training.toy import ToyTask, finish
from training.data.progress import Event
from training.loop.monitoring import Meter
from training.loop.tensorboard import scalar_log
from training.loop.trainer import TrainSettings, train

SETTINGS = TrainSettings(epochs=2, learning_rate=0.02, seed=1)


class Ticking(ToyTask):
    """Each batch takes two seconds of a counted clock."""

    now = 0.0

    def clock(self) -> float:
        return self.now

    def loss(self, batch: list[int]) -> torch.Tensor:  # type: ignore[override]
        self.now += 2.0
        return super().loss(batch)


def figures(task: ToyTask, settings: TrainSettings = SETTINGS, **options: Any) -> list[Mapping[str, Any]]:
    return [event.data for event in train(task, settings, **options) if isinstance(event, Event) and event.data]


def test_pace_and_time_left() -> None:
    task = Ticking()
    seen = figures(task, replace(SETTINGS, epoch_overhead=7.0), clock=task.clock)
    assert [data["seconds"] for data in seen] == [2.0 * n for n in range(1, 11)]
    assert {data["throughput"] for data in seen} == {2.0}  # 4 examples in 2 s
    assert seen[0]["seconds_left"] == 9 * 2.0 + 7.0
    assert seen[-1]["seconds_left"] == 0.0


def test_time_left_is_at_most_what_is_allowed() -> None:
    meter = Meter(epoch_overhead=0.0)
    assert meter.figures(batches_left=3, epochs_left=0, most=None) == {}
    meter.add(4.0, batches=2, examples=6)
    assert meter.figures(batches_left=3, epochs_left=0, most=None) == {"throughput": 1.5, "seconds_left": 6.0}
    assert meter.figures(batches_left=3, epochs_left=0, most=5.0)["seconds_left"] == 5.0
    assert meter.figures(batches_left=3, epochs_left=0, most=-1.0)["seconds_left"] == 0.0


@pytest.mark.parametrize(("every", "steps"), [(0, [5, 10]), (4, [4, 8]), (20, [])])
def test_validation_disturbs_nothing(every: int, steps: list[int]) -> None:
    modes = []

    def validate(task: ToyTask) -> dict[str, float]:
        modes.append((task.network.training, torch.is_grad_enabled()))
        torch.randn(3), random.random(), np.random.rand()
        return {"recall_at_1": 0.5, "recall_at_64": 1, "nil_aupr": 0.25}

    watched, alone = ToyTask(), ToyTask()
    seen = figures(watched, replace(SETTINGS, validate_every=every), validate=lambda: validate(watched))
    figures(alone, replace(SETTINGS, validate_every=every))
    assert torch.equal(watched.weights(), alone.weights())
    found = [data for data in seen if "recall_at_1" in data]
    assert [data["step"] for data in found] == steps
    assert all(data["recall_at_64"] == 1.0 and data["nil_aupr"] == 0.25 and "loss" not in data for data in found)
    assert set(modes) <= {(False, False)}


def test_the_result_holds_the_validations() -> None:
    task = ToyTask()
    _, result = finish(train(task, SETTINGS, validate=lambda: {"recall_at_1": 0.5}))
    assert result.validation == ({"step": 5.0, "recall_at_1": 0.5}, {"step": 10.0, "recall_at_1": 0.5})


def test_tensorboard_files_hold_the_same_figures(tmp_path: Path) -> None:
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    seen = figures(ToyTask(), validate=lambda: {"recall_at_1": 0.5}, tensorboard=tmp_path / "board")
    read = event_accumulator.EventAccumulator(str(tmp_path / "board"))
    read.Reload()
    for name in ("loss", "learning_rate", "recall_at_1"):
        wanted = [(data["step"], data[name]) for data in seen if name in data]
        found = [(scalar.step, scalar.value) for scalar in read.Scalars(name)]
        assert [step for step, _ in found] == [step for step, _ in wanted]
        assert [value for _, value in found] == pytest.approx([value for _, value in wanted])


def test_tensorboard_is_imported_only_when_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch.utils.tensorboard", None)
    with scalar_log(None) as log:
        log(1, {"loss": 1.0})
    with pytest.raises(ModelError, match="pip install tensorboard"), scalar_log(tmp_path):
        pass


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot be written"), scalar_log(tmp_path / "file" / "board"):
        pass
