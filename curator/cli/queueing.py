"""facets, work, holdout, guidelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, PROJECT, opened, say
from curator.domain.errors import UserError
from curator.domain.facets import Facet, Facets
from curator.services.ports import QueueFilter

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.queue.holdout import Agreement

WHERE = click.option(
    "--where",
    "chosen",
    multiple=True,
    metavar="FACET=VALUE",
    help=f"Only mentions with this value; may be given again. Facets: {', '.join(Facet)}.",
)
FILTER = click.option("--filter", "named", default="", metavar="NAME", help="A filter that the project keeps.")


def read_facets(chosen: Sequence[str]) -> Facets:
    """Of FACET=VALUE pairs. Raises UserError for anything else."""
    values: dict[Facet, list[str]] = {}
    for pair in chosen:
        name, equals, value = pair.partition("=")
        if not equals or name not in {facet.value for facet in Facet}:
            raise UserError(f"“{pair}” chooses nothing. Write FACET=VALUE with one of {', '.join(Facet)}.")
        values.setdefault(Facet(name), []).append(value)
    return Facets.of(values)


def filter_of(project: Project, chosen: Sequence[str], named: str) -> QueueFilter:
    """What --where and --filter choose together; a kept filter counts alone. Raises UserError for one unknown."""
    if not named:
        return QueueFilter(facets=read_facets(chosen))
    kept = project.filters.all()
    if named not in kept:
        raise UserError(f"P keeps no filter “{named}”. It has: {', '.join(kept) or 'none'}.")
    return kept[named]


@click.command()
@PROJECT
@WHERE
@AS_JSON
def facets(project: Path, chosen: tuple[str, ...], *, as_json: bool) -> None:
    """Count the mentions of P by state, type, probability and the other facets."""
    wanted = read_facets(chosen)
    with opened(project, read_only=True) as found:
        cube = found.facets.cube(QueueFilter())
    counts = {facet.value: dict(sorted(numbers.items())) for facet, numbers in cube.counts(wanted).items()}
    lines = [f"{cube.total(wanted):,} mentions"]
    for name, numbers in counts.items():
        lines += [name, *(f"  {value or '–':24} {number:>10,}" for value, number in numbers.items())]
    say({"mentions": cube.total(wanted), "facets": counts}, "\n".join(lines), as_json=as_json)


@click.command()
@PROJECT
@click.option(
    "--order",
    type=click.Choice(["uncertain", "diverse"]),
    default="diverse",
    show_default=True,
    help="The least sure suggestion first, or what a second of work gains.",
)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N")
@WHERE
@FILTER
@AS_JSON
def work(project: Path, order: str, limit: int, chosen: tuple[str, ...], named: str, *, as_json: bool) -> None:
    """List the undecided mentions of P in the order in which they are worth deciding."""
    from curator.services.queue.ordering import QueueOrder

    with opened(project, read_only=True) as found:
        where = filter_of(found, chosen, named)
        rows = found.ordering.work(where, QueueOrder(order), length=limit)
        names = {row.document_id: row.external_id for row in found.queue.rows_of([row.document_id for row in rows])}
    table = [{**asdict(row), "external_id": names[row.document_id]} for row in rows]
    text = "\n".join(
        f"{row.mention_id:>9}  {'–' if row.probability is None else f'{row.probability:.2f}':>5}  "
        f"{row.text} · {row.type} · {names[row.document_id]}"
        for row in rows
    )
    say({"mentions": table}, text or "No undecided mention is left here.", as_json=as_json)


@click.command()
@PROJECT
@AS_JSON
def holdout(project: Path, *, as_json: bool) -> None:
    """Tell how often suggestions were right where nobody saw them, and how far seeing them sways."""
    with opened(project, read_only=True) as found:
        report = found.holdout.report()
    text = (
        f"decided without seeing suggestions: {_share(report.without)}\n"
        f"decided with them on show:          {_share(report.seen)}\n"
        f"sway: {'–' if report.sway is None else f'{100 * report.sway:+.1f} points'}"
    )
    say({**asdict(report), "sway": report.sway}, text, as_json=as_json)


def _share(one: Agreement) -> str:
    share = "–" if one.share is None else f"{100 * one.share:.1f} %"
    return f"{one.agreed:,} of {one.decided:,} as suggested ({share})"


@click.command()
@PROJECT
@click.option(
    "--set",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Put this Markdown file in their place.",
)
@AS_JSON
def guidelines(project: Path, file: Path | None, *, as_json: bool) -> None:
    """Write the guidelines of P to standard output, or set them."""
    with opened(project, read_only=file is None) as found:
        if file is not None:
            found.guidelines.set_text(_read(file))
        text = found.guidelines.text()
    said = text if file is None else f"The guidelines are now those of {file} ({len(text):,} characters)."
    say({"guidelines": text}, said, as_json=as_json)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 text ({error.reason}). Save it as UTF-8 and set it again.") from error
