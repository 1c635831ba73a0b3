"""The statements that make a database of schema version 1. Frozen: a change to the schema is a new step."""

from __future__ import annotations

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

# Decisions and operations are only ever appended. What an import that never completed left was never visible to
# anybody and may go; hence a complete file can never become incomplete again. The BEFORE INSERT triggers stop
# INSERT OR REPLACE, which deletes without firing delete triggers.
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
