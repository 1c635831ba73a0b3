"""The device and the number format of training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from transformers import PreTrainedModel

from models.core.device import AUTO, DTYPES, Precision
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
    """Backward passes and steps in a number format; `close` restores the networks.

    The networks' forward passes are computed in the format, and return float32. In float16 the loss is scaled, so that
    small gradients do not vanish.
    """

    def __init__(self, modules: Sequence[nn.Module], *, precision: str) -> None:
        self.device = device_of(modules)
        self.precision = training_precision(precision, self.device)
        self.scaler = torch.amp.GradScaler(self.device.type) if self.precision is Precision.FP16 else None
        self._before = _be_exact() if self.device.type == "cpu" else None
        self._bodies = [] if self.precision is Precision.FP32 else list(bodies(modules))
        for body in self._bodies:
            body.__dict__["forward"] = in_format(body.forward, self.device, DTYPES[self.precision])

    def backward(self, loss: Tensor) -> None:
        scaled: Any = loss if self.scaler is None else self.scaler.scale(loss)
        scaled.backward()

    def step(self, optimizer: Optimizer, parameters: Sequence[nn.Parameter], *, clip: float) -> bool:
        """Clip the gradients and take the optimiser's step; whether it was taken: one that overflows in float16 is
        skipped."""
        if self.scaler is None:
            nn.utils.clip_grad_norm_(parameters, clip)
            optimizer.step()
            return True
        self.scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(parameters, clip)
        before = self.scaler.get_scale()
        self.scaler.step(optimizer)
        self.scaler.update()
        return self.scaler.get_scale() >= before

    def scaler_state(self) -> dict[str, Any]:
        return {} if self.scaler is None else dict(self.scaler.state_dict())

    def load_scaler_state(self, raw: dict[str, Any]) -> None:
        if raw and self.scaler is not None:
            self.scaler.load_state_dict(raw)

    def close(self) -> None:
        if self._before is not None:
            _be_as(self._before)
        for body in self._bodies:
            del body.__dict__["forward"]


def in_format(forward: Callable[..., Any], device: torch.device, dtype: torch.dtype) -> Callable[..., Any]:
    """The same function, computed in a number format, with results in float32."""

    @wraps(forward)
    def formatted(*given: Any, **named: Any) -> Any:
        with torch.autocast(device.type, dtype=dtype):
            return _as_float32(forward(*given, **named))

    return formatted


def _as_float32(found: Any) -> Any:
    if isinstance(found, Tensor):
        return found.float() if found.dtype in (torch.float16, torch.bfloat16) else found
    if isinstance(found, Mapping):
        return type(found)(**{name: _as_float32(part) for name, part in found.items()})
    return type(found)(map(_as_float32, found)) if isinstance(found, tuple | list) else found


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
