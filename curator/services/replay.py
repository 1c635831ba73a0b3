"""Takes decisions from gold, as a curator who knows the answers would."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from curator.domain.documents import Split
from curator.domain.jobs import Progress


@dataclass(frozen=True, slots=True)
class ReplayReport:
    documents: int
    decisions: int
    first_candidate: int  # how many of the links were the first candidate shown


class ReplayService:
    def replay(self, split: Split, *, limit: int) -> Generator[Progress, None, ReplayReport]:
        raise NotImplementedError
