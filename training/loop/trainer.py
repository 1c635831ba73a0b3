"""The one training loop of all recipes: AdamW, warm-up, linear decay, clipping, accumulation, a time budget.

On a CPU, the same task, settings, seed, device and threads give the same weights bit for bit, if the time budget allows
the same number of steps. The budget ends training at whole epochs if possible, so that small differences in speed
change nothing. A killed run that resumes from a checkpoint ends with the same weights too.

The modules: `task` defines what is trained, `learner` computes gradients in the available memory, `optimising` updates
the weights, `loop` plans the batches and runs the epochs, `saving` and `checkpoints` save and restore a run,
`engine` handles the number format, and `monitoring` and `tensorboard` report figures.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import numpy as np

from models.errors import ModelError, english, say
from training.data.progress import Event, Phase, note
from training.loop.checkpoints import Checkpoints, Saved
from training.loop.engine import Engine
from training.loop.learner import Learner
from training.loop.loop import Loop, Plan, Position, plan_batches, seed_all
from training.loop.monitoring import Clock, Timer, Validate
from training.loop.optimising import Optimising
from training.loop.saving import Saver, identity, named_weights, restore
from training.loop.task import Batch, Task, TrainResult, TrainSettings
from training.loop.tensorboard import no_log, scalar_log

__all__ = ["Batch", "Task", "TrainResult", "TrainSettings", "plan_batches", "train"]
MEASURED_BATCHES = 2


def train(
    task: Task,
    settings: TrainSettings,
    *,
    checkpoints: Checkpoints | None = None,
    validate: Validate | None = None,
    tensorboard: Path | None = None,
    clock: Clock = time.monotonic,
) -> Generator[Event, None, TrainResult]:
    """Train and yield an event after every batch; it can be cancelled by closing the generator between two events.

    With `checkpoints` the run resumes from the newest one that fits, with its plan and remaining time; else it starts
    again. Checkpoints are written when due and at each epoch's end. They stay when the run is over: the code that
    finishes the job removes them. `validate` runs at each epoch's end (see `TrainSettings.validate_every`).

    Event data: `loss`, `learning_rate`, `step`, `epoch`, `seconds`, and once known `throughput` (examples a second) and
    `seconds_left`; after a validation its figures with `step`, `epoch`, `seconds`; `checkpoint` if one was written.

    Raises ModelError if there is nothing to train on, the budget does not allow one step, memory cannot hold one
    example, or the loss is not a number.
    """
    timer = Timer(clock, allowed=settings.seconds)
    seed_all(settings.seed)
    first = task.batches(0)
    if not first:
        raise ModelError(say("There is nothing to train on: no decision in the training documents can be used."))
    engine = Engine(task.modules(), precision=settings.precision)
    try:
        run = _Run(task, settings, engine, timer, first, checkpoints=checkpoints, validate=validate)
        loop = yield from run.start()
        with scalar_log(tensorboard, step=loop.optimising.step) as loop.log:
            yield from loop.run()
    finally:
        engine.close()
    for module in task.modules():
        module.eval()
    return loop.result()


class _Run:
    """Prepares a loop: from a checkpoint, or by measuring and planning."""

    def __init__(
        self,
        task: Task,
        settings: TrainSettings,
        engine: Engine,
        timer: Timer,
        first: Sequence[Batch],
        *,
        checkpoints: Checkpoints | None,
        validate: Validate | None,
    ) -> None:
        self.task, self.settings, self.engine, self.timer, self.first = task, settings, engine, timer, first
        self.checkpoints, self.validate = checkpoints, validate
        self.parameters = [p for group in task.parameter_groups(settings) for p in group["params"]]

    def start(self) -> Generator[Event, None, Loop]:
        saved, notes = self._saved()
        for sentence in notes:
            yield note(Phase.TRAIN, sentence)
        if saved is None:
            return (yield from self._anew(notes))
        return (yield from self._resumed(saved, notes))

    def _saved(self) -> tuple[Saved | None, list[str]]:
        if self.checkpoints is None:
            return None, []
        named = named_weights(self.task.modules(), self.parameters)
        self.checkpoints.identity["trainer"] = identity(
            self.task, self.settings, self.engine, named, per_epoch=len(self.first)
        )
        return self.checkpoints.load()

    def _anew(self, notes: list[str]) -> Generator[Event, None, Loop]:
        yield from self.task.before_epoch(0)
        learner = self._learner()
        position = Position(notes=[english(one) for one in notes])
        per_batch = 0.0
        if self.settings.seconds is not None:
            per_batch = yield from self._measure(learner, position)
        batches = plan_batches(len(self.first), self.settings, seconds_per_batch=per_batch, seconds=self.timer.left())
        return self._loop(Plan(batches, len(self.first), self.settings.accumulation), learner, position)

    def _resumed(self, saved: Saved, notes: list[str]) -> Generator[Event, None, Loop]:
        position = Position(**saved.facts["position"])
        for sentence in position.notes:  # they belong in the manifest, as before
            yield note(Phase.TRAIN, sentence)
        loop = self._loop(Plan(**saved.facts["plan"]), self._learner(), position)
        restore(saved, loop)
        said = say(
            "Training resumes from a checkpoint after step {step:,} of {steps:,}.",
            step=loop.optimising.step,
            steps=loop.plan.steps,
        )
        position.notes.extend(map(english, [*notes, said]))
        yield note(Phase.TRAIN, said)
        return loop

    def _learner(self) -> Learner:
        return Learner(self.task, self.engine, self.parameters)

    def _loop(self, plan: Plan, learner: Learner, position: Position) -> Loop:
        return Loop(
            self.task,
            self.settings,
            plan,
            learner=learner,
            optimising=Optimising(self.task, self.settings, self.engine, steps=plan.steps),
            timer=self.timer,
            position=position,
            saver=None if self.checkpoints is None else Saver(self.checkpoints),
            validate=self.validate,
            log=no_log,
        )

    def _measure(self, learner: Learner, position: Position) -> Generator[Event, None, float]:
        """Seconds for one batch, forward and backward; the first batch is a warm-up and is not counted.

        The task's state is restored afterwards, so that measuring does not change the run.
        """
        before = json.loads(json.dumps(self.task.state()))
        times: list[float] = []
        while len(times) <= MEASURED_BATCHES:
            batch = self.first[len(times) % len(self.first)]
            begun = self.timer.now()
            self.task.random = np.random.default_rng(self.settings.seed)
            if learner.learn(batch, share=1.0) is None:
                learner.clear()
                sentence = learner.make_smaller(max(len(one) for one in self.first))
                position.notes.append(english(sentence))
                yield note(Phase.TRAIN, sentence)
                continue
            times.append(self.timer.now() - begun)
        learner.clear()
        self.task.load_state(before)
        return sum(times[1:]) / MEASURED_BATCHES
