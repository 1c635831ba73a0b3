"""Statistics of the project's decisions, documents and efforts: counts by day, curator and split, from which every
figure of the dashboard is calculated.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, TypeVar

from curator.domain.documents import DocumentState, Split
from curator.domain.wording import guarded_row, localised, percent, tr

IMPORTED = "import"
"""The curator of all imported decisions."""


@dataclass(frozen=True, slots=True)
class StatisticsFilter:
    """'' and None do not restrict; both days are included. `curator` is a name, or `IMPORTED`."""

    curator: str = ""
    split: Split | None = None
    since: date | None = None
    until: date | None = None

    def holds_day(self, day: date) -> bool:
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)

    def holds_split(self, split: str) -> bool:
        """Whether a split passes the filter; '' means no split, such as the effort of an undo."""
        return self.split is None or split == self.split.value

    def holds_curator(self, curator: str) -> bool:
        return self.curator in ("", curator)


@dataclass(frozen=True, slots=True)
class DocumentCell:
    """Documents of one split in one state, and their mentions by state ('' undecided)."""

    split: Split
    state: DocumentState
    documents: int
    mentions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DecidedCell:
    """Current decisions of one day (local time). `rank` is from `Shown.rank_of`; `outcome` is an `Outcome`'s value."""

    day: date
    curator: str
    split: str
    outcome: str
    rank: int | None
    number: int


@dataclass(frozen=True, slots=True)
class TakenDecision:
    """One decision in the project's history, including undone ones. `step` is the kind of the operation, '' for
    imported decisions; `actor` did it, `curator` is the author of the verdict. `rank` and `places` are from
    `Shown.rank_of` and `Shown.places_of`. `stands`: it is the mention's current decision."""

    id: int
    at: datetime
    actor: str
    curator: str
    step: str
    document_id: int
    document: str
    mention_id: int
    text: str
    outcome: str
    entity_ids: tuple[str, ...]
    rank: int | None
    note: str
    stands: bool
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EffortCell:
    """The effort of operations of one day. `decisions` is the number of their decisions (0 for undo, marking documents
    and similar steps), `one_key` the number made with at most one key or click; `many`: by operations on several
    mentions."""

    day: date
    curator: str
    split: str
    many: bool
    decisions: int
    one_key: int
    keys: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """What the project has for an export. `mentions` are those that most formats hold: linked and NIL ones, and
    undecided and skipped ones that are in their document's record; `others` are the rest. Of the former, `composite`
    ones link to several entities, `discontinuous` ones have several spans, `attributed` ones have attributes.
    `relations` are those that curators added."""

    documents: int = 0
    mentions: int = 0
    others: int = 0
    links: int = 0
    nil: int = 0
    composite: int = 0
    discontinuous: int = 0
    attributed: int = 0
    relations: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """All counts, before any filter except visibility."""

    documents: tuple[DocumentCell, ...] = ()
    decided: tuple[DecidedCell, ...] = ()
    efforts: tuple[EffortCell, ...] = ()

    @property
    def curators(self) -> tuple[str, ...]:
        """People who decided, then `IMPORTED` if there are imported decisions."""
        names = {one.curator for one in self.decided} | {one.curator for one in self.efforts}
        return (*sorted(names - {IMPORTED}), *([IMPORTED] if IMPORTED in names else []))

    def of(self, where: StatisticsFilter) -> Counts:
        """The counts that pass the filter. Documents are filtered by split only."""
        return Counts(
            tuple(one for one in self.documents if where.holds_split(one.split.value)),
            tuple(_held(self.decided, where)),
            tuple(_held(self.efforts, where)),
        )


Cell = TypeVar("Cell", DecidedCell, EffortCell)


def _held(cells: Iterable[Cell], where: StatisticsFilter) -> Iterable[Cell]:
    return (
        one
        for one in cells
        if where.holds_curator(one.curator) and where.holds_split(one.split) and where.holds_day(one.day)
    )


# Plots as data: for the dashboard's drawings and tables, files, and the command line.

Value = float | None


class Unit(StrEnum):
    """The unit of a plot's values, which determines their format."""

    COUNT = "count"
    SHARE = "share"  # 0..1
    SECONDS = "seconds"
    PER_HOUR = "per hour"
    KEYS = "keys"
    FIGURE = "figure"  # a plain number such as kappa

    def words(self, value: Value) -> str:
        """A value as text; a dash if there is none."""
        if value is None:
            return "–"
        if self is Unit.SHARE:
            return percent(value)
        if self is Unit.SECONDS:
            return f"{localised(value, '.1f')} s"
        if self in (Unit.COUNT, Unit.PER_HOUR):
            return localised(value, ",.0f")
        return localised(value, ".2f").replace("-", "−")

    def tick(self, value: float) -> str:
        """The label of a round value at an axis."""
        return f"{localised(100 * value, 'g')} %" if self is Unit.SHARE else localised(value, ",g").replace("-", "−")


class Shape(StrEnum):
    LINES = "lines"
    BARS = "bars"


@dataclass(frozen=True, slots=True)
class Series:
    """One value for each of the plot's places, None if missing. `low` and `high` bound a 95 % interval, `counts` are
    the numbers of cases; both are empty if they do not apply. `role` names series with a fixed colour, such as an
    outcome."""

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
    """`places` are ISO days if `timed`, else names in order. `summary` describes the plot in a sentence, `note` how its
    figures are calculated."""

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
        """The plot as CSV with a header; shares are 0..1, missing values are empty."""
        import csv  # imported here, so that the window's start does not wait for it

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(guarded_row(self.head))
        writer.writerows(guarded_row("" if value is None else value for value in row) for row in self.rows())
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
    """One figure above the plots. `words` is '–' if it is not known yet, `hint` explains its calculation."""

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
        yield tr("{name}, 95 % from", name=one.name)
        yield tr("{name}, 95 % to", name=one.name)
    if one.counts:
        yield tr("{name}, cases", name=one.name)


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
