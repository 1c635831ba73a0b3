"""A sampler that is not among those which the tests of every kind run over fails here."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from tests.training.negatives import test_samplers
from tests.training.negatives.samplers import MAKERS
from training.negatives.sampling import NegativeSampler

KINDS = ("never_gold", "equal_seeds", "state", "in_domain", "own_set", "one_set", "distribution", "no_mention")


def concrete(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        if below.__module__.startswith("training."):
            if not inspect.isabstract(below):
                yield below
            yield from concrete(below)


def test_every_sampler_runs_through_the_tests() -> None:
    assert set(concrete(NegativeSampler)) == set(MAKERS)
    assert all(kind.__doc__ for kind in MAKERS)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_test_runs_over_every_sampler(kind: str) -> None:
    tests = [value for name, value in vars(test_samplers).items() if name.startswith(f"test_{kind}")]
    assert len(tests) == 1
    over = [mark.args for mark in tests[0].pytestmark if mark.name == "parametrize"]
    assert ("kind", MAKERS) in over
