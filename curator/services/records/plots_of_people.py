"""Plots of how far people agree: with each other in rounds, and with themselves."""

from __future__ import annotations

from collections.abc import Sequence

from curator.domain.plots import Plot, Series, Shape, Unit, shares
from curator.domain.statistics import StatisticsFilter
from curator.domain.wording import tr
from curator.services.rounds.agreement import ALL, AgreementRow, ConsistencyRow

Rounds = Sequence[tuple[str, AgreementRow]]


def people_plots(rounds: Rounds, consistency: Sequence[ConsistencyRow], where: StatisticsFilter) -> tuple[Plot, ...]:
    return agreement_plot(rounds), consistency_plot(consistency, where)


def agreement_plot(rounds: Rounds) -> Plot:
    rows = [row for _, row in rounds]
    names = tuple(name for name, _ in rounds)
    words = tr("No round was judged by two people yet.")
    if rows:
        last = rows[-1]
        words = tr(
            "{names}: Krippendorff's alpha {figure} over {items:,} mentions.",
            names=names[-1],
            figure=Unit.FIGURE.words(last.alpha),
            items=last.items,
        )
    alpha = Series(
        tr("Krippendorff's alpha, links"),
        tuple(row.alpha for row in rows),
        tuple(row.interval.low if row.interval else None for row in rows),
        tuple(row.interval.high if row.interval else None for row in rows),
        tuple(row.items for row in rows),
    )
    kappa = Series(tr("Cohen's kappa, links"), tuple(row.cohen for row in rows))
    spans = Series(tr("F1 of spans, exact"), tuple(row.exact for row in rows))
    return Plot(
        "agreement",
        tr("Agreement of rounds"),
        words,
        tr("Round"),
        names,
        (alpha, kappa, spans),
        Unit.FIGURE,
        Shape.BARS,
        note=tr("Over whole rounds, whatever is filtered. People › Agreement… has them by type, document and pair."),
    )


def consistency_plot(rows: Sequence[ConsistencyRow], where: StatisticsFilter) -> Plot:
    held = [one for one in rows if one.period == ALL and where.holds_curator(one.curator)]
    words = tr("Nobody was asked the same twice yet. Settings say how many decided mentions are asked again.")
    if held:
        asked = sum(one.items for one in held)
        same = Unit.SHARE.words(sum(one.same for one in held) / asked)
        words = tr("{same} of {asked:,} second answers are the same as the first.", same=same, asked=asked)
    series = shares(tr("Same answer again"), [(one.same, one.items) for one in held])
    return Plot(
        "consistency",
        tr("Agreement with oneself"),
        words,
        tr("Curator"),
        tuple(one.curator for one in held),
        (series,),
        Unit.SHARE,
        Shape.BARS,
    )
