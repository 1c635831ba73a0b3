"""Port of the knowledge base: its versions, entities and search, the entities that curators made, and what is linked
to whom."""

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
    """A mention that is decided NIL, or undecided with a suggestion that says so. `key` is its
    `domain.same_string.string_key`, `expanded` the long form where it is an abbreviation ('' when not)."""

    mention_id: int
    document_id: int
    text: str
    type: str
    key: str
    expanded: str = ""


class KnowledgeBaseRepository(Protocol):
    """The imported knowledge base by versions, one of which is active; the provisional entities that curators made; and
    the entities of current decisions. `get`, `get_many`, `resolve` and `search` answer with provisional entities too;
    `info`, `iterate` and what compares versions are about the imported knowledge base alone. Without an active version
    nothing is found."""

    def begin(self, *, name: str) -> int:
        """Open a new, still invisible version of the knowledge base."""
        ...

    def add(self, version: int, entities: Sequence[Entity]) -> None:
        """Bulk load; names, synonyms and definitions become searchable. Raises UserError naming an id that the version
        has already or that comes twice; some of the entities may be in the version then, which stays invisible."""
        ...

    def loaded(self, version: int, entity_ids: Sequence[str]) -> set[str]:
        """Those of the ids that a version being loaded has already."""
        ...

    def describe(self, version: int, sources: Sequence[KnowledgeSource]) -> None:
        """Say what a version being loaded was put together from, in the order of loading."""
        ...

    def add_obsolete(self, version: int, source: str, entities: Sequence[ObsoleteEntity]) -> None:
        """Keep what a source of a version being loaded calls obsolete. Of an id that two sources name so, the first
        one's record is kept."""
        ...

    def obsolete(self, entity_ids: Iterable[str]) -> dict[str, ObsoleteEntity]:
        """Those of the ids that the active version calls obsolete, keyed as they were given; case does not matter."""
        ...

    def obsolete_of(self, source: str) -> list[ObsoleteEntity]:
        """What a source of the active version calls obsolete, by id."""
        ...

    def sources(self) -> tuple[KnowledgeSource, ...]:
        """What the active version was put together from; without an active version nothing."""
        ...

    def part(self, start: int, count: int) -> list[Entity]:
        """`count` entities of the active version after the first `start`, in the order of loading."""
        ...

    def compare(self, version: int) -> KbChanges:
        """How a version that is loaded differs from the active one. It takes some seconds for millions of entities."""
        ...

    def activate(self, version: int) -> KnowledgeBaseInfo:
        """Compute the content hash, make the version the active one and remove the others."""
        ...

    def remove_incomplete(self) -> int:
        """Remove the versions that never became active; returns their number. Restores the search index of the active
        one where it is missing."""
        ...

    def info(self) -> KnowledgeBaseInfo | None:
        """Of the active version; None where there is none."""
        ...

    def get(self, entity_id: str) -> Entity | None:
        """By primary id, then by alternate id."""
        ...

    def former(self, entity_id: str) -> Entity | None:
        """What was known under an id that nothing has any more, or that is obsolete: for the names of old
        decisions."""
        ...

    def get_many(self, entity_ids: Sequence[str]) -> dict[str, Entity]:
        """By primary id only."""
        ...

    def resolve(self, ids: Iterable[str]) -> dict[str, str]:
        """Given ids as a corpus writes them (bare or prefixed), the primary ids of those that resolve."""
        ...

    def ambiguous(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Of ids that do not resolve since they are bare and fit several entities, the primary ids of these."""
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
        """What `domain.search_query` understands, ranked: exact id, exact name, exact synonym, beginning, all words,
        definition, nearly the same spelling. Entities of `preferred` types first, of no others than `types` where
        these are given; those linked to before stand higher, and `likely` ones (primary ids) as if they had been
        linked to often. With `branches` only these, what is below them, and provisional entities; `left_out` of the
        answer says how many others matched, among those read."""
        ...

    def linked_last(self, limit: int) -> list[str]:
        """Ids of the entities that people linked to last, newest first, each once."""
        ...

    def iterate(self) -> Iterator[Entity]:
        """Entities of the active version in the order of loading; ends with the unit of work."""
        ...

    def held(self, entity_ids: Collection[str]) -> set[str]:
        """Those of the primary ids that the active version has."""
        ...

    def successors(self, entity_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities of the active version that have these as alternate ids."""
        ...

    def named(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities of the active version with exactly this name or synonym, names first; case and
        white space do not matter."""
        ...

    # --- broader and narrower entities of the active version ---

    def has_hierarchy(self) -> bool:
        """Whether what follows can be answered; False for a version that an earlier program loaded, until
        `build_hierarchy`. Without it nothing is broader or narrower."""
        ...

    def build_hierarchy(self) -> None:
        """Make the index of the hierarchy where it is missing; some seconds for millions of entities."""
        ...

    def narrower(self, entity_id: str | None, *, start: int = 0, count: int) -> TreePage:
        """Entities directly below one, or for None the topmost of those that are above others, in the order of their
        names: `count` after the first `start`."""
        ...

    def broader(self, entity_id: str) -> list[TreeNode]:
        """Entities directly above one, in the order of their names; a parent that the version lacks is none."""
        ...

    def tree_node(self, entity_id: str) -> TreeNode | None:
        """An entity of the active version by its primary id."""
        ...

    def parents(self, entity_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Primary ids of the entities directly above these; those with nothing above them are absent."""
        ...

    def way_down(self, entity_id: str) -> list[str]:
        """Ids from a topmost entity down to this one by the shortest way; its own alone where nothing is above it, none
        where the version lacks it."""
        ...

    def below(self, branches: Collection[str], entity_ids: Collection[str]) -> set[str]:
        """Those of the entities that are one of `branches` or anywhere below one."""
        ...

    # --- provisional entities ---

    def next_provisional_id(self) -> str:
        """An id that no provisional entity has or had, nor any entity of the active knowledge base."""
        ...

    def save_provisional(self, entity: ProvisionalEntity) -> None:
        """Store it in place of what its id held. None is ever removed, so that no id is used twice."""
        ...

    def provisional(self, entity_id: str) -> ProvisionalEntity:
        """Deleted and replaced ones too. Raises UserError where there is none of this id."""
        ...

    def all_provisional(self, *, retired: bool = False) -> list[ProvisionalEntity]:
        """In the order of their ids; those that were deleted or replaced only with `retired`."""
        ...

    def provisional_only(self) -> frozenset[str]:
        """Ids of the provisional entities that the active knowledge base does not hold, deleted ones too: what no
        training may take for an entity."""
        ...

    # --- entities in decisions ---

    def links(self) -> dict[tuple[str, ...], int]:
        """Number of mentions by the entities that they are linked to, without deleted mentions and hidden documents, as
        below."""
        ...

    def linked_to(self, entity_ids: Collection[str]) -> list[int]:
        """Mentions whose link names one of these entities, in queue and text order."""
        ...

    def nils(self, *, decided: bool) -> list[NilMention]:
        """Mentions decided NIL, or else undecided ones whose suggestion says NIL, in queue and text order."""
        ...

    def divided(self, *, in_document: bool = False) -> list[DecidedPlace]:
        """The current links and NILs of each string and type that has several different ones, by string and type, then
        in queue and text order. Lists of the same entities in another order may be told apart. `in_document`: only
        those of documents that have several of one string."""
        ...

    def decided_places(self, mention_ids: Sequence[int]) -> list[DecidedPlace]:
        """In the order given; mentions that are deleted or have neither a link nor a NIL are left out."""
        ...

    def decided_alike(self, mention_id: int) -> list[DecidedPlace]:
        """The links and NILs of all mentions of its string and type, itself too, in queue and text order. Raises
        UserError for an unknown mention."""
        ...

    def other_decisions(self, mention_id: int) -> list[OtherDecision]:
        """What the other mentions of its string and type are linked to, or NIL. Raises UserError for an unknown
        mention."""
        ...

    def retire(self, entities: Sequence[Entity]) -> None:
        """Keep what a knowledge base said of entities that the next one lacks."""
        ...

    def retired(self, entity_ids: Iterable[str]) -> dict[str, Entity]:
        """What is kept of them; others are absent."""
        ...
