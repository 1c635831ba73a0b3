"""The hierarchy of a real knowledge base: the time to open the tree, and a node with its children.

    .venv/bin/python -m tests.benchmarks.kb_tree                         # the real knowledge base, else the demo's
    .venv/bin/python -m tests.benchmarks.kb_tree --wide 200000           # one node with so many children instead

*Tree* lasts from the key until the topmost entities are painted, *open at* until the way down to an entity is, *node*
from the key until its children are; each in the window, with the reading in its thread. By the clock, and in CPU time
of all threads (on a busy machine, clock time depends on the other work). Python's garbage collection is off, as they
are in the window while a key is answered (see `curator/ui/shell/quiet_time.py`): a full one takes 0.1 s after so large
an import.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from curator.bootstrap import join
from curator.services.knowledge.hierarchy import HierarchyService
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.storage.store import SqlStore
from tests.curator.services.fakes import context

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "resources/demo/pubmed/kb.jsonl"
REAL = (ROOT.parent / "shared/data/kb/mesh_medic.jsonl.gz", Path("/work/shared/data/kb/mesh_medic.jsonl.gz"))
TREE_MS, NODE_MS = 100.0, 50.0
Took = tuple[float, float]  # milliseconds by the clock and on a processor


def loaded(folder: Path, wide: int) -> SqlStore:
    store = storage.create_project(folder / "tree.curation", name="tree")
    source = next((one for one in REAL if one.is_file()), DEMO)
    if wide:
        source = folder / "wide.jsonl"
        with source.open("w", encoding="utf-8") as out:
            out.write(json.dumps({"id": "TOP", "name": "Top"}) + "\n")
            for number in range(wide):
                out.write(json.dumps({"id": f"C:{number}", "name": f"Child {number}", "parents": ["TOP"]}) + "\n")
    began = time.perf_counter()
    project = join(store, Settings(), linker=False)
    for _ in project.importing.knowledge_base(source):
        pass
    print(f"{source.name}: imported in {time.perf_counter() - began:.1f} s")
    return store


def measured(store: SqlStore, nodes: int) -> tuple[list[Took], list[Took], list[Took]]:
    """Milliseconds of the tree, of a way down, and of each of some nodes with many children."""
    from PySide6.QtCore import QEventLoop
    from PySide6.QtWidgets import QApplication

    from curator.ui.candidates.tree_pane import TreePane

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    hierarchy = HierarchyService(context(store))

    def pane() -> TreePane:
        made = TreePane(
            lambda one, start: hierarchy.narrower(one, start=start), hierarchy.way, lambda _: (), lambda _: None
        )
        made.resize(400, 800)
        made.show()
        app.processEvents()
        return made

    def timed(one: TreePane, act: Callable[[], object], done: Callable[[], bool]) -> Took:
        began, worked = time.perf_counter(), time.process_time()
        act()
        while not done():
            app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)  # as the program waits: without the lock
        app.processEvents()  # what came is painted
        return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - worked)

    with store.read() as unit:
        ids = [one.id for one in unit.kb.iterate() if one.parents]
    opened, ways, read = [], [], []

    def opening(entity_id: str) -> None:
        one = pane()
        opened.append(timed(one, one.browse, lambda: one.model.rowCount() > 0))
        one.close_tree()
        another = pane()
        ways.append(timed(another, lambda: another.open_at(entity_id), lambda: _shows(another, entity_id)))
        another.close_tree()

    for entity_id in random.Random(0).sample(ids, 20):
        opening(entity_id)
    one = pane()
    timed(one, one.browse, lambda: one.model.rowCount() > 0)
    rows = [one.model.index(row, 0) for row in range(one.model.rowCount())]
    sized = [(one.model.row(index).node.children, index) for index in rows if one.model.hasChildren(index)]  # type: ignore[union-attr]
    for _, index in sorted(sized, key=lambda pair: -pair[0])[:nodes]:
        read.append(timed(one, lambda i=index: one.tree.expand(i), lambda i=index: one.model.rowCount(i) > 0))
    one.close_tree()
    return opened, ways, read


def _shows(pane: object, entity_id: str) -> bool:
    found = pane.entity  # type: ignore[attr-defined]
    return found is not None and found.id == entity_id


def tell(name: str, found: list[Took], target: float) -> None:
    clock, worked = ([one[which] for one in found] for which in (0, 1))
    figures = "; ".join(
        f"{what}: median {statistics.median(these):.1f} ms, most {max(these):.1f} ms"
        for what, these in (("clock", clock), ("processor", worked))
    )
    reached = "reached" if statistics.median(clock) <= target else "NOT REACHED"
    print(f"{name}: {figures}; target {target:.0f} ms, {reached}")


def main() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--wide", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = loaded(Path(folder), given.wide)
        gc.disable()
        try:
            opened, ways, read = measured(store, given.nodes)
        finally:
            store.close()
    tell("tree", opened, TREE_MS)
    tell("open at", ways, TREE_MS)
    tell("node", read, NODE_MS)


if __name__ == "__main__":
    main()
