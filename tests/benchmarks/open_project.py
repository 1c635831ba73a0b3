"""A project of 10,000 documents and 500,000 mentions: opening it, its facets, filters, orders and dashboard.

`python -m tests.benchmarks.open_project [--folder KEPT] [--documents 10000] [--each 50]`: made through the storage
layer's bulk insert, and used again where the folder is kept. *Open* lasts from asking for the project until its first
document and candidates were painted in the real window, the modules that it needs being loaded already. The window's
background counts are measured until they are shown, next to the CPU time of the window's thread.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt

from curator.bootstrap import open_project
from curator.domain.decisions import Verdict
from curator.domain.facets import UNDECIDED, Facet, Facets
from curator.services.ports.queue import QueueFilter
from curator.services.queue.ordering import QueueOrder
from curator.storage import project as storage
from tests.benchmarks.bulk_step import fill
from tests.benchmarks.real_window import Desk, desk, display
from tests.benchmarks.targets import tell

RUNS = 5
OPEN_S = 0.8


def make(folder: Path, documents: int, each: int) -> None:
    """Every third mention of the first tenth of the documents is decided, over some days."""
    began = time.perf_counter()
    store = storage.create_project(folder, name="large")
    try:
        fill(store, documents, each)
    finally:
        store.close()
    project = open_project(folder, linker=False, curator="ada")
    chance = random.Random(0)
    verdicts = [Verdict.link("E0"), Verdict.link("E1"), Verdict.nil(), Verdict.reject()]
    try:
        for start in range(0, documents // 10, 100):
            ids = list(range(start * each + 1, (start + 100) * each + 1, 3))
            project.curation.decide_many(ids, chance.choice(verdicts))
    finally:
        project.close()
    print(f"made in {time.perf_counter() - began:.0f} s: {folder}")


def opened_and_closed(folder: Path) -> None:
    """Once, so that modules and the page cache are warm."""
    with desk(open_project(folder, linker=False, curator="ada")):
        pass


def opening(one: Desk, folder: Path) -> tuple[float, float]:
    """Seconds of the clock and of the window's thread until text and candidates are painted."""
    one.window.session.close()
    one.app.processEvents()
    began, worked = time.perf_counter(), time.thread_time()
    one.window.session.show(open_project(folder, linker=False, curator="ada"))
    bench = one.window.bench
    assert bench is not None
    one.attach(bench)
    one.wait_painted()
    return time.perf_counter() - began, time.thread_time() - worked


def timed(one: Desk, act: Callable[[], object], done: Callable[[], bool]) -> tuple[float, float]:
    began, worked = time.perf_counter(), time.thread_time()
    act()
    if not one.until(done, 60):
        raise SystemExit("The window did not come to an end of it.")
    return time.perf_counter() - began, time.thread_time() - worked


def steps(one: Desk) -> dict[str, list[tuple[float, float]]]:
    """What a curator does with a queue, each from the act until it is shown."""
    queue, found = one.bench.queue, dict[str, list[tuple[float, float]]]()
    idle = lambda: not queue.counting  # noqa: E731
    undecided = QueueFilter(facets=Facets.of({Facet.STATE: frozenset({UNDECIDED}), Facet.TYPE: frozenset({"Disease"})}))

    def note(name: str, act: Callable[[], object]) -> None:
        one.rest(0.6)  # a count that was put off begins
        one.until(idle, 60)
        found.setdefault(name, []).append(timed(one, act, idle))

    note("first facets", queue.focus_facets)
    for _ in range(RUNS):
        note("narrow by two facets", lambda: queue.narrow(undecided))
        note("show everything again", queue.clear)
        note("narrow by words", lambda: queue.narrow(QueueFilter(text="document 77")))
        queue.clear()
        note("order by uncertainty", lambda: queue.set_order(QueueOrder.UNCERTAIN))
        note("order by gain", lambda: queue.set_order(QueueOrder.DIVERSE))
        note("order of documents", lambda: queue.set_order(QueueOrder.DOCUMENT))
        note("next document", lambda: one.press(Qt.Key.Key_PageDown))
        note("accept, facets counted again", lambda: one.press(Qt.Key.Key_Return))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--folder", type=Path, help="made here, or used again where it is there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, display():
        folder = (given.folder or Path(temporary)) / f"large-{given.documents}-{given.each}.curation"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            make(folder, given.documents, given.each)
        measure(folder)


def _tell_opening(opens: list[tuple[float, float]]) -> None:
    clock, worked = (statistics.median(column) for column in zip(*opens, strict=True))
    tell("open 10,000 documents, 500,000 mentions", clock, "s", most=OPEN_S, note=f"processor {worked:.2f} s")


def measure(folder: Path) -> None:
    with desk(open_project(folder, linker=False, curator="ada")) as one:
        opens = [opening(one, folder) for _ in range(RUNS)]
        _tell_opening(opens)
        found = steps(one)
        project = one.bench.project
        began, worked = time.perf_counter(), time.process_time()
        project.statistics.read()
        found["dashboard's figures"] = [(time.perf_counter() - began, time.process_time() - worked)]
    for name, some in found.items():
        clock, worked = (1000 * statistics.median(column) for column in zip(*some, strict=True))
        print(f"  {name:24} median {clock:7.0f} ms   window's thread {worked:6.0f} ms on a processor")


if __name__ == "__main__":
    main()
