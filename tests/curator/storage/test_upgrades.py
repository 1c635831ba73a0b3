"""A project of every earlier version of the schema becomes what this version would have made of the same work."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from curator.domain.decisions import OperationKind, Shown, ShownCandidate, Verdict
from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.domain.wording import NewerProjectError
from curator.storage import migrations
from curator.storage.db.mark import WRITES, mark_as_it_is, read_mark
from curator.storage.project import create_project, open_project
from curator.storage.safety.checking import check_steps
from curator.storage.store import SqlStore
from tests.curator.storage.filler import AT, Filler, document, mention

NEWEST = migrations.current_version()
EARLIER = range(1, NEWEST)
Rows = dict[str, list[tuple[object, ...]]]


def work(store: SqlStore) -> None:
    """What every version of the program could store: documents, a knowledge base, suggestions and decisions."""
    fill = Filler(store)
    fill.kb(Entity("D1", "heart", ("Disease",), ("cor",)), Entity("D2", "lung", ("Disease",)))
    mentions = [replace(mention(at, at + 2), text=document().text[at : at + 2]) for at in range(8)]
    fill.file(*(document(str(number), mentions=mentions) for number in range(3)))
    ids = [one for _, some in fill.stored for one in some]
    found = tuple(Candidate(f"D{n}", f"name {n}", ("Disease",), "x", 3.0 - n, {"names": 0.5}, 0.5 / n) for n in (1, 2))
    shown = Shown("x", tuple(ShownCandidate(one.entity_id, one.score) for one in found), 0.1)
    with store.write() as unit:
        unit.suggestions.save([Suggestion(one, found, NilEstimate(0.1, False, True), Stamp("x", 1)) for one in ids])
    for number, one in enumerate(ids[:12]):
        verdict = Verdict.link("D2") if number % 3 else Verdict.nil()
        with store.write() as unit:
            step = unit.decisions.append_operation(OperationKind.DECIDE, actor="ada", at=AT, text="Decided")
            unit.decisions.append(
                [one], [verdict], curator="ada", at=AT, operation_id=step, shown=[shown], notes=["a note"]
            )
    fill.decide(ids[12], Verdict.link("D1"))  # as imported gold


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with create_project(tmp_path_factory.mktemp("today") / "p", name="P") as store:
        work(store)
    return store.folder


def earlier(today: Path, place: Path, version: int) -> Path:
    """The same work as a project of that version."""
    folder = place / "p.curation"
    (folder / "bundles").mkdir(parents=True)
    database = folder / "project.sqlite"
    migrations.create_database(database, steps=migrations.STEPS[:version])
    with closing(sqlite3.connect(database, isolation_level=None)) as conn:
        conn.execute("ATTACH ? AS today", (str(today / "project.sqlite"),))
        conn.execute("BEGIN")
        for (name,) in conn.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
            if name != "suggestion_facts" or version > 6:
                columns = ", ".join(row[1] for row in conn.execute(f"PRAGMA main.table_info({name})"))
                conn.execute(f"INSERT INTO main.{name} ({columns}) SELECT {columns} FROM today.{name}")
        for (name,) in conn.execute("SELECT name FROM today.sqlite_master WHERE name GLOB 'kb1_*'").fetchall():
            if name in ("kb1_entities", "kb1_names", "kb1_ids", "kb1_types"):
                conn.execute(f"CREATE TABLE main.{name} AS SELECT * FROM today.{name}")
        conn.execute("COMMIT")
    (folder / "project.curator").write_text(json.dumps({"schema_version": version, "project_id": "x", "name": "P"}))
    if version >= migrations.CHAINED:
        mark_as_it_is(database)
    return folder


def rows_of(database: Path) -> Rows:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as conn:
        names = [row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for name in sorted(one for one in names if not one.startswith(("kb1_", "sqlite_"))):
            columns = sorted(row[1] for row in conn.execute(f"PRAGMA table_info({name})"))
            found[name] = sorted(conn.execute(f"SELECT {', '.join(columns)} FROM {name}"), key=repr)
        found["meta"] = [one for one in found["meta"] if one[0] != WRITES]  # opening writes what a version lacked
        return found


def findings(folder: Path) -> list[object]:
    steps = check_steps(folder)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return list(end.value.findings)


@pytest.mark.parametrize("version", EARLIER)
def test_a_project_of_an_earlier_version_becomes_what_this_one_would_have_made(
    today: Path, tmp_path: Path, version: int
) -> None:
    folder = earlier(today, tmp_path, version)
    before = rows_of(folder / "project.sqlite")
    with open_project(folder):
        pass
    assert rows_of(folder / "project.sqlite") == rows_of(today / "project.sqlite")
    assert findings(folder) == []
    mark, wanted = read_mark(folder), read_mark(today)
    assert mark is not None
    assert wanted is not None
    assert replace(mark.top, written=wanted.top.written) == wanted.top
    assert (mark.closed, bool(mark.digest)) == (True, True)
    assert json.loads((folder / "project.curator").read_text())["schema_version"] == NEWEST
    assert rows_of(folder / f"project.sqlite.backup-v{version}") == before
    with open_project(folder) as store, store.read() as unit:  # the mark agrees with it
        assert unit.decisions.count() == 13


@pytest.mark.parametrize(("version", "step"), [(1, 1), (1, NEWEST - 1), (NEWEST - 1, NEWEST - 1), (4, 6)])
def test_an_upgrade_that_is_interrupted_changes_nothing_and_is_made_at_the_next_opening(
    today: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, step: int
) -> None:
    folder = earlier(today, tmp_path, version)
    before = rows_of(folder / "project.sqlite")
    known = migrations.STEPS[step]

    def interrupted(conn: sqlite3.Connection) -> None:
        known(conn)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", (*migrations.STEPS[:step], interrupted, *migrations.STEPS[step + 1 :]))
        with pytest.raises(KeyboardInterrupt):
            open_project(folder)
    assert rows_of(folder / "project.sqlite") == before
    with open_project(folder):
        pass
    assert rows_of(folder / "project.sqlite") == rows_of(today / "project.sqlite")
    kept = [one.name for one in folder.glob("project.sqlite.*")]
    assert kept == [f"project.sqlite.backup-v{version}"]


def test_an_upgrade_keeps_the_mark_s_end_of_the_steps(
    today: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a log that is lost right after an interrupted one is still noticed."""
    folder = Path(shutil.copytree(today, tmp_path / "p.curation"))
    mark = read_mark(folder)
    assert mark is not None

    def interrupted(_: sqlite3.Connection) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, interrupted))
    with pytest.raises(KeyboardInterrupt):
        open_project(folder)
    kept = read_mark(folder)
    assert kept is not None
    assert (kept.top, kept.closed, kept.digest) == (mark.top, False, "")


@pytest.mark.parametrize(
    ("change", "opens"),
    [
        ("CREATE TABLE moods (id INTEGER PRIMARY KEY)", True),
        ("ALTER TABLE decisions ADD COLUMN mood TEXT", True),
        ("ALTER TABLE decisions RENAME COLUMN curator TO who", False),
        ("DROP TABLE suggestions", False),
    ],
)
def test_a_project_of_a_newer_version_opens_read_only_where_it_still_has_what_this_one_reads(
    tmp_path: Path, change: str, opens: bool
) -> None:
    folder = tmp_path / "newer.curation"
    with create_project(folder, name="P") as store:
        Filler(store).mentions(3)
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn, conn:
        conn.execute(change)
        conn.execute(f"PRAGMA user_version = {migrations.current_version() + 1}")
    (folder / "project.mark").unlink()  # a newer version writes its own
    before = (folder / "project.sqlite").read_bytes()
    with pytest.raises(NewerProjectError, match="newer version"):
        open_project(folder)
    if opens:
        with open_project(folder, read_only=True) as store, store.read() as unit:
            assert unit.documents.counts().mentions == 3
    else:
        with pytest.raises(NewerProjectError, match="in another way"):
            open_project(folder, read_only=True)
    assert (folder / "project.sqlite").read_bytes() == before
