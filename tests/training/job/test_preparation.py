"""Where the entities' vectors come from: means of the linker's own vectors of names."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.errors import ModelError
from models.linker.bundle import Bundle
from models.names.candidates import NAMES
from tests.training.conftest import MakeSpec
from training.data.budget import Budget
from training.data.spec import TrainingSpec
from training.job.preparation import load, prepare, prepare_towers, untrained_entities
from training.job.tasks import must_train_entities


def drain(work: Generator[Any, None, Any]) -> Any:
    while True:
        try:
            next(work)
        except StopIteration as stop:
            return stop.value


def test_means_of_names_are_those_of_the_linkers_index(make_spec: MakeSpec, base_bundle: Bundle) -> None:
    loaded = drain(load(TrainingSpec.from_json(make_spec("curator"))))
    prepared = drain(prepare(loaded, Budget(None), shuffle_labels=False))
    vectors, rate = drain(untrained_entities(loaded, prepared.encoder, prepared.texts, Budget(None)))
    assert rate == float("inf")
    index = loaded.linker.stages.names.stages[NAMES].index
    for row, entity in enumerate(loaded.kb.entities):
        first = int(loaded.kb.name_starts[row])
        own = index.vectors(np.arange(first, first + len(entity.names)))
        np.testing.assert_allclose(vectors[row], (own / np.linalg.norm(own, axis=1, keepdims=True)).mean(0), atol=1e-5)
    towers = drain(prepare_towers(loaded, prepared, Budget(None)))
    assert towers.vectors.shape == vectors.shape


def test_a_linker_without_vectors_of_names_is_told_about(make_spec: MakeSpec) -> None:
    loaded = drain(load(TrainingSpec.from_json(make_spec("curator"))))
    stages = loaded.linker.stages
    left = {name: stage for name, stage in stages.names.stages.items() if name != NAMES}
    loaded.linker.stages = replace(stages, names=replace(stages.names, stages=left))
    with pytest.raises(ModelError, match="vectors of names, which the linker in use does not have yet"):
        drain(untrained_entities(loaded, None, None, Budget(None)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("recipe", "parameters", "complaint"),
    [
        ("curator", {"entity_tower": "train"}, "cannot be trained because they are fixed"),
        ("amh-som", {"entity_tower": "frozen"}, "cannot be frozen"),
        ("pel-pb-fgsm", {"entity_tower": "frozen"}, "cannot be frozen"),
    ],
)
def test_what_does_not_go_together_is_refused(
    make_spec: MakeSpec, tmp_path: Path, recipe: str, parameters: dict[str, Any], complaint: str
) -> None:
    loaded = drain(load(TrainingSpec.from_json(make_spec(recipe, parameters=parameters))))
    with pytest.raises(ModelError, match=complaint):
        must_train_entities(loaded)
