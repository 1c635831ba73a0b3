"""Measures how much longer work like that of a key takes beside processes that give way: `curator/jobs/child_side.py`.

    python -m tests.benchmarks.giving_way [--rounds 8] [--priorities 5 10]

The work is eight times half a millisecond in one thread and 0.3 ms in a second, each waiting for the other, after a
rest of 50 ms. Beside it, a process multiplies matrices in two threads, with each `nice` value in turn, alone and
beside another one with the linker's. Two seconds and a half each, so that a busy machine is equally busy for all.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from curator.jobs.child_side import NICE, NICER
from tests.benchmarks.targets import measured, quantile

SECONDS, WARM = 2.5, 0.5
REST, TURNS = 0.05, 8
WORK, OTHERS_WORK = 0.0005, 0.0003
COMPUTE = """
import os, sys
import numpy as np
os.nice(int(sys.argv[1]))
numbers = np.random.rand(700, 700)
while True:
    numbers @ numbers
"""


def compute(seconds: float) -> None:
    """Use so much processor time of this thread."""
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def key_like() -> list[float]:
    """Milliseconds of each piece of work, for `SECONDS`."""
    asked, answered, over = threading.Semaphore(0), threading.Semaphore(0), threading.Event()

    def other() -> None:
        while asked.acquire() and not over.is_set():
            compute(OTHERS_WORK)
            answered.release()

    thread = threading.Thread(target=other)
    thread.start()
    found, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(REST)
        began = time.perf_counter()
        for _ in range(TURNS):
            asked.release()
            answered.acquire()
            compute(WORK)
        found.append(1000 * (time.perf_counter() - began))
    over.set()
    asked.release()
    thread.join()
    return found


@contextmanager
def beside(priorities: tuple[int, ...]) -> Iterator[None]:
    """Processes with these `nice` values that compute."""
    threads = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, "-c", COMPUTE]
    started = [subprocess.Popen([*command, str(one)], env={**os.environ, **threads}) for one in priorities]
    try:
        time.sleep(WARM)
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--priorities", type=int, nargs="+", default=[NICE, NICER])
    given = parser.parse_args()
    kinds = [(), *((one,) for one in given.priorities), *((NICE, one) for one in given.priorities)]
    found: dict[tuple[int, ...], list[float]] = {kind: [] for kind in kinds}
    for _ in range(given.rounds):
        for kind in kinds:
            with beside(kind):
                found[kind] += key_like()
    alone = statistics.median(found[()])
    for kind, values in found.items():
        line = "   ".join(f"p{at} {quantile(values, at / 100):6.2f}" for at in (50, 95, 99))
        print(f"beside {' and '.join(f'nice {one}' for one in kind) or 'nothing':18} {len(values)} times   ms {line}")
    for kind in kinds[1:]:
        what = " and ".join(f"nice {one}" for one in kind)
        measured(
            f"work like a key's beside {what}, median in times of alone", statistics.median(found[kind]) / alone, ""
        )


if __name__ == "__main__":
    main()
