"""Ports of the life of NILs: provisional entities, what is linked to whom, and what the knowledge base has lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from curator.domain.entities import Entity
from curator.domain.provisional import ProvisionalEntity


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


class ProvisionalRepository(Protocol):
    """Entities that curators made; none is ever removed, so that no id is used twice."""

    def next_id(self) -> str:
        """An id that no provisional entity has or had, nor any entity of the active knowledge base."""
        ...

    def save(self, entity: ProvisionalEntity) -> None:
        """Store it in place of what its id held."""
        ...

    def get(self, entity_id: str) -> ProvisionalEntity:
        """Deleted and replaced ones too. Raises UserError where there is none of this id."""
        ...

    def all(self, *, retired: bool = False) -> list[ProvisionalEntity]:
        """In the order of their ids; those that were deleted or replaced only with `retired`."""
        ...

    def outside(self) -> frozenset[str]:
        """Ids of the provisional entities that the active knowledge base does not hold, deleted ones too: what no
        training may take for an entity."""
        ...


class OutcomeRepository(Protocol):
    """Current decisions, asked by what was decided. All of it without deleted mentions and without documents that are
    still being imported."""

    def links(self) -> dict[tuple[str, ...], int]:
        """Number of mentions by the entities that they are linked to."""
        ...

    def linked_to(self, entity_ids: Collection[str]) -> list[int]:
        """Mentions whose link names one of these entities, in queue and text order."""
        ...

    def nils(self, *, decided: bool) -> list[NilMention]:
        """Mentions decided NIL, or else undecided ones whose suggestion says NIL, in queue and text order."""
        ...

    def retire(self, entities: Sequence[Entity]) -> None:
        """Keep what a knowledge base said of entities that the next one lacks."""
        ...

    def retired(self, entity_ids: Iterable[str]) -> dict[str, Entity]:
        """What is kept of them; others are absent."""
        ...
