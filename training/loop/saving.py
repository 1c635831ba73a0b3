"""Saving a run as a checkpoint, and restoring it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.errors import english, say
from training.data.progress import Event, Phase, note
from training.loop.checkpoints import Checkpoints, Saved
from training.loop.engine import Engine
from training.loop.monitoring import Timer
from training.loop.task import Task, TrainSettings

if TYPE_CHECKING:
    from training.loop.loop import Loop

NOT_IDENTITY = ("seconds", "epoch_overhead", "validate_every", "precision")
"""Settings that may differ in a resumed run: time is taken from the checkpoint, the precision may be chosen again."""

MOST_LOST = 120.0
"""The most seconds of training that a crash can cost; after a longer single step the run is saved at once."""


class Saver:
    """Writes a run's checkpoints; a full disk does not end the run."""

    def __init__(self, checkpoints: Checkpoints) -> None:
        self.checkpoints = checkpoints
        self._failed = ""
        self._looked = 0.0

    def is_due(self, timer: Timer) -> bool:
        """Whether to save after this step: also true if another step as long would leave more than `MOST_LOST` seconds
        unsaved."""
        since = timer.since_interval()
        step, self._looked = since - self._looked, since
        return since >= self.checkpoints.every or since + step > MOST_LOST

    def save(self, loop: Loop) -> Iterator[Event]:
        """An event with `data["checkpoint"]` = the step; a note if it could not be written, once for each reason."""
        loop.timer.begin_interval()
        self._looked = 0.0
        try:
            self.checkpoints.save(snapshot(loop))
        except OSError as error:
            if str(error) != self._failed:
                self._failed = str(error)
                sentence = say(
                    "No checkpoint could be written to {folder} ({error}). Training continues, but "
                    "after a crash it would resume from an earlier checkpoint. Check the folder's "
                    "permissions and the free disk space.",
                    folder=self.checkpoints.folder,
                    error=error,
                )
                loop.position.notes.append(english(sentence))
                yield note(Phase.TRAIN, sentence)
            return
        data = {"checkpoint": loop.optimising.step}
        yield Event(Phase.TRAIN, loop.position.done, loop.plan.batches, data=data)


def identity(
    task: Task, settings: TrainSettings, engine: Engine, named: Mapping[str, Tensor], *, per_epoch: int
) -> dict[str, Any]:
    """The trainer's part of a run's identity."""
    shapes = {name: list(tensor.shape) for name, tensor in named.items()}
    cuda = engine.device.type == "cuda"
    return {
        "settings": {key: value for key, value in asdict(settings).items() if key not in NOT_IDENTITY},
        "precision": engine.precision.value,
        "device": torch.cuda.get_device_name(engine.device) if cuda else str(engine.device),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "per_epoch": per_epoch,
        "networks": hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest(),
        "task": type(task).__name__,
    }


def named_weights(modules: Sequence[nn.Module], parameters: Sequence[nn.Parameter]) -> dict[str, Tensor]:
    """Everything that training changes: trained parameters, and the networks' buffers, by name."""
    names: dict[int, str] = {}
    for number, module in enumerate(modules):
        for name, parameter in module.named_parameters():
            names.setdefault(id(parameter), f"weight/{number}.{name}")
    found: dict[str, Tensor] = {}
    for number, parameter in enumerate(parameters):
        found[names.get(id(parameter), f"weight/own.{number}")] = parameter
    for number, module in enumerate(modules):
        for name, buffer in module.named_buffers():
            found[f"buffer/{number}.{name}"] = buffer
    return found


def snapshot(loop: Loop) -> Saved:
    """The state of the run between two steps."""
    optimising, position, learner = loop.optimising, loop.position, loop.learner
    tensors: dict[str, Tensor] = dict(named_weights(loop.task.modules(), optimising.parameters))
    for number, state in optimising.tensor_state().items():
        tensors |= {f"adam/{number}/{key}": value for key, value in state.items()}
    facts = {
        "plan": asdict(loop.plan),
        "position": asdict(position),
        "spent": loop.timer.spent(),
        "allowed": loop.timer.allowed,
        "micro": learner.micro,
        "optimising": optimising.state(),
        "task": loop.task.state(),
    }
    return Saved(tensors, facts)


def restore(saved: Saved, loop: Loop) -> None:
    """Turn a new run, whose plan and position were read from `saved`, into the saved one."""
    weights = named_weights(loop.task.modules(), loop.optimising.parameters)
    with torch.no_grad():
        for name, tensor in weights.items():
            tensor.copy_(saved.tensors[name])
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in saved.tensors.items():
        kind, _, rest = name.partition("/")
        if kind == "adam":
            number, _, key = rest.partition("/")
            moments.setdefault(int(number), {})[key] = tensor
    loop.optimising.load_state(saved.facts["optimising"], moments)
    loop.learner.micro = int(saved.facts["micro"])
    loop.timer.resume(spent=float(saved.facts["spent"]), allowed=saved.facts["allowed"])
    loop.task.load_state(saved.facts["task"])
