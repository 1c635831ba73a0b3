"""mention list, add, move, retype, join, delete: where mentions stand in the text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, document_named, opened, say, say_change
from curator.domain.documents import Span
from curator.domain.errors import UserError

SPANS = click.argument("spans", metavar="SPANS")
MENTION = click.argument("mention", type=int)
_PART = re.compile(r"(\d+)-(\d+)")


@click.group("mention")
def mention() -> None:
    """Add, move, retype, join and delete mentions.

    SPANS are half-open ranges of characters in the document's text: 14-28, or 14-21,30-37 for a mention in parts.
    """


@mention.command("list")
@PROJECT
@click.argument("document")
@AS_JSON
def list_mentions(project: Path, document: str, *, as_json: bool) -> None:
    """List the mentions of DOCUMENT in text order, with their numbers and decisions."""
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
@click.option("--type", "mention_type", required=True, metavar="TYPE", help="What kind of thing it names.")
@CURATOR
@AS_JSON
def add(project: Path, document: str, spans: str, *, mention_type: str, curator: str, as_json: bool) -> None:
    """Add a mention at SPANS of DOCUMENT."""
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
    """Move MENTION to SPANS; its decision stays."""
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
    """Give MENTION another TYPE; its decision stays."""
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
    """Make one mention in parts of MENTION and OTHER."""
    with opened(project, curator=curator) as found:
        change = found.curation.join_mentions(mention, other)
    say_change(change, as_json=as_json)


@mention.command("delete")
@PROJECT
@MENTION
@CURATOR
@AS_JSON
def delete(project: Path, mention: int, *, curator: str, as_json: bool) -> None:
    """Delete MENTION; its decisions stay in the history, and undo brings it back."""
    with opened(project, curator=curator) as found:
        change = found.curation.delete_mention(mention)
    say_change(change, as_json=as_json)


def read_spans(given: str) -> list[Span]:
    """Of START-END pairs with commas between. Raises UserError for anything else."""
    parts = [_PART.fullmatch(part.strip()) for part in given.split(",")]
    pairs = [(int(part[1]), int(part[2])) for part in parts if part is not None]
    if len(pairs) < len(parts) or any(start >= end for start, end in pairs):
        raise UserError(f"“{given}” is no place in a text. Write START-END, parts with a comma between: 14-21,30-37.")
    return [Span(start, end) for start, end in pairs]
