"""decide, undo, redo, replay."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, SPLIT, opened, run_steps, say
from curator.domain.decisions import NilReason, RejectReason, SkipReason, Verdict
from curator.domain.documents import Split
from curator.domain.errors import UserError

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.changes import Change


@click.command("decide")
@PROJECT
@click.argument("mention", type=int)
@click.option("--link", "links", multiple=True, metavar="ID", help="An entity; repeat it for a composite mention.")
@click.option("--nil", type=click.Choice([one.value for one in NilReason]), help="No entity, and why.")
@click.option("--reject", type=click.Choice([one.value for one in RejectReason]), help="No mention, and why.")
@click.option("--skip", type=click.Choice([one.value for one in SkipReason]), help="Not now, and why.")
@CURATOR
@AS_JSON
def decide(
    project: Path,
    mention: int,
    *,
    links: tuple[str, ...],
    nil: str | None,
    reject: str | None,
    skip: str | None,
    curator: str,
    as_json: bool,
) -> None:
    """Decide MENTION, its number as `curator link --out` writes it."""
    given = [links or None, nil, reject, skip]
    if sum(one is not None for one in given) != 1:
        raise click.UsageError("Give exactly one of --link, --nil, --reject and --skip.")
    with opened(project, curator=curator) as found:
        change = found.curation.decide(mention, _verdict(found, links, nil, reject, skip))
    _say_change(change, as_json=as_json)


@click.command("undo")
@PROJECT
@CURATOR
@AS_JSON
def undo(project: Path, *, curator: str, as_json: bool) -> None:
    """Take the last step back."""
    with opened(project, curator=curator) as found:
        change = found.curation.undo()
    _say_change(change, as_json=as_json, nothing="There is nothing to undo.")


@click.command("redo")
@PROJECT
@CURATOR
@AS_JSON
def redo(project: Path, *, curator: str, as_json: bool) -> None:
    """Do again what was taken back."""
    with opened(project, curator=curator) as found:
        change = found.curation.redo()
    _say_change(change, as_json=as_json, nothing="There is nothing to redo.")


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
        f"Replayed {report.decisions:,} decisions in {report.documents:,} documents; the first candidate was right "
        f"for {report.first:,} of {report.links:,} links."
    )
    if report.unshown:
        text += f" Nothing was suggested for {report.unshown:,} mentions: run `curator link` first."
    say(asdict(report), text, as_json=as_json)


def _verdict(
    project: Project, links: tuple[str, ...], nil: str | None, reject: str | None, skip: str | None
) -> Verdict:
    if nil is not None:
        return Verdict.nil(NilReason(nil))
    if reject is not None:
        return Verdict.reject(RejectReason(reject))
    if skip is not None:
        return Verdict.skip(SkipReason(skip))
    return Verdict.link(*dict.fromkeys(_entity(project, one) for one in links))


def _entity(project: Project, given: str) -> str:
    found = project.knowledge.entity(given)
    if found is None:
        raise UserError(f"The knowledge base has no entity {given}. Check the identifier, or decide --nil not-in-kb.")
    return found.id


def _say_change(change: Change | None, *, as_json: bool, nothing: str = "") -> None:
    if change is None:
        say({"change": None}, nothing, as_json=as_json)
        return
    result = {
        "change": change.kind.value,
        "text": change.text,
        "actor": change.actor,
        "operation": change.operation_id,
        "documents": change.document_ids,
        "mentions": change.mention_ids,
    }
    say(result, f"{change.text}.", as_json=as_json)
