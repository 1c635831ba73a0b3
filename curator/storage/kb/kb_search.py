"""Search of the knowledge base: the only module that queries FTS5.

Tiers, best first: identifier, exact name, exact synonym, beginning of a name, all words anywhere in a name (the last
one as a beginning while it is being typed), words with similar spelling, all words but those that no name has, all
words in the definition. Entities of the preferred types come first among the exact ones and again within each group of
the others; then those that are likely in this document, those linked before, and shorter names; definitions by FTS5's
relevance. Every query reads some hundred rows at most, see `kb_index`, so that an answer never depends on how many
entities match.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from curator.domain.curies import look_up_key
from curator.domain.entities import EntityMatch, MatchKind
from curator.domain.facets import SearchQuery
from curator.domain.same_string import string_key
from curator.storage.db.rows import chunks, fold, unique
from curator.storage.kb.kb_index import goodness, name_of, type_word
from curator.storage.kb.kb_tables import ALTERNATE, BARE_ALTERNATE, NAME, SYNONYM, KbTables, parse_entity

EXACT_ID, EXACT_NAME, EXACT_SYNONYM, PREFIX, WORDS, FUZZY, SOME_WORDS, DEFINITION = range(8)
KINDS = (
    MatchKind.IDENTIFIER,
    MatchKind.EXACT,
    MatchKind.EXACT,
    MatchKind.NAME,
    MatchKind.NAME,
    MatchKind.SPELLING,
    MatchKind.SOME_WORDS,
    MatchKind.DEFINITION,
)
"""The kind of each tier: within a kind, preferred types come first."""
READ = 120  # rows read for one query
CHECKED = 600  # if each is compared with the exact characters
FILTERED = 2000  # if most of them may be filtered out
FEW = 5  # with fewer results, similar spellings are searched for
PARTIAL = 10  # the most results that have only some of the words
LONG_ENOUGH = 4  # least letters of a prefix searched for in definitions, too
DEFINED = 50_000  # the most entities with a matching definition; more frequent words are ignored
LINKED_BEFORE = 6  # extra characters of a name that one doubling of its entity's links outweighs
LIKELY = 30  # a likely entity ranks like this number of links

_WORD = re.compile(r"[^\W_]+")
_LAST = "\U0010ffff"
Counts = Callable[[Sequence[str]], dict[str, int]]


@dataclass(frozen=True, slots=True)
class _Hit:
    """An entity found by one of its names: `name` is that name's id, or None if `matched` holds the text itself."""

    tier: int
    number: int
    good: int = 0
    name: int | None = None
    matched: str = ""


class NameSearch:
    """One search in `tables`. `types` are all types of the version, sorted; entities of `preferred` types come first.

    `linked` returns the number of links of entities by id; `likely` entities count for `LIKELY` more. With `within`,
    only these rows are found; `left_out` is the number of other matches among those read.
    """

    def __init__(
        self,
        tables: KbTables,
        *,
        types: Sequence[str],
        preferred: Sequence[str] = (),
        likely: Collection[str] = (),
        linked: Counts | None = None,
        within: Collection[int] | None = None,
    ) -> None:
        self.left_out = 0
        self._within = within
        self._tables = tables
        self._types = list(types)
        self._preferred = [one for one in preferred if one in types]
        self._likely = frozenset(likely)
        self._linked = linked or (lambda _: {})

    def find(self, query: SearchQuery, *, only: Sequence[str] = (), limit: int) -> list[EntityMatch]:
        """At most `limit` entities, each once, only of the types `only` if given.

        `rank` is the tier plus a fraction for the order.
        """
        restricted = bool(query.types or only)
        named = self._named_types(query.types) if query.types else self._types
        only = [one for one in named if one in only or not only] if restricted else ()
        if query.empty or (restricted and not only):
            return []
        places = self._types.index
        ask = _Asked(
            self._tables,
            query,
            only=list(map(places, only)),
            preferred=list(map(places, self._preferred)),
            likely=sorted(self._likely),
            within=self._within,
        )
        best: dict[int, _Hit] = {}
        for hit in ask.hits():
            if self._within is not None and hit.number not in self._within:
                ask.left_out.add(hit.number)
                continue
            known = best.get(hit.number)
            if known is None or (hit.tier, hit.good) < (known.tier, known.good):
                best[hit.number] = hit
        self.left_out = len(ask.left_out)
        return self._ranked(best, set(only), limit)

    def _named_types(self, typed: Sequence[str]) -> list[str]:
        """The types that begin with the typed text, or else contain it, comparing only letters and digits."""
        found: list[str] = []
        for one in map(_letters, typed):
            begin = [name for name in self._types if _letters(name).startswith(one)]
            found += begin or [name for name in self._types if one in _letters(name)]
        return unique(found)

    def _ranked(self, best: dict[int, _Hit], only: set[str], limit: int) -> list[EntityMatch]:
        ids, types = self._known(list(best))
        linked = self._linked(list(ids.values()))
        wanted = set(self._preferred)

        def order(hit: _Hit) -> tuple[object, ...]:
            apart = not wanted.isdisjoint(types.get(hit.number, ()))
            entity_id = ids[hit.number]
            links = linked.get(entity_id, 0) + LIKELY * (entity_id in self._likely)
            lead = LINKED_BEFORE * math.log2(1 + links)
            return group_of(hit.tier), not apart, hit.tier, hit.good - lead, hit.name or 0, hit.number

        kept = [hit for hit in best.values() if not only or not only.isdisjoint(types.get(hit.number, ()))]
        ranked = sorted(kept, key=order)
        partial = [hit for hit in ranked if hit.tier == SOME_WORDS][PARTIAL:]
        return self._matches([hit for hit in ranked if hit not in partial][:limit])

    def _known(self, numbers: Sequence[int]) -> tuple[dict[int, str], dict[int, list[str]]]:
        ids = dict(self._by_row("id, entity_id", self._tables.entities, "id", numbers))
        types: dict[int, list[str]] = {}
        for number, name in self._by_row("entity, type", self._tables.types, "entity", numbers):
            types.setdefault(number, []).append(name)
        return ids, types

    def _matches(self, hits: Sequence[_Hit]) -> list[EntityMatch]:
        entities = {
            n: parse_entity(data)
            for n, data in self._by_row("id, data", self._tables.entities, "id", [hit.number for hit in hits])
        }
        names = dict(
            self._by_row("id, name", self._tables.names, "id", [hit.name for hit in hits if hit.name is not None])
        )
        found: list[EntityMatch] = []
        for place, hit in enumerate(hits):
            text = hit.matched if hit.name is None else names[hit.name]
            found.append(
                EntityMatch(
                    entities[hit.number],
                    text or entities[hit.number].name,
                    hit.tier + place / len(hits),
                    KINDS[hit.tier],
                )
            )
        return found

    def _by_row(self, what: str, table: str, key: str, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        for part in chunks(rows):
            marks = ",".join("?" * len(part))
            yield from self._tables.conn.execute(f"SELECT {what} FROM {table} WHERE {key} IN ({marks})", list(part))  # noqa: S608


class _Asked:
    """The searches of one query, in turn; each returns hits in any order."""

    def __init__(
        self,
        tables: KbTables,
        query: SearchQuery,
        *,
        only: Sequence[int],
        preferred: Sequence[int],
        likely: Sequence[str] = (),
        within: Collection[int] | None = None,
    ) -> None:
        self.left_out: set[int] = set()
        self._within = within
        self._tables = tables
        self._likely = likely
        self._query = query
        self._text = fold(query.text)
        self._phrases = [fold(one) for one in query.phrases]
        self._whole = self._text or (self._phrases[0] if len(self._phrases) == 1 else "")
        self._words = _WORD.findall(self._text)
        self._only = _any_type(only)
        self._first = _any_type([one for one in preferred if not only or one in only])
        self._seen: set[int] = set()

    def hits(self) -> Iterator[_Hit]:
        if self._query.definition and not (self._words or self._phrases):
            yield from self._defined(_WORD.findall(fold(self._query.definition)), self._query.typing_definition)
            return
        if self._query.definition:
            yield from self._named_and_defined()
            return
        for hit in self._named():
            self._seen.add(hit.number)
            yield hit
        if not self._words or self._phrases:
            return
        if len(self._seen) < FEW:
            yield from self._similar()
        if len(self._seen) < READ:
            yield from self._defined(self._words, self._query.typing and len(self._words[-1]) >= LONG_ENOUGH)

    def _named(self) -> Iterator[_Hit]:
        if self._query.plain and self._text:
            yield from self._by_id()
        if self._whole:
            yield from self._rows(f"n.folded = ? ORDER BY n.kind, n.entity LIMIT {READ}", self._whole)
        if self._words and not self._phrases:
            yield from self._named_likely()
        for restricted in unique([self._first, self._only]):
            found = 0
            for match in self._questions():
                if found < READ:  # else names with all the words come after those that begin with them
                    hits = list(self._stream(match, restricted))
                    found += len(hits)
                    yield from hits
            if found >= READ:  # those of the preferred types, which come first
                break
        if self._phrases and len(self._seen) < FEW:
            yield from self._inside()

    def _named_likely(self) -> Iterator[_Hit]:
        """Likely entities with a name that begins like this; if many names do, they may not be among those read."""
        for part in chunks(self._likely):
            marks = ",".join("?" * len(part))
            query = f"SELECT id, data FROM {self._tables.entities} WHERE entity_id IN ({marks})"  # noqa: S608
            for number, data in self._tables.conn.execute(query, part):
                entity = parse_entity(data)
                named = ((entity.name, NAME), *((one, SYNONYM) for one in entity.synonyms))
                for name, kind in named:
                    if self._tier(fold(name), kind) == PREFIX:
                        yield _Hit(PREFIX, number, goodness(len(name), kind), matched=name)

    def _named_and_defined(self) -> Iterator[_Hit]:
        words = _WORD.findall(fold(self._query.definition))
        match = _all(words, typing=self._query.typing_definition)
        allowed = set(self._definitions(match, DEFINED)) if words else set()
        every = not words or len(allowed) >= DEFINED
        question = list(self._questions())[-1]
        yield from self._stream(question, self._only, read=CHECKED, allowed=None if every else allowed)

    def _questions(self) -> Iterator[str]:
        """FTS5's queries: names that begin like this, then names with all the words."""
        words = [*self._words, *(word for one in self._phrases for word in _WORD.findall(one))]
        if self._words and not self._phrases:
            yield "folded : ^" + _phrase(self._words, typing=True)
        loose = _all(self._words, typing=self._query.typing and len(self._words[-1:]) == 1)
        exact = " AND ".join(_phrase(found, typing=True) for one in self._phrases if (found := _WORD.findall(one)))
        if words:
            yield "folded : (" + " AND ".join(part for part in (loose, exact) if part) + ")"
        elif self._only and not self._text:
            yield ""

    def _stream(
        self, match: str, types: str, *, read: int = 0, allowed: Collection[int] | None = None
    ) -> Iterator[_Hit]:
        """The hits of a search, best first; only `allowed` entities if given."""
        whole = " AND ".join(f"({part})" for part in (match, types) if part)
        query = f"SELECT rowid FROM {self._tables.search} WHERE {self._tables.search} MATCH ? ORDER BY rowid LIMIT ?"  # noqa: S608
        most = read or (READ if self._within is None else FILTERED)
        names = [name_of(row) for (row,) in self._tables.conn.execute(query, (whole, most))] if whole else []
        for part in chunks(names):
            yield from self._rows(f"n.id IN ({','.join('?' * len(part))})", *part, allowed=allowed)

    def _rows(self, where: str, *values: object, allowed: Collection[int] | None = None) -> Iterator[_Hit]:
        """Names, each with the tier of its text."""
        query = f"SELECT n.id, n.entity, n.kind, n.length, n.folded FROM {self._tables.names} n WHERE {where}"  # noqa: S608
        for name, entity, kind, length, folded in self._tables.conn.execute(query, values):
            if (allowed is not None and entity not in allowed) or not all(one in folded for one in self._phrases):
                continue
            if self._within is not None and entity not in self._within:
                self.left_out.add(entity)
            else:
                yield _Hit(self._tier(folded, kind), entity, goodness(length, kind), name)

    def _tier(self, folded: str, kind: int) -> int:
        if not self._whole:
            return WORDS
        if folded == self._whole:
            return EXACT_NAME if kind == NAME else EXACT_SYNONYM
        if folded.startswith(self._whole) or (not self._phrases and _begins(folded, self._words)):
            return PREFIX
        return WORDS

    def _by_id(self) -> Iterator[_Hit]:
        query = f"SELECT i.tier, i.entity FROM {self._tables.ids} i WHERE i.key = ? ORDER BY i.tier, i.entity"  # noqa: S608
        key = look_up_key(self._query.text)
        for tier, number in self._tables.conn.execute(query, (key,)):
            yield _Hit(EXACT_ID, number, tier, matched=self._query.text if tier in (ALTERNATE, BARE_ALTERNATE) else "")
        if len(self._text) > 2 and any(ch.isdigit() for ch in self._text) and " " not in self._text:
            query = (
                f"SELECT i.key, i.entity FROM {self._tables.ids} i WHERE i.key > ? AND i.key < ? ORDER BY 1 LIMIT 20"  # noqa: S608
            )
            for found, number in self._tables.conn.execute(query, (key, key + _LAST)):
                yield _Hit(PREFIX, number, len(found), matched="")

    def _inside(self) -> Iterator[_Hit]:
        """Names that contain the phrases in the middle of words, found by words that end with the beginning of the
        phrases.

        Names in other scripts, whose words FTS5 stores without accents, are scanned, shortest first.
        """
        parts = [*self._phrases, *self._words]
        if all(one.isascii() for one in parts):
            questions = [self._across_words(one) for one in self._phrases]
            if all(questions):
                loose = [_quoted(word) for word in self._words]
                yield from self._stream(
                    "folded : (" + " AND ".join([*questions, *loose]) + ")", self._only, read=FILTERED
                )
            return
        where = " AND ".join("instr(n.folded, ?)" for _ in parts)
        yield from self._rows(f"{where} ORDER BY n.length, n.kind, n.folded LIMIT {READ}", *parts)

    def _across_words(self, phrase: str) -> str:
        """FTS5's query for a phrase whose first word may be the end of a longer one; '' if there is no such word."""
        first, *rest = _WORD.findall(phrase) or [""]
        if not first:
            return ""
        heads = words_ending(self._tables, first, anywhere=not rest, limit=READ)
        if not heads:
            return ""
        either = "(" + " OR ".join(map(_quoted, heads)) + ")"
        return f"({either} AND {_phrase(rest, typing=True)})" if rest else either

    def _defined(self, words: Sequence[str], typing: bool) -> Iterator[_Hit]:
        """Entities with all words in the definition, the most relevant first, among the first FILTERED."""
        match = _all(words, typing=typing)
        found = self._definitions(match, FILTERED) if match else []
        if not found:
            return
        table = self._tables.definitions_fts
        query = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid <= ? ORDER BY rank, rowid"  # noqa: S608
        for place, (number,) in enumerate(self._tables.conn.execute(query, (match, found[-1]))):
            if number not in self._seen:
                yield _Hit(DEFINITION, number, place)

    def _definitions(self, match: str, read: int) -> list[int]:
        """The first `read` entities with a matching definition."""
        table = self._tables.definitions_fts
        query = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid LIMIT ?"  # noqa: S608
        return [number for (number,) in self._tables.conn.execute(query, (match, read))]

    def _similar(self) -> Iterator[_Hit]:
        """Names with all words in a similar spelling; or, if no name has some of the words, those with the others."""
        parts = near_words(self._tables, self._words, typing=self._query.typing)
        known = [f"({one})" for one in parts if one]
        if not known:
            return
        tier = FUZZY if len(known) == len(parts) else SOME_WORDS
        match = f"folded : ({' AND '.join(known)})"
        for restricted in unique([self._first, self._only]):
            for hit in self._stream(match, restricted):
                if hit.number not in self._seen:
                    yield _Hit(tier, hit.number, hit.good, hit.name)


def same_named(tables: KbTables, name: str) -> list[str]:
    """Primary ids of the entities with a name or synonym of the same normalised form (`string_key`), names first."""
    key = string_key(name)
    parts = [f"({one})" for word in _WORD.findall(key) if (one := " OR ".join(map(_quoted, words_like(tables, word))))]
    if len(parts) < len(_WORD.findall(key)) or not parts:
        return []
    match = f"folded : ({' AND '.join(parts)})"
    query = f"SELECT rowid FROM {tables.search} WHERE {tables.search} MATCH ? ORDER BY rowid LIMIT {READ}"  # noqa: S608
    names = [name_of(row) for (row,) in tables.conn.execute(query, (match,))]  # the shortest: no other words in it
    query = (
        f"SELECT n.name, e.entity_id FROM {tables.names} n JOIN {tables.entities} e ON e.id = n.entity"  # noqa: S608
        f" WHERE n.id IN ({','.join('?' * len(names))}) ORDER BY n.kind, e.id"
    )
    return unique(entity_id for found, entity_id in tables.conn.execute(query, names) if string_key(found) == key)


def group_of(tier: int) -> int:
    """The place of the tier's kind: preferred types lead within it."""
    return KINDS.index(KINDS[tier])


def _quoted(word: str) -> str:
    return f'"{word}"'


def _all(words: Sequence[str], *, typing: bool) -> str:
    """FTS5's query for all words, the last one as a prefix while it is being typed. A single letter is a prefix of too
    many words."""
    if not words:
        return ""
    star = "*" if typing and (len(words[-1]) > 1 or len(words) > 1) else ""
    return " AND ".join(map(_quoted, words)) + star


def _phrase(words: Sequence[str], *, typing: bool) -> str:
    return " + ".join(map(_quoted, words)) + ("*" if typing else "")


def _any_type(places: Sequence[int]) -> str:
    return f"types : ({' OR '.join(map(type_word, places))})" if places else ""


def _begins(folded: str, words: Sequence[str]) -> bool:
    """Whether a name's words begin with these, with anything between them."""
    own = _WORD.findall(folded)[: len(words)]
    return len(own) == len(words) > 0 and own[:-1] == list(words[:-1]) and own[-1].startswith(words[-1])


def _letters(text: str) -> str:
    return "".join(ch for ch in text.casefold() if ch.isalnum())


# Words with a similar spelling: one letter added, missing, changed, or two swapped; and those of the same normalised
# form.

SHORTEST = 4  # shorter words resemble too many others
LONG = 8  # from this length, two errors are allowed
LONGER = 4  # the most letters that a normalised form lacks
NEAR = 8  # the most alternatives for a typed word


def near_words(tables: KbTables, words: Sequence[str], *, typing: bool) -> list[str]:
    """For each word FTS5's query for itself and for similar words; '' if no name has any of them.

    The first letter is assumed to be right, and the second too unless it was swapped or inserted. With `typing` the
    last word may be the beginning of a longer one.
    """
    found: list[str] = []
    for place, word in enumerate(words):
        beginning = typing and place == len(words) - 1
        near = [f'"{one}"' for one in _near(tables, word, beginning=beginning)]
        known = _known(tables, word, beginning=beginning)
        found.append(" OR ".join([*([f'"{word}"{"*" if beginning else ""}'] if known else []), *near]))
    return found


def _known(tables: KbTables, word: str, *, beginning: bool) -> bool:
    """Whether a name has the word, or one that begins like this."""
    last = word + "\U0010ffff" if beginning else word
    query = f"SELECT 1 FROM {tables.words} WHERE word BETWEEN ? AND ? LIMIT 1"  # noqa: S608
    return tables.conn.execute(query, (word, last)).fetchone() is not None


def _near(tables: KbTables, word: str, *, beginning: bool) -> list[str]:
    if len(word) < SHORTEST:
        return []
    slips = 2 if len(word) >= LONG else 1
    terms: list[str] = []
    for start in dict.fromkeys((word[:2], word[0] + word[2])):
        after = start[:-1] + chr(ord(start[-1]) + 1)
        query = f"SELECT word FROM {tables.words} WHERE word >= ? AND word < ? AND length(word) >= ?"  # noqa: S608
        terms += [term for (term,) in tables.conn.execute(query, (start, after, len(word) - slips))]
    whole = [one for one in terms if len(one) <= len(word) + slips]
    near = _nearest(word, whole, whole, slips)
    if beginning:
        near += _nearest(word, [one[: len(word)] for one in terms], terms, slips)
    ranked = sorted(near, key=lambda pair: (pair[0], len(pair[1]), pair[1]))
    return [one for one in dict.fromkeys(one for _, one in ranked) if one != word][:NEAR]


def _nearest(word: str, keys: Sequence[str], terms: Sequence[str], slips: int) -> list[tuple[int, str]]:
    from rapidfuzz import process  # imported with the first search, not with the window
    from rapidfuzz.distance import OSA

    hits = process.extract(word, keys, scorer=OSA.distance, score_cutoff=slips, limit=4 * NEAR)
    return [(int(distance), terms[place]) for _, distance, place in hits]


def words_like(tables: KbTables, word: str) -> list[str]:
    """Words with this normalised form (`string_key`): plurals, and British for American spelling."""
    found: list[str] = []
    for start in (word[0], "a", "o") if word[0] == "e" else (word[0],):  # aetiology, oedema
        query = f"SELECT word FROM {tables.words} WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?"  # noqa: S608
        near = (start, chr(ord(start) + 1), len(word), len(word) + LONGER)
        found += [one for (one,) in tables.conn.execute(query, near) if string_key(one) == word]
    return found


def words_ending(tables: KbTables, part: str, *, anywhere: bool, limit: int) -> list[str]:
    """Words that end with `part`, or contain it `anywhere`; it consists of letters and digits only."""
    pattern = f"%{part}%" if anywhere else f"%{part}"
    query = f"SELECT word FROM {tables.words} WHERE word LIKE ? LIMIT ?"  # noqa: S608
    return [word for (word,) in tables.conn.execute(query, (pattern, limit))]
