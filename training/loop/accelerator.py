"""The device and the number format of training. The only module that uses accelerate.

Several GPUs: the same job is started once per GPU (by `curator.jobs.several`, `accelerate launch`, or anything that
sets RANK and WORLD_SIZE). Each process takes its share of every batch, and gradients are added up before the step, so
batches, steps and rates are the same as on one GPU. No network is wrapped, so a task may call any of its methods.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from torch import Tensor, nn
from torch.optim import Optimizer
from transformers import PreTrainedModel

from models.core.device import AUTO, Precision
from models.errors import ModelError, say

DETERMINISTIC: Any = torch.utils.deterministic
TRAINED_IN = (Precision.FP32, Precision.BF16, Precision.FP16)


def training_precision(wanted: str, device: torch.device) -> Precision:
    """The number format of the networks' forward and backward passes in training; weights and losses stay in float32.

    "auto" is bfloat16 on a GPU that has it, float32 elsewhere. Raises ModelError for an unknown word, and for float16
    without a GPU, since it needs loss scaling.
    """
    if wanted == AUTO:
        has_bf16 = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        return Precision.BF16 if has_bf16 else Precision.FP32
    if wanted not in TRAINED_IN:
        raise ModelError(
            say(
                "Unknown number format {wanted!r} for training. Choose one of: auto, fp32, bf16, fp16.",
                wanted=wanted,
            )
        )
    if wanted == Precision.FP16 and device.type != "cuda":
        raise ModelError(say("Training in fp16 needs a GPU. Choose auto, fp32 or bf16."))
    return Precision(wanted)


class Engine:
    """Backward passes and steps on accelerate's device; `close` restores the networks."""

    def __init__(self, modules: Sequence[nn.Module], *, precision: str) -> None:
        self.device = device_of(modules)
        self.precision = training_precision(precision, self.device)
        mixed = "no" if self.precision is Precision.FP32 else self.precision.value
        self.accelerator = _accelerator(cpu=self.device.type == "cpu", mixed_precision=mixed)
        self._exact = self.device.type == "cpu"
        if self._exact:
            self._before = _be_exact()
        self._bodies = list(bodies(modules))
        for body in self._bodies:
            # evaluation_mode: autocast alone, no wrapper for several processes
            self.accelerator.prepare_model(body, device_placement=False, evaluation_mode=True)

    @property
    def processes(self) -> int:
        return int(self.accelerator.num_processes)

    @property
    def is_main(self) -> bool:
        """Whether this process writes checkpoints and reports."""
        return bool(self.accelerator.is_main_process)

    def optimizer(self, optimizer: Optimizer) -> Any:
        """The optimiser, with loss scaling if the number format needs it."""
        return self.accelerator.prepare_optimizer(optimizer, device_placement=False)

    def backward(self, loss: Tensor) -> None:
        self.accelerator.backward(loss)

    def share(self, parts: Sequence[Any]) -> Sequence[Any]:
        """This process's parts of a batch."""
        return parts[int(self.accelerator.process_index) :: self.processes]

    def gather(self, parameters: Sequence[nn.Parameter]) -> None:
        """Add up all processes' gradients."""
        if self.processes == 1:
            return
        for parameter in parameters:
            own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = self.accelerator.reduce(own, reduction="sum")

    def total(self, value: float) -> float:
        """The sum of all processes' values."""
        if self.processes == 1:
            return value
        here = self.accelerator.device
        own = torch.tensor([value], device=here, dtype=torch.float32 if here.type == "mps" else torch.float64)
        return float(self.accelerator.gather(own).sum())

    def any(self, flag: bool) -> bool:
        """Whether it is true in any process: an event that ends a step must end it in all."""
        return self.total(float(flag)) > 0

    def agree(self, figures: Sequence[int]) -> None:
        """Raises ModelError if the processes would train different things, since they would wait for each other without
        limit."""
        own = float(zlib.crc32(repr(list(figures)).encode()))
        if self.any(self.total(own) != own * self.processes):
            raise ModelError(
                say(
                    "The processes that train together prepared different networks or batches. Train "
                    "without a time budget and set entity_tower to “train” or “frozen”, or use one GPU."
                )
            )

    def clip(self, parameters: Sequence[nn.Parameter], most: float) -> None:
        self.accelerator.clip_grad_norm_(parameters, most)

    def scaler_state(self) -> dict[str, Any]:
        scaler = self.accelerator.scaler
        return {} if scaler is None else dict(scaler.state_dict())

    def load_scaler_state(self, raw: dict[str, Any]) -> None:
        if raw and self.accelerator.scaler is not None:
            self.accelerator.scaler.load_state_dict(raw)

    def close(self) -> None:
        if self._exact:
            _be_as(self._before)
        for body in self._bodies:
            if "_original_forward" in body.__dict__:
                del body.__dict__["_original_forward"], body.__dict__["forward"]


Exactness = tuple[bool, bool, bool]


def _be_exact() -> Exactness:
    """Fix the order of summation; returns the previous setting.

    With several threads the gradient of an indexed row (an entity that two mentions share) is otherwise added up in the
    order in which the threads arrive, and two equal runs differ in the last bits.
    """
    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        bool(DETERMINISTIC.fill_uninitialized_memory),
    )
    _be_as((True, True, False))
    return before


def _be_as(wanted: Exactness) -> None:
    enabled, warn_only, fill = wanted
    torch.use_deterministic_algorithms(enabled, warn_only=warn_only)
    DETERMINISTIC.fill_uninitialized_memory = fill


def device_of(modules: Sequence[nn.Module]) -> torch.device:
    """The networks' device; the CPU if they have no parameters."""
    return next((p.device for module in modules for p in module.parameters()), torch.device("cpu"))


def bodies(modules: Sequence[nn.Module]) -> Iterator[nn.Module]:
    """The transformers within the networks, which gain from a smaller number format; for a network without one, the
    network itself.

    Heads, projections and losses stay in float32: proxy losses multiply similarities by 32.
    """
    seen: set[int] = set()
    for module in modules:
        found = [part for part in module.modules() if isinstance(part, PreTrainedModel)]
        outermost = [part for part in found if not any(part is not o and part in set(o.modules()) for o in found)]
        for body in outermost or [module]:
            if id(body) not in seen:
                seen.add(id(body))
                yield body


def _accelerator(*, cpu: bool, mixed_precision: str) -> Accelerator:
    """A new accelerator: accelerate keeps the first one's settings for the whole process, and a job may train twice."""
    if AcceleratorState._shared_state and AcceleratorState().num_processes == 1:
        AcceleratorState._reset_state(reset_partial_state=True)
    return Accelerator(cpu=cpu, mixed_precision=mixed_precision, step_scheduler_with_optimizer=False)
