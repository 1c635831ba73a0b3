"""All that may be drawn from is put back."""

from __future__ import annotations

import json
import random

import numpy as np
import torch

from training.loop.generators import GeneratorStates, TorchState, undisturbed

CPU = torch.device("cpu")


def draw(own: np.random.Generator) -> list[float]:
    return [float(torch.rand(())), float(np.random.rand()), random.gauss(0, 1), float(own.normal())]


def test_put_back() -> None:
    own = np.random.default_rng(1)
    random.gauss(0, 1)  # the second of a pair waits in the state
    states = GeneratorStates.take(CPU, [own])
    first = draw(own)
    assert draw(own) != first
    states.put_back([own])
    assert draw(own) == first


def test_through_json() -> None:
    own = np.random.default_rng(1)
    np.random.standard_normal()
    states = GeneratorStates.take(CPU)
    raw = json.loads(json.dumps(states.to_json()))
    first = draw(own)[:3]
    GeneratorStates.from_json(raw, TorchState(states.of_torch.cpu, None, CPU)).put_back()
    assert draw(own)[:3] == first


def test_undisturbed() -> None:
    own = np.random.default_rng(1)
    torch.manual_seed(1)
    with undisturbed(CPU):
        first = draw(own)
    assert draw(own)[:3] == first[:3]
