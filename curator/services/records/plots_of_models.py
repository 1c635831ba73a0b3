"""Plots of linkers: the measurements of each bundle's gate on held-out documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.statistics import Plot, Series, Shape, StatisticsFilter, Unit, shares
from curator.domain.wording import localised, tr
from curator.services.rounds.agreement import ALL, AgreementRow, ConsistencyRow
from curator.services.training.bundle_metrics import learning_points, metric

VERDICTS = {
    GateVerdict.PROMOTE: "better",
    GateVerdict.NO_GAIN: "no gain",
    GateVerdict.REFUSED: "worse",
    GateVerdict.NOT_GATED: "without a check",
}
QUALITIES = (
    ("recall", "Recall@1 of the whole linker", ("recall", "1")),
    ("nil_aupr", "NIL auPR of the whole linker", ("nil", "au_pr")),
    ("accuracy", "Right overall, NIL included", ("accuracy",)),
)
NOTE = (
    "Before and after on the same held-out documents. These change as more mentions are decided, so "
    "compare only the two bars of one linker. Of the filters, only the time applies to linkers."
)
LEARNING = "learning"
LEARNING_NOTE = (
    "Share of correct answers, NIL included, on the held-out documents of each training, by the number "
    "of linked decisions in train and validation documents at that time. The interval is that of the "
    "difference."
)


def bundle_plots(bundles: Sequence[BundleInfo], where: StatisticsFilter) -> tuple[Plot, ...]:
    """The plots, oldest bundle first; bundles without a gate's comparison are left out."""
    gated = [one for one in bundles if isinstance(one.metrics.get("new"), Mapping)]
    held = [one for one in gated if where.holds_day(one.created_at.astimezone().date())]
    return (learning_plot(held), *(_plot(held, *quality) for quality in QUALITIES))


def learning_plot(bundles: Sequence[BundleInfo]) -> Plot:
    """The share of right held-out mentions (including NIL) before and after each training, by its number of links."""
    points = learning_points(bundles)
    words = tr("No linker has been trained and compared yet.")
    if points:
        last = points[-1]
        words = tr(
            "With {links:,} links, {recipe} changed the linker's share of correct answers from {before} to {after}.",
            links=last.links,
            recipe=last.recipe,
            before=Unit.SHARE.words(last.before),
            after=Unit.SHARE.words(last.after),
        )
    after = Series(
        tr("After"),
        tuple(one.after for one in points),
        tuple(one.before + one.low for one in points),
        tuple(one.before + one.high for one in points),
        role="after",
    )
    return Plot(
        LEARNING,
        tr("Learning curve"),
        words,
        tr("Linked decisions and recipe"),
        tuple(f"{localised(one.links, ',')} {one.recipe}" for one in points),
        (Series(tr("Before"), tuple(one.before for one in points), role="before"), after),
        Unit.SHARE,
        Shape.BARS,
        note=tr(LEARNING_NOTE),
    )


def _plot(bundles: Sequence[BundleInfo], id_: str, title: str, path: tuple[str, ...]) -> Plot:
    before = tuple(metric(one.metrics.get("old"), *path) for one in bundles)
    after = tuple(metric(one.metrics.get("new"), *path) for one in bundles)
    last = next((value for value in reversed(after) if value is not None), None)
    words = tr("No linker has been trained and compared yet.")
    if last is not None:
        promoted = sum(one.verdict is GateVerdict.PROMOTE for one in bundles)
        words = tr(
            "{number:,} trained, {promoted:,} put into use; the last one reaches {share}.",
            number=len(bundles),
            promoted=promoted,
            share=Unit.SHARE.words(last),
        )
    return Plot(
        id_,
        tr(title),
        words,
        tr("Linker"),
        tuple(_label(one) for one in bundles),
        (Series(tr("Before"), before, role="before"), Series(tr("After"), after, role="after")),
        Unit.SHARE,
        Shape.BARS,
        note=tr(NOTE),
    )


def _label(bundle: BundleInfo) -> str:
    serves = tr(", in use") if bundle.active else ""
    return f"{bundle.created_at.astimezone():%d %b %H:%M} {bundle.recipe}, {tr(VERDICTS[bundle.verdict])}{serves}"


# Plots of agreement between people: with each other in rounds, and with themselves.

Rounds = Sequence[tuple[str, AgreementRow]]


def people_plots(rounds: Rounds, consistency: Sequence[ConsistencyRow], where: StatisticsFilter) -> tuple[Plot, ...]:
    return agreement_plot(rounds), consistency_plot(consistency, where)


def agreement_plot(rounds: Rounds) -> Plot:
    rows = [row for _, row in rounds]
    names = tuple(name for name, _ in rounds)
    words = tr("No round has been judged by two people yet.")
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
        tr("Agreement by round"),
        words,
        tr("Round"),
        names,
        (alpha, kappa, spans),
        Unit.FIGURE,
        Shape.BARS,
        note=tr(
            "Over whole rounds; filters do not apply. People › Agreement shows agreement by type, document and pair."
        ),
    )


def consistency_plot(rows: Sequence[ConsistencyRow], where: StatisticsFilter) -> Plot:
    held = [one for one in rows if one.period == ALL and where.holds_curator(one.curator)]
    words = tr(
        "No curator has been asked about the same mention twice yet. The settings say how many decided "
        "mentions are asked again."
    )
    if held:
        asked = sum(one.items for one in held)
        same = Unit.SHARE.words(sum(one.same for one in held) / asked)
        words = tr("{same} of {asked:,} second answers are the same as the first.", same=same, asked=asked)
    series = shares(tr("Same answer again"), [(one.same, one.items) for one in held])
    return Plot(
        "consistency",
        tr("Consistency by curator"),
        words,
        tr("Curator"),
        tuple(one.curator for one in held),
        (series,),
        Unit.SHARE,
        Shape.BARS,
    )
