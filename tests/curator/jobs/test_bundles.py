"""The bundles folder: complete or not there."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from curator.domain.jobs import BundleInfo, GateVerdict
from curator.domain.wording import UnreadableError, UserError
from curator.jobs import bundles
from curator.jobs.bundles import FolderBundleStore, SharedBundleStore, seal_of
from tests.failing_reads import fail_reads


def fill(staging: Path, bundle_id: str = "20260101-pel-pb", *, size: int = 3) -> None:
    (staging / "index.faiss").write_bytes(b"abc")
    manifest = {
        "id": bundle_id,
        "kind": "pel-pb",
        "created": "2026-01-01T10:00:00+00:00",
        "retrievers": [{"name": "lexical"}, {"name": "pel-pb"}],
        "files": {"index.faiss": {"size": size, "sha256": "0"}},
        "training": {"gate": {"verdict": "no_gain", "message": "No gain."}},
        "metrics": {"new": {"recall@1": 0.9}},
    }
    (staging / "manifest.json").write_text(json.dumps(manifest))


def test_promote_renames_and_lists(tmp_path: Path) -> None:
    store = FolderBundleStore(tmp_path / "bundles")
    staging = store.new_staging()
    fill(staging)
    info = store.promote(staging)
    assert not staging.exists()
    assert (info.id, info.recipe, info.verdict, info.summary) == (
        "20260101-pel-pb",
        "pel-pb",
        GateVerdict.NO_GAIN,
        "No gain.",
    )
    [listed] = store.all(active=info.id)
    assert listed.active
    assert listed.stages == ("lexical", "pel-pb")
    assert store.path(info.id) == tmp_path / "bundles" / info.id


@pytest.mark.parametrize("size", [2, 4])
def test_an_incomplete_staging_folder_is_refused(tmp_path: Path, size: int) -> None:
    store = FolderBundleStore(tmp_path / "bundles")
    staging = store.new_staging()
    fill(staging, size=size)
    with pytest.raises(UserError, match="incomplete"):
        store.promote(staging)
    assert store.all(active=None) == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks Linux which folders were synced")
def test_what_was_moved_away_is_synced_before_it_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, fsync = FolderBundleStore(tmp_path / "bundles"), os.fsync
    staging = store.new_staging()
    synced: list[tuple[Path, bool]] = []

    def noted(handle: int) -> None:
        synced.append((Path(f"/proc/self/fd/{handle}").resolve(), staging.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted)
    store.discard(staging)
    assert synced == [(tmp_path / "bundles", True)]
    assert not staging.exists()


def test_without_a_manifest_nothing_is_promoted(tmp_path: Path) -> None:
    store = FolderBundleStore(tmp_path / "bundles")
    with pytest.raises(UserError, match="incomplete"):
        store.promote(store.new_staging())


def test_clean_removes_what_was_left_behind(tmp_path: Path) -> None:
    store = FolderBundleStore(tmp_path / "bundles")
    staging = store.new_staging()
    fill(staging)
    store.promote(staging)
    store.new_staging()
    assert store.clean() == 1
    assert len(store.all(active=None)) == 1


def test_discard_only_removes_staging_folders(tmp_path: Path) -> None:
    store = FolderBundleStore(tmp_path / "bundles")
    staging = store.new_staging()
    fill(staging)
    info = store.promote(staging)
    store.discard(store.path(info.id))
    assert len(store.all(active=None)) == 1


@pytest.mark.parametrize("bundle_id", ["", "..", "nothing", "../bundles"])
def test_an_unknown_bundle_is_an_error(tmp_path: Path, bundle_id: str) -> None:
    with pytest.raises(UserError, match="was not found in"):
        FolderBundleStore(tmp_path / "bundles").path(bundle_id)


ODD = ([], "x", 1, None, {}, {"a": []}, [[]], True)


def made(folder: Path) -> Path:
    (folder / "b").mkdir()
    return folder / "b"


def test_a_strangers_manifest_is_listed_with_what_can_be_read_of_it(tmp_path: Path) -> None:
    fill(folder := made(tmp_path))
    whole = json.loads((folder / "manifest.json").read_text())
    store = FolderBundleStore(tmp_path)
    for name in whole:
        for value in ODD:
            (folder / "manifest.json").write_text(json.dumps({**whole, name: value}))
            (info,) = store.all(active=None)
            assert info.id == "b"
            assert isinstance(list(store.altered()), list)
    for gate in ({"verdict": "mine"}, {"verdict": []}):
        (folder / "manifest.json").write_text(json.dumps({**whole, "training": {"gate": gate}}))
        assert store.all(active=None)[0].verdict is GateVerdict.NOT_GATED


def test_a_manifest_of_a_million_brackets_is_a_finding(tmp_path: Path) -> None:
    fill(folder := made(tmp_path))
    (folder / "manifest.json").write_text("[" * 1_000_000)
    store = FolderBundleStore(tmp_path)
    assert store.all(active=None) == []
    found = list(store.altered())
    assert found == [("b", "manifest.json", "it is missing or unreadable"), ("b", "", "")]


def test_changed_values_of_a_manifest_are_a_finding(tmp_path: Path) -> None:
    fill(folder := made(tmp_path))
    whole = {**json.loads((folder / "manifest.json").read_text()), "files": {}}
    for seal, found in ((seal_of(whole), []), ("0" * 64, [("b", "manifest.json", "it was modified")])):
        (folder / "manifest.json").write_text(json.dumps({**whole, "seal": seal}))
        assert list(FolderBundleStore(tmp_path).altered()) == [*found, ("b", "", "")]


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "\ud800", "../c/index.faiss", "/etc/passwd", "link"])
def test_names_that_no_linker_has_are_findings(tmp_path: Path, name: str) -> None:
    fill(folder := made(tmp_path))
    (folder / "link").symlink_to("/etc/passwd")
    whole = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**whole, "files": {name: {"size": 0}}}))
    ((bundle, named, what), _) = FolderBundleStore(tmp_path).altered()
    assert (bundle, named) == ("b", name)
    assert what in ("it is missing", "it is outside of the linker's folder")


class Vault:
    """The linkers of a shared project, by name."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, bytes]] = {}

    def has(self, name: str) -> bool:
        return name in self.kept

    def keep(self, name: str, folder: Path) -> None:
        self.kept[name] = {one.name: one.read_bytes() for one in folder.iterdir()}

    def fetch(self, name: str, folder: Path) -> None:
        for file, data in self.kept[name].items():
            (folder / file).write_bytes(data)

    def forget(self, name: str) -> None:
        self.kept.pop(name, None)


def made_and_kept(folder: Path, vault: Vault) -> str:
    store = SharedBundleStore(folder, vault)
    staging = store.new_staging()
    fill(staging)
    manifest = json.loads((staging / "manifest.json").read_text())
    manifest["files"]["index.faiss"]["sha256"] = hashlib.sha256(b"abc").hexdigest()
    (staging / "manifest.json").write_text(json.dumps(manifest))
    return store.promote(staging).id


def test_a_linker_of_a_shared_project_is_kept_for_all_and_fetched_once(tmp_path: Path) -> None:
    vault = Vault()
    name = made_and_kept(tmp_path / "here", vault)
    other = SharedBundleStore(tmp_path / "there", vault)
    assert other.all(active=None) == []
    [fetched] = other.all(active=name)
    assert (fetched.id, fetched.active) == (name, True)
    other.forget(name)
    assert len(other.all(active=name)) == 1
    assert vault.kept == {}


@pytest.mark.parametrize("alone", [True, False], ids=["threads", "another program"])
def test_a_linker_wanted_twice_at_once_is_fetched_once(tmp_path: Path, *, alone: bool) -> None:
    vault, there = Vault(), tmp_path / "there"
    name = made_and_kept(tmp_path / "here", vault)
    first, fetch = SharedBundleStore(there, vault), vault.fetch
    second = first if alone else SharedBundleStore(there, vault)
    others: list[Future[list[BundleInfo]]] = []
    calls = count()

    def fetch_slowly(wanted: str, folder: Path) -> None:
        if next(calls) == 0:  # the other one may come before it is in the list
            others.append(threads.submit(second.all, active=name))
            wait(others, timeout=0.2 if alone else 30)
        fetch(wanted, folder)

    vault.fetch = fetch_slowly  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as threads:
        assert [one.id for one in first.all(active=name)] == [name]
        assert [one.id for one in others[0].result(30)] == [name]
    assert [one.name for one in there.iterdir()] == [name]


def test_a_linker_that_was_altered_on_the_way_is_refused(tmp_path: Path) -> None:
    vault = Vault()
    name = made_and_kept(tmp_path / "here", vault)
    vault.kept[name]["index.faiss"] = b"abd"
    other = SharedBundleStore(tmp_path / "there", vault)
    with pytest.raises(UserError, match=r"is damaged \(index.faiss\)"):
        other.all(active=name)
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.parametrize("name", ["..", "../here", "/etc", "."])
def test_a_name_that_is_no_linker_is_not_fetched(tmp_path: Path, name: str) -> None:
    vault = Vault()
    vault.kept[name] = {"manifest.json": b"{}"}
    assert SharedBundleStore(tmp_path / "there", vault).all(active=name) == []


def test_a_manifest_whose_read_failed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FolderBundleStore(tmp_path / "bundles")
    staging = store.new_staging()
    fill(staging)
    info = store.promote(staging)
    failing = [OSError(5, "Input/output error")]
    read = bundles.read_small

    def once(path: Path) -> str:
        if failing:
            raise failing.pop()
        return read(path)

    monkeypatch.setattr(bundles, "read_small", once)
    assert [one.id for one in store.all(active=info.id)] == [info.id]
    failing += [OSError(5, "Input/output error")] * 2
    assert store.all(active=info.id) == []
    failing += [OSError(5, "Input/output error")] * 2
    with pytest.raises(UnreadableError, match="cannot read"):
        store.path(info.id)
    assert store.path(info.id).is_dir()


@pytest.mark.parametrize("file", ["manifest.json", "index.faiss"])
def test_a_file_that_the_disk_does_not_give_was_not_modified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    name = made_and_kept(tmp_path / "bundles", Vault())
    store = FolderBundleStore(tmp_path / "bundles")
    assert list(store.altered()) == [(name, "", "")]
    fail_reads(monkeypatch, file, times=2)
    assert list(store.altered()) == [(name, file, "it cannot be read (Input/output error)"), (name, "", "")]


def test_linkers_that_the_disk_does_not_list_are_not_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what a killed process left may stay: nobody is kept from opening the project."""
    store = FolderBundleStore(tmp_path / "bundles")
    store.new_staging()
    real = Path.stat

    def stat(path: Path, **options: Any) -> os.stat_result:
        if path == tmp_path / "bundles":
            raise OSError(5, "Input/output error", str(path))
        return real(path, **options)

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(UnreadableError, match="cannot read"):
        store.all(active=None)
    assert store.clean() == 0
    monkeypatch.undo()
    assert store.clean() == 1


def test_a_new_linker_that_the_disk_does_not_give_is_not_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderBundleStore(tmp_path / "bundles")
    staging = store.new_staging()
    fill(staging)
    fail_reads(monkeypatch, "manifest.json", times=2)
    with pytest.raises(UnreadableError):
        store.promote(staging)
    assert store.promote(staging).id
