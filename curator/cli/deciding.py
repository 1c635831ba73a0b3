"""decide, undo, redo, replay."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, SPLIT, counted, opened, run_steps, say, say_change
from curator.cli.identical import IDENTICAL, PropagationRequest, decide_identical
from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import Split
from curator.domain.errors import UserError
from curator.services.curating.propagation import PropagationScope

if TYPE_CHECKING:
    from curator.bootstrap import Project


@click.command("decide")
@PROJECT
@click.argument("mentions", type=int, nargs=-1, required=True, metavar="MENTION...")
@click.option("--link", "links", multiple=True, metavar="ID", help="An entity; repeat it for a composite mention.")
@click.option("--nil", type=click.Choice([one.value for one in NilReason]), help="No entity, and why.")
@click.option("--reject", type=click.Choice([one.value for one in RejectReason]), help="No mention, and why.")
@click.option("--skip", type=click.Choice([one.value for one in SkipReason]), help="Not now, and why.")
@click.option("--clear", is_flag=True, help="Undecided again; the history stays.")
@IDENTICAL
@CURATOR
@AS_JSON
def decide(
    project: Path,
    mentions: tuple[int, ...],
    *,
    links: tuple[str, ...],
    nil: str | None,
    reject: str | None,
    skip: str | None,
    clear: bool,
    identical: bool,
    scope: str,
    tick: tuple[int, ...],
    untick: tuple[int, ...],
    yes: bool,
    curator: str,
    as_json: bool,
) -> None:
    """Decide each MENTION, its number as `curator link --out` and `curator work` write it, as one step.

    With --identical the other mentions of its string are listed in context; --yes decides the ticked ones.
    """
    given = sum([bool(links), nil is not None, reject is not None, skip is not None, clear])
    if given > 1 or not (given or identical):
        raise click.UsageError("Give exactly one of --link, --nil, --reject, --skip and --clear.")
    if identical and (len(mentions) > 1 or clear):
        raise click.UsageError("--identical is about one MENTION and its decision.")
    if not identical and (tick or untick or yes):
        raise click.UsageError("--tick, --untick and --yes go with --identical.")
    with opened(project, curator=curator, read_only=identical and not yes) as found:
        verdict = _verdict(found, links, nil, reject, skip)
        if identical:
            asked = PropagationRequest(mentions[0], verdict if given else None, PropagationScope(scope), tick, untick)
            decide_identical(found, asked, yes=yes, as_json=as_json)
            return
        change = found.curation.decide_many(mentions, verdict)
    say_change(change, as_json=as_json)


@click.command("undo")
@PROJECT
@CURATOR
@AS_JSON
def undo(project: Path, *, curator: str, as_json: bool) -> None:
    """Take the last step back."""
    with opened(project, curator=curator) as found:
        change = found.curation.undo()
    say_change(change, as_json=as_json, nothing="There is nothing to undo.")


@click.command("redo")
@PROJECT
@CURATOR
@AS_JSON
def redo(project: Path, *, curator: str, as_json: bool) -> None:
    """Do again what was taken back."""
    with opened(project, curator=curator) as found:
        change = found.curation.redo()
    say_change(change, as_json=as_json, nothing="There is nothing to redo.")


@click.command("replay")
@PROJECT
@click.option("--split", type=SPLIT, required=True, help="Whose imported gold is replayed.")
@click.option("--limit", type=click.IntRange(min=1), required=True, metavar="N", help="At most N decisions.")
@AS_JSON
def replay(project: Path, *, split: str, limit: int, as_json: bool) -> None:
    """Take decisions from gold, document by document, with what the linker showed."""
    with opened(project) as found:
        report = run_steps(found.replay.replay(Split(split), limit=limit))
    text = (
        f"Replayed {counted(report.decisions, 'decision', 'decisions')} in "
        f"{counted(report.documents, 'document', 'documents')}; the first candidate was right "
        f"for {report.first:,} of {counted(report.links, 'link', 'links')}."
    )
    if report.unshown:
        text += (
            f" Nothing was suggested for {counted(report.unshown, 'mention', 'mentions')}: run `curator link` first."
        )
    say(asdict(report), text, as_json=as_json)


def _verdict(
    project: Project, links: tuple[str, ...], nil: str | None, reject: str | None, skip: str | None
) -> Verdict:
    """None given is --clear."""
    if nil is not None:
        return Verdict.nil(NilReason(nil))
    if reject is not None:
        return Verdict.reject(RejectReason(reject))
    if skip is not None:
        return Verdict.skip(SkipReason(skip))
    if not links:
        return Verdict(Outcome.CLEARED)
    return Verdict.link(*dict.fromkeys(_entity(project, one) for one in links))


def _entity(project: Project, given: str) -> str:
    found = project.knowledge.entity(given)
    if found is None:
        raise UserError(f"The knowledge base has no entity {given}. Check the identifier, or decide --nil not-in-kb.")
    return found.id
