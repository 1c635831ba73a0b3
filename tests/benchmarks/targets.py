"""Figures with their targets; `make bench` collects them from every benchmark into one table, and compares them with
those of earlier runs (`history.py`)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = "CURATOR_BENCH_RESULTS"
"""Names the file that results are appended to, as JSON lines."""


@dataclass(frozen=True, slots=True)
class Result:
    """`most`: the target is an upper limit and less is better, else a lower one. Without a `target` the figure is only
    kept, to be compared with later ones."""

    what: str
    figure: float
    unit: str
    target: float | None = None
    most: bool = True
    note: str = ""

    @property
    def reached(self) -> bool:
        if self.target is None:
            return True
        return self.figure <= self.target if self.most else self.figure >= self.target

    def line(self) -> str:
        note = f"   ({self.note})" if self.note else ""
        start = f"{self.what:62} {_short(self.figure):>8} {self.unit:6}"
        if self.target is None:
            return f"{start}{note}"
        sign, mark = ("≤" if self.most else "≥"), ("reached" if self.reached else "MISSED")
        return f"{start} {sign} {_short(self.target):>6}  {mark}{note}"


def _short(figure: float) -> str:
    return f"{figure:,.2f}".rstrip("0").rstrip(".")


def tell(
    what: str, figure: float, unit: str, *, most: float | None = None, least: float | None = None, note: str = ""
) -> Result:
    """Print a figure with its target, and hand it on to `make bench`. One of `most` and `least` is given."""
    target = most if most is not None else least
    assert target is not None
    return _handed_on(Result(what, figure, unit, target, most is not None, note))


def measured(what: str, figure: float, unit: str, *, more: bool = False, note: str = "") -> Result:
    """Print a figure that has no target, and hand it on to `make bench`, which compares it with earlier ones. `more`:
    more is better."""
    return _handed_on(Result(what, figure, unit, most=not more, note=note))


def _handed_on(result: Result) -> Result:
    print(result.line())
    if path := os.environ.get(RESULTS):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result)) + "\n")
    return result


def read(path: Path) -> list[Result]:
    """What the benchmarks told so far."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [Result(**json.loads(line)) for line in lines]


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]
