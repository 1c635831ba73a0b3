from __future__ import annotations

import ast
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect

from curator.domain.decisions import Shown, ShownCandidate
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.domain.wording import NewerProjectError, UserError
from curator.storage import migrations
from curator.storage.db import former_schemas, schema
from curator.storage.db.packing import pack_shown, pack_suggestion
from curator.storage.db.schema import Base

STORAGE = Path(migrations.__file__).parent
RELEASED = (
    "05a69372cff7",
    "18db4e03ec42",
    "1ca91866cf3f",
    "199e4adaba79",
    "71d89d6685b2",
    "38aecae6691c",
    "6e8666dfaf96",
    "ce6cd8cf9541",
    "bf1b9192c95c",
    "3494646eaa4b",
    "cd94cb0d096a",
)
"""What the statements of each version hash to."""


def first(conn):
    conn.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")


def second(conn):
    conn.execute("ALTER TABLE notes ADD COLUMN author TEXT NOT NULL DEFAULT 'ada'")


def broken(conn):
    conn.execute("DROP TABLE notes")
    raise ZeroDivisionError


def test_mappings_and_migrated_schema_agree(tmp_path):
    path = tmp_path / "a.sqlite"
    migrations.create_database(path)
    engine = create_engine(f"sqlite:///{path}")
    found = inspect(engine)
    assert set(found.get_table_names()) == set(Base.metadata.tables)
    for name, table in Base.metadata.tables.items():
        columns = {column["name"]: column["nullable"] for column in found.get_columns(name)}
        assert columns == {column.name: bool(column.nullable) for column in table.columns}, name
        keys = {(key["constrained_columns"][0], key["referred_table"]) for key in found.get_foreign_keys(name)}
        assert keys == {(key.parent.name, key.column.table.name) for key in table.foreign_keys}, name
        assert {index["name"] for index in found.get_indexes(name)} == {index.name for index in table.indexes}, name
    engine.dispose()


def test_every_table_is_read_or_written_by_a_repository():
    sources = [path for path in STORAGE.rglob("*.py") if path != Path(schema.__file__)]
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    assert {mapper.class_.__name__ for mapper in Base.registry.mappers} - used == set()


def test_released_versions_stay_as_they_are():
    versions = (
        former_schemas.VERSION_1,
        former_schemas.VERSION_2,
        former_schemas.VERSION_3,
        former_schemas.VERSION_4,
        former_schemas.VERSION_5,
        former_schemas.VERSION_6,
        former_schemas.VERSION_7,
        former_schemas.VERSION_8,
        former_schemas.VERSION_9,
        former_schemas.VERSION_10,
        former_schemas.VERSION_11,
    )
    found = tuple(sha256("\n".join(one).encode()).hexdigest()[:12] for one in versions)
    assert found == RELEASED, "append a step to curator/storage/migrations.py"


def test_an_older_schema_is_copied_then_upgraded_with_its_rows(tmp_path):
    path = tmp_path / "project.sqlite"
    migrations.create_database(path, steps=(first,))
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("INSERT INTO notes (text) VALUES ('old')")
    backup = migrations.upgrade_database(path, steps=(first, second))
    assert backup == tmp_path / "project.sqlite.backup-v1"
    with closing(sqlite3.connect(path)) as new, closing(sqlite3.connect(backup)) as old:
        assert new.execute("SELECT text, author FROM notes").fetchall() == [("old", "ada")]
        assert old.execute("SELECT * FROM notes").fetchall() == [(1, "old")]
    assert migrations.upgrade_database(path, steps=(first, second)) is None


def test_what_a_killed_upgrade_left_of_its_copy_does_not_get_into_the_next(tmp_path):
    path = tmp_path / "project.sqlite"
    migrations.create_database(path, steps=(first,))
    for name in ("project.sqlite.backup-v1.part", "project.sqlite.backup-v1.part-journal"):
        (tmp_path / name).write_bytes(b"half")
    backup = migrations.upgrade_database(path, steps=(first, second))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["project.sqlite", backup.name]


def test_an_upgrade_that_fails_leaves_the_version_before_it(tmp_path):
    path = tmp_path / "project.sqlite"
    migrations.create_database(path, steps=(first,))
    with pytest.raises(ZeroDivisionError):
        migrations.upgrade_database(path, steps=(first, second, broken))
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (1,)
        assert "author" not in conn.execute("SELECT sql FROM sqlite_master").fetchone()[0]
    assert migrations.upgrade_database(path, steps=(first, second)) is not None


def test_newer_and_foreign_databases_are_refused(tmp_path):
    path = tmp_path / "project.sqlite"
    migrations.create_database(path, steps=(first, second))
    with pytest.raises(NewerProjectError):
        migrations.upgrade_database(path, steps=(first,))
    with pytest.raises(UserError, match="not a project"):
        migrations.upgrade_database(tmp_path / "other.sqlite")


def test_version_3_fills_what_the_queue_sorts_suggestions_by(tmp_path):
    path = tmp_path / "project.sqlite"
    migrations.create_database(path, steps=migrations.STEPS[:2])
    found = (Candidate("A", "a", (), "a", 2.0, probability=0.75), Candidate("B", "b", (), "b", 1.0, probability=0.125))
    kept = [
        Suggestion(1, found, NilEstimate(0.1, False, True), Stamp("x", 1)),
        Suggestion(2, found[:1], NilEstimate(0.1, True, True), Stamp("x", 1)),
        Suggestion(3, (), NilEstimate(0.9, True, True), Stamp("x", 1)),
    ]
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.executemany(
            "INSERT INTO suggestions (mention_id, bundle_id, revision, payload) VALUES (?, 'x', 1, ?)",
            [(one.mention_id, pack_suggestion(one)) for one in kept],
        )
    migrations.upgrade_database(path)
    with closing(sqlite3.connect(path)) as conn:
        rows = conn.execute("SELECT first, probability, margin, is_nil FROM suggestions ORDER BY mention_id").fetchall()
    assert rows == [("A", 0.75, 0.625, 0), ("A", 0.75, 0.75, 1), (None, None, None, 1)]


def test_versions_7_9_and_11_fill_what_facets_ask_of_suggestions(tmp_path):
    path = tmp_path / "project.sqlite"
    migrations.create_database(path, steps=migrations.STEPS[:6])
    found = (
        Candidate("A", 'Heart "Arrest"', (), "cardiac arrest", 2.0, {"names": 0.5, "lexical": 0.75}, 0.75),
        Candidate("B", "b", (), "b", 1.0, {"names": 0.25}, 0.125),
        Candidate("C", "c", (), "c", 0.5, {"names": 0.125}, 0.0),
        Candidate("D", "d", (), "d", 0.625, {"names": 0.125}, 0.0),
    )
    kept = [
        Suggestion(1, found, NilEstimate(0.1, False, True), Stamp("x", 1)),
        Suggestion(2, found[1:2], NilEstimate(0.1, True, True), Stamp("x", 1), "a long form"),
        Suggestion(3, (), NilEstimate(0.9, True, True), Stamp("x", 1)),
    ]
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.executemany(
            "INSERT INTO suggestions (mention_id, bundle_id, revision, payload, probability, margin, is_nil)"
            " VALUES (?, 'x', 1, ?, ?, ?, ?)",
            [
                (
                    one.mention_id,
                    pack_suggestion(one),
                    one.candidates[0].probability if one.candidates else None,
                    one.chance_margin,
                    one.nil.is_nil,
                )
                for one in kept
            ],
        )
        conn.execute(
            "INSERT INTO decisions (id, mention_id, outcome, entity_ids, curator, at, note)"
            " VALUES (9, 1, 'link', '[\"B\"]', 'ada', '2026-01-01', '')"
        )
        conn.execute(
            "INSERT INTO mentions (id, document_id, start_pos, end_pos, fragmented, deleted, outcome, decision_id,"
            " record, text, type, origin, raw_ids, flagged, string_key)"
            " VALUES (1, 1, 0, 1, 0, 0, 'link', 9, 0, 'Cardiac  arrest', 'Disease', '', '', 0, '')"
        )
    migrations.upgrade_database(path)
    with closing(sqlite3.connect(path)) as conn:
        rows = conn.execute("SELECT * FROM suggestion_facts ORDER BY mention_id").fetchall()
    assert rows == [
        (1, 4, 0.75, 0.625, 0, 0.125, "synonym", 0.75, 2, 0.625, 1, 0.25),
        (2, 1, 0.125, 0.125, 1, 0.0, "no", 0.25, None, None, 0, None),
        (3, 0, None, None, 1, None, None, None, None, None, None, None),
    ]


def test_version_3_fills_where_decisions_stood_and_guards_them_again(tmp_path):
    path = tmp_path / "project.sqlite"
    migrations.create_database(path, steps=migrations.STEPS[:2])
    shown = Shown("x", (ShownCandidate("A", 2.0), ShownCandidate("B", 1.0)), 0.1)
    rows = [("link", '["B"]', None), ("link", '["C"]', None), ("nil", "[]", "not-in-kb"), ("skipped", "[]", "unsure")]
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.executemany(
            "INSERT INTO decisions (mention_id, outcome, entity_ids, reason, curator, at, note, shown)"
            " VALUES (1, ?, ?, ?, 'ada', '2026-01-01', '', ?)",
            [(*row, pack_shown(shown)) for row in rows] + [(*rows[0], None)],
        )
    migrations.upgrade_database(path)
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT rank FROM decisions ORDER BY id").fetchall() == [
            (2,),
            (0,),
            (-1,),
            (None,),
            (None,),
        ]
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            conn.execute("UPDATE decisions SET rank = 1")


@pytest.mark.parametrize("version", range(1, migrations.current_version()))
def test_every_version_is_brought_to_the_newest_with_what_facets_ask(tmp_path, version):
    path, fresh = tmp_path / "project.sqlite", tmp_path / "new.sqlite"
    migrations.create_database(fresh)
    migrations.create_database(path, steps=migrations.STEPS[:version])
    found = tuple(
        Candidate(name, name, (), name, 1.0, {"lexical": like}) for name, like in (("A", 0.5), ("Text", 0.25))
    )
    kept = pack_suggestion(Suggestion(1, found, NilEstimate(0.1, False, True), Stamp("x", 1)))
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute(
            "INSERT INTO mentions (id, document_id, start_pos, end_pos, fragmented, deleted, record, text, type,"
            " origin, raw_ids) VALUES (1, 1, 0, 4, 0, 0, 0, 'text', 'Disease', '', '')"
        )
        conn.execute("INSERT INTO suggestions (mention_id, bundle_id, revision, payload) VALUES (1, 'x', 1, ?)", [kept])
        if version >= 7:
            conn.execute("INSERT INTO suggestion_facts (mention_id, candidates, is_nil) VALUES (1, 2, 0)")
    migrations.upgrade_database(path)
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(fresh)) as new:
        assert old.execute("SELECT candidates, exact_rank, alike FROM suggestion_facts").fetchall() == [(2, 2, 0.25)]
        columns = "SELECT m.name, t.name, t.type FROM sqlite_master m, pragma_table_info(m.name) t ORDER BY 1, 2"
        assert old.execute(columns).fetchall() == new.execute(columns).fetchall()
