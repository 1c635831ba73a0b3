"""decide, steps, undo, redo, replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curator.cli.console import (
    AS_JSON,
    CURATOR,
    PROJECT,
    SPLIT,
    change_facts,
    counted,
    document_named,
    opened,
    run_steps,
    say,
    say_change,
)
from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.curating.propagation import Others, PropagationScope, SameString
from curator.services.curating.steps import Step, StepKind, StepState
from curator.services.ports.curation import StepFilter

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.decisions import Change
    from curator.services.curating.propagation_groups import Line
    from curator.services.ports.address import ProjectPlace


# --identical: list the other mentions with the same text in context, and do the same with those that are ticked.

Command = TypeVar("Command", bound=Callable[..., Any])


def IDENTICAL(command: Command) -> Command:  # noqa: N802 - an option like the others, of several
    """The options of `decide` and `mention set`."""
    options = (
        click.option("--identical", is_flag=True, help="List the other mentions with the same text, in context."),
        click.option(
            "--scope",
            type=click.Choice([PropagationScope.DOCUMENT.value, PropagationScope.PROJECT.value]),
            default=PropagationScope.PROJECT.value,
            show_default=True,
            help="With --identical: where to look for them.",
        ),
        click.option(
            "--tick", type=int, multiple=True, metavar="ID", help="Also take this mention of the list. Repeatable."
        ),
        click.option(
            "--untick", type=int, multiple=True, metavar="ID", help="Leave out this mention of the list. Repeatable."
        ),
        click.option(
            "--yes",
            is_flag=True,
            help="With --identical: do the same with the ticked mentions. Without --yes, they are only listed.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class PropagationRequest:
    """`verdict` None means the verdict of the mention's current decision."""

    mention_id: int
    verdict: Verdict | None
    scope: PropagationScope
    tick: Sequence[int] = ()
    untick: Sequence[int] = ()


def decide_identical(project: Project, request: PropagationRequest, *, yes: bool, as_json: bool) -> None:
    """List the other mentions. With `yes`, decide the mention itself (unless it has this verdict already) and then,
    as one step, the ticked mentions. Raises UserError without a verdict, and if a ticked mention is not listed."""
    current = project.curation.current([request.mention_id]).get(request.mention_id)
    verdict = request.verdict or (current.verdict if current is not None else None)
    if verdict is None:
        raise UserError(f"Mention {request.mention_id} is not decided yet. Add --link, --nil, --reject or --skip.")
    others = project.propagation.others(request.mention_id, verdict, scope=request.scope)
    ticked = ticked_of(others, tick=request.tick, untick=request.untick)
    changes: list[Change] = []
    if yes:
        if current is None or current.verdict != verdict:
            changes.append(project.curation.decide(request.mention_id, verdict))
        if ticked:
            changes.append(project.propagation.decide(others, ticked))
    facts = {**_facts(others, ticked), "changes": [change_facts(one) for one in changes]}
    lines = [*listed_lines(others, ticked, to=_said(others)), outcome_words(others, ticked, changes, yes=yes)]
    say(facts, "\n".join(lines), as_json=as_json)


def ticked_of(others: SameString, *, tick: Sequence[int], untick: Sequence[int]) -> list[int]:
    """Mention ids, in the order of the list. Raises UserError for one that is not listed."""
    listed = {line.context.mention_id for line in others.lines}
    for one in (*tick, *untick):
        if one not in listed:
            raise UserError(f"Mention {one} is not in the list; nothing was changed. Check --tick and --untick.")
    chosen = ({*others.ticked} | set(tick)) - set(untick)
    return [line.context.mention_id for line in others.lines if line.context.mention_id in chosen]


def outcome_words(others: SameString, ticked: Sequence[int], changes: Sequence[Change], *, yes: bool) -> str:
    """What was done, or what `--yes` would do."""
    if not others.lines:
        rest = f"“{others.this.text}” does not occur anywhere else."
        return " ".join([*(f"{one.text}." for one in changes), rest])
    if yes:
        return " ".join(f"{one.text}." for one in changes) or "Nothing is ticked, so nothing was changed."
    return f"Ticked: {len(ticked):,} of {len(others.lines):,}. Nothing was changed; --yes changes the ticked mentions."


def listed_lines(others: SameString, ticked: Sequence[int], *, to: str) -> list[str]:
    """The mention and its new verdict, then each group with its mentions in context."""
    chosen = set(ticked)
    lines = [f"“{others.this.text}” · {others.this.type} → {to}"]
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
    return {**listed_facts(others, ticked), "verdict": asdict(others.verdict)}


def listed_facts(others: SameString, ticked: Sequence[int]) -> dict[str, Any]:
    """The list as JSON."""
    chosen = set(ticked)
    groups = [
        {"kind": group.kind.name.lower(), "title": group.title, "lines": [_record(one, chosen) for one in group.lines]}
        for group in others.groups
    ]
    return {
        "mention": others.this.mention_id,
        "text": others.this.text,
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
@click.option(
    "--link", "links", multiple=True, metavar="ID", help="Link to this entity. Repeat it for a composite mention."
)
@click.option("--nil", type=click.Choice([one.value for one in NilReason]), help="Mark as NIL, for this reason.")
@click.option(
    "--reject", type=click.Choice([one.value for one in RejectReason]), help="Reject the mention, for this reason."
)
@click.option("--skip", type=click.Choice([one.value for one in SkipReason]), help="Skip the mention, for this reason.")
@click.option("--clear", is_flag=True, help="Remove the decision. The history is kept.")
@IDENTICAL
@CURATOR
@AS_JSON
def decide(
    project: ProjectPlace,
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
    """Decide one or several mentions, as one step.

    MENTION is the number of a mention, as shown by `curator work`, `curator mention list` and `curator link --out`.

    With --identical, the other mentions with the same text are listed in context, and --yes decides the ticked ones.
    """
    given = sum([bool(links), nil is not None, reject is not None, skip is not None, clear])
    if given > 1 or not (given or identical):
        raise click.UsageError("Give exactly one of --link, --nil, --reject, --skip and --clear.")
    if identical and (len(mentions) > 1 or clear):
        raise click.UsageError("--identical takes one MENTION and no --clear.")
    if not identical and (tick or untick or yes):
        raise click.UsageError("--tick, --untick and --yes require --identical.")
    with opened(project, curator=curator, read_only=identical and not yes) as found:
        verdict = verdict_given(found, links, nil, reject, skip)
        if identical:
            request = PropagationRequest(mentions[0], verdict if given else None, PropagationScope(scope), tick, untick)
            decide_identical(found, request, yes=yes, as_json=as_json)
            return
        change = found.curation.decide_many(mentions, verdict)
    say_change(change, as_json=as_json)


KINDS = {one.name.lower().replace("_", "-"): one for one in StepKind}


@click.command("steps")
@PROJECT
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="List N steps.")
@click.option("--before", type=int, metavar="STEP", help="List steps before this one.")
@click.option("--by", default="", metavar="NAME", help="Only steps by this curator.")
@click.option("--kind", type=click.Choice(list(KINDS)), help="Only steps of this kind.")
@click.option("--document", default="", metavar="ID", help="Only steps in the document with this ID.")
@click.option("--search", default="", metavar="WORDS", help="Only steps with these words or this entity ID.")
@AS_JSON
def steps(
    project: ProjectPlace,
    *,
    limit: int,
    before: int | None,
    by: str,
    kind: str | None,
    document: str,
    search: str,
    as_json: bool,
) -> None:
    """List the history of steps of P, newest first: number, time, curator, mentions, and what was done.

    `curator undo P --to STEP` goes back to a step.
    """
    with opened(project, read_only=True) as found:
        document_id = document_named(found, document) if document else None
        where = StepFilter(by, KINDS[kind].operations if kind else frozenset(), document_id, search)
        page = found.steps.page(where, limit=limit, after=found.steps.operation(before) if before is not None else None)
    lines = [_step_line(one) for one in page.steps]
    if page.beyond is not None:
        lines.append(f"Older steps: add --before {page.beyond.id}.")
    rows = [{**asdict(one), "at": one.at.isoformat(), "state": one.state.name.lower()} for one in page.steps]
    beyond = page.beyond.id if page.beyond is not None else None
    say({"steps": rows, "before": beyond}, "\n".join(lines) or "No steps.", as_json=as_json)


def _step_line(one: Step) -> str:
    number = "" if one.number is None else str(one.number)
    state = f"  ({one.state.value})" if one.state in (StepState.REDOABLE, StepState.UNDONE) else ""
    at = f"{one.at.astimezone():%Y-%m-%d %H:%M:%S}"
    return f"{number:>8}  {at}  {one.actor}  {one.mentions:>6,}  {one.text}{state}"


TO = click.option("--to", type=int, metavar="STEP", help="Go to this step; `curator steps P` lists the numbers.")


@click.command("undo")
@PROJECT
@TO
@CURATOR
@AS_JSON
def undo(project: ProjectPlace, *, to: int | None, curator: str, as_json: bool) -> None:
    """Undo the last step, or with --to everything after a step, which stays."""
    with opened(project, curator=curator) as found:
        change = found.curation.undo() if to is None else _go(found, to, forward=False)
    say_change(change, as_json=as_json, nothing="Nothing to undo.")


@click.command("redo")
@PROJECT
@TO
@CURATOR
@AS_JSON
def redo(project: ProjectPlace, *, to: int | None, curator: str, as_json: bool) -> None:
    """Redo the step that was undone last, or with --to all undone steps up to a step, which is redone, too."""
    with opened(project, curator=curator) as found:
        change = found.curation.redo() if to is None else _go(found, to, forward=True)
    say_change(change, as_json=as_json, nothing="Nothing to redo.")


def _go(project: Project, number: int, *, forward: bool) -> Change:
    """Raises UserError if the step is in the other direction."""
    journey = project.steps.journey(number)
    if journey.forward is not forward:
        state, command = ("undone", "redo") if journey.forward else ("done", "undo")
        raise UserError(f"Step {number} is {state}. Use `curator {command} P --to {number}`; nothing was changed.")
    return project.steps.go(journey)


@click.command("replay")
@PROJECT
@click.option("--split", type=SPLIT, required=True, help="Split whose imported gold is replayed.")
@click.option("--limit", type=click.IntRange(min=1), required=True, metavar="N", help="Replay at most N decisions.")
@AS_JSON
def replay(project: ProjectPlace, *, split: str, limit: int, as_json: bool) -> None:
    """Replay imported gold as if a curator had decided it, document by document.

    Each decision is saved with the suggestions stored for its mention: run `curator link` first.
    """
    with opened(project) as found:
        report = run_steps(found.replay.replay(Split(split), limit=limit))
    text = (
        f"Replayed {counted(report.decisions, 'decision', 'decisions')} in "
        f"{counted(report.documents, 'document', 'documents')}. The first candidate was correct "
        f"for {report.first:,} of {counted(report.links, 'link', 'links')}."
    )
    if report.unshown:
        text += f" {counted(report.unshown, 'mention', 'mentions')} had no suggestions: run `curator link` first."
    say(asdict(report), text, as_json=as_json)


def verdict_given(
    project: Project, links: tuple[str, ...], nil: str | None, reject: str | None, skip: str | None
) -> Verdict:
    """The verdict of the given options; with none of them it is --clear. Raises UserError for an unknown entity."""
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
        raise UserError(f"Entity {given} was not found in the knowledge base. Check the ID, or use --nil not-in-kb.")
    return found.id
