"""Settings are saved at each change, but never over a file that was not read."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from curator.settings.file import load, save
from curator.settings.schema import Settings
from curator.ui.kit.theme import Scheme, ThemeController
from curator.ui.shell.preferences import Preferences
from tests.failing_reads import fail_reads


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path))
    return tmp_path


def test_settings_that_could_not_be_read_are_not_replaced(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(Settings(curator_name="Ada", ncbi_api_key="secret"))
    fail_reads(monkeypatch, path.name, times=2)
    loaded = load()
    said: list[str] = []
    theme = ThemeController(qapp, scheme=Scheme(loaded.settings.theme.value))
    preferences = Preferences(QWidget(), theme, loaded, refuse=said.append, name_held=lambda: "")
    preferences.zoom(1)
    assert "they are not replaced" in said[0]
    assert preferences.settings.font_size == Settings().font_size + 1
    assert (load().settings.curator_name, load().settings.ncbi_api_key) == ("Ada", "secret")
