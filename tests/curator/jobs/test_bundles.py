"""The bundles folder: complete or not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.domain.jobs import GateVerdict
from curator.domain.wording import UserError
from curator.jobs.bundles import FolderBundleStore


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
