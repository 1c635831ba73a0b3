"""Seeing how the work goes: the dashboard next to the text, all background work, and the way back to a list."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QTabWidget
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.services.records.plots import LEARNING
from curator.ui.dashboard import seeing_flows
from curator.ui.dashboard.dashboard import Dashboard
from curator.ui.dashboard.seeing_flows import NO_WAY, SeeingFlows
from curator.ui.jobs.jobs import JobKind, RunningJob
from curator.ui.jobs.jobs_dock import NOTHING, JobsDock, took_words
from curator.ui.training.evaluate import EvaluateDialog, FiguresDialog
from curator.ui.training.retrain_live import RetrainLive
from tests.curator.services.samples import COMPARISON, FLIPS, METRICS
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown
from tests.curator.ui.window.test_training_windows import Held, flows

SHIFT_CTRL = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def seeing(desk: Desk) -> SeeingFlows:
    return desk.window.session.features.seeing


def counted(desk: Desk, qtbot: QtBot, words: str) -> Dashboard:
    """The dashboard once its first headline says this."""
    board = seeing(desk).dashboard
    assert board is not None
    qtbot.waitUntil(lambda: "decided" in board.heads and board.heads["decided"].value.text() == words)
    return board


def test_the_dashboard_follows_the_decisions(
    make_desk: MakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seeing_flows, "QUIET_MS", 0)
    desk = make_desk()
    desk.press(Qt.Key.Key_D, SHIFT_CTRL)
    board = counted(desk, qtbot, "0.0 %")
    desk.project.curation.decide(1, Verdict.nil())
    counted(desk, qtbot, "12.5 %")
    assert board.cards["nil"].summary.text() == "1 of 1 answers are NIL."
    with monkeypatch.context() as patch:  # a team that never pauses does not postpone it
        patch.setattr(seeing(desk), "_timer", SimpleNamespace(isActive=lambda: True))
        seeing(desk)._changed()
    assert seeing(desk).show_dashboard() is board  # there is one
    desk.window.session.close()
    assert shown(Dashboard) == []


def test_the_learning_curve_is_a_plot_of_the_dashboard(desk: Desk, qtbot: QtBot) -> None:
    desk.window.menus.action("model.curve").trigger()
    board = counted(desk, qtbot, "0.0 %")
    card = board.cards[LEARNING]
    assert card.summary.text() == "No linker has been trained and compared yet."
    assert not card.visibleRegion().isEmpty()


def test_the_way_back_leads_to_the_window_used_last(desk: Desk, qtbot: QtBot) -> None:
    desk.press(Qt.Key.Key_F4)
    assert desk.said == NO_WAY
    board = seeing(desk).show_dashboard()
    counted(desk, qtbot, "0.0 %")
    qtbot.waitUntil(board.isActiveWindow)
    board.cards["mentions"].view.setFocus()
    desk.window.activateWindow()
    desk.bench.focus_document()
    qtbot.waitUntil(desk.window.isActiveWindow)
    desk.press(Qt.Key.Key_F4, at=desk.window)
    qtbot.waitUntil(board.isActiveWindow)
    assert QApplication.focusWidget() is board.cards["mentions"].view
    board.reject()
    desk.window.activateWindow()
    desk.press(Qt.Key.Key_F4, at=desk.window)
    assert desk.said == NO_WAY


# --- background work ---


def start(desk: Desk, kind: JobKind, title: str) -> tuple[RunningJob, Held]:
    held: list[Held] = []

    def launch(progress: object, end: object) -> Held:
        held.append(Held(progress, end))  # type: ignore[arg-type]
        return held[0]

    return desk.bench.jobs.start(kind, title, launch), held[0]


def tell(qtbot: QtBot, desk: Desk, held: Held, progress: Progress) -> None:
    with qtbot.waitSignal(desk.bench.jobs.progressed):
        held.tell(progress)


def end(qtbot: QtBot, desk: Desk, held: Held, outcome: JobOutcome) -> None:
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held.end(outcome)


def cells(dock: JobsDock) -> list[list[str]]:
    model = dock.model
    return [[model.index(row, column).data() for column in range(2)] for row in range(model.rowCount())]


@pytest.fixture
def dock(desk: Desk, qtbot: QtBot) -> JobsDock:
    qtbot.waitUntil(lambda: len(desk.bench.jobs) == 0)
    return seeing(desk).show_jobs()


def test_it_opens_and_closes_with_one_key(desk: Desk, dock: JobsDock) -> None:
    assert dock.headline.text() == NOTHING or dock.model.rowCount()
    assert dock.table.hasFocus()
    desk.press(Qt.Key.Key_F8, at=desk.window)
    assert not dock.isVisible()
    assert desk.bench.document.hasFocus()
    desk.press(Qt.Key.Key_F8, at=desk.window)
    assert dock.isVisible()
    desk.press(Qt.Key.Key_Escape, at=dock)
    assert not dock.isVisible()


def test_running_and_ended_work_is_listed_with_its_log(desk: Desk, dock: JobsDock, qtbot: QtBot) -> None:
    before = dock.model.rowCount()
    job, held = start(desk, JobKind.IMPORT, "Import documents")
    QAbstractItemModelTester(dock.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert dock.chosen is job
    tell(qtbot, desk, held, Progress("read", 1, 4, "a.txt"))
    tell(qtbot, desk, held, Progress("read", 2, 4, "b.txt"))
    assert cells(dock)[0] == ["Import documents", "read · 50 % · b.txt"]
    assert dock.bar.value() == 500
    assert dock.panel.log.toPlainText().count("read") == 1  # steps, not every file
    assert not dock.panel.loss.isVisible()
    dock.cancel.click()
    assert held.cancelled
    assert not dock.cancel.isEnabled()
    end(qtbot, desk, held, JobOutcome(JobState.CANCELLED, "Cancelled."))
    assert cells(dock)[0][1] == "Cancelled"
    assert dock.headline.text() == "Cancelled."
    assert dock.panel.log.toPlainText().endswith("Cancelled.")
    assert not dock.bar.isVisible()
    assert dock.model.rowCount() == before + 1


def test_a_training_draws_its_curves_and_tells_what_came_of_it(desk: Desk, dock: JobsDock, qtbot: QtBot) -> None:
    job, held = start(desk, JobKind.TRAIN, "Retrain")
    for step in (1, 2):
        tell(qtbot, desk, held, Progress("train", step, 4, data={"step": step, "loss": 1.0 / step}))
    assert dock.panel.loss.isVisible()
    assert job.history.losses == [1.0, 0.5]
    other, second = start(desk, JobKind.DETECT, "Detect")
    assert dock.chosen is other  # who looks at the newest goes on doing so
    dock.table.setCurrentIndex(dock.model.index(1, 0))
    third = start(desk, JobKind.EVALUATE, "Evaluate")[1]
    assert dock.chosen is job  # who looks at an older one, too
    for one in (second, third):
        end(qtbot, desk, one, JobOutcome(JobState.DONE, "Done."))
    result = {"verdict": "promote", "bundle": "b", "active": True, "metrics": METRICS}
    end(qtbot, desk, held, JobOutcome(JobState.DONE, "Better.", result))
    dock.result.click()
    [live] = shown(RetrainLive)
    assert live.headline.text().startswith("Better")
    live.close()


def test_the_bottom_line_opens_it(desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(desk.bench.jobs) == 0)
    _, held = start(desk, JobKind.IMPORT, "Import documents")
    desk.bench.bottom.job.all.click()
    dock = desk.window.findChild(JobsDock)
    assert dock is not None
    assert dock.isVisible()
    end(qtbot, desk, held, JobOutcome(JobState.DONE, "Done."))
    desk.window.session.close()
    assert desk.window.findChild(JobsDock) is None or not dock.isVisible()


def test_durations_are_written_as_people_say_them() -> None:
    assert [took_words(one) for one in (-1.0, 7.4, 108.0, 3900.0)] == ["0:00", "0:07", "1:48", "1 h 05 min"]


# --- two bundles compared ---


def test_a_bundle_is_compared_from_the_list_of_bundles(desk: Desk) -> None:
    model = flows(desk)
    bundles = model.show_bundles()
    serving = bundles.chosen
    bundles.table.setCurrentIndex(bundles.model.index(1, 0))
    other = bundles.chosen
    assert serving is not None
    assert other is not None
    bundles.compare.click()
    [dialog] = shown(EvaluateDialog)
    assert dialog.wish.bundle == other.id
    assert dialog.wish.against == serving.id  # type: ignore[union-attr]
    dialog.reject()
    bundles.reject()


def test_what_two_bundles_answer_differently_opens_its_mention(desk: Desk, qtbot: QtBot) -> None:
    against = {**COMPARISON, "bundle": "a", "flips": FLIPS}
    desk.world.jobs.result = {"split": "train", "message": "m", "bundle": "b", "against": against}
    desk.project.curation.decide(desk.world.mentions(1)[0], Verdict.nil())
    desk.project.curation.set_state(1, DocumentState.DONE)
    asked = flows(desk).evaluate()
    asked.splits.setCurrentIndex(asked.splits.findData(Split.TRAIN))
    with qtbot.waitSignal(desk.bench.jobs.ended):
        asked.accept()
    desk.bench.notices.show()
    [dialog] = shown(FiguresDialog)
    diff = dialog.flips
    assert [diff.table.lines.columns[at].heading for at in (3, 4)] == [
        "Other linker",
        "This linker",
    ]
    tabs = dialog.findChild(QTabWidget)
    assert tabs is not None
    tabs.setCurrentWidget(diff)
    qtbot.waitUntil(dialog.isActiveWindow)
    diff.words.setFocus()
    diff.words.setText("arrest")
    desk.press(Qt.Key.Key_Return, at=diff.words)
    assert dialog.isVisible()  # Enter went to the table, not to the button that closes
    assert diff.table.currentIndex().row() == 0
    assert diff.table.currentIndex().siblingAtColumn(2).data() == "Heart Arrest"
    desk.press(Qt.Key.Key_Return, at=diff.table)
    assert desk.word == "cardiac arrest"
    desk.press(Qt.Key.Key_F4, at=desk.window)
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.reject()
