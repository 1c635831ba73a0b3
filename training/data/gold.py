"""Decisions resolved against a knowledge base: which are linked, which are NIL, and which ids were mapped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from models.types import MentionInput
from training.data.snapshot import Gold, SnapshotDocument, SnapshotMention

_SEPARATORS = re.compile(r"[|+,;\s]+")
NIL_MARKERS = frozenset({"", "-", "-1"})
Resolve = Callable[[str], str | None]
"""Maps an id, primary or alternate, to the primary id; None if it is not in the knowledge base."""


@dataclass(frozen=True, slots=True)
class GoldMention:
    """One decided mention. `ids` are primary and distinct; none means NIL.

    `composite`: the decision names several entities. `surface` is folded (see `fold`), `raw` as written.
    """

    key: str
    document: str
    surface: str
    types: tuple[str, ...]
    ids: tuple[str, ...]
    composite: bool = False
    raw: str = ""

    @property
    def nil(self) -> bool:
        return not self.ids


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Decided mentions in document order. `alternate_ids` counts ids that were alternates (including obsolete ids) of a
    primary id, `unknown_ids` those that are not in the knowledge base. For imported decisions both count the ids stated
    in the file, since the import has already mapped them."""

    mentions: tuple[GoldMention, ...]
    alternate_ids: int = 0
    unknown_ids: int = 0

    @property
    def linked(self) -> tuple[GoldMention, ...]:
        return tuple(mention for mention in self.mentions if not mention.nil)

    @property
    def surfaces(self) -> dict[str, frozenset[str]]:
        """The folded surfaces, each with the keys of the documents in which it was decided."""
        found: dict[str, set[str]] = {}
        for mention in self.mentions:
            found.setdefault(mention.surface, set()).add(mention.document)
        return {surface: frozenset(documents) for surface, documents in found.items()}


def fold(surface: str) -> str:
    """The surface form used to decide whether a string was "seen": case and spacing do not matter."""
    return " ".join(surface.casefold().split())


def resolve_gold(documents: Iterable[SnapshotDocument], resolve: Resolve) -> GoldSet:
    """All decided mentions of `documents`. A mention is NIL only if none of its ids resolves."""
    mentions: list[GoldMention] = []
    alternate = unknown = 0
    for document in documents:
        for mention in document.mentions:
            if mention.gold is None:
                continue
            found = [(given, resolve(given)) for given in mention.gold.ids]
            alternate += sum(primary is not None and primary != given for given, primary in found)
            unknown += sum(primary is None for _, primary in found)
            mapped, left = _stated(mention)
            alternate, unknown = alternate + mapped, unknown + left
            ids = tuple(dict.fromkeys(primary for _, primary in found if primary is not None))
            mentions.append(_gold_mention(document, mention, mention.gold, ids))
    return GoldSet(tuple(mentions), alternate_ids=alternate, unknown_ids=unknown)


def _stated(mention: SnapshotMention) -> tuple[int, int]:
    """For an imported decision: its ids that differ from those stated in the file, and stated ids that were dropped."""
    stated = [part for part in _SEPARATORS.split(mention.stated) if part not in NIL_MARKERS]
    if mention.gold is None or not stated:
        return 0, 0
    plain = set(stated)
    mapped = sum(plain.isdisjoint((given, given.partition(":")[2])) for given in mention.gold.ids)
    return mapped, max(0, len(plain) - len(mention.gold.ids))


def _gold_mention(
    document: SnapshotDocument, mention: SnapshotMention, gold: Gold, ids: tuple[str, ...]
) -> GoldMention:
    surface = MentionInput(mention.key, mention.spans).surface(document.text)
    folded, several = fold(surface), len(gold.ids) > 1
    return GoldMention(mention.key, document.key, folded, mention.types, ids, composite=several, raw=surface)
