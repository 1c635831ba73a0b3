"""Training runs: starting, resuming after a crash and ending them, with their folders and bundles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from curator.domain.jobs import BundleInfo, GateVerdict, JobOutcome, JobState
from curator.domain.wording import UserError, tr
from curator.services.ports.processes import JobHandle
from curator.services.training.job_chain import JobChain, OnEnd, OnProgress, Step
from curator.services.training.recipes import checked_values, find_recipe
from curator.services.training.snapshots import INDEX, write_snapshot
from curator.services.training.training_preview import TRAINING
from curator.services.training.workplace import (
    SNAPSHOT,
    InterruptedTraining,
    JobDesk,
    TrainingFolders,
    has_state,
    reached,
)

SERVES = (GateVerdict.PROMOTE,)
"""Verdicts after which the new bundle is put into use, because it is better. A bundle that is only as good would cost
time for every mention without a gain; it is kept, and the curator can promote it."""
RESUMABLE = "resumable"
"""Key of an outcome's result: the id of the interrupted training that can be resumed."""
TENSORBOARD = "tensorboard"
"""The project's folder for TensorBoard files, if requested."""
CLOSING = "closing"
"""Key of an outcome's result: the training ended because the program was closed, not by cancellation."""
INTERRUPTED = "To resume it, choose Model › Resume the interrupted training, or run `curator train P --resume`."
STUCK = (
    "It got no further than the last time. If the cause has not been fixed, discard it under Model › "
    "Resume the interrupted training and start a new one."
)
WAITING = 50
"""Documents without a decision in a training's snapshot: the outcome shows how their suggestions would change."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One running training; `resumed_at`: the time of the state that it resumes from."""

    staging: Path
    folder: Path
    resumed_at: datetime | None


class TrainingRuns:
    """At most one at a time."""

    def __init__(self, desk: JobDesk) -> None:
        self._desk = desk
        self._folders = TrainingFolders(desk.store.folder, read_only=desk.store.read_only)

    @property
    def busy(self) -> bool:
        """Whether a training of this process is running."""
        return self._folders.busy

    def start(
        self,
        recipe: str,
        params: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        device: str = "auto",
        max_minutes: float | None = None,
        tensorboard: bool = False,
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Train in a child process on the training set; decisions of `test` documents are never written out.

        The outcome's result holds `bundle` (id), `verdict`, `message`, `active` (whether it is now in use) and the
        job's `metrics`; if it was interrupted, `resumable`. With `tensorboard` the live figures are also written into
        the project's `tensorboard/`. A refused bundle is kept and the previous one stays in use. Raises UserError for
        an unknown recipe or parameter, if no bundle is in use yet or nothing can be written, and while another training
        is running.
        """
        found = find_recipe(recipe)
        values = checked_values(found, params)
        base = self._base()
        self._desk.require_role()
        self._refuse_second()
        spec = {
            "recipe": recipe,
            "parameters": values,
            "seed": seed,
            **self._desk.options().spec(),
            "device": device,
            "max_minutes": max_minutes,
            "tensorboard": f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{recipe}" if tensorboard else "",
        }
        folder = self._folders.new({**spec, "base": base.id, "kb_hash": base.kb_hash})
        run = self._run(folder)
        write: Step = lambda progress, end: self._desk.jobs.run_here(  # noqa: E731
            lambda: write_snapshot(
                self._desk.store, folder / SNAPSHOT, TRAINING, kb_hash=base.kb_hash, waiting=WAITING
            ),
            on_progress=progress,
            on_end=end,
        )
        return self._chain(run, [write, self._train(run, spec, base)], on_progress, on_end)

    def interrupted(self) -> list[InterruptedTraining]:
        """Trainings whose process or computer died, newest first."""
        return self._folders.interrupted()

    def resume(self, training_id: str = "", *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Resume an interrupted training, by default the newest, with its decisions; the outcome is that of `start`.

        Raises UserError if there is none, if its base bundle or knowledge base is gone, and while another training is
        running.
        """
        self._desk.require_role()
        self._refuse_second()
        found = next((one for one in self.interrupted() if training_id in ("", one.id)), None)
        if found is None:
            raise UserError(tr("There is no interrupted training to resume. Start a new one."))
        base = self._base_of(found)
        self._folders.take_up(found)
        spec = {key: value for key, value in found.spec.items() if key not in ("base", "kb_hash", "began")}
        try:
            run = self._run(found.folder)
        except UserError:
            self._folders.ended(found.folder, keep=True)
            raise
        return self._chain(run, [self._train(run, spec, base)], on_progress, on_end)

    def discard_interrupted(self, training_id: str) -> None:
        """Discard an interrupted training and its stored state."""
        self._folders.discard(training_id)

    # --- inside ---

    def _base(self) -> BundleInfo:
        base = self._desk.switch.active()
        if base is None:
            raise UserError(tr("There is no index yet. Import a knowledge base and build its index first."))
        return base

    def _base_of(self, training: InterruptedTraining) -> BundleInfo:
        """The bundle that an interrupted training started from."""
        there = {one.id: one for one in self._desk.switch.all()}
        if training.base not in there:
            raise UserError(
                tr(
                    "The linker {base}, from which this training started, no longer exists. Discard the "
                    "training and start a new one.",
                    base=training.base,
                )
            )
        active = self._desk.switch.active()
        if active is not None and active.kb_hash != training.kb_hash:
            raise UserError(
                tr(
                    "The knowledge base has been replaced since this training started. Discard the training "
                    "and start a new one."
                )
            )
        return there[training.base]

    def _refuse_second(self) -> None:
        if self._folders.busy:
            raise UserError(tr("A training is already running. Wait until it ends, or cancel it."))

    def _run(self, folder: Path) -> _Run:
        """Run a training. Raises UserError, and removes the working folder, if no staging folder can be created."""
        try:
            staging = self._desk.bundles.new_staging()
        except UserError:
            self._folders.ended(folder, keep=has_state(folder))
            raise
        return _Run(staging, folder, reached(folder))

    def _train(self, run: _Run, spec: Mapping[str, Any], base: BundleInfo) -> Step:
        """Start the job. Only this method sets the paths that it writes to, since a resumed job's specification comes
        from the project."""
        places = {
            "snapshot": str(run.folder / SNAPSHOT),
            "base": base.path,
            "staging": str(run.staging),
            "work": str(run.folder),
        }
        if spec.get("tensorboard"):
            places["tensorboard"] = str(self._desk.store.folder / TENSORBOARD / Path(str(spec["tensorboard"])).name)
        rest = {key: value for key, value in spec.items() if key != "tensorboard"}
        return lambda progress, end: self._desk.jobs.start(
            "train", {**rest, **places}, on_progress=progress, on_end=end
        )

    def _chain(self, run: _Run, steps: Sequence[Step], on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        finish = partial(self._finish, run)
        return JobChain(steps, on_progress=on_progress, on_end=on_end, finish=finish).start()

    def _finish(self, run: _Run, outcome: JobOutcome) -> JobOutcome:
        if outcome.state is not JobState.DONE:
            self._desk.bundles.discard(run.staging)
            return self._interrupt(run, outcome)
        try:
            info = self._desk.switch.publish(run.staging)
        except UserError:
            self._desk.bundles.discard(run.staging)
            self._folders.ended(run.folder, keep=has_state(run.folder))
            raise
        self._folders.ended(run.folder, keep=False)
        verdict = GateVerdict(outcome.result.get("verdict", info.verdict))
        active = verdict in SERVES
        if active:
            self._desk.switch.activate(info.id, reason=outcome.message)
        result = {**outcome.result, "bundle": info.id, "verdict": verdict.value, "active": active}
        return replace(outcome, result=result)

    def _interrupt(self, run: _Run, outcome: JobOutcome) -> JobOutcome:
        """Keep the state of a training whose process died or that ended with the program; a cancelled training leaves
        nothing."""
        if outcome.state is JobState.FAILED:
            keep = has_state(run.folder)  # a full disk, for example; without a state there is nothing to resume from
        else:
            stopped = outcome.state is JobState.CRASHED or bool(outcome.result.get(CLOSING))
            keep = stopped and (run.folder / SNAPSHOT / INDEX).is_file()
        self._folders.ended(run.folder, keep=keep)
        if not keep or outcome.result.get(CLOSING):
            return outcome
        words = outcome.message.replace(tr("; start it again"), "")
        stuck = run.resumed_at is not None and run.resumed_at == reached(run.folder)
        return replace(
            outcome,
            message=f"{words} {tr(STUCK if stuck else INTERRUPTED)}",
            result={**outcome.result, RESUMABLE: run.folder.name},
        )
