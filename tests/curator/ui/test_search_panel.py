from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.entities import EntityMatch
from curator.domain.errors import UserError
from curator.ui.search_panel import MatchModel, SearchPanel, match_facts
from tests.curator.ui.samples import ENTITY, PARENT

MATCHES = (EntityMatch(ENTITY, "FK506", 2.0), EntityMatch(PARENT, "Macrolides", 1.0))


class Search:
    def __init__(self) -> None:
        self.queries: list[str] = []

    def __call__(self, query: str) -> Sequence[EntityMatch]:
        self.queries.append(query)
        if query == "broken":
            raise UserError("The knowledge base is empty. Import one first.")
        return () if query == "zzz" else MATCHES


@pytest.fixture
def search() -> Search:
    return Search()


@pytest.fixture
def panel(qtbot: QtBot, search: Search) -> SearchPanel:
    widget = SearchPanel(search)
    qtbot.addWidget(widget)
    widget.resize(400, 500)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def test_the_model_keeps_qt_s_contract(qapp: QApplication, qtmodeltester: ModelTester) -> None:
    model = MatchModel()
    qtmodeltester.check(model)
    model.show_matches(MATCHES)
    qtmodeltester.check(model)


def test_typing_searches_once_it_pauses(qtbot: QtBot, panel: SearchPanel, search: Search) -> None:
    with qtbot.waitSignal(panel.model.modelReset, timeout=2000):
        qtbot.keyClicks(panel.line, "tacro")
    assert search.queries == ["tacro"]
    assert panel.status.words == "2 entities"


def test_the_mention_s_text_is_searched_at_once(qtbot: QtBot, panel: SearchPanel, search: Search) -> None:
    with qtbot.waitSignal(panel.highlighted, timeout=500) as caught:
        panel.prefill("acute\n  failure")
    assert search.queries == ["acute failure"]
    assert caught.args == [ENTITY]


def test_arrows_and_enter_choose_while_the_line_has_the_keyboard(qtbot: QtBot, panel: SearchPanel) -> None:
    panel.prefill("fk")
    qtbot.keyClick(panel.line, Qt.Key.Key_Down)
    with qtbot.waitSignal(panel.chosen, timeout=500) as caught:
        qtbot.keyClick(panel.line, Qt.Key.Key_Return)
    assert caught.args == [PARENT.id]


def test_enter_never_chooses_what_an_older_query_found(qtbot: QtBot, panel: SearchPanel) -> None:
    panel.prefill("fk")
    panel.line.setText("zzz")
    with qtbot.assertNotEmitted(panel.chosen):
        qtbot.keyClick(panel.line, Qt.Key.Key_Return)
    assert panel.list._empty == "Nothing in the knowledge base matches “zzz”."


def test_escape_leaves(qtbot: QtBot, panel: SearchPanel) -> None:
    for widget in (panel.line, panel.list):
        with qtbot.waitSignal(panel.left, timeout=500):
            qtbot.keyClick(widget, Qt.Key.Key_Escape)


def test_a_click_chooses(qtbot: QtBot, panel: SearchPanel) -> None:
    panel.prefill("fk")
    where = panel.list.visualRect(panel.model.index(0)).center()
    with qtbot.waitSignal(panel.chosen, timeout=500) as caught:
        qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert caught.args == [ENTITY.id]


def test_an_error_is_said_in_its_own_words(panel: SearchPanel) -> None:
    panel.prefill("broken")
    assert panel.list._empty == "The knowledge base is empty. Import one first."


def test_facts_name_the_synonym_only_where_it_differs() -> None:
    assert match_facts(MATCHES[0]) == "MESH:D016559 · Chemical · matched “FK506”"
    assert match_facts(MATCHES[1]) == "MESH:D018942"
    assert "matched" not in match_facts(EntityMatch(ENTITY, "MESH:D016559", 1.0))
