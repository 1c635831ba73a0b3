"""The keys with which a curator who knows the answer decides a mention, given what the window shows.

Accepting is Enter, which takes a second press where the suggestion is doubtful, another candidate its digit, NIL 0 (its
usual reason), also where NIL is suggested and Enter would take two presses. An entity that has no digit is searched
for: the mention's own text by Space, a few ↓ if it is among the first rows; else the beginning of its name is typed,
letter by letter, until it is first. A link of several entities is made of Shift with the digits, or + and a search for
each, and Tab continues.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from curator.domain.decisions import Outcome, Verdict
from curator.domain.entities import Entity
from curator.domain.suggestions import Suggestion
from curator.settings.schema import default

DIGITS = 9
FEW_ROWS = 4
"""So many ↓ are pressed rather than typing on."""
Search = Callable[[str, Collection[str]], Sequence[str]]
"""Entity ids, as the window's search for this mention gives them once it is linked to some already; '' comes first
where none is selected, so that the place is the number of ↓."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`keys` as the window's shortcuts are written, single letters where text is typed."""

    keys: tuple[str, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Case:
    """What is available for one mention; `shown` are the candidates that have a place in the window, in their order."""

    text: str
    gold: Verdict
    suggestion: Suggestion | None
    search: Search
    entity: Callable[[str], Entity | None]
    last: bool = False
    """Whether nothing else is undecided in the document, so that there is no next mention."""

    @property
    def shown(self) -> list[str]:
        found = self.suggestion.candidates if self.suggestion is not None else ()
        return [one.entity_id for one in found[:DIGITS]]

    @property
    def nil_suggested(self) -> bool:
        return self.suggestion is not None and self.suggestion.nil.is_nil

    @property
    def accepting(self) -> tuple[str, ...]:
        doubtful = self.suggestion is not None and self.suggestion.doubt(default("enter_least") / 100)
        return ("Enter", "Enter") if doubtful else ("Enter",)


def plan(case: Case) -> Plan:
    """The fewest keys of those ways that need no thought. Raises ValueError for an entity that no search finds."""
    if case.gold.outcome is Outcome.NIL:
        return Plan(("0",), "NIL")
    if len(case.gold.entity_ids) > 1:
        return _several(case)
    wanted = case.gold.entity_ids[0]
    if wanted in case.shown:
        rank = case.shown.index(wanted) + 1
        if rank == 1 and not case.nil_suggested:
            return Plan(case.accepting, "first accepted")
        return Plan((str(rank),), "candidate by its digit")
    return Plan(_searched(case, wanted, opened_by=("Space", " ".join(case.text.split()))), "searched")


def _several(case: Case) -> Plan:
    keys: tuple[str, ...] = ()
    for place, wanted in enumerate(case.gold.entity_ids):
        if wanted in case.shown:
            keys += (f"Shift+{case.shown.index(wanted) + 1}",)
        else:
            keys += _searched(case, wanted, opened_by=("+", ""), also=case.gold.entity_ids[:place])
    return Plan(keys if case.last else (*keys, "Tab"), "several entities")


def _searched(case: Case, wanted: str, *, opened_by: tuple[str, str], also: Sequence[str] = ()) -> tuple[str, ...]:
    """The key that opens the search, what is typed, how far down, Enter."""
    (key, query), place = opened_by, partial(_place, case, also, wanted)
    if query and (down := place(query)) is not None and down <= FEW_ROWS:
        return (key, *["Down"] * down, "Enter")
    entity = case.entity(wanted)
    names = (entity.name, wanted) if entity is not None else (wanted,)
    typed = [found for name in names if (found := _typed(place, name)) is not None]
    if not typed:
        raise ValueError(f"No search finds {wanted}.")
    return (key, *min(typed, key=len), "Enter")


def _typed(place: Callable[[str], int | None], name: str) -> tuple[str, ...] | None:
    """Letters until the entity is first; after the last, ↓ to its row."""
    for length in range(2, len(name) + 1):
        if place(name[:length]) == 0:
            return tuple(name[:length])
    down = place(name)
    return (*name, *["Down"] * down) if down is not None else None


def _place(case: Case, also: Sequence[str], wanted: str, query: str) -> int | None:
    found = list(case.search(query, also))
    return found.index(wanted) if wanted in found else None
