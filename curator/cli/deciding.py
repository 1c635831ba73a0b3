"""work, decide, undo, redo, replay: the mentions to decide next, and decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import SPLIT, FilePath, Result, changed, counted, project_command, run_steps
from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import Split
from curator.domain.facets import NUMBERS, Facet, Facets, Range
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter

if TYPE_CHECKING:
    from curator.bootstrap import Project


@project_command("work", read_only=lambda given: not given["take"], curator=True)
@click.option(
    "--order",
    type=click.Choice(["uncertain", "diverse"]),
    default="diverse",
    show_default=True,
    help="uncertain: least certain suggestions first. diverse: highest expected value per second of work first.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="List at most N mentions."
)
@click.option(
    "--where",
    "chosen",
    multiple=True,
    metavar="FACET=VALUE",
    help="Only mentions with this value, such as type=Disease or attribute=negation=negated, or with a number in this "
    "range, such as probability=0.37..0.52 or margin=0.9.. for 0.9 and more. Repeatable. "
    f"Facets: {', '.join(Facet)}.",
)
@click.option("--filter", "named", default="", metavar="NAME", help="Use this filter, saved in the project.")
@click.option(
    "--next",
    "take",
    is_flag=True,
    help="List those of the next document. Nobody else who shares P is given it for 15 minutes; your decisions in it "
    "prolong this.",
)
def work(project: Project, *, order: str, limit: int, chosen: tuple[str, ...], named: str, take: bool) -> Result:
    """List the undecided mentions of P in the order in which to decide them."""
    from curator.services.queue.ordering import QueueOrder

    if take:
        return _next_document(project)
    rows = project.ordering.work(filter_of(project, chosen, named), QueueOrder(order), length=limit)
    names = {row.document_id: row.external_id for row in project.queue.rows_of([row.document_id for row in rows])}
    lines = [
        f"{row.mention_id:>9}  {'–' if row.probability is None else f'{row.probability:.2f}':>5}  "
        f"{row.text} · {row.type} · {names[row.document_id]}"
        for row in rows
    ]
    facts = [{**asdict(row), "external_id": names[row.document_id]} for row in rows]
    return Result({"mentions": facts}, lines, "No undecided mentions.")


def _next_document(project: Project) -> Result:
    number = project.team.next()
    if number is None:
        return Result({"document_id": None, "mentions": []}, "No document is left that nobody else has.")
    shown = project.queue.open(number)
    left = [one.mention for one in shown.mentions if one.decision is None]
    facts = {"document_id": number, "external_id": shown.document.external_id}
    lines = [f"Document {shown.document.external_id}", *(f"{one.id:>9}  {one.text} · {one.type}" for one in left)]
    return Result({**facts, "mentions": [{"mention_id": one.id, "text": one.text} for one in left]}, lines)


def filter_of(project: Project, chosen: Sequence[str], named: str) -> QueueFilter:
    """The filter of --where and --filter; a saved filter replaces --where. Raises UserError if it is not saved in P."""
    if not named:
        return QueueFilter(facets=read_facets(chosen))
    saved = project.filters.all()
    if named not in saved:
        raise UserError(f"Filter “{named}” was not found. Filters saved in P: {', '.join(saved) or 'none'}.")
    return saved[named]


def read_facets(chosen: Sequence[str]) -> Facets:
    """The facets of FACET=VALUE pairs. Raises UserError for anything else."""
    values: dict[Facet, list[str]] = {}
    for pair in chosen:
        name, equals, value = pair.partition("=")
        if not equals or name not in {facet.value for facet in Facet}:
            raise UserError(
                f"“{pair}” is not a facet with a value. Write FACET=VALUE. The facets are {', '.join(Facet)}."
            )
        if Facet(name) in NUMBERS and ".." in value:
            within = Range.of(value)
            if within is None:
                raise UserError(
                    f"“{pair}” is not a range. Write two numbers, such as {name}=0.37..0.52 or {name}=0.9.."
                )
            value = within.key
        values.setdefault(Facet(name), []).append(value)
    return Facets.of(values)


@project_command("decide", curator=True)
@click.argument("mentions", type=int, nargs=-1, metavar="[MENTION]...")
@click.option(
    "--link", "links", multiple=True, metavar="ID", help="Link to this entity. Repeat it for a composite mention."
)
@click.option("--nil", type=click.Choice([one.value for one in NilReason]), help="Mark as NIL, for this reason.")
@click.option(
    "--reject", type=click.Choice([one.value for one in RejectReason]), help="Reject the mention, for this reason."
)
@click.option("--skip", type=click.Choice([one.value for one in SkipReason]), help="Skip the mention, for this reason.")
@click.option("--clear", is_flag=True, help="Remove the decision. The history is kept.")
@click.option(
    "--file",
    "file",
    type=FilePath(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Read mentions and decisions from this file of JSON lines; - reads standard input.",
)
def decide(
    project: Project,
    mentions: tuple[int, ...],
    *,
    links: tuple[str, ...],
    nil: str | None,
    reject: str | None,
    skip: str | None,
    clear: bool,
    file: Path | None,
) -> Result:
    """Decide one or several mentions, as one step.

    MENTION is the number of a mention, as shown by `curator work` and `curator link --out`.

    A line of --file is such as {"mention": 17, "link": ["MESH:D008012"]}, {"mention": 18, "nil": "not-in-kb"}, with
    "reject" or "skip" and a reason, or {"mention": 19, "clear": true}. Other fields are ignored.
    """
    given = {"link": links, "nil": nil, "reject": reject, "skip": skip, "clear": clear}
    if file is not None:
        if mentions or any(given.values()):
            raise click.UsageError("--file has the mentions and their decisions. Give nothing else.")
        return changed(project.curation.decide_each(_read(project, file)))
    if not mentions:
        raise click.UsageError("Give the numbers of mentions, or --file.")
    if sum(map(bool, given.values())) != 1:
        raise click.UsageError("Give exactly one of --link, --nil, --reject, --skip and --clear.")
    return changed(project.curation.decide_many(mentions, _verdict(project, given)))


def _read(project: Project, file: Path) -> dict[int, Verdict]:
    """The decisions of a file. Raises UserError, with the line, for one that is none."""
    try:
        with click.open_file(str(file), encoding="utf-8") as stream:
            lines = stream.read().split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 text. Save it as UTF-8 and try again.") from error
    found: dict[int, Verdict] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            mention = raw["mention"]
            if type(mention) is not int or mention in found:
                raise ValueError
            found[mention] = _verdict(project, raw)
        except UserError as error:
            raise UserError(f"{file}, line {number}: {error} Nothing was decided.") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UserError(
                f"{file}, line {number} is not a decision, or its mention has one already. Write lines such as "
                '{"mention": 17, "link": ["MESH:D008012"]}. Nothing was decided.'
            ) from error
    if not found:
        raise UserError(f"{file} contains no decisions.")
    return found


def _verdict(project: Project, given: Mapping[str, Any]) -> Verdict:
    """Raises UserError for an unknown entity, ValueError if it is none or more than one verdict."""
    [(kind, value)] = [(name, given[name]) for name in ("link", "nil", "reject", "skip", "clear") if given.get(name)]
    if kind == "nil":
        return Verdict.nil(NilReason(value))
    if kind == "reject":
        return Verdict.reject(RejectReason(value))
    if kind == "skip":
        return Verdict.skip(SkipReason(value))
    if kind == "clear":
        return Verdict(Outcome.CLEARED)
    ids = [value] if isinstance(value, str) else value
    return Verdict.link(*dict.fromkeys(_entity(project, str(one)) for one in ids))


def _entity(project: Project, given: str) -> str:
    found = project.knowledge.entity(given)
    if found is None:
        raise UserError(f"Entity {given} was not found in the knowledge base. Check the ID, or use --nil not-in-kb.")
    return found.id


@project_command("undo", curator=True)
def undo(project: Project) -> Result:
    """Undo the last step."""
    return changed(project.curation.undo(), nothing="Nothing to undo.")


@project_command("redo", curator=True)
def redo(project: Project) -> Result:
    """Redo the step that was undone last."""
    return changed(project.curation.redo(), nothing="Nothing to redo.")


@project_command("replay")
@click.option("--split", type=SPLIT, required=True, help="Split whose imported gold is replayed.")
@click.option("--limit", type=click.IntRange(min=1), required=True, metavar="N", help="Replay at most N decisions.")
def replay(project: Project, *, split: str, limit: int) -> Result:
    """Replay imported gold as if a curator had decided it, document by document.

    Each decision is saved with the suggestions stored for its mention: run `curator link` first.
    """
    report = run_steps(project.replay.replay(Split(split), limit=limit))
    text = (
        f"Replayed {counted(report.decisions, 'decision', 'decisions')} in "
        f"{counted(report.documents, 'document', 'documents')}. The first candidate was correct "
        f"for {report.first:,} of {counted(report.links, 'link', 'links')}."
    )
    if report.unshown:
        text += f" {counted(report.unshown, 'mention', 'mentions')} had no suggestions: run `curator link` first."
    return Result(asdict(report), text)
