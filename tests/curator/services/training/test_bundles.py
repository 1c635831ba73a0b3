"""What bundles take on the disk, what deleting one leaves of the others, and what a preview says of the folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from curator.domain.decisions import Change, ChangeKind
from curator.domain.jobs import BundleInfo, JobOutcome, JobState
from curator.domain.wording import UserError
from curator.jobs.bundles import FolderBundleStore
from curator.services.training.bundles import disk_use, manifest_text, notes_of, size_words
from curator.services.training.snapshots import SnapshotCounts
from curator.services.training.training_preview import decisions_problem, folder_problem
from tests.curator.services.fakes import World


@pytest.fixture
def indexed(world: World) -> World:
    world.kb()
    world.index()
    return world


def bundles(world: World) -> list[BundleInfo]:
    return world.project.retraining.bundles()


def share(world: World) -> tuple[BundleInfo, BundleInfo, Path]:
    """Both bundles with a file of 1,000 bytes in common, the old one with 500 of its own."""
    old, new = bundles(world)
    (Path(old.path) / "weights").write_bytes(b"w" * 1000)
    (Path(old.path) / "own").write_bytes(b"o" * 500)
    os.link(Path(old.path) / "weights", Path(new.path) / "weights")
    return old, new, Path(new.path) / "weights"


def test_shared_files_count_once(indexed: World) -> None:
    old, new, _ = share(indexed)
    manifests = {one.id: (Path(one.path) / "manifest.json").stat().st_size for one in (old, new)}
    report = indexed.project.retraining.disk()
    assert report.bundles[old.id].size == 1500 + manifests[old.id]
    assert report.bundles[old.id].own == 500 + manifests[old.id]
    assert report.total == 1500 + sum(manifests.values())
    assert disk_use([]).total == 0


def test_what_interrupted_trainings_keep_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "1.safetensors").write_bytes(b"c" * 300)
    report = disk_use([], trainings=[tmp_path])
    assert (report.total, report.trainings) == (0, 300)


def test_deleting_frees_only_its_own_files(indexed: World) -> None:
    old, new, shared = share(indexed)
    before = indexed.project.retraining.disk()
    heard: list[Change] = []
    indexed.project.events.subscribe(heard.append)
    indexed.project.retraining.delete(old.id)
    assert [one.kind for one in heard] == [ChangeKind.BUNDLE]
    assert not Path(old.path).exists()
    assert shared.read_bytes() == b"w" * 1000
    assert [one.id for one in bundles(indexed)] == [new.id]
    assert before.total - indexed.project.retraining.disk().total == before.bundles[old.id].own
    assert list((indexed.project.folder / "bundles").glob(".*")) == []
    with pytest.raises(UserError, match="no earlier linker"):
        indexed.project.retraining.rollback()


def test_the_one_that_serves_cannot_be_deleted(indexed: World) -> None:
    _, new = bundles(indexed)
    with pytest.raises(UserError, match="is in use"):
        indexed.project.retraining.delete(new.id)
    with pytest.raises(UserError, match="was not found in"):
        indexed.project.retraining.delete("nothing")
    assert Path(new.path).is_dir()


def test_the_manifest_is_shown_without_its_long_lists(indexed: World) -> None:
    old, _ = bundles(indexed)
    assert '"kb_hash"' in manifest_text(old)
    assert '"metrics"' not in manifest_text(old)
    assert notes_of(old) == ()
    (Path(old.path) / "manifest.json").write_text("{", encoding="utf-8")
    assert manifest_text(old) == ""


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (12_345, "12.3 kB"), (5_000_000, "5.0 MB"), (7 * 10**12, "7,000.0 GB")],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert size_words(size) == words


# --- what keeps a training from starting ---


def counts(links: int = 0, nils: int = 0, *entities: str) -> SnapshotCounts:
    return SnapshotCounts(1, links, nils, entities=set(entities))


@pytest.mark.parametrize(
    ("train", "held_out", "documents", "outside", "words"),
    [
        (counts(), counts(), 1, 0, "one document"),
        (counts(), counts(9), 5, 0, "No mention in a train document is decided yet"),
        (counts(19), counts(9), 5, 0, "there are 19"),
        (counts(30, 0, "A"), counts(9), 5, 1, "knowledge base"),
        (counts(30, 0, "A"), counts(), 5, 0, ""),
        (counts(30, 0, "A"), counts(0, 2), 5, 0, "validation"),
        (counts(30, 0, "A"), SnapshotCounts(), 5, 0, "in one document"),
        (counts(30, 0, "A", "B"), counts(1), 5, 1, ""),
    ],
)
def test_what_keeps_a_training_from_starting(
    train: SnapshotCounts, held_out: SnapshotCounts, documents: int, outside: int, words: str
) -> None:
    problem = decisions_problem(train, held_out, documents=documents, outside=outside)
    assert words in problem
    assert bool(problem) == bool(words)


def test_a_folder_without_rights_is_told_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder_problem(tmp_path) == ""
    monkeypatch.setattr("os.access", lambda *_: False)
    assert str(tmp_path) in folder_problem(tmp_path)


def test_a_linker_that_cannot_be_read_any_more_is_not_put_into_use(
    indexed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = bundles(indexed)
    switch = indexed.project.retraining._desk.switch
    monkeypatch.setattr(switch, "all", lambda: [new])
    with pytest.raises(UserError, match=r"cannot be read\. Check the disk"):
        switch.activate(old.id)


def replace_kb(world: World) -> None:
    """Import another knowledge base, whose index is not built yet."""
    world.kb([{"id": "N1", "name": "another disease", "types": ["Disease"]}], name="new.jsonl")


def test_no_linker_of_a_replaced_knowledge_base_is_put_into_use(indexed: World) -> None:
    old, new = bundles(indexed)
    replace_kb(indexed)
    for one in (old, new):
        with pytest.raises(UserError, match="has been replaced since"):
            indexed.project.retraining.promote(one.id, reason="I want it")
    indexed.index()
    assert bundles(indexed)[-1].active


def test_a_knowledge_base_that_is_replaced_while_a_linker_is_put_into_use(
    indexed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, _ = bundles(indexed)
    switch = indexed.project.retraining._desk.switch
    listed = switch.all()

    def replaced_meanwhile() -> list[BundleInfo]:
        monkeypatch.undo()
        replace_kb(indexed)
        return listed

    monkeypatch.setattr(switch, "all", replaced_meanwhile)
    with pytest.raises(UserError, match="has been replaced since"):
        switch.activate(old.id)
    assert not switch.active_id()


def test_an_index_of_a_knowledge_base_that_was_replaced_meanwhile_is_not_put_into_use(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.kb()
    switch = world.project.retraining._desk.switch
    publish = switch.publish

    def replaced_meanwhile(staging: Path) -> BundleInfo:
        monkeypatch.undo()
        replace_kb(world)
        return publish(staging)

    monkeypatch.setattr(switch, "publish", replaced_meanwhile)
    ends: list[JobOutcome] = []
    world.project.retraining.build_index(on_progress=lambda _: None, on_end=ends.append)
    assert [one.state for one in ends] == [JobState.FAILED]
    assert "has been replaced since" in ends[0].message
    assert not switch.active_id()


@pytest.mark.parametrize("step", ["write", "forget"])
def test_a_linker_that_may_not_be_deleted_stays(indexed: World, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    old, _ = bundles(indexed)

    def refuse(*_: object) -> None:
        raise UserError("another role may")

    with monkeypatch.context() as patch:
        if step == "write":
            patch.setattr("curator.services.training.bundles.set_active_bundle", refuse)
        else:
            patch.setattr(FolderBundleStore, "forget", refuse)
        with pytest.raises(UserError, match="another role may"):
            indexed.project.retraining.delete(old.id)
    assert Path(old.path).is_dir()
    assert bundles(indexed)[0].id == old.id
    assert list((indexed.project.folder / "bundles").glob(".*")) == []
    indexed.project.retraining.delete(old.id)
