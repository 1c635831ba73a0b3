"""Plots as data: what the dashboard draws, its tables show, and files and the command line give."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Value = float | None


class Unit(StrEnum):
    """Of a plot's values: how they are written."""

    COUNT = "count"
    SHARE = "share"  # 0..1
    SECONDS = "seconds"
    PER_HOUR = "per hour"
    KEYS = "keys"
    FIGURE = "figure"  # a plain number such as kappa

    def words(self, value: Value) -> str:
        """A value as it is read; a dash where there is none."""
        if value is None:
            return "–"
        if self is Unit.SHARE:
            return f"{100 * value:.1f} %"
        if self is Unit.SECONDS:
            return f"{value:.1f} s"
        if self in (Unit.COUNT, Unit.PER_HOUR):
            return f"{value:,.0f}"
        return f"{value:.2f}".replace("-", "−")

    def tick(self, value: float) -> str:
        """A round value at an axis."""
        return f"{100 * value:g} %" if self is Unit.SHARE else f"{value:,g}".replace("-", "−")


class Shape(StrEnum):
    LINES = "lines"
    BARS = "bars"


@dataclass(frozen=True, slots=True)
class Series:
    """One value for each of the plot's places, None where there is none. `low` and `high` bound a 95 % interval,
    `counts` say how many cases a value rests on; both empty where that makes no sense. `role` names what is drawn in
    its own colour everywhere, such as an outcome."""

    name: str
    values: tuple[Value, ...]
    low: tuple[Value, ...] = ()
    high: tuple[Value, ...] = ()
    counts: tuple[int, ...] = ()
    role: str = ""

    @property
    def last(self) -> Value:
        return next((one for one in reversed(self.values) if one is not None), None)


@dataclass(frozen=True, slots=True)
class Plot:
    """`places` are ISO days where `timed`, else names in order. `summary` says in a sentence what the plot shows,
    `note` how its figures are made."""

    id: str
    title: str
    summary: str
    axis: str
    places: tuple[str, ...]
    series: tuple[Series, ...]
    unit: Unit
    shape: Shape = Shape.LINES
    timed: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        for one in self.series:
            for values in (one.values, one.low, one.high, one.counts):
                if len(values) not in (len(self.places), 0):
                    raise ValueError(f"{self.id}: {one.name} has {len(values)} values for {len(self.places)} places")

    @property
    def is_empty(self) -> bool:
        return not any(value is not None for one in self.series for value in one.values)

    # --- as a table ---

    @property
    def head(self) -> tuple[str, ...]:
        return (self.axis, *(name for one in self.series for name in _columns(one)))

    def rows(self) -> Iterator[tuple[str | Value, ...]]:
        for at, place in enumerate(self.places):
            yield (place, *(value for one in self.series for value in _at(one, at)))

    def csv(self) -> str:
        """With a head; shares are 0..1, absent values are empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows(["" if value is None else value for value in row] for row in self.rows())
        return out.getvalue()

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "summary": self.summary,
            "note": self.note,
            "unit": self.unit.value,
            "axis": self.axis,
            "places": list(self.places),
            "series": [_series_json(one) for one in self.series],
        }


@dataclass(frozen=True, slots=True)
class Headline:
    """One figure above the plots. `words` is '–' where it is not known yet, `hint` says what it is made of."""

    id: str
    title: str
    words: str
    value: Value
    hint: str


def wilson(right: int, number: int) -> tuple[Value, Value]:
    """The 95 % score interval of a share, None without cases. Wilson (1927), J. Am. Stat. Assoc. 22, 209–212."""
    if not number:
        return None, None
    z, share = 1.959964, right / number
    middle = share + z * z / (2 * number)
    half = z * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    scale = 1 + z * z / number
    return max((middle - half) / scale, 0.0), min((middle + half) / scale, 1.0)


def shares(name: str, pairs: list[tuple[int, int]], *, role: str = "") -> Series:
    """A series of shares with their intervals from (cases that count, cases)."""
    bounds = [wilson(*pair) for pair in pairs]
    return Series(
        name,
        tuple(right / number if number else None for right, number in pairs),
        tuple(low for low, _ in bounds),
        tuple(high for _, high in bounds),
        tuple(number for _, number in pairs),
        role,
    )


def _columns(one: Series) -> Iterator[str]:
    yield one.name
    if one.low:
        yield f"{one.name}, 95 % from"
        yield f"{one.name}, 95 % to"
    if one.counts:
        yield f"{one.name}, cases"


def _at(one: Series, at: int) -> Iterator[Value]:
    yield one.values[at]
    if one.low:
        yield one.low[at]
        yield one.high[at]
    if one.counts:
        yield one.counts[at]


def _series_json(one: Series) -> dict[str, Any]:
    value: dict[str, Any] = {"name": one.name, "values": list(one.values)}
    if one.low:
        value |= {"low": list(one.low), "high": list(one.high)}
    return value | {"cases": list(one.counts)} if one.counts else value
