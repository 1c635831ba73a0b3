"""mention list, add, move, retype, join and delete; uses; comment; flag."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curator.cli.console import (
    AS_JSON,
    CURATOR,
    PROJECT,
    SPLIT,
    FilePath,
    change_facts,
    counted,
    document_named,
    opened,
    say,
    say_change,
)
from curator.cli.deciding import verdict_given
from curator.domain.decisions import NilReason
from curator.domain.documents import Span, Split
from curator.domain.same_string import string_key
from curator.domain.wording import UserError
from curator.services.knowledge.uses import UseFilter, UseOrder, uses_csv

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.audit import Comment
    from curator.services.knowledge.uses import Uses
    from curator.services.ports.address import ProjectPlace
    from curator.services.ports.queue import MentionUse


SPANS = click.argument("spans", metavar="SPANS")
MENTION = click.argument("mention", type=int)
_PART = re.compile(r"(\d+)-(\d+)")


@click.group("mention")
def mention() -> None:
    """List, add, move, retype, join and delete mentions, and set their attributes.

    SPANS are ranges START-END of characters in the document's text, END not included: 14-28, or 14-21,30-37 for a
    discontinuous mention.
    """


@mention.command("list")
@PROJECT
@click.argument("document")
@AS_JSON
def list_mentions(project: ProjectPlace, document: str, *, as_json: bool) -> None:
    """List the mentions of DOCUMENT, with numbers and decisions.

    They are listed in the order of the text.
    """
    with opened(project, read_only=True) as found:
        views = found.queue.open(document_named(found, document)).mentions
    rows: list[dict[str, Any]] = [
        {
            "mention": one.mention.id,
            "spans": [[span.start, span.end] for span in one.mention.spans],
            "text": one.mention.text,
            "type": one.mention.type,
            "outcome": one.decision.verdict.outcome.value if one.decision else None,
            "entities": list(one.decision.verdict.entity_ids) if one.decision else [],
            "attributes": {name.name: value.name for name, value in one.attributes},
        }
        for one in views
    ]
    lines = [
        f"{row['mention']:>9}  {','.join(f'{a}-{b}' for a, b in row['spans']):>11}  {row['text']} · {row['type']} · "
        f"{' + '.join(row['entities']) or row['outcome'] or '–'}"
        + "".join(f" · {name}: {value}" for name, value in row["attributes"].items())
        for row in rows
    ]
    say({"mentions": rows}, "\n".join(lines) or "The document has no mentions.", as_json=as_json)


@mention.command("add")
@PROJECT
@click.argument("document")
@SPANS
@click.option("--type", "mention_type", required=True, metavar="TYPE", help="Type of the mention.")
@CURATOR
@AS_JSON
def add(project: ProjectPlace, document: str, spans: str, *, mention_type: str, curator: str, as_json: bool) -> None:
    """Add a mention at SPANS in the text of DOCUMENT, such as 14-28."""
    parts = read_spans(spans)
    with opened(project, curator=curator) as found:
        change = found.curation.add_mention(document_named(found, document), parts, mention_type)
    say_change(change, as_json=as_json)


@mention.command("move")
@PROJECT
@MENTION
@SPANS
@CURATOR
@AS_JSON
def move(project: ProjectPlace, mention: int, spans: str, *, curator: str, as_json: bool) -> None:
    """Move MENTION to SPANS, such as 14-28. Its decision is kept."""
    parts = read_spans(spans)
    with opened(project, curator=curator) as found:
        change = found.curation.change_mention(mention, parts)
    say_change(change, as_json=as_json)


@mention.command("retype")
@PROJECT
@MENTION
@click.argument("mention_type", metavar="TYPE")
@CURATOR
@AS_JSON
def retype(project: ProjectPlace, mention: int, mention_type: str, *, curator: str, as_json: bool) -> None:
    """Change the type of MENTION to TYPE. Its decision is kept."""
    with opened(project, curator=curator) as found:
        change = found.curation.retype_mention(mention, mention_type)
    say_change(change, as_json=as_json)


@mention.command("join")
@PROJECT
@MENTION
@click.argument("other", type=int)
@CURATOR
@AS_JSON
def join(project: ProjectPlace, mention: int, other: int, *, curator: str, as_json: bool) -> None:
    """Join MENTION and OTHER into one discontinuous mention."""
    with opened(project, curator=curator) as found:
        change = found.curation.join_mentions(mention, other)
    say_change(change, as_json=as_json)


@mention.command("delete")
@PROJECT
@MENTION
@CURATOR
@AS_JSON
def delete(project: ProjectPlace, mention: int, *, curator: str, as_json: bool) -> None:
    """Delete MENTION. Its decisions stay in the history, and `curator undo P` restores it."""
    with opened(project, curator=curator) as found:
        change = found.curation.delete_mention(mention)
    say_change(change, as_json=as_json)


def read_spans(given: str) -> list[Span]:
    """The spans of START-END pairs separated by commas. Raises UserError for anything else."""
    parts = [_PART.fullmatch(part.strip()) for part in given.split(",")]
    pairs = [(int(part[1]), int(part[2])) for part in parts if part is not None]
    if len(pairs) < len(parts) or any(start >= end for start, end in pairs):
        raise UserError(f"“{given}” is not a valid span. Write START-END, several separated by commas: 14-21,30-37.")
    return [Span(start, end) for start, end in pairs]


# comment, flag.

Command = TypeVar("Command", bound=Callable[..., Any])


def _about(command: Command) -> Command:
    command = click.option("--document", default="", metavar="ID", help="ID of the document.")(command)
    return click.option("--mention", type=int, metavar="N", help="Number of the mention.")(command)


@click.command("comment")
@PROJECT
@click.argument("text", default="")
@_about
@click.option("--delete", "deleted", type=int, metavar="N", help="Delete the comment with this number.")
@CURATOR
@AS_JSON
def comment(
    project: ProjectPlace,
    text: str,
    *,
    mention: int | None,
    document: str,
    deleted: int | None,
    curator: str,
    as_json: bool,
) -> None:
    """Comment on a mention or a document of P. Without TEXT, list its comments with their numbers."""
    if deleted is not None and (text or mention is not None or document):
        raise click.UsageError("--delete cannot be given with TEXT, --mention or --document.")
    with opened(project, curator=curator, read_only=not text and deleted is None) as found:
        if deleted is not None:
            say_change(found.notes.delete_comment(deleted), as_json=as_json)
            return
        document_id = _document_id(found, mention, document)
        if text:
            say_change(found.notes.comment(document_id, text, mention_id=mention), as_json=as_json)
            return
        comments = [one for one in found.notes.comments(document_id) if mention in (None, one.mention_id)]
    lines = [_line(one) for one in comments]
    say({"comments": [asdict(one) for one in comments]}, "\n".join(lines) or "No comments yet.", as_json=as_json)


@click.command("flag")
@PROJECT
@_about
@click.option("--off", is_flag=True, help="Remove the flag.")
@CURATOR
@AS_JSON
def flag(project: ProjectPlace, *, mention: int | None, document: str, off: bool, curator: str, as_json: bool) -> None:
    """Flag a mention or a document of P, to return to it later."""
    with opened(project, curator=curator) as found:
        document_id = _document_id(found, mention, document)
        shown = found.queue.open(document_id)
        view = shown.view(mention) if mention is not None else None
        if (view.mention.flagged if view is not None else shown.flagged) is not off:
            nothing = "No flag to remove." if off else "Already flagged."
            say_change(None, as_json=as_json, nothing=nothing)
            return
        change = found.notes.flag_mention(mention) if mention is not None else found.notes.flag_document(document_id)
    say_change(change, as_json=as_json)


def _document_id(project: Project, mention: int | None, document: str) -> int:
    if (mention is None) == (not document):
        raise click.UsageError("Give either --mention or --document.")
    if mention is None:
        return document_named(project, document)
    found = project.queue.document_of(mention)
    if found is None or project.queue.open(found).view(mention) is None:
        raise UserError(
            f"Mention {mention} was not found in this project. `curator mention list P DOCUMENT` lists mentions."
        )
    return found


def _line(one: Comment) -> str:
    where = f"mention {one.mention_id}" if one.mention_id is not None else "document"
    return f"{one.id:>6}  {one.at:%Y-%m-%d %H:%M}  {one.author} · {where}: {one.text}"


# Every mention that is linked to one entity.

SHOWN_STRINGS = 20


@click.command("uses")
@PROJECT
@click.argument("entity")
@click.option("--string", default="", metavar="TEXT", help="Include only uses of this string, in any spelling.")
@click.option("--by", default="", metavar="NAME", help="Include only uses that this curator decided.")
@click.option("--split", type=SPLIT, help="Include only uses in documents of this split.")
@click.option(
    "--order",
    type=click.Choice([one.value for one in UseOrder]),
    default=UseOrder.DOUBTFUL.value,
    show_default=True,
    help="Order of the uses. doubtful: the least probable first.",
)
@click.option(
    "--mention", "mentions", type=int, multiple=True, metavar="ID", help="Include only this mention. Repeatable."
)
@click.option("--to", "target", metavar="ID", help="Move the listed uses to this entity.")
@click.option(
    "--nil", type=click.Choice([one.value for one in NilReason]), help="Mark the listed uses as NIL, for this reason."
)
@click.option(
    "--yes", is_flag=True, help="With --to or --nil: change the listed uses. Without it they are only listed."
)
@click.option("--csv", "out", type=FilePath(path_type=Path), metavar="FILE", help="Write the listed uses to this file.")
@CURATOR
@AS_JSON
def uses(
    project: ProjectPlace,
    entity: str,
    *,
    string: str,
    by: str,
    split: str | None,
    order: str,
    mentions: tuple[int, ...],
    target: str | None,
    nil: str | None,
    yes: bool,
    out: Path | None,
    curator: str,
    as_json: bool,
) -> None:
    """List every mention of P that is linked to ENTITY, with the probability that the linker gives it.

    --to and --nil change the listed mentions in one step.
    """
    if target is not None and nil is not None:
        raise click.UsageError("--to and --nil cannot be combined. Use one of them.")
    if yes and target is None and nil is None:
        raise click.UsageError("--yes requires --to or --nil.")
    where = UseFilter(string_key(string) if string else "", by, Split(split) if split else None)
    with opened(project, curator=curator, read_only=not yes) as found:
        every = found.uses.of(entity)
        listed = _only(every.chosen(where, UseOrder(order)), mentions)
        ids = [one.context.mention_id for one in listed]
        verdict = verdict_given(found, (target,) if target else (), nil, None, None) if target or nil else None
        change = found.uses.change(every, ids, verdict) if yes and verdict is not None else None
        if out is not None:
            found.save_text(out, uses_csv(listed))
        facts = {**_use_facts(every, listed), "change": None if change is None else change_facts(change)}
        end = ""
        if change is not None:
            end = f"{change.text}. `curator undo P` undoes it."
        elif verdict is not None:
            end = f"{counted(len(ids), 'use', 'uses')} would be changed. Nothing was changed; add --yes to change them."
        say(facts, "\n".join([*_use_lines(every, listed), *([end] if end else [])]), as_json=as_json)


def _only(listed: Sequence[MentionUse], mentions: Sequence[int]) -> list[MentionUse]:
    """Raises UserError for a mention that is not listed."""
    missing = set(mentions) - {one.context.mention_id for one in listed}
    if missing:
        raise UserError(f"Mention {min(missing)} is not in the list; nothing was changed.")
    return [one for one in listed if not mentions or one.context.mention_id in mentions]


def _use_facts(every: Uses, listed: Sequence[MentionUse]) -> dict[str, Any]:
    return {
        "entity": every.entity_id,
        "name": every.name,
        "gone": every.gone,
        "successor": every.successor.id if every.successor is not None else None,
        "all": len(every.uses),
        "strings": [asdict(one) for one in every.strings()],
        "uses": [
            {
                "mention": one.context.mention_id,
                "document": one.context.external_id,
                "left": one.context.left,
                "text": one.context.text,
                "right": one.context.right,
                "probability": one.probability,
                "curator": one.context.curator,
                "at": one.at.isoformat(),
                "split": one.split.value,
                "state": one.state.value,
            }
            for one in listed
        ],
    }


def _use_lines(every: Uses, listed: Sequence[MentionUse]) -> list[str]:
    head = f"{every.entity_id}  {every.name}: {counted(len(every.uses), 'use', 'uses')}"
    lines = [f"{head} in {counted(every.documents, 'document', 'documents')}"]
    if every.gone:
        now = f"; {every.successor.id} {every.successor.name} has its identifier now" if every.successor else ""
        lines.append(f"No longer in the knowledge base{now}.")
    strings = every.strings()
    shown = [f"{one.text} ({one.number:,})" for one in strings[:SHOWN_STRINGS]]
    lines += [" · ".join([*shown, "…"] if len(strings) > SHOWN_STRINGS else shown)] if shown else []
    for one in listed:
        words = " ".join(f"{one.context.left}[{one.context.text}]{one.context.right}".split())
        chance = "     –" if one.probability is None else f"{100 * one.probability:4.0f} %"
        who = f"{one.context.curator}, {one.at:%Y-%m-%d}, {one.split.value}, {one.state.words}"
        lines.append(f"{one.context.mention_id:>9}  {chance}  {one.context.external_id}  …{words}…  ({who})")
    return lines if listed or not every.uses else [*lines, "No use matches."]
