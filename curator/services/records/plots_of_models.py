"""Plots of the linkers that were made: what each bundle's gate measured on the held-out documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.statistics import Plot, Series, Shape, StatisticsFilter, Unit, shares
from curator.domain.wording import tr
from curator.services.rounds import ALL, AgreementRow, ConsistencyRow

VERDICTS = {
    GateVerdict.PROMOTE: "promoted",
    GateVerdict.NO_GAIN: "no gain",
    GateVerdict.REFUSED: "refused",
    GateVerdict.NOT_GATED: "not gated",
}
QUALITIES = (
    ("recall", "Recall@1 of the whole linker", ("recall", "1")),
    ("nil_aupr", "NIL auPR of the whole linker", ("nil", "au_pr")),
    ("accuracy", "Right in all, NIL included", ("accuracy",)),
)
NOTE = (
    "Before and after on the same held-out documents, which change as more are decided: compare the two bars of one "
    "bundle. Only the time filters bundles."
)


def bundle_plots(bundles: Sequence[BundleInfo], where: StatisticsFilter) -> tuple[Plot, ...]:
    """Oldest first; bundles that no gate compared are left out."""
    gated = [one for one in bundles if isinstance(one.metrics.get("new"), Mapping)]
    held = [one for one in gated if where.holds_day(one.created_at.astimezone().date())]
    return tuple(_plot(held, *quality) for quality in QUALITIES)


def _plot(bundles: Sequence[BundleInfo], id_: str, title: str, path: tuple[str, ...]) -> Plot:
    before = tuple(figure(one.metrics.get("old"), path) for one in bundles)
    after = tuple(figure(one.metrics.get("new"), path) for one in bundles)
    last = next((value for value in reversed(after) if value is not None), None)
    words = tr("No bundle was trained and compared yet.")
    if last is not None:
        promoted = sum(one.verdict is GateVerdict.PROMOTE for one in bundles)
        words = tr(
            "{number:,} trained, {promoted:,} promoted; the last one has {share}.",
            number=len(bundles),
            promoted=promoted,
            share=Unit.SHARE.words(last),
        )
    return Plot(
        id_,
        tr(title),
        words,
        tr("Bundle"),
        tuple(_label(one) for one in bundles),
        (Series(tr("Before"), before, role="before"), Series(tr("After"), after, role="after")),
        Unit.SHARE,
        Shape.BARS,
        note=tr(NOTE),
    )


def _label(bundle: BundleInfo) -> str:
    serves = tr(", serves") if bundle.active else ""
    return f"{bundle.created_at.astimezone():%d %b %H:%M} {bundle.recipe}, {tr(VERDICTS[bundle.verdict])}{serves}"


def figure(report: Any, path: tuple[str, ...]) -> float | None:
    """A figure of a report in a manifest; None where it is not there."""
    found = report
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


# Plots of how far people agree: with each other in rounds, and with themselves.

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
