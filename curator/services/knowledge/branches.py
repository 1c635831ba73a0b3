"""The branches of the knowledge base that suggestions and search are restricted to: a setting of the project."""

from __future__ import annotations

from collections.abc import Sequence

from curator.domain.decisions import Change, ChangeKind
from curator.domain.entities import Branches
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.core.keys import branches_of, store_branches
from curator.services.knowledge.hierarchy import HierarchyService
from curator.services.ports.storage import UnitOfWork

NAMED = 5
"""The most identifiers listed in an error about unknown ones."""


class BranchService(Service):
    """A restriction holds for a type of mentions, or under '' for every type without one of its own."""

    def __init__(self, context: Context, hierarchy: HierarchyService) -> None:
        super().__init__(context)
        self._hierarchy = hierarchy

    def branches(self) -> Branches:
        with self._store.read() as unit:
            return branches_of(unit.meta)

    def restrict(self, mention_type: str, entity_ids: Sequence[str], *, add: bool = False) -> Change:
        """Restrict mentions of this type to these entities and their descendants, in addition to earlier ones with
        `add`; without entities, lift the restriction. Suggestions of these mentions are made again.

        It may touch every document: call it from a worker thread. Raises UserError for an unknown entity, and for a
        type that no mention has; then nothing is changed.
        """
        self._hierarchy.prepare()
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
