"""Builds the untrained bundles of the current knowledge base: a lexical one within seconds, then the full one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from curator.domain.documents import Split
from curator.domain.jobs import BundleInfo, JobOutcome, JobState
from curator.domain.wording import UserError, tr
from curator.services.ports.processes import Cluster, JobHandle
from curator.services.training.bundles import FULL_STAGE, UNTRAINED
from curator.services.training.job_chain import JobChain, OnEnd, OnProgress, Step
from curator.services.training.snapshots import count_gold, write_knowledge_base
from curator.services.training.training_preview import refit_problem
from curator.services.training.training_runs import TrainingRuns
from curator.services.training.workplace import JobDesk
from resources.recipe_files import CONVENTIONS, LEAST_REFITTED

LEXICAL = ("lexical",)
FULL = ("lexical", FULL_STAGE)
UNREAD = (
    "The new linker is not in use, since the disk does not give the one in use, which may have been trained. Check the "
    "disk, then choose a linker in Model › Linkers."
)


class IndexBuilder:
    def __init__(self, desk: JobDesk, calibrator: Calibrator) -> None:
        self._desk = desk
        self._calibrator = calibrator

    def is_needed(self, *, lexical_only: bool = False) -> bool:
        """False without a knowledge base: there is nothing to build."""
        self._desk.require_role()
        with self._desk.store.read() as unit:
            if unit.kb.info() is None:
                return False
        wanted = LEXICAL[0] if lexical_only else FULL_STAGE
        return not any(wanted in one.stages for one in self._desk.switch.serving())

    def start(
        self,
        *,
        lexical_only: bool = False,
        again: bool = False,
        cluster: Cluster | None = None,
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Build the bundles. Raises UserError without a knowledge base. An existing lexical bundle is only rebuilt with
        `again`. With `cluster` the names are first encoded on Ray.

        If there are enough decisions, the full bundle is calibrated on them as a last step.
        """
        with self._desk.store.read() as unit:
            info = unit.kb.info()
            if info is None:
                raise UserError(tr("There is no knowledge base to index. Import one first (`curator kb import`)."))
        folder = self._desk.workplace.new_folder()
        kb = folder / "kb.jsonl"
        steps: list[Step] = [
            lambda progress, end: self._desk.jobs.run_here(
                lambda: write_knowledge_base(self._desk.store, kb), on_progress=progress, on_end=end
            )
        ]
        if again or self.is_needed(lexical_only=True):
            steps.append(lambda progress, end: self._build(kb, info.content_hash, LEXICAL, progress, end))
        if not lexical_only:
            if cluster is not None:
                steps.append(lambda progress, end: self._encode(kb, cluster, progress, end))
            steps.append(lambda progress, end: self._build(kb, info.content_hash, FULL, progress, end))
            if self._calibrator.is_possible():
                steps.append(lambda progress, end: self._calibrator.start(on_progress=progress, on_end=end))

        def finish(outcome: JobOutcome) -> JobOutcome:
            self._desk.workplace.remove(folder)
            return outcome

        repeats = cluster is None  # Ray's processes may still be ending
        return JobChain(steps, on_progress=on_progress, on_end=on_end, finish=finish, repeats=repeats).start()

    def _build(
        self, kb: Path, content: str, stages: tuple[str, ...], on_progress: OnProgress, on_end: OnEnd
    ) -> JobHandle:
        staging = self._desk.bundles.new_staging()
        options = self._desk.options()
        spec: dict[str, Any] = {
            "kb": str(kb),
            "staging": str(staging),
            "stages": list(stages),
            "encoder": options.encoder,
            "index": options.index,
            "lexical": options.lexical,
            "precision": options.precision,
            **options.spec(),
        }

        def ended(outcome: JobOutcome) -> None:
            on_end(self._ended(staging, content, outcome))

        try:
            return self._desk.jobs.start("index", spec, on_progress=on_progress, on_end=ended)
        except UserError:
            self._desk.bundles.discard(staging)
            raise

    def _encode(self, kb: Path, cluster: Cluster, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        options = self._desk.options()
        own = {"kb": str(kb), "work": str(kb.parent), "cluster": asdict(cluster)}
        spec = {**own, "encoder": options.encoder, "precision": options.precision, **options.spec()}
        return self._desk.jobs.start("bulk", spec, on_progress=on_progress, on_end=on_end)

    def _ended(self, staging: Path, content: str, outcome: JobOutcome) -> JobOutcome:
        if outcome.state is not JobState.DONE:
            self._desk.bundles.discard(staging)
            return outcome
        try:
            info = self._desk.switch.publish(staging)
            active = self._desk.switch.active()
            if active is None and self._desk.switch.is_unread():
                message = f"{outcome.message} {tr(UNREAD)}".strip()
                return JobOutcome(JobState.DONE, message, {**outcome.result, "bundle": info.id})
            if active is None or _is_no_less(info, active):
                self._desk.switch.activate(info.id, kb=content)
        except UserError as error:
            self._desk.bundles.discard(staging)
            return JobOutcome(JobState.FAILED, str(error))
        return JobOutcome(JobState.DONE, outcome.message, {**outcome.result, "bundle": info.id})


def _is_no_less(new: BundleInfo, active: BundleInfo) -> bool:
    """A trained bundle is not replaced by an untrained one, nor a full one by the lexical one that is built on the way
    to the next: if that is cancelled or fails, the full one is still in use."""
    return active.recipe in UNTRAINED and set(active.stages) <= set(new.stages)


# Refits the weights of names, memory, hierarchy and NIL whenever the links have doubled; trains no network.

TEACHING = (Split.TRAIN, Split.VALIDATION)  # never TEST
LINKS = "links"
"""Key in a bundle's metrics: the number of linked decisions when it was made."""


class Calibrator:
    """Starts the recipe “conventions”: its bundle shares every large file with the one in use, and replaces it if it is
    better on decisions that it was not fitted on."""

    def __init__(self, desk: JobDesk, runs: TrainingRuns) -> None:
        self._desk = desk
        self._runs = runs

    def is_due(self) -> bool:
        """Whether an untrained bundle is in use and the number of links has doubled since the last try.

        A training refits the weights as its last step.
        """
        active = self._desk.switch.active()
        if active is None or active.recipe not in ("untrained", CONVENTIONS) or self._runs.busy:
            return False
        tried = [one for one in self._desk.switch.all() if one.recipe == CONVENTIONS and one.kb_hash == active.kb_hash]
        before = max((int(one.metrics.get(LINKS, 0)) for one in tried), default=0)
        return self._links() >= max(LEAST_REFITTED, 2 * before)

    def is_possible(self) -> bool:
        """Whether there are 200 linked decisions in train and validation documents, and no training is running."""
        return not self._runs.busy and self._links(enough=LEAST_REFITTED) >= LEAST_REFITTED

    def start(self, *, on_progress: OnProgress, on_end: OnEnd) -> JobHandle:
        """Start it. Raises UserError if no bundle is in use, there are too few decisions, or a training is running."""
        if self._desk.switch.active() is not None and (problem := refit_problem(self._links(enough=LEAST_REFITTED))):
            raise UserError(problem)
        return self._runs.start(CONVENTIONS, on_progress=on_progress, on_end=on_end)

    def _links(self, *, enough: int | None = None) -> int:
        """The number of links; with `enough`, at least so many of them if there are: the window waits for this, and to
        count all takes a second with 8,000 decided documents."""
        return sum(count_gold(self._desk.store, split, enough=enough).links for split in TEACHING)
