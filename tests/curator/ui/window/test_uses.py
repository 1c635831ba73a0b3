"""All uses of an entity in the window, by its keys: listed, narrowed, gone to, moved, marked NIL, undone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain.decisions import NilReason, Verdict
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.ui.deciding.kwic_list import CheckMark
from curator.ui.entities.uses_window import UsesWindow
from tests.curator.services.fakes import KB
from tests.curator.ui.window.fakes import CTRL, SHIFT, Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown
from tests.curator.ui.window.test_entities import press, to_front

Key = Qt.Key
LIDOCAINE, ARREST, ARRHYTHMIA = (str(one["id"]) for one in KB)


@pytest.fixture
def linked(make_desk: MakeDesk) -> Desk:
    """“cardiac arrest” of three documents, and “arrhythmia” of the first, are Heart Arrest."""
    return with_links(make_desk(documents=3))


def with_links(desk: Desk) -> Desk:
    for document, number in ((1, 1), (1, 2), (2, 1), (3, 1)):
        desk.project.curation.decide(desk.world.mentions(document)[number], Verdict.link(ARREST))
    return desk


def opened(desk: Desk, qtbot: QtBot, *, uses: int) -> UsesWindow:
    """Of Heart Arrest, from its candidate."""
    desk.bench.navigator.open(1, desk.world.mentions(1)[1])
    to_front(desk.window)
    desk.bench.focus_document()
    desk.press(Key.Key_U)
    return filled(qtbot, uses=uses)


def filled(qtbot: QtBot, *, uses: int) -> UsesWindow:
    [window] = shown(UsesWindow)
    assert isinstance(window, UsesWindow)
    to_front(window)
    qtbot.waitUntil(lambda: window.uses is not None and len(window.page.list.lines.lines) == uses)
    return window


def verdict(desk: Desk, document: int, number: int = 1) -> Verdict:
    mention = desk.world.mentions(document)[number]
    return desk.project.curation.current([mention])[mention].verdict


def test_a_key_lists_the_uses_of_the_highlighted_candidate(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    assert window.page.title.words == "Heart Arrest"
    assert window.page.facts.words == f"{ARREST} · Disease · 4 uses in 3 documents · 2 strings · 0 in done documents"
    cells = window.page.strings.lines
    rows = [cells.index(row, column).data().strip() for row in range(3) for column in range(2)]
    assert rows == ["All strings", "4", "cardiac arrest", "3", "arrhythmia", "1"]
    assert window.page.list.hasFocus()
    first = window.page.list.lines.index(0).data()
    assert "document 1" in first
    assert "Curator: ada" in first
    window.reject()


def test_doubtful_uses_come_first(make_desk: MakeDesk, qtbot: QtBot) -> None:
    linked = with_links(make_desk(documents=3, manual=True))  # the linker answers nothing meanwhile
    chances = {1: 0.9, 2: 0.2}
    for document, chance in chances.items():
        mention = linked.world.mentions(document)[1]
        found = Candidate(ARREST, "Heart Arrest", (), "Heart Arrest", chance, {}, chance)
        with linked.world.store.write() as unit:
            unit.suggestions.save([Suggestion(mention, (found,), NilEstimate(0.0, False, True), Stamp("b", 1), "")])
    window = opened(linked, qtbot, uses=4)
    spoken = [window.page.list.lines.index(at).data() for at in range(4)]
    assert ["Linker: 20 %" in spoken[0], "Linker: 90 %" in spoken[1], "Linker: –" in spoken[2]] == [True] * 3
    window.reject()


def test_a_string_a_curator_and_a_split_narrow_the_list(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    window.page.strings.go_to(2)
    assert len(window.page.list.lines.lines) == 1
    assert window.page.count.words == "1 of 4 uses listed"
    window.page.strings.go_to(0)
    window.page.filters.splits.setCurrentIndex(window.page.filters.splits.findData("test"))
    assert window.page.list.lines.lines == []
    assert "No use matches" in window.page.list.empty_words
    window.page.filters.splits.setCurrentIndex(0)
    window.page.filters.curators.setCurrentIndex(window.page.filters.curators.findData("ada"))
    assert len(window.page.list.lines.lines) == 4
    window.reject()


def test_enter_goes_to_the_mention_in_its_document_and_f4_comes_back(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    window.page.filters.orders.setCurrentIndex(1)
    window.page.list.setFocus()
    press(window.page.list, Key.Key_End, Key.Key_Return)
    opened_document = linked.bench.navigator.opened
    assert opened_document is not None
    assert opened_document.document.id == 3
    assert linked.bench.navigator.mention_id == linked.world.mentions(3)[1]
    to_front(linked.window)
    assert linked.bench.document.hasFocus()
    linked.press(Key.Key_F4)
    qtbot.waitUntil(lambda: window.isActiveWindow())
    window.reject()


def test_ticked_uses_move_to_the_entity_that_is_chosen_and_undo_takes_it_back(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    window.page.filters.orders.setCurrentIndex(1)
    window.page.list.setFocus()
    press(window.page.list, Key.Key_Space, Key.Key_Down, Key.Key_Space)
    assert window.page.count.words == "4 uses listed, 2 ticked"
    QTest.keyClick(window.page.list, Key.Key_Return, SHIFT)
    assert window.pages.currentWidget() is window.search
    assert "2 uses of “Heart Arrest” move to" in window.note.text()
    panel = window.search.panel
    panel.line.setText("Arrhythmia")
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0 and not panel.busy)
    press(panel.line, Key.Key_Return)
    assert verdict(linked, 1) == verdict(linked, 2) == Verdict.link(ARRHYTHMIA)
    assert verdict(linked, 3) == Verdict.link(ARREST)
    assert "Moved 2 uses of “Heart Arrest” to “Arrhythmia”" in window.note.text()
    qtbot.waitUntil(lambda: len(window.page.list.lines.lines) == 2)
    to_front(window)
    QTest.keyClick(window, Key.Key_Z, CTRL)
    assert verdict(linked, 1) == Verdict.link(ARREST)
    assert window.note.text().startswith("Undid: Moved 2 uses"), "it no longer says how to undo what is undone"
    qtbot.waitUntil(lambda: len(window.page.list.lines.lines) == 4)
    window.reject()


def test_ticked_uses_become_nil_with_the_reason_that_is_chosen(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    window.page.strings.go_to(2)
    window.page.list.setFocus()
    press(window.page.list, Key.Key_A, Key.Key_N)
    assert window.strip.isVisible()
    press(window.strip, Key.Key_2)
    assert verdict(linked, 1, 2) == Verdict.nil(NilReason.TOO_GENERAL)
    qtbot.waitUntil(lambda: window.uses is not None and len(window.uses.uses) == 3)
    window.reject()


def test_ticks_go_with_the_lines_that_are_listed(linked: Desk, qtbot: QtBot) -> None:
    """What the filter hides is never changed."""
    window = opened(linked, qtbot, uses=4)
    window.page.list.setFocus()
    press(window.page.list, Key.Key_A)
    window.page.strings.go_to(2)
    assert len(window.page.ticked) == 1
    window.page.strings.go_to(0)
    assert len(window.page.ticked) == 1
    window.reject()


def test_without_ticks_nothing_is_asked_and_a_sentence_says_why(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    press(window.page.list, Key.Key_M)
    assert "Nothing is ticked" in window.note.text()
    press(window.page.list, Key.Key_N)
    assert not window.strip.isVisible()
    assert window.pages.currentWidget() is window.listing
    window.reject()


def test_decisions_of_others_are_counted_before_they_are_moved(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=0)
    desk.world.documents(2, gold=True)
    flows = desk.window.session.features.uses
    flows.show_uses_of(ARREST)
    window = filled(qtbot, uses=2)
    press(window.page.list, Key.Key_A, Key.Key_M)
    assert "2 of them are other curators' decisions or came with files" in window.note.text()
    press(window.search.panel.line, Key.Key_Escape)
    assert window.pages.currentWidget() is window.listing
    assert len(window.page.ticked) == 2
    window.reject()


def test_a_decision_elsewhere_renews_the_list_and_keeps_its_ticks(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    window.page.list.setFocus()
    press(window.page.list, Key.Key_A)
    linked.project.curation.decide(linked.world.mentions(3)[1], Verdict.link(ARRHYTHMIA))
    qtbot.waitUntil(lambda: len(window.page.list.lines.lines) == 3)
    assert len(window.page.list.lines.marked(CheckMark.TICKED)) == 3
    window.reject()


def test_an_entity_is_searched_for_and_one_without_uses_says_so(linked: Desk, qtbot: QtBot) -> None:
    to_front(linked.window)
    linked.bench.focus_document()
    linked.press(Key.Key_U, SHIFT)
    [window] = shown(UsesWindow)
    assert isinstance(window, UsesWindow)
    panel = window.search.panel
    to_front(window)
    panel.line.setText("Xylocaine")
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0 and not panel.busy)
    press(panel.line, Key.Key_Return)
    qtbot.waitUntil(lambda: window.uses is not None)
    assert window.page.list.empty_words == "No mention is linked to “Lidocaine” now."
    window.reject()


def test_an_entity_that_the_knowledge_base_lost_says_so(linked: Desk, qtbot: QtBot) -> None:
    linked.world.kb([KB[0], KB[2]], name="kb2.jsonl")
    flows = linked.window.session.features.uses
    flows.show_uses_of(ARREST)
    window = filled(qtbot, uses=4)
    assert "no longer has MESH:D006323 “Heart Arrest”" in window.note.text()
    window.reject()


def test_an_unknown_entity_is_said_and_another_is_asked_for(linked: Desk, qtbot: QtBot) -> None:
    flows = linked.window.session.features.uses
    window = flows.show_uses_of("MESH:X")
    assert window is not None
    qtbot.waitUntil(lambda: "no entity MESH:X" in window.note.text())
    assert window.pages.currentWidget() is window.search
    window.reject()


def test_a_round_closes_the_list_and_keeps_it_closed(linked: Desk, qtbot: QtBot) -> None:
    opened(linked, qtbot, uses=4)
    linked.bench.set_judging(True)
    assert shown(UsesWindow) == []
    flows = linked.window.session.features.uses
    assert flows.show_uses_of(ARREST) is None
    assert not linked.window.menus.action("mention.uses").isEnabled()
    linked.bench.set_judging(False)


def test_during_an_adjudication_nothing_is_moved(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    linked.bench.many.set_alone(True)
    press(window.page.list, Key.Key_A, Key.Key_N)
    press(window.strip, Key.Key_1)
    assert "decided one at a time" in window.note.text()
    assert verdict(linked, 1) == Verdict.link(ARREST)
    window.reject()


def test_the_record_of_an_entity_leads_to_its_uses(linked: Desk, qtbot: QtBot) -> None:
    linked.bench.navigator.open(1, linked.world.mentions(1)[1])
    card = linked.bench.candidates.card
    qtbot.waitUntil(lambda: "all uses" in card.toPlainText())
    card.uses_wanted.emit(card.entity_id)
    window = filled(qtbot, uses=4)
    assert window.page.title.words == "Heart Arrest"
    window.reject()


def test_the_window_begins_again_when_it_is_opened_again(linked: Desk, qtbot: QtBot) -> None:
    window = opened(linked, qtbot, uses=4)
    press(window.page.list, Key.Key_A)
    window.page.filters.orders.setCurrentIndex(2)
    window.page.strings.go_to(2)
    press(window.page.list, Key.Key_N)
    assert window.strip.asked
    window.strip.dismiss()
    window.reject()
    assert shown(UsesWindow) == []
    again = opened(linked, qtbot, uses=4)
    page = again.page
    assert (page.ticked, page.filters.order.value, page.strings.currentIndex().row()) == ([], "doubtful", 0)
    assert page.list.hasFocus()
    assert not again.strip.asked
    again.ask_entity()
    again.done(0)
    again = opened(linked, qtbot, uses=4)
    assert again.pages.currentWidget() is again.listing
    again.reject()
