"""Plots of how far people agree: with each other in rounds, and with themselves."""

from __future__ import annotations

from collections.abc import Sequence

from curator.domain.plots import Plot, Series, Shape, Unit, shares
from curator.domain.statistics import StatisticsFilter
from curator.services.agreement import ALL, AgreementRow, ConsistencyRow

Rounds = Sequence[tuple[str, AgreementRow]]


def people_plots(rounds: Rounds, consistency: Sequence[ConsistencyRow], where: StatisticsFilter) -> tuple[Plot, ...]:
    return agreement_plot(rounds), consistency_plot(consistency, where)


def agreement_plot(rounds: Rounds) -> Plot:
    rows = [row for _, row in rounds]
    names = tuple(name for name, _ in rounds)
    words = "No round was judged by two people yet."
    if rows:
        last = rows[-1]
        words = f"{names[-1]}: Krippendorff's alpha {Unit.FIGURE.words(last.alpha)} over {last.items:,} mentions."
    alpha = Series(
        "Krippendorff's alpha, links",
        tuple(row.alpha for row in rows),
        tuple(row.interval.low if row.interval else None for row in rows),
        tuple(row.interval.high if row.interval else None for row in rows),
        tuple(row.items for row in rows),
    )
    kappa = Series("Cohen's kappa, links", tuple(row.cohen for row in rows))
    spans = Series("F1 of spans, exact", tuple(row.exact for row in rows))
    return Plot(
        "agreement",
        "Agreement of rounds",
        words,
        "Round",
        names,
        (alpha, kappa, spans),
        Unit.FIGURE,
        Shape.BARS,
        note="Over whole rounds, whatever is filtered. People › Agreement… has them by type, document and pair.",
    )


def consistency_plot(rows: Sequence[ConsistencyRow], where: StatisticsFilter) -> Plot:
    held = [one for one in rows if one.period == ALL and where.holds_curator(one.curator)]
    words = "Nobody was asked the same twice yet. Settings say how many decided mentions are asked again."
    if held:
        asked = sum(one.items for one in held)
        same = Unit.SHARE.words(sum(one.same for one in held) / asked)
        words = f"{same} of {asked:,} second answers are the same as the first."
    series = shares("Same answer again", [(one.same, one.items) for one in held])
    return Plot(
        "consistency",
        "Agreement with oneself",
        words,
        "Curator",
        tuple(one.curator for one in held),
        (series,),
        Unit.SHARE,
        Shape.BARS,
    )
