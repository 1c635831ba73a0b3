"""What schema version 3 adds: what the queue sorts and counts suggestions by, flags and comments, provisional entities,
rounds with their judgements, what each decision cost, and where in the list that was shown it stood. Frozen, like the
versions before.

`suggestions.margin` is the first candidate's probability less the second's (less 0 with one candidate).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice

from curator.domain.same_string import string_key
from curator.domain.suggestions import Stamp
from curator.storage.db.packing import unpack_shown, unpack_suggestion
from curator.storage.db.verdicts import verdict_of

VERSION_3 = (
    "ALTER TABLE suggestions ADD COLUMN first TEXT",
    "ALTER TABLE suggestions ADD COLUMN probability REAL",
    "ALTER TABLE suggestions ADD COLUMN margin REAL",
    "ALTER TABLE suggestions ADD COLUMN is_nil BOOLEAN NOT NULL DEFAULT 0",
    "ALTER TABLE decisions ADD COLUMN rank INTEGER",
    "ALTER TABLE mentions ADD COLUMN flagged BOOLEAN NOT NULL DEFAULT 0",
    "ALTER TABLE mentions ADD COLUMN string_key TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE documents ADD COLUMN flagged BOOLEAN NOT NULL DEFAULT 0",
    """CREATE TABLE comments (
        id INTEGER PRIMARY KEY NOT NULL, document_id INTEGER NOT NULL REFERENCES documents (id),
        mention_id INTEGER REFERENCES mentions (id), author TEXT NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL,
        deleted BOOLEAN NOT NULL)""",
    """CREATE TABLE provisional_entities (
        id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, types TEXT NOT NULL, definition TEXT NOT NULL,
        synonyms TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL, deleted BOOLEAN NOT NULL, successor TEXT)""",
    "CREATE TABLE retired_entities (id TEXT PRIMARY KEY NOT NULL, data TEXT NOT NULL)",
    """CREATE TABLE rounds (
        id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, at TEXT NOT NULL,
        closed BOOLEAN NOT NULL)""",
    """CREATE TABLE round_documents (
        round_id INTEGER NOT NULL REFERENCES rounds (id), document_id INTEGER NOT NULL REFERENCES documents (id),
        PRIMARY KEY (round_id, document_id)) WITHOUT ROWID""",
    """CREATE TABLE round_mentions (
        round_id INTEGER NOT NULL REFERENCES rounds (id), mention_id INTEGER NOT NULL REFERENCES mentions (id),
        curator TEXT NOT NULL, PRIMARY KEY (round_id, mention_id, curator)) WITHOUT ROWID""",
    """CREATE TABLE judgements (
        id INTEGER PRIMARY KEY NOT NULL, round_id INTEGER NOT NULL REFERENCES rounds (id),
        mention_id INTEGER NOT NULL REFERENCES mentions (id), curator TEXT NOT NULL, outcome TEXT NOT NULL,
        entity_ids TEXT NOT NULL, reason TEXT, at TEXT NOT NULL, note TEXT NOT NULL, shown BLOB)""",
    """CREATE TABLE mention_edits (
        id INTEGER PRIMARY KEY NOT NULL, mention_id INTEGER NOT NULL REFERENCES mentions (id),
        operation_id INTEGER NOT NULL REFERENCES operations (id), spans_before TEXT NOT NULL, type_before TEXT NOT NULL,
        spans_after TEXT NOT NULL, type_after TEXT NOT NULL)""",
    """CREATE TABLE efforts (
        operation_id INTEGER PRIMARY KEY NOT NULL REFERENCES operations (id), keys INTEGER NOT NULL,
        milliseconds INTEGER NOT NULL)""",
    "CREATE INDEX ix_mentions_text ON mentions (string_key, type, deleted, outcome, document_id)",
    "CREATE INDEX ix_suggestions_order ON suggestions (probability, margin, is_nil, first, mention_id)",
    "CREATE INDEX ix_comments_document_id ON comments (document_id)",
    "CREATE INDEX ix_judgements_round_id ON judgements (round_id, mention_id, curator)",
    "CREATE INDEX ix_mention_edits_mention_id ON mention_edits (mention_id)",
    "CREATE INDEX ix_mention_edits_operation_id ON mention_edits (operation_id)",
    "CREATE INDEX ix_decisions_curator ON decisions (curator, at, outcome, rank, operation_id, mention_id)",
    "CREATE INDEX ix_decisions_entities ON decisions (outcome, entity_ids)",
    "CREATE TRIGGER judgements_no_update BEFORE UPDATE ON judgements"
    " BEGIN SELECT RAISE(ABORT, 'judgements are append-only'); END",
    "CREATE TRIGGER judgements_no_delete BEFORE DELETE ON judgements"
    " BEGIN SELECT RAISE(ABORT, 'judgements are append-only'); END",
    "CREATE TRIGGER mention_edits_no_update BEFORE UPDATE ON mention_edits"
    " BEGIN SELECT RAISE(ABORT, 'mention edits are append-only'); END",
    "CREATE TRIGGER mention_edits_no_delete BEFORE DELETE ON mention_edits"
    " BEGIN SELECT RAISE(ABORT, 'mention edits are append-only'); END",
)
AT_ONCE = 2000


def fill(conn: sqlite3.Connection) -> None:
    """The new columns of the mentions, suggestions and decisions that are there."""
    conn.create_function("string_key", 1, string_key, deterministic=True)
    conn.execute("UPDATE mentions SET string_key = string_key(text)")
    rows = conn.execute("SELECT mention_id, payload FROM suggestions").fetchall()
    values = _values(rows)
    while part := list(islice(values, AT_ONCE)):
        conn.executemany(
            "UPDATE suggestions SET first = ?, probability = ?, margin = ?, is_nil = ? WHERE mention_id = ?", part
        )
    _fill_ranks(conn)


def _fill_ranks(conn: sqlite3.Connection) -> None:
    """Decisions are append-only for everybody else: the trigger that guards them is away for this one statement."""
    query = "SELECT id, outcome, entity_ids, reason, shown FROM decisions WHERE shown IS NOT NULL"
    rows = ((unpack_shown(row[4]).rank_of(verdict_of(*row[1:4])), row[0]) for row in conn.execute(query).fetchall())
    guard = conn.execute("SELECT sql FROM sqlite_master WHERE name = 'decisions_no_update'").fetchone()[0]
    conn.execute("DROP TRIGGER decisions_no_update")
    conn.executemany("UPDATE decisions SET rank = ? WHERE id = ?", rows)
    conn.execute(guard)


def _values(rows: list[tuple[int, bytes]]) -> Iterator[tuple[str | None, float | None, float | None, bool, int]]:
    for mention_id, payload in rows:
        found = unpack_suggestion(mention_id, Stamp("", 0), payload)
        first = found.candidates[0] if found.candidates else None
        entity, probability = (first.entity_id, first.probability) if first else (None, None)
        yield entity, probability, found.chance_margin, found.nil.is_nil, mention_id
