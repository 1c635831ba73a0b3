"""Refits the serving bundle's fusion weights and NIL threshold on the project's validation decisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from curator.domain.bundles import BundleInfo
from curator.domain.documents import Split
from curator.domain.errors import UserError
from curator.domain.jobs import JobOutcome, JobState
from curator.services.bundles import BundleSwitch
from curator.services.chain import JobChain, OnEnd, OnProgress
from curator.services.ports import BundleStore, JobHandle, JobPort, Store
from curator.services.snapshots import count_gold, write_snapshot
from curator.services.workplace import JobOptions, Workplace

LEAST_NIL = 30
LEAST_LINKS = 100


class Calibrator:
    """A calibrated bundle is a new one that shares its big files; it serves at once, as nothing was trained."""

    def __init__(
        self,
        store: Store,
        jobs: JobPort,
        bundles: BundleStore,
        switch: BundleSwitch,
        workplace: Workplace,
        *,
        options: Callable[[], JobOptions],
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._bundles = bundles
        self._switch = switch
        self._workplace = workplace
        self._options = options

    def is_due(self) -> bool:
        """Whether a bundle serves that is not calibrated here although validation holds enough decisions."""
        active = self._switch.active()
        return active is not None and not active.calibrated and self.is_possible()

    def is_possible(self) -> bool:
        """Whether validation holds 30 NIL and 100 linked decisions."""
        counts = count_gold(self._store, Split.VALIDATION)
        return counts.nils >= LEAST_NIL and counts.links >= LEAST_LINKS

    def start(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Raises UserError where no bundle serves, or validation holds too few decisions."""
        active = self._switch.active()
        if active is None:
            raise UserError("There is no index yet. Import a knowledge base and build its index first.")
        if not self.is_possible():
            raise UserError(
                f"Calibration needs {LEAST_NIL} NIL and {LEAST_LINKS} linked decisions in validation documents. "
                "Decide more of them, or import some with gold."
            )
        folder = self._workplace.new_folder()
        staging = self._bundles.new_staging()
        spec = {
            "snapshot": str(folder),
            "bundle": active.path,
            "staging": str(staging),
            **self._options().spec(),
        }

        def finish(outcome: JobOutcome) -> JobOutcome:
            self._workplace.remove(folder)
            return self._ended(active, staging, outcome)

        chain = JobChain(
            [
                lambda progress, end: self._jobs.run_here(
                    lambda: write_snapshot(self._store, folder, (Split.VALIDATION,), kb_hash=active.kb_hash),
                    on_progress=progress,
                    on_end=end,
                ),
                lambda progress, end: self._jobs.start("calibrate", spec, on_progress=progress, on_end=end),
            ],
            on_progress=on_progress,
            on_end=on_end,
            finish=finish,
        )
        return chain.start()

    def _ended(self, old: BundleInfo, staging: Path, outcome: JobOutcome) -> JobOutcome:
        """The new bundle serves unless another one was made to serve in the meantime."""
        if outcome.state is not JobState.DONE:
            self._bundles.discard(staging)
            return outcome
        try:
            info = self._switch.publish(staging)
        except UserError:
            self._bundles.discard(staging)
            raise
        if self._switch.active_id() == old.id:
            self._switch.activate(info.id)
        return JobOutcome(JobState.DONE, outcome.message, {**outcome.result, "bundle": info.id})
