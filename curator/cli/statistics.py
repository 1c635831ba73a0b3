"""stats: the dashboard's figures."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, PROJECT, SPLIT, opened, say
from curator.domain.documents import Split
from curator.domain.errors import UserError
from curator.domain.statistics import StatisticsFilter
from curator.services.records.statistics import as_json as statistics_json
from curator.services.records.statistics import head_figures, plots

if TYPE_CHECKING:
    from curator.domain.plots import Plot
    from curator.services.records.statistics import Statistics

DAY = click.DateTime(formats=["%Y-%m-%d"])


@click.command("stats")
@PROJECT
@click.option("--curator", default="", metavar="NAME", help="Of one curator's decisions; import for imported gold.")
@click.option("--split", type=SPLIT, help="Of one split's documents.")
@click.option("--since", type=DAY, metavar="YYYY-MM-DD", help="From this day on.")
@click.option("--until", type=DAY, metavar="YYYY-MM-DD", help="Up to this day, which counts.")
@click.option("--plot", "only", metavar="ID", help="One plot alone, as comma-separated values.")
@AS_JSON
def stats(
    project: Path,
    *,
    curator: str,
    split: str | None,
    since: datetime | None,
    until: datetime | None,
    only: str | None,
    as_json: bool,
) -> None:
    """Show the figures of the dashboard: progress, speed, keys, accepted suggestions, NIL, bundles, agreement."""
    where = StatisticsFilter(
        curator, Split(split) if split else None, since.date() if since else None, until.date() if until else None
    )
    with opened(project, read_only=True) as found:
        statistics = found.statistics.read()
    if only is not None:
        click.echo(_plot(plots(statistics, where), only).csv(), nl=False)
        return
    say(statistics_json(statistics, where), "\n".join(lines(statistics, where)), as_json=as_json)


def lines(statistics: Statistics, where: StatisticsFilter) -> Iterator[str]:
    """The headlines with what they are made of, then what each plot says."""
    for one in head_figures(statistics, where):
        yield f"{one.title:<26} {one.words:>9}   {one.hint}"
    yield ""
    for plot in plots(statistics, where):
        yield f"{plot.id:<12} {plot.summary}"


def _plot(found: tuple[Plot, ...], wanted: str) -> Plot:
    for one in found:
        if one.id == wanted:
            return one
    raise UserError(f"There is no plot {wanted}. There are {', '.join(one.id for one in found)}.")
