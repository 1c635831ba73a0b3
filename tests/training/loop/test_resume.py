"""A run that was interrupted ends with the very weights of one that was not."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.training.toy import ToyTask, finish
from training.loop.checkpoints import Checkpoints
from training.loop.trainer import TrainResult, TrainSettings, train

SETTINGS = TrainSettings(epochs=3, learning_rate=0.02, accumulation=2, seed=5)
STEPS = 9  # 5 batches an epoch make 3 steps


def points(folder: Path, *, every: float = 0.0, recipe: str = "toy") -> Checkpoints:
    return Checkpoints(folder, identity={"recipe": recipe, "seed": 5}, every=every)


def run(task: ToyTask, settings: TrainSettings = SETTINGS, checkpoints: Checkpoints | None = None) -> TrainResult:
    return finish(train(task, settings, checkpoints=checkpoints))[1]


def interrupt(task: ToyTask, checkpoints: Checkpoints, *, after: int, settings: TrainSettings = SETTINGS) -> None:
    """Close the generator once the checkpoint of step `after` is written, and leave all generators in disorder."""
    work = train(task, settings, checkpoints=checkpoints)
    while next(work).data.get("checkpoint") != after:
        pass
    work.close()
    torch.manual_seed(99)
    np.random.seed(99)
    random.seed(99)


class Caught(ToyTask):
    """Waits amid a step to be killed."""

    caught = False

    def loss(self, batch: list[int]) -> torch.Tensor:  # type: ignore[override]
        found = super().loss(batch)
        if self.caught:
            sys.stdout.write("amid a step\n")
            sys.stdout.flush()
            signal.pause()
        return found


def live(folder: Path, after: int, threads: int) -> None:
    """What the process does that is killed: train until amid the step that follows the checkpoint of step `after`."""
    torch.set_num_threads(threads)  # a run with other threads would be another run
    task = Caught()
    for event in train(task, SETTINGS, checkpoints=points(folder)):
        task.caught = event.data.get("checkpoint", 0) == after or task.caught


@pytest.fixture(scope="module")
def whole() -> tuple[torch.Tensor, TrainResult]:
    task = ToyTask()
    result = run(task)
    return task.weights(), result


def test_checkpoints_change_nothing(whole: tuple[torch.Tensor, TrainResult], tmp_path: Path) -> None:
    task = ToyTask()
    run(task, checkpoints=points(tmp_path))
    assert torch.equal(task.weights(), whole[0])


@pytest.mark.parametrize("after", [1, 3, 5, 8, STEPS])  # amid epochs and at their ends
def test_equal_weights_wherever_it_was_interrupted(
    whole: tuple[torch.Tensor, TrainResult], tmp_path: Path, after: int
) -> None:
    interrupt(ToyTask(), points(tmp_path), after=after)
    task = ToyTask()
    events, result = finish(train(task, SETTINGS, checkpoints=points(tmp_path)))
    assert torch.equal(task.weights(), whole[0])
    assert result.losses == whole[1].losses
    assert (result.steps, result.epochs, result.cut_short) == (STEPS, 3.0, False)
    assert sum("loss" in event.data for event in events) < 15
    assert f"Training resumes from a checkpoint after step {after} of 9." in [event.text for event in events]


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("after", [1, 4, 8])
def test_equal_weights_after_sigkill(whole: tuple[torch.Tensor, TrainResult], tmp_path: Path, after: int) -> None:
    run_it = f"live(Path({str(tmp_path)!r}), {after}, {torch.get_num_threads()})"
    code = f"from pathlib import Path; from {__name__} import live; {run_it}"
    root = Path(__file__).resolve().parents[3]
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "amid a step\n"
        child.kill()
    assert child.returncode == -signal.SIGKILL
    task = Caught()
    events, result = finish(train(task, SETTINGS, checkpoints=points(tmp_path)))
    assert torch.equal(task.weights(), whole[0])
    assert result.losses == whole[1].losses
    went_on = [event.text for event in events if event.text.startswith("Training resumes from a checkpoint")]
    assert went_on == [f"Training resumes from a checkpoint after step {after} of 9."]


def test_equal_weights_after_two_interruptions_amid_the_intervals(
    whole: tuple[torch.Tensor, TrainResult], tmp_path: Path
) -> None:
    for steps in (4, 3):  # steps after the last checkpoint are lost and learnt again
        work = train(ToyTask(), SETTINGS, checkpoints=points(tmp_path, every=1e9))
        for _ in range(2 * steps):
            next(work)
        work.close()
    task = ToyTask()
    run(task, checkpoints=points(tmp_path, every=1e9))
    assert torch.equal(task.weights(), whole[0])


def test_generators_of_libraries_go_on_too(tmp_path: Path) -> None:
    class Drawing(ToyTask):
        def loss(self, batch: list[int]) -> torch.Tensor:  # type: ignore[override]
            return super().loss(batch) * (1 + random.random() + float(np.random.rand()))

    one, other = Drawing(), Drawing()
    run(one)
    interrupt(Drawing(), points(tmp_path), after=5)
    run(other, checkpoints=points(tmp_path))
    assert torch.equal(one.weights(), other.weights())


def test_a_damaged_checkpoint_gives_way_to_the_one_before(
    whole: tuple[torch.Tensor, TrainResult], tmp_path: Path
) -> None:
    interrupt(ToyTask(), points(tmp_path), after=6)
    newest = sorted(tmp_path.glob("*.safetensors"))[-1]
    content = bytearray(newest.read_bytes())
    content[-3] ^= 1
    newest.write_bytes(content)
    task = ToyTask()
    events, result = finish(train(task, SETTINGS, checkpoints=points(tmp_path)))
    said = " ".join(event.text for event in events if event.is_note)
    assert "Checkpoint 6 is damaged and was skipped." in said
    assert "after step 5 of 9" in said
    assert torch.equal(task.weights(), whole[0])
    assert result.notes[0].startswith("Checkpoint 6 is damaged")


@pytest.mark.parametrize(
    ("settings", "recipe", "word"),
    [(SETTINGS, "other", "recipe"), (replace(SETTINGS, learning_rate=0.5), "toy", "trainer")],
)
def test_a_checkpoint_of_another_run_is_ignored(
    tmp_path: Path, settings: TrainSettings, recipe: str, word: str
) -> None:
    interrupt(ToyTask(), points(tmp_path), after=6)
    one, other = ToyTask(), ToyTask()
    result = run(one, settings, points(tmp_path, recipe=recipe))
    run(other, settings)
    assert torch.equal(one.weights(), other.weights())
    assert f"another run ({word})" in result.notes[0]


class Ticking(ToyTask):
    """Each batch takes `cost` seconds of a counted clock."""

    now, cost = 0.0, 1.0

    def clock(self) -> float:
        return self.now

    def loss(self, batch: list[int]) -> torch.Tensor:  # type: ignore[override]
        self.now += self.cost
        return super().loss(batch)


def test_the_plan_is_restored_and_not_measured_anew(tmp_path: Path) -> None:
    settings = replace(SETTINGS, seconds=3 + 10 + 4.0)  # measuring, two of three epochs, and a rest
    first = Ticking()
    work = train(first, settings, checkpoints=points(tmp_path), clock=first.clock)
    while next(work).data.get("checkpoint") != 4:
        pass
    work.close()
    task = Ticking()
    other = replace(settings, seconds=10_000.0)
    _, result = finish(train(task, other, checkpoints=points(tmp_path), clock=task.clock))
    assert (result.planned_steps, result.epochs, result.cut_short) == (6, 2.0, False)
    assert task.now == 3.0  # only what was left, nothing for measuring
    assert result.seconds == 13.0


def test_the_deadline_counts_what_was_spent_before(tmp_path: Path) -> None:
    settings = replace(SETTINGS, seconds=17.0)
    first = Ticking()
    work = train(first, settings, checkpoints=points(tmp_path), clock=first.clock)
    while next(work).data.get("checkpoint") != 1:
        pass
    work.close()
    slow = Ticking()
    steps = train(slow, settings, checkpoints=points(tmp_path), clock=slow.clock)
    slow.cost = 6.0
    events, result = finish(steps)
    assert result.cut_short
    assert 0 < sum("loss" in event.data for event in events) < 8


def test_what_is_on_disk_is_no_pickle(tmp_path: Path) -> None:
    run(ToyTask(), checkpoints=points(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "000008.json",
        "000008.safetensors",
        "000009.json",
        "000009.safetensors",
    ]


def test_a_full_disk_ends_no_training(
    whole: tuple[torch.Tensor, TrainResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors import SafetensorError

    from training.loop import checkpoints as module

    written: list[Path] = []

    def full(tensors: object, path: Path) -> None:
        written.append(path)
        if len(written) > 2:
            path.write_bytes(b"half")
            raise SafetensorError("No space left on device (os error 28)")
        module_save(tensors, path)

    module_save = module.save_file
    monkeypatch.setattr(module, "save_file", full)
    task = ToyTask()
    events, result = finish(train(task, SETTINGS, checkpoints=points(tmp_path)))
    assert torch.equal(task.weights(), whole[0])
    assert [note for note in result.notes if "No checkpoint could be written" in note and "No space left" in note]
    assert sum(event.is_note for event in events) == 1
    assert {path.name for path in tmp_path.iterdir()} == {
        f"00000{number}.{ending}" for number in (1, 2) for ending in ("json", "safetensors")
    }
