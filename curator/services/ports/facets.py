"""Port of the queue over mentions: counts by facet, which mentions match, and what orders them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from curator.domain.facets import FacetCube
from curator.services.ports.queue_filter import QueueFilter


@dataclass(frozen=True, slots=True)
class WorkRow:
    """An undecided mention as far as an order needs it: `first` is what its suggestion says first, NIL where `is_nil`
    and '' without a candidate, and `probability` how sure that is; for NIL that is what the first candidate leaves.
    Without a suggestion or a candidate `probability` and `margin` are None."""

    mention_id: int
    document_id: int
    text: str
    type: str
    first: str
    probability: float | None
    margin: float | None
    is_nil: bool


class FacetRepository(Protocol):
    """All of it without deleted mentions and without documents that are still being imported."""

    def cube(self, where: QueueFilter, document_id: int | None = None) -> FacetCube:
        """Numbers by all facets, of one document where given; `where.facets` is not applied, the rest is."""
        ...

    def documents(self, where: QueueFilter, among: Sequence[int] | None = None) -> dict[int, int]:
        """Document id -> number of its matching mentions, in queue order; of `among` only where given."""
        ...

    def mentions(self, where: QueueFilter, document_id: int | None = None) -> list[int]:
        """Ids of matching mentions in queue and text order, of one document where it is given."""
        ...

    def matches(self, mention_id: int, where: QueueFilter) -> bool: ...

    def decided_strings(self) -> dict[tuple[str, str], int]:
        """(text, type) -> number of current link and NIL decisions."""
        ...

    def decision_seconds(self, *, last: int = 500) -> tuple[list[float], list[float]]:
        """Seconds that the last single decisions took: those that linked to the first candidate shown, and others."""
        ...

    def undecided(self, where: QueueFilter, *, limit: int) -> list[WorkRow]:
        """The matching undecided mentions with the least sure suggestions first (without candidates is least), those
        that the linker has not reached last, at most `limit`."""
        ...
