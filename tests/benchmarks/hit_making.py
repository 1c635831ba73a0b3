"""Creates a thousand mentions from ticked hits, and measures how long the window's thread is blocked and when they
appear.

`python -m tests.benchmarks.hit_making PROJECT [--hits 1000] [--times 5]`: in a copy of the project. A timer of the
window's thread ticks every 2 ms; the longest time between two ticks is how long a key would have waited. Before each
repetition, one undo removes the mentions.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from PySide6.QtCore import QTimer

from curator.bootstrap import join
from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.services.queue.corpus_search import CorpusQuery, Hit
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.ui.corpus.corpus_window import CorpusWindow
from tests.benchmarks.copies import copied
from tests.benchmarks.real_window import Desk, desk, display
from tests.benchmarks.targets import tell

QUERY = CorpusQuery("patients")
MOST_MS = 200.0
PATIENCE = 20.0


class Ticks:
    """The longest time between two of the window's ticks."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.perf_counter()
        self._timer = QTimer(interval=2)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.longest, self._last = max(self.longest, now - self._last), now

    def end(self) -> float:
        """Milliseconds."""
        self._tick()
        self._timer.stop()
        return 1000 * self.longest


def made(one: Desk, window: CorpusWindow, hits: list[Hit], entity_id: str) -> tuple[float, float]:
    """Milliseconds that the window's thread was held at most, and until the mentions were there."""
    project, heard = one.bench.project, list[Change]()
    stop = project.events.subscribe(heard.append)
    one.rest(1.0)
    ticks, began = Ticks(), time.perf_counter()
    window.make_wanted.emit(hits, "Disease", Verdict.link(entity_id))
    assert one.until(lambda: any(change.kind is ChangeKind.MENTIONS for change in heard), PATIENCE)
    took = 1000 * (time.perf_counter() - began)
    one.rest(2.0)  # what is painted and searched again after it
    held = ticks.end()
    stop()
    project.curation.undo()
    one.rest(2.0)
    return held, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--hits", type=int, default=1000)
    parser.add_argument("--times", type=int, default=5)
    chosen = parser.parse_args()
    with display(), copied(chosen.project) as folder:
        project = join(storage.open_project(folder), Settings(), linker=False)
        entity_id = project.knowledge.search("hypertension")[0].entity.id
        with desk(project) as one:
            flows = one.window.session.features.corpus
            assert flows is not None
            window = flows.show()
            assert window is not None
            window.start(QUERY.text)
            found = [hit for part in project.corpus.search(QUERY) for hit in part.hits]
            hits = [hit for hit in found if hit.mention is None and hit.bar is None][: chosen.hits]
            one.rest(2.0)
            times = [made(one, window, hits, entity_id) for _ in range(chosen.times)]
            window.done(0)
    print("ms:", ", ".join(f"{held:.0f} held, there after {took:.0f}" for held, took in times))
    held, took = (statistics.median(column) for column in zip(*times, strict=True))
    note = f"the mentions are there after {took:.0f} ms"
    tell(f"{len(hits):,} mentions made, window held", held, "ms", most=MOST_MS, note=note)


if __name__ == "__main__":
    main()
