"""The gradients of a batch in the available memory: whole, or in smaller parts."""

from __future__ import annotations

import gc
from collections.abc import Sequence

from torch import nn

from models.core.device import give_back_gpu_memory
from models.errors import ModelError, is_out_of_memory, say
from training.loop.engine import Engine
from training.loop.task import Batch, Task


class Learner:
    """Adds gradients of batches to `parameters`.

    If memory runs out, `make_smaller` halves the number of examples that are processed at once: accumulation keeps the
    effective batch, but each part has only its own negatives. `micro` 0: whole batches. The initial size is the task's
    `at_once`.
    """

    def __init__(self, task: Task, engine: Engine, parameters: Sequence[nn.Parameter]) -> None:
        self.task, self.engine, self.parameters = task, engine, parameters
        self.micro = task.at_once

    def clear(self) -> None:
        """Discard the gradients, and return what a batch that did not fit left in memory."""
        for parameter in self.parameters:
            parameter.grad = None
        gc.collect()
        if self.engine.device.type == "cuda":
            give_back_gpu_memory()

    def learn(self, batch: Batch, *, share: float) -> float | None:
        """Add the gradients of `share` × the mean loss; returns the loss, or None, with unusable gradients, if memory
        ran out."""
        total = 0.0
        try:
            for part in self.task.split(batch, self.micro) if self.micro else [batch]:
                weight = len(part) / len(batch)
                loss = self.task.loss(part)
                self.engine.backward(loss * (weight * share))
                total += weight * float(loss.detach())
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return None
        return total

    def make_smaller(self, longest: int) -> str:
        """Halve the size of the parts for a longest batch of `longest` examples; returns a sentence about it.

        Raises ModelError if the size cannot be reduced further.
        """
        now = self.micro or longest
        if now <= 1:
            raise ModelError(
                say(
                    "There is not enough memory to train even on one example at a time. Choose fewer "
                    "tokens or negatives, a smaller encoder, or another device. The linker in use is "
                    "not changed."
                )
            )
        self.micro = now // 2
        return say(
            "Out of memory: batches of {longest} are now processed in pieces of at most {micro}. "
            "Gradient accumulation keeps the effective batch size the same.",
            longest=longest,
            micro=self.micro,
        )
