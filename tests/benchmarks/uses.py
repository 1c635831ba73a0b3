"""Measures opening the window with a thousand uses of an entity, until it is painted.

`python -m tests.benchmarks.uses PROJECT [--uses 1000] [--times 7]`: in a copy of the project, so many of its mentions
are linked to one entity, each with a suggestion of 64 candidates as the linker stores them. The time is that from the
command to the end of the painting with the lines in it, reading in the background included. The first time, which is
reported too, the window is built; it stays built when it is closed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer

from curator.bootstrap import join
from curator.domain.decisions import Verdict
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.ports.queue import QueueFilter
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.ui.entities.use_flows import UseFlows
from tests.benchmarks.copies import copied
from tests.benchmarks.real_window import Desk, desk, display
from tests.benchmarks.targets import tell

CANDIDATES = 64
PATIENCE = 20.0
MOST_MS = 200.0


def suggestion(mention_id: int, entity_id: str, number: int) -> Suggestion:
    """The entity first, or of every fifth mention further down, with scores of five stages."""
    place, chance = max(number % 5 - 3, 0) * 7, 0.9 - (number % 80) / 100
    ids = [f"X:{number}-{at}" for at in range(CANDIDATES - 1)]
    ids.insert(place, entity_id)
    stages = dict.fromkeys(("lexical", "preferred", "names", "definition", "memory"), 0.123456)
    found = tuple(
        Candidate(one, f"Entity {one}", ("Disease",), one, 0.5, stages, chance if one == entity_id else 0.01)
        for one in ids
    )
    return Suggestion(mention_id, found, NilEstimate(0.1, False, True), Stamp("b", 1), "")


def prepare(folder: Path, uses: int) -> tuple[str, int]:
    """Link so many mentions to the entity that is searched first; returns its id, and how many uses it has."""
    store = storage.open_project(folder)
    project = join(store, Settings(), linker=False)
    entity = project.knowledge.search("hypertension")[0].entity.id
    ids: list[int] = []
    for document in project.queue.ids(QueueFilter()):
        ids += [view.mention.id for view in project.queue.open(document).mentions]
        if len(ids) >= uses:
            break
    if len(ids) < uses:
        raise SystemExit(f"The project has {len(ids):,} mentions; {uses:,} are wanted.")
    project.curation.decide_many(ids[:uses], Verdict.link(entity))
    with store.write() as unit:
        unit.suggestions.save(
            unit.suggestions.packed([suggestion(one, entity, at) for at, one in enumerate(ids[:uses])])
        )
    number = len(project.uses.of(entity).uses)
    project.close()
    return entity, number


class Painted(QObject):
    """When the list with its lines was painted last."""

    def __init__(self, view: QObject) -> None:
        super().__init__(view)
        self.at = 0.0
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self, self._handed_over)
        return False

    def _handed_over(self) -> None:
        self.at = time.perf_counter()


def opened(one: Desk, flows: UseFlows, entity_id: str, uses: int) -> tuple[float, float]:
    """Milliseconds until the window, opened again, shows the uses: of the clock, and of the process on a processor."""
    one.rest(0.5)
    began, worked = time.perf_counter(), time.process_time()
    window = flows.show_uses_of(entity_id)
    assert window is not None
    painted = Painted(window.page.list.viewport())
    filled: list[float] = []
    window.page.listed.connect(
        lambda: filled.append(time.perf_counter()) if len(window.page.list.lines.lines) == uses else None
    )
    assert one.until(lambda: bool(filled) and painted.at > filled[0], PATIENCE)
    took = 1000 * (painted.at - began), 1000 * (time.process_time() - worked)
    window.done(0)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--uses", type=int, default=1000)
    parser.add_argument("--times", type=int, default=7)
    parser.add_argument("--rest", type=float, default=6.0, help="seconds from the window to the first opening")
    parser.add_argument("--language", default="", help="de, for example")
    chosen = parser.parse_args()
    with display(), copied(chosen.project) as folder:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:  # this process reads them first later
            entity_id, number = other.submit(prepare, folder, chosen.uses).result()
        project = join(storage.open_project(folder), Settings(language=chosen.language), linker=False)
        with desk(project) as one:
            one.rest(chosen.rest)
            flows = one.window.session.features.uses
            assert flows is not None
            times = [opened(one, flows, entity_id, number) for _ in range(chosen.times)]
            began = time.perf_counter()
            project.uses.of(entity_id)
            print(f"{number:,} uses are read in {1000 * (time.perf_counter() - began):.0f} ms")
    print("ms:", ", ".join(f"{clock:.0f} ({worked:.0f} of a processor)" for clock, worked in times))
    clock, worked = (statistics.median(column) for column in zip(*times, strict=True))
    note = f"{worked:.0f} ms of a processor; the first {times[0][0]:.0f} ms"
    tell(f"window with {number:,} uses of an entity, filled", clock, "ms", most=MOST_MS, note=note)


if __name__ == "__main__":
    main()
