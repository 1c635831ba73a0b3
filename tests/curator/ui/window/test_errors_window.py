"""The errors of an evaluation: the list, its filters, and the way through them in the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Split
from curator.services.records.stored_evaluations import ErrorKind
from curator.ui.training import model_flows
from curator.ui.training.errors_window import CONTEXT, LEAST, ErrorsWindow
from curator.ui.training.evaluate import FiguresDialog
from tests.curator.services.samples import error_row, evaluation_result
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import press_button, shown
from tests.curator.ui.window.test_training_windows import flows

SHIFT = Qt.KeyboardModifier.ShiftModifier


def listed(desk: Desk, qtbot: QtBot) -> ErrorsWindow:
    """Three errors in two documents, in two splits, each decided as the evaluation says."""
    for mention in (1, 2, 6):
        desk.project.curation.decide(mention, Verdict.link("MESH:D008012"))
    first = error_row(mention="1", probability=0.5, relation="child")
    second = error_row(
        mention="2",
        kind="nil_link",
        answer="",
        probability=0.9,
        seen=False,
        text="cardiac arrest",
        name_class="part_of_a_name",
    )
    other = error_row(document="2", mention="6", document_name="PMID 2", probability=0.7, types=["Disease"])
    desk.project.evaluations.keep(evaluation_result(first, second, split="test"))
    desk.project.evaluations.keep(evaluation_result(other, split="train"))
    desk.window.menus.action("model.errors").trigger()
    [window] = shown(ErrorsWindow)
    assert isinstance(window, ErrorsWindow)
    qtbot.waitUntil(lambda: window.model.rowCount() == 3)
    return window


@pytest.fixture
def errors(make_desk: MakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> tuple[Desk, ErrorsWindow]:
    """The same without errors decided otherwise since, which leave the list at once."""
    monkeypatch.setattr(model_flows, "QUIET_MS", 0)
    desk = make_desk()
    window = listed(desk, qtbot)
    window.left.setChecked(True)
    return desk, window


def mentions(window: ErrorsWindow) -> list[str]:
    return [window.table.model().index(row, 1).data() for row in range(window.model.rowCount())]


def place(desk: Desk) -> tuple[int, int | None]:
    opened = desk.bench.navigator.opened
    assert opened is not None
    return opened.document.id, desk.bench.navigator.mention_id


def test_one_key_leads_from_error_to_error_in_the_text(desk: Desk, qtbot: QtBot) -> None:
    desk.press(Qt.Key.Key_F2)
    assert "No list of errors is open" in desk.said
    window = listed(desk, qtbot)
    assert mentions(window) == ["cardiac arrest", "lidocaine", "lidocaine"], "the confident errors first"
    desk.press(Qt.Key.Key_Return, at=window.table)
    assert place(desk) == (1, 2)
    assert desk.said.startswith("Error 1 of 3: NIL, gold is a link.")
    qtbot.waitUntil(desk.window.isActiveWindow)
    desk.press(Qt.Key.Key_F2, at=desk.window)
    assert place(desk) == (2, 6)
    desk.press(Qt.Key.Key_F2, SHIFT, at=desk.window)
    desk.press(Qt.Key.Key_F2, SHIFT, at=desk.window)
    assert desk.said == "This is the first error."
    assert place(desk) == (1, 2)


def test_errors_are_chosen_by_kind_type_split_and_words(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    window = listed(desk, qtbot)
    words = [window.kinds.itemText(at).strip() for at in range(window.kinds.count())]
    assert words == ["Every kind (3)", "gold ranked lower (2)", "child of gold (1)", "NIL, gold is a link (1)"]
    window.kinds.setCurrentIndex(window.kinds.findData(ErrorKind.NIL_LINK.value))
    assert mentions(window) == ["cardiac arrest"]
    window.save_to(tmp_path / "errors.tsv")
    assert len((tmp_path / "errors.tsv").read_text(encoding="utf-8").splitlines()) == 2, "what is on show"
    window.kinds.setCurrentIndex(0)
    window.splits.setCurrentIndex(window.splits.findData("train"))
    assert window.model.rowCount() == 1
    window.splits.setCurrentIndex(0)
    window.types.setCurrentIndex(window.types.findData("Disease"))
    assert window.model.rowCount() == 1
    window.types.setCurrentIndex(0)
    words = [window.classes.itemText(at) for at in range(window.classes.count())]
    assert words == ["All words", "same name (2)", "part of a name (1)"]
    window.classes.setCurrentIndex(2)
    assert mentions(window) == ["cardiac arrest"]
    assert window.table.model().index(0, 4).data() == "part of a name"
    window.classes.setCurrentIndex(0)
    window.words.setText("CARDIAC")
    assert mentions(window) == ["cardiac arrest"]
    window.words.setText("nobody wrote this")
    assert window.empty.isVisible()
    window.words.clear()
    window.evaluations.setCurrentIndex(1)
    window.evaluations.activated.emit(1)
    qtbot.waitUntil(lambda: window.model.rowCount() == 1)


def test_a_decision_changed_since_is_marked_and_can_be_hidden(errors: tuple[Desk, ErrorsWindow], qtbot: QtBot) -> None:
    desk, window = errors
    assert window.model.rowCount() == 3
    desk.project.curation.decide(2, Verdict.nil())
    qtbot.waitUntil(lambda: mentions(window) == ["lidocaine", "lidocaine"])
    window.left.setChecked(False)
    assert "decided differently since" in window.table.model().index(0, 0).data()


def test_the_list_stays_where_the_curator_is_after_a_decision(errors: tuple[Desk, ErrorsWindow], qtbot: QtBot) -> None:
    desk, window = errors
    desk.press(Qt.Key.Key_Return, at=window.table)
    qtbot.waitUntil(desk.window.isActiveWindow)
    desk.press(Qt.Key.Key_F2, at=desk.window)
    assert place(desk) == (2, 6), "the second of three"
    desk.project.curation.decide(6, Verdict.nil())
    qtbot.waitUntil(lambda: window.model.rowCount() == 2)
    assert window.table.currentIndex().row() == 1, "what followed it"
    desk.press(Qt.Key.Key_F2, at=desk.window)
    assert place(desk) == (1, 1)
    desk.press(Qt.Key.Key_F2, SHIFT, at=desk.window)
    assert place(desk) == (1, 2)
    desk.project.curation.decide(1, Verdict.nil())  # another than the current one
    qtbot.waitUntil(lambda: window.model.rowCount() == 1)
    assert mentions(window) == ["cardiac arrest"]
    desk.press(Qt.Key.Key_F2, at=desk.window)
    assert desk.said == "This is the last error."


def test_back_from_a_decided_error_is_the_one_before_it(errors: tuple[Desk, ErrorsWindow], qtbot: QtBot) -> None:
    desk, window = errors
    desk.press(Qt.Key.Key_Return, at=window.table)
    qtbot.waitUntil(desk.window.isActiveWindow)
    desk.press(Qt.Key.Key_F2, at=desk.window)
    desk.project.curation.decide(6, Verdict.nil())
    assert place(desk) == (2, 6)
    qtbot.waitUntil(lambda: window.model.rowCount() == 2)
    desk.press(Qt.Key.Key_F2, SHIFT, at=desk.window)
    assert place(desk) == (1, 2)


def test_the_figures_lead_to_the_errors(desk: Desk, qtbot: QtBot) -> None:
    desk.project.curation.decide(1, Verdict.link("MESH:D008012"))
    desk.project.curation.set_state(1, DocumentState.DONE)
    desk.world.jobs.result = {**evaluation_result(error_row(), split="train"), "message": "One.", "figures": {}}
    dialog = flows(desk).evaluate()
    dialog.splits.setCurrentIndex(dialog.splits.findData(Split.TRAIN))
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    desk.bench.notices.show()
    [figures] = shown(FiguresDialog)
    press_button(figures, "Errors…")
    [window] = shown(ErrorsWindow)
    qtbot.waitUntil(lambda: window.model.rowCount() == 1)
    figures.reject()
    window.reject()


def test_the_context_can_be_read_in_a_narrow_window(desk: Desk, qtbot: QtBot) -> None:
    window = listed(desk, qtbot)
    for width in (700, 2400, 700):
        window.resize(width, 500)
        qtbot.waitUntil(lambda width=width: window.table.viewport().width() > width - 100)
        assert window.table.columnWidth(CONTEXT) >= LEAST * window.table.fontMetrics().averageCharWidth()
    window.close()
