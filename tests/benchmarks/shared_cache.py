"""How much longer the same work takes on one processor while another one computes: what no priority can change.

    python -m tests.benchmarks.shared_cache [--rounds 5]

The work is pinned to processor 0, the load to processor 1: a product of matrices, or passes over 160 MB. Two kinds of
work: arithmetic that fits the core's own cache, and look-ups in a large dict, which need memory that all cores share.
Time is the processor time of the work's thread, so that waiting for a processor does not count.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.benchmarks.targets import measured

SECONDS, WARM = 1.2, 0.8
LOADS = {
    "a product of matrices": "a = np.random.rand(1500, 1500).astype('f4')\nwhile True: a @ a",
    "passes over 160 MB": "a = np.random.rand(20_000_000)\nwhile True: a += 1",
}
TABLE = {number: str(number) for number in range(200_000)}
KEYS = range(0, len(TABLE), 37)


def arithmetic() -> None:
    total = 0
    for number in range(20_000):
        total += number * number


def look_ups() -> None:
    for key in KEYS:
        TABLE.get(key)
        TABLE.get(key + 1)


WORK: tuple[Callable[[], None], ...] = (arithmetic, look_ups)


@contextmanager
def beside(load: str) -> Iterator[None]:
    if not load:
        yield
        return
    code = f"import os, numpy as np\nos.sched_setaffinity(0, {{1}})\n{LOADS[load]}"
    started = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    try:
        time.sleep(WARM)
        yield
    finally:
        started.kill()
        started.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    os.sched_setaffinity(0, {0})
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(given.rounds):
        for load in ("", *LOADS):
            with beside(load):
                end = time.monotonic() + SECONDS
                while time.monotonic() < end:
                    for work in WORK:
                        began = time.thread_time()
                        work()
                        found.setdefault((load, work.__name__), []).append(time.thread_time() - began)
    for work in WORK:
        alone = statistics.median(found["", work.__name__])
        for load in LOADS:
            ratio = statistics.median(found[load, work.__name__]) / alone
            name = work.__name__.replace("_", "-")
            measured(f"processor time of {name} beside {load}, in times of alone", ratio, "")


if __name__ == "__main__":
    main()
