"""kb nils, kb new, kb make, kb remap: entities missing from the knowledge base, and decisions after a new version."""

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
@click.option("--suggested", is_flag=True, help="List undecided mentions that are suggested as NIL instead.")
@AS_JSON
def nils(project: Path, *, suggested: bool, as_json: bool) -> None:
    """List clusters of NIL mentions of P.

    The mentions of a cluster may name the same entity. The largest cluster comes first.
    """
    with opened(project, read_only=True) as found:
        clusters = found.nils.clusters(decided=not suggested)
    lines = [f"{len(one.mention_ids):>6}  {one.name}  ({one.type})  mentions {_ids(one)}" for one in clusters[:SHOWN]]
    left = len(clusters) - SHOWN
    lines += [f"… and {left:,} more; --json shows all."] if left > 0 else []
    say({"clusters": [asdict(one) for one in clusters]}, "\n".join(lines) or "No NIL mentions.", as_json=as_json)


@click.command("new")
@PROJECT
@AS_JSON
def new(project: Path, *, as_json: bool) -> None:
    """List the entities that curators created in P."""
    with opened(project, read_only=True) as found:
        entities = found.provisional.all()
    lines = [
        f"{one.found.id}  {one.found.entity.name}  ({', '.join(one.found.entity.types)})  "
        f"{counted(one.mentions, 'mention', 'mentions')}, "
        f"{one.found.author}"
        for one in entities
    ]
    result = {"entities": [_record(one) for one in entities]}
    say(result, "\n".join(lines) or "No entities were created in this project.", as_json=as_json)


@click.command("make")
@PROJECT
@click.argument("name")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Type of the entity. Repeatable.")
@click.option("--synonym", "synonyms", multiple=True, metavar="TEXT", help="Another name of the entity. Repeatable.")
@click.option("--definition", default="", metavar="TEXT", help="Definition of the entity.")
@click.option(
    "--id",
    "entity_id",
    default="",
    metavar="CURIE",
    help="Identifier of the entity in a registry, such as OMIM:104300, if the knowledge base does not have it.",
)
@click.option(
    "--mention", "mentions", type=int, multiple=True, metavar="ID", help="Link this mention to the entity. Repeatable."
)
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
    """Create the entity NAME in P and link mentions to it.

    Use this for entities that the knowledge base lacks.
    """
    with opened(project) as found:
        made = found.provisional.make(EntityDraft(name, types, definition, synonyms, entity_id), mentions)
    say({"id": made.entity_id, "mentions": list(mentions)}, f"{made.change.text}.", as_json=as_json)


@click.command("remap")
@PROJECT
@click.option("--apply", "applied", is_flag=True, help="Change every decision that has a proposal, as one step.")
@AS_JSON
def remap(project: Path, *, applied: bool, as_json: bool) -> None:
    """List the decisions affected by the last knowledge base import.

    Each line shows the proposed new entity, if one was found.
    """
    with opened(project, read_only=not applied) as found:
        plan = found.remapping.plan()
        wanted = [one for one in plan.lines if one.proposed is not None]
        change = found.remapping.apply(wanted) if applied and wanted else None
    lines = [_line(one) for one in plan.lines]
    if change is not None:
        lines.append(f"{change.text}. `curator undo P` undoes it.")
    elif wanted:
        lines.append("Nothing was changed; --apply changes the decisions that have a proposal.")
    result = {**asdict(plan), "moved": len(change.mention_ids) if change is not None else 0}
    say(result, "\n".join(lines) or "Every linked entity is in the knowledge base.", as_json=as_json)


def _record(one: NewEntity) -> dict[str, Any]:
    made = {"author": one.found.author, "at": one.found.at.isoformat(), "mentions": one.mentions}
    return {**asdict(one.found.entity), **made}


def _ids(cluster: NilCluster) -> str:
    shown = ", ".join(map(str, cluster.mention_ids[:5]))
    return shown + (", …" if len(cluster.mention_ids) > 5 else "")


def _line(one: Remapping) -> str:
    to = "no entity with this name"
    if one.proposed is not None:
        to = f"{one.proposed.id} {one.proposed.name}"
    elif one.others:
        to = "one of " + ", ".join(f"{entity.id} {entity.name}" for entity in one.others)
    key = "" if "\t" in one.key else f"{one.key} "
    return f"{one.kind.value:<9} {key}{one.name}  ({one.mentions:,} mentions)  ->  {to}"
