"""Provisional entities: rows that change in place; the operation log keeps their earlier states."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from heapq import merge

from sqlalchemy import Connection, delete, insert, select, update

from curator.domain.entities import Entity, EntityMatch, ProvisionalEntity, id_of, is_new, number_of
from curator.domain.facets import SearchQuery
from curator.domain.wording import UserError, tr
from curator.storage.db.ahead import answer
from curator.storage.db.columns import texts_of, time_of
from curator.storage.db.rows import AnyRow, chunks, fold, unique
from curator.storage.db.schema import ProvisionalEntityRow, RetiredEntityRow
from curator.storage.kb.kb_matching import active_tables, held, new_ids
from curator.storage.kb.kb_search import (
    DEFINITION,
    EXACT_ID,
    EXACT_NAME,
    EXACT_SYNONYM,
    KINDS,
    PREFIX,
    WORDS,
    group_of,
)
from curator.storage.kb.kb_tables import canonical_json, parse_entity


class ProvisionalEntities:
    """The part of `SqlKnowledgeBase` for provisional entities."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def next_provisional_id(self) -> str:
        """An id that no provisional entity has or ever had, and no entity of the active knowledge base."""
        tables = active_tables(self._conn)
        retired = self._conn.execute(select(RetiredEntityRow.id)).scalars()
        taken = [*self._ids(), *(one for one in retired if is_new(one)), *(new_ids(tables) if tables else ())]
        return id_of(max(map(number_of, taken), default=0) + 1)

    def save_provisional(self, entity: ProvisionalEntity) -> None:
        """Store the entity, replacing the one with its id. Entities are never removed, so that no id is used twice."""
        row, found = ProvisionalEntityRow, entity.entity
        values = {
            "name": found.name,
            "types": _packed(found.types),
            "definition": found.definition,
            "synonyms": _packed(found.synonyms),
            "author": entity.author,
            "at": entity.at.isoformat(),
            "deleted": entity.deleted,
            "successor": entity.successor,
        }
        if not self._conn.execute(update(row).where(row.id == entity.id).values(values)).rowcount:
            self._conn.execute(insert(row).values(id=entity.id, **values))

    def provisional(self, entity_id: str) -> ProvisionalEntity:
        """The entity, even if deleted or replaced. Raises UserError for an unknown id."""
        row = self._conn.execute(_ROWS.where(ProvisionalEntityRow.id == entity_id)).first()
        if row is None:
            raise UserError(tr("There is no new entity {entity_id} in this project.", entity_id=entity_id))
        return _provisional(row)

    def all_provisional(self, *, retired: bool = False) -> list[ProvisionalEntity]:
        """All provisional entities by id; deleted and replaced ones only with `retired`."""
        return sorted(_all(self._conn, living=not retired), key=lambda one: (number_of(one.id), one.id))

    def provisional_only(self) -> frozenset[str]:
        """Ids of the provisional entities, including deleted ones, that are not in the active knowledge base: no
        training may use them as entities."""
        ids, tables = self._ids(), active_tables(self._conn)
        return frozenset(ids) - (held(tables, ids) if tables else set())

    def _ids(self) -> list[str]:
        return list(self._conn.execute(select(ProvisionalEntityRow.id)).scalars())

    def retire(self, entities: Sequence[Entity]) -> None:
        """Store the records of entities that the next version lacks."""
        for part in chunks([one.id for one in entities]):
            self._conn.execute(delete(RetiredEntityRow).where(RetiredEntityRow.id.in_(part)))
        if entities:
            rows = [{"id": one.id, "data": canonical_json(one)} for one in entities]
            self._conn.execute(insert(RetiredEntityRow), rows)

    def retired(self, entity_ids: Iterable[str]) -> dict[str, Entity]:
        """The stored records of removed entities; others are absent."""
        return retired_of(self._conn, list(entity_ids))


def living_entities(conn: Connection, entity_ids: Sequence[str] | None = None) -> dict[str, Entity]:
    """The provisional entities that can be linked to, with these ids, or all."""
    if entity_ids is None:
        return {one.id: one.entity for one in _all(conn, living=True)}
    return {one.id: one.entity for one in _some(conn, _of_ours(conn, entity_ids)) if one.living}


def former_entity(conn: Connection, entity_id: str) -> Entity | None:
    """The former entity of an id that no longer exists, for the names of old decisions."""
    ours = _some(conn, _of_ours(conn, [entity_id]))
    return ours[0].entity if ours else retired_of(conn, [entity_id]).get(entity_id)


def retired_of(conn: Connection, entity_ids: Sequence[str]) -> dict[str, Entity]:
    """Records of these ids from earlier knowledge bases."""
    found: dict[str, Entity] = {}
    for part in chunks(unique(entity_ids)):
        rows = conn.execute(select(RetiredEntityRow.id, RetiredEntityRow.data).where(RetiredEntityRow.id.in_(part)))
        found.update((id_, parse_entity(data)) for id_, data in rows)
    return found


OURS = select(ProvisionalEntityRow.id)


def _of_ours(conn: Connection, entity_ids: Sequence[str]) -> list[str]:
    """The ids among these that a provisional entity has or had: there are some hundreds at most, usually none."""
    ours = {one for (one,) in answer(conn, OURS)}
    return unique(one for one in entity_ids if one in ours)


def _all(conn: Connection, *, living: bool) -> list[ProvisionalEntity]:
    found = map(_provisional, conn.execute(_ROWS))
    return [one for one in found if one.living or not living]


def _some(conn: Connection, entity_ids: Sequence[str]) -> list[ProvisionalEntity]:
    found: list[ProvisionalEntity] = []
    for part in chunks(entity_ids):
        found += map(_provisional, conn.execute(_ROWS.where(ProvisionalEntityRow.id.in_(part))))
    return found


_ROWS = select(
    ProvisionalEntityRow.id,
    ProvisionalEntityRow.name,
    ProvisionalEntityRow.types,
    ProvisionalEntityRow.definition,
    ProvisionalEntityRow.synonyms,
    ProvisionalEntityRow.author,
    ProvisionalEntityRow.at,
    ProvisionalEntityRow.deleted,
    ProvisionalEntityRow.successor,
)


def _provisional(row: AnyRow) -> ProvisionalEntity:
    synonyms = texts_of(row.synonyms, "provisional_entities", "synonyms", row.id)
    types = texts_of(row.types, "provisional_entities", "types", row.id)
    at = time_of(row.at, "provisional_entities", row.id)
    entity = Entity(row.id, row.name, synonyms, types, row.definition)
    return ProvisionalEntity(entity, row.author, at, row.deleted, row.successor)


def _packed(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


# Search among provisional entities, by the grammar and the tiers of the knowledge base's search. There are some
# hundreds at most, so they are simply scanned; their matches are merged with the others.

_WORD = re.compile(r"[^\W_]+")
Tiered = tuple[int, str]  # tier, the name that matched


def matches(entities: Iterable[Entity], query: SearchQuery, *, only: Collection[str] = ()) -> list[EntityMatch]:
    """The matches of the query, best first: by tier, then shorter names. `only`: of these types, if given."""
    found = []
    for entity in entities:
        best = _best(entity, query) if _of_types(entity, query, only) else None
        if best is not None:
            found.append(EntityMatch(entity, best[1], float(best[0]), KINDS[best[0]]))
    return sorted(found, key=lambda one: (one.rank, len(one.matched), one.entity.id))


def among(
    others: Sequence[EntityMatch], ours: Sequence[EntityMatch], *, preferred: Collection[str], limit: int
) -> list[EntityMatch]:
    """Merged matches in the order of the search: by group, preferred types first, by tier."""
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
    """Whether it has all words; the last one as a prefix while it is being typed."""
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
