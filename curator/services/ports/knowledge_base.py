"""The stored knowledge base: its versions, its entities, and search."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from curator.domain.entities import Entity, EntityMatch, KnowledgeBaseInfo
from curator.domain.kb_sources import KbChanges, KnowledgeSource


class KnowledgeBaseRepository(Protocol):
    """Look-up, search and `resolve` answer with provisional entities too; `info`, `iterate` and what compares versions
    is about the imported knowledge base alone."""

    def begin(self, *, name: str) -> int:
        """Open a new, still invisible version of the knowledge base."""
        ...

    def add(self, version: int, entities: Sequence[Entity]) -> None:
        """Bulk load; names, synonyms and definitions become searchable."""
        ...

    def loaded(self, version: int, entity_ids: Sequence[str]) -> set[str]:
        """Those of the ids that a version being loaded has already."""
        ...

    def describe(self, version: int, sources: Sequence[KnowledgeSource]) -> None:
        """Say what a version being loaded was put together from, in the order of loading."""
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

    def remove_incomplete(self) -> int: ...

    def info(self) -> KnowledgeBaseInfo | None: ...

    def get(self, entity_id: str) -> Entity | None:
        """By primary id, then by alternate id."""
        ...

    def former(self, entity_id: str) -> Entity | None:
        """What was known under an id that nothing has any more: for the names of old decisions."""
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
        limit: int = 50,
    ) -> list[EntityMatch]:
        """What `domain.search_query` understands, ranked: exact id, exact name, exact synonym, beginning, all words,
        definition, nearly the same spelling. Entities of `preferred` types first, of no others than `types` where
        these are given; those linked to before stand higher, and `likely` ones (primary ids) as if they had been
        linked to often."""
        ...

    def linked_last(self, limit: int) -> list[str]:
        """Ids of the entities that people linked to last, newest first, each once."""
        ...

    def iterate(self) -> Iterator[Entity]: ...

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
