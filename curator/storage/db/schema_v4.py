"""What schema version 4 adds: the list of imports, imports that were undone, and the texts that newer ones replaced."""

from __future__ import annotations

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
