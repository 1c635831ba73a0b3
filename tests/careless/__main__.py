"""Press random keys in the real window and judge every decision: `python -m tests.careless --events 10000`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from curator import bootstrap
from curator.ui.files.demo_project import fill, world_of
from tests.careless.hands import Hands, screen
from tests.careless.oracle import Verdict, judge

START_SECONDS = 60.0


def demo(folder: Path) -> Path:
    """The demo project without an index; its window builds one while keys are pressed."""
    place = folder / "pubmed.curation"
    project = bootstrap.create_project(place, linker=False)
    for _ in fill(project, world_of("pubmed")):
        pass
    project.close()
    return place


class Program:
    """The program in its window, started again when a careless key has closed it."""

    def __init__(self, display: str, log: Path, project: Path, folder: Path, *, more: list[str]) -> None:
        own = {name: str(folder / name.lower()) for name in ("CURATOR_CONFIG_DIR", "CURATOR_LOG_DIR", "HOME")}
        for one in own.values():
            Path(one).mkdir(parents=True, exist_ok=True)
        self._env = {**os.environ, **own, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        self._log, self._project, self._folder = log, project, folder
        self._more = more
        self._run()

    def _run(self) -> None:
        command = [sys.executable, "-m", "tests.careless.painted_window", str(self._log), str(self._project)]
        before = self._painted()
        with (self._folder / "program.log").open("a") as out:
            self._process = subprocess.Popen([*command, *self._more], env=self._env, stdout=out, stderr=out)
        end = time.monotonic() + START_SECONDS
        while self._painted() == before and self._process.poll() is None and time.monotonic() < end:
            time.sleep(0.2)

    def _painted(self) -> int:
        return self._log.read_text().count('["text') if self._log.exists() else 0

    def keep_open(self) -> None:
        if self._process.poll() is not None:
            self._run()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(30)


def run(
    project: Path, *, events: int, seed: int, folder: Path, minutes: float = 1e9, more: list[str] | None = None
) -> Verdict:
    """Press so many keys in a window over `project`, and judge. A log of what was pressed lies in `folder`. `more`:
    options of `painted_window`."""
    log, pressed = folder / "painted.jsonl", folder / "pressed.txt"
    end = time.monotonic() + 60 * minutes
    with screen() as display, pressed.open("w") as record:
        program, hands = Program(display, log, project, folder, more=more or []), Hands(display, seed=seed)
        try:
            for number in range(events):
                record.write(f"{time.monotonic():.3f} {hands.act()}\n")
                hands.rest()
                if number % 20 == 0:
                    program.keep_open()
                if time.monotonic() > end:
                    break
        finally:
            hands.close()
            program.close()
    return judge(log, project)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-rule", action="store_true", help="as if nothing enforced the rule, which is found")
    parser.add_argument("--beside", type=Path, metavar="FILE", help="beside a training, an index and imports of FILE")
    parser.add_argument("--project", type=Path, help="a project to copy; by default the demo's")
    parser.add_argument("--keep", type=Path, help="keep the logs in this folder")
    options = parser.parse_args()
    more = ["--without-rule"] if options.without_rule else []
    more += ["--beside", str(options.beside.resolve())] if options.beside else []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if options.project is None:
            project = demo(folder)
        else:
            project = Path(shutil.copytree(options.project, folder / options.project.name))
        verdict = run(
            project,
            events=options.events,
            seed=options.seed,
            folder=folder,
            minutes=options.minutes,
            more=more,
        )
    sys.stdout.write(f"{verdict.text}\n")
    return 1 if verdict.violations else 0


if __name__ == "__main__":
    sys.exit(main())
