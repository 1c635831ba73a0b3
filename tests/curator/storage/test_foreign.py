"""A project may come from anybody: what of it could act by itself, or lead elsewhere, is refused."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from curator.domain.wording import DamagedProjectError, UserError
from curator.storage.foreign import SETTINGS
from curator.storage.project import create_project, open_project

SECRET = b"what the user wrote"
ACTS = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM meta; END",
    "our trigger, but another": "DROP TRIGGER decisions_no_update;"
    "CREATE TRIGGER decisions_no_update AFTER INSERT ON decisions BEGIN DELETE FROM suggestions; END",
    "a view": "CREATE VIEW v AS SELECT 1",
    "a view in the place of a table": "DROP TABLE comments;"
    "CREATE VIEW comments AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n",
    "a table that drops rows": "DROP TABLE meta;"
    "CREATE TABLE meta (key TEXT PRIMARY KEY ON CONFLICT IGNORE NOT NULL, value TEXT NOT NULL)",
    "a virtual table in the place of a table": "DROP TABLE comments; CREATE VIRTUAL TABLE comments USING fts5 (text)",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_project(tmp_path / "p", name="P").close()
    return tmp_path / "p.curation"


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("kind", ACTS)
def test_a_schema_that_acts_by_itself_is_refused(folder: Path, kind: str, read_only: bool) -> None:
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
        conn.executescript(f"PRAGMA foreign_keys = OFF; {ACTS[kind]};")
    with pytest.raises(DamagedProjectError, match="no version of Curator creates"):
        open_project(folder, read_only=read_only)


@pytest.mark.parametrize("text", ["1e999", "{", "[" * 100_000, '{"a": 1}', "[[]]", "9" * 6000])
def test_a_setting_that_cannot_be_read_is_named(folder: Path, text: str) -> None:
    (folder / "project.mark").unlink()
    for name, example in SETTINGS.items():
        with closing(sqlite3.connect(folder / "project.sqlite")) as conn, conn:
            conn.execute("DELETE FROM meta WHERE key NOT LIKE 'project.%'")
            conn.execute("INSERT INTO meta VALUES (?, ?)", (name, text))
        if text == '{"a": 1}' and example in ({}, {"": 0}):
            open_project(folder, read_only=True).close()
            continue
        with pytest.raises(DamagedProjectError, match=f"its setting “{name}” cannot be read"):
            open_project(folder, read_only=True)


def test_an_index_and_a_table_of_somebody_elses_tool_stay(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
        conn.executescript("CREATE INDEX mine ON documents (title); CREATE TABLE mine_too (a); ANALYZE; VACUUM;")
    (folder / "project.mark").unlink()
    open_project(folder).close()


def test_functions_of_the_schema_are_not_trusted(folder: Path) -> None:
    with open_project(folder) as store, store.write() as unit:
        assert unit.connection.exec_driver_sql("PRAGMA trusted_schema").scalar_one() == 0


PLACES = (
    "project.sqlite-wal",
    "project.sqlite-journal",
    "project.sqlite-shm",
    "project.curator",
    "project.curator.part",
    "project.sqlite.restored.part",
    "bundles/b/map.json",
    "evaluations/1.json",
)


@pytest.mark.parametrize("place", PLACES)
def test_no_file_of_the_users_is_written_through_a_link(folder: Path, tmp_path: Path, place: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(SECRET)
    link = folder / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(victim)
    with pytest.raises(UserError, match="is a link"):
        open_project(folder)
    assert victim.read_bytes() == SECRET


@pytest.mark.parametrize("name", ["bundles", "evaluations", "fetched"])
def test_no_folder_that_a_link_leads_to_is_cleaned_or_written(folder: Path, tmp_path: Path, name: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / ".staging-1").mkdir(parents=True)
    if (folder / name).exists():
        (folder / name).rmdir()
    (folder / name).symlink_to(elsewhere)
    with pytest.raises(UserError, match="is a link"):
        open_project(folder)
    assert (elsewhere / ".staging-1").is_dir()


def test_a_database_that_is_a_link_is_only_read(folder: Path, tmp_path: Path) -> None:
    (folder / "project.sqlite").rename(tmp_path / "other.sqlite")
    (folder / "project.sqlite").symlink_to(tmp_path / "other.sqlite")
    before = (tmp_path / "other.sqlite").read_bytes()
    with pytest.raises(UserError, match="is a link"):
        open_project(folder)
    open_project(folder, read_only=True).close()
    assert (tmp_path / "other.sqlite").read_bytes() == before


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "evaluations")
    with pytest.raises(UserError, match="neither a file nor a folder"):
        open_project(folder)


def test_what_the_user_put_there_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / "pictures").symlink_to(tmp_path)
    (folder / "guidelines.md").symlink_to(tmp_path / "elsewhere.md")
    open_project(folder).close()


def test_a_link_to_the_whole_project_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "short.curation").symlink_to(folder)
    open_project(tmp_path / "short.curation").close()
