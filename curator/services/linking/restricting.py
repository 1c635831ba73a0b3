"""Suggestions restricted to branches of the knowledge base: candidates outside of them are left out before storing.

The linker ranks as usual; its process does not know the project's branches. The stored suggestions determine the list
of candidates, the queue's order and bulk acceptance. Probabilities do not change, so a candidate that was second does
not become more certain. Provisional entities are in no branch and stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from curator.domain.entities import is_new
from curator.domain.suggestions import Suggestion
from curator.services.core.keys import branches_for, branches_of
from curator.services.ports.storage import UnitOfWork


def within_branches(unit: UnitOfWork, suggestions: Sequence[Suggestion], types: Mapping[int, str]) -> list[Suggestion]:
    """The suggestions without candidates outside of their mentions' branches; `types` are the mention types by id."""
    if not any(branches_of(unit.meta).of.values()):
        return list(suggestions)
    branches = {one: branches_for(unit, one) for one in set(types.values())}
    return [_within(unit, one, branches.get(types.get(one.mention_id, ""), ())) for one in suggestions]


def _within(unit: UnitOfWork, suggestion: Suggestion, branches: Sequence[str]) -> Suggestion:
    if not branches:
        return suggestion
    inside = unit.kb.below(branches, [one.entity_id for one in suggestion.candidates])
    kept = tuple(one for one in suggestion.candidates if one.entity_id in inside or is_new(one.entity_id))
    return suggestion if len(kept) == len(suggestion.candidates) else replace(suggestion, candidates=kept)
