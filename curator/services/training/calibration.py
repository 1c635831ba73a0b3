"""Refits the serving bundle's weights and NIL model on the project's decisions, once validation holds enough."""

from __future__ import annotations

from pathlib import Path

from curator.domain.documents import Split
from curator.domain.jobs import BundleInfo, JobOutcome, JobState
from curator.domain.wording import UserError, tr
from curator.services.ports import JobHandle
from curator.services.training.chain import JobChain, OnEnd, OnProgress
from curator.services.training.snapshots import count_gold, write_snapshot
from curator.services.training.workplace import JobDesk

TEACHING = (Split.TRAIN, Split.VALIDATION)  # never TEST
LEAST_NIL = 30
LEAST_LINKS = 100


class Calibrator:
    """A calibrated bundle is a new one that shares its big files; it serves at once, as nothing was trained."""

    def __init__(self, desk: JobDesk) -> None:
        self._desk = desk

    def is_due(self) -> bool:
        """Whether a bundle serves that is not calibrated here although validation holds enough decisions.

        One whose calibrated twin is there was gone back to by the curator, and stays.
        """
        active = self._desk.switch.active()
        if active is None or any(one.calibrated and one.stages == active.stages for one in self._desk.switch.serving()):
            return False
        return self.is_possible()

    def is_possible(self) -> bool:
        """Whether validation holds 30 NIL and 100 linked decisions."""
        counts = count_gold(self._desk.store, Split.VALIDATION)
        return counts.nils >= LEAST_NIL and counts.links >= LEAST_LINKS

    def start(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Raises UserError where no bundle serves, or validation holds too few decisions."""
        active = self._desk.switch.active()
        if active is None:
            raise UserError(tr("There is no index yet. Import a knowledge base and build its index first."))
        if not self.is_possible():
            raise UserError(
                tr(
                    "Calibration needs {least_nil} NIL and {least_links} linked decisions in validation "
                    "documents. Decide more of them, or import some with gold.",
                    least_nil=LEAST_NIL,
                    least_links=LEAST_LINKS,
                )
            )
        folder = self._desk.workplace.new_folder()
        staging = self._desk.bundles.new_staging()
        spec = {
            "snapshot": str(folder),
            "bundle": active.path,
            "staging": str(staging),
            **self._desk.options().spec(),
        }

        def finish(outcome: JobOutcome) -> JobOutcome:
            self._desk.workplace.remove(folder)
            return self._ended(active, staging, outcome)

        chain = JobChain(
            [
                lambda progress, end: self._desk.jobs.run_here(
                    lambda: write_snapshot(self._desk.store, folder, TEACHING, kb_hash=active.kb_hash),
                    on_progress=progress,
                    on_end=end,
                ),
                lambda progress, end: self._desk.jobs.start("calibrate", spec, on_progress=progress, on_end=end),
            ],
            on_progress=on_progress,
            on_end=on_end,
            finish=finish,
        )
        return chain.start()

    def _ended(self, old: BundleInfo, staging: Path, outcome: JobOutcome) -> JobOutcome:
        """The new bundle serves unless another one was made to serve in the meantime."""
        if outcome.state is not JobState.DONE:
            self._desk.bundles.discard(staging)
            return outcome
        try:
            info = self._desk.switch.publish(staging)
        except UserError:
            self._desk.bundles.discard(staging)
            raise
        if self._desk.switch.active_id() == old.id:
            self._desk.switch.activate(info.id)
        return JobOutcome(JobState.DONE, outcome.message, {**outcome.result, "bundle": info.id})
