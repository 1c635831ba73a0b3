from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from curator.io.registry import default_registry
from curator.services.ports.files import KbOptions
from curator.ui.files.kb_columns import KbPreview
from curator.ui.kit.worker import join_left


class SlowFormats:
    """The real ones, which open a knowledge base once the gate is open."""

    def __init__(self) -> None:
        self.real = default_registry()
        self.gate, self.waits = threading.Event(), threading.Event()
        self.given_up = False

    def open_kb(self, path: Path, options: KbOptions | None = None) -> Any:
        self.waits.set()
        self.given_up = not self.gate.wait(10)
        return self.real.open_kb(path, options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    path = tmp_path / "kb.jsonl"
    path.write_text('{"id": "X:1", "name": "Gout"}\n', encoding="utf-8")
    return path


def test_nobody_waits_for_a_long_step(qtbot: QtBot, kb: Path) -> None:
    formats = SlowFormats()
    preview = KbPreview(formats)
    qtbot.addWidget(preview)
    preview.look(kb, KbOptions())
    assert formats.waits.wait(20)
    preview.close_reading()
    join_left()  # as when the project is closed
    assert not formats.given_up, "the gate is closed"
    assert not preview.reading
    preview.look(kb, KbOptions(languages=("de",)))
    formats.gate.set()
    qtbot.waitUntil(lambda: "Gout" in preview.toPlainText())
    assert preview.found is not None
    assert preview.found.entities == 1


def test_the_same_file_is_not_read_twice(qtbot: QtBot, kb: Path) -> None:
    formats = SlowFormats()
    formats.gate.set()
    preview = KbPreview(formats)
    qtbot.addWidget(preview)
    preview.look(kb, KbOptions())
    qtbot.waitUntil(lambda: preview.found is not None)
    formats.waits.clear()
    preview.look(kb, KbOptions())
    assert not preview.reading
    preview.forget()
    assert preview.toPlainText() == ""
    preview.look(kb, KbOptions())
    qtbot.waitUntil(lambda: preview.found is not None)
    assert formats.waits.is_set()
