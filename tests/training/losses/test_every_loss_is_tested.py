"""A loss that lacks a test of a kind that every loss must have fails here. Kinds are words of the tests' names."""

import ast
import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from torch import nn

import training.losses
from training.job.recipes import LOSSES, PAIR_LOSSES
from training.losses.base import Loss

SHARED = ("base", "hinge")  # what losses are made of
MODULES = [info.name for info in pkgutil.iter_modules(training.losses.__path__) if info.name not in SHARED]
KINDS = ("plain", "gradcheck", "without_any_negative", "nil", "ineligible", "pad", "extreme", "half")
GIVEN = {  # what a paper or a library gives for this loss
    "nce": ("equation_2",),
    "cross_entropy": ("equation_2",),
    "proxy": ("equation_4", "oracle"),
    "multi_similarity": ("gradient_is", "oracle"),
    "amh": ("through_the_mix_is_zero",),
}


def checking_tests(source: str) -> dict[str, ast.FunctionDef]:
    """The tests of a file by name, those alone that assert something or call a `check_…` that does."""
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    return {node.name: node for node in functions if node.name.startswith("test_") and _checks(node)}


def _checks(function: ast.FunctionDef) -> bool:
    called = {_name(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
    asserts = any(isinstance(node, ast.Assert) for node in ast.walk(function))
    return asserts or any(name.startswith(("check_", "assert_", "raises")) for name in called)


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def lacking(source: str, kinds: Iterable[str]) -> list[str]:
    """The kinds without a test; "gradcheck" must also call it."""
    tests = checking_tests(source)
    found = {kind for kind in kinds if any(f"_{kind}" in name for name in tests)}
    numeric = [node for name, node in tests.items() if "_gradcheck" in name]
    if not any(isinstance(n, ast.Call) and _name(n.func) == "gradcheck" for t in numeric for n in ast.walk(t)):
        found -= {"gradcheck"}
    return [kind for kind in kinds if kind not in found]


@pytest.mark.parametrize("name", MODULES)
def test_module_holds_one_loss_that_is_documented_and_has_a_name_for_recipes(name: str) -> None:
    module = importlib.import_module(f"training.losses.{name}")
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == module.__name__
    ]
    assert len(own) == 1
    assert own[0].__doc__
    assert own[0] in {*LOSSES.values(), *PAIR_LOSSES.values()}


@pytest.mark.parametrize("name", MODULES)
def test_loss_has_the_tests_of_its_kinds(name: str) -> None:
    source = Path(__file__).with_name(f"test_{name}.py").read_text(encoding="utf-8")
    assert lacking(source, (*KINDS, *GIVEN.get(name, ()))) == []


@pytest.mark.parametrize("name", SHARED)
def test_shared_parts_hold_no_loss(name: str) -> None:
    module = importlib.import_module(f"training.losses.{name}")
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Loss) and value.__module__ == module.__name__
    ]
    assert own in ([], [Loss])


def test_there_are_losses() -> None:
    assert set(MODULES) == {"amh", "cross_entropy", "multi_similarity", "nce", "prototype", "proxy", "triplet"}
    assert set(GIVEN) <= set(MODULES)


def test_a_word_in_a_comment_or_an_empty_test_is_no_test() -> None:
    assert lacking("# test_plain\n", ["plain"]) == ["plain"]
    assert lacking("def test_plain():\n    loss()\n", ["plain"]) == ["plain"]
    assert lacking("def helper_plain():\n    assert loss()\n", ["plain"]) == ["plain"]
    assert lacking("def test_plain():\n    assert loss()\n", ["plain"]) == []
    assert lacking("def test_gradcheck():\n    assert loss()\n", ["gradcheck"]) == ["gradcheck"]
    assert lacking("def test_gradcheck():\n    assert torch.autograd.gradcheck(loss)\n", ["gradcheck"]) == []
