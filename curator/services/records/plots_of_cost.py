"""Plots of what decisions cost: seconds, keys and clicks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta

from curator.domain.statistics import EffortCell, Plot, Series, Unit
from curator.domain.wording import ntr, percent, tr

# Days gathered into weeks or months, so that plots of long projects stay readable.

MOST_DAYS, MOST_WEEKS = 92, 104
DAY, WEEK, MONTH = NAMES = ("Day", "Week from", "Month from")


def periods(days: Iterable[date]) -> tuple[str, Callable[[date], str], tuple[str, ...]]:
    """(name of a period, day -> its period's first day as an ISO date, the occurring periods in order)."""
    known = sorted(set(days))
    span = (known[-1] - known[0]).days if known else 0
    name, begin = DAY, _day
    if span > MOST_DAYS:
        name, begin = (WEEK, _week) if span <= 7 * MOST_WEEKS else (MONTH, _month)
    return tr(name), begin, tuple(dict.fromkeys(begin(one) for one in known))


def _day(day: date) -> str:
    return day.isoformat()


def _week(day: date) -> str:
    """Weeks begin on Monday."""
    return (day - timedelta(days=day.weekday())).isoformat()


def _month(day: date) -> str:
    return day.replace(day=1).isoformat()


HOUR = 3_600_000
"""Milliseconds."""


class Cost:
    """Sums of efforts: `single`: of decisions made one at a time."""

    def __init__(self, decisions: int, one_key: int, keys: int, milliseconds: int) -> None:
        self.decisions, self.one_key = decisions, one_key
        self.keys = keys / decisions if decisions else None
        self.seconds = milliseconds / 1000 / decisions if decisions else None
        self.per_hour = decisions * HOUR / milliseconds if decisions and milliseconds else None

    @classmethod
    def of(cls, cells: Iterable[EffortCell]) -> Cost:
        held = list(cells)
        return cls(
            sum(one.decisions for one in held),
            sum(one.one_key for one in held),
            sum(one.keys for one in held),
            sum(one.milliseconds for one in held),
        )


NO_EFFORT = "No effort has been measured yet. Measuring starts with your next decision in the window."
COST_NOTE = (
    "Working time without pauses of over a minute, and keys and clicks since the previous step, "
    "including undoing, searching and moving through the text. Undone decisions do not count."
)


def speed_plot(cells: Sequence[EffortCell]) -> Plot:
    cost = Cost.of(cells)
    words = (
        ntr(
            "{seconds} for the only decision measured.",
            "{seconds} per decision, over {n:,} decisions.",
            cost.decisions,
            seconds=Unit.SECONDS.words(cost.seconds),
        )
        if cost.decisions
        else tr(NO_EFFORT)
    )
    return _cost_plot("speed", tr("Seconds per decision"), words, cells, Unit.SECONDS, lambda one: one.seconds)


def pace_plot(cells: Sequence[EffortCell]) -> Plot:
    cost = Cost.of(cells)
    words = (
        tr(
            "{per_hour} decisions per hour of work, {hours}.",
            per_hour=Unit.PER_HOUR.words(cost.per_hour),
            hours=hours_words(cells),
        )
        if cost.decisions
        else tr(NO_EFFORT)
    )
    return _cost_plot("pace", tr("Decisions per hour of work"), words, cells, Unit.PER_HOUR, lambda one: one.per_hour)


def keys_plot(cells: Sequence[EffortCell]) -> Plot:
    cost, single = Cost.of(cells), Cost.of(one for one in cells if not one.many)
    words = tr(NO_EFFORT)
    if single.decisions:
        words = tr(
            "{keys} keys per decision made one at a time, {percent} with one key",
            keys=Unit.KEYS.words(single.keys),
            percent=percent(single.one_key / single.decisions),
        )
        words += (
            tr("; {keys} including several at once.", keys=Unit.KEYS.words(cost.keys))
            if cost.decisions > single.decisions
            else "."
        )
    elif cost.decisions:
        words = tr("{keys} keys per decision; none was made one at a time.", keys=Unit.KEYS.words(cost.keys))
    return _cost_plot("keys", tr("Keys and clicks per decision"), words, cells, Unit.KEYS, lambda one: one.keys)


def _cost_plot(
    id_: str,
    title: str,
    words: str,
    cells: Sequence[EffortCell],
    unit: Unit,
    figure: Callable[[Cost], float | None],
) -> Plot:
    axis, begin, places = periods(one.day for one in cells)
    by_place = {place: [one for one in cells if begin(one.day) == place] for place in places}
    single = [Cost.of(one for one in by_place[place] if not one.many) for place in places]
    every = [Cost.of(by_place[place]) for place in places]
    series = [Series(tr("One at a time"), tuple(map(figure, single)), counts=tuple(one.decisions for one in single))]
    if any(one.many for one in cells):
        series.append(
            Series(tr("Including several at once"), tuple(map(figure, every)), counts=tuple(o.decisions for o in every))
        )
    return Plot(id_, title, words, axis, places, tuple(series), unit, timed=True, note=tr(COST_NOTE))


def hours_words(cells: Iterable[EffortCell]) -> str:
    hours = sum(one.milliseconds for one in cells) / HOUR
    if hours < 1:
        return ntr("{n:,} minute measured", "{n:,} minutes measured", math.ceil(60 * hours))
    return tr("{value:,.1f} hours measured", value=hours)


def taken_words(cost: Cost) -> str:
    return tr("{decisions:,} measured", decisions=cost.decisions)
