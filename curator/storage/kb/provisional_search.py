"""Search among provisional entities, by the grammar and the tiers of the knowledge base's search.

There are some hundreds at most, so that they are simply looked through; their matches are then put among the others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import merge

from curator.domain.entities import Entity, EntityMatch
from curator.domain.search_query import SearchQuery
from curator.storage.db.rows import fold
from curator.storage.kb.kb_search import (
    DEFINITION,
    EXACT_ID,
    EXACT_NAME,
    EXACT_SYNONYM,
    PREFIX,
    WORDS,
    group_of,
)

_WORD = re.compile(r"[^\W_]+")
Tiered = tuple[int, str]  # tier, the name that matched


def matches(entities: Iterable[Entity], query: SearchQuery, *, only: Collection[str] = ()) -> list[EntityMatch]:
    """Those that answer the query, best first: by tier, then shorter names. `only`: of these types where given."""
    found = []
    for entity in entities:
        best = _best(entity, query) if _of_types(entity, query, only) else None
        if best is not None:
            found.append(EntityMatch(entity, best[1], float(best[0])))
    return sorted(found, key=lambda one: (one.rank, len(one.matched), one.entity.id))


def among(
    others: Sequence[EntityMatch], ours: Sequence[EntityMatch], *, preferred: Collection[str], limit: int
) -> list[EntityMatch]:
    """One list in the order of the search: by group, those of preferred types first, by tier."""
    if not ours:
        return list(others)
    wanted = set(preferred)

    def order(one: EntityMatch) -> tuple[int, bool, int]:
        tier = int(one.rank)
        return group_of(tier), bool(wanted) and wanted.isdisjoint(one.entity.types), tier

    return list(merge(others, sorted(ours, key=order), key=order))[:limit]


def _best(entity: Entity, query: SearchQuery) -> Tiered | None:
    if query.definition and not _has_words(fold(entity.definition), query.definition, typing=query.typing_definition):
        return None
    found = list(_tiers(entity, query))
    return min(found, key=lambda one: (one[0], len(one[1]))) if found else None


def _tiers(entity: Entity, query: SearchQuery) -> Iterator[Tiered]:
    text, phrases = fold(query.text), [fold(one) for one in query.phrases]
    if not text and not phrases:
        yield (DEFINITION if query.definition else WORDS), entity.name
        return
    key = fold(entity.id)
    if text and text in (key, key.partition(":")[2]):
        yield EXACT_ID, entity.id
    for place, name in enumerate((entity.name, *entity.synonyms)):
        folded = fold(name)
        if not all(one in folded for one in phrases):
            continue
        if folded == (text or phrases[0]):
            yield (EXACT_SYNONYM if place else EXACT_NAME), name
        elif text and folded.startswith(text):
            yield PREFIX, name
        elif _has_words(folded, query.text, typing=query.typing):
            yield WORDS, name
    if text and not phrases and not query.definition and _has_words(fold(entity.definition), query.text):
        yield DEFINITION, entity.name


def _has_words(folded: str, words: str, *, typing: bool = False) -> bool:
    """All words; the last one as a beginning while it is being typed."""
    own, asked = set(_WORD.findall(folded)), _WORD.findall(fold(words))
    if not asked:
        return True
    *whole, last = asked
    return own.issuperset(whole) and (last in own or (typing and any(one.startswith(last) for one in own)))


def _of_types(entity: Entity, query: SearchQuery, only: Collection[str]) -> bool:
    if only and set(only).isdisjoint(entity.types):
        return False
    typed = [_letters(one) for one in query.types]
    return not typed or any(one in _letters(name) for one in typed for name in entity.types)


def _letters(text: str) -> str:
    return "".join(ch for ch in text.casefold() if ch.isalnum())
