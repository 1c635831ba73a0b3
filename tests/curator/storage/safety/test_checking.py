from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

import pytest

from curator.domain.entities import Entity
from curator.domain.wording import DamagedProjectError, NewerProjectError
from curator.storage.db.engine import ReadSource
from curator.storage.db.mark import mark_as_it_is
from curator.storage.project import create_project, open_project
from curator.storage.safety.backup_places import place_of
from curator.storage.safety.checking import check_steps
from curator.storage.safety.restoring import continue_without
from tests.curator.storage.filler import Filler


def check(folder):
    steps = check_steps(folder)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def change(folder, *statements):
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn, conn:
        for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            conn.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            conn.execute(statement)
    try:
        mark_as_it_is(folder / "project.sqlite")  # as if nothing was lost
    except sqlite3.Error:
        (folder / "project.mark").unlink()


def test_a_mark_that_shows_nothing_is_a_finding_until_it_is_written_again(folder):
    mark = folder / "project.mark"
    mark.write_bytes(mark.read_bytes().replace(b'"closed"', b'"cloSed"'))
    (found,) = check(folder).findings
    assert found.where == mark.name
    assert "could not see it" in found.text
    mark.unlink()
    assert [one.where for one in check(folder).findings] == [mark.name]
    for _ in range(2):
        with open_project(folder) as store, store.write() as unit:
            unit.meta.set("guidelines", "new")
        (found,) = check(folder).findings
        assert (found.where, "when the project was opened on 2" in found.text) == (mark.name, True)
    continue_without(folder)
    assert check(folder).findings == ()


def test_a_new_project_had_no_mark(tmp_path):
    create_project(tmp_path / "new", name="new").close()
    (tmp_path / "new.curation/project.mark").unlink(missing_ok=True)
    open_project(tmp_path / "new").close()
    assert check(tmp_path / "new.curation").findings == ()


@pytest.mark.parametrize("opened", [check, open_project, continue_without, lambda folder: place_of(folder, folder)])
def test_the_log_of_an_emptied_database_is_not_deleted(folder, opened):
    database, wal = folder / "project.sqlite", folder / "project.sqlite-wal"
    database.write_bytes(b"")
    wal.write_bytes(b"x" * 9000)
    (folder / "project.curator").unlink()
    with suppress(DamagedProjectError):
        opened(folder)
    assert wal.read_bytes() == b"x" * 9000
    assert check(folder).findings[0].text.startswith(f"{database} is empty. Restore a backup")


@pytest.mark.parametrize("bytes_of", [lambda content: b"", lambda content: content[:68] + bytes(4) + content[72:]])
def test_a_project_whose_database_is_another_is_damaged(folder, bytes_of):
    database = folder / "project.sqlite"
    database.write_bytes(bytes_of(database.read_bytes()))
    for read_only in (True, False):
        with pytest.raises(DamagedProjectError):
            open_project(folder, read_only=read_only)


def test_a_sound_project_has_no_findings_and_is_not_changed(folder):
    before = {path.name: path.read_bytes() for path in folder.glob("project.*")}
    found = check(folder)
    assert found.findings == ()
    assert found.text.startswith("No problems")
    assert found.looked_at["decisions"] == found.looked_at["operations"] == 40
    assert {name: (folder / name).read_bytes() for name in before} == before
    with open_project(folder):
        assert check(folder).findings == ()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE document_texts SET text = 'A title. The text of the abstract!' WHERE document_id = 2", "document 1"),
        ("DELETE FROM document_texts WHERE document_id = 3", "document 2"),
        (
            "UPDATE mentions SET text = 'other' WHERE id = 4",
            "1 mention differs from the text at its place",
        ),
        ("UPDATE mentions SET start_pos = 1 WHERE id = 4", "1 mention differs from the text at its place"),
        ("UPDATE documents SET linked = linked + 1 WHERE id = 1", "counters of 1 document (0)"),
        ("UPDATE mentions SET outcome = 'nil' WHERE id = 4", "1 mention shows a decision that is not its last"),
        ("UPDATE mentions SET outcome = NULL, decision_id = NULL WHERE id = 4", "not its last one"),
        ("UPDATE decisions SET entity_ids = '[]' WHERE id = 4", "Decision 4 was changed"),
        ("DELETE FROM operations WHERE id = 7", "Step 8 was changed, or a step before it is missing"),
        ("DELETE FROM mentions WHERE id = 60", "refers to a row of “mentions”"),
        (
            "UPDATE kb1_entities SET data = replace(data, 'heart', 'hurt')",
            "knowledge base “kb” differs from the one imported",
        ),
    ],
)
def test_each_damage_is_said_with_its_place_and_what_to_do(folder, decide, statement, words):
    decide([60])
    with open_project(folder) as store:
        Filler(store).kb(Entity("D1", "heart"))
    change(folder, statement)
    found = check(folder)
    assert any(words in one.text or words in one.where for one in found.findings), found
    assert all("backup" in one.text for one in found.findings)
    assert "found in" in found.text


def test_an_index_that_lacks_a_row_is_found(folder):
    change(
        folder,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = 'CREATE INDEX ix_decisions_mention_id ON decisions (curator)'"
        " WHERE name = 'ix_decisions_mention_id'",
    )
    assert any("missing from index" in one.text or "malformed" in one.text for one in check(folder).findings)


def test_what_cannot_be_read_at_all_is_a_finding_and_a_newer_project_is_not(folder):
    database = folder / "project.sqlite"
    content = database.read_bytes()
    for damaged in (b"", b"x" * 4096, content[: len(content) // 2]):
        database.write_bytes(damaged)
        assert check(folder).findings
    database.unlink()
    assert "is missing" in check(folder).findings[0].text
    database.write_bytes(content)
    with closing(sqlite3.connect(database)) as conn:
        conn.execute("PRAGMA user_version = 9")
    with pytest.raises(NewerProjectError):
        check(folder)


def test_a_view_of_a_stranger_is_named_and_not_asked(folder):
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n"
    change(folder, "PRAGMA foreign_keys = OFF", "DROP TABLE mention_edits", f"CREATE VIEW mention_edits AS {endless}")
    (finding,) = check(folder).findings
    assert "a view called “mention_edits”" in finding.text


def test_a_schema_whose_damage_is_no_text_is_a_sentence(folder):
    """SQLite's own message quotes it."""
    database = folder / "project.sqlite"
    whole = database.read_bytes()
    at = whole.index(b"tablesource_filessource_files")
    name = b"table\xc5\xffurce_filessource_files"
    statement = whole[at + len(name) :].replace(b"CREATE TABLE source_files (", b"CREATE TABLE source_files ,", 1)
    database.write_bytes(whole[:at] + name + statement)
    assert check(folder).findings
    for read_only in (False, True):
        with pytest.raises(DamagedProjectError):
            open_project(folder, read_only=read_only)


def test_a_database_that_cannot_be_opened_any_more_is_a_finding(folder, monkeypatch):
    def fails(*_, **__):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    steps = check_steps(folder)
    next(steps)
    monkeypatch.setattr("curator.storage.safety.checking.find_read_source", lambda _: ReadSource("file:x"))
    monkeypatch.setattr(sqlite3, "connect", fails)
    with pytest.raises(StopIteration) as end:
        next(steps)
    (found,) = end.value.value.findings
    assert "The disk failed while" in found.text
