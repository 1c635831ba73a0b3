"""A regulariser that lacks a test of a kind that it must have fails here. Kinds are words of the tests' names."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest
from torch import nn

import training.regularisers
from tests.training.losses.test_every_loss_is_tested import checking_tests
from training.regularisers.base import Regulariser

SHARED = ("base", "embeddings")  # what regularisers are made of
MODULES = [info.name for info in pkgutil.iter_modules(training.regularisers.__path__) if info.name not in SHARED]
KINDS = ("gradient_caching", "refused", "pads")
MOVING = ("finite_difference", "clean", "detached", "epsilon_of_0")
OWN = {
    "fgsm": (*MOVING, "constant_move", "both_roles", "nil", "under_dropout", "frozen"),
    "fgsm_pairs": MOVING,
    "transformation": (
        "sign_of_ascent", "encoders_gradients", "holds_the_norm", "a_of_0", "outside_of_training", "layer",
        "normalised", "frozen",
    ),
}  # fmt: skip


def own_classes(name: str) -> list[type]:
    module = importlib.import_module(f"training.regularisers.{name}")
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == module.__name__
    ]


@pytest.mark.parametrize("name", MODULES)
def test_module_holds_one_regulariser_that_is_documented(name: str) -> None:
    (own,) = own_classes(name)
    assert own.__doc__


@pytest.mark.parametrize("name", MODULES)
def test_regulariser_has_the_tests_of_its_kinds(name: str) -> None:
    source = Path(__file__).with_name(f"test_{name}.py").read_text(encoding="utf-8")
    tests = checking_tests(source)
    assert [kind for kind in (*KINDS, *OWN[name]) if not any(kind in test for test in tests)] == []


def test_shared_parts_hold_no_regulariser() -> None:
    assert [own for name in SHARED for own in own_classes(name)] == [Regulariser]


def test_there_are_regularisers() -> None:
    assert set(MODULES) == set(OWN)
