"""comment, flag: marks for oneself and words for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, document_named, opened, say, say_change
from curator.domain.errors import UserError

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.comments import Comment

Command = TypeVar("Command", bound=Callable[..., Any])


def _about(command: Command) -> Command:
    command = click.option("--document", default="", metavar="ID", help="The document, as its file calls it.")(command)
    return click.option("--mention", type=int, metavar="N", help="The mention with this number.")(command)


@click.command("comment")
@PROJECT
@click.argument("text", default="")
@_about
@click.option("--delete", "deleted", type=int, metavar="N", help="Take this comment away.")
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
    """Comment on a mention or a document of P; without TEXT list what was said there, with numbers for --delete."""
    if deleted is not None and (text or mention is not None or document):
        raise click.UsageError("--delete takes the number of a comment and nothing else.")
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
    say({"comments": [asdict(one) for one in comments]}, "\n".join(lines) or "Nothing was said yet.", as_json=as_json)


@click.command("flag")
@PROJECT
@_about
@click.option("--off", is_flag=True, help="Take the flag off.")
@CURATOR
@AS_JSON
def flag(project: Path, *, mention: int | None, document: str, off: bool, curator: str, as_json: bool) -> None:
    """Flag a mention or a document of P, to come back to it."""
    with opened(project, curator=curator) as found:
        document_id = _document_id(found, mention, document)
        shown = found.queue.open(document_id)
        view = shown.view(mention) if mention is not None else None
        if (view.mention.flagged if view is not None else shown.flagged) is not off:
            nothing = "There is no flag to take off." if off else "It is flagged already."
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
        raise UserError(f"There is no mention {mention} in this project. `curator mention list P DOCUMENT` shows them.")
    return found


def _line(one: Comment) -> str:
    where = f"mention {one.mention_id}" if one.mention_id is not None else "document"
    return f"{one.id:>6}  {one.at:%Y-%m-%d %H:%M}  {one.author} · {where}: {one.text}"
