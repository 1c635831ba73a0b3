from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Event

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.entities import Entity, EntityMatch, MatchKind
from curator.domain.wording import UserError
from curator.ui.candidates.search_panel import (
    ASKING,
    GRAMMAR_NOTE,
    HINT,
    NOT_CHOSEN,
    STILL_SEARCHING,
    SearchPane,
    SearchPanel,
)
from curator.ui.candidates.search_rows import BROKEN, EntitySearch, MatchModel, match_facts
from tests.curator.ui.samples import ENTITY, PARENT

MATCHES = (EntityMatch(ENTITY, "FK506", 2.0), EntityMatch(PARENT, "Macrolides", 1.0))


class Search:
    """Answers at once, or when `go` is set."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.go = Event()
        self.go.set()

    def __call__(self, query: str) -> Sequence[EntityMatch]:
        self.queries.append(query)
        assert self.go.wait(10)
        if query == "broken":
            raise UserError("The knowledge base is empty. Import one first.")
        if query == "bug":
            raise ZeroDivisionError
        if query == "":
            return MATCHES[1:]
        return () if query.startswith(("zz", "OMIM")) else MATCHES


@pytest.fixture
def search() -> Search:
    return Search()


def shown(qtbot: QtBot, search: Search | EntitySearch) -> SearchPanel:
    widget = SearchPanel(search)
    qtbot.addWidget(widget)
    widget.resize(400, 500)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


@pytest.fixture
def panel(qtbot: QtBot, search: Search) -> Iterator[SearchPanel]:
    widget = shown(qtbot, search)
    yield widget
    search.go.set()
    widget.close_search()


@contextmanager
def answered(qtbot: QtBot, panel: SearchPanel) -> Iterator[None]:
    """Until the answer to what is asked within is shown."""
    yield
    qtbot.waitUntil(lambda: not panel.worker.busy, timeout=5000)


def ask(qtbot: QtBot, panel: SearchPanel, text: str) -> None:
    with answered(qtbot, panel):
        panel.prefill(text)


def test_the_model_keeps_qt_s_contract(qapp: QApplication, qtmodeltester: ModelTester) -> None:
    model = MatchModel()
    qtmodeltester.check(model)
    model.show_matches(MATCHES)
    qtmodeltester.check(model)
    model.insert_matches(1, [DEFINED])
    qtmodeltester.check(model)


def test_what_is_typed_is_searched_beside_the_window(qtbot: QtBot, panel: SearchPanel, search: Search) -> None:
    search.go.clear()
    qtbot.keyClicks(panel.line, "tacro")
    assert panel.line.text() == "tacro", "the window never waited"
    with answered(qtbot, panel):
        search.go.set()
    assert search.queries == ["t", "tacro"], "of what was typed meanwhile only the last"
    assert panel.status.words == "2 entities"


def test_what_was_found_stays_until_the_next_answer(qtbot: QtBot, panel: SearchPanel, search: Search) -> None:
    ask(qtbot, panel, "fk")
    resets: list[int] = []
    panel.model.modelReset.connect(lambda: resets.append(panel.model.rowCount()))
    search.go.clear()
    qtbot.keyClicks(panel.line, "zzz")
    assert panel.model.rowCount() == 2
    with answered(qtbot, panel):
        search.go.set()
    assert resets == [0], "one change, none for queries that were overtaken"
    assert panel.list.empty_words.startswith("Nothing in the knowledge base matches “zzz”.")


def test_the_mention_s_text_is_searched_at_once(qtbot: QtBot, panel: SearchPanel, search: Search) -> None:
    with qtbot.waitSignal(panel.highlighted, timeout=5000) as caught:
        panel.prefill("acute\n  failure")
    assert search.queries == ["acute failure"]
    assert caught.args == [ENTITY]
    assert panel.line.selectedText() == "acute failure"


def test_an_empty_line_shows_what_was_linked_last(qtbot: QtBot, panel: SearchPanel) -> None:
    ask(qtbot, panel, "fk")
    with answered(qtbot, panel):
        panel.open_empty()
    assert panel.line.text() == ""
    assert (panel.model.rowCount(), panel.status.words) == (1, "Recently linked")
    with answered(qtbot, panel):
        panel.open_empty()  # again: more may have been linked since


def test_arrows_and_enter_choose_while_the_line_has_the_keyboard(qtbot: QtBot, panel: SearchPanel) -> None:
    ask(qtbot, panel, "fk")
    qtbot.keyClick(panel.line, Qt.Key.Key_Down)
    with qtbot.waitSignal(panel.chosen, timeout=500) as caught:
        qtbot.keyClick(panel.line, Qt.Key.Key_Return)
    assert caught.args == [PARENT.id]


def test_enter_chooses_nothing_while_the_answer_is_on_its_way(qtbot: QtBot, panel: SearchPanel, search: Search) -> None:
    ask(qtbot, panel, "fk")
    search.go.clear()
    panel.line.setText("fk5")
    with qtbot.assertNotEmitted(panel.chosen):
        qtbot.keyClick(panel.line, Qt.Key.Key_Return)
        assert panel.status.words == STILL_SEARCHING
        with answered(qtbot, panel):
            search.go.set()
    with qtbot.waitSignal(panel.chosen, timeout=5000) as caught:
        qtbot.keyClick(panel.line, Qt.Key.Key_Return)
    assert caught.args == [ENTITY.id]


NEAR, MEANT, PARTLY, DEFINED = (
    EntityMatch(Entity(f"X:{kind.name}", f"an entity by {kind.name}"), kind.value, 0.0, kind)
    for kind in (MatchKind.SPELLING, MatchKind.MEANING, MatchKind.SOME_WORDS, MatchKind.DEFINITION)
)


class Linker:
    """A search whose linker answers once `go` is set, or when the answer is no longer wanted."""

    def __init__(self) -> None:
        self.named: tuple[EntityMatch, ...] = MATCHES
        self.answer: tuple[EntityMatch, ...] = (replace(MEANT, probability=0.91),)
        self.asked: list[str] = []
        self.go = Event()
        self.go.set()

    def search(self, _: str) -> Sequence[EntityMatch]:
        return self.named

    def meant(self, query: str, wanted: Callable[[], bool]) -> Sequence[EntityMatch]:
        self.asked.append(query)
        while wanted() and not self.go.wait(0.01):
            pass
        if query == "down":
            raise UserError("The linker stopped.")
        return self.answer


@pytest.fixture
def linker() -> Linker:
    return Linker()


@pytest.fixture
def asking(qtbot: QtBot, linker: Linker) -> Iterator[SearchPanel]:
    """A panel that asks a linker, too."""
    widget = shown(qtbot, EntitySearch(linker.search, linker.meant))
    yield widget
    widget.close_search()


def typed(qtbot: QtBot, panel: SearchPanel, text: str) -> list[str]:
    """The rows that come, headings in brackets."""
    panel.line.setText(text)
    qtbot.waitUntil(lambda: not panel.busy, timeout=5000)
    words = [(panel.model.found(row), panel.model.index(row, 0).data()) for row in range(panel.model.rowCount())]
    return [str(name) if match is not None else f"[{name}]" for match, name in words]


def test_names_come_first_then_what_is_meant_then_leads_under_headings(
    qtbot: QtBot, asking: SearchPanel, linker: Linker
) -> None:
    linker.named = (MATCHES[0], NEAR, PARTLY, DEFINED, replace(DEFINED, entity=MEANT.entity))
    assert typed(qtbot, asking, "kidney damage") == [
        ENTITY.name,
        "[Similar spelling]",
        NEAR.entity.name,
        "[Suggested by the linker]",
        MEANT.entity.name,
        "[Names with some of the words]",
        PARTLY.entity.name,
        "[In the definition]",
        DEFINED.entity.name,
    ]
    assert asking.status.words == "5 entities"
    assert asking.list.currentIndex().row() == 0
    match = asking.model.found(4)
    assert match is not None
    assert match_facts(match) == "X:MEANING · probability 0.91 · matched “meaning”"
    assert "Suggested by the linker" in str(asking.model.index(4, 0).data(Qt.ItemDataRole.AccessibleTextRole))


@pytest.mark.parametrize(
    ("query", "matched", "kind", "selected"),
    [
        ("low platelet", "Hemolysis, elevated liver enzymes and low platelet count", MatchKind.NAME, False),
        ("low platlet", "Hemolysis, elevated liver enzymes and low platelet count", MatchKind.SPELLING, False),
        ("hemolysis, el", "Hemolysis, elevated liver enzymes and low platelet count", MatchKind.NAME, True),
        ("arrest", "Heart Arrest", MatchKind.NAME, True),
        ("abdominal pain", "Pain, Abdominal", MatchKind.NAME, True),
        ("MESH:D1", "A name of very many words", MatchKind.IDENTIFIER, True),
        ('"platelet"', "A name of very many words with platelet", MatchKind.NAME, True),
        ("atack", "Heart attack", MatchKind.SPELLING, True),
        (":: pain", "Pain", MatchKind.DEFINITION, False),
    ],
)
def test_a_name_with_many_other_words_is_not_selected_by_itself(
    qtbot: QtBot, asking: SearchPanel, linker: Linker, query: str, matched: str, kind: MatchKind, selected: bool
) -> None:
    linker.named, linker.answer = (EntityMatch(ENTITY, matched, 0.0, kind),), ()
    typed(qtbot, asking, query)
    assert (asking.list.currentIndex().row() >= 0) == selected


@pytest.mark.parametrize("at", ["nowhere", "a name", "a definition"])
def test_a_late_answer_comes_in_its_place_but_moves_no_row_under_the_cursor(
    qtbot: QtBot, asking: SearchPanel, linker: Linker, at: str
) -> None:
    linker.named = (MATCHES[0], DEFINED) if at == "a name" else (DEFINED,)
    linker.go.clear()
    asking.line.setText("belly pain")
    qtbot.waitUntil(lambda: bool(linker.asked) and not asking.worker.busy)
    assert asking.model.matches == list(linker.named[:-1])
    asking.patience.timeout.emit()  # the linker takes long
    assert asking.model.matches == list(linker.named)
    if at == "a definition":
        qtbot.keyClick(asking.line, Qt.Key.Key_Down)
    current = asking.list.currentIndex().row()
    linker.go.set()
    qtbot.waitUntil(lambda: not asking.busy)
    kinds = [one.kind for one in asking.model.matches if not one.kind.by_name]
    late = at == "a definition"
    assert kinds == ([MatchKind.DEFINITION, MatchKind.MEANING] if late else [MatchKind.MEANING, MatchKind.DEFINITION])
    assert asking.list.currentIndex().row() == current
    assert not asking.patience.isActive()


@pytest.mark.parametrize(
    ("named", "meant", "enter"),
    [
        ((MATCHES[0], DEFINED), (MEANT,), ENTITY.id),
        ((NEAR, DEFINED), (MEANT,), NEAR.entity.id),
        ((PARTLY, DEFINED), (MEANT,), ""),
        ((DEFINED,), (), ""),
        ((), (MEANT,), ""),
        ((), (), ""),
    ],
    ids=["a name", "a similar spelling", "some words", "a definition", "a meaning", "nothing"],
)
def test_enter_links_only_a_name_and_others_once_they_are_chosen(
    qtbot: QtBot,
    asking: SearchPanel,
    linker: Linker,
    named: tuple[EntityMatch, ...],
    meant: tuple[EntityMatch, ...],
    enter: str,
) -> None:
    linker.named, linker.answer = named, meant
    typed(qtbot, asking, "belly pain")
    chosen: list[str] = []
    asking.chosen.connect(chosen.append)
    qtbot.keyClick(asking.line, Qt.Key.Key_Return)
    assert chosen == ([enter] if enter else [])
    if enter or not (named or meant):
        return
    assert asking.status.words == NOT_CHOSEN
    qtbot.keyClick(asking.line, Qt.Key.Key_Down)
    qtbot.keyClick(asking.line, Qt.Key.Key_Return)
    assert chosen == [(*meant, *named)[0].entity.id]


def test_what_the_linker_means_moves_no_row(qtbot: QtBot, asking: SearchPanel, linker: Linker) -> None:
    linker.named = (*MATCHES, DEFINED)
    linker.go.clear()
    asking.line.setText("macrolide")
    qtbot.waitUntil(lambda: asking.model.rowCount() == 2 and not asking.worker.busy)
    qtbot.keyClick(asking.line, Qt.Key.Key_Down)
    before = asking.list.visualRect(asking.list.currentIndex())
    changes: list[str] = []
    asking.model.modelReset.connect(lambda: changes.append("reset"))
    asking.model.rowsInserted.connect(lambda _, first, last: changes.append(f"{first}–{last}"))
    linker.go.set()
    qtbot.waitUntil(lambda: not asking.busy)
    assert changes == ["2–3", "4–5"]
    assert asking.model.found(asking.list.currentIndex().row()) == MATCHES[1]
    assert asking.list.visualRect(asking.list.currentIndex()) == before
    for _ in range(3):
        qtbot.keyClick(asking.line, Qt.Key.Key_Down)
    assert asking.model.found(asking.list.currentIndex().row()) == DEFINED, "over the headings, and not beyond the end"


def test_a_text_that_is_overtaken_is_no_longer_asked_for(qtbot: QtBot, asking: SearchPanel, linker: Linker) -> None:
    linker.named = ()
    linker.go.clear()
    asking.line.setText("belly")
    qtbot.waitUntil(lambda: linker.asked == ["belly"])
    assert asking.list.empty_words == ASKING
    qtbot.keyClick(asking.line, Qt.Key.Key_Return)
    assert asking.status.words == STILL_SEARCHING
    asking.line.setText("belly pain")
    qtbot.waitUntil(lambda: linker.asked == ["belly", "belly pain"])
    assert asking.model.rowCount() == 0
    linker.go.set()
    qtbot.waitUntil(lambda: not asking.busy)
    assert asking.model.rowCount() == 2


@pytest.mark.parametrize("query", ["", "OMIM:104300", '"exact"', "pain type:disease", ":: nose"])
def test_only_a_text_is_given_to_the_linker(qtbot: QtBot, asking: SearchPanel, linker: Linker, query: str) -> None:
    linker.named = (DEFINED,)
    typed(qtbot, asking, "first")
    assert typed(qtbot, asking, query) == ["[In the definition]", DEFINED.entity.name]
    assert linker.asked == ["first"]


def test_without_a_linker_the_rest_is_shown(qtbot: QtBot, asking: SearchPanel, linker: Linker) -> None:
    linker.named = (DEFINED,)
    assert typed(qtbot, asking, "down") == ["[In the definition]", DEFINED.entity.name]
    linker.named = linker.answer = ()
    assert typed(qtbot, asking, "nothing") == []
    assert asking.list.empty_words.startswith("Nothing in the knowledge base matches “nothing”.")


def test_a_heading_is_not_chosen(qtbot: QtBot, asking: SearchPanel, linker: Linker) -> None:
    linker.named = (DEFINED,)
    typed(qtbot, asking, "belly")
    where = asking.list.visualRect(asking.model.index(0, 0)).center()
    with qtbot.assertNotEmitted(asking.chosen):
        qtbot.mouseClick(asking.list.viewport(), Qt.MouseButton.LeftButton, pos=where)


def test_escape_leaves(qtbot: QtBot, panel: SearchPanel) -> None:
    for widget in (panel.line, panel.list):
        with qtbot.waitSignal(panel.left, timeout=500):
            qtbot.keyClick(widget, Qt.Key.Key_Escape)


def test_a_click_chooses(qtbot: QtBot, panel: SearchPanel) -> None:
    ask(qtbot, panel, "fk")
    where = panel.list.visualRect(panel.model.index(0, 0)).center()
    with qtbot.waitSignal(panel.chosen, timeout=500) as caught:
        qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert caught.args == [ENTITY.id]


def test_an_error_is_said_in_its_own_words(qtbot: QtBot, panel: SearchPanel) -> None:
    ask(qtbot, panel, "broken")
    assert panel.list.empty_words == "The knowledge base is empty. Import one first."
    ask(qtbot, panel, "fk")
    assert panel.model.rowCount() == 2


def test_a_bug_is_logged_and_the_search_goes_on(
    qtbot: QtBot, panel: SearchPanel, caplog: pytest.LogCaptureFixture
) -> None:
    ask(qtbot, panel, "bug")
    assert panel.list.empty_words == BROKEN
    assert "ZeroDivisionError" in caplog.text
    ask(qtbot, panel, "fk")
    assert panel.model.rowCount() == 2


def test_nothing_is_answered_once_the_project_closes(qtbot: QtBot, panel: SearchPanel) -> None:
    panel.line.setText("fk")
    panel.close_search()
    QApplication.processEvents()
    assert panel.model.rowCount() == 0
    panel.line.setText("fk5")
    assert panel.list.empty_words == HINT


def test_the_grammar_is_a_key_away(qtbot: QtBot, panel: SearchPanel) -> None:
    assert not panel.grammar.isVisible()
    qtbot.keyClick(panel.help, Qt.Key.Key_Space)
    assert panel.grammar.isVisible()
    assert panel.grammar.text() == GRAMMAR_NOTE
    qtbot.keyClicks(panel.line, "?")
    assert not panel.grammar.isVisible()
    assert panel.line.text() == ""
    qtbot.keyClicks(panel.line, "a?")
    assert panel.line.text() == "a?", "what is typed behind something is searched for"


def test_facts_name_the_synonym_only_where_it_differs() -> None:
    assert match_facts(MATCHES[0]) == "MESH:D016559 · Chemical · matched “FK506”"
    assert match_facts(MATCHES[1]) == "MESH:D018942"
    assert "matched" not in match_facts(EntityMatch(ENTITY, "MESH:D016559", 1.0))


def test_an_identifier_that_is_miswritten_is_said_to_be(qtbot: QtBot, panel: SearchPanel) -> None:
    panel.accepts = True
    ask(qtbot, panel, "OMIM:99999999")
    assert panel.list.empty_words.startswith("“OMIM:99999999” is not written as OMIM writes its identifiers")


def test_what_is_above_the_highlighted_entity_is_named(qtbot: QtBot, search: Search) -> None:
    pane = SearchPane(search, {PARENT.id: PARENT}.get)
    qtbot.addWidget(pane)
    pane.card.show_entity(ENTITY)
    assert "Under" in pane.card.html_now()
    assert PARENT.name in pane.card.html_now()
    assert PARENT.id not in pane.card.html_now()
    pane.panel.close_search()
