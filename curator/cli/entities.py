"""kb nils, kb new, kb make, kb remap: what the knowledge base lacks, and what a new version of it means."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, PROJECT, counted, opened, say
from curator.domain.entities import EntityDraft

if TYPE_CHECKING:
    from curator.services.knowledge import NewEntity, NilCluster, Remapping

SHOWN = 100


@click.command("nils")
@PROJECT
@click.option("--suggested", is_flag=True, help="Undecided mentions that are suggested to be NIL instead.")
@AS_JSON
def nils(project: Path, *, suggested: bool, as_json: bool) -> None:
    """List the NIL mentions of P that may mean the same, the biggest clusters first."""
    with opened(project, read_only=True) as found:
        clusters = found.nils.clusters(decided=not suggested)
    lines = [f"{len(one.mention_ids):>6}  {one.name}  ({one.type})  mentions {_ids(one)}" for one in clusters[:SHOWN]]
    left = len(clusters) - SHOWN
    lines += [f"… and {left:,} more; --json shows all."] if left > 0 else []
    say({"clusters": [asdict(one) for one in clusters]}, "\n".join(lines) or "No mention is NIL.", as_json=as_json)


@click.command("new")
@PROJECT
@AS_JSON
def new(project: Path, *, as_json: bool) -> None:
    """List the entities that curators of P made."""
    with opened(project, read_only=True) as found:
        entities = found.provisional.all()
    lines = [
        f"{one.found.id}  {one.found.entity.name}  ({', '.join(one.found.entity.types)})  "
        f"{counted(one.mentions, 'mention', 'mentions')}, "
        f"{one.found.author}"
        for one in entities
    ]
    result = {"entities": [_record(one) for one in entities]}
    say(result, "\n".join(lines) or "No entity was made in this project.", as_json=as_json)


@click.command("make")
@PROJECT
@click.argument("name")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="A type of it; may be given several times.")
@click.option("--synonym", "synonyms", multiple=True, metavar="TEXT", help="Another name; may be given several times.")
@click.option("--definition", default="", metavar="TEXT", help="What it is.")
@click.option(
    "--id",
    "entity_id",
    default="",
    metavar="CURIE",
    help="Its identifier in a registry, such as OMIM:104300, if no knowledge base here has it.",
)
@click.option("--mention", "mentions", type=int, multiple=True, metavar="ID", help="A mention to link to it.")
@AS_JSON
def make(
    project: Path,
    name: str,
    *,
    types: tuple[str, ...],
    synonyms: tuple[str, ...],
    definition: str,
    entity_id: str,
    mentions: tuple[int, ...],
    as_json: bool,
) -> None:
    """Make the entity NAME, which the knowledge base of P lacks, and link mentions to it."""
    with opened(project) as found:
        made = found.provisional.make(EntityDraft(name, types, definition, synonyms, entity_id), mentions)
    say({"id": made.entity_id, "mentions": list(mentions)}, f"{made.change.text}.", as_json=as_json)


@click.command("remap")
@PROJECT
@click.option("--apply", "applied", is_flag=True, help="Move every decision that has a proposal, as one step.")
@AS_JSON
def remap(project: Path, *, applied: bool, as_json: bool) -> None:
    """List decisions of P that the last knowledge-base import concerns, with what they would move to."""
    with opened(project, read_only=not applied) as found:
        plan = found.remapping.plan()
        wanted = [one for one in plan.lines if one.proposed is not None]
        change = found.remapping.apply(wanted) if applied and wanted else None
    lines = [_line(one) for one in plan.lines]
    if change is not None:
        lines.append(f"{change.text}. `curator undo` takes it back.")
    elif wanted:
        lines.append("Nothing was changed; --apply moves what has a proposal.")
    result = {**asdict(plan), "moved": len(change.mention_ids) if change is not None else 0}
    say(result, "\n".join(lines) or "Every decision names what the knowledge base has.", as_json=as_json)


def _record(one: NewEntity) -> dict[str, Any]:
    made = {"author": one.found.author, "at": one.found.at.isoformat(), "mentions": one.mentions}
    return {**asdict(one.found.entity), **made}


def _ids(cluster: NilCluster) -> str:
    shown = ", ".join(map(str, cluster.mention_ids[:5]))
    return shown + (", …" if len(cluster.mention_ids) > 5 else "")


def _line(one: Remapping) -> str:
    to = "nothing of this name"
    if one.proposed is not None:
        to = f"{one.proposed.id} {one.proposed.name}"
    elif one.others:
        to = "one of " + ", ".join(f"{entity.id} {entity.name}" for entity in one.others)
    key = "" if "\t" in one.key else f"{one.key} "
    return f"{one.kind.value:<9} {key}{one.name}  ({one.mentions:,} mentions)  ->  {to}"
