"""The suggestion-free hold-out: a few mentions are decided without seeing suggestions.

They measure two things: how often the first suggestion is right for unbiased decisions, and how much more often
curators agree with suggestions that they saw, that is, how much suggestions influence them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from curator.domain.decisions import KEPT_BACK_OTHER, KEPT_BACK_SAME
from curator.domain.statistics import IMPORTED, DecidedCell
from curator.services.core.context import Context, Service

REASON = (
    "Suggestions are hidden here. Decide without them, or press {key} to show them. This measures how "
    "much suggestions influence curators; Settings › Decided without suggestions sets how many mentions "
    "are affected."
)
_STEPS = 2**32


def held_out(project_id: str, mention_id: int, percent: int) -> bool:
    """Whether a mention is in the hold-out of `percent` of a project's mentions (0 none, 100 all).

    It depends on a hash, so it is the same on every computer and in every session; a larger share includes every
    smaller one.
    """
    if percent <= 0:
        return False
    digest = hashlib.blake2b(f"{project_id}/{mention_id}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") * 100 < percent * _STEPS


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `decided` link and NIL decisions of people, the number that equal the first suggestion."""

    decided: int
    agreed: int

    @property
    def share(self) -> float | None:
        return self.agreed / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class HoldoutReport:
    """Decisions for which the curator asked to see the hidden suggestion count on neither side.

    `without`: decided without seeing suggestions: the suggestions' unbiased accuracy. `seen`: all others that were
    decided with visible suggestions. Both are compared with the suggestion at the time of the decision.
    """

    without: Agreement
    seen: Agreement

    @property
    def sway(self) -> float | None:
        """How much more often people agree with a suggestion that they see; None if either side is empty."""
        if self.without.share is None or self.seen.share is None:
            return None
        return self.seen.share - self.without.share


class HoldoutService(Service):
    """Determines which mentions are held out, and reports the results. `percent` returns the current setting."""

    def __init__(self, context: Context, *, percent: Callable[[], int]) -> None:
        super().__init__(context)
        self._percent = percent
        with context.store.read() as unit:
            self._project_id = unit.meta.get("project.id") or ""

    def among(self, mention_ids: Sequence[int]) -> set[int]:
        """The held-out mentions among these, which must not be decided in bulk by suggestions."""
        percent = self._percent()
        return {one for one in mention_ids if held_out(self._project_id, one, percent)}

    def report(self) -> HoldoutReport:
        """The report on all current link and NIL decisions of people, without imported gold."""
        with self._store.read() as unit:
            return report_of(unit.records.decided())


def report_of(cells: Iterable[DecidedCell]) -> HoldoutReport:
    """The report from counts of decisions by their rank at the time of the decision: the currently stored suggestions
    were made with a memory that has the decision."""
    ranks: Counter[int] = Counter()
    for one in cells:
        if one.curator != IMPORTED and one.rank is not None:
            ranks[one.rank] += one.number
    same, other = ranks[KEPT_BACK_SAME], ranks[KEPT_BACK_OTHER]
    seen = sum(number for rank, number in ranks.items() if rank >= 0)
    return HoldoutReport(Agreement(same + other, same), Agreement(seen, ranks[1]))
