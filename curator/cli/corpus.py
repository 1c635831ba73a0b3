"""search: words and patterns in all documents, and new mentions from the hits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, CURATOR, PROJECT, SPLIT, change_facts, counted, opened, say
from curator.cli.deciding import verdict_given
from curator.domain.decisions import NilReason
from curator.domain.documents import Split
from curator.services.queue.corpus_search import Bar, CorpusQuery, Found, Hit, HitChoice, PassageChoice
from curator.services.queue.hit_making import left_out_words

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.ports.address import ProjectPlace
    from curator.services.queue.hit_making import Made

SHOWN = 100
BARS = {Bar.BORDER: "crosses the end of a passage", Bar.BLANK: "white space alone"}
ONLY_EMPTY = "The pattern matches only empty strings. Change it so that it matches at least one character."
SEVERAL = "--link, --nil and --undecided cannot be combined. Use one of them."


@click.command("search")
@PROJECT
@click.argument("text")
@click.option("--pattern", is_flag=True, help="TEXT is a regular expression.")
@click.option("--case", is_flag=True, help="Distinguish upper and lower case.")
@click.option("--words", is_flag=True, help="Match whole words only.")
@click.option("--split", type=SPLIT, help="Search only documents of this split.")
@click.option(
    "--passages",
    type=click.Choice([one.value for one in PassageChoice]),
    default=PassageChoice.ALL.value,
    show_default=True,
    help="Passages to search. body: all but titles.",
)
@click.option(
    "--hits",
    type=click.Choice([one.value for one in HitChoice]),
    default=HitChoice.ALL.value,
    show_default=True,
    help="Hits to include. new: no mention overlaps. overlapping: a mention overlaps at another position. mentions: a "
    "mention is at exactly this position.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=SHOWN, show_default=True, metavar="N", help="List at most N hits."
)
@click.option("--type", "mention_type", default="", metavar="TYPE", help="Type of the new mentions.")
@click.option("--link", "entity", metavar="ID", help="Make mentions of all hits and link them to this entity.")
@click.option(
    "--nil",
    type=click.Choice([one.value for one in NilReason]),
    help="Make mentions of all hits and mark them as NIL, for this reason.",
)
@click.option("--undecided", is_flag=True, help="Make mentions of all hits, without a decision.")
@click.option(
    "--yes", is_flag=True, help="With --link, --nil or --undecided: make the mentions. Without it hits are only listed."
)
@CURATOR
@AS_JSON
def search(
    project: ProjectPlace,
    text: str,
    *,
    pattern: bool,
    case: bool,
    words: bool,
    split: str | None,
    passages: str,
    hits: str,
    limit: int,
    mention_type: str,
    entity: str | None,
    nil: str | None,
    undecided: bool,
    yes: bool,
    curator: str,
    as_json: bool,
) -> None:
    """Search the documents of P for TEXT and list the hits in context.

    --link, --nil and --undecided make mentions of all hits, also of those that --limit does not list, in one step.
    Places where a mention is already are left out.
    """
    if sum((entity is not None, nil is not None, undecided)) > 1:
        raise click.UsageError(SEVERAL)
    making = entity is not None or nil is not None or undecided
    if making and not mention_type.strip():
        raise click.UsageError("--link, --nil and --undecided require --type.")
    if yes and not making:
        raise click.UsageError("--yes requires --link, --nil or --undecided.")
    query = CorpusQuery(
        text, pattern, case, words, Split(split) if split else None, PassageChoice(passages), HitChoice(hits)
    )
    with opened(project, curator=curator, read_only=not yes) as found:
        verdict = verdict_given(found, (entity,) if entity else (), nil, None, None) if entity or nil else None
        every, last = _read(found, query, None if yes else limit)
        made = found.hits.make(every, mention_type, verdict, sought=text) if yes else None
        listed = every[:limit]
        lines = [*_lines(listed, last), *_end(making, made, last)]
        say(_facts(listed, last, made), "\n".join(lines), as_json=as_json)


def _read(project: Project, query: CorpusQuery, most: int | None) -> tuple[list[Hit], Found]:
    hits: list[Hit] = []
    last = Found((), 0, 0, 0, 0)
    for last in project.corpus.search(query, most=most):
        hits += last.hits
    return hits, last


def _facts(listed: Sequence[Hit], last: Found, made: Made | None) -> dict[str, Any]:
    return {
        "number": last.number,
        "documents": last.documents,
        "searched": last.searched,
        "hits": [_hit(one) for one in listed],
        "change": None if made is None else change_facts(made.change),
        "left_out": {} if made is None else {reason.value: number for reason, number in made.left_out.items()},
    }


def _hit(one: Hit) -> dict[str, Any]:
    mention, verdict = one.mention, one.mention.verdict if one.mention is not None else None
    return {
        "document": one.external_id,
        "start": one.start,
        "end": one.end,
        "left": one.left,
        "text": one.text,
        "right": one.right,
        "passage": one.passage,
        "split": one.split.value,
        "bar": one.bar.value if one.bar is not None else None,
        "exact": one.exact,
        "mention": None
        if mention is None
        else {
            "mention": mention.id,
            "text": mention.text,
            "type": mention.type,
            "outcome": verdict.outcome.value if verdict is not None else None,
            "entities": list(verdict.entity_ids) if verdict is not None else [],
            "curator": mention.curator,
        },
    }


def _lines(listed: Sequence[Hit], last: Found) -> list[str]:
    searched = counted(last.searched, "document", "documents")
    if not last.number:
        return [ONLY_EMPTY] if last.empty else [f"No hits in {searched}."]
    where = counted(last.documents, "document", "documents")
    lines = [f"{counted(last.number, 'hit', 'hits')} in {where}; {searched} searched"]
    for one in listed:
        words = " ".join(f"{one.left}[{one.text}]{one.right}".split())
        lines.append(f"{one.external_id}  {one.start}-{one.end}  …{words}…  ({_about(one)})")
    left = last.number - len(listed)
    return [*lines, f"… and {left:,} more; --limit shows more."] if left > 0 else lines


def _about(one: Hit) -> str:
    parts = [one.passage] if one.passage else []
    if one.bar is not None:
        parts.append(BARS[one.bar])
    if (mention := one.mention) is not None:
        verdict = mention.verdict
        state = "undecided" if verdict is None else " + ".join(mention.names) or verdict.outcome.value
        at = "" if one.exact else f" in “{mention.text}”"
        parts.append(f"mention {mention.id}{at}, {mention.type}, {state}")
    return "; ".join(parts) or "no mention"


def _end(making: bool, made: Made | None, last: Found) -> list[str]:
    if made is not None:
        left_out = left_out_words(made.left_out)
        said = f" Left out: {left_out}." if left_out else ""
        return [f"{made.change.text}. `curator undo P` undoes it.{said}"]
    if making and last.number:
        return ["Nothing was changed; add --yes to make mentions of all hits."]
    return []
