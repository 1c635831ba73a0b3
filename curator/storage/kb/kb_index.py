"""The full-text index over the names of one knowledge-base version, arranged so that the first results are fast.

A row's number is `goodness << 32 | id of the name`, goodness being the name's length plus BONUS for a synonym. FTS5
keeps rows in the order of their numbers, so the first rows of any query are the best ones, and reading can stop after
some hundred for any number of matches: no sort, no join. The types of the entity are words of a second column, so that
a restriction to types is part of the query. The distinct words are in a separate table, which is scanned for near
spellings and for parts of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from curator.storage.db.rows import chunks
from curator.storage.kb.kb_tables import SYNONYM, KbTables

BONUS = 8  # a preferred name comes before a synonym that is up to this many characters shorter
LONGEST = 4095
STEP = 2000  # names between two pauses: some forty milliseconds
_APART = "\x1f"
_Row = tuple[int, str, str]  # number, folded name, words for its types


def type_word(number: int) -> str:
    """The word for the type at this position in the version's sorted types."""
    return f"ty{number}"


def goodness(length: int, kind: int) -> int:
    return min(length + BONUS * (kind == SYNONYM), LONGEST)


def name_of(number: int) -> int:
    """The id of the name of an index row."""
    return number & 0xFFFFFFFF


def build_index(tables: KbTables, types: Sequence[str], *, pause: Callable[[], None]) -> None:
    """Build the index of a loaded version with these sorted types. Waiting writers get turns between steps."""
    create_index(tables)
    words = {name: type_word(i) for i, name in enumerate(types)}
    insert = f"INSERT INTO {tables.search} (rowid, folded, types) VALUES (?, ?, ?)"  # noqa: S608
    lengths = [
        (goodness(length, kind), length, kind)
        for length, kind in tables.conn.execute(f"SELECT DISTINCT length, kind FROM {tables.names}")  # noqa: S608
    ]
    for good in sorted({one for one, _, _ in lengths}):
        same = [(length, kind) for one, length, kind in lengths if one == good]
        for part in chunks(sorted(_rows(tables, words, good, same)), STEP):
            tables.conn.executemany(insert, part)
            pause()
    _list_words(tables, pause)


def create_index(tables: KbTables) -> None:
    drop_index(tables)
    tables.conn.execute(
        f"CREATE VIRTUAL TABLE {tables.search} USING fts5 (folded, types, content = '',"
        " tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3')"
    )
    tables.conn.execute(f"CREATE TABLE {tables.words} (word TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID")


def drop_index(tables: KbTables) -> None:
    for table in (tables.words, tables.search):
        tables.conn.execute(f"DROP TABLE IF EXISTS {table}")


def _list_words(tables: KbTables, pause: Callable[[], None]) -> None:
    """The words of the names, as split by FTS5."""
    terms = f"{tables.words}_terms"
    last = ""
    while True:
        tables.conn.execute(f"CREATE VIRTUAL TABLE {terms} USING fts5vocab ('{tables.search}', 'col')")
        query = f"SELECT term FROM {terms} WHERE term > ? AND col = 'folded' ORDER BY term LIMIT {STEP}"  # noqa: S608
        found = tables.conn.execute(query, (last,)).fetchall()
        tables.conn.execute(f"DROP TABLE {terms}")
        if not found:
            return
        tables.conn.executemany(f"INSERT INTO {tables.words} VALUES (?)", found)  # noqa: S608
        last = found[-1][0]
        pause()


def has_index(tables: KbTables) -> bool:
    query = "SELECT count(*) FROM sqlite_master WHERE name IN (?, ?)"
    return bool(tables.conn.execute(query, (tables.search, tables.words)).fetchone()[0] == 2)


def _rows(tables: KbTables, words: dict[str, str], good: int, same: Sequence[tuple[int, int]]) -> Iterator[_Row]:
    query = (
        f"SELECT n.id, n.folded, (SELECT group_concat(t.type, '{_APART}') FROM {tables.types} t"  # noqa: S608
        f" WHERE t.entity = n.entity) FROM {tables.names} n WHERE n.length = ? AND n.kind = ?"
    )
    for length, kind in same:
        for name, folded, types in tables.conn.execute(query, (length, kind)):
            found = " ".join(words[one] for one in types.split(_APART)) if types else ""
            yield good << 32 | name, folded, found
