"""Trainings and indexes with the program's own files and a stub in place of the child process."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from curator import project
from curator.domain.jobs import JobOutcome, JobState
from tests.curator.services.fakes import FakeJobs
from tests.durability.folders import once, with_linkers, write_linker
from tests.durability.world import Place, Promises, Refused, curator, open_project

RECIPE = "prototype"
CHECKPOINT = "000001"
LINKS = 25
"""Of ten documents; the weights are fitted from 200 on."""
INTERRUPT = "interrupt"
"""In the settings' folder: a training ends as if its process had been killed."""


class StubJobs(FakeJobs):
    """A job writes a checkpoint and a sealed bundle, every file synced, as the real one does."""

    def work(self, kind: str, spec: Mapping[str, Any]) -> JobOutcome:
        try:
            return self._work(kind, spec)
        except OSError as error:  # a real job ends with a sentence
            return JobOutcome(JobState.FAILED, f"The job failed: {error.strerror}. Check the disk.")

    def _work(self, kind: str, spec: Mapping[str, Any]) -> JobOutcome:
        staging = Path(spec["staging"])
        if kind == "train":
            checkpoints = Path(spec["work"]) / "checkpoints"
            checkpoints.mkdir(exist_ok=True)
            (checkpoints / f"{CHECKPOINT}.safetensors").write_bytes(bytes(5000))
            (checkpoints / f"{CHECKPOINT}.json").write_text(json.dumps({"hash": "", "body": {}}), encoding="utf-8")
            if (Path(os.environ["CURATOR_CONFIG_DIR"]) / INTERRUPT).exists():
                return JobOutcome(JobState.CRASHED, "The training was killed.", {"signal": 9})
        there = [path for path in staging.parent.iterdir() if path.name.startswith("linker-")]
        write_linker(staging, kb_hash="k", name=f"linker-{len(there) + 1}", stages=spec.get("stages") or ["names"])
        return JobOutcome(JobState.DONE, "built", {"verdict": "promote"})


def use_stubs() -> None:
    """All projects that are opened from now on start no processes."""
    project.JobRunner = lambda *_: StubJobs()  # type: ignore[assignment,misc]


@once
def trainable(place: Place) -> None:
    """A linker in use, and decisions in train and validation documents."""
    with_linkers(place)
    curator("import", "--gold", "--hold-out", 10, place.project, place.inputs / "many.pubtator")


@once
def interrupted(place: Place) -> None:
    """A training that can be resumed."""
    trainable(place)
    flag = place.root / "config" / INTERRUPT
    flag.parent.mkdir(exist_ok=True)
    flag.touch()
    with suppress(Refused):
        curator("train", place.project, "--recipe", RECIPE, "--max-minutes", 5)
    assert list((place.project / "bundles" / ".training").iterdir()), "nothing to resume"
    shutil.rmtree(flag.parent)


def training(place: Place, promises: Promises) -> None:
    curator("train", place.project, "--recipe", RECIPE, "--max-minutes", 5)
    promises.saved(1)


def resuming(place: Place, promises: Promises) -> None:
    curator("train", place.project, "--resume")
    promises.saved(1)


@once
def calibratable(place: Place) -> None:
    """A linker in use, and as many links as its weights need."""
    with_linkers(place)
    many = place.inputs / "calibration.pubtator"
    lines = (place.inputs / "many.pubtator").read_text(encoding="utf-8").strip().split("\n\n")[:10]
    entity = lines[0].splitlines()[2].split("\t")[5]
    text = "asthma " * LINKS
    mentions = "".join(f"{{n}}\t{at * 7}\t{at * 7 + 6}\tasthma\tDisease\t{entity}\n" for at in range(1, LINKS))
    records = (f"{n}|t|asthma\n{n}|a|{text}\n{mentions.replace('{n}', str(n))}" for n in range(10))
    many.write_text("\n".join(records) + "\n", encoding="utf-8")
    curator("import", "--gold", "--hold-out", 2, place.project, many)


def calibrating(place: Place, promises: Promises) -> None:
    _calibrate(place)
    promises.saved(1)


def _calibrate(place: Place) -> None:
    project = open_project(place)
    ended: list[JobOutcome] = []
    project.retraining.calibrate(on_progress=_ignore, on_end=ended.append)
    if ended[-1].state is not JobState.DONE:
        raise Refused(ended[-1].message)
    project.disk.settle()
    project.close()


def calibrate_after_all(place: Place) -> None:
    """As the next start of the window does, unless the new linker is there."""
    _after_all(place, _calibrate)


def train_after_all(place: Place) -> None:
    _after_all(place, lambda place: curator("train", place.project, "--recipe", RECIPE, "--max-minutes", 5))


def _after_all(place: Place, work: Callable[[Place], object]) -> None:
    """Resume what was interrupted, or do the work again, unless the new linker is there; then discard the rest."""
    project = open_project(place)
    there = {one.id: one.active for one in project.retraining.bundles()}
    waiting = project.retraining.interrupted()
    for one in waiting if "linker-3" in there else ():
        project.retraining.discard_interrupted(one.id)
    if "linker-3" in there and not there["linker-3"]:
        project.retraining.promote("linker-3", reason="better")
    project.close()
    if "linker-3" not in there:
        _resume(place) if waiting else work(place)


def _resume(place: Place) -> None:
    curator("train", place.project, "--resume")


def indexing(place: Place, promises: Promises) -> None:
    project = open_project(place)
    ended: list[JobOutcome] = []
    project.retraining.build_index(again=True, on_progress=_ignore, on_end=ended.append)
    if ended[-1].state is not JobState.DONE:
        raise Refused(ended[-1].message)
    project.disk.settle()
    promises.saved(1)
    project.close()


def _ignore(_: object) -> None:
    return
