"""A curator's morning with the real linker process: open, decide by keys, lose the linker, undo, export, come back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator import bootstrap
from curator.domain.decisions import Outcome
from curator.domain.documents import Split
from curator.domain.jobs import JobState, LinkerState
from curator.services.ports.queue import QueueFilter
from curator.settings.file import LoadedSettings
from curator.settings.schema import Settings
from curator.ui.files.demo_project import fill, world_of
from curator.ui.kit.theme import ThemeController
from curator.ui.shell.demo_session import Hands
from curator.ui.shell.main_window import MainWindow
from tests.e2e.test_crashes import children_of

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support (propagateSizeHints|raise)", extend=True)
Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo project with its lexical index, built by the real index process."""
    place = tmp_path_factory.mktemp("morning") / "pubmed.curation"
    project = bootstrap.create_project(place, linker=False)
    for _ in fill(project, world_of("pubmed")):
        pass
    handle = project.retraining.build_index(lexical_only=True, on_progress=lambda _: None, on_end=lambda _: None)
    outcome = handle.wait(120)
    assert outcome is not None
    assert outcome.state is JobState.DONE, outcome
    project.close()
    return place


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path))
    made = MainWindow(ThemeController(qapp), LoadedSettings(Settings()))
    # the full index is not what this is about, and takes longer than all the rest
    monkeypatch.setattr("curator.ui.training.model_flows.ModelFlows.build_if_needed", lambda _: None)
    qtbot.addWidget(made)
    made.show()
    yield made
    made.session.close()


def linker_pid() -> int:
    """Of the child of this process that runs the linker."""
    lines = {one: Path(f"/proc/{one}/cmdline").read_bytes() for one in children_of(os.getpid())}
    [pid] = [one for one, line in lines.items() if b"linker_main" in line]
    return pid


@pytest.mark.soak
def test_a_morning(window: MainWindow, folder: Path, tmp_path: Path, qtbot: QtBot) -> None:
    window.session.open(folder)
    hands = Hands(window)
    hands.wait_for_suggestions()
    bench = window.bench
    assert bench is not None
    assert "lexical only" in window.status.words
    assert "Only spelling is compared" in bench.candidates.note.text()
    lines = list(hands.curate())
    assert len(lines) == 7
    assert any("Rejected" in line for line in lines)
    counts = bench.project.queue.counts().decisions_by_outcome
    assert not counts.get(Outcome.REJECTED), "the last one was undone"

    os.kill(linker_pid(), signal.SIGKILL)
    with qtbot.waitSignal(bench.bridge.linker, timeout=20_000):
        hands.press(Key.Key_PageDown)  # the linker dies while the next document is asked for
    hands.press(Key.Key_N)
    hands.press(Key.Key_Return)  # and deciding goes on
    hands.wait(
        lambda: bench.project.suggestions.status().state is LinkerState.READY, bench.bridge.linker, what="The linker"
    )
    hands.wait_for_suggestions()
    hands.press(Key.Key_Return)
    hands.press(Key.Key_Z, CTRL)
    before = bench.project.queue.counts().decisions_by_outcome
    gold = hands.export(tmp_path)
    window.session.close()

    again = bootstrap.open_project(folder, linker=False)
    assert again.queue.counts().decisions_by_outcome == before
    assert len(again.queue.ids(QueueFilter(split=Split.TEST))) == 12
    again.close()
    assert "90000040" in gold.read_text(encoding="utf-8")


@pytest.mark.soak
def test_hands_pass_mentions_that_show_no_suggestion(
    window: MainWindow, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which mentions are held out depends on the project's random id: nobody waits for their suggestions."""
    monkeypatch.setattr("curator.services.queue.holdout.held_out", lambda _, mention, __: mention % 2 == 0)
    window.session.open(folder)
    hands = Hands(window)
    hands.wait_for_suggestions()
    assert window.bench is not None
    opened = window.bench.navigator.opened
    assert opened is not None
    assert any(one.held_out for one in opened.mentions)
    assert [line for line in hands.curate() if "Linked" in line]
