"""What the window keeps next to the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.settings.file import read_state
from curator.ui.kit.layout_store import FILE, SavedLayout, keep_layout, layout_of
from curator.ui.shell.recent import FILE as RECENT
from curator.ui.shell.recent import opened_before, remember
from tests.failing_reads import fail_reads


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path


def test_what_could_not_be_read_is_not_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        remember(folder / name)
        keep_layout(SavedLayout(place=(1, 2, 800, 600)), folder / name)
    before = read_state(RECENT), read_state(FILE)
    fail_reads(monkeypatch, RECENT, FILE, times=2)
    remember(folder / "c")
    keep_layout(SavedLayout(), folder / "c")
    assert (read_state(RECENT), read_state(FILE)) == before
    remember(folder / "c")
    assert [one.name for one in opened_before()] == ["c", "b", "a"]
    assert layout_of(folder / "a").place == (1, 2, 800, 600)
