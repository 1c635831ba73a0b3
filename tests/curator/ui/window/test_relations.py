"""Relations in the window: begun and ended by keys, listed, drawn, deleted, undone."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from tests.curator.ui.window.fakes import SHIFT, Desk, MakeDesk


def shown(desk: Desk) -> list[tuple[str, bool]]:
    return [(row.what, row.here) for row in desk.bench.relations.panel.model.rows]


def history(desk: Desk) -> list[str]:
    model = desk.bench.history.model
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())]


def listed(desk: Desk, qtbot: QtBot, number: int) -> None:
    qtbot.waitUntil(lambda: len(desk.bench.relations.panel.model.rows) == number)


def test_a_relation_is_added_by_keys_listed_drawn_deleted_and_undone(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    bench, project = desk.bench, desk.world.project
    desk.press("W")
    listed(desk, qtbot, 1)
    assert shown(desk) == [("Lidocaine → Heart Arrest", False)]
    assert "between entities" in bench.relations.panel.model.rows[0].small
    desk.press("W")
    assert not bench.relations.panel.isVisible()

    first, second = (view.mention.id for view in bench.navigator.opened.mentions[:2])
    desk.press("R")
    assert "Relation from “Lidocaine”" in bench.bottom.message.words
    desk.press(Qt.Key.Key_Down)
    assert [(one.first, one.second) for one in bench.document.relations] == [(first, second)]
    desk.press("R")
    picker = bench.relations.picker
    assert picker.isVisible()
    QTest.keyClicks(picker.line, "causes")
    QTest.keyClick(picker.line, Qt.Key.Key_Down)  # the row of the new type
    QTest.keyClick(picker.line, Qt.Key.Key_Return)
    assert [one.type for one in project.relations.of_document(1)] == ["CID", "causes"]
    assert bench.document.relations == ()

    desk.press(Qt.Key.Key_Up)
    added = "Relation added: “Lidocaine” → “cardiac arrest” (causes)"
    qtbot.waitUntil(lambda: history(desk) == [added])

    bench.relations.toggle_lines()
    qtbot.waitUntil(lambda: len(bench.document.relations) == 1)
    project.curation.decide(first, Verdict.link("MESH:D008012"))
    project.curation.decide(second, Verdict.link("MESH:D006323"))
    qtbot.waitUntil(lambda: [one.dashed for one in bench.document.relations] == [True, False])
    bench.relations.toggle_panel()
    listed(desk, qtbot, 2)
    assert shown(desk) == [("Lidocaine → Heart Arrest", True), ("Lidocaine → cardiac arrest", True)]
    bench.relations.panel.list.go_to(1)
    QTest.keyClick(bench.relations.panel.list, Qt.Key.Key_Delete)
    listed(desk, qtbot, 1)
    assert [one.type for one in project.relations.of_document(1)] == ["CID"]
    QTest.keyClick(bench.relations.panel.list, Qt.Key.Key_Escape)
    assert [one.partition(":")[0] for one in history(desk)] == ["Relation deleted", "Lidocaine (MESH", "Relation added"]
    bench.decider.undo()
    assert [one.type for one in project.relations.of_document(1)] == ["CID", "causes"]


def test_a_relation_is_given_up_and_refused_with_a_reason(make_desk: MakeDesk) -> None:
    desk = make_desk()
    bench, project = desk.bench, desk.world.project
    desk.press("R")
    desk.press("R")
    assert bench.bottom.message.words == "No relation was added."
    desk.press("R")
    desk.press(Qt.Key.Key_Down)
    desk.press("R", SHIFT)
    QTest.keyClicks(bench.relations.picker.line, "CID")
    QTest.keyClick(bench.relations.picker.line, Qt.Key.Key_Down)  # the row of the new type
    QTest.keyClick(bench.relations.picker.line, Qt.Key.Key_Return)
    assert "is not linked to an entity" in bench.bottom.message.words
    assert len(project.relations.of_document(1)) == 1


def test_in_a_narrow_window_the_text_keeps_more_room_than_the_relations(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    desk.window.resize(1024, 700)
    desk.press(Qt.Key.Key_W)
    panel, document = desk.bench.relations.panel, desk.bench.document
    qtbot.waitUntil(lambda: panel.isVisible() and panel.width() < document.width())
