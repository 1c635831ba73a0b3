"""Measures the list of inconsistencies of a project: first rows, all kinds, and those of one mention.

`python -m tests.benchmarks.inconsistencies PROJECT [--times 9]`: in a copy of the project, with its decisions as they
are. Decisions are counted, and the time is that of the whole call, names of entities included.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from curator.bootstrap import Project, join
from curator.domain.decisions import Outcome
from curator.services.ports.queue import QueueFilter
from curator.settings.schema import Settings
from curator.storage import project as storage
from tests.benchmarks.copies import copied
from tests.benchmarks.targets import quantile, tell

MOST_FIRST_MS, MOST_MS, MOST_SAID_MS = 200.0, 300.0, 10.0
SAMPLE = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--times", type=int, default=9)
    options = parser.parse_args()
    with copied(options.project) as folder:
        project = join(storage.open_project(folder), Settings(), linker=False)
        try:
            measure(project, options.times)
        finally:
            project.close()


def measure(project: Project, times: int) -> None:
    decided = _decided(project)
    found = project.inconsistencies.find()
    seconds = [_timed(project.inconsistencies.find) for _ in range(times)]
    kinds = {one.kind.value: sum(row.kind is one.kind for row in found.rows) for one in found.rows}
    note = f"{len(decided):,} decisions; {kinds}"
    first = [_timed(project.inconsistencies.find_first) for _ in range(times)]
    tell("first rows of the list", 1000 * statistics.median(first), "ms", most=MOST_FIRST_MS)
    tell("list of inconsistencies", 1000 * statistics.median(seconds), "ms", most=MOST_MS, note=note)
    said = [_timed(lambda one=one: project.inconsistencies.contradiction(*one)) for one in decided[:SAMPLE]]
    tell("what contradicts one decision, p99", 1000 * quantile(said, 0.99), "ms", most=MOST_SAID_MS)


def _decided(project: Project) -> list[tuple[int, object]]:
    """Mention ids with their current links and NILs."""
    views = (view for one in project.queue.ids(QueueFilter()) for view in project.queue.open(one).mentions)
    made = [(view.mention.id, view.decision.verdict) for view in views if view.decision is not None]
    return [one for one in made if one[1].outcome in (Outcome.LINK, Outcome.NIL)]


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
