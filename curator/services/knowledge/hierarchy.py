"""Broader and narrower entities: the knowledge base as a tree, read a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from curator.domain.decisions import Change, ChangeKind
from curator.domain.entities import Branches, TreeNode, TreePage
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.core.keys import branches_of, store_branches
from curator.services.ports.storage import UnitOfWork

PAGE = 100
"""Children of a node that are read at once."""
GONE = "The knowledge base has no entity {entity}. Search for its name instead."


@dataclass(frozen=True, slots=True)
class TreeWay:
    """The path from the top down to an entity: `nodes` begins with a topmost one and ends with the entity."""

    nodes: tuple[TreeNode, ...]

    @property
    def alone(self) -> bool:
        """Whether the entity is in no hierarchy: it has neither parents nor children."""
        return len(self.nodes) == 1 and not self.nodes[0].children


class HierarchyService(Service):
    """Each answer takes some milliseconds."""

    def narrower(self, entity_id: str | None = None, *, start: int = 0, count: int = PAGE) -> TreePage:
        """The entities directly below one, or the topmost: `count` of them after the first `start`, by name. An unknown
        id has none."""
        with self._store.read() as unit:
            return unit.kb.narrower(entity_id, start=start, count=count)

    def broader(self, entity_id: str) -> tuple[TreeNode, ...]:
        """The entities directly above one, by name."""
        with self._store.read() as unit:
            return tuple(unit.kb.broader(entity_id))

    def way(self, entity_id: str) -> TreeWay:
        """The shortest path down to an entity, by its primary or alternate id. Raises UserError if there is none."""
        with self._store.read() as unit:
            entity = unit.kb.get(entity_id)
            if entity is None:
                raise UserError(tr(GONE, entity=entity_id))
            nodes = [unit.kb.tree_node(one) for one in unit.kb.way_down(entity.id)]
        return TreeWay(tuple(one for one in nodes if one is not None) or (TreeNode(entity, 0, 0),))


# The branches of the knowledge base that suggestions and search are restricted to: a setting of the project.

NAMED = 5
"""The most identifiers listed in an error about unknown ones."""


class BranchService(Service):
    """A restriction holds for a type of mentions, or under '' for every type without one of its own."""

    def branches(self) -> Branches:
        with self._store.read() as unit:
            return branches_of(unit.meta)

    def restrict(self, mention_type: str, entity_ids: Sequence[str], *, add: bool = False) -> Change:
        """Restrict mentions of this type to these entities and their descendants, in addition to earlier ones with
        `add`; without entities, lift the restriction. Suggestions of these mentions are made again.

        It may touch every document: call it from a worker thread. Raises UserError for an unknown entity, and for a
        type that no mention has; then nothing is changed.
        """
        with self._store.write() as unit:
            types = unit.documents.mention_types()
            if mention_type and mention_type not in types:
                known = ", ".join(sorted(types))
                raise UserError(
                    tr("No mention has the type {type}. The types are: {known}.", type=mention_type, known=known)
                )
            ids = _known(unit, entity_ids)
            before = branches_of(unit.meta)
            kept = before.of.get(mention_type, ()) if add else ()
            after = Branches({**before.of, mention_type: tuple(dict.fromkeys((*kept, *ids)))})
            store_branches(unit.meta, after)
            changed = sorted(one for one in types if set(before.of_type(one)) != set(after.of_type(one)))
            if changed:
                unit.suggestions.make_stale(changed)
        change = Change(ChangeKind.TYPE_MAPPING, self._curator(), _words(mention_type, len(after.of[mention_type])))
        return self._emit(change)


def _known(unit: UnitOfWork, entity_ids: Sequence[str]) -> list[str]:
    """Primary ids; bare and alternate ones are resolved."""
    resolved = unit.kb.resolve(entity_ids)
    unknown = [one for one in dict.fromkeys(entity_ids) if one not in resolved]
    if unknown:
        named = ", ".join(unknown[:NAMED]) + (", …" if len(unknown) > NAMED else "")
        raise UserError(
            tr("The knowledge base has no entity {named}. Correct the identifiers; nothing was changed.", named=named)
        )
    return [resolved[one] for one in entity_ids]


def _words(mention_type: str, number: int) -> str:
    if not number and mention_type:
        return tr("Mentions of the type {type} are no longer restricted to branches of their own", type=mention_type)
    if not number:
        return tr("Mentions are no longer restricted to branches")
    branches = ntr("one branch", "{n:,} branches", number)
    if mention_type:
        return tr("Restricted mentions of the type {type} to {branches}", type=mention_type, branches=branches)
    return tr("Restricted all mentions to {branches}", branches=branches)
