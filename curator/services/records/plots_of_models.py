"""Plots of the linkers that were made: what each bundle's gate measured on the held-out documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from curator.domain.bundles import BundleInfo, GateVerdict
from curator.domain.plots import Plot, Series, Shape, Unit
from curator.domain.statistics import StatisticsFilter
from curator.domain.wording import tr

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
