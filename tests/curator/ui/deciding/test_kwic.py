"""The list of mentions in context: model, keys that move, marks."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.ui.deciding.kwic_list import CheckMark, KwicList, KwicModel, KwicRow
from tests.curator.ui.kwic_samples import context

Key = Qt.Key
ROWS = [
    KwicRow("Same suggestion · 2"),
    KwicRow("", context(2), CheckMark.TICKED),
    KwicRow("Tacrolimus", context(3), CheckMark.UNTICKED),
    KwicRow("Suggested: NIL · 1"),
    KwicRow("", context(4), CheckMark.UNTICKED),
]


@pytest.fixture
def shown(qtbot: QtBot) -> KwicList:
    made = KwicList("Others", None)
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show_rows(ROWS)
    made.show()
    return made


def test_the_model_is_sound(qtmodeltester: ModelTester) -> None:
    model = KwicModel()
    model.show_rows(ROWS)
    qtmodeltester.check(model)
    model.set_marks({1: CheckMark.UNTICKED, 3: CheckMark.TICKED})
    assert model.marked(CheckMark.TICKED) == [], "a heading has no mark"
    assert model.marked(CheckMark.UNTICKED) == [2, 3, 4]
    assert (model.find(4), model.find(9)) == (4, None)
    assert (model.section(2), model.section(3)) == ([1, 2], [4])


def test_a_line_is_said_with_its_mark_and_context() -> None:
    model = KwicModel()
    model.show_rows(ROWS)
    said = model.data(model.index(2), Qt.ItemDataRole.AccessibleTextRole)
    assert said == "not ticked, …patients on [FK506] had acute…, document 901, Tacrolimus"
    assert model.data(model.index(0)) == "Same suggestion · 2"


def test_keys_go_from_line_to_line_past_headings(shown: KwicList) -> None:
    assert shown.currentIndex().row() == 1
    for key, row in [
        (Key.Key_Down, 2),
        (Key.Key_J, 4),
        (Key.Key_Down, 4),
        (Key.Key_K, 2),
        (Key.Key_Home, 1),
        (Key.Key_End, 4),
    ]:
        QTest.keyClick(shown, key)
        assert shown.currentIndex().row() == row


def test_other_keys_are_told_and_none_of_letters_is_the_windows(shown: KwicList, qtbot: QtBot) -> None:
    with qtbot.waitSignal(shown.pressed) as told:
        QTest.keyClick(shown, Key.Key_N)
    assert told.args == [Key.Key_N]
    with qtbot.assertNotEmitted(shown.pressed):
        QTest.keyClick(shown, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)


def test_resting_on_a_line_and_the_right_arrow_show_it(shown: KwicList, qtbot: QtBot) -> None:
    with qtbot.waitSignal(shown.rested) as rested:
        QTest.keyClick(shown, Key.Key_Down)
    assert rested.args == [2]
    with qtbot.waitSignal(shown.rested):
        QTest.keyClick(shown, Key.Key_Right)


def test_a_click_on_the_mark_is_told_and_one_on_the_words_is_not(shown: KwicList, qtbot: QtBot) -> None:
    rect = shown.visualRect(shown.lines.index(2))
    with qtbot.waitSignal(shown.clicked_mark) as told:
        QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.left() + 14, rect.center().y()))
    assert told.args == [2]
    with qtbot.assertNotEmitted(shown.clicked_mark):
        QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


def test_it_paints_in_every_state(shown: KwicList) -> None:
    shown.lines.set_marks({1: CheckMark.RIGHT, 2: CheckMark.WRONG, 4: CheckMark.OPEN})
    assert not shown.grab().isNull()
    shown.set_empty_words("Nothing here.")
    shown.show_rows([])
    assert not shown.grab().isNull()
