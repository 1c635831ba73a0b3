"""Recipes, training, promotion, rollback and index builds.

Jobs work on what was written for them into a folder of their own and never open the project. A finished job's bundle
is renamed into place first; only then the pointer to the bundle that serves is moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from curator.domain.decisions import Change
from curator.domain.jobs import Activation, ActivationKind, BundleInfo, GateVerdict
from curator.domain.wording import UserError, tr
from curator.services.ports import Cluster, JobHandle
from curator.services.training.bundles import DiskReport, disk_use
from curator.services.training.calibration import Calibrator
from curator.services.training.indexing import IndexBuilder
from curator.services.training.job_chain import OnEnd, OnProgress
from curator.services.training.recipes import FIT, Recipe, find_recipe, load_recipes
from curator.services.training.snapshots import count_gold
from curator.services.training.speeds import Speeds, job_slower_now
from curator.services.training.training_preview import (
    TRAINING,
    TrainingPreview,
    decisions_problem,
    preview,
    refit_problem,
)
from curator.services.training.training_runs import RESUMABLE, SERVES, TrainingRuns
from curator.services.training.unfinished import InterruptedTraining
from curator.services.training.workplace import JobDesk

__all__ = [
    "RESUMABLE",
    "SERVES",
    "InterruptedTraining",
    "OnEnd",
    "OnProgress",
    "Recipe",
    "RetrainingService",
    "TrainingPreview",
]


class RetrainingService:
    def __init__(
        self, desk: JobDesk, indexing: IndexBuilder, calibrator: Calibrator, runs: TrainingRuns, speeds: Speeds
    ) -> None:
        self._desk = desk
        self._indexing = indexing
        self._calibrator = calibrator
        self._speeds = speeds
        self._runs = runs

    def recipes(self) -> list[Recipe]:
        return load_recipes()

    def preview(
        self,
        recipe: str,
        params: Mapping[str, Any] | None = None,
        *,
        device: str = "auto",
        max_minutes: float | None = None,
    ) -> TrainingPreview:
        """Counts the training set; it reads every document of two splits, so call it from a worker thread.

        Raises UserError for an unknown recipe or parameter.
        """
        found, active = find_recipe(recipe), self._desk.switch.active()
        shown = preview(
            self._desk.store,
            found,
            found.values(params),
            speeds=self._speeds,
            device=device,
            slower=job_slower_now(),
            kb_hash=active.kb_hash if active is not None else "",
            max_minutes=max_minutes,
            bundles=[one for one in self.bundles() if active is not None and one.kb_hash == active.kb_hash],
        )
        return replace(shown, problem=shown.problem or self._no_index())

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
        """Train in a child process on the training set; decisions of `test` documents never leave the store.

        The outcome's result holds `bundle` (id), `verdict`, `message`, `active` (whether it serves now) and the job's
        `metrics`; where it was interrupted, `resumable`. With `tensorboard` the live figures are also written into the
        project's `tensorboard/`. A refused bundle is kept and the previous one stays in use.
        Raises UserError for an unknown recipe or parameter, where no bundle serves yet or nothing can be written, and
        while another training runs.
        """
        return self._runs.start(
            recipe,
            params,
            seed=seed,
            device=device,
            max_minutes=max_minutes,
            tensorboard=tensorboard,
            on_progress=on_progress,
            on_end=on_end,
        )

    # --- interrupted trainings ---

    def interrupted(self) -> list[InterruptedTraining]:
        """Trainings whose process or computer died, newest first."""
        return self._runs.interrupted()

    def resume(self, training_id: str = "", *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Resume an interrupted training, by default the newest; the outcome is that of `start`.

        Raises UserError where there is none, where its base bundle or knowledge base is gone, and while another
        training runs.
        """
        return self._runs.resume(training_id, on_progress=on_progress, on_end=on_end)

    def discard_interrupted(self, training_id: str) -> None:
        """Give up an interrupted training and remove what it kept."""
        self._runs.discard(training_id)

    def bundles(self) -> list[BundleInfo]:
        """Oldest first."""
        return self._desk.switch.all()

    def promote(self, bundle_id: str, *, reason: str = "") -> Change:
        """Let this bundle serve: the curator's knowing choice, kept in the history with its reason.

        Raises UserError for one that its gate refused without a reason.
        """
        found = next((one for one in self.bundles() if one.id == bundle_id), None)
        if found is not None and found.verdict is GateVerdict.REFUSED and not reason.strip():
            raise UserError(
                tr(
                    "Linker {bundle_id} did not pass the check. Enter a reason for using it anyway.",
                    bundle_id=bundle_id,
                )
            )
        return self._desk.switch.activate(bundle_id, kind=ActivationKind.CURATOR, reason=reason.strip())

    def activations(self) -> list[Activation]:
        """Which bundle served from when on, by whom and why; oldest first."""
        return self._desk.switch.activations()

    def delete(self, bundle_id: str) -> Change:
        """Remove a bundle from the disk. Raises UserError for the one that serves and for one that a training needs."""
        if self._runs.busy:
            raise UserError(
                tr("A training is running and may need this linker. Delete it when the training has ended.")
            )
        waiting = next((one for one in self.interrupted() if one.base == bundle_id), None)
        if waiting is not None:
            raise UserError(
                tr(
                    "The interrupted training with {recipe} needs the linker {bundle_id}. Resume or "
                    "discard that training first.",
                    recipe=waiting.recipe,
                    bundle_id=bundle_id,
                )
            )
        return self._desk.switch.delete(bundle_id)

    def disk(self) -> DiskReport:
        """What the bundles take; it looks at every file, so call it from a worker thread."""
        return disk_use(self.bundles(), trainings=[one.folder for one in self.interrupted()])

    def earlier(self) -> BundleInfo | None:
        """The bundle that `rollback` goes back to; None where there is none."""
        return self._desk.switch.earlier()

    def rollback(self) -> Change:
        """Back to the bundle that served before. Raises UserError where there is none."""
        return self._desk.switch.rollback()

    def build_index(
        self,
        *,
        lexical_only: bool = False,
        again: bool = False,
        cluster: Cluster | None = None,
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Build the untrained bundles, first lexical, then full; each serves as soon as it is ready. With `cluster` the
        names are encoded by several processes on Ray."""
        return self._indexing.start(
            lexical_only=lexical_only, again=again, cluster=cluster, on_progress=on_progress, on_end=on_end
        )

    def needs_calibration(self) -> bool:
        """Whether the weights should be refitted: the links have doubled since this was last tried."""
        return self._calibrator.is_due()

    def calibrate(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Refit the weights of names, memory, hierarchy and NIL to the decisions of train and validation; see `start`.

        Raises UserError where no bundle serves, there are too few decisions, or a training runs.
        """
        return self._calibrator.start(on_progress=on_progress, on_end=on_end)

    def needs_index(self, *, lexical_only: bool = False) -> bool:
        """Whether no bundle serves the current knowledge base fully (or at all)."""
        return self._indexing.is_needed(lexical_only=lexical_only)

    def problem(self, recipe: str) -> str:
        """Why the decisions do not suffice for a training run; '' when they do."""
        train, held_out = (count_gold(self._desk.store, split) for split in TRAINING)
        if find_recipe(recipe).role == FIT:
            return refit_problem(train.links + held_out.links)
        with self._desk.store.read() as unit:
            documents = sum(unit.documents.counts().documents_by_split.values())
        return decisions_problem(train, held_out, documents=documents)

    # --- inside ----------------------------------------------------------------------------------------------

    def _no_index(self) -> str:
        return tr("The index has not been built yet.") if self.needs_index() else ""
