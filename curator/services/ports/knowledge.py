"""Port of the knowledge base: its versions, entities and search, provisional entities, and the entities of current
decisions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from curator.domain.audit import DecidedPlace, OtherDecision
from curator.domain.entities import (
    Entity,
    KbChanges,
    KnowledgeBaseInfo,
    KnowledgeSource,
    Matches,
    ObsoleteEntity,
    ProvisionalEntity,
    TreeNode,
    TreePage,
)


@dataclass(frozen=True, slots=True)
class NilMention:
    """A mention that is decided NIL, or undecided with a NIL suggestion. `key` is its `domain.same_string.string_key`,
    `expanded` the long form of an abbreviation ('' if it is not one)."""

    mention_id: int
    document_id: int
    text: str
    type: str
    key: str
    expanded: str = ""


class KnowledgeBaseRepository(Protocol):
    """The imported knowledge base by versions, one of which is active; the provisional entities; and the entities of
    current decisions. `get`, `get_many`, `resolve` and `search` include provisional entities; `info`, `iterate` and the
    comparison of versions cover only the imported knowledge base. Without an active version nothing is found."""

    def begin(self, *, name: str) -> int:
        """Open a new, still invisible version of the knowledge base."""
        ...

    def add(self, version: int, entities: Sequence[Entity]) -> None:
        """Bulk load; names, synonyms and definitions become searchable. Raises UserError that names a duplicate id;
        then some entities may be in the version, which stays invisible."""
        ...

    def loaded(self, version: int, entity_ids: Sequence[str]) -> set[str]:
        """The ids among these that a version being loaded already has."""
        ...

    def describe(self, version: int, sources: Sequence[KnowledgeSource]) -> None:
        """Record the sources of a version being loaded, in the order of loading."""
        ...

    def add_obsolete(self, version: int, source: str, entities: Sequence[ObsoleteEntity]) -> None:
        """Store obsolete entities of a source of a version being loaded. If two sources have the same id, the first
        record is kept."""
        ...

    def obsolete(self, entity_ids: Iterable[str]) -> dict[str, ObsoleteEntity]:
        """The obsolete entities of the active version among these ids, keyed by the given id, ignoring case."""
        ...

    def obsolete_of(self, source: str) -> list[ObsoleteEntity]:
        """The obsolete entities of a source of the active version, by id."""
        ...

    def sources(self) -> tuple[KnowledgeSource, ...]:
        """The sources of the active version; empty without one."""
        ...

    def part(self, start: int, count: int) -> list[Entity]:
        """`count` entities of the active version after the first `start`, in the order of loading."""
        ...

    def compare(self, version: int) -> KbChanges:
        """The differences of a loaded version from the active one. It takes some seconds for millions of entities."""
        ...

    def activate(self, version: int) -> KnowledgeBaseInfo:
        """Compute the content hash, make the version the active one and remove the others."""
        ...

    def remove_version(self, version: int) -> None:
        """Remove a version that never became active."""
        ...

    def remove_incomplete(self) -> int:
        """Remove all versions that never became active, if nobody is loading one; returns their number. Restores the
        search index of the active version if it is missing."""
        ...

    def info(self) -> KnowledgeBaseInfo | None:
        """The facts of the active version; None if there is none."""
        ...

    def get(self, entity_id: str) -> Entity | None:
        """The entity that an id means, as in `resolve`."""
        ...

    def former(self, entity_id: str) -> Entity | None:
        """The former entity of a removed or obsolete id, for the names of old decisions."""
        ...

    def get_many(self, entity_ids: Sequence[str]) -> dict[str, Entity]:
        """The entities with these primary ids."""
        ...

    def resolve(self, ids: Iterable[str]) -> dict[str, str]:
        """The primary ids of the resolvable ids among these, in any spelling of `look_up_key`, with or without
        prefix."""
        ...

    def ambiguous(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """For ids that do not resolve because they match several entities equally well, the primary ids of these."""
        ...

    def matching(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The primary ids of all entities that each id may mean, in the order in which `resolve` prefers them."""
        ...

    def search(
        self,
        query: str,
        *,
        types: Sequence[str] = (),
        preferred: Sequence[str] = (),
        likely: Collection[str] = (),
        branches: Collection[str] = (),
        limit: int = 50,
    ) -> Matches:
        """Matches of a `domain.search_query`, ranked: exact id, exact name, exact synonym, beginning, all words,
        definition, nearly the same spelling. Entities of `preferred` types come first; with `types`, only these.
        Entities linked before rank higher, and `likely` ones (primary ids) rank as if linked often. With `branches`,
        only these, their descendants, and provisional entities; `left_out` in the result counts other matches among
        those read."""
        ...

    def linked_last(self, limit: int) -> list[str]:
        """Ids of the entities that people linked to last, newest first, each once."""
        ...

    def iterate(self) -> Iterator[Entity]:
        """Entities of the active version in the order of loading; ends with the unit of work."""
        ...

    def held(self, entity_ids: Collection[str]) -> set[str]:
        """The primary ids among these that the active version has."""
        ...

    def successors(self, entity_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities of the active version that have these as alternate ids."""
        ...

    def named(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities of the active version with exactly this name or synonym, names first; case and
        white space do not matter."""
        ...

    def same_named(self, name: str) -> list[str]:
        """Primary ids of the entities of the active version with a name or synonym of the same normalised form
        (`string_key`), names first; possessives, dashes, plurals, accents and British spelling do not matter either."""
        ...

    # --- broader and narrower entities of the active version ---

    def has_hierarchy(self) -> bool:
        """Whether there is an index of the hierarchy; False for a version loaded by an earlier program, until
        `build_hierarchy`. Without it the following methods find nothing."""
        ...

    def build_hierarchy(self) -> None:
        """Build the index of the hierarchy if it is missing; some seconds for millions of entities."""
        ...

    def narrower(self, entity_id: str | None, *, start: int = 0, count: int) -> TreePage:
        """Entities directly below one, or, for None, the topmost ones that have children, in the order of their names:
        `count` after the first `start`."""
        ...

    def broader(self, entity_id: str) -> list[TreeNode]:
        """Entities directly above one, in the order of their names; unknown parents are left out."""
        ...

    def tree_node(self, entity_id: str) -> TreeNode | None:
        """An entity of the active version by its primary id."""
        ...

    def parents(self, entity_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities directly above these; those without parents are absent."""
        ...

    def way_down(self, entity_id: str) -> list[str]:
        """Ids from a topmost entity down to this one by the shortest path; only its own id if it has no parents, none
        if it is unknown."""
        ...

    def below(self, branches: Collection[str], entity_ids: Collection[str]) -> set[str]:
        """The entities among these that are in `branches` or below one of them."""
        ...

    # --- provisional entities ---

    def next_provisional_id(self) -> str:
        """An id that no provisional entity has or ever had, and no entity of the active knowledge base."""
        ...

    def save_provisional(self, entity: ProvisionalEntity) -> None:
        """Store the entity, replacing the one with its id. Entities are never removed, so that no id is used twice."""
        ...

    def provisional(self, entity_id: str) -> ProvisionalEntity:
        """The entity, even if deleted or replaced. Raises UserError for an unknown id."""
        ...

    def all_provisional(self, *, retired: bool = False) -> list[ProvisionalEntity]:
        """All provisional entities by id; deleted and replaced ones only with `retired`."""
        ...

    def provisional_only(self) -> frozenset[str]:
        """Ids of the provisional entities, including deleted ones, that are not in the active knowledge base: no
        training may use them as entities."""
        ...

    # --- entities in decisions ---

    def links(self) -> dict[tuple[str, ...], int]:
        """Number of linked mentions by entity, without deleted mentions and hidden documents, as in the following
        methods."""
        ...

    def linked_to(self, entity_ids: Collection[str]) -> list[int]:
        """Mentions whose link names one of these entities, in queue and text order."""
        ...

    def nils(self, *, decided: bool) -> list[NilMention]:
        """Mentions decided NIL, or else undecided ones whose suggestion says NIL, in queue and text order."""
        ...

    def divided(self, *, in_document: bool = False) -> list[DecidedPlace]:
        """The current links and NILs of each string and type that has several different ones, by string and type, then
        in queue and text order. Links with the same entities in another order may count as different. `in_document`:
        only those of documents with several for one string."""
        ...

    def decided_places(self, mention_ids: Sequence[int]) -> list[DecidedPlace]:
        """The decided mentions in the given order, without deleted ones and ones without a link or NIL."""
        ...

    def decided_alike(self, mention_id: int) -> list[DecidedPlace]:
        """The links and NILs of all mentions with its string and type, including itself, in queue and text order.
        Raises UserError for an unknown mention."""
        ...

    def other_decisions(self, mention_id: int) -> list[OtherDecision]:
        """The decisions (links or NIL) of the other mentions with its string and type. Raises UserError for an unknown
        mention."""
        ...

    def retire(self, entities: Sequence[Entity]) -> None:
        """Store the records of entities that the next version lacks."""
        ...

    def retired(self, entity_ids: Iterable[str]) -> dict[str, Entity]:
        """The stored records of removed entities; others are absent."""
        ...
