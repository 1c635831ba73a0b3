"""A snapshot as services write it is one that the training job reads, and refuses where it may not have it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curator.domain.documents import Split
from curator.domain.suggestions import Opinion
from curator.domain.wording import UserError
from curator.services.training.snapshots import write_knowledge_base, write_snapshot
from curator.storage.project import open_project
from curator.storage.store import SqlStore
from models.core.kb import read_kb
from models.errors import ModelError
from tests.curator.services.fakes import World, finish
from training.data.snapshot import Gold, read_snapshot


@pytest.fixture
def folder(world: World, tmp_path: Path) -> Path:
    """The folder of a project with one document in each split."""
    world.kb()
    for number, split in enumerate(Split, start=1):
        world.documents(1, first=number, name=f"{split}.pubtator", gold=True, split=split)
    return world.project.folder


def test_the_training_job_reads_what_services_write(folder: Path, tmp_path: Path) -> None:
    store = open_project(folder, read_only=True)
    out = tmp_path / "snapshot"
    try:
        written = finish(write_snapshot(store, out, (Split.TRAIN, Split.VALIDATION), kb_hash="k"))
    finally:
        store.close()
    snapshot = read_snapshot(out)
    assert written == {"documents": 2}
    assert snapshot.kb_hash == "k"
    assert [document.split.value for document in snapshot.documents] == ["train", "validation"]
    golds = [mention.gold for mention in snapshot.documents[0].mentions]
    assert golds == [Gold(("MESH:D008012",)), Gold(("MESH:D006323",)), Gold(("MESH:D001145",)), Gold(nil=True)]
    assert snapshot.documents[0].mentions[1].types == ("Disease",)


def test_some_documents_that_wait_for_decisions_come_along(world: World, folder: Path, tmp_path: Path) -> None:
    world.documents(3, first=10, name="waiting.pubtator", split=Split.TRAIN)
    store = open_project(folder, read_only=True)
    try:
        for waiting in (0, 2, 9):
            out = tmp_path / f"snapshot{waiting}"
            written = finish(write_snapshot(store, out, (Split.TRAIN,), kb_hash="k", waiting=waiting))
            assert written == {"documents": 1}
            undecided = [d for d in read_snapshot(out).documents if all(m.gold is None for m in d.mentions)]
            assert len(undecided) == min(waiting, 3)
            assert all(document.mentions for document in undecided)
    finally:
        store.close()


def test_a_snapshot_with_test_documents_is_for_evaluation_only(folder: Path, tmp_path: Path) -> None:
    store = open_project(folder, read_only=True)
    out = tmp_path / "snapshot"
    try:
        finish(write_snapshot(store, out, (Split.TEST,), kb_hash="k", only_done=True))
    finally:
        store.close()
    with pytest.raises(ModelError, match="never used for training"):
        read_snapshot(out)
    assert len(read_snapshot(out, allow_test=True).documents) == 1


def test_the_knowledge_base_of_a_job_is_the_stores(folder: Path, tmp_path: Path) -> None:
    store = open_project(folder, read_only=True)
    try:
        written = finish(write_knowledge_base(store, tmp_path / "kb.jsonl"))
    finally:
        store.close()
    kb = read_kb(tmp_path / "kb.jsonl")
    assert written == {"entities": 3}
    assert [(one.id, one.names, one.alt_ids) for one in kb.entities] == [
        ("MESH:D008012", ("Lidocaine", "Xylocaine"), ()),
        ("MESH:D001145", ("Arrhythmia",), ("OMIM:115000",)),
        ("MESH:D006323", ("Heart Arrest", "Cardiac arrest"), ()),
    ]


def test_a_folder_that_cannot_be_written_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = open_project(folder, read_only=True)
    try:
        with pytest.raises(UserError, match=r"cannot be written to .*/file/snapshot"):
            finish(write_snapshot(store, tmp_path / "file" / "snapshot", (Split.TRAIN,), kb_hash="k"))
        with pytest.raises(UserError, match=r"cannot be written to .*/file"):
            finish(write_knowledge_base(store, tmp_path / "file" / "kb.jsonl"))
    finally:
        store.close()


def test_a_snapshot_carries_the_second_opinions(world: World, folder: Path, tmp_path: Path) -> None:
    first, second, *_ = world.mentions(1)
    at = datetime(2026, 5, 4, tzinfo=UTC)
    with world.store.write() as unit:
        unit.suggestions.save_opinions(
            [Opinion(first, "MESH:D008012", "m", "p", at), Opinion(second, None, "m", "p", at)]
        )
    finish(write_snapshot(world.store, tmp_path / "snapshot", (Split.TRAIN,), kb_hash="k"))
    [document] = read_snapshot(tmp_path / "snapshot").documents
    assert [one.opinion for one in document.mentions] == ["MESH:D008012", "", None, None]
    assert [one.opinion for one in document.to_input().mentions] == ["MESH:D008012", "", None, None]
    assert "opinion" not in json.loads((tmp_path / "snapshot" / "documents.jsonl").read_text())["mentions"][2]


def test_a_snapshot_is_saved_in_the_project(
    world: World, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[bool] = []
    monkeypatch.setattr(SqlStore, "settle", lambda _: saved.append((tmp_path / "s" / "documents.jsonl").exists()))
    finish(write_snapshot(world.store, tmp_path / "s", (Split.TRAIN,), kb_hash="k"))
    assert saved == [True]
