"""Recipes, training, promotion, rollback and index builds.

Jobs work on what was written for them into a folder of their own and never open the project. A finished job's bundle
is renamed into place first; only then the pointer to the bundle that serves is moved.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from curator.domain.bundles import BundleInfo, GateVerdict
from curator.domain.changes import Change
from curator.domain.documents import Split
from curator.domain.errors import UserError
from curator.domain.jobs import JobOutcome, JobState
from curator.services.calibration import Calibrator
from curator.services.chain import JobChain, OnEnd, OnProgress
from curator.services.indexing import IndexBuilder
from curator.services.jobdesk import JobDesk
from curator.services.ports import JobHandle
from curator.services.recipes import Parameter, Recipe, estimated_seconds, find_recipe, load_recipes
from curator.services.snapshots import count_gold, write_snapshot
from curator.services.speeds import Speeds

__all__ = ["OnEnd", "OnProgress", "Parameter", "Recipe", "RetrainingService", "TrainingPreview"]
SERVES = (GateVerdict.PROMOTE, GateVerdict.NO_GAIN)
"""Verdicts after which the new bundle serves: recall@1 of the whole linker did not fall."""
LEAST_DECISIONS = 20
TRAINING = (Split.TRAIN, Split.VALIDATION)  # never TEST


@dataclass(frozen=True, slots=True)
class TrainingPreview:
    """What a training run would learn from, and an estimate of its minutes; `basis` says where that comes from.

    `problem` is '' or the sentence that says why it cannot start.
    """

    documents: int
    links: int
    nils: int
    entities: int
    validation_documents: int
    validation_decisions: int
    minutes: float
    basis: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Run:
    """One training run under way."""

    recipe: str
    device: str
    staging: Path
    folder: Path
    predicted: Callable[[], float]  # seconds, by the recipe's own figures
    started: float
    timed: bool  # without a time budget, so that its duration tells something about the next one's


class RetrainingService:
    def __init__(self, desk: JobDesk, indexing: IndexBuilder, calibrator: Calibrator, speeds: Speeds) -> None:
        self._desk = desk
        self._indexing = indexing
        self._calibrator = calibrator
        self._speeds = speeds

    def recipes(self) -> list[Recipe]:
        return load_recipes()

    def preview(self, recipe: str, params: Mapping[str, Any] | None = None, *, device: str = "auto") -> TrainingPreview:
        """Counts the training set; it reads every document of two splits, so call it from a worker thread.

        Raises UserError for an unknown recipe or parameter.
        """
        found = find_recipe(recipe)
        values = found.values(params)
        train, held_out = (count_gold(self._desk.store, split) for split in TRAINING)
        factor, basis = self._speeds.factor(recipe, device)
        seconds = estimated_seconds(found, values, decisions=train.decisions, entities=self._entities())
        return TrainingPreview(
            documents=train.documents,
            links=train.links,
            nils=train.nils,
            entities=len(train.entities),
            validation_documents=held_out.documents,
            validation_decisions=held_out.decisions,
            minutes=seconds * factor / 60,
            basis=basis,
            problem=_problem(train.links, held_out.links) or self._no_index(),
        )

    def start(
        self,
        recipe: str,
        params: Mapping[str, Any] | None = None,
        *,
        seed: int = 0,
        device: str = "auto",
        max_minutes: float | None = None,
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Train in a child process on the training set; decisions of `test` documents never leave the store.

        The outcome's result holds `bundle` (id), `verdict`, `message`, `active` (whether it serves now) and the job's
        `metrics`. A refused bundle is kept in the history and the one before goes on serving.
        Raises UserError for an unknown recipe or parameter, and where no bundle serves yet.
        """
        found = find_recipe(recipe)
        values = found.values(params)
        base = self._base()
        folder = self._desk.workplace.new_folder()
        run = _Run(
            recipe=recipe,
            device=device,
            staging=self._desk.bundles.new_staging(),
            folder=folder,
            predicted=lambda: self._predicted(found, values),
            started=time.monotonic(),
            timed=max_minutes is None,
        )
        spec = {
            "snapshot": str(folder / "snapshot"),
            "base": base.path,
            "staging": str(run.staging),
            "recipe": recipe,
            "parameters": values,
            "seed": seed,
            **self._desk.options().spec(),
            "device": device,
            "max_minutes": max_minutes,
        }
        chain = JobChain(
            [
                lambda progress, end: self._desk.jobs.run_here(
                    lambda: write_snapshot(self._desk.store, folder / "snapshot", TRAINING, kb_hash=base.kb_hash),
                    on_progress=progress,
                    on_end=end,
                ),
                lambda progress, end: self._desk.jobs.start("train", spec, on_progress=progress, on_end=end),
            ],
            on_progress=on_progress,
            on_end=on_end,
            finish=lambda outcome: self._finish(run, outcome),
        )
        return chain.start()

    def bundles(self) -> list[BundleInfo]:
        """Oldest first."""
        return self._desk.switch.all()

    def promote(self, bundle_id: str) -> Change:
        """Let this bundle serve, whatever its gate said: the curator's knowing choice."""
        return self._desk.switch.activate(bundle_id)

    def rollback(self) -> Change:
        """Back to the bundle that served before. Raises UserError where there is none."""
        return self._desk.switch.rollback()

    def build_index(
        self, *, lexical_only: bool = False, anew: bool = False, on_progress: OnProgress, on_end: OnEnd
    ) -> JobHandle:
        """Build the untrained bundles, first lexical, then full; each serves as soon as it is ready."""
        return self._indexing.start(lexical_only=lexical_only, anew=anew, on_progress=on_progress, on_end=on_end)

    def needs_calibration(self) -> bool:
        """Whether validation holds enough decisions and the serving bundle is not calibrated on them."""
        return self._calibrator.is_due()

    def calibrate(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Refit fusion weights and the NIL threshold on validation; the calibrated bundle serves when it is ready.

        Raises UserError where no bundle serves or validation holds too few decisions.
        """
        return self._calibrator.start(on_progress=on_progress, on_end=on_end)

    def needs_index(self, *, lexical_only: bool = False) -> bool:
        """Whether no bundle serves the current knowledge base fully (or at all)."""
        return self._indexing.is_needed(lexical_only=lexical_only)

    # --- inside ----------------------------------------------------------------------------------------------

    def problem(self) -> str:
        """Why the decisions do not suffice for a training run; '' when they do."""
        train, held_out = (count_gold(self._desk.store, split) for split in TRAINING)
        return _problem(train.links, held_out.links)

    def _no_index(self) -> str:
        return "The index is not built yet." if self.needs_index() else ""

    def _entities(self) -> int:
        with self._desk.store.read() as unit:
            info = unit.kb.info()
        return info.entities if info else 0

    def _base(self) -> BundleInfo:
        base = self._desk.switch.active()
        if base is None:
            raise UserError("There is no index yet. Import a knowledge base and build its index first.")
        return base

    def _predicted(self, recipe: Recipe, values: Mapping[str, Any]) -> float:
        decisions = count_gold(self._desk.store, Split.TRAIN).decisions
        return estimated_seconds(recipe, values, decisions=decisions, entities=self._entities())

    def _finish(self, run: _Run, outcome: JobOutcome) -> JobOutcome:
        self._desk.workplace.remove(run.folder)
        if outcome.state is not JobState.DONE:
            self._desk.bundles.discard(run.staging)
            return outcome
        try:
            info = self._desk.switch.publish(run.staging)
        except UserError:
            self._desk.bundles.discard(run.staging)
            raise
        verdict = GateVerdict(outcome.result.get("verdict", info.verdict))
        active = verdict in SERVES
        if active:
            self._desk.switch.activate(info.id)
        if run.timed:
            seconds = time.monotonic() - run.started
            self._speeds.measured(run.recipe, run.device, predicted=run.predicted(), seconds=seconds)
        result = {**outcome.result, "bundle": info.id, "verdict": verdict.value, "active": active}
        return replace(outcome, result=result)


def _problem(links: int, held_out: int) -> str:
    if links < LEAST_DECISIONS:
        return f"Training needs at least {LEAST_DECISIONS} links in train documents; there are {links}."
    if not held_out:
        return "No validation document holds a link: put some documents into the split validation to judge the result."
    return ""
