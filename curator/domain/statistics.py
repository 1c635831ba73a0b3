"""What the project's decisions, documents and efforts amount to: counts by day, curator and split, from which every
figure of the dashboard follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TypeVar

from curator.domain.documents import DocumentState, Split

IMPORTED = "import"
"""Who decided what came with a file, whichever file."""


@dataclass(frozen=True, slots=True)
class StatisticsFilter:
    """'' and None choose everything; both days are included. `curator` is a name, or `IMPORTED`."""

    curator: str = ""
    split: Split | None = None
    since: date | None = None
    until: date | None = None

    def holds_day(self, day: date) -> bool:
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)

    def holds_split(self, split: str) -> bool:
        """`split` '' belongs to none, such as the effort of an undo."""
        return self.split is None or split == self.split.value

    def holds_curator(self, curator: str) -> bool:
        return self.curator in ("", curator)


@dataclass(frozen=True, slots=True)
class DocumentCell:
    """Documents of one split in one state, and their mentions by state ('' undecided)."""

    split: Split
    state: DocumentState
    documents: int
    mentions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DecidedCell:
    """Current decisions of one day (local time). `rank` is `Shown.rank_of` them; `outcome` an `Outcome`'s value."""

    day: date
    curator: str
    split: str
    outcome: str
    rank: int | None
    number: int


@dataclass(frozen=True, slots=True)
class TakenDecision:
    """One line of the project's history, undone ones included. `step` is the kind of the operation, '' for what came
    with a file; `actor` did it, `curator` is whose verdict it is. `rank` and `places` are `Shown.rank_of` and
    `Shown.places_of` it. `stands`: it is the mention's current decision."""

    id: int
    at: datetime
    actor: str
    curator: str
    step: str
    document_id: int
    document: str
    mention_id: int
    text: str
    outcome: str
    entity_ids: tuple[str, ...]
    rank: int | None
    note: str
    stands: bool
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class EffortCell:
    """What operations of one day cost. `decisions` were taken by them (0 for undoing, marking documents and the like),
    `one_key` of them by operations of one key or click at most; `many`: by operations over several mentions."""

    day: date
    curator: str
    split: str
    many: bool
    decisions: int
    one_key: int
    keys: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Everything that was counted, before any filter but visibility."""

    documents: tuple[DocumentCell, ...] = ()
    decided: tuple[DecidedCell, ...] = ()
    efforts: tuple[EffortCell, ...] = ()

    @property
    def curators(self) -> tuple[str, ...]:
        """People who decided, and `IMPORTED` last where something came with files."""
        names = {one.curator for one in self.decided} | {one.curator for one in self.efforts}
        return (*sorted(names - {IMPORTED}), *([IMPORTED] if IMPORTED in names else []))

    def of(self, where: StatisticsFilter) -> Counts:
        """What the filter holds. Documents know their split only."""
        return Counts(
            tuple(one for one in self.documents if where.holds_split(one.split.value)),
            tuple(_held(self.decided, where)),
            tuple(_held(self.efforts, where)),
        )


Cell = TypeVar("Cell", DecidedCell, EffortCell)


def _held(cells: Iterable[Cell], where: StatisticsFilter) -> Iterable[Cell]:
    return (
        one
        for one in cells
        if where.holds_curator(one.curator) and where.holds_split(one.split) and where.holds_day(one.day)
    )
