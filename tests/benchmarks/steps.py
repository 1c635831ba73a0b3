"""Measures opening the window with the history of 100,000 steps, until it is painted.

`python -m tests.benchmarks.steps PROJECT [--steps 100000] [--times 7]`: in a copy of the project, so many steps are
taken on its mentions. The time is that from the command to the end of the painting with the
lines in it, reading in the background included. What a search over all steps, and the page at their beginning take, is
reported too. The first time, which is reported, the window is built; it stays built when it is closed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from curator.bootstrap import Project, join
from curator.domain.decisions import OperationKind, Verdict
from curator.services.ports.curation import StepFilter
from curator.services.ports.queue import QueueFilter
from curator.services.ports.storage import Store
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.ui.dashboard.step_flows import StepFlows
from tests.benchmarks.copies import copied
from tests.benchmarks.real_window import Desk, desk, display
from tests.benchmarks.targets import tell
from tests.benchmarks.uses import PATIENCE, Painted

MOST_MS = 200.0
PAGE = 300
DECIDED = 20
"""Every so many steps with a decision: the list reads none of them."""


def prepare(project: Project, store: Store, steps: int) -> None:
    """Take so many steps, in one transaction: what is measured is reading them."""
    documents = project.queue.ids(QueueFilter())
    ids = [view.mention.id for one in documents for view in project.queue.open(one).mentions]
    clock, verdict = time.time, Verdict.skip()
    began = clock()
    at = project.curation.decide(ids[0], verdict).operation_id
    with store.write() as unit:
        now = unit.decisions.operation(at or 1)[0].at
        for number in range(steps - 1):
            mention = ids[number % len(ids)]
            text = f"Skipped “mention {number}” (unsure)"
            payload = {"mentions": [mention], "states": []}
            kind = OperationKind.DECIDE
            made = unit.decisions.append_operation(kind, actor="ada", at=now, text=text, payload=payload)
            if number % DECIDED:
                continue
            unit.decisions.append([mention], [verdict], curator="ada", at=now, operation_id=made, shown=[None])
    print(f"{steps:,} steps were taken in {clock() - began:.0f} s")


def opened(one: Desk, flows: StepFlows) -> tuple[float, float]:
    """Milliseconds until the window, opened again, shows the newest steps: of the clock, and of the processor."""
    one.rest(0.5)
    began, worked = time.perf_counter(), time.process_time()
    window = flows.show_steps()
    assert window is not None
    painted = Painted(window.table.viewport())
    filled: list[float] = []
    window.model.modelReset.connect(lambda: filled.append(time.perf_counter()))
    assert one.until(lambda: bool(filled) and painted.at > filled[0], PATIENCE)
    took = 1000 * (painted.at - began), 1000 * (time.process_time() - worked)
    window.done(0)
    return took


def read(project: Project) -> None:
    """What the service takes for a page here and there."""
    for words, where in (("the newest page", StepFilter()), ("a search without a hit", StepFilter(words="nobody"))):
        began = time.perf_counter()
        project.steps.page(where, limit=PAGE)
        print(f"{words}: {1000 * (time.perf_counter() - began):.0f} ms")
    first = project.steps.operation(PAGE)
    began = time.perf_counter()
    project.steps.page(StepFilter(), limit=PAGE, after=first)
    print(f"the oldest page: {1000 * (time.perf_counter() - began):.0f} ms")
    began = time.perf_counter()
    journey = project.steps.journey(first.id)
    print(f"the way back over {len(journey.operations):,} steps: {1000 * (time.perf_counter() - began):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=7)
    chosen = parser.parse_args()
    with display(), copied(chosen.project) as folder:
        store = storage.open_project(folder)
        project = join(store, Settings(), linker=False)
        prepare(project, store, chosen.steps)
        read(project)
        with desk(project) as one:
            flows = one.window.session.features.steps
            assert flows is not None
            times = [opened(one, flows) for _ in range(chosen.times)]
    print("ms:", ", ".join(f"{clock:.0f} ({worked:.0f} of a processor)" for clock, worked in times))
    clock, worked = (statistics.median(column) for column in zip(*times, strict=True))
    note = f"{worked:.0f} ms of a processor; the first {times[0][0]:.0f} ms"
    tell(f"window with the history of {chosen.steps:,} steps, filled", clock, "ms", most=MOST_MS, note=note)


if __name__ == "__main__":
    main()
