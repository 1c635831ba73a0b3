"""Figures of earlier runs, one line each in HISTORY.md, and a check for figures of this run that are clearly worse.

A figure is compared only with those of the same machine in the same run order: a benchmark that begins when another has
warmed the caches gives other figures. Separately measured figures are added with

    python -m tests.benchmarks.history "link, mentions a second" 480 "mentions/s" --more --run linker
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks.targets import Result

ROOT = Path(__file__).resolve().parents[2]
HISTORY = Path(__file__).with_name("HISTORY.md")
WORSE, LAST = 0.15, 3
"""A figure that is worse by this share than the median of so many earlier runs is reported."""
HEAD = """# Figures of benchmarks, one line a figure and commit

`make bench` adds to this table where no file differs from the commit, and tells every figure that is 15 % worse than
the median of the last three of the same machine in the same run order. *Better* is less or more.

| day | commit | machine | run order | figure | value | unit | better |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """One line of the table."""

    day: str
    commit: str
    machine: str
    run: str
    what: str
    figure: float
    unit: str
    better: str

    def line(self) -> str:
        cells = (self.day, self.commit, self.machine, self.run, self.what, f"{self.figure:.6g}", self.unit, self.better)
        return "| " + " | ".join(one.replace("|", "/") for one in cells) + " |"


def read(path: Path = HISTORY) -> list[Kept]:
    """Every line, the oldest first. Lines that are no figures, such as the table's head, are passed over."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| 2")]
    return [Kept(*row[:5], float(row[5]), *row[6:]) for row in rows if len(row) == 8]


def keep(results: Sequence[Result], run: str, *, commit: str, path: Path = HISTORY) -> None:
    """Add the figures of a run, in its order."""
    day = datetime.now(UTC).date().isoformat()
    made = [
        Kept(day, commit, machine(), run, one.what, one.figure, one.unit, "less" if one.most else "more")
        for one in results
    ]
    text = path.read_text(encoding="utf-8") if path.exists() else HEAD
    path.write_text(text + "".join(f"{one.line()}\n" for one in made), encoding="utf-8")


def worse(results: Sequence[Result], run: str, *, before: Sequence[Kept], here: str) -> list[str]:
    """A sentence for each figure that is clearly worse than the last ones of this machine `here` in this run order.
    Fewer than three earlier figures are no measure."""
    found = []
    for one in results:
        same = [old.figure for old in before if (old.what, old.run, old.machine) == (one.what, run, here)][-LAST:]
        if len(same) < LAST:
            continue
        usual = statistics.median(same)
        share = (one.figure - usual) / usual if usual else 0.0
        if (share if one.most else -share) > WORSE:
            found.append(f"WORSE: {one.what}: {one.figure:,.4g} {one.unit}, usually {usual:,.4g} ({share:+.0%})")
    return found


def machine() -> str:
    """The processor and how many cores this process may use."""
    model = ""
    if (info := Path("/proc/cpuinfo")).exists():
        found = re.search(r"^model name\s*: (.*)$", info.read_text(encoding="utf-8"), re.MULTILINE)
        model = found[1] if found else ""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{' '.join(model.split()) or platform.machine()}, {cores} cores"


def commit() -> str:
    """Of the files that are measured; '' where any differs from it, so that no figure is put to the wrong commit."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    changed = [line for line in done.stdout.splitlines() if not line.endswith(HISTORY.name)]
    if done.returncode or changed:
        return ""
    head = ["git", "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what")
    parser.add_argument("figure", type=float)
    parser.add_argument("unit")
    parser.add_argument("--more", action="store_true", help="more is better")
    parser.add_argument("--run", default="alone", help="what was measured before it, in order")
    given = parser.parse_args()
    result = Result(given.what, given.figure, given.unit, most=not given.more)
    for words in worse([result], given.run, before=read(), here=machine()):
        print(words)
    keep([result], given.run, commit=commit() or "changed")


if __name__ == "__main__":
    main()
