"""The state of every random generator that training draws from: read, restored, written as JSON."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class TorchState:
    """torch's generators: the CPU's and the current device's (dropout draws from the latter)."""

    cpu: Tensor
    device: Tensor | None
    where: torch.device

    @classmethod
    def take(cls, where: torch.device) -> TorchState:
        device = None
        if where.type == "cuda":
            device = torch.cuda.get_rng_state(where)
        elif where.type == "mps":
            device = torch.mps.get_rng_state()
        return cls(torch.get_rng_state(), device, where)

    def put_back(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.device is not None and self.where.type == "cuda":
            torch.cuda.set_rng_state(self.device, self.where)
        elif self.device is not None:
            torch.mps.set_rng_state(self.device)

    def tensors(self) -> dict[str, Tensor]:
        found = {"cpu": self.cpu}
        return found if self.device is None else found | {"device": self.device}


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorStates:
    """torch's, numpy's global and Python's generators, and the task's own."""

    of_torch: TorchState
    numpy: dict[str, Any]
    python: tuple[Any, ...]
    own: tuple[Any, ...] = ()

    @classmethod
    def take(cls, where: torch.device, generators: Sequence[np.random.Generator] = ()) -> GeneratorStates:
        own = tuple(generator.bit_generator.state for generator in generators)
        numpy: Any = np.random.get_state(legacy=False)
        return cls(TorchState.take(where), numpy, random.getstate(), own)

    def put_back(self, generators: Sequence[np.random.Generator] = ()) -> None:
        self.of_torch.put_back()
        np.random.set_state(self.numpy)
        random.setstate(self.python)
        for generator, state in zip(generators, self.own, strict=True):
            generator.bit_generator.state = state

    def to_json(self) -> dict[str, Any]:
        """numpy's and Python's states; torch's are tensors, and a task stores its own through `Task.state`."""
        key = [int(word) for word in self.numpy["state"]["key"]]
        numpy = self.numpy | {"state": {"key": key, "pos": int(self.numpy["state"]["pos"])}}
        version, words, gauss = self.python
        return {"numpy": numpy, "python": [version, list(words), gauss]}

    @classmethod
    def from_json(cls, raw: dict[str, Any], torch_state: TorchState) -> GeneratorStates:
        inner = raw["numpy"]["state"]
        numpy = raw["numpy"] | {"state": {"key": np.array(inner["key"], dtype=np.uint32), "pos": inner["pos"]}}
        version, words, gauss = raw["python"]
        return cls(torch_state, numpy, (version, tuple(words), gauss))


@contextmanager
def undisturbed(where: torch.device) -> Iterator[None]:
    """Draws in the block do not affect later draws."""
    states = GeneratorStates.take(where)
    try:
        yield
    finally:
        states.put_back()
