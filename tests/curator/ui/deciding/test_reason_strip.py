import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.ui.deciding.reason_strip import ReasonStrip


@pytest.fixture
def window(qtbot: QtBot) -> QMainWindow:
    """A window with a line, a strip and a shortcut on 2."""
    made = QMainWindow()
    qtbot.addWidget(made)
    inside = QWidget()
    layout = QVBoxLayout(inside)
    made.line, made.strip = QLineEdit(), ReasonStrip()  # type: ignore[attr-defined]
    layout.addWidget(made.line)  # type: ignore[attr-defined]
    layout.addWidget(made.strip)  # type: ignore[attr-defined]
    made.setCentralWidget(inside)
    made.show()
    qtbot.waitActive(made)
    made.line.setFocus()  # type: ignore[attr-defined]
    return made


@pytest.fixture
def strip(window: QMainWindow) -> ReasonStrip:
    return window.strip  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(
    ("outcome", "key", "verdict"),
    [
        (Outcome.NIL, Qt.Key.Key_Return, Verdict.nil(NilReason.NOT_IN_KB)),
        (Outcome.NIL, Qt.Key.Key_1, Verdict.nil(NilReason.NOT_IN_KB)),
        (Outcome.NIL, Qt.Key.Key_3, Verdict.nil(NilReason.TOO_SPECIFIC)),
        (Outcome.REJECTED, Qt.Key.Key_2, Verdict.reject(RejectReason.WRONG_SPAN)),
        (Outcome.SKIPPED, Qt.Key.Key_Enter, Verdict.skip(SkipReason.UNSURE)),
    ],
)
def test_one_key_gives_the_reason(
    qtbot: QtBot, window: QMainWindow, strip: ReasonStrip, outcome: Outcome, key: Qt.Key, verdict: Verdict
) -> None:
    strip.ask(outcome)
    assert strip.hasFocus()
    with qtbot.waitSignal(strip.chosen, timeout=500) as caught:
        qtbot.keyClick(strip, key)
    assert caught.args == [verdict]
    assert not strip.isVisible()
    assert window.focusWidget() is window.line  # type: ignore[attr-defined]


def test_escape_decides_nothing(qtbot: QtBot, strip: ReasonStrip) -> None:
    strip.ask(Outcome.NIL)
    with qtbot.waitSignal(strip.left, timeout=500), qtbot.assertNotEmitted(strip.chosen):
        qtbot.keyClick(strip, Qt.Key.Key_Escape)
    assert strip.outcome is None


@pytest.mark.parametrize("key", [Qt.Key.Key_9, Qt.Key.Key_A, Qt.Key.Key_Down])
def test_a_slip_decides_nothing_and_keeps_asking(qtbot: QtBot, strip: ReasonStrip, key: Qt.Key) -> None:
    strip.ask(Outcome.REJECTED)
    with qtbot.assertNotEmitted(strip.chosen):
        qtbot.keyClick(strip, key)
    assert strip.isVisible()


def test_the_doubled_key_is_reported(qtbot: QtBot, strip: ReasonStrip) -> None:
    strip.ask(Outcome.NIL)
    with qtbot.waitSignal(strip.repeated, timeout=500) as caught:
        qtbot.keyClick(strip, Qt.Key.Key_N)
    assert caught.args == [Outcome.NIL]


def test_shortcuts_of_the_window_wait(qtbot: QtBot, window: QMainWindow, strip: ReasonStrip) -> None:
    action = QAction("second candidate", window)
    action.setShortcut(QKeySequence("2"))
    window.addAction(action)
    strip.ask(Outcome.NIL)
    with qtbot.assertNotEmitted(action.triggered), qtbot.waitSignal(strip.chosen, timeout=500) as caught:
        qtbot.keyClick(strip, Qt.Key.Key_2)
    assert caught.args == [Verdict.nil(NilReason.TOO_GENERAL)]


def test_a_click_answers_and_names_are_accessible(qtbot: QtBot, strip: ReasonStrip) -> None:
    strip.ask(Outcome.SKIPPED)
    assert [b.accessibleName() for b in strip.buttons] == ["1: unsure", "2: ambiguous"]
    with qtbot.waitSignal(strip.chosen, timeout=500) as caught:
        qtbot.mouseClick(strip.buttons[1], Qt.MouseButton.LeftButton)
    assert caught.args == [Verdict.skip(SkipReason.AMBIGUOUS)]


def test_an_outcome_without_reasons_is_refused(strip: ReasonStrip) -> None:
    with pytest.raises(KeyError):
        strip.ask(Outcome.LINK)


@pytest.mark.parametrize("width", [1440, 760, 620])
def test_the_question_is_whole_before_the_hint_is_shown(window: QMainWindow, strip: ReasonStrip, width: int) -> None:
    window.resize(width, 200)
    strip.ask_done(30, 35, then=lambda _: None)
    QApplication.processEvents()
    words = strip.question.fontMetrics().horizontalAdvance(strip.question.words)
    assert strip.question.width() >= words
    assert strip.buttons[-1].geometry().right() <= strip.width()
    assert strip.hint.isVisible() == (width == 1440)


@pytest.mark.parametrize(
    ("undecided", "skipped", "question", "keys"),
    [
        (2, 0, "2 of 35 mentions are undecided. Mark the document done?", "LNX"),
        (2, 1, "2 of 35 mentions are undecided, 1 skipped. Mark the document done?", "LNX"),
        (0, 1, "1 of 35 mentions is skipped. Mark the document done?", "L"),
        (0, 3, "3 of 35 mentions are skipped. Mark the document done?", "L"),
    ],
)
def test_a_document_is_marked_done_with_skipped_mentions_after_a_question(
    strip: ReasonStrip, undecided: int, skipped: int, question: str, keys: str
) -> None:
    taken: list[Verdict | None] = []
    strip.ask_done(undecided, 35, then=taken.append, skipped=skipped)
    assert strip.question.words == question
    assert len(strip.buttons) == len(keys)
    QTest.keyClick(strip, Qt.Key.Key_L)
    assert taken == [None]


@pytest.mark.parametrize("width", [1440, 1024, 620])
def test_what_is_taken_of_a_done_document_is_said_whole(window: QMainWindow, strip: ReasonStrip, width: int) -> None:
    window.resize(width, 300)
    strip.ask_done(30, 35, then=lambda _: None)
    QApplication.processEvents()
    note = strip.note
    assert note.text().endswith(", if there is one.")
    assert note.isVisible()
    assert note.height() >= note.heightForWidth(note.width())
    assert strip.height() >= note.geometry().bottom()
    strip.dismiss()
    strip.ask(Outcome.NIL)
    assert not note.isVisible()


def test_the_line_is_as_high_as_before_when_the_question_is_answered(strip: ReasonStrip) -> None:
    strip.ask(Outcome.NIL)
    strip.dismiss()
    before = strip.sizeHint().height()
    strip.ask_done(30, 35, then=lambda _: None)
    assert strip.sizeHint().height() > before
    strip.dismiss()
    assert strip.sizeHint().height() <= before
