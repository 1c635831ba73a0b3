"""Search of the knowledge base: the one place that knows FTS5.

Tiers, best first: exact id, exact name, exact synonym, beginning of a name, all words anywhere in a name (the last
one as a beginning, as it is being typed), all words in the definition. Within a tier shorter names come first.
A query in double quotes asks for names that contain exactly these characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from curator.domain.entities import EntityMatch
from curator.storage.kb_tables import ALTERNATE, BARE_ALTERNATE, NAME, SYNONYM, KbTables, parse_entity
from curator.storage.rows import chunks, fold

EXACT_ID, EXACT_NAME, EXACT_SYNONYM, PREFIX, WORDS, DEFINITION = range(6)

# Tier, row number of the entity, and what matched: the row number of a name, or the text itself ('' for the
# preferred name). Names are read for the chosen few only, so that an index alone answers the rest.
_Hit = tuple[int, int, int | str]

_WORD = re.compile(r"[^\W_]+")
_LAST = "\U0010ffff"
# A preferred name stands before a synonym that is up to this many characters shorter.
_BONUS = 8


class NameSearch:
    """One search in `tables`, restricted to entities of `types` (none: all)."""

    def __init__(self, tables: KbTables, *, types: Sequence[str] = ()) -> None:
        self._tables = tables
        self._types = list(types)

    def find(self, query: str, *, limit: int) -> list[EntityMatch]:
        """At most `limit` entities, each once; `rank` is the tier plus a fraction for the order within it."""
        text = query.strip()
        hits = self._substring(fold(text.strip('"'))) if text.startswith('"') else self._tiers(query, text)
        best: dict[int, tuple[int, int | str]] = {}
        for tier, number, matched in hits:
            if len(best) >= limit:
                break
            best.setdefault(number, (tier, matched))
        return self._matches(best)

    def _tiers(self, query: str, text: str) -> Iterator[_Hit]:
        folded = fold(text)
        if not folded:
            return
        yield from self._by_id(folded, text)
        yield from self._exact(folded, NAME, EXACT_NAME)
        yield from self._exact(folded, SYNONYM, EXACT_SYNONYM)
        yield from self._prefix(folded)
        words = _WORD.findall(folded)
        if words:
            yield from self._words(words, typing=not query[-1].isspace())
            yield from self._definitions(words)

    def _by_id(self, folded: str, text: str) -> Iterator[_Hit]:
        for tier, number in self._rows(
            f"SELECT i.tier, i.entity FROM {self._tables.ids} i WHERE i.key = ? {self._typed('i.entity')}"  # noqa: S608
            " ORDER BY i.tier, i.entity",
            folded,
        ):
            yield EXACT_ID, number, text if tier in (ALTERNATE, BARE_ALTERNATE) else ""

    def _exact(self, folded: str, kind: int, tier: int) -> Iterator[_Hit]:
        yield from self._names(tier, "n.folded = ? AND n.kind = ?", folded, kind, order="n.entity")

    def _prefix(self, folded: str) -> Iterator[_Hit]:
        yield from self._names(PREFIX, "n.folded >= ? AND n.folded < ?", folded, folded + _LAST)

    def _substring(self, folded: str) -> Iterator[_Hit]:
        """Walks an index ordered by length, so that frequent characters end the walk early."""
        if folded:
            yield from self._names(WORDS, "instr(n.folded, ?)", folded, order="n.length, n.kind, n.folded")

    def _words(self, words: Sequence[str], *, typing: bool) -> Iterator[_Hit]:
        match = " ".join(f'"{word}"' for word in words)
        if typing and len(words[-1]) > 1:
            match += "*"
        inner = f"SELECT rowid FROM {self._tables.names_fts} WHERE {self._tables.names_fts} MATCH ?"  # noqa: S608
        yield from self._names(WORDS, f"n.id IN ({inner})", match)

    def _definitions(self, words: Sequence[str]) -> Iterator[_Hit]:
        table = self._tables.definitions_fts
        for (number,) in self._rows(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? {self._typed(f'{table}.rowid')} ORDER BY rank",  # noqa: S608
            " ".join(f'"{word}"' for word in words),
        ):
            yield DEFINITION, number, ""

    def _names(self, tier: int, where: str, *values: object, order: str = "") -> Iterator[_Hit]:
        order = order or f"n.length + {_BONUS} * n.kind, n.folded, n.entity"
        rows = self._rows(
            f"SELECT n.entity, n.id FROM {self._tables.names} n WHERE {where} {self._typed('n.entity')}"  # noqa: S608
            f" ORDER BY {order}",
            *values,
        )
        yield from ((tier, number, name_row) for number, name_row in rows)

    def _typed(self, column: str) -> str:
        if not self._types:
            return ""
        marks = ",".join("?" * len(self._types))
        return (
            f"AND EXISTS (SELECT 1 FROM {self._tables.types} t"  # noqa: S608
            f" WHERE t.entity = {column} AND t.type IN ({marks}))"
        )

    def _rows(self, sql: str, *values: object) -> Iterator[Any]:
        return self._tables.conn.execute(sql, [*values, *self._types])

    def _matches(self, best: dict[int, tuple[int, int | str]]) -> list[EntityMatch]:
        entities = {n: parse_entity(data) for n, data in self._by_row(self._tables.entities, "data", list(best))}
        name_rows = [matched for _, matched in best.values() if isinstance(matched, int)]
        names = dict(self._by_row(self._tables.names, "name", name_rows))
        found: list[EntityMatch] = []
        for place, (number, (tier, matched)) in enumerate(best.items()):
            text = names[matched] if isinstance(matched, int) else matched or entities[number].name
            found.append(EntityMatch(entities[number], text, tier + place / len(best)))
        return found

    def _by_row(self, table: str, column: str, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        for part in chunks(rows):
            marks = ",".join("?" * len(part))
            query = f"SELECT id, {column} FROM {table} WHERE id IN ({marks})"  # noqa: S608
            yield from self._tables.conn.execute(query, list(part))
