"""Words of the knowledge base with a similar spelling: one letter added, missing, changed, or two swapped; and those
of the same normalised form."""

from __future__ import annotations

from collections.abc import Sequence

from curator.domain.same_string import string_key
from curator.storage.kb.kb_tables import KbTables

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
