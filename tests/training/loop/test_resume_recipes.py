"""Every kind of recipe, killed by the system between two steps, ends with the weights of a run that was not."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import MakeSpec
from tests.training.job.test_names_learning import ODD
from training.data.spec import TrainingSpec
from training.job import part_learning as learning
from training.job.job import run_training
from training.loop.checkpoints import Checkpoints


def weights(staging: str) -> dict[str, str]:
    """The hashes of everything that was trained."""
    files = sorted(Path(staging).rglob("*.safetensors"))
    return {str(path.relative_to(staging)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def learnt(spec: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The weights and the notes."""
    notes = [event.text for event in run_training(TrainingSpec.from_json(spec))]
    return weights(spec["staging"]), notes


def die_after(step: int, spec: str) -> None:
    """A process trains and kills itself once the checkpoint of `step` is written; nothing is tidied up."""
    learning.Checkpoints = partial(Checkpoints, every=0)  # type: ignore[assignment,misc]
    for event in run_training(TrainingSpec.from_json(json.loads(spec))):
        if event.data.get("checkpoint") == step:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_after(step: int, spec: dict[str, Any]) -> int:
    """The exit status of a process that does so."""
    code = f"import sys; from {__name__} import die_after; die_after({step}, sys.argv[1])"
    root = Path(__file__).resolve().parents[3]
    return subprocess.run([sys.executable, "-c", code, json.dumps(spec)], cwd=root, check=False).returncode


@pytest.mark.soak
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize(
    ("recipe", "parameters"),
    [
        ("pel-pb-fgsm", {"entity_tower": "train"}),
        ("t-biencoder-dual", {}),
        ("prototype-srn", {}),
        ("cross-encoder", {"candidates": 4}),
        ("names-full", {"epochs": 4, "batch_size": 8}),
    ],
)
def test_equal_weights(
    make_spec: MakeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str, parameters: dict[str, Any]
) -> None:
    monkeypatch.setattr("training.job.part_learning.Checkpoints", partial(Checkpoints, every=0))
    lines = ODD[:10] + ODD[-3:] if recipe.startswith("names") else None
    whole, other, again = (make_spec(recipe, lines=lines, parameters={"epochs": 2} | parameters) for _ in range(3))
    if lines:  # without the parameters of texts with their context
        whole, other, again = (spec | {"parameters": parameters} for spec in (whole, other, again))
    wanted, _ = learnt(whole)
    work = str(tmp_path / "work")
    killed = other | {"work": work}
    assert killed_after(3, killed) == -signal.SIGKILL
    assert weights(killed["staging"]) != wanted
    found, notes = learnt(again | {"work": work, "snapshot": other["snapshot"]})
    assert "Training resumes from a checkpoint after step 3" in " ".join(notes)
    assert found == wanted
    assert wanted
