"""A small project with a row in every table, as a killed program leaves it, and changes of its values."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from curator.cli.main import run
from curator.domain.decisions import OperationKind, Verdict
from curator.storage.db.hash_chain import DECISION, OPERATION, link
from curator.storage.project import open_project
from tests.curator.services.fakes import KB, document
from tests.curator.storage.filler import AT

TIME = AT.isoformat()
ENTITY = {"alt_ids": [], "definition": "", "id": "D9", "name": "old", "synonyms": [], "types": []}
ROWS = (
    f"INSERT INTO comments VALUES (1, 1, 1, 'ada', '{TIME}', 'why?', 0)",
    'INSERT INTO relations VALUES (1, 1, \'\', \'CID\', \'[{"role": "a", "mention": 1, "entity": null},'
    f' {{"role": "b", "mention": 2, "entity": null}}]\', \'ada\', \'{TIME}\', 0)',
    f"INSERT INTO provisional_entities VALUES ('NEW:1', 'n', '[\"Disease\"]', '', '[]', 'ada', '{TIME}', 0, NULL)",
    f"INSERT INTO retired_entities VALUES ('D9', '{json.dumps(ENTITY)}')",
    f"INSERT INTO rounds VALUES (1, 'first', 'blind', '{TIME}', 0)",
    "INSERT INTO round_documents VALUES (1, 1)",
    "INSERT INTO judgements (id, round_id, mention_id, curator, outcome, entity_ids, reason, at, note)"
    f" VALUES (1, 1, 1, 'bob', 'link', '[\"D1\"]', NULL, '{TIME}', '')",
    "INSERT INTO mention_attributes (id, mention_id, attribute_id, value_id, operation_id, behind, curator, at, note)"
    f" VALUES (1, 1, 1, 1, 1, 0, 'ada', '{TIME}', '')",
    f"INSERT INTO opinions VALUES (1, 'D1', 'model', 'x', '{TIME}', 'because')",
    "INSERT INTO efforts VALUES (1, 2, 300)",
    "INSERT INTO mention_edits SELECT 1, id, 3, '[[2, 4]]', 'X', '[[2, 4]]', type FROM mentions WHERE id = 3",
    "UPDATE mentions SET fragmented = 1 WHERE id = 2",
    "INSERT INTO fragments SELECT id, 0, start_pos, end_pos FROM mentions WHERE id = 2",
    "INSERT INTO former_texts VALUES (1, 3, 4, 1, 0, 'A title', 'Other text.', '', '[[\"title\", 0, 7, \"\"]]')",
)
CASES = (
    ("documents", "state", "'evil'"),
    ("documents", "split", "'evil'"),
    ("documents", "revision", "'x'"),
    ("documents", "occurrence", "-1"),
    ("mentions", "start_pos", "-5"),
    ("mentions", "start_pos", "99999"),
    ("mentions", "end_pos", "'x'"),
    ("mentions", "end_pos", "start_pos"),
    ("fragments", "end_pos", "start_pos"),
    ("mentions", "origin", "'evil'"),
    ("mentions", "outcome", "'evil'"),
    ("mentions", "deleted", "7"),
    ("mentions", "text", "x'ff'"),
    ("fragments", "start_pos", "-1"),
    ("passages", "start_pos", "-1"),
    ("passages", "end_pos", "'x'"),
    ("decisions", "outcome", "'evil'"),
    ("decisions", "outcome", "'nil'"),
    ("decisions", "entity_ids", "'{}'"),
    ("decisions", "entity_ids", "'{\"D1\": 1}'"),
    ("decisions", "entity_ids", "'[1]'"),
    ("decisions", "entity_ids", "'['"),
    ("decisions", "entity_ids", "'[\"D' || char(4) || '1\"]'"),
    ("decisions", "reason", "'not-in-kb'"),
    ("decisions", "at", "'2026-11-27T06:4t:56'"),
    ("decisions", "at", "''"),
    ("operations", "kind", "'evil'"),
    ("operations", "at", "'soon'"),
    ("operations", "payload", "'nonsense'"),
    ("operations", "payload", "'[]'"),
    ("operations", "payload", '\'{"mentions": "x"}\''),
    ("operations", "payload", '\'{"mentions": [1], "states": [[1, "evil", "todo"]]}\''),
    ("operations", "payload", '\'{"mentions": ["x"], "states": []}\''),
    ("imports", "kind", "'evil'"),
    ("imports", "at", "'2024-02-30T00:00:00+00:00'"),
    ("imports", "counts", "'[]'"),
    ("imports", "counts", "'{'"),
    ("source_files", "imported_at", "'x'"),
    ("kb_versions", "types", "'{'"),
    ("kb_versions", "types", "'[1]'"),
    ("kb1_entities", "data", "'{'"),
    ("comments", "at", "'x'"),
    ("relations", "ends", "'x'"),
    ("relations", "ends", "'[{}]'"),
    ("relations", "at", "'x'"),
    ("provisional_entities", "types", "'x'"),
    ("provisional_entities", "synonyms", "'{}'"),
    ("provisional_entities", "at", "'x'"),
    ("retired_entities", "data", "'[]'"),
    ("rounds", "kind", "'evil'"),
    ("rounds", "at", "'x'"),
    ("judgements", "outcome", "'evil'"),
    ("judgements", "entity_ids", "'x'"),
    ("judgements", "reason", "'evil'"),
    ("judgements", "at", "'x'"),
    ("mention_attributes", "at", "'x'"),
    ("opinions", "at", "'x'"),
    ("efforts", "keys", "-1"),
    ("mention_edits", "spans_before", "'x'"),
    ("mention_edits", "spans_after", "'[[4, 2]]'"),
    ("former_texts", "passages", "'[[1]]'"),
)
"""Table, column and what SQL says for a wrong value in it."""


def make_killed(folder: Path) -> Path:
    """A project whose program was killed after some decisions."""
    whole, killed = folder / "open.curation", folder / "killed.curation"
    kb, documents = folder / "kb.jsonl", folder / "documents.pubtator"
    kb.write_text("".join(json.dumps(one) + "\n" for one in KB), encoding="utf-8")
    documents.write_text("".join(document(n) for n in range(1, 4)), encoding="utf-8")
    for command in (("new", whole), ("kb", "import", whole, kb), ("import", whole, documents, "--gold")):
        assert run([str(one) for one in command]) == 0
    with open_project(whole) as store:
        for mention_id, verdict in enumerate((Verdict.link("D1"), Verdict.nil(), Verdict.link("D1", "D2")), start=1):
            with store.write() as unit:
                payload = {"mentions": [mention_id], "states": [[1, "todo", "in_progress"]]}
                step = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="Linked", payload=payload)
                unit.decisions.append([mention_id], [verdict], curator="ada", at=AT, operation_id=step, shown=[None])
        with store.write() as unit:  # document 3 got another text: see `former_texts` in `ROWS`
            taken = {"document": 3, "file": 1, "base": 0, "before": [], "lost": [], "state": "todo", "restated": []}
            unit.operations.append(OperationKind.TAKE_TEXT, actor="ada", at=AT, text="Took it", payload=taken)
        store.settle()
        shutil.copytree(whole, killed)
    change(killed, *ROWS)
    return killed


@contextlib.contextmanager
def _unguarded(conn: sqlite3.Connection) -> Iterator[None]:
    """Without the triggers, and afterwards with hashes that fit."""
    triggers = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        conn.execute(f"DROP TRIGGER {name}")
    yield
    _fill_chain(conn, "operations", OPERATION, "ORDER BY id")
    _fill_chain(conn, "decisions", DECISION, "WHERE operation_id IS NOT NULL ORDER BY operation_id, id")
    for _, statement in triggers:
        conn.execute(statement)


def _fill_chain(conn: sqlite3.Connection, table: str, columns: tuple[str, ...], which: str) -> None:
    before: bytes | None = None
    text = len(columns) - (columns[-1] == "shown")
    for row in conn.execute(f"SELECT {', '.join(columns)} FROM {table} {which}").fetchall():
        before = link(before, row[:text], *row[text:])
        conn.execute(f"UPDATE {table} SET hash = ? WHERE id = ?", (before, row[0]))


def change(folder: Path, *statements: str) -> None:
    """Change the database and its hashes, as a stranger would who knows them."""
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn, conn, _unguarded(conn):
        for statement in statements:
            conn.execute(statement)
    (folder / "project.mark").unlink(missing_ok=True)


def set_value(folder: Path, table: str, column: str, value: str) -> None:
    """In the first row."""
    key = _FIRST.get(table, "rowid")
    change(folder, f"UPDATE {table} SET {column} = {value} WHERE {key} = (SELECT min({key}) FROM {table})")


_FIRST = {"fragments": "mention_id", "passages": "document_id"}
"""Tables without row ids."""
