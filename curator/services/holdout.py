"""The suggestion-free hold-out: a few mentions are decided without seeing suggestions.

They measure two things that nothing else does: how often the first suggestion is right when nobody was led by it, and
how much more often curators agree with suggestions that they saw, which is how far these sway them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from curator.domain.decisions import Decision, Outcome
from curator.domain.suggestions import Suggestion
from curator.services.ports import Store

REASON = "Decide this one without suggestions: it measures how far suggestions sway."
_STEPS = 2**32


def held_out(project_id: str, mention_id: int, percent: int) -> bool:
    """Whether a mention belongs to the hold-out of `percent` of a project's mentions (0 none, 100 all).

    By a hash, so that it is the same on every computer and at every opening; a larger share holds every smaller one.
    """
    if percent <= 0:
        return False
    digest = hashlib.blake2b(f"{project_id}/{mention_id}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") * 100 < percent * _STEPS


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of `decided` people's link and NIL decisions, in how many the first suggestion was what they decided."""

    decided: int
    agreed: int

    @property
    def share(self) -> float | None:
        return self.agreed / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class HoldoutReport:
    """`without`: decided without seeing suggestions: their unbiased accuracy. `seen`: all others that were decided with
    suggestions on show. Both are compared with the suggestion that is stored, which an undecided mention's was when it
    was decided."""

    without: Agreement
    seen: Agreement

    @property
    def sway(self) -> float | None:
        """How much more often people decide as suggested when they see it; None where either side is empty."""
        if self.without.share is None or self.seen.share is None:
            return None
        return self.seen.share - self.without.share


class HoldoutService:
    """Which mentions are held out, and what that tells. `percent` gives the setting of the moment."""

    def __init__(self, store: Store, *, percent: Callable[[], int]) -> None:
        self._store = store
        self._percent = percent
        with store.read() as unit:
            self._project_id = unit.meta.get("project.id") or ""

    def among(self, mention_ids: Sequence[int]) -> set[int]:
        """Those of the mentions that are held out, and so are not to be decided many at once by suggestions."""
        percent = self._percent()
        return {one for one in mention_ids if held_out(self._project_id, one, percent)}

    def report(self) -> HoldoutReport:
        """Over all current link and NIL decisions of people; imported gold was not decided here."""
        without: list[bool] = []
        seen: list[bool] = []
        with self._store.read() as unit:
            for document_id in unit.documents.ids(answered=True):
                suggestions = unit.suggestions.of_document(document_id)
                current = unit.decisions.current_of_document(document_id)
                held = self.among(list(current))
                for mention_id, decision in current.items():
                    stored = suggestions.get(mention_id)
                    if stored is None or not _counts(decision):
                        continue
                    if decision.shown is not None and decision.shown.bundle_id:
                        seen.append(_says(stored, decision))
                    elif mention_id in held:
                        without.append(_says(stored, decision))
        return HoldoutReport(Agreement(len(without), sum(without)), Agreement(len(seen), sum(seen)))


def _counts(decision: Decision) -> bool:
    return not decision.is_imported and decision.verdict.outcome in (Outcome.LINK, Outcome.NIL)


def _says(suggestion: Suggestion, decision: Decision) -> bool:
    if suggestion.nil.is_nil:
        return decision.verdict.outcome is Outcome.NIL
    return bool(suggestion.candidates) and suggestion.candidates[0].entity_id in decision.verdict.entity_ids
