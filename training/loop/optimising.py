"""AdamW with warm-up, linear decay and clipping: updates the weights from the gradients of a step."""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from models.errors import ModelError, is_out_of_memory, say
from training.loop.engine import Engine
from training.loop.task import Task, TrainSettings


class Optimising:
    """The optimiser of a task's parameter groups, with one schedule of `steps` steps for all groups."""

    def __init__(self, task: Task, settings: TrainSettings, engine: Engine, *, steps: int) -> None:
        self.task, self.engine, self.steps = task, engine, steps
        self.settings, self.step = settings, 0
        groups = task.parameter_groups(settings)
        self.parameters: list[nn.Parameter] = [p for group in groups for p in group["params"]]
        self.adam = AdamW(groups, lr=settings.learning_rate, eps=settings.eps, weight_decay=settings.weight_decay)
        self.schedule = LambdaLR(self.adam, self._factor)

    @property
    def rate(self) -> float:
        """The first group's learning rate in the next step."""
        return float(self.schedule.get_last_lr()[0])

    def take_step(self) -> None:
        """Clip, step, clear the gradients, advance the schedule. Raises ModelError if memory runs out."""
        try:
            taken = self.engine.step(self.adam, self.parameters, clip=self.settings.clip)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise ModelError(
                say(
                    "There is enough memory for the network but not for the optimiser's state. Train "
                    "with the entity tower frozen, with a smaller encoder, or on another device. The "
                    "linker in use is not changed."
                )
            ) from error
        self.adam.zero_grad(set_to_none=True)
        self.task.after_step()
        self.step += 1
        if self.step < self.steps and taken:
            self.schedule.step()

    def state(self) -> dict[str, Any]:
        """The state as JSON, without the tensors in `tensor_state`."""
        return {
            "groups": self.adam.state_dict()["param_groups"],
            "schedule": self.schedule.state_dict(),
            "scaler": self.engine.scaler_state(),
            "step": self.step,
        }

    def tensor_state(self) -> dict[int, dict[str, Any]]:
        """Moments and counts of each parameter, by its position in `parameters`."""
        states: dict[int, dict[str, Any]] = self.adam.state_dict()["state"]
        return states

    def load_state(self, raw: dict[str, Any], tensors: dict[int, dict[str, Any]]) -> None:
        groups = [group | {"betas": tuple(group["betas"])} for group in raw["groups"]]
        self.adam.load_state_dict({"state": tensors, "param_groups": groups})
        self.schedule.load_state_dict(dict(raw["schedule"]))
        self.engine.load_scaler_state(raw["scaler"])
        self.step = int(raw["step"])

    def _factor(self, step: int) -> float:
        """Linear warm-up over the first share of the steps, then linear decay to zero."""
        warm = max(1, round(self.settings.warmup * self.steps))
        return (step + 1) / warm if step < warm else max(0.0, (self.steps - step) / max(1, self.steps - warm))
