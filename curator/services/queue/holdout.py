"""The suggestion-free hold-out: a few mentions are decided without seeing suggestions.

They measure two things: how often the first suggestion is right for unbiased decisions, and how much more often
curators agree with suggestions that they saw, that is, how much suggestions influence them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

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


class HoldoutService(Service):
    """Determines which mentions are held out. `percent` returns the current setting."""

    def __init__(self, context: Context, *, percent: Callable[[], int]) -> None:
        super().__init__(context)
        self._percent = percent
        with context.store.read() as unit:
            self._project_id = unit.meta.get("project.id") or ""

    def among(self, mention_ids: Sequence[int]) -> set[int]:
        """The held-out mentions among these, which must not be decided in bulk by suggestions."""
        percent = self._percent()
        return {one for one in mention_ids if held_out(self._project_id, one, percent)}
