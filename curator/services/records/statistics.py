"""The figures of the dashboard and of `curator stats`: read once, then filtered and drawn without further queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from curator.domain.jobs import BundleInfo
from curator.domain.rounds import RoundKind
from curator.domain.statistics import Counts, Headline, Plot, StatisticsFilter, TakenDecision
from curator.services.core.context import Context, Service
from curator.services.records.plots import bundle_plots, headlines, people_plots, work_plots
from curator.services.rounds.agreement import AgreementRow, AgreementService, ConsistencyRow

RESAMPLES = 200
"""Resamples for the interval of a round's alpha: enough for a plot, and fast enough in the background."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """All statistics. `rounds` are (name, figures of the whole round) of rounds with two or more curators."""

    counts: Counts
    bundles: tuple[BundleInfo, ...] = ()
    rounds: tuple[tuple[str, AgreementRow], ...] = ()
    consistency: tuple[ConsistencyRow, ...] = ()


class StatisticsService(Service):
    """`read` uses a few grouped queries, and reads rounds only if their judgements have changed."""

    def __init__(
        self, context: Context, agreement: AgreementService, *, bundles: Callable[[], Sequence[BundleInfo]]
    ) -> None:
        super().__init__(context)
        self._agreement = agreement
        self._bundles = bundles
        self._rounds: dict[tuple[str, int], AgreementRow] = {}

    def read(self) -> Statistics:
        """A second or so for half a million decisions: call it from a worker thread."""
        with self._store.read() as unit:
            found = unit.records
            counts = Counts(tuple(found.documents()), tuple(found.decided()), tuple(found.efforts()))
        return Statistics(
            counts, tuple(self._bundles()), tuple(self._agreements()), tuple(self._agreement.consistency())
        )

    def taken(
        self, *, limit: int, before: int | None = None, curator: str = "", words: str = "", imported: bool = False
    ) -> list[TakenDecision]:
        """A page of the project's history, see the port. With words it may read everything: call it from a worker
        thread."""
        with self._store.read() as unit:
            return unit.records.taken(limit=limit, before=before, curator=curator, words=words, imported=imported)

    def curators(self) -> list[str]:
        """Names of the people who decided."""
        with self._store.read() as unit:
            return unit.records.curators()

    def _agreements(self) -> list[tuple[str, AgreementRow]]:
        with self._store.read() as unit:
            rounds = [one for one in unit.rounds.all() if one.kind is not RoundKind.CONSISTENCY]
            judged = [(one.name, max((j.id for j in unit.rounds.current(one.id)), default=0)) for one in rounds]
        known = self._rounds
        self._rounds = {
            key: known.get(key) or self._agreement.report(key[0], resamples=RESAMPLES).whole for key in judged
        }
        return [(name, row) for (name, _), row in self._rounds.items() if row.items]


def plots(found: Statistics, where: StatisticsFilter) -> tuple[Plot, ...]:
    """All plots for the filter, including empty ones, in the order of the dashboard."""
    counts = found.counts.of(where)
    return (
        *work_plots(counts),
        *bundle_plots(found.bundles, where),
        *people_plots(found.rounds, found.consistency, where),
    )


def head_figures(found: Statistics, where: StatisticsFilter) -> tuple[Headline, ...]:
    return headlines(found.counts.of(where))


def as_json(found: Statistics, where: StatisticsFilter) -> dict[str, Any]:
    """All figures and plots with their filter."""
    return {
        "filter": {
            "curator": where.curator or None,
            "split": where.split.value if where.split else None,
            "since": where.since.isoformat() if where.since else None,
            "until": where.until.isoformat() if where.until else None,
        },
        "figures": {one.id: one.value for one in head_figures(found, where)},
        "plots": [one.as_json() for one in plots(found, where)],
    }
