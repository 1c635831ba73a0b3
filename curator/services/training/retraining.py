"""Recipes, training, promotion, rollback and index builds.

Jobs use only data written for them into their own folder and never open the project. A finished job's bundle is renamed
into place first; only then the pointer to the bundle in use is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from curator.domain.decisions import Change
from curator.domain.jobs import Activation, ActivationKind, BundleInfo, GateVerdict
from curator.domain.wording import UserError, tr
from curator.services.ports.processes import Cluster, JobHandle
from curator.services.training.bundles import DiskReport, disk_use
from curator.services.training.indexing import Calibrator, IndexBuilder
from curator.services.training.job_chain import OnEnd, OnProgress
from curator.services.training.recipes import FIT, checked_values, find_recipe, load_recipes
from curator.services.training.snapshots import count_gold
from curator.services.training.training_preview import (
    TRAINING,
    TrainingPreview,
    decisions_problem,
    preview,
    refit_problem,
)
from curator.services.training.training_runs import RESUMABLE, SERVES, TrainingRuns
from curator.services.training.workplace import InterruptedTraining, JobDesk
from resources.recipe_files import Recipe

__all__ = [
    "RESUMABLE",
    "SERVES",
    "InterruptedTraining",
    "OnEnd",
    "OnProgress",
    "RetrainingService",
    "TrainingPreview",
]


class RetrainingService(TrainingRuns):
    def __init__(self, desk: JobDesk) -> None:
        super().__init__(desk)
        self._calibrator = Calibrator(desk, self)
        self._indexing = IndexBuilder(desk, self._calibrator)

    def recipes(self) -> list[Recipe]:
        return load_recipes()

    def preview(self, recipe: str, params: Mapping[str, Any] | None = None) -> TrainingPreview:
        """Counts the training set; it reads every document of two splits, so call it from a worker thread.

        Raises UserError for an unknown recipe or parameter.
        """
        found, active = find_recipe(recipe), self._desk.switch.active()
        shown = preview(
            self._desk.store,
            found,
            checked_values(found, params),
            bundles=[one for one in self.bundles() if active is not None and one.kb_hash == active.kb_hash],
        )
        return replace(shown, problem=shown.problem or self._no_index())

    def bundles(self) -> list[BundleInfo]:
        """All bundles, oldest first."""
        return self._desk.switch.all()

    def promote(self, bundle_id: str, *, reason: str = "") -> Change:
        """Put this bundle into use by the curator's choice, recorded in the history with its reason.

        Raises UserError if its gate refused it and no reason is given.
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
        """Since when, by whom and why each bundle was in use; oldest first."""
        return self._desk.switch.activations()

    def delete(self, bundle_id: str) -> Change:
        """Delete a bundle. Raises UserError for the one in use and for one that a training needs."""
        if self.busy:
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
        """Disk usage of the bundles; it checks every file, so call it from a worker thread."""
        return disk_use(self.bundles(), trainings=[one.folder for one in self.interrupted()])

    def earlier(self) -> BundleInfo | None:
        """The bundle to which `rollback` returns; None if there is none."""
        return self._desk.switch.earlier()

    def rollback(self) -> Change:
        """Return to the bundle used before. Raises UserError if there is none."""
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
        """Build the untrained bundles, first lexical, then full; each is used as soon as it is ready. With `cluster`
        the names are encoded by several processes on Ray."""
        return self._indexing.start(
            lexical_only=lexical_only, again=again, cluster=cluster, on_progress=on_progress, on_end=on_end
        )

    def needs_calibration(self) -> bool:
        """Whether the weights should be refitted: the links have doubled since this was last tried."""
        return self._calibrator.is_due()

    def calibrate(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Refit the weights of names, memory, hierarchy and NIL to the decisions of train and validation; see `start`.

        Raises UserError if no bundle is in use, there are too few decisions, or a training is running.
        """
        return self._calibrator.start(on_progress=on_progress, on_end=on_end)

    def needs_index(self, *, lexical_only: bool = False) -> bool:
        """Whether there is no full bundle (or none at all) for the current knowledge base."""
        return self._indexing.is_needed(lexical_only=lexical_only)

    def problem(self, recipe: str) -> str:
        """Why the decisions do not suffice for a training run; '' if they do."""
        train, held_out = (count_gold(self._desk.store, split) for split in TRAINING)
        if find_recipe(recipe).role == FIT:
            return refit_problem(train.links + held_out.links)
        with self._desk.store.read() as unit:
            documents = sum(unit.documents.counts().documents_by_split.values())
        return decisions_problem(train, held_out, documents=documents)

    # --- inside ----------------------------------------------------------------------------------------------

    def _no_index(self) -> str:
        return tr("The index has not been built yet.") if self.needs_index() else ""
