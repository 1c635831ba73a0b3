"""decide, undo, redo, replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curator.cli.console import (
    AS_JSON,
    CURATOR,
    PROJECT,
    SPLIT,
    change_facts,
    counted,
    opened,
    run_steps,
    say,
    say_change,
)
from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.curating import Others, PropagationScope

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.decisions import Change
    from curator.services.curating import Line


# decide --identical: the other mentions of one string in context, and the decision of those that are ticked.

Command = TypeVar("Command", bound=Callable[..., Any])


def IDENTICAL(command: Command) -> Command:  # noqa: N802 - an option like the others, of several
    """The options of deciding in context."""
    options = (
        click.option("--identical", is_flag=True, help="List the other mentions of the string, in context."),
        click.option(
            "--scope",
            type=click.Choice([PropagationScope.DOCUMENT.value, PropagationScope.PROJECT.value]),
            default=PropagationScope.PROJECT.value,
            show_default=True,
            help="With --identical: where they are looked for.",
        ),
        click.option("--tick", type=int, multiple=True, metavar="ID", help="Decide this one of the list, too."),
        click.option("--untick", type=int, multiple=True, metavar="ID", help="Leave this one of the list out."),
        click.option("--yes", is_flag=True, help="With --identical: decide what is ticked; otherwise only list."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class PropagationRequest:
    """Without a verdict that of the mention's decision is meant."""

    mention_id: int
    verdict: Verdict | None
    scope: PropagationScope
    tick: Sequence[int] = ()
    untick: Sequence[int] = ()


def decide_identical(project: Project, asked: PropagationRequest, *, yes: bool, as_json: bool) -> None:
    """List the others; with `yes` decide the mention, unless it is so already, and then the ticked ones as one step."""
    standing = project.curation.current([asked.mention_id]).get(asked.mention_id)
    verdict = asked.verdict or (standing.verdict if standing is not None else None)
    if verdict is None:
        raise UserError(f"Mention {asked.mention_id} is not decided yet. Give its decision: --link, --nil, …")
    others = project.propagation.others(asked.mention_id, verdict, scope=asked.scope)
    ticked = _ticked(others, asked)
    changes: list[Change] = []
    if yes:
        if standing is None or standing.verdict != verdict:
            changes.append(project.curation.decide(asked.mention_id, verdict))
        if ticked:
            changes.append(project.propagation.decide(others, ticked))
    facts = {**_facts(others, ticked), "changes": [change_facts(one) for one in changes]}
    say(facts, "\n".join([*_lines(others, ticked), _outcome(others, ticked, changes, yes=yes)]), as_json=as_json)


def _ticked(others: Others, asked: PropagationRequest) -> list[int]:
    listed = {line.context.mention_id for line in others.lines}
    for one in (*asked.tick, *asked.untick):
        if one not in listed:
            raise UserError(f"Mention {one} is not in the list; nothing was decided.")
    chosen = ({*others.ticked} | set(asked.tick)) - set(asked.untick)
    return [line.context.mention_id for line in others.lines if line.context.mention_id in chosen]


def _outcome(others: Others, ticked: Sequence[int], changes: Sequence[Change], *, yes: bool) -> str:
    if not others.lines:
        rest = f"“{others.this.text}” stands nowhere else."
        return " ".join([*(f"{one.text}." for one in changes), rest])
    if yes:
        return " ".join(f"{one.text}." for one in changes) or "Nothing is ticked; nothing was decided."
    return f"{len(ticked):,} of {len(others.lines):,} are ticked. Nothing was decided; --yes decides what is ticked."


def _lines(others: Others, ticked: Sequence[int]) -> list[str]:
    chosen = set(ticked)
    lines = [f"“{others.this.text}” · {others.this.type} → {_said(others)}"]
    for group in others.groups:
        lines += [f"{group.title} ({len(group.lines):,})", *(_line(one, chosen) for one in group.lines)]
    return [*lines, f"… and {others.beyond:,} more that are not listed"] if others.beyond else lines


def _line(line: Line, chosen: set[int]) -> str:
    one = line.context
    mark = "x" if one.mention_id in chosen else " "
    words = " ".join(f"{one.left}[{one.text}]{one.right}".split())
    return f"  [{mark}] {one.mention_id:>9}  {one.external_id}  …{words}…" + (f"  ({line.why})" if line.why else "")


def _said(others: Others) -> str:
    if others.verdict.outcome is Outcome.LINK:
        return " + ".join(others.names)
    return others.verdict.outcome.value


def _facts(others: Others, ticked: Sequence[int]) -> dict[str, Any]:
    chosen = set(ticked)
    groups = [
        {"kind": group.kind.name.lower(), "title": group.title, "lines": [_record(one, chosen) for one in group.lines]}
        for group in others.groups
    ]
    return {
        "mention": others.this.mention_id,
        "text": others.this.text,
        "verdict": asdict(others.verdict),
        "scope": others.scope.value,
        "groups": groups,
        "beyond": others.beyond,
    }


def _record(line: Line, chosen: set[int]) -> dict[str, Any]:
    one = line.context
    return {
        "mention": one.mention_id,
        "document": one.external_id,
        "left": one.left,
        "text": one.text,
        "right": one.right,
        "ticked": one.mention_id in chosen,
        "why": line.why,
    }


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
    say_change(change, as_json=as_json, nothing="Nothing to undo.")


@click.command("redo")
@PROJECT
@CURATOR
@AS_JSON
def redo(project: Path, *, curator: str, as_json: bool) -> None:
    """Do again what was taken back."""
    with opened(project, curator=curator) as found:
        change = found.curation.redo()
    say_change(change, as_json=as_json, nothing="Nothing to redo.")


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
