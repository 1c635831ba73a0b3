"""A project in a folder and in a database: the same rows there and back, and nothing where a move is stopped."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from curator.domain.decisions import OperationKind, Verdict
from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import NewerProjectError, ProjectLockedError, UserError
from curator.services.ports.address import SharedAddress
from curator.storage.db.schema import Base
from curator.storage.project import create_project, open_project
from curator.storage.team import moving, postgres
from curator.storage.team.moving import move
from curator.storage.team.project import open_shared_project
from tests.curator.storage.filler import AT, Filler
from tests.postgres import Server

ENTITIES = tuple(Entity(f"X:{n:04}", f"name {n}", ("é",), ("Disease",), "word") for n in range(1200))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with all that is not a plain row: a knowledge base, a linker, an evaluation, a chain of hashes."""
    path = tmp_path / "p.curation"
    with create_project(path, name="trial") as store:
        fill = Filler(store)
        ids = fill.mentions(5)
        with store.write() as unit:
            version = unit.kb.begin(name="kb")
            unit.kb.add(version, ENTITIES)
            unit.kb.add_obsolete(version, "source", [ObsoleteEntity("X:gone", "old name")])
            unit.kb.activate(version)
        for one in ids:
            with store.write() as unit:
                step = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="\t\\N“é”\n")
            fill.decide(one, Verdict.link("X:0003"), operation_id=step)
        with store.write() as unit:
            unit.mentions.set_deleted(ids[:1], True)
    for name in ("bundles/l1/manifest.json", "bundles/l1/names/z", "evaluations/e/report.json"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(name.encode())
    return path


def rows(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(folder / "project.sqlite")) as conn:
        return {
            one.name: conn.execute(f"SELECT * FROM {one.name} ORDER BY 1, 2").fetchall()
            for one in Base.metadata.sorted_tables
        }


def files(folder: Path) -> dict[str, bytes]:
    found = {one.relative_to(folder).as_posix(): one for one in folder.rglob("*") if one.is_file()}
    return {name: one.read_bytes() for name, one in found.items() if not name.startswith("project.")}


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Without what reading leaves beside a database."""
    found = (one for one in folder.rglob("*") if one.is_file() and not one.name.endswith(("-shm", "-wal", ".lock")))
    return {str(one): (one.read_bytes(), one.stat().st_mtime_ns) for one in found}


def test_there_and_back_gives_the_same_project(server, empty_base, folder, tmp_path):
    before, back = state(folder), tmp_path / "back.curation"
    counts = move(folder, empty_base)
    assert (counts["documents"], counts["decisions"], counts["linkers"]) == (1, 5, 1)
    assert state(folder) == before
    with open_shared_project(empty_base) as store, store.read() as unit:
        assert unit.kb.get("X:0003") == ENTITIES[3]
        assert unit.kb.obsolete(["x:gone"])
    assert move(empty_base, back) == counts
    assert rows(back) == rows(folder)
    assert files(back) == files(folder)
    with open_project(back) as store, store.read() as unit:  # the chain of hashes is compared
        assert list(unit.kb.iterate()) == list(ENTITIES)
        assert unit.kb.search("name 44")


@pytest.mark.parametrize("step", ["send_linker", "_copy_files"])
def test_a_move_to_a_server_that_is_stopped_leaves_an_empty_database(server, empty_base, folder, monkeypatch, step):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(moving, step, stop)
        with pytest.raises(KeyboardInterrupt):
            move(folder, empty_base)
    assert server.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'curator'", base=empty_base.base) == []
    move(folder, empty_base)


def test_a_move_to_a_folder_that_is_stopped_leaves_no_folder(server: Server, empty_base, folder, tmp_path, monkeypatch):
    move(folder, empty_base)
    target = tmp_path / "there" / "back.curation"
    target.parent.mkdir()
    for name, stop in (("fetch_linker", KeyboardInterrupt), ("load_pieces", OSError(28, "No space left on device"))):
        with monkeypatch.context() as patch:
            patch.setattr(moving, name, raising(stop))
            with pytest.raises((KeyboardInterrupt, UserError)):
                move(empty_base, target)
        assert list(target.parent.iterdir()) == []
    move(empty_base, target)


def raising(error):
    def fails(*_: object) -> None:
        raise error

    return fails


def test_what_is_in_use_or_in_the_way_is_refused(server: Server, empty_base, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(postgres, "PATIENCE", 0.2)
    with open_project(folder), pytest.raises(ProjectLockedError):
        move(folder, empty_base)
    move(folder, empty_base)
    with pytest.raises(UserError, match="holds the project “trial” already"):
        move(folder, empty_base)
    with pytest.raises(UserError, match="already exists"):
        move(empty_base, folder)
    with open_shared_project(empty_base), pytest.raises(ProjectLockedError):
        move(empty_base, tmp_path / "other")
    server.sql("UPDATE curator.schema_version SET version = 99", base=empty_base.base)
    with pytest.raises(NewerProjectError):
        move(empty_base, tmp_path / "other")
    assert not list(tmp_path.glob("*other*"))


def test_two_places_of_one_kind_are_refused(tmp_path):
    other = SharedAddress.parse("postgresql://nowhere.invalid/base")
    for one, text in ((tmp_path, "Both places are folders"), (other, "Both places are addresses")):
        with pytest.raises(UserError, match=text):
            move(one, one)


def test_a_text_that_the_server_cannot_keep_stops_the_move(server: Server, empty_base: SharedAddress, folder):
    with open_project(folder) as store, store.write() as unit:
        unit.meta.set("k", "a\x00b")
    with pytest.raises(UserError, match=r"U\+0000"):
        move(folder, empty_base)
    assert server.sql("SELECT 1 FROM pg_namespace WHERE nspname = 'curator'", base=empty_base.base) == []


def test_a_project_with_links_is_not_sent_to_a_server(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("a secret", encoding="utf-8")
    (folder / "bundles" / "l1" / "weights").symlink_to(tmp_path / "private")
    with pytest.raises(UserError, match="weights is a link"):
        move(folder, SharedAddress.parse("postgresql://nowhere.invalid/base"))
