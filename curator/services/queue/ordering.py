"""In which order undecided mentions are most useful to decide. Plain arithmetic over what is stored; nothing is trained
here.

p is how sure the first suggestion is, an entity or NIL.

*Uncertain*: the smallest p first. It asks the same string again and again.

*Diverse*: what a decision gains for each second of work. Deciding a mention corrects it where its first suggestion is
wrong (chance 1 - p), and the linker's memory then knows the string for every other undecided mention of it, so

    gain    = (1 - p) x n,    n: undecided mentions of this string and type in what is ordered
    seconds = p x ACCEPT + (1 - p) x OTHER
    score   = gain / seconds x STRING_LEFT^(times the string was decided or chosen already)
                             x ENTITY_LEFT^(times its first suggestion was chosen already)

A cluster is the mentions of one string and type, and those with the same first suggestion; no two neighbours of the
order come from one cluster while another is left. The choice is greedy, from the highest score of the moment.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from curator.services.ports import QueueFilter, Store, WorkRow

POOL = 20_000
"""So many of the least sure mentions are ordered; the rest waits until they are decided."""
LENGTH = 1_000
"""How long a list of work is before it is made again."""
STRING_LEFT, ENTITY_LEFT = 0.2, 0.7
"""What of the gain is left once a string was decided, and once another string with the same suggestion was."""


class QueueOrder(StrEnum):
    """In the order in which one key goes round them: of the last two the one that taught more comes first."""

    DOCUMENT = "document"  # as imported, in the order of the text
    DIVERSE = "diverse"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class Seconds:
    """What a decision takes: where the first suggestion is accepted, and otherwise. The defaults stand for a glance
    and for a search; they are used until enough was measured, see `measured`."""

    accept: float = 3.0
    other: float = 12.0

    def expected(self, probability: float) -> float:
        return probability * self.accept + (1 - probability) * self.other


ENOUGH = 20
"""Decisions of a kind that must have been measured before their median is believed."""


def measured(accepted: Sequence[float], others: Sequence[float]) -> Seconds:
    """From the seconds of decisions that took the first suggestion and of the others: their medians."""
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
    """Least sure first; ties by the smaller margin, then as they come."""
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
    """A heap of scores that may be too high, as clusters are chosen from; a score is renewed when it comes up."""

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
        """The best that is of another cluster than the last one; the best of all where none is."""
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
        """Then no choice need look through all of them again for another cluster: there is none, nor will be."""
        entities = {self._rows[at].first if _an_entity(self._rows[at]) else "" for at in left}
        return len({self._strings[at] for at in left}) == 1 or (len(entities) == 1 and "" not in entities)

    def _score(self, at: int) -> float:
        row, string = self._rows[at], self._strings[at]
        probability = row.probability or 0.0
        gain = (1 - probability) * self._number[string] / self._seconds.expected(probability)
        left: float = STRING_LEFT ** self._taken_strings[string] * ENTITY_LEFT ** self._taken_entities[row.first]
        return gain * left


def _an_entity(row: WorkRow) -> bool:
    """Mentions that are suggested NIL, or nothing, have no more than that in common."""
    return bool(row.first) and not row.is_nil


class OrderingService:
    """Lists of work: undecided mentions of the filtered queue in one of the orders."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def work(self, where: QueueFilter, order: QueueOrder, *, length: int = LENGTH) -> list[WorkRow]:
        """At most `length` mentions; empty in the order of documents, which needs no list."""
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
    """Spellings of one string together."""
    found: Counter[tuple[str, str]] = Counter()
    for (text, kind), number in counts.items():
        found[" ".join(text.casefold().split()), kind] += number
    return found


# Going through a list of work: which mention comes before and after which.


class WorkOrder:
    """A list of work; falsy when it is empty. From a mention that is not on it one comes to where one was last."""

    def __init__(self, rows: Sequence[WorkRow]) -> None:
        self._rows = tuple(rows)
        self._place = {row.mention_id: at for at, row in enumerate(self._rows)}
        self._last = -1

    def __bool__(self) -> bool:
        return bool(self._rows)

    def beside(self, mention_id: int | None, direction: int) -> WorkRow | None:
        at = self._at(mention_id) + direction
        return self._rows[at] if 0 <= at < len(self._rows) else None

    def behind(self, mention_id: int | None) -> Iterator[WorkRow]:
        """Everything behind the mention, in order."""
        yield from self._rows[self._at(mention_id) + 1 :]

    def other_document(self, mention_id: int | None, document_id: int | None, direction: int) -> WorkRow | None:
        """The nearest of another document."""
        at = self._at(mention_id) + direction
        while 0 <= at < len(self._rows):
            if self._rows[at].document_id != document_id:
                return self._rows[at]
            at += direction
        return None

    def first(self, *, but: int | None = None) -> WorkRow | None:
        """Its head; the next one where that is the mention `but`."""
        return next((row for row in self._rows if row.mention_id != but), None)

    def _at(self, mention_id: int | None) -> int:
        if mention_id in self._place:
            self._last = self._place[mention_id]
        return self._last
