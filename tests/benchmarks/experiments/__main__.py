"""`make experiments MINUTES=90`: the papers' questions, one run a setting at equal steps, then more seeds.

    python -m tests.benchmarks.experiments --minutes 90                  # BC5CDR, then the report
    python -m tests.benchmarks.experiments --world wikia --minutes 20    # the demo's worlds, zero-shot
    python -m tests.benchmarks.experiments --world full --minutes 8 --pieces    # the papers' sizes, on a GPU, in pieces
    python -m tests.benchmarks.experiments --report                      # of the runs there are

Every run is a separate process and writes a JSON file to the working folder; finished runs are not repeated, and a
stopped run resumes from its checkpoint. A run is not started if, judging by earlier runs, the time left is too short.
With `--pieces` runs are begun all the same and stopped when the minutes are over; the next call goes on from the last
checkpoint, at most two minutes before. With `--together 2` two runs of one thread each go on at once, which two cores
finish sooner than one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.benchmarks.experiments.one_run import UNTRAINED, file_name
from tests.benchmarks.experiments.report import write_report
from tests.benchmarks.experiments.settings import runs
from tests.benchmarks.experiments.worlds import WORLDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=sorted(WORLDS), default="bc5cdr")
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--work", type=Path, default=Path("/tmp/curator-experiments"))
    parser.add_argument("--together", type=int, default=1, help="runs at once, with their share of the cores each")
    parser.add_argument("--pieces", action="store_true", help="stop what runs when the minutes are over")
    parser.add_argument("--report", action="store_true", help="run nothing")
    options = parser.parse_args()
    work = options.work / options.world
    (work / "runs").mkdir(parents=True, exist_ok=True)
    if not options.report:
        run_all(options.world, work, minutes=options.minutes, together=options.together, pieces=options.pieces)
    print(write_report(work))


def run_all(world: str, work: Path, *, minutes: float, together: int, pieces: bool) -> None:
    """As many of the runs that are left as the minutes hold."""
    ends = time.monotonic() + 60 * minutes
    wanted = [(UNTRAINED, 0), *((setting.name, seed) for setting, seed in runs())]
    left = [one for one in wanted if not _file(work, *one).exists()]
    print(f"{len(wanted) - len(left)} of {len(wanted)} runs are there, {len(left)} are left.", flush=True)
    if left[:1] == [(UNTRAINED, 0)]:  # the others start from its bundle
        _run(world, work, *left.pop(0), ends=ends, threads=os.cpu_count() or 1, pieces=pieces)
    threads = max(1, (os.cpu_count() or 1) // together)
    with ThreadPoolExecutor(together) as pool:
        for one in left:
            pool.submit(_run, world, work, *one, ends=ends, threads=threads, pieces=pieces)


def _run(world: str, work: Path, setting: str, seed: int, *, ends: float, threads: int, pieces: bool) -> None:
    expected, begun = _expected(work, setting), time.monotonic()
    if begun + (0 if pieces else expected) > ends:
        print(f"Passed over for want of time: {setting}, seed {seed} (about {expected:.0f} s).", flush=True)
        return
    command = [sys.executable, "-m", "tests.benchmarks.experiments.one_run", "--world", world, "--work", str(work)]
    try:
        done = subprocess.run(
            [*command, "--setting", setting, "--seed", str(seed)],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            timeout=ends - begun if pieces else None,
        )
        said = "" if not done.returncode else f": failed\n{done.stderr[-2000:]}"
    except subprocess.TimeoutExpired:
        said = ": stopped, to go on from its last checkpoint"
    print(f"{setting}, seed {seed}: {time.monotonic() - begun:.0f} s{said}", flush=True)


def _expected(work: Path, setting: str) -> float:
    """Seconds, by the same setting's other seeds, else by the mean of all runs."""
    known = {file: json.loads(file.read_text(encoding="utf-8")) for file in (work / "runs").glob("*.json")}
    times = {file.stem: one["seconds"] for file, one in known.items() if "seconds" in one}
    own = [seconds for name, seconds in times.items() if name.rpartition(".")[0] == setting.replace(" ", "_")]
    some = own or list(times.values())
    return 1.3 * sum(some) / len(some) if some else 0.0


def _file(work: Path, setting: str, seed: int) -> Path:
    return work / "runs" / f"{file_name(setting, seed)}.json"


if __name__ == "__main__":
    main()
