"""Small data next to the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.settings.file import read_state, write_state


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path


def test_a_damaged_file_is_replaced(folder: Path) -> None:
    write_state("x.json", 1)
    (folder / "config" / "x.json").write_text("{")
    assert read_state("x.json") is None
    write_state("x.json", 2)
    assert read_state("x.json") == 2
