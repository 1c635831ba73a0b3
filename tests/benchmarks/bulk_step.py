"""Measures showing 2,000 identical mentions in context, deciding them in one step, undo, and redo.

`python -m tests.benchmarks.bulk_step [--documents 10000] [--each 50]`: a project with this number of documents and
mentions each, all with suggestions; 2,000 mentions of one string are in 2,000 of the documents. The clock stops when
the step is on disk and the window's reads after it (counts, the open document) are done. Median of five; with the CPU
time, for a busy machine.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from curator.bootstrap import Project, join
from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span, Split
from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.core.keys import set_active_bundle
from curator.services.curating.propagation import PropagationScope
from curator.services.ports.storage import Store
from curator.settings.schema import Settings
from curator.storage import project as storage
from tests.benchmarks.targets import tell

MOST_MS = 300.0
IDENTICAL = 2_000
CANDIDATES = 20
BATCH = 500
RUNS = 5


def document(number: int, each: int) -> SourceDocument:
    words = [
        f"Seizures{'' if number < IDENTICAL else number}",
        *(f"condition{number % 97}x{at}" for at in range(each - 1)),
    ]
    text, mentions = "", []
    for at, word in enumerate(words):
        text += f"patients with study{number % 53} drug {at} had "
        mentions.append(SourceMention((Span(len(text), len(text) + len(word)),), word, "Disease"))
        text += f"{word} within days. "
    return SourceDocument(
        str(number), f"Document {number}", text, (Passage("abstract", 0, len(text)),), tuple(mentions)
    )


def suggestion(mention_id: int) -> Suggestion:
    found = tuple(
        Candidate(f"E{at}", f"Entity {at}", ("Disease",), f"name {at}", 1.0 / (at + 1), {"lexical": 0.5, "names": 0.25})
        for at in range(CANDIDATES)
    )
    return Suggestion(mention_id, found, NilEstimate(0.01, False, True), Stamp("b", 0))


def fill(store: Store, documents: int, each: int) -> None:
    with store.write() as unit:
        version = unit.kb.begin(name="kb")
        unit.kb.add(version, [Entity(f"E{at}", f"Entity {at}") for at in range(CANDIDATES)])
        unit.kb.activate(version)
        set_active_bundle(unit.meta, "b", ["b"])
        file_id = unit.files.add(
            SourceFile(0, "/x", "x", "pubtator", "s", imported_at=datetime(2026, 1, 1, tzinfo=UTC))
        )
    for start in range(0, documents, BATCH):
        with store.write() as unit:
            made = [document(number, each) for number in range(start, min(start + BATCH, documents))]
            stored = unit.documents.add_documents(file_id, made, split=Split.TRAIN)
            unit.suggestions.save([suggestion(one) for _, ids in stored for one in ids])
    with store.write() as unit:
        unit.files.complete(file_id, tail="", extra="")


def timed(action: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds on the clock and of the processor."""
    begin, worked = time.perf_counter(), time.process_time()
    action()
    return (time.perf_counter() - begin) * 1000, (time.process_time() - worked) * 1000


def steps(project: Project) -> Iterator[tuple[str, Callable[[], object]]]:
    """In the order in which they can be taken."""
    verdict, curation = Verdict.link("E0"), project.curation
    curation.decide(1, verdict)
    found = project.propagation.others(1, verdict, scope=PropagationScope.PROJECT)
    assert len(found.ticked) == IDENTICAL - 1, len(found.ticked)

    def seen(action: Callable[[], object]) -> Callable[[], object]:
        def run() -> None:
            action()
            project.queue.counts()
            project.queue.open(1)

        return run

    for _ in range(RUNS):
        yield "show", lambda: project.propagation.others(1, verdict, scope=PropagationScope.PROJECT)
        yield "decide", seen(lambda: project.propagation.decide(found, found.ticked))
        yield "undo", seen(curation.undo)
        yield "redo", seen(curation.redo)
        yield "undo", seen(curation.undo)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--folder", type=Path, help="Made here, or used again when it is there.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "bulk.curation"
        if folder.exists():
            store = storage.open_project(folder)
        else:
            store = storage.create_project(folder, name="bulk")
            fill(store, given.documents, given.each)
        project = join(store, Settings(), curator="ada", linker=False)
        try:
            times: dict[str, list[tuple[float, float]]] = {}
            for name, action in steps(project):
                times.setdefault(name, []).append(timed(action))
            project.curation.undo()
        finally:
            project.close()
    for name, some in times.items():
        wall, worked = (statistics.median(column) for column in zip(*some, strict=True))
        print(f"{name:8} median {wall:6.0f} ms   worst {max(some)[0]:6.0f} ms   processor {worked:6.0f} ms")
        if name in ("decide", "undo"):
            tell(
                f"2,000 identical mentions in one step: {name}",
                wall,
                "ms",
                most=MOST_MS,
                note=f"processor {worked:.0f} ms",
            )


if __name__ == "__main__":
    main()
