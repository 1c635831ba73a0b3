"""Earlier findings stay fixed, and the corpus with some hundred changes finds nothing. Needs no atheris."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from tests.fuzz import mutating
from tests.fuzz.judging import judge
from tests.fuzz.seeds import FOUND, found, seeds
from tests.fuzz.targets import targets

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
CHANGED = 300
"""Inputs of each target in the sample."""


def test_every_folder_is_of_a_target() -> None:
    assert {one.name for one in FOUND.iterdir()} <= set(targets())


@pytest.mark.parametrize(
    "path", [one for name in targets() for one in found(name)], ids=lambda one: f"{one.parent.name}-{one.name}"
)
def test_what_was_found_is_found_no_more(path: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        again = judge(targets()[path.parent.name], path.read_bytes(), tmp_path)
    assert again is None, again.text


@pytest.mark.soak
@pytest.mark.parametrize("name", sorted(targets()))
def test_the_corpus_and_changes_of_it_find_nothing(name: str, tmp_path: Path) -> None:
    known = seeds(name)
    inputs = known + [mutating.changed(known[seed % len(known)], seed, known) for seed in range(CHANGED)]
    with warnings.catch_warnings(action="ignore"):
        for data in inputs:
            again = judge(targets()[name], data, tmp_path)
            assert again is None, f"{again.text}\n{data!r}"
