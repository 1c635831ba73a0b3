"""The gradients of a batch in the available memory: whole, piece by piece, or in smaller parts."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import torch
from torch import nn

from models.errors import ModelError, is_out_of_memory, say
from training.loop.accelerator import Engine
from training.loop.generators import GeneratorStates
from training.loop.gradient_cache import cached_backward
from training.loop.task import Batch, Task


class Learner:
    """Adds gradients of batches to `parameters`.

    If memory runs out, `make_smaller` halves the size of the parts. With gradient caching these are the texts of a
    piece, and the gradients do not change. Otherwise they are examples: accumulation keeps the effective batch, but
    each part has only its own negatives. `micro` 0: whole batches. Without caching the initial size is the task's
    `at_once`.
    """

    def __init__(self, task: Task, engine: Engine, parameters: Sequence[nn.Parameter], *, chunk: int) -> None:
        self.task, self.engine, self.parameters = task, engine, parameters
        self.micro, self.chunk = 0 if chunk else task.at_once, chunk

    def mark(self) -> GeneratorStates:
        """Mark the start of a step, to which `start_over` returns."""
        return GeneratorStates.take(self.engine.device, self.task.generators())

    def start_over(self, mark: GeneratorStates) -> None:
        """Discard the step's gradients and random draws."""
        self.clear()
        gc.collect()
        if self.engine.device.type == "cuda":
            torch.cuda.empty_cache()
        mark.put_back(self.task.generators())

    def clear(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def learn(self, batch: Batch, *, share: float) -> float | None:
        """Add the gradients of `share` × the mean loss; returns this process's share of the loss.

        Returns None, with unusable gradients, if memory ran out.
        """
        try:
            return sum(self._learn_part(part, len(part) / len(batch), share) for part in self._parts(batch))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        return None

    def make_smaller(self, longest: int) -> str:
        """Halve the size of the parts for a longest batch of `longest` examples; returns a sentence about it.

        Raises ModelError if the size cannot be reduced further.
        """
        now = self.chunk or self.micro or longest
        if now <= 1:
            raise ModelError(
                say(
                    "There is not enough memory to train even on one example at a time. Choose fewer "
                    "tokens or negatives, a smaller encoder, or another device. The linker in use is "
                    "not changed."
                )
            )
        if self.chunk:
            self.chunk = now // 2
            return say(
                "Out of memory: texts are now encoded {chunk} at a time; the gradients are the same.", chunk=self.chunk
            )
        self.micro = now // 2
        return say(
            "Out of memory: batches of {longest} are now processed in pieces of at most {micro}. "
            "Gradient accumulation keeps the effective batch size the same.",
            longest=longest,
            micro=self.micro,
        )

    def _parts(self, batch: Batch) -> Sequence[Batch]:
        size = -(-len(batch) // self.engine.processes)
        if self.micro:
            size = min(size, self.micro)
        return self.engine.share(self.task.split(batch, size))

    def _learn_part(self, part: Batch, weight: float, share: float) -> float:
        factor = weight * share
        cached = self.task.pieces(part, chunk=self.chunk) if self.chunk else None
        if cached is None:
            loss = self.task.loss(part)
            self.engine.backward(loss * factor)
        else:
            where = self.engine.device
            loss = cached_backward(cached, where=where, backward=lambda whole: self.engine.backward(whole * factor))
        return weight * float(loss.detach())
