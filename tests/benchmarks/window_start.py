"""Measures the window from a new process to its first paint and until it is usable, and its memory.

    xvfb-run -s "-screen 0 1440x900x24" python -m tests.benchmarks.window_start [--project P] [--runs 10]

Each run is a process of its own. Times are seconds from just before it is started; CLOCK_MONOTONIC is the same in
every process. Usable means: the project's first document and candidates (without a project the first page) were
painted and the event loop came round again; `cpu` is the window's own processor time until then, which a busy machine
changes little. Memory is the resident set at that moment, shared libraries included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.targets import tell

TARGETS = {"painted": ("first paint of a new process", 0.5, "s"), "usable": ("usable, imports included", 0.8, "s")}
MOST_MIB = 120.0
CHILD = """
import json, os, sys, time
began = float(sys.argv[1])
from curator.ui import load_quickly
load_quickly()  # as `curator open` does
from pathlib import Path
from PySide6.QtCore import QEvent, QObject, QTimer
from curator.ui.shell import app as starting
imported = time.monotonic() - began
wanted = sys.argv[2]

class Watch(QObject):
    # the window, and a project's text once it is there: to watch all events would take 20 ms
    painted = 0.0
    def __init__(self, window):
        super().__init__(window)
        self.window = window
        window.installEventFilter(self)
        window.session.opened.connect(lambda bench: bench.document.viewport().installEventFilter(self))
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            if not self.painted:
                self.painted = time.monotonic() - began
            if not wanted or watched is not self.window:
                watched.removeEventFilter(self)
                QTimer.singleShot(0, self.usable)
        return False
    def usable(self):
        lines = Path("/proc/self/status").read_text().splitlines()
        rss = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
        usable, cpu = time.monotonic() - began, sum(os.times()[:2])
        told = {"imported": imported, "painted": self.painted, "usable": usable, "cpu": cpu, "mib": rss / 1024}
        print(json.dumps(told), flush=True)
        for one in app.topLevelWidgets():
            one.close()
        app.quit()

app = starting.make_application(["curator"])
make_window = starting.make_window
def watched_window(app):
    window = make_window(app)
    Watch(window)
    return window
starting.make_window = watched_window
starting.run(*([Path(wanted)] if wanted else []))
"""


def once(project: str) -> dict[str, float]:
    began = time.monotonic()
    command = [sys.executable, "-c", CHILD, str(began), project]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    line = next((one for one in done.stdout.splitlines() if one.startswith("{")), "")
    if not line:
        raise SystemExit(f"the window did not come up:\n{done.stdout}\n{done.stderr}")
    found: dict[str, float] = json.loads(line)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", type=Path, help="open this project; without, the first page")
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    project = str(arguments.project.resolve()) if arguments.project is not None else ""
    once(project)  # warms the page cache
    runs = [once(project) for _ in range(arguments.runs)]
    for name, unit in (("imported", "s"), ("painted", "s"), ("usable", "s"), ("cpu", "s"), ("mib", "MiB")):
        values = sorted(one[name] for one in runs)
        print(f"{name:>9}: median {statistics.median(values):.2f} {unit}, {values[0]:.2f} to {values[-1]:.2f}")
    processor = statistics.median(one["cpu"] for one in runs)
    for name, (what, most, unit) in TARGETS.items():
        tell(what, statistics.median(one[name] for one in runs), unit, most=most, note=f"processor {processor:.2f} s")
    tell("memory of the window's process", statistics.median(one["mib"] for one in runs), "MiB", most=MOST_MIB)


if __name__ == "__main__":
    main()
