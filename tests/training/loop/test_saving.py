"""When a running training is saved."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from training.loop.checkpoints import Checkpoints
from training.loop.monitoring import Timer
from training.loop.saving import MOST_LOST, Saver


@pytest.mark.parametrize(
    ("step", "saved"),
    [
        (10.0, [90.0, 180.0, 270.0]),
        (50.0, [100.0, 200.0, 300.0]),
        (70.0, [70.0, 140.0, 210.0]),  # after two it would be 140 s
        (110.0, [110.0, 220.0, 330.0]),
        (200.0, [200.0, 400.0, 600.0]),  # no step is saved before it is done
    ],
)
def test_no_more_than_two_minutes_are_unsaved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: float, saved: list[float]
) -> None:
    now = [1000.0]
    timer = Timer(lambda: now[0], allowed=None)
    saver = Saver(Checkpoints(tmp_path, identity={}))
    monkeypatch.setattr("training.loop.saving.snapshot", lambda loop: loop)
    monkeypatch.setattr(saver.checkpoints, "save", lambda _: None)
    loop = SimpleNamespace(
        timer=timer,
        optimising=SimpleNamespace(step=1),
        position=SimpleNamespace(done=1),
        plan=SimpleNamespace(batches=9),
    )
    times: list[float] = []
    while len(times) < len(saved):
        now[0] += step
        if saver.is_due(timer):
            list(saver.save(cast("Any", loop)))
            times.append(now[0] - 1000.0)
    assert times == saved
    gaps = [after - before for before, after in zip([0.0, *times], times, strict=False)]
    assert max(gaps) <= max(MOST_LOST, step)
