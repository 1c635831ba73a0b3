"""A loss without a test of its arithmetic and of its gradient fails here."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from torch import nn

import training.losses

MODULES = [info.name for info in pkgutil.iter_modules(training.losses.__path__) if info.name not in ("base", "hinge")]
KINDS = ("plain", "gradcheck", "without_any_negative", "nil")


@pytest.mark.parametrize("name", MODULES)
def test_module_holds_one_loss_with_the_tests_of_its_kind(name: str) -> None:
    module = importlib.import_module(f"training.losses.{name}")
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == module.__name__
    ]
    assert len(own) == 1
    assert own[0].__doc__
    assert own[0].__name__ in training.losses.__all__
    source = Path(__file__).with_name(f"test_{name}.py").read_text(encoding="utf-8")
    assert own[0].__name__ in source
    for kind in KINDS:
        assert kind in source, f"test_{name}.py lacks a test about {kind!r}"


def test_there_are_losses() -> None:
    assert set(MODULES) == {"amh", "cross_entropy", "prototype", "proxy"}
