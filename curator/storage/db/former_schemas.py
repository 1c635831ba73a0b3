"""The statements that create a database of schema version 1. Frozen: a change of the schema is a new step."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice

from curator.domain.same_string import string_key
from curator.domain.suggestions import Stamp
from curator.storage.db.packing import unpack_shown, unpack_suggestion, verdict_of

TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)",
    """CREATE TABLE source_files (
        id INTEGER PRIMARY KEY NOT NULL, path TEXT NOT NULL, name TEXT NOT NULL, format TEXT NOT NULL,
        sha256 TEXT NOT NULL, head TEXT NOT NULL, tail TEXT NOT NULL, extra TEXT NOT NULL, imported_at TEXT,
        complete BOOLEAN NOT NULL)""",
    """CREATE TABLE documents (
        id INTEGER PRIMARY KEY NOT NULL, file_id INTEGER NOT NULL REFERENCES source_files (id),
        external_id TEXT NOT NULL, occurrence INTEGER NOT NULL, title TEXT NOT NULL, search_text TEXT NOT NULL,
        split TEXT NOT NULL, state TEXT NOT NULL, revision INTEGER NOT NULL, text_sha256 TEXT NOT NULL,
        mentions INTEGER NOT NULL, linked INTEGER NOT NULL, nil INTEGER NOT NULL, rejected INTEGER NOT NULL,
        skipped INTEGER NOT NULL, stamp_bundle TEXT, stamp_revision INTEGER,
        UNIQUE (file_id, external_id, occurrence))""",
    """CREATE TABLE document_texts (
        document_id INTEGER PRIMARY KEY NOT NULL REFERENCES documents (id), text TEXT NOT NULL, raw TEXT NOT NULL)""",
    """CREATE TABLE passages (
        document_id INTEGER NOT NULL REFERENCES documents (id), ordinal INTEGER NOT NULL, kind TEXT NOT NULL,
        start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL, label TEXT NOT NULL,
        PRIMARY KEY (document_id, ordinal)) WITHOUT ROWID""",
    """CREATE TABLE mentions (
        id INTEGER PRIMARY KEY NOT NULL, document_id INTEGER NOT NULL REFERENCES documents (id),
        start_pos INTEGER NOT NULL, end_pos INTEGER NOT NULL, fragmented BOOLEAN NOT NULL, deleted BOOLEAN NOT NULL,
        outcome TEXT, decision_id INTEGER, record INTEGER NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL,
        origin TEXT NOT NULL, raw_ids TEXT NOT NULL)""",
    """CREATE TABLE fragments (
        mention_id INTEGER NOT NULL REFERENCES mentions (id), ordinal INTEGER NOT NULL, start_pos INTEGER NOT NULL,
        end_pos INTEGER NOT NULL, PRIMARY KEY (mention_id, ordinal)) WITHOUT ROWID""",
    """CREATE TABLE operations (
        id INTEGER PRIMARY KEY NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL, at TEXT NOT NULL,
        text TEXT NOT NULL, target INTEGER REFERENCES operations (id), payload TEXT NOT NULL, undo_after INTEGER,
        redo_after INTEGER)""",
    """CREATE TABLE decisions (
        id INTEGER PRIMARY KEY NOT NULL, mention_id INTEGER NOT NULL REFERENCES mentions (id),
        operation_id INTEGER REFERENCES operations (id), outcome TEXT NOT NULL, entity_ids TEXT NOT NULL,
        reason TEXT, curator TEXT NOT NULL, at TEXT NOT NULL, note TEXT NOT NULL, shown BLOB)""",
    """CREATE TABLE suggestions (
        mention_id INTEGER PRIMARY KEY NOT NULL REFERENCES mentions (id), bundle_id TEXT NOT NULL,
        revision INTEGER NOT NULL, payload BLOB NOT NULL)""",
    """CREATE TABLE kb_versions (
        id INTEGER PRIMARY KEY NOT NULL, name TEXT NOT NULL, active BOOLEAN NOT NULL, content_hash TEXT NOT NULL,
        entities INTEGER NOT NULL, names INTEGER NOT NULL, definitions INTEGER NOT NULL, types TEXT NOT NULL)""",
)

INDEXES = (
    "CREATE INDEX ix_source_files_sha256 ON source_files (sha256)",
    "CREATE INDEX ix_mentions_document_id ON mentions (document_id)",
    "CREATE INDEX ix_decisions_mention_id ON decisions (mention_id)",
    "CREATE INDEX ix_decisions_operation_id ON decisions (operation_id)",
)

# Decisions and operations are append-only. The remains of an incomplete import were never visible and may be removed;
# hence a complete file can never become incomplete again. The BEFORE INSERT triggers stop INSERT OR REPLACE, which
# deletes without firing delete triggers.
_VISIBLE = """(SELECT f.complete FROM mentions m JOIN documents d ON d.id = m.document_id
    JOIN source_files f ON f.id = d.file_id WHERE m.id = OLD.mention_id)"""

TRIGGERS = (
    "CREATE TRIGGER decisions_no_update BEFORE UPDATE ON decisions"
    " BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END",
    f"CREATE TRIGGER decisions_no_delete BEFORE DELETE ON decisions WHEN {_VISIBLE} IS NOT 0"
    " BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END",
    "CREATE TRIGGER decisions_no_replace BEFORE INSERT ON decisions"
    " WHEN EXISTS (SELECT 1 FROM decisions WHERE id = NEW.id)"
    " BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END",
    "CREATE TRIGGER operations_no_update BEFORE UPDATE ON operations"
    " BEGIN SELECT RAISE(ABORT, 'operations are append-only'); END",
    "CREATE TRIGGER operations_no_delete BEFORE DELETE ON operations"
    " BEGIN SELECT RAISE(ABORT, 'operations are append-only'); END",
    "CREATE TRIGGER operations_no_replace BEFORE INSERT ON operations"
    " WHEN EXISTS (SELECT 1 FROM operations WHERE id = NEW.id)"
    " BEGIN SELECT RAISE(ABORT, 'operations are append-only'); END",
    "CREATE TRIGGER source_files_stay_complete BEFORE UPDATE OF complete ON source_files"
    " WHEN OLD.complete AND NOT NEW.complete"
    " BEGIN SELECT RAISE(ABORT, 'a complete file stays complete'); END",
)

VERSION_1 = TABLES + INDEXES + TRIGGERS


# What schema version 2 adds: indexes for the window's queries after every key. Frozen, like version 1. With 100,000
# documents the counts of the queue's facets took 0.2 s for every decision and the project's mention types 0.5 s; from
# these covering indexes they take a tenth of it.

VERSION_2 = (
    "CREATE INDEX ix_documents_queue ON documents (state, split, file_id, mentions, linked, nil, rejected, skipped)",
    "CREATE INDEX ix_mentions_type ON mentions (type, deleted, document_id)",
)


# What schema version 3 adds: columns for sorting and counting suggestions in the queue, flags and comments, provisional
# entities, rounds with their judgements, the effort of each decision, and its rank in the shown list. Frozen, like the
# versions before. `suggestions.margin` is the first candidate's probability minus the second's (or 0, if there is
# none).

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
    """Fill the new columns of existing mentions, suggestions and decisions."""
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
    """Decisions are append-only: their trigger is dropped only for this statement."""
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


# What schema version 4 adds: the list of imports, undone imports, and former texts.

VERSION_4 = (
    "ALTER TABLE source_files ADD COLUMN withdrawn BOOLEAN NOT NULL DEFAULT 0",
    """CREATE TABLE imports (
        id INTEGER PRIMARY KEY NOT NULL, file_id INTEGER NOT NULL REFERENCES source_files (id), batch INTEGER NOT NULL,
        kind TEXT NOT NULL, curator TEXT NOT NULL, at TEXT NOT NULL, counts TEXT NOT NULL)""",
    """CREATE TABLE former_texts (
        id INTEGER PRIMARY KEY NOT NULL, document_id INTEGER NOT NULL REFERENCES documents (id),
        operation_id INTEGER NOT NULL REFERENCES operations (id),
        file_id INTEGER NOT NULL REFERENCES source_files (id), occurrence INTEGER NOT NULL, title TEXT NOT NULL,
        text TEXT NOT NULL, raw TEXT NOT NULL, passages TEXT NOT NULL)""",
    "CREATE INDEX ix_imports_file_id ON imports (file_id)",
    "CREATE INDEX ix_former_texts_document_id ON former_texts (document_id, operation_id)",
    "CREATE INDEX ix_documents_external_id ON documents (external_id)",
    *(
        f"CREATE TRIGGER {table}_no_{what.lower()} BEFORE {what} ON {table}"
        f" BEGIN SELECT RAISE(ABORT, '{words} are append-only'); END"
        for table, words in (("imports", "records of imports"), ("former_texts", "former texts"))
        for what in ("UPDATE", "DELETE")
    ),
)


# What schema version 5 adds: the attributes of mentions. The project's list of them is a value of `meta`.

VERSION_5 = (
    """CREATE TABLE mention_attributes (
        id INTEGER PRIMARY KEY NOT NULL, mention_id INTEGER NOT NULL REFERENCES mentions (id),
        attribute_id INTEGER NOT NULL, value_id INTEGER, operation_id INTEGER REFERENCES operations (id),
        round_id INTEGER REFERENCES rounds (id), behind INTEGER NOT NULL, curator TEXT NOT NULL, at TEXT NOT NULL,
        note TEXT NOT NULL)""",
    "CREATE INDEX ix_mention_attributes_mention_id ON mention_attributes (mention_id, round_id, attribute_id)",
    "CREATE INDEX ix_mention_attributes_value_id ON mention_attributes (value_id, mention_id)",
    "CREATE INDEX ix_mention_attributes_operation_id ON mention_attributes (operation_id)",
    "CREATE INDEX ix_mention_attributes_round_id ON mention_attributes (round_id, curator)",
    *(
        f"CREATE TRIGGER mention_attributes_no_{what.lower()} BEFORE {what} ON mention_attributes"
        " BEGIN SELECT RAISE(ABORT, 'attributes of mentions are append-only'); END"
        for what in ("UPDATE", "DELETE")
    ),
)


# What schema version 6 adds: second opinions of a language model, one per mention.

VERSION_6 = (
    """CREATE TABLE opinions (
        mention_id INTEGER PRIMARY KEY NOT NULL REFERENCES mentions (id), entity_id TEXT, model TEXT NOT NULL,
        prompt TEXT NOT NULL, at TEXT NOT NULL, reason TEXT NOT NULL)""",
)


# What schema version 7 adds: values of suggestions for facets, in a separate narrow table.

VERSION_7 = (
    """CREATE TABLE suggestion_facts (
        mention_id INTEGER PRIMARY KEY NOT NULL REFERENCES mentions (id), candidates INTEGER NOT NULL, probability REAL,
        margin REAL, is_nil BOOLEAN NOT NULL, second REAL, matched TEXT, similarity REAL, decided_rank INTEGER)""",
)


# What schema version 8 adds: relations that curators added or deleted.

VERSION_8 = (
    """CREATE TABLE relations (
        id INTEGER PRIMARY KEY NOT NULL, document_id INTEGER NOT NULL REFERENCES documents (id), source TEXT NOT NULL,
        type TEXT NOT NULL, ends TEXT NOT NULL, author TEXT NOT NULL, at TEXT NOT NULL, deleted BOOLEAN NOT NULL)""",
    "CREATE INDEX ix_relations_document_id ON relations (document_id)",
    "CREATE INDEX ix_relations_type ON relations (type)",
)
VERSION_9 = ("ALTER TABLE suggestion_facts ADD COLUMN others FLOAT",)


# What schema version 10 adds: hashes that chain operations and decisions, see `chain`.

VERSION_10 = (
    "ALTER TABLE operations ADD COLUMN hash BLOB",
    "ALTER TABLE decisions ADD COLUMN hash BLOB",
)


# What schema version 11 adds: names of the candidates after the first.

VERSION_11 = (
    "ALTER TABLE suggestion_facts ADD COLUMN exact_rank INTEGER",
    "ALTER TABLE suggestion_facts ADD COLUMN alike FLOAT",
)
