"""What a running training told so far: its curves, its figures and its log, for the window and as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from curator.domain.jobs import Progress
from curator.domain.wording import tr

CURVES = ("loss", "learning_rate", "recall_at_1", "recall_at_64", "nil_aupr", "throughput")
"""Keys of a progress event's data that are drawn over the steps; an absent one draws nothing."""
COLUMNS = ("step", "epoch", "seconds", *CURVES)
LATEST = ("step", "epoch", "seconds", "throughput", "seconds_left")
Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class LogLine:
    at: datetime
    phase: str
    text: str

    def __str__(self) -> str:
        return f"{self.at:%H:%M:%S}  {self.phase:<16}  {self.text}".rstrip()


@dataclass(slots=True)
class TrainingHistory:
    """`rows` are the figures of the events that had any, in order; `curves` the same by name, over steps."""

    rows: list[dict[str, float]] = field(default_factory=list)
    curves: dict[str, Points] = field(default_factory=lambda: {name: [] for name in CURVES})
    latest: dict[str, float] = field(default_factory=dict)
    log: list[LogLine] = field(default_factory=list)
    _phase: str = ""

    def take(self, progress: Progress, at: datetime) -> None:
        if progress.text or progress.phase != self._phase:
            self.log.append(LogLine(at, tr(progress.phase), progress.text))
            self._phase = progress.phase
        figures = {name: float(value) for name, value in progress.data.items() if _is_figure(name, value)}
        if not figures:
            return
        figures.setdefault("step", self.latest.get("step", 0.0) + ("loss" in figures))
        self.latest.update({name: figures[name] for name in (*LATEST, *CURVES) if name in figures})
        self.rows.append(figures)
        for name in CURVES:
            if name in figures:
                self.curves[name].append((figures["step"], figures[name]))

    def say(self, text: str, at: datetime) -> None:
        """A line of the log that is no progress, such as what came of it."""
        self.log.append(LogLine(at, "", text))

    @property
    def losses(self) -> list[float]:
        return [value for _, value in self.curves["loss"]]

    def csv(self) -> str:
        """One line for each event with figures; columns that no event had are left out."""
        names = [name for name in COLUMNS if any(name in row for row in self.rows)]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([row.get(name, "") for name in names] for row in self.rows)
        return out.getvalue()


def _is_figure(name: str, value: Any) -> bool:
    known = name in COLUMNS or name == "seconds_left"
    return known and isinstance(value, int | float) and not isinstance(value, bool)
