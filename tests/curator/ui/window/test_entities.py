"""The whole life of a NIL in the window, by its keys: decided twice, clustered, made an entity, linked to a third time,
found in the next knowledge base, resolved, undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Outcome, Verdict
from curator.domain.entities import EntityDraft
from curator.ui.deciding.kwic_list import CheckMark
from curator.ui.entities.entities_window import EntitiesWindow
from curator.ui.entities.entity_flows import EntityFlows
from curator.ui.entities.remap_window import RemapWindow
from tests.curator.services.fakes import KB
from tests.curator.ui.window.fakes import CTRL, SHIFT, Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown

Key = Qt.Key
BLORB = 3  # the place of “blorbitis” in each document


def flows(desk: Desk) -> EntityFlows:
    return desk.window.session.features.entities


def go(desk: Desk, document: int) -> int:
    """To “blorbitis” of a document; returns its id."""
    mention = desk.world.mentions(document)[BLORB]
    desk.bench.navigator.open(document, mention)
    to_front(desk.window)
    desk.bench.focus_document()
    return mention


def verdict(desk: Desk, document: int) -> Verdict:
    mention = desk.world.mentions(document)[BLORB]
    return desk.project.curation.current([mention])[mention].verdict


def to_front(window: QWidget) -> None:
    """Shortcuts are those of the active window."""
    for _ in range(100):
        if QApplication.activeWindow() is window:
            return
        window.activateWindow()
        QTest.qWaitForWindowActive(window)
        QApplication.processEvents()
    raise AssertionError(f"{window.windowTitle()} does not come to the front")


def press(widget: QWidget, *keys: Key) -> None:
    to_front(widget.window())
    for key in keys:
        QTest.keyClick(widget, key)


def nil_window(desk: Desk, qtbot: QtBot, *, rows: int) -> EntitiesWindow:
    desk.press(Key.Key_E, CTRL | SHIFT)
    [window] = shown(EntitiesWindow)
    assert isinstance(window, EntitiesWindow)
    to_front(window)
    qtbot.waitUntil(lambda: len(window.nils.table.lines.rows) == rows)
    return window


def import_kb(desk: Desk, entities: Sequence[dict[str, Any]]) -> None:
    """As another version of the knowledge base."""
    desk.world.kb(entities, name="kb2.jsonl")


def test_the_whole_life_of_a_nil(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=3)
    for document in (1, 2):
        go(desk, document)
        desk.press(Key.Key_N)
        desk.press(Key.Key_Return)
        assert verdict(desk, document) == Verdict.nil()
    # clustered, and made an entity of by Enter
    window = nil_window(desk, qtbot, rows=1)
    assert [one.name for one in window.nils.table.lines.rows] == ["blorbitis"]
    assert len(window.nils.chosen_ids) == 2
    press(window.nils.table, Key.Key_Return)
    assert window.form.name.text() == "blorbitis"
    assert window.form.draft.types == ("Disease",)  # what SpecificDisease is mapped to
    press(window.form.name, Key.Key_Return)
    assert window.listing
    assert window.isVisible()
    assert verdict(desk, 1) == verdict(desk, 2) == Verdict.link("NEW:0001")
    qtbot.waitUntil(lambda: not window.nils.table.lines.rows)
    assert "blorbitis" in window.entities.table.model().index(0, 1).data()
    window.close()
    # found by the search and linked to from the keyboard
    go(desk, 3)
    desk.press(Key.Key_Space)
    search = desk.search
    qtbot.waitUntil(lambda: search.model.rowCount() > 0 and not search.busy)
    press(search.line, Key.Key_Return)
    assert verdict(desk, 3) == Verdict.link("NEW:0001")
    # the next version has it: a line says so, nothing is changed, Enter on the button moves all three
    banner = flows(desk).banner
    import_kb(desk, [*KB, {"id": "X:1", "name": "Blorbitis", "types": ["Disease"]}])
    qtbot.waitUntil(lambda: "3 mentions" in banner.words)
    assert banner.isVisible()
    assert verdict(desk, 3) == Verdict.link("NEW:0001")
    banner.buttons[0].click()
    [remap] = shown(RemapWindow)
    assert isinstance(remap, RemapWindow)
    to_front(remap)
    qtbot.waitUntil(lambda: len(remap.table.ticked) == 1)
    assert not banner.isVisible()
    remap.apply.click()
    assert {verdict(desk, document) for document in (1, 2, 3)} == {Verdict.link("X:1")}
    qtbot.waitUntil(lambda: not remap.table.lines.rows)
    # and back again, step by step
    to_front(remap)
    QTest.keyClick(remap, Key.Key_Z, CTRL)
    qtbot.waitUntil(lambda: len(remap.table.lines.rows) == 1)
    assert {verdict(desk, document) for document in (1, 2, 3)} == {Verdict.link("NEW:0001")}
    remap.close()
    go(desk, 1)
    desk.press(Key.Key_Z, CTRL)
    desk.press(Key.Key_Z, CTRL)
    assert verdict(desk, 1) == Verdict.nil()
    assert desk.project.provisional.all() == []


def test_an_entity_for_the_mention_on_show(desk: Desk, qtbot: QtBot) -> None:
    mention = go(desk, 1)
    form = flows(desk).form
    desk.press(Key.Key_N)
    desk.press(Key.Key_E)
    assert desk.bench.side.currentWidget() is form
    assert form.name.hasFocus()
    press(form.name, Key.Key_Escape)  # nothing is made
    assert desk.bench.side.currentWidget() is desk.bench.candidates
    assert desk.project.curation.current([mention]) == {}
    desk.press(Key.Key_E)
    form.synonyms.setPlainText("blorb\n\nblorbs")
    form.name.setText("")
    press(form.name, Key.Key_Return)
    assert "name" in form.note.text()
    form.name.setText("Blorbitis")
    press(form.definition, Key.Key_Home)
    QTest.keyClick(form.definition, Key.Key_Return, CTRL)
    decision = desk.project.curation.current([mention])[mention]
    assert decision.verdict == Verdict.link("NEW:0001")
    assert decision.shown is not None
    assert decision.shown.candidates  # what stood beside it
    [made] = desk.project.provisional.all()
    assert made.found.entity.synonyms == ("blorb", "blorbs")
    assert desk.bench.side.currentWidget() is desk.bench.candidates
    assert desk.word == "Lidocaine"  # on to the next undecided one
    left = [one.mention for one in desk.project.queue.open(1).mentions if one.decision is None]
    desk.project.curation.decide_many([one.id for one in left if one.text != desk.word], Verdict.nil())
    desk.press(Key.Key_E)
    form.identifier.setText("OMIM:104300")
    refused = list[str]()
    desk.bench.decider.refused.connect(refused.append)
    for _ in range(2):
        form.ok.click()
    assert desk.word == "Lidocaine", "the last one of the document"
    assert refused == []
    assert desk.bench.side.currentWidget() is desk.bench.candidates
    go(desk, 2)
    desk.press(Key.Key_E)
    assert "NEW:0001" in form.note.text()  # there is one of this name
    desk.bench.navigator.select(desk.world.mentions(2)[0])
    assert desk.bench.side.currentWidget() is desk.bench.candidates


@pytest.mark.parametrize("name", ["Heart Arrest", "cardiac-arrests", " HEART  ARREST "])
@pytest.mark.parametrize("types", [(), ("Chemical",)], ids=["no type", "another type"])
def test_an_entity_that_exists_is_not_made_again_without_a_word(desk: Desk, name: str, types: tuple[str, ...]) -> None:
    mention = go(desk, 1)
    form = flows(desk).form
    desk.press(Key.Key_E)
    form.ask("", EntityDraft("blorbitis", types), types=("Chemical", "Disease"), ok="Create", linkable=True)
    assert form.note.text() == ""
    form.name.setText(name)
    press(form.name, Key.Key_Return)  # before the typed name was looked for
    assert desk.project.provisional.all() == []
    assert "MESH:D006323" in form.note.text()
    assert [one.text() for one in form.links if one.isVisible()] == ["Link to Heart Arrest (MESH:D006323)"]
    held = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
    QApplication.sendEvent(form.name, held)
    assert desk.project.provisional.all() == []
    press(form.name, Key.Key_Return)
    assert [one.found.id for one in desk.project.provisional.all()] == ["NEW:0001"], "a second press makes it"
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.link("NEW:0001")


def test_the_form_of_a_new_entity_links_to_one_that_exists(desk: Desk, qtbot: QtBot) -> None:
    mention = go(desk, 1)
    form = flows(desk).form
    desk.press(Key.Key_E)
    QTest.keyClicks(form.name, "heart arrest")
    qtbot.waitUntil(form.links[0].isVisible)
    form.links[0].click()
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.link("MESH:D006323")
    assert desk.project.provisional.all() == []
    assert desk.bench.side.currentWidget() is desk.bench.candidates
    desk.project.curation.decide(mention, Verdict.nil())
    window = nil_window(desk, qtbot, rows=1)  # many mentions at once
    press(window.nils.table, Key.Key_Return)
    window.form.name.setText("Heart arrest")
    press(window.form.name, Key.Key_Return)
    window.form.links[0].click()
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.link("MESH:D006323")
    assert window.listing
    window.close()


def test_what_was_filled_in_for_a_new_entity_is_kept(desk: Desk) -> None:
    mention = go(desk, 1)
    form, bench = flows(desk).form, desk.bench
    desk.press(Key.Key_E)
    QTest.keyClicks(form.name, "Blorb disease")
    draft = form.draft
    bench.document.setFocus()
    desk.press(Key.Key_E)
    assert (form.draft, form.name.hasFocus()) == (draft, True), "E goes back to it"
    for leave in (
        lambda: bench.navigator.select(desk.world.mentions(1)[0]),  # a click on another mention
        lambda: press(bench.document, Key.Key_Escape),
        lambda: bench.start_search(""),
    ):
        leave()
        assert not form.isVisible()
        go(desk, 1)
        desk.press(Key.Key_E)
        assert form.draft == draft
    press(form.name, Key.Key_Escape)
    desk.press(Key.Key_E)
    assert form.draft.name == "blorbitis", "Esc in the form leaves it for good"
    assert desk.project.curation.current([mention]) == {}


@pytest.mark.parametrize("place", ["types", "ok", "text"])
def test_no_key_beside_the_form_of_a_new_entity_decides(desk: Desk, place: str) -> None:
    go(desk, 1)
    form, bench = flows(desk).form, desk.bench
    desk.press(Key.Key_E)
    {"types": form.types, "ok": form.ok, "text": bench.document}[place].setFocus()
    for key in (Key.Key_1, Key.Key_9, Key.Key_0, Key.Key_N, Key.Key_X, Key.Key_S, Key.Key_Backspace):
        desk.press(key)
    desk.press(Key.Key_N, SHIFT)
    assert not any(desk.project.queue.counts().decisions_by_outcome.values())
    assert not bench.reasons.asked
    assert not bench.many.is_open
    assert form.isVisible()


def test_an_identifier_looked_for_in_vain_is_offered_for_a_new_entity(desk: Desk, qtbot: QtBot) -> None:
    mention = go(desk, 1)
    form, panel = flows(desk).form, desk.search
    desk.press(Key.Key_Slash)
    QTest.keyClicks(panel.line, "OMIM:10430")
    qtbot.waitUntil(lambda: not panel.worker.busy)
    press(panel.line, Key.Key_Return)
    assert desk.bench.side.currentWidget() is desk.bench.search, "no identifier yet"
    QTest.keyClicks(panel.line, "0")
    qtbot.waitUntil(lambda: "has no OMIM:104300" in panel.list.empty_words)
    press(panel.line, Key.Key_Return)
    assert desk.bench.side.currentWidget() is form
    assert form.identifier.text() == "OMIM:104300"
    press(form.name, Key.Key_Return)
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.link("OMIM:104300")
    go(desk, 2)
    desk.press(Key.Key_E)
    assert form.identifier.text() == "", "what was looked for elsewhere is not offered"
    form.identifier.setText("LAB:1")
    press(form.identifier, Key.Key_Return, Key.Key_Return)  # the name exists by now
    assert "known registry" in form.note.text()


def test_ticking_merges_clusters_and_unticking_leaves_a_mention_out(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk(documents=2)
    blorbs = [desk.world.mentions(document)[BLORB] for document in (1, 2)]
    arrests = [desk.world.mentions(document)[1] for document in (1, 2)]
    desk.project.curation.decide_many([*blorbs, *arrests], Verdict.nil())
    nils = nil_window(desk, qtbot, rows=2).nils
    table, lines = nils.table, nils.list.lines
    press(table, Key.Key_Space, Key.Key_Down, Key.Key_Space)
    assert sorted(nils.chosen_ids) == sorted([*blorbs, *arrests])
    nils.merge.click()
    assert [len(one.mention_ids) for one in table.lines.rows] == [4]
    press(nils.list, Key.Key_Space)
    assert len(nils.chosen_ids) == 3
    left = lines.marked(CheckMark.UNTICKED)
    nils.split.click()
    assert sorted(len(one.mention_ids) for one in table.lines.rows) == [1, 3]
    press(table, Key.Key_Home)
    press(nils.list, Key.Key_A)  # all off
    assert not nils.make.isEnabled()
    press(nils.list, Key.Key_A)
    nils.make.click()
    [window] = shown(EntitiesWindow)
    assert isinstance(window, EntitiesWindow)
    press(window.form.name, Key.Key_Return)
    current = desk.project.curation.current([*blorbs, *arrests])
    assert sorted(one for one in current if current[one].verdict.outcome is Outcome.NIL) == left
    # what is left is linked to an entity that is there
    qtbot.waitUntil(lambda: [list(one.mention_ids) for one in table.lines.rows] == [left])
    nils.link.click()
    search = window.search.panel
    search.line.setText("arrhythmia")
    qtbot.waitUntil(lambda: search.model.rowCount() > 0 and not search.busy)
    press(search.line, Key.Key_Return)
    assert desk.project.curation.current(left)[left[0]].verdict == Verdict.link("MESH:D001145")
    assert window.listing
    # and both windows go with the project
    flows(desk).show_update()
    desk.window.session.close()
    assert not shown(EntitiesWindow)
    assert not shown(RemapWindow)


def test_new_entities_are_changed_merged_and_deleted(desk: Desk, qtbot: QtBot) -> None:
    mention = go(desk, 1)
    desk.press(Key.Key_E)
    press(flows(desk).form.name, Key.Key_Return)
    window = nil_window(desk, qtbot, rows=0)
    window.tabs.setCurrentWidget(window.entities)
    page = window.entities
    page.make.click()
    window.form.name.setText("Snorb")
    press(window.form.name, Key.Key_Return)
    assert page.current is not None
    assert page.current.id == "NEW:0002"
    page.edit.click()
    assert window.form.name.text() == "Snorb"
    window.form.name.setText("Snorb fever")
    press(window.form.name, Key.Key_Return)
    assert (page.current.id, page.current.entity.name) == ("NEW:0002", "Snorb fever")
    page.merge.click()
    search = window.search.panel
    search.line.setText("NEW:0001")
    qtbot.waitUntil(lambda: search.model.rowCount() > 0 and not search.busy)
    press(search.line, Key.Key_Return)
    assert [one.found.id for one in desk.project.provisional.all()] == ["NEW:0001"]
    page.delete.click()
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.nil()
    assert desk.project.provisional.all() == []
    to_front(window)
    QTest.keyClick(window, Key.Key_Z, CTRL)
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.link("NEW:0001")
    window.close()


def test_another_entity_is_chosen_for_what_has_none(desk: Desk, qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    mention = desk.world.mentions(1)[2]
    desk.project.curation.decide(mention, Verdict.link("MESH:D001145"))
    import_kb(desk, [one for one in KB if one["id"] != "MESH:D001145"])
    desk.window.menus.action("tools.kb_update").trigger()
    [remap] = shown(RemapWindow)
    assert isinstance(remap, RemapWindow)
    to_front(remap)
    qtbot.waitUntil(lambda: len(remap.table.lines.rows) == 1)
    qtmodeltester.check(remap.table.lines)
    assert remap.table.ticked == ()
    assert not remap.apply.isEnabled()
    press(remap.table, Key.Key_Space)  # nothing to move to: nothing is ticked
    assert remap.table.ticked == ()
    press(remap.table, Key.Key_Return)
    search = remap.search.panel
    search.line.setText("heart arrest")
    qtbot.waitUntil(lambda: search.model.rowCount() > 0 and not search.busy)
    press(search.line, Key.Key_Return)
    assert [one.proposed and one.proposed.id for one in remap.table.ticked] == ["MESH:D006323"]
    remap.apply.click()
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.link("MESH:D006323")
    remap.close()
