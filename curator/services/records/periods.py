"""Days gathered into weeks or months, so that a plot stays readable however long a project runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta

from curator.domain.wording import tr

MOST_DAYS, MOST_WEEKS = 92, 104
DAY, WEEK, MONTH = NAMES = ("Day", "Week from", "Month from")


def periods(days: Iterable[date]) -> tuple[str, Callable[[date], str], tuple[str, ...]]:
    """(what a period is called, day -> its period as the ISO date it begins at, the periods that occur in order)."""
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
