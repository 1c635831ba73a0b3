"""The device and number format of the network, chosen once and explained in a sentence."""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import torch

from models.errors import ModelError, is_out_of_memory, nsay, say


class Precision(StrEnum):
    """The number format of an encoder. The resulting vectors are always float32."""

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"


AUTO = "auto"
LEAST_FREE = 2**30
"""Bytes that a GPU must have free to be chosen by itself: an encoder like BERT-base in float32, and small batches."""
Dtype: TypeAlias = torch.dtype
DTYPES = {Precision.FP32: torch.float32, Precision.BF16: torch.bfloat16, Precision.FP16: torch.float16}
FORMATS = {Precision.FP32: "float32", Precision.BF16: "bfloat16", Precision.FP16: "float16"}


@dataclass(frozen=True, slots=True)
class Device:
    """A device with the number format and batch sizes (texts, tokens) that suit it."""

    name: str
    precision: Precision
    batch_size: int
    batch_tokens: int
    sentence: str

    @property
    def torch(self) -> torch.device:
        return torch.device(self.name)

    @property
    def dtype(self) -> Dtype:
        """The data type of weights and token states."""
        return DTYPES[self.precision]


def choose_device(wanted: str = AUTO, *, precision: Precision | str = Precision.FP32) -> Device:
    """Turn "auto", "cpu", "cuda", "cuda:1" or "mps" into a device; ``precision`` see `choose_precision`.

    "auto" is a GPU if there is one with at least `LEAST_FREE` bytes free, else the processor.

    Raises ModelError if the device does not exist on this machine or does not support the format.
    """
    name, why = _best() if wanted == AUTO else (wanted, "")
    _check(name)
    chosen = choose_precision(precision, device=name)
    if name.startswith("cuda"):
        prepare_gpu()
    texts, tokens = (512, 2048) if name == "cpu" else (512, 32768)
    where = _describe(name, chosen)
    return Device(name, chosen, texts, tokens, say("{why} {where}", why=why, where=where) if why else where)


def choose_precision(wanted: Precision | str, *, device: str) -> Precision:
    """The number format meant by a setting: a name of `Precision`, or "auto".

    "auto" is bfloat16 on a CPU with native bfloat16 (its vectors have a cosine of 0.9999 with float32 vectors) and
    float32 otherwise: on other CPUs half precision is slower than float32, and a GPU is fast enough with these small
    networks.

    Raises ModelError for an unknown name.
    """
    if wanted == AUTO:
        return Precision.BF16 if device == "cpu" and has_native_bf16() else Precision.FP32
    if wanted not in tuple(Precision):
        names = ", ".join((AUTO, *Precision))
        raise ModelError(
            say(
                "Unknown number format {wanted!r} for encoders. Choose one of: {names}.",
                wanted=str(wanted),
                names=names,
            )
        )
    return Precision(wanted)


def prepare_gpu() -> None:
    """Let GPUs round the factors of float32 products to 10 bits (TF32), and compute attention without cuDNN.

    TF32 is faster; sums stay in float32. `make gpu` measures accuracy and speed. Search still compares vectors exactly
    (`models.vectors`). CPUs are not affected. `NVIDIA_TF32_OVERRIDE=0` turns it off. cuDNN plans attention in half
    precision for each new shape of a batch, which takes about a second, and here nearly every batch has its own: on an
    H200, training in bfloat16 made 2.8 steps a second and in float32 24 (modelscope/FunASR#3704 describes the same).
    """
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.enable_cudnn_sdp(False)


def has_native_bf16() -> bool:
    """Whether this CPU supports bfloat16 products (AVX-512 BF16 or AMX); False if this torch does not report it."""
    capabilities: Any = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def set_threads(*, leave_one_free: bool) -> int:
    """Use all cores of this process, or all but one to keep a window responsive; returns the number."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = max(1, cores - 1) if leave_one_free else cores
    torch.set_num_threads(threads)
    return threads


def gpu_memory() -> int:
    """Free bytes of the first GPU; 0 if torch has none, or if other programs left too little even to ask."""
    try:
        return int(torch.cuda.mem_get_info(0)[0]) if torch.cuda.is_available() else 0
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        return 0


def give_back_gpu_memory() -> None:
    """Return what torch keeps for later batches, after one did not fit."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()


def _best() -> tuple[str, str]:
    """A device, and why not the GPU that is there."""
    if torch.cuda.is_available():
        free = gpu_memory()
        if free + torch.cuda.memory_reserved(0) >= LEAST_FREE:  # what this process holds, it can use again
            return "cuda", ""
        return "cpu", say("The GPU has only {free:,.0f} MiB free.", free=free / 2**20)
    return ("mps" if torch.backends.mps.is_available() else "cpu"), ""


def _check(name: str) -> None:
    kind, _, index = name.partition(":")
    if kind == "cuda" and torch.cuda.is_available():
        if index in {str(i) for i in range(torch.cuda.device_count())} | {""}:
            return
        raise ModelError(
            say(
                "The CUDA device {index!r} was not found; this computer has {device_count}.",
                index=index,
                device_count=torch.cuda.device_count(),
            )
        )
    if name == "cpu" or (name == "mps" and torch.backends.mps.is_available()):
        return
    raise ModelError(say("The device {name!r} is not available on this computer. Choose “auto” or “cpu”.", name=name))


def _describe(name: str, precision: Precision) -> str:
    if name.startswith("cuda"):
        properties = torch.cuda.get_device_properties(torch.device(name))
        gib = properties.total_memory / 2**30
        where = say("The encoder runs on the GPU {name} ({gib:.0f} GiB).", name=properties.name, gib=gib)
    elif name == "mps":
        where = say("The encoder runs on the Apple GPU (MPS).")
    else:
        threads = torch.get_num_threads()
        where = nsay(
            "The encoder runs on the processor with {n} thread.",
            "The encoder runs on the processor with {n} threads.",
            threads,
        )
    if precision is Precision.FP32:
        return where
    return say("{where} It computes in {format}.", where=where, format=FORMATS[precision])
