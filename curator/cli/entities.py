"""kb tree, kb restrict: the hierarchy of the knowledge base. kb nils, kb new, kb make, kb remap: entities missing from
the knowledge base, and decisions after a new version."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, PROJECT, FilePath, counted, opened, say
from curator.domain.entities import Entity, EntityDraft, TreeNode
from curator.domain.wording import UserError

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.services.knowledge.hierarchy import HierarchyService
    from curator.services.knowledge.nil_clusters import NilCluster
    from curator.services.knowledge.provisional import NewEntity
    from curator.services.knowledge.remap_plan import Remapping
    from curator.services.ports.address import ProjectPlace

SHOWN = 100
MOST = 100_000
"""The most entities in one tree; an entity with several parents is listed below each."""
NO_BRANCHES = "Nothing is restricted to branches of the knowledge base."
EXACT = 3
"""Search tiers below this number are exact: an identifier, a name or a synonym."""


@click.command("tree")
@PROJECT
@click.argument("entity", required=False)
@click.option("--depth", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Go N steps down.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=SHOWN, show_default=True, metavar="N", help="At most N below each."
)
@AS_JSON
def tree(project: ProjectPlace, entity: str | None, *, depth: int, limit: int, as_json: bool) -> None:
    """Show what is above and below ENTITY in the knowledge base of P, or the topmost entities without ENTITY.

    ENTITY is an identifier or a name.
    """
    with opened(project, read_only=True) as found:
        ready = found.hierarchy.ready
    with opened(project, read_only=ready) as found:
        at = _named(found, entity) if entity is not None else None
        way = found.hierarchy.way(at.id).nodes if at is not None else ()
        broader = found.hierarchy.broader(at.id) if at is not None else ()
        below = _Tree(found.hierarchy, limit).read(at.id if at is not None else None, depth)
    result = {
        "entity": _node(way[-1]) if way else None,
        "way": [_short(one.entity) for one in way],
        "broader": [_node(one) for one in broader],
        **below,
    }
    lines = [" > ".join(one.entity.name for one in way)] if way else []
    lines += [f"  broader: {_words(_node(one))}" for one in broader]
    lines += [_words(_node(way[-1]))] if way else []
    lines += _tree_lines(below, "  " if way else "")
    say(result, "\n".join(lines) or "No entity of the knowledge base is above another.", as_json=as_json)


def _named(project: Project, text: str) -> Entity:
    """The entity with this identifier or name. Raises UserError if there is none or more than one."""
    found = project.knowledge.entity(text)
    if found is not None:
        return found
    exact = [one for one in project.knowledge.search(text, limit=20) if one.rank < EXACT]
    best = [one.entity for one in exact if int(one.rank) == int(exact[0].rank)]
    if len(best) == 1:
        return best[0]
    if best:
        several = ", ".join(f"{one.id} {one.name}" for one in best)
        raise UserError(f"Several entities are called {text}: {several}. Give the identifier of one.")
    raise UserError(f"The knowledge base has no entity {text}. `curator kb search` finds names that are like it.")


class _Tree:
    """Reads the descendants of an entity; an entity that is its own ancestor is listed but not expanded again."""

    def __init__(self, hierarchy: HierarchyService, limit: int) -> None:
        self._hierarchy, self._limit, self._left = hierarchy, limit, MOST

    def read(self, entity_id: str | None, depth: int, above: frozenset[str | None] = frozenset()) -> dict[str, Any]:
        page = self._hierarchy.narrower(entity_id, count=min(self._limit, max(self._left, 1)))
        self._left -= len(page.nodes)
        above, nodes = above | {entity_id}, []
        for node in page.nodes:
            again = node.entity.id in above
            deeper = depth > 1 and node.children and not again and self._left > 0
            below = self.read(node.entity.id, depth - 1, above) if deeper else {}
            nodes.append(_node(node) | ({"listed_above": True} if again else {}) | below)
        return {"narrower": nodes, "more": page.total - len(page.nodes)}


def _short(entity: Entity) -> dict[str, Any]:
    return {"id": entity.id, "name": entity.name, "types": list(entity.types)}


def _node(node: TreeNode) -> dict[str, Any]:
    return _short(node.entity) | {"children": node.children, "below": node.below}


def _words(node: dict[str, Any]) -> str:
    below = node["below"] if node["below"] is not None else f"{node['children']:,} and more"
    counted = f"  {below:,} below" if isinstance(below, int) else f"  {below} below"
    again = "  listed above" if node.get("listed_above") else counted if node["children"] else ""
    return f"{node['id']}  {node['name']}  ({', '.join(node['types'])}){again}"


def _tree_lines(tree: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for node in tree["narrower"]:
        lines.append(indent + _words(node))
        lines += _tree_lines(node, indent + "  ") if "narrower" in node else []
    return [*lines, f"{indent}… and {tree['more']:,} more; --limit shows more."] if tree["more"] else lines


@click.command("restrict")
@PROJECT
@click.argument("entities", nargs=-1)
@click.option("--type", "mention_type", default="", metavar="TYPE", help="For mentions of this type only.")
@click.option("--file", "file", type=FilePath(path_type=Path), help="A text file with identifiers, one per line.")
@click.option("--add", is_flag=True, help="Keep the branches chosen before.")
@click.option("--lift", is_flag=True, help="Remove the restriction of these mentions.")
@AS_JSON
def restrict(
    project: ProjectPlace,
    entities: tuple[str, ...],
    *,
    mention_type: str,
    file: Path | None,
    add: bool,
    lift: bool,
    as_json: bool,
) -> None:
    """Restrict candidates and search in P to ENTITIES and what is below them; without ENTITIES, list the restrictions.

    ENTITIES are identifiers or names. The suggestions of the mentions are made again.
    """
    given = [*entities, *(_lines(file) if file is not None else ())]
    if lift and (given or add):
        raise click.UsageError("--lift takes no entities. Leave it out to restrict.")
    with opened(project, read_only=not (given or lift)) as found:
        change = None
        if given or lift:
            ids = [_named(found, one).id for one in given]
            change = found.branches.restrict(mention_type, ids, add=add)
        branches = found.branches.branches()
        names = {one: _name(found, one) for ids in branches.of.values() for one in ids}
    lines = [f"{change.text}. `curator link` makes their suggestions again."] if change is not None else []
    lines += [
        f"{kind or 'all types'}: " + ", ".join(f"{one} {names[one]}" for one in ids)
        for kind, ids in branches.of.items()
    ]
    say(
        {"branches": {kind: list(ids) for kind, ids in branches.of.items()}},
        "\n".join(lines) or NO_BRANCHES,
        as_json=as_json,
    )


def _name(project: Project, entity_id: str) -> str:
    entity = project.knowledge.entity(entity_id)
    return entity.name if entity is not None else "(not in the knowledge base)"


def _lines(file: Path) -> list[str]:
    """The file's lines. Raises UserError if it is a folder or not text, OSError if it cannot be read."""
    if file.is_dir():
        raise UserError(f"{file} is a folder. Give a text file with one identifier per line.")
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 text. Save it as UTF-8, with one identifier per line.") from error
    return [one.strip() for one in text.splitlines() if one.strip()]


@click.command("nils")
@PROJECT
@click.option("--suggested", is_flag=True, help="List undecided mentions that are suggested as NIL instead.")
@AS_JSON
def nils(project: ProjectPlace, *, suggested: bool, as_json: bool) -> None:
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
def new(project: ProjectPlace, *, as_json: bool) -> None:
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
    project: ProjectPlace,
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
        same = found.provisional.same_named(name)
        made = found.provisional.make(EntityDraft(name, types, definition, synonyms, entity_id), mentions)
    named = ", ".join(f"{one.name} ({one.id})" for one in same)
    note = f"\nNote: this name already exists: {named}. `curator undo` removes the new entity." if same else ""
    result = {"id": made.entity_id, "mentions": list(mentions), "same_named": [one.id for one in same]}
    say(result, f"{made.change.text}.{note}", as_json=as_json)


@click.command("remap")
@PROJECT
@click.option("--apply", "applied", is_flag=True, help="Change every decision that has a proposal, as one step.")
@AS_JSON
def remap(project: ProjectPlace, *, applied: bool, as_json: bool) -> None:
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
