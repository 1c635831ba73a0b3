"""Results of background work: they wait in the bottom line until they are read, and nothing takes the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.jobs import JobOutcome, JobState
from curator.ui.files.document_columns import TypeMappingDialog
from curator.ui.files.import_report import ImportReportDialog
from curator.ui.kit.notices import NoticeLine
from curator.ui.training.evaluate import FiguresDialog
from curator.ui.training.retrain_live import RetrainLive
from tests.curator.services.fakes import document
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import ready_to_train, shown
from tests.curator.ui.window.test_main_window_projects import boxes, press_button
from tests.curator.ui.window.test_training_windows import flows, hold_training, train

Work = Callable[[Desk, Path, QtBot], None]


def windows() -> set[QWidget]:
    return {one for one in QApplication.topLevelWidgets() if one.isVisible()}


def to_front(window: QWidget, qtbot: QtBot) -> None:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)


def line(desk: Desk) -> NoticeLine:
    return desk.bench.bottom.notice


def menu_with(desk: Desk, command: str) -> QMenu:
    """The menu in the window's bar that has this command."""
    action = desk.window.menus.action(command)
    [found] = [one for one in desk.window.menuBar().findChildren(QMenu) if action in one.actions()]
    return found


def show_last(desk: Desk, qtbot: QtBot) -> None:
    to_front(desk.window, qtbot)
    desk.press(Qt.Key.Key_F9, at=desk.window)


def _import(desk: Desk, _: Path, qtbot: QtBot) -> None:
    flow = desk.window.session.features.flows
    dialog = flow.import_documents([desk.world.write(document(7), name="more.pubtator")])
    qtbot.waitUntil(lambda: not dialog.list.reading)
    dialog.accept()


def _import_kb(desk: Desk, folder: Path, _: QtBot) -> None:
    flow = desk.window.session.features.flows
    flow.load_knowledge_base(folder / "gone.jsonl")


def _export(desk: Desk, folder: Path, _: QtBot) -> None:
    flow = desk.window.session.features.flows
    dialog = flow.export_gold()
    dialog.path.set_path(folder / "out.pubtator")
    dialog.accept()


def _audit(desk: Desk, folder: Path, _: QtBot) -> None:
    records = desk.window.session.features.records
    dialog = records.export_audit()
    dialog.path.set_path(folder / "audit.csv")
    dialog.accept()


JOBS: dict[str, tuple[Work, type[QDialog] | None]] = {
    "import": (_import, ImportReportDialog),
    "missing knowledge base": (_import_kb, None),
    "export": (_export, None),
    "audit trail": (_audit, None),
}


@pytest.mark.parametrize("kind", JOBS)
@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_ends_leaves_the_keyboard_where_it_is(
    desk: Desk, qtbot: QtBot, tmp_path: Path, kind: str, elsewhere: bool
) -> None:
    work, dialog = JOBS[kind]
    ended: list[object] = []
    desk.bench.jobs.ended.connect(lambda *_: ended.append(1))
    work(desk, tmp_path, qtbot)
    typed = QLineEdit()
    qtbot.addWidget(typed)
    if elsewhere:
        typed.show()
        to_front(typed, qtbot)
        typed.setFocus()
    else:
        to_front(desk.window, qtbot)
        desk.bench.focus_document()
    before, focus = windows(), QApplication.focusWidget()
    qtbot.waitUntil(lambda: len(ended) > 0)
    qtbot.waitUntil(lambda: len(desk.bench.notices) > 0)
    assert windows() == before
    assert QApplication.focusWidget() is focus
    assert line(desk).isVisible()
    assert desk.window.menus.action("tools.result").text().endswith(f"({len(desk.bench.notices)})")
    typed.close()
    show_last(desk, qtbot)
    [opened] = shown(dialog) if dialog is not None else boxes()
    assert len(desk.bench.notices) == 0
    assert not line(desk).isVisible()
    opened.close()


def test_a_training_that_ends_opens_nothing_over_another_window(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    held = hold_training(desk)
    train(desk, qtbot).reject()
    qtbot.waitUntil(lambda: bool(held))
    other = QLineEdit()
    qtbot.addWidget(other)
    other.show()
    to_front(other, qtbot)
    other.setFocus()
    before = windows()
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held[0].end(JobOutcome(JobState.FAILED, "The disk is full."))
    assert windows() == before
    assert other.hasFocus()
    assert line(desk).words.words.endswith(": The disk is full.")
    assert line(desk).open.text() == "Details"
    other.close()
    show_last(desk, qtbot)
    [live] = shown(RetrainLive)
    assert live.words.text() == "The disk is full."  # type: ignore[attr-defined]
    live.close()


def test_the_open_window_of_a_training_shows_its_end_where_it_is(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    held = hold_training(desk)
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: bool(held) and live.isActiveWindow())
    to_front(desk.window, qtbot)
    desk.bench.focus_document()
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held[0].end(JobOutcome(JobState.FAILED, "The disk is full."))
    assert live.words.text() == "The disk is full."
    assert desk.bench.document.hasFocus()
    assert len(desk.bench.notices) == 1, "nobody looks at that window now"
    live.close()


def test_who_waits_in_the_window_of_a_training_gets_no_notice(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    held = hold_training(desk)
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: bool(held) and live.isActiveWindow())
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held[0].end(JobOutcome(JobState.FAILED, "The disk is full."))
    assert live.words.text() == "The disk is full."
    assert len(desk.bench.notices) == 0
    live.close()


def test_an_evaluation_waits_until_it_is_opened(desk: Desk, qtbot: QtBot) -> None:
    desk.project.curation.decide(desk.world.mentions(1)[0], Verdict.nil())
    desk.project.curation.set_state(1, DocumentState.DONE)
    desk.world.jobs.result = {"split": "train", "message": "Half.", "figures": {}, "mentions": 4}
    dialog = flows(desk).evaluate()
    dialog.splits.setCurrentIndex(dialog.splits.findData(Split.TRAIN))
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    assert not shown(FiguresDialog)
    assert line(desk).words.words == "Evaluate on train: the results are ready."
    line(desk).open.click()
    [figures] = shown(FiguresDialog)
    figures.close()
    assert desk.window.menus.action("tools.result").isEnabled(), "it can be read again"


def test_results_queue_up_and_the_newest_comes_first(desk: Desk, qtbot: QtBot) -> None:
    notices, read = desk.bench.notices, []
    title = menu_with(desk, "tools.result").title
    plain = title()
    for name in ("a", "b", "c"):
        notices.add(name, lambda name=name: read.append(name))
    assert line(desk).words.words == "c (and 2 more)"
    assert title() == f"{plain} •"
    show_last(desk, qtbot)
    line(desk).away.click()
    assert line(desk).words.words == "a"
    show_last(desk, qtbot)
    assert read == ["c", "a"]
    assert title() == plain
    assert not line(desk).isVisible()
    show_last(desk, qtbot)
    assert read == ["c", "a", "a"], "the last one that was read"


def test_a_bug_in_background_work_keeps_its_traceback(desk: Desk, qtbot: QtBot) -> None:
    desk.bench.notices.add_outcome("Export", JobOutcome(JobState.CRASHED, "It failed.", detail="Traceback …"))
    assert not boxes()
    show_last(desk, qtbot)
    [box] = boxes()
    assert "bug in Curator" in box.text()
    assert box.detailedText() == "Traceback …"
    press_button(box, "OK")


def test_a_cancelled_one_is_shown_to_nobody(desk: Desk) -> None:
    desk.bench.notices.add_outcome("Export", JobOutcome(JobState.CANCELLED, "Cancelled."))
    assert len(desk.bench.notices) == 0


@pytest.mark.parametrize("width", [900, 1440])
def test_it_covers_no_text_and_the_line_keeps_its_height(desk: Desk, width: int, qtbot: QtBot) -> None:
    desk.window.resize(width, 700)
    height, text = desk.bench.bottom.height(), desk.bench.document.geometry()
    desk.bench.notices.add("A result", lambda: None)
    QApplication.processEvents()
    assert (desk.bench.bottom.height(), desk.bench.document.geometry()) == (height, text)
    assert line(desk).width() > 200
    assert desk.window.width() == width


def test_the_mapping_of_new_types_waits_too(desk: Desk, qtbot: QtBot) -> None:
    flow = desk.window.session.features.flows
    new = document(7).replace("Chemical", "Gene")
    dialog = flow.import_documents([desk.world.write(new, name="more.pubtator")])
    qtbot.waitUntil(lambda: not dialog.list.reading)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    assert not shown(TypeMappingDialog)
    assert len(desk.bench.notices) == 2
