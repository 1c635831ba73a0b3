"""Resource use of a long session, in samples and windows of time, and whether it stays constant."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from statistics import median

from tests.benchmarks.targets import quantile

WINDOWS = 4
"""Into so many windows the time is divided; the first is compared with the last."""
SLOWER = 1.1
"""The p99 of a key in the last window may be so many times that of the first."""
MORE = {"memory MiB": 1.1, "handles": 1.1, "threads": 1.25, "children": 1.0, "temporary files": 1.0}
"""The median of a figure in the last window may be so many times that of the first, and `SLACK` more."""
SHOWN = (*MORE, "MiB that malloc holds", "MiB of it in use")
"""What the GNU C library holds and is not in use was freed; parts of it were returned to the system."""
SLACK = {"memory MiB": 20.0, "handles": 8.0, "threads": 2.0, "children": 1.0, "temporary files": 2.0}


@dataclass(frozen=True, slots=True)
class Sample:
    """`at`: seconds since the start."""

    at: float
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class Key:
    """A key press until it is painted; `at`: seconds since the start, the others in milliseconds. What the window's
    thread spent on a processor does not depend on other programs as the clock does."""

    at: float
    clock: float
    processor: float


MEASURES: dict[str, Callable[[Key], float]] = {
    "by the clock": attrgetter("clock"),
    "on a processor": attrgetter("processor"),
}


@dataclass(slots=True)
class Record:
    """All that was measured."""

    samples: list[Sample] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)

    def windows(self) -> Iterator[tuple[list[Sample], list[Key]]]:
        end = max((one.at for one in self.samples), default=0.0) + 1e-6
        for first, last in pairwise(end * number / WINDOWS for number in range(WINDOWS + 1)):
            samples = [one for one in self.samples if first <= one.at < last]
            yield samples, [key for key in self.keys if first <= key.at < last]

    def lines(self) -> list[str]:
        found = []
        for number, (samples, keys) in enumerate(self.windows(), start=1):
            medians = ", ".join(f"{name} {_median(samples, name):,.0f}" for name in SHOWN)
            times = f"p50 and p99 {_times(keys, 0.5)}, {_times(keys, 0.99)}" if keys else "none"
            minutes = f"{samples[0].at / 60:.1f} to {samples[-1].at / 60:.1f} min" if samples else "no sample"
            found.append(f"window {number} ({minutes}): {len(keys):,} keys, {times}; {medians}")
        return found

    def faults(self) -> list[str]:
        """What is not flat, in words. The first window holds the start, of which nothing is expected but keys."""
        windows = list(self.windows())
        settled = windows[1] if len(windows) > 2 else windows[0]
        last = windows[-1]
        found = []
        for name, times in MORE.items():
            before, after = _median(settled[0], name), _median(last[0], name)
            if after > before * times + SLACK[name]:
                found.append(f"{name}: {before:,.0f} → {after:,.0f}")
        if not all(keys for _, keys in windows):
            found.append("a window has no keys: the mentions ran out, or the window hangs")
        elif windows[0][1] and last[1]:
            for what, of in MEASURES.items():
                before, after = (quantile([of(key) for key in keys], 0.99) for keys in (windows[0][1], last[1]))
                if after > SLOWER * before:
                    times = f"{before:.1f} → {after:.1f} ms, at most {SLOWER} times are wanted"
                    found.append(f"key → painted, p99 {what}: {times}")
        return found


def _times(keys: Sequence[Key], share: float) -> str:
    return " and ".join(f"{quantile([of(key) for key in keys], share):.1f} ms {what}" for what, of in MEASURES.items())


def _median(samples: Sequence[Sample], name: str) -> float:
    return median(one.figures.get(name, 0.0) for one in samples) if samples else 0.0


def figures_of(temporary: Sequence[Path]) -> dict[str, float]:
    """Of this process: memory, handles, threads and children; and the files in these folders."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    return {
        "memory MiB": int(status["VmRSS"].split()[0]) / 1024,
        "handles": sum(1 for _ in Path("/proc/self/fd").iterdir()),
        "threads": threading.active_count(),
        "children": len(_children()),
        "temporary files": sum(1 for folder in temporary for path in folder.rglob("*") if path.is_file()),
        **dict(zip(SHOWN[-2:], _held_and_used(), strict=True)),
    }


class _Allocated(ctypes.Structure):
    """`struct mallinfo2` of the GNU C library, in bytes."""

    _NAMES = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES)


def _held_and_used() -> tuple[float, float]:
    """What the GNU C library took from the system and what of it is in use, in MiB; 0 of another library."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return 0.0, 0.0
    ask.restype = _Allocated
    found = ask()
    return (found.arena + found.hblkhd) / 2**20, (found.uordblks + found.hblkhd) / 2**20


def _children() -> list[int]:
    found = []
    for task in Path("/proc/self/task").iterdir():
        try:
            found += [int(one) for one in (task / "children").read_text(encoding="utf-8").split()]
        except OSError:  # the thread ended meanwhile
            continue
    return found
