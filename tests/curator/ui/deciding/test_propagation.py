"""The other mentions below the text: what is ticked, what keys do, and that nothing else is decided."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.services.curating.propagation import PropagationScope
from curator.ui.deciding.propagation import NONE_TICKED, PropagationPanel
from tests.curator.ui.kwic_samples import context, others

Key = Qt.Key


@pytest.fixture
def panel(qtbot: QtBot) -> PropagationPanel:
    made = PropagationPanel()
    qtbot.addWidget(made)
    made.resize(760, 330)
    made.show_others(others())
    made.show()
    return made


def press(panel: PropagationPanel, *keys: Key) -> None:
    for key in keys:
        QTest.keyClick(panel.list, key)


def test_it_opens_with_the_ticks_that_were_found(panel: PropagationPanel) -> None:
    assert panel.ticked == [2, 3]
    assert "FK506" in panel.title.words
    assert "Tacrolimus" in panel.title.words
    assert panel.button.text().startswith("Decide 2")
    assert panel.count.words == "2 of 4 ticked"
    panel.show_others(others(beyond=1200))
    assert "1,200 more are not shown and stay unchanged" in panel.count.words


def test_space_ticks_a_line_and_goes_on(panel: PropagationPanel) -> None:
    press(panel, Key.Key_Space, Key.Key_Down, Key.Key_Space)
    assert panel.ticked == [3, 4]


def test_g_ticks_the_group_and_a_all(panel: PropagationPanel) -> None:
    press(panel, Key.Key_G)
    assert panel.ticked == [2, 3, 4]
    press(panel, Key.Key_A)
    assert panel.ticked == [2, 3, 4, 5]
    press(panel, Key.Key_A)
    assert panel.ticked == []


def test_enter_decides_what_is_ticked_and_nothing_where_nothing_is(panel: PropagationPanel, qtbot: QtBot) -> None:
    press(panel, Key.Key_Down)
    with qtbot.waitSignal(panel.decide_wanted):
        press(panel, Key.Key_Return)
    press(panel, Key.Key_A, Key.Key_A)
    assert not panel.button.isEnabled()
    with qtbot.waitSignal(panel.said) as said, qtbot.assertNotEmitted(panel.decide_wanted):
        press(panel, Key.Key_Return)
    assert said.args == [NONE_TICKED]


def test_letters_ask_for_scopes_and_escape_leaves(panel: PropagationPanel, qtbot: QtBot) -> None:
    for key, scope in [
        (Key.Key_D, PropagationScope.DOCUMENT),
        (Key.Key_Q, PropagationScope.QUEUE),
        (Key.Key_P, PropagationScope.PROJECT),
    ]:
        with qtbot.waitSignal(panel.scope_wanted) as wanted:
            press(panel, key)
        assert wanted.args == [scope]
    with qtbot.waitSignal(panel.left):
        press(panel, Key.Key_Escape)


def test_a_line_is_previewed(panel: PropagationPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.preview_wanted) as wanted:
        press(panel, Key.Key_Down)
    assert wanted.args == [2, 3]


def test_an_empty_scope_says_where_else_to_look(panel: PropagationPanel) -> None:
    base = others(scope=PropagationScope.DOCUMENT)
    panel.show_others(replace(base, this=context(1), groups=()))
    assert panel.list.model().rowCount() == 0
    assert panel.count.words == ""
    assert not panel.grab().isNull()
