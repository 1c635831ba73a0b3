"""Every kind of recipe, killed between two steps, ends with the weights of a run that was not."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import MakeSpec
from training.checkpoints import Checkpoints
from training.job import run_training
from training.spec import TrainingSpec


def weights(staging: str) -> dict[str, str]:
    """The hashes of everything that was trained."""
    files = sorted(Path(staging).rglob("*.safetensors"))
    return {str(path.relative_to(staging)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def learnt(spec: dict[str, Any], *, stop_after: int | None = None) -> tuple[dict[str, str], list[str]]:
    """The weights and the notes; with `stop_after` the job ends once that step's checkpoint is written."""
    notes = []
    work = run_training(TrainingSpec.from_json(spec))
    for event in work:
        notes.append(event.text)
        if stop_after is not None and event.data.get("checkpoint") == stop_after:
            work.close()  # type: ignore[attr-defined]
            break
    return weights(spec["staging"]), notes


@pytest.mark.parametrize(
    ("recipe", "parameters"),
    [
        ("pel-pb-fgsm", {"entity_tower": "train"}),
        ("t-biencoder-dual", {}),
        ("prototype-srn", {}),
        ("cross-encoder", {"candidates": 4}),
    ],
)
def test_equal_weights(
    make_spec: MakeSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str, parameters: dict[str, Any]
) -> None:
    monkeypatch.setattr("training.learning.Checkpoints", partial(Checkpoints, every=0))
    whole, other, again = (make_spec(recipe, parameters={"epochs": 2} | parameters) for _ in range(3))
    wanted, _ = learnt(whole)
    work = str(tmp_path / "work")
    killed = other | {"work": work}
    assert learnt(killed, stop_after=3)[0] != wanted
    found, notes = learnt(again | {"work": work, "snapshot": other["snapshot"]})
    assert "Training goes on from a checkpoint after step 3" in " ".join(notes)
    assert found == wanted
    assert wanted
