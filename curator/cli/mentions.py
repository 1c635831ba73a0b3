"""mention list, add, move, retype, join and delete; comment; flag."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, document_named, opened, say, say_change
from curator.domain.documents import Span
from curator.domain.wording import UserError

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.audit import Comment


SPANS = click.argument("spans", metavar="SPANS")
MENTION = click.argument("mention", type=int)
_PART = re.compile(r"(\d+)-(\d+)")


@click.group("mention")
def mention() -> None:
    """List, add, move, retype, join and delete mentions.

    SPANS are ranges START-END of characters in the document's text, END not included: 14-28, or 14-21,30-37 for a
    discontinuous mention.
    """


@mention.command("list")
@PROJECT
@click.argument("document")
@AS_JSON
def list_mentions(project: Path, document: str, *, as_json: bool) -> None:
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
        }
        for one in views
    ]
    lines = [
        f"{row['mention']:>9}  {','.join(f'{a}-{b}' for a, b in row['spans']):>11}  {row['text']} · {row['type']} · "
        f"{' + '.join(row['entities']) or row['outcome'] or '–'}"
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
def add(project: Path, document: str, spans: str, *, mention_type: str, curator: str, as_json: bool) -> None:
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
def move(project: Path, mention: int, spans: str, *, curator: str, as_json: bool) -> None:
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
def retype(project: Path, mention: int, mention_type: str, *, curator: str, as_json: bool) -> None:
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
def join(project: Path, mention: int, other: int, *, curator: str, as_json: bool) -> None:
    """Join MENTION and OTHER into one discontinuous mention."""
    with opened(project, curator=curator) as found:
        change = found.curation.join_mentions(mention, other)
    say_change(change, as_json=as_json)


@mention.command("delete")
@PROJECT
@MENTION
@CURATOR
@AS_JSON
def delete(project: Path, mention: int, *, curator: str, as_json: bool) -> None:
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
    project: Path,
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
def flag(project: Path, *, mention: int | None, document: str, off: bool, curator: str, as_json: bool) -> None:
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
