"""Inconsistencies in the window, by its keys: listed, gone through, marked as intended, settled, undone."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.ui.inconsistencies.inconsistency_window import InconsistencyWindow
from tests.curator.services.fakes import KB
from tests.curator.ui.window.fakes import CTRL, SHIFT, Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown
from tests.curator.ui.window.test_entities import press, to_front

Key = Qt.Key
LIDOCAINE, ARREST, ARRHYTHMIA = (str(one["id"]) for one in KB)
ARREST_AT, BLORB_AT = 1, 3


@pytest.fixture
def divided(make_desk: MakeDesk) -> Desk:
    """“cardiac arrest” is Heart Arrest twice and Arrhythmia once, “blorbitis” Arrhythmia once and NIL once."""
    desk = make_desk(documents=3)
    for document, entity in ((1, ARREST), (2, ARREST), (3, ARRHYTHMIA)):
        decide(desk, document, ARREST_AT, Verdict.link(entity))
    decide(desk, 1, BLORB_AT, Verdict.link(ARRHYTHMIA))
    decide(desk, 2, BLORB_AT, Verdict.nil())
    return desk


def decide(desk: Desk, document: int, number: int, verdict: Verdict) -> None:
    desk.project.curation.decide(desk.world.mentions(document)[number], verdict)


def opened(desk: Desk, qtbot: QtBot) -> InconsistencyWindow:
    """From “cardiac arrest” of the first document, with the list read."""
    desk.bench.navigator.open(1, desk.world.mentions(1)[ARREST_AT])
    to_front(desk.window)
    desk.bench.focus_document()
    desk.press(Key.Key_I)
    [window] = shown(InconsistencyWindow)
    assert isinstance(window, InconsistencyWindow)
    to_front(window)
    listed(qtbot, window, 2)
    return window


def listed(qtbot: QtBot, window: InconsistencyWindow, number: int) -> None:
    qtbot.waitUntil(lambda: rows(window) is not None and len(rows(window)) == number and places_listed(window))


def places_listed(window: InconsistencyWindow) -> bool:
    one = window.page.current
    return one is None or len(window.page.list.lines.lines) == len(one.places)


def rows(window: InconsistencyWindow) -> list[str]:
    model = window.page.table.rows
    if window.page.every is None:
        return []
    return [str(model.index(at, 2).data()) for at in range(model.rowCount()) if model.inconsistency(at) is not None]


def at(desk: Desk) -> tuple[int, str]:
    """The document and text on show."""
    assert desk.bench.navigator.opened is not None
    return desk.bench.navigator.opened.document.id, desk.word


def verdict(desk: Desk, document: int) -> Verdict:
    mention = desk.world.mentions(document)[ARREST_AT]
    return desk.project.curation.current([mention])[mention].verdict


def test_keys_lead_from_place_to_place_while_the_list_stays(divided: Desk, qtbot: QtBot) -> None:
    window = opened(divided, qtbot)
    assert rows(window) == [
        f"{ARRHYTHMIA} Arrhythmia (1)  ·  NIL (1)",
        f"{ARREST} Heart Arrest (2)  ·  {ARRHYTHMIA} Arrhythmia (1)",
    ]
    headings = [window.page.table.rows.index(row, 0).data() for row in window.page.table.rows.headings]
    assert headings == ["Linked in one place, NIL in another (1)", "One string, several entities in the project (1)"]
    assert window.page.current is not None
    assert window.page.current.text == "cardiac arrest"  # that of the mention it was opened from
    assert window.page.table.hasFocus()
    ModelTester(None).check(window.page.table.rows)
    press(window.page.table, Key.Key_Return)
    assert at(divided) == (3, "cardiac arrest")  # the rarest decision first
    to_front(divided.window)
    divided.press(Key.Key_F5)
    assert at(divided) == (1, "cardiac arrest")
    divided.press(Key.Key_F5)
    divided.press(Key.Key_F5)
    assert at(divided) == (2, "cardiac arrest")
    assert divided.bench.bottom.message.words == "This is the last place in the list."
    for _ in range(3):
        divided.press(Key.Key_F5, SHIFT)
    assert at(divided) == (1, "blorbitis")  # over the end of the row; NIL comes first of two equally frequent ones
    assert divided.bench.document.hasFocus()
    window.reject()
    divided.press(Key.Key_F5)
    assert "Tools › Inconsistencies" in divided.bench.bottom.message.words


def test_a_key_marks_a_row_as_intended_and_it_can_be_listed_again(divided: Desk, qtbot: QtBot) -> None:
    window = opened(divided, qtbot)
    press(window.page.table, Key.Key_I)
    listed(qtbot, window, 1)
    assert "Marked the decisions about “cardiac arrest” as intended" in window.note.text()
    window.page.intended.setChecked(True)
    listed(qtbot, window, 1)
    assert "Heart Arrest" in rows(window)[0]
    press(window.page.table, Key.Key_I)
    listed(qtbot, window, 0)
    assert window.page.empty.headline.text() == "No inconsistency is marked as intended"
    window.page.intended.setChecked(False)
    listed(qtbot, window, 2)
    window.reject()


def test_what_was_ticked_and_seen_changes_to_the_decision_that_is_chosen(divided: Desk, qtbot: QtBot) -> None:
    window = opened(divided, qtbot)
    press(window.page.table, Key.Key_Right)
    assert window.page.list.hasFocus()
    QTest.keyClick(window.page.list, Key.Key_Return, SHIFT)
    assert "Nothing is ticked" in window.note.text()
    press(window.page.list, Key.Key_A)
    assert window.page.count.words == "3 mentions, 3 ticked"
    QTest.keyClick(window.page.list, Key.Key_Return, SHIFT)
    assert f"{ARREST} Heart Arrest" in window.strip.buttons[0].text()
    press(window.strip, Key.Key_1)
    assert verdict(divided, 3) == Verdict.link(ARREST)
    assert "Changed 1 decision about “cardiac arrest”" in window.note.text()
    listed(qtbot, window, 1)
    to_front(window)
    QTest.keyClick(window, Key.Key_Z, CTRL)
    assert verdict(divided, 3) == Verdict.link(ARRHYTHMIA)
    listed(qtbot, window, 2)
    window.reject()


def test_words_and_kinds_narrow_the_list(divided: Desk, qtbot: QtBot) -> None:
    window = opened(divided, qtbot)
    kinds = window.page.kinds
    assert [kinds.itemText(one) for one in range(kinds.count())] == [
        "Every kind (2)",
        "Linked in one place, NIL in another (1)",
        "One string, several entities in the project (1)",
    ]
    kinds.setCurrentIndex(1)
    listed(qtbot, window, 1)
    window.page.words.setText("heart")
    listed(qtbot, window, 0)
    assert window.page.empty.headline.text() == "No inconsistency matches"
    kinds.setCurrentIndex(0)
    listed(qtbot, window, 1)
    window.reject()


def test_a_consistent_project_says_so(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=1)
    desk.press(Key.Key_I)
    [window] = shown(InconsistencyWindow)
    assert isinstance(window, InconsistencyWindow)
    qtbot.waitUntil(lambda: window.page.every is not None)
    assert window.page.empty.headline.text() == "No inconsistency"
    assert not window.go.isEnabled()
    window.reject()


def test_the_panel_says_what_contradicts_the_highlighted_candidate(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=3)
    for document in (1, 2):
        decide(desk, document, ARREST_AT, Verdict.link(ARRHYTHMIA))
    desk.bench.navigator.open(3, desk.world.mentions(3)[ARREST_AT])
    line = desk.bench.candidates.contradiction
    assert desk.bench.candidates.highlighted not in (None, ARRHYTHMIA)
    words = "In the project: Arrhythmia (2 of 2). I lists them."
    qtbot.waitUntil(lambda: line.words == words)
    desk.bench.navigator.select(desk.world.mentions(3)[0])
    assert line.words == ""
    desk.bench.navigator.select(desk.world.mentions(3)[ARREST_AT])
    qtbot.waitUntil(lambda: line.words == words)
    to_front(desk.window)
    desk.bench.focus_document()
    desk.press(Key.Key_I)
    [window] = shown(InconsistencyWindow)
    assert isinstance(window, InconsistencyWindow)
    listed(qtbot, window, 1)  # nothing contradicts anything yet: what the string is decided as
    assert rows(window) == [f"{ARRHYTHMIA} Arrhythmia (2)"]
    assert not window.intend.isEnabled()
    window.reject()
    to_front(desk.window)
    desk.press(Key.Key_Return)
    qtbot.waitUntil(lambda: line.words == "“cardiac arrest” in the project: Arrhythmia (2 of 2). I lists them.")
    desk.bench.decider.undo()
    qtbot.waitUntil(lambda: "“" not in line.words)


def test_a_link_to_an_obsolete_entity_names_what_replaces_it_and_its_id_finds_that(divided: Desk, qtbot: QtBot) -> None:
    old = {"id": ARREST, "name": "Heart Arrest", "obsolete": True, "replaced_by": ["MESH:D1"], "consider": [ARRHYTHMIA]}
    divided.world.kb([*(one for one in KB if one["id"] != ARREST), old, {"id": "MESH:D1", "name": "Cardiac Arrest"}])
    divided.bench.navigator.open(1, divided.world.mentions(1)[ARREST_AT])
    line = divided.bench.candidates.contradiction
    words = "“Heart Arrest” is obsolete: use Cardiac Arrest / Arrhythmia. I lists them."
    qtbot.waitUntil(lambda: line.words == words)
    panel = divided.bench.search.panel
    divided.bench.start_search(ARREST)
    qtbot.waitUntil(lambda: panel.model.rowCount() > 1 and not panel.busy)
    assert panel.obsolete.text() == f"{ARREST} “Heart Arrest” is obsolete. ↵ links what replaces it."
    to_front(divided.window)
    divided.bench.focus_document()
    divided.press(Key.Key_I)
    [window] = shown(InconsistencyWindow)
    assert isinstance(window, InconsistencyWindow)
    listed(qtbot, window, 3)
    assert rows(window)[0] == f"{ARREST}: obsolete, use MESH:D1 Cardiac Arrest / {ARRHYTHMIA} Arrhythmia"
    assert window.page.current is not None
    assert window.page.current.entity_id == ARREST
    press(window.page.table, Key.Key_Right)
    press(window.page.list, Key.Key_A)
    QTest.keyClick(window.page.list, Key.Key_Return, SHIFT)
    press(window.strip, Key.Key_1)
    assert verdict(divided, 1) == verdict(divided, 2) == Verdict.link("MESH:D1")
    window.reject()
