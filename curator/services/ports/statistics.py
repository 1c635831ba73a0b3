"""Port of the statistics: what `curator.storage` counts."""

from __future__ import annotations

from typing import Protocol

from curator.domain.statistics import DecidedCell, DocumentCell, EffortCell, TakenDecision


class StatisticsRepository(Protocol):
    """Grouped counts, one query each, without deleted mentions and documents that are still being imported."""

    def documents(self) -> list[DocumentCell]: ...

    def decided(self) -> list[DecidedCell]:
        """Current decisions; a decision that was undone or replaced is not among them."""
        ...

    def efforts(self) -> list[EffortCell]:
        """Of operations whose cost was measured."""
        ...

    def taken(
        self, *, limit: int, before: int | None = None, curator: str = "", words: str = "", imported: bool = False
    ) -> list[TakenDecision]:
        """The project's decisions, newest first, at most `limit` with smaller ids than `before`; of one curator, of
        mentions or documents with these words in them, and those that came with files only where they are asked for."""
        ...
