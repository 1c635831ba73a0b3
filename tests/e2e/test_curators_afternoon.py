"""A curator's afternoon in the window with real linker, index and training processes: many at once, train, compare,
export. Only the encoder is a tiny one, so that index and training take seconds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from curator import bootstrap
from curator.domain.decisions import Outcome
from curator.domain.documents import Split
from curator.domain.jobs import JobState
from curator.services.curating.bulk_plan import AuditState
from curator.settings.file import load
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.theme import ThemeController
from curator.ui.shell.demo_session import Hands
from curator.ui.shell.main_window import MainWindow
from curator.ui.training.evaluate import FiguresDialog
from curator.ui.training.parameter_panel import set_value
from curator.ui.training.retrain_live import VERDICTS, RetrainLive
from tests.tiny_bert import build_tiny_bert

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support (propagateSizeHints|raise)", extend=True)
DEMO = Path(__file__).resolve().parents[2] / "resources" / "demo" / "pubmed"
Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
QUICK = {"epochs": 1, "mention_tokens": 16, "entity_tokens": 8, "entity_tower": "frozen"}
PATIENCE = 120_000
Shown = TypeVar("Shown", bound=QWidget)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Train documents with gold, some of them for validation, and test documents needs review; with its index."""
    build_tiny_bert(tmp_path / "encoder", hidden=16, layers=1)
    (tmp_path / "settings.json").write_text(json.dumps({"encoder_folder": str(tmp_path / "encoder")}), encoding="utf-8")
    for name, place in (("CONFIG_DIR", tmp_path), ("LOG_DIR", tmp_path / "log"), ("CACHE", tmp_path / "cache")):
        monkeypatch.setenv(f"CURATOR_{name}", str(place))
    project = bootstrap.create_project(tmp_path / "pubmed.curation", linker=False)
    for steps in (
        project.importing.knowledge_base(DEMO / "kb.jsonl"),
        project.importing.documents([DEMO / "train.pubtator"], gold=True, hold_out=8),
        project.importing.documents([DEMO / "test.pubtator"]),
    ):
        for _ in steps:
            pass
    outcome = project.retraining.build_index(on_progress=lambda _: None, on_end=lambda _: None).wait(120)
    assert outcome is not None
    assert outcome.state is JobState.DONE, outcome
    project.close()
    return project.folder


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication, folder: Path) -> Iterator[MainWindow]:
    made = MainWindow(ThemeController(qapp), load())
    qtbot.addWidget(made)
    made.show()
    yield made
    made.session.close()


@pytest.mark.soak
def test_an_afternoon(window: MainWindow, folder: Path, tmp_path: Path, qtbot: QtBot) -> None:
    window.session.open(folder)
    hands = Hands(window)
    assert window.bench is not None
    for _ in range(2):  # so many documents have their suggestions
        hands.wait_for_suggestions()
        hands.press(Key.Key_PageDown)
    hands.wait_for_suggestions()
    accept_many(hands, window.bench, qtbot)
    made = train(window, qtbot)
    compare(window, qtbot, made)
    window.activateWindow()
    assert QTest.qWaitForWindowActive(window)
    gold = hands.export(tmp_path)
    assert "90000040" in gold.read_text(encoding="utf-8")


def accept_many(hands: Hands, bench: Workbench, qtbot: QtBot) -> None:
    """Bulk acceptance from its sample to one step, undone and redone."""
    panel, bulk = bench.many.bulk_panel, bench.many.bulk
    panel.error_box.setValue(20.0)
    hands.press(Key.Key_B, CTRL)
    qtbot.waitUntil(lambda: bulk.audit is not None, timeout=PATIENCE)
    assert bulk.audit is not None
    for _ in bulk.audit.left:
        QTest.keyClick(panel.list, Key.Key_R)
    assert bulk.audit.state is AuditState.PASSED
    checked = links(bench)
    QTest.keyClick(panel.list, Key.Key_Return, SHIFT)
    qtbot.waitUntil(lambda: not bench.many.is_open, timeout=PATIENCE)
    accepted = links(bench)
    assert accepted > checked
    hands.press(Key.Key_Z, CTRL)
    assert links(bench) < accepted
    hands.press(Key.Key_Z, CTRL | SHIFT)
    assert links(bench) == accepted


def train(window: MainWindow, qtbot: QtBot) -> str:
    """With the program's own retriever, until its window shows the result; the bundle's id."""
    bench, model = window.bench, window.session.features.model
    dialog = model.retrain()
    dialog.choose("curator")
    for name, value in QUICK.items():
        set_value(dialog.fields[name], value)
    dialog.ask_preview()
    qtbot.waitUntil(lambda: "links" in dialog.learns.text(), timeout=PATIENCE)
    with qtbot.waitSignal(bench.jobs.ended, timeout=PATIENCE):
        dialog.accept()
    live = shown(RetrainLive)
    qtbot.waitUntil(lambda: live.bundle != "", timeout=PATIENCE)
    assert any(live.headline.text().startswith(one) for one in VERDICTS.values())
    assert live.tabs.tabText(0).replace("&", "") == "Before and after"
    live.close()
    return live.bundle


def compare(window: MainWindow, qtbot: QtBot, bundle: str) -> None:
    """The new bundle with the one before, on the validation documents."""
    bench, model = window.bench, window.session.features.model
    dialog = model.evaluate(bundle)
    dialog.splits.setCurrentIndex(dialog.splits.findData(Split.VALIDATION))
    with qtbot.waitSignal(bench.jobs.ended, timeout=PATIENCE):
        dialog.accept()
    bench.notices.show()
    shown(FiguresDialog).close()


def links(bench: Workbench) -> int:
    return bench.project.queue.counts().decisions_by_outcome.get(Outcome.LINK, 0)


def shown(kind: type[Shown]) -> Shown:
    return next(one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible())
