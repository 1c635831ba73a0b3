"""Orders undecided mentions by the usefulness of deciding them, with plain arithmetic on stored data; nothing is
trained here.

p is the probability of the first suggestion, an entity or NIL.

*Uncertain*: the smallest p first. It may repeat the same string many times.

*Diverse*: the gain of a decision per second of work. Deciding a mention corrects it if its first suggestion is wrong
(probability 1 - p), and then the linker's memory knows the string for all its other undecided mentions, so

    gain    = (1 - p) x n,    n: undecided mentions of this string and type in what is ordered
    seconds = p x ACCEPT + (1 - p) x OTHER
    score   = gain / seconds x STRING_LEFT^(times the string was decided or chosen already)
                             x ENTITY_LEFT^(times its first suggestion was chosen already)

A cluster is the mentions of one string and type, and those with the same first suggestion; no two neighbours of the
order come from one cluster while another is left. The choice is greedy: always the currently highest score.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from curator.services.core.context import Service
from curator.services.ports.queue import QueueFilter, WorkRow

POOL = 20_000
"""The number of least certain mentions that are ordered; the others wait until these are decided."""
LENGTH = 1_000
"""The length of a list of work, after which it is built again."""
STRING_LEFT, ENTITY_LEFT = 0.2, 0.7
"""The share of the gain left after the string was decided, and after another string with the same suggestion was."""


class QueueOrder(StrEnum):
    """The orders, in the sequence in which one key switches between them; of the last two the more useful one comes
    first."""

    DOCUMENT = "document"  # as imported, in the order of the text
    DIVERSE = "diverse"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Seconds:
    """The seconds of a decision that accepts the first suggestion, and of others. The defaults, for a glance and for a
    search, are used until enough is measured; see `measured`."""

    accept: float = 3.0
    other: float = 12.0

    def expected(self, probability: float) -> float:
        return probability * self.accept + (1 - probability) * self.other


ENOUGH = 20
"""The number of measured decisions of a kind that are needed to use their median."""


def measured(accepted: Sequence[float], others: Sequence[float]) -> Seconds:
    """The medians of the seconds of decisions that accepted the first suggestion, and of others."""
    default = Seconds()
    return Seconds(_median(accepted, default.accept), _median(others, default.other))


def _median(values: Sequence[float], default: float) -> float:
    if len(values) < ENOUGH:
        return default
    ordered = sorted(values)
    return max(ordered[len(ordered) // 2], 0.1)


def string_of(row: WorkRow) -> tuple[str, str]:
    """The cluster by string: case and spaces do not matter, the type does."""
    return " ".join(row.text.casefold().split()), row.type


def uncertain(rows: Iterable[WorkRow]) -> list[WorkRow]:
    """Least certain first; ties by the smaller margin, then in the given order."""
    return sorted(rows, key=lambda row: (row.probability or 0.0, row.margin or 0.0))


def diverse(
    rows: Sequence[WorkRow],
    *,
    seconds: Seconds | None = None,
    decided: Mapping[tuple[str, str], int] | None = None,
    length: int = LENGTH,
) -> list[WorkRow]:
    """The first `length` of the order by expected gain; `decided` counts decisions by string so far."""
    chooser = _Chooser(rows, seconds or Seconds(), decided or {})
    return chooser.choose(min(length, len(rows)))


class _Chooser:
    """A heap of scores, which may be too high after earlier choices from their clusters; a score is updated when it
    reaches the top."""

    def __init__(self, rows: Sequence[WorkRow], seconds: Seconds, decided: Mapping[tuple[str, str], int]) -> None:
        self._rows = rows
        self._strings = [string_of(row) for row in rows]
        self._seconds = seconds
        self._number = Counter(self._strings)
        self._taken_strings = Counter({one: decided[one] for one in self._number if one in decided})
        self._taken_entities: Counter[str] = Counter()
        self._heap = [(-self._score(at), at) for at in range(len(rows))]
        heapq.heapify(self._heap)
        self._last: WorkRow | None = None
        self._alone = False  # every row that is left shares one suggestion or string

    def choose(self, length: int) -> list[WorkRow]:
        chosen: list[WorkRow] = []
        while len(chosen) < length:
            at = self._next()
            row = self._rows[at]
            self._taken_strings[self._strings[at]] += 1
            if _an_entity(row):
                self._taken_entities[row.first] += 1
            self._last = row
            chosen.append(row)
        return chosen

    def _next(self) -> int:
        """The best of another cluster than the last one; the best of all if there is none."""
        passed: list[tuple[float, int]] = []
        found = None
        while self._heap and found is None:
            score, at = heapq.heappop(self._heap)
            now = -self._score(at)
            if now > score + 1e-12:
                heapq.heappush(self._heap, (now, at))
            elif self._neighbours(at):
                passed.append((now, at))
            else:
                found = at
        if found is None:
            self._alone = self._of_one_cluster([at for _, at in passed])
            found = passed.pop(0)[1]
        for one in passed:
            heapq.heappush(self._heap, one)
        return found

    def _neighbours(self, at: int) -> bool:
        last, row = self._last, self._rows[at]
        if last is None or self._alone:
            return False
        return self._strings[at] == string_of(last) or (_an_entity(row) and row.first == last.first)

    def _of_one_cluster(self, left: Sequence[int]) -> bool:
        """Whether all remaining rows are of one cluster, so that later choices need not search for another."""
        entities = {self._rows[at].first if _an_entity(self._rows[at]) else "" for at in left}
        return len({self._strings[at] for at in left}) == 1 or (len(entities) == 1 and "" not in entities)

    def _score(self, at: int) -> float:
        row, string = self._rows[at], self._strings[at]
        probability = row.probability or 0.0
        gain = (1 - probability) * self._number[string] / self._seconds.expected(probability)
        left: float = STRING_LEFT ** self._taken_strings[string] * ENTITY_LEFT ** self._taken_entities[row.first]
        return gain * left


def _an_entity(row: WorkRow) -> bool:
    """Whether the suggestion is an entity; mentions with a NIL suggestion or none have nothing in common."""
    return bool(row.first) and not row.is_nil


class OrderingService(Service):
    """Lists of work: undecided mentions of the filtered queue in one of the orders."""

    def work(self, where: QueueFilter, order: QueueOrder, *, length: int = LENGTH) -> list[WorkRow]:
        """At most `length` mentions; empty for the order of documents, which needs no list."""
        if order is QueueOrder.DOCUMENT:
            return []
        with self._store.read() as unit:
            if order is QueueOrder.UNCERTAIN:
                return unit.queue.undecided(where, limit=length)
            rows = unit.queue.undecided(where, limit=POOL)
            decided = unit.queue.decided_strings()
            seconds = measured(*unit.queue.decision_seconds())
        return diverse(rows, seconds=seconds, decided=_folded(decided), length=length)


def _folded(counts: Mapping[tuple[str, str], int]) -> Counter[tuple[str, str]]:
    """The counts with spellings of one string merged."""
    found: Counter[tuple[str, str]] = Counter()
    for (text, kind), number in counts.items():
        found[" ".join(text.casefold().split()), kind] += number
    return found


# Going through a list of work: the previous and next mention.


class WorkOrder:
    """A list of work; falsy if it is empty. For a mention that is not in it, the last position counts."""

    def __init__(self, rows: Sequence[WorkRow]) -> None:
        self.rows = tuple(rows)
        self._place = {row.mention_id: at for at, row in enumerate(self.rows)}
        self._last = -1

    def __bool__(self) -> bool:
        return bool(self.rows)

    def along(self, mention_id: int | None, direction: int) -> Sequence[WorkRow]:
        """Everything after or before the mention, nearest first."""
        at = self._at(mention_id)
        return self.rows[at + 1 :] if direction > 0 else self.rows[: max(at, 0)][::-1]

    def _at(self, mention_id: int | None) -> int:
        if mention_id in self._place:
            self._last = self._place[mention_id]
        return self._last
