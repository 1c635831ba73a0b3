"""Where the network runs, chosen once and explained in a sentence."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch

from models.errors import ModelError


@dataclass(frozen=True, slots=True)
class Device:
    """A device with the number format and batch sizes (texts, tokens) that suit it."""

    name: str
    dtype: torch.dtype
    batch_size: int
    batch_tokens: int
    sentence: str

    @property
    def torch(self) -> torch.device:
        return torch.device(self.name)


def choose_device(wanted: str = "auto", *, dtype: torch.dtype | None = None) -> Device:
    """Turn "auto", "cpu", "cuda", "cuda:1" or "mps" into a device.

    float32 is used everywhere unless ``dtype`` says otherwise: half precision is slower on most
    processors, and on a GPU these small networks are fast enough without it.

    Raises ModelError where the device does not exist on this machine.
    """
    name = _best() if wanted == "auto" else wanted
    _check(name)
    texts, tokens = (64, 1024) if name == "cpu" else (512, 32768)
    return Device(name, dtype or torch.float32, texts, tokens, _describe(name))


def set_threads(*, leave_one_free: bool) -> int:
    """Use all cores of this process, or all but one so that a window stays lively; says how many."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = max(1, cores - 1) if leave_one_free else cores
    torch.set_num_threads(threads)
    return threads


def _best() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _check(name: str) -> None:
    kind, _, index = name.partition(":")
    if kind == "cuda" and torch.cuda.is_available():
        if index in {str(i) for i in range(torch.cuda.device_count())} | {""}:
            return
        raise ModelError(f"There is no CUDA device {index!r}; this machine has {torch.cuda.device_count()}.")
    if name == "cpu" or (name == "mps" and torch.backends.mps.is_available()):
        return
    raise ModelError(f"The device {name!r} is not available on this machine. Choose “auto” or “cpu”.")


def _describe(name: str) -> str:
    if name.startswith("cuda"):
        properties = torch.cuda.get_device_properties(torch.device(name))
        gib = properties.total_memory / 2**30
        return f"The encoder runs on the GPU {properties.name} ({gib:.0f} GiB)."
    if name == "mps":
        return "The encoder runs on the Apple GPU (MPS)."
    threads = torch.get_num_threads()
    return f"The encoder runs on the processor with {threads} thread{'s' if threads != 1 else ''}."
