"""Refits the weights of names, memory, hierarchy and NIL whenever the links have doubled; trains no network."""

from __future__ import annotations

from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.ports.processes import JobHandle
from curator.services.training.job_chain import OnEnd, OnProgress
from curator.services.training.snapshots import count_gold
from curator.services.training.training_preview import refit_problem
from curator.services.training.training_runs import TrainingRuns
from curator.services.training.workplace import JobDesk
from resources.recipe_files import CONVENTIONS, LEAST_REFITTED

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
