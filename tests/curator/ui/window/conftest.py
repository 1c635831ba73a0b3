"""Fixtures for tests of the whole window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.services.ports.queue import QueueFilter
from curator.ui.shell.main_window import MainWindow
from tests.curator.services.fakes import ignore
from tests.curator.ui.window.fakes import Desk, MakeDesk, make_project, make_window


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    """A shown window without a project."""
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    made = make_window(qapp)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made)
    yield made
    made.session.close()


@pytest.fixture
def make_desk(window: MainWindow, tmp_path: Path) -> MakeDesk:
    """An open project with a knowledge base, an index and `documents` copies of one document.

    Its documents were linked before, or are as it is opened where the linker answers `manual`ly or has to be `asked`.
    """

    def make(
        *, documents: int = 2, kb: bool = True, index: bool = True, manual: bool = False, asked: bool = False
    ) -> Desk:
        linked = kb and index and not (manual or asked)
        world = make_project(tmp_path, manual=manual, kb=kb, documents=documents, linked=linked)
        if index and not linked:
            handle = world.project.retraining.build_index(on_progress=ignore, on_end=ignore)
            handle.wait(30)
            world.project.suggestions.request(world.project.queue.ids(QueueFilter()), urgent=False)
        window.session.show(world.project)
        return Desk(window, world)

    return make


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk()
