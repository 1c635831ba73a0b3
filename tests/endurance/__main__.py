"""Hours of a curator's work in one window: `python -m tests.endurance --minutes 240`, or `make endurance`.

Keys go into the real window, with a pause every two minutes. Meanwhile the theme changes, documents are imported and
exported, a linker is trained, linkers are put into use and rolled back, and the linker's process is killed. Reported,
in windows of time: what a key takes until it is painted, memory, handles, threads, children, temporary files. At the
end the project is opened again, and each decision that was made must be there.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from curator import bootstrap
from curator.bootstrap import Project
from curator.domain.decisions import Change, ChangeKind
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from curator.ui.files.demo_project import fill, world_of
from curator.ui.files.import_documents import ImportWish
from curator.ui.jobs.jobs import JobKind
from tests.benchmarks.key_latency import at_the_end, can, kinds, pressed
from tests.benchmarks.real_window import Desk, desk, display
from tests.endurance.measuring import Key, Record, Sample, figures_of

PAUSE = 0.3
"""Seconds between two keys."""
READING = 6.0
"""Seconds without a key, every `BETWEEN` seconds: the window does some work only while it is idle."""
BETWEEN = 120.0
EACH = 10.0
"""Seconds between two samples."""
KEPT = 600.0
"""Seconds between two reports of what was measured so far."""
LEAVES = 12
"""Keys in one document."""
RECIPE = "curator"
THEMES = ("dark", "light", "system")
TEXT = "Asthma and diabetes were seen in {n} patients with migraine. Nothing else was found in case {n}.\n"
NAMES = ("Asthma", "diabetes", "migraine", "hypertension", "aspirin", "cardiotoxicity", "hepatitis", "cancer")
MENTIONS = 40
"""In each document that waits to be decided."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.endurance", description=__doc__)
    parser.add_argument("--minutes", type=float, default=240.0)
    parser.add_argument("--kill", type=float, default=10.0, metavar="MINUTES", help="how often the linker is killed")
    parser.add_argument("--work", type=float, default=5.0, metavar="MINUTES", help="how often each other work is begun")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="keep the report in this file, too, every 10 minutes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="curator-endurance-") as place, display():
        _own_folders(Path(place))
        day = Day(Path(place), options)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: day.end())
        sys.stdout.write(day.run())
    return 1 if day.faults else 0


def _own_folders(place: Path) -> None:
    """The program's settings, logs, backups and temporary files are of this run alone."""
    for name in ("CURATOR_CONFIG_DIR", "CURATOR_LOG_DIR", "CURATOR_BACKUP_DIR", "TMPDIR"):
        folder = place / name.lower()
        folder.mkdir()
        os.environ[name] = str(folder)
    tempfile.tempdir = None  # chosen again, from TMPDIR


class Day:
    """One session; `faults` are what is wrong with it, in words."""

    def __init__(self, place: Path, options: argparse.Namespace) -> None:
        self.faults: list[str] = []
        self._place = place
        self._minutes: float = options.minutes
        self._file: Path | None = options.report
        self._every = {"kill the linker": options.kill} | dict.fromkeys(WORKS, options.work)
        self._chance = random.Random(options.seed)
        self._seed: int = options.seed
        self._record = Record()
        self._done = Counter[str]()
        self._refused = Counter[str]()
        self._steps: dict[int, str] = {}
        self._turns = Counter[str]()

    def end(self) -> None:
        """End early; what was measured is reported."""
        self._minutes = 0.0

    def run(self) -> str:
        folder = self._place / "day.curation"
        project = bootstrap.create_project(folder, linker=False)
        for _ in fill(project, world_of("pubmed")):
            pass
        self._import_texts(project, 200)
        self._import_mentions(project, round(4 * self._minutes) + 5)
        project.close()
        with desk(folder, rule=True) as one:
            self._work(one)
            one.bench.project.disk.settle()
        for thread in threading.enumerate():
            if thread.name == "last backup":
                thread.join()  # the folder goes at the end
        self._check(folder)
        return self._report([f"FAULT: {one}" for one in self.faults] or ["Nothing lost; all figures are flat."])

    def _report(self, judged: Sequence[str]) -> str:
        minutes = self._record.samples[-1].at / 60 if self._record.samples else 0.0
        head = f"Endurance: {minutes:.0f} minutes (seed {self._seed}), {len(self._steps):,} steps"
        done = ", ".join(f"{what} {n:,} times" for what, n in sorted(self._done.items()))
        refused = [f"  refused {n:,} times: {words}" for words, n in self._refused.most_common(5)]
        text = "\n".join([f"{head}; {done or 'nothing besides'}.", *self._record.lines(), *refused, *judged, ""])
        if self._file is not None:
            self._file.write_text(text, encoding="utf-8")
        return text

    def _import_texts(self, project: Project, number: int) -> None:
        file = self._place / "texts.txt"
        file.write_text("\n\n".join(TEXT.format(n=n) for n in range(number)), encoding="utf-8")
        for _ in project.importing.documents([file], split=Split.TRAIN):
            pass

    def _import_mentions(self, project: Project, number: int) -> None:
        """Undecided documents, so that there is always something to decide."""
        file = self._place / "mentions.pubtator"
        with file.open("w", encoding="utf-8") as out:
            for document in range(1, number + 1):
                text, lines = f"Case {document}.", []
                for _ in range(MENTIONS):
                    name = self._chance.choice(NAMES)
                    start = len(text) + 1
                    text += f" {name} was seen."
                    lines.append(f"{document}\t{start}\t{start + len(name)}\t{name}\tDisease\n")
                out.write(f"{document}|t|{text}\n{document}|a|\n{''.join(lines)}\n")
        for _ in project.importing.documents([file], split=Split.TEST):
            pass

    def _work(self, one: Desk) -> None:
        began = time.monotonic()
        one.bench.project.events.subscribe(self._noted)
        due = {what: 60.0 * minutes * self._chance.uniform(0.3, 1.0) for what, minutes in self._every.items()}
        sampled, kept, read, keys = -EACH, 0.0, 0.0, kinds(self._seed)
        while (now := time.monotonic() - began) < 60 * self._minutes:
            if now - sampled >= EACH:
                sampled = now
                self._record.samples.append(Sample(now, figures_of([self._place / "tmpdir"])))
            if now - kept >= KEPT:
                kept = now
                self._report(["So far; the session goes on."])
            for what, at in due.items():
                if now >= at:
                    due[what] = now + 60 * self._every[what]
                    self._begin(one, what)
            self._press(one, next(keys), now)
            one.rest(PAUSE)
            if now - read >= BETWEEN:
                read = now
                one.rest(READING)

    def _press(self, one: Desk, kind: str, now: float) -> None:
        if at_the_end(one) or self._chance.random() < 1 / LEAVES:
            self._elsewhere(one)
        if not can(one, kind):
            return
        answer = pressed(one, kind)
        if answer.painted:
            self._record.keys.append(Key(now, answer.clock, answer.thread))

    def _elsewhere(self, one: Desk) -> None:
        """Another document, and in it the next undecided mention; now and then any, to be decided in another way."""
        project, navigator = one.bench.project, one.bench.navigator
        again = self._chance.random() < 1 / LEAVES
        ids = list(project.queue.ids(QueueFilter()))
        rows = (project.queue.row(it) for it in self._chance.sample(ids, len(ids)))
        navigator.open(next(row.document_id for row in rows if row.mentions > (0 if again else row.decided)))
        one.rest(PAUSE)
        if navigator.opened is not None and again:
            navigator.select(self._chance.choice(navigator.opened.mentions).mention.id)
            one.rest(PAUSE)

    def _noted(self, change: Change) -> None:
        if change.kind is ChangeKind.DECIDED and change.operation_id:
            self._steps[change.operation_id] = change.text

    def _begin(self, one: Desk, what: str) -> None:
        try:
            done = WORKS[what](self, one) if what in WORKS else self._kill(one)
        except UserError as error:
            self._refused[f"{what}: {error}"] += 1
            return
        self._done[what] += done

    def _kill(self, one: Desk) -> bool:
        pid = getattr(one.bench.project.suggestions._linker, "pid", None)
        if pid is None:
            return False
        os.kill(pid, signal.SIGKILL)
        return True

    def _theme(self, one: Desk) -> bool:
        self._turns["theme"] += 1
        one.window.preferences.set_theme(THEMES[self._turns["theme"] % len(THEMES)])
        return True

    def _import(self, one: Desk) -> bool:
        if one.bench.jobs.importing or one.window.session.features is None:
            return False
        self._turns["import"] += 1
        file = self._place / "more.txt"
        file.write_text(TEXT.format(n=1000 + self._turns["import"]) * 3, encoding="utf-8")
        one.window.session.features.flows.import_as_wished(ImportWish((file,), Split.TRAIN, gold=False))
        return True

    def _export(self, one: Desk) -> bool:
        one.bench.project.exporting.export(self._place / "out.json", "bioc-json")
        return True

    def _train(self, one: Desk) -> bool:
        if one.bench.jobs.runs(JobKind.TRAIN) or one.bench.jobs.runs(JobKind.INDEX):
            return False
        retraining = one.bench.project.retraining
        launch = lambda progress, end: retraining.start(RECIPE, on_progress=progress, on_end=end)  # noqa: E731
        one.bench.jobs.start(JobKind.TRAIN, "Retrain", launch, then=lambda outcome: None)
        return True

    def _switch(self, one: Desk) -> bool:
        """Put another linker into use, and roll back the time after."""
        retraining = one.bench.project.retraining
        others = [info.id for info in retraining.bundles() if not info.active]
        if not others:
            return False
        self._turns["switch"] += 1
        if self._turns["switch"] % 2:
            retraining.promote(self._chance.choice(others), reason="endurance")
        else:
            retraining.rollback()
        return True

    def _check(self, folder: Path) -> None:
        """Open the project again: every step that was told is there, and nothing is damaged."""
        project = bootstrap.open_project(folder, linker=False)
        with project.curation._store.read() as unit:
            top = unit.connection.exec_driver_sql("SELECT id FROM operations")
            there = {int(row[0]) for row in top}
        lost = self._steps.keys() - there
        if lost:
            self.faults.append(f"{len(lost):,} of {len(self._steps):,} steps are lost")
        self.faults += [one.text for one in project.backups.check().findings]
        project.close()
        self.faults += self._record.faults()


WORKS: dict[str, Callable[[Day, Desk], bool]] = {
    "change the theme": Day._theme,
    "import": Day._import,
    "export": Day._export,
    "train": Day._train,
    "switch linkers": Day._switch,
}

if __name__ == "__main__":
    sys.exit(main())
