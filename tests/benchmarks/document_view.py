"""Measures opening and scrolling a dense document in the real window; from the repository's root, under a display:

    xvfb-run -a -s "-screen 0 1440x900x24" .venv/bin/python -m tests.benchmarks.document_view

The document has 20,000 tokens and 2,000 mentions with 64 stored candidates each: nested, overlapping and discontinuous
ones, in every state. It is measured in sections and as one paragraph. *Open* lasts from the click on the queue's row
until text and candidates are painted and handed to the display; *scroll* is the time of a frame of the scroll bar,
painted and handed over, by a line, by three and by a page. Nothing is computed in between.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication

from curator.bootstrap import Project, join
from curator.domain.decisions import Verdict
from curator.domain.documents import MentionOrigin, Passage, SourceDocument, SourceFile, SourceMention, Span, Split
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.core.keys import ACTIVE_BUNDLE
from curator.settings.file import LoadedSettings
from curator.settings.schema import Settings
from curator.storage import project as storage
from curator.storage.store import SqlStore
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.theme import ThemeController
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.quiet_time import collect_in_quiet_times
from tests.benchmarks.targets import quantile, tell
from tests.curator.services.fakes import FakeJobs, FakeLinker

TOKENS, MENTIONS, CANDIDATES, SECTIONS = 20_000, 2_000, 64, 12
WORDS = [
    "acute",
    "renal",
    "failure",
    "after",
    "intravenous",
    "lidocaine",
    "was",
    "seen",
    "in",
    "seven",
    "patients",
    "with",
    "left",
    "or",
    "right",
    "ventricular",
    "hypertrophy",
    "and",
    "hypotension",
    "while",
    "the",
    "placebo",
    "group",
    "showed",
    "no",
    "arrhythmia",
    "of",
    "the",
    "heart",
    "during",
    "treatment",
]
RUNS = 15
FRAMES = 240
OPEN_MS, FRAMES_A_SECOND = 150.0, 55.0


def text_of(tokens: int, sections: int, chance: random.Random) -> tuple[str, tuple[Passage, ...]]:
    """Invented sentences; each section is one paragraph."""
    parts = []
    for _ in range(sections):
        words = [chance.choice(WORDS) + ("." if n % 17 == 16 else "") for n in range(tokens // sections)]
        parts.append(" ".join(words))
    passages, at = [], 0
    for number, part in enumerate(parts):
        passages.append(Passage("section", at, at + len(part), f"SECTION {number + 1}"))
        at += len(part) + 1
    return "\n".join(parts), tuple(passages)


def mentions_of(text: str, chance: random.Random) -> Iterator[SourceMention]:
    """Every tenth token begins one: one to three words, some nested, some of two parts."""
    starts = [0] + [at + 1 for at, char in enumerate(text) if char in " \n"]
    ends = [at - 1 for at in starts[1:]] + [len(text)]
    for number in range(MENTIONS):
        first = min(number * len(starts) // MENTIONS, len(starts) - 8)
        if number % 10 == 1:
            first = max((number - 1) * len(starts) // MENTIONS, 0)  # shares its first word with the one before
        last = first + chance.randint(0, 2) + (number % 10 == 0)
        spans: tuple[Span, ...] = (Span(starts[first], ends[last]),)
        if number % 20 == 7:
            spans = (Span(starts[first], ends[first]), Span(starts[first + 2], ends[first + 3]))
        words = " ".join(text[one.start : one.end] for one in spans)
        yield SourceMention(spans, words, chance.choice(("Disease", "Chemical")))


def fill(project: Project, store: SqlStore, sections: int, number: int) -> int:
    """Store the dense document, with suggestions and with decisions about every third mention; returns its id."""
    chance = random.Random(number)
    text, passages = text_of(TOKENS, sections, chance)
    mentions = tuple(mentions_of(text, chance))
    document = SourceDocument(f"dense-{sections}", "A dense document", text, passages, mentions)
    with store.write() as unit:
        file_id = unit.files.add(SourceFile(0, f"{number}.txt", f"{number}.txt", "pubtator", str(number)))
        ((document_id, ids),) = unit.documents.add_documents(file_id, [document], split=Split.TRAIN)
        unit.files.complete(file_id, tail="", extra="")
        unit.meta.set(ACTIVE_BUNDLE, "b")
        stamp = Stamp("b", unit.documents.get(document_id).revision)
        unit.suggestions.save([suggestion(one, stamp, chance) for one in ids])
    verdicts = (Verdict.nil(), Verdict.reject(), Verdict.skip())
    for at, verdict in enumerate(verdicts):
        project.curation.decide_many(ids[at::9], verdict)
    assert project.queue.open(document_id).mentions[0].mention.origin is MentionOrigin.SOURCE
    return document_id


def suggestion(mention_id: int, stamp: Stamp, chance: random.Random) -> Suggestion:
    candidates = tuple(
        Candidate(
            f"MESH:D{chance.randrange(10**6):06d}",
            f"{chance.choice(WORDS)} {chance.choice(WORDS)}",
            ("Disease",),
            chance.choice(WORDS),
            1.0 / (n + 1),
            {"lexical": 0.5, "names": 0.4, "memory": 0.1},
            0.5**n,
        )
        for n in range(CANDIDATES)
    )
    return Suggestion(mention_id, candidates, NilEstimate(0.1, mention_id % 11 == 0, True), stamp)


def settle(app: QApplication) -> None:
    """Everything that is due, deferred deletions and painting included."""
    for _ in range(3):
        app.processEvents()
        QCoreApplication.sendPostedEvents(None, int(QEvent.Type.DeferredDelete))


Timed = tuple[float, float]  # milliseconds of the clock, and of processors: the latter mean the same on a busy computer


def timed(work: Callable[[], object]) -> Timed:
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - clock), 1000 * (time.process_time() - processor)


def opening(bench: Workbench, app: QApplication, dense: int, other: int) -> list[Timed]:
    """Each time from another document, and never from a layout that was kept."""
    found = []
    for _ in range(RUNS):
        bench.navigator.open(other)
        settle(app)
        found.append(timed(lambda: _open(bench, app, dense)))
    return found


def _open(bench: Workbench, app: QApplication, document_id: int) -> None:
    bench.navigator.open(document_id)
    app.processEvents()
    bench.document.viewport().repaint()


def _scroll(bench: Workbench, app: QApplication, value: int) -> None:
    bench.document.verticalScrollBar().setValue(value)
    app.processEvents()


def scrolling(bench: Workbench, app: QApplication, step: int) -> list[Timed]:
    """Frames from the top downwards, round again at the end."""
    bar = bench.document.verticalScrollBar()
    bar.setValue(0)
    settle(app)
    found = []
    for _ in range(FRAMES):
        value = bar.value() + step if bar.value() + step < bar.maximum() else 0
        found.append(timed(partial(_scroll, bench, app, value)))
    return found


def told(where: str, found: list[Timed], *, scrolled: bool) -> None:
    """The clock's figures beside the targets: an opening at the median, frames at the 95th percentile."""
    clock, worked = ([one[at] for one in found] for at in (0, 1))
    if scrolled:
        late = quantile(clock, 0.95)
        note = f"p95 {late:.1f} ms, processors {quantile(worked, 0.95):.1f} ms"
        tell(f"dense document {where}: frames a second", 1000 / late, "", least=FRAMES_A_SECOND, note=note)
    else:
        note = f"processors {statistics.median(worked):.0f} ms"
        tell(f"dense document {where}: open", statistics.median(clock), "ms", most=OPEN_MS, note=note)


def report(name: str, found: list[Timed]) -> None:
    for what, values in zip(("clock", "processors"), zip(*found, strict=True), strict=True):
        ordered = sorted(values)
        middle, late = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
        print(f"  {name:18s} {what:10s} p50 {middle:6.1f} ms   p95 {late:6.1f} ms   {1000 / late:6.0f} a second at p95")


def measure(window: MainWindow, app: QApplication, name: str, dense: int, other: int) -> None:
    bench = window.bench
    assert bench is not None
    print(name)
    opened = opening(bench, app, dense, other)
    report("open", opened)
    told(name, opened, scrolled=False)
    line = bench.document.verticalScrollBar().singleStep()
    for words, step in (
        ("scroll by a line", line),
        ("by three lines", 3 * line),
        ("by a page", bench.document.height()),
    ):
        frames = scrolling(bench, app, step)
        report(words, frames)
        if step == 3 * line:  # as a wheel scrolls
            told(name, frames, scrolled=True)


def main() -> None:
    os.environ["CURATOR_CONFIG_DIR"] = tempfile.mkdtemp()
    app = QApplication(sys.argv[:1])
    collect_in_quiet_times(app)  # as the window's process does
    with tempfile.TemporaryDirectory() as folder:
        store = storage.create_project(Path(folder) / "p.curation", name="p")
        linker = FakeLinker(manual=True)
        project = join(store, Settings(), curator="ada", linker=False, linker_port=linker, job_port=FakeJobs())
        with store.write() as unit:
            version = unit.kb.begin(name="kb")
            unit.kb.activate(version)
        several, single = fill(project, store, SECTIONS, 1), fill(project, store, 1, 2)
        window = MainWindow(ThemeController(app), LoadedSettings(Settings()))
        window.show()
        window.session.show(project)
        settle(app)
        size = f"window {window.width()} × {window.height()}"
        print(f"{TOKENS:,} tokens, {MENTIONS:,} mentions, {app.platformName()}, {size}")
        measure(window, app, f"in {SECTIONS} sections", several, single)
        measure(window, app, "in one paragraph", single, several)
        window.session.close()
        window.close()


if __name__ == "__main__":
    main()
