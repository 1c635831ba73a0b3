"""The hierarchy in the window: browsing, linking, restricting to branches."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.suggestions import NilEstimate, Suggestion
from curator.ui.bench.hierarchy_side import NO_ENTITY
from curator.ui.candidates.tree_pane import ALONE, FLAT, TreePane
from curator.ui.kit.labels import ElidedLabel
from tests.curator.services.fakes import KB
from tests.curator.ui.window.fakes import CTRL, Desk, MakeDesk

Key = Qt.Key
TREE: tuple[dict[str, Any], ...] = (
    {"id": "MESH:C14", "name": "Cardiovascular diseases", "types": ["Disease"]},
    {"id": "MESH:C280", "name": "Heart diseases", "types": ["Disease"], "parents": ["MESH:C14"]},
    {**KB[1], "parents": ["MESH:C280"]},
    {**KB[2], "parents": ["MESH:C280"]},
    {"id": "MESH:C1", "name": "Atrial flutter", "types": ["Disease"], "parents": ["MESH:D001145"]},
    KB[0],
)


@pytest.fixture
def tall(make_desk: MakeDesk, qtbot: QtBot) -> Desk:
    """On “cardiac arrest”, whose first candidate is Heart Arrest; the knowledge base has a hierarchy."""
    desk = make_desk()
    desk.world.kb(TREE, name="tree.jsonl")
    qtbot.waitUntil(lambda: desk.project.knowledge.info().entities == len(TREE))  # type: ignore[union-attr]
    while desk.word != "cardiac arrest":
        desk.bench.navigator.step(1)
    desk.bench.candidates.highlight(desk.bench.candidates.model.row_of("MESH:D006323") or 0)
    return desk


def tree(desk: Desk, qtbot: QtBot) -> TreePane:
    found = desk.bench.hierarchy.tree
    assert found is not None
    assert desk.bench.side.currentWidget() is found
    qtbot.waitUntil(lambda: not found.model.worker.busy and not found.worker.busy)
    return found


def highlighted(pane: TreePane) -> str:
    return pane.entity.name if pane.entity is not None else ""


def test_y_opens_the_tree_at_the_candidate_and_enter_links(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Y)
    pane = tree(tall, qtbot)
    assert highlighted(pane) == "Heart Arrest"
    assert pane.tree.hasFocus()
    tall.press(Key.Key_Left)
    assert highlighted(pane) == "Heart diseases"
    tall.press(Key.Key_Return)
    assert tall.decision("cardiac arrest").verdict == Verdict.link("MESH:C280")  # type: ignore[union-attr]
    assert tall.bench.side.currentWidget() is tall.bench.candidates
    assert tall.bench.document.hasFocus()


def test_y_again_and_escape_go_back(tall: Desk, qtbot: QtBot) -> None:
    for key in (Key.Key_Y, Key.Key_Escape):
        tall.press(Key.Key_Y)
        tree(tall, qtbot)
        tall.press(key)
        assert tall.bench.side.currentWidget() is tall.bench.candidates
    assert tall.decision("cardiac arrest") is None


def test_right_opens_a_node_and_space_closes_it(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Y)
    pane = tree(tall, qtbot)
    tall.press(Key.Key_Up)
    assert highlighted(pane) == "Arrhythmia"
    tall.press(Key.Key_Right)
    tree(tall, qtbot)
    tall.press(Key.Key_Right)
    assert highlighted(pane) == "Atrial flutter"
    tall.press(Key.Key_Left)
    tall.press(Key.Key_Space)
    assert not pane.tree.isExpanded(pane.tree.currentIndex())


def test_the_tree_is_searched_and_shows_what_is_chosen(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Y)
    pane = tree(tall, qtbot)
    tall.press(Key.Key_Slash)
    assert pane.line.hasFocus()
    QTest.keyClicks(pane.line, "flutter")
    qtbot.waitUntil(lambda: pane.pages.currentWidget() is pane.list)
    tall.press(Key.Key_Return)
    tree(tall, qtbot)
    assert pane.pages.currentWidget() is pane.tree
    assert highlighted(pane) == "Atrial flutter"
    assert tall.decision("cardiac arrest") is None, "Enter in the line links nothing"
    tall.press(Key.Key_Slash)
    QTest.keyClicks(pane.line, "x")
    tall.press(Key.Key_Escape)
    assert (pane.line.text(), pane.pages.currentWidget()) == ("", pane.tree)


def test_the_tree_opens_at_a_search_result(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Slash)
    search = tall.search
    QTest.keyClicks(search.line, "flutter")
    qtbot.waitUntil(lambda: not search.worker.busy)
    tall.press(Key.Key_T, CTRL)
    assert highlighted(tree(tall, qtbot)) == "Atrial flutter"


def test_an_entity_in_no_hierarchy_says_so(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Y)
    pane = tree(tall, qtbot)
    pane.open_at("MESH:D008012")
    tree(tall, qtbot)
    assert highlighted(pane) == "Lidocaine"
    assert pane.note.text() == ALONE.format(name="Lidocaine")


def test_a_knowledge_base_without_hierarchy_says_so(desk: Desk, qtbot: QtBot) -> None:
    desk.press(Key.Key_Y)
    pane = tree(desk, qtbot)
    pane.forget()
    tree(desk, qtbot)
    assert pane.tree.empty_words == FLAT


def test_another_knowledge_base_is_read_anew(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Y)
    pane = tree(tall, qtbot)
    tall.world.kb(({"id": "A", "name": "Above"}, {"id": "B", "name": "Below", "parents": ["A"]}), name="other.jsonl")
    qtbot.waitUntil(lambda: highlighted(pane) == "Above")
    assert pane.model.rowCount() == 1


def restricted(desk: Desk, answer: str) -> str:
    """Press one of the buttons of the question about branches; returns the question."""
    box = desk.bench.hierarchy.ask_branches()
    assert box is not None
    words: str = box.text()
    [button] = [one for one in box.buttons() if one.text().replace("&", "") == answer]
    button.click()
    desk.window.activateWindow()
    assert QTest.qWaitForWindowActive(desk.window)
    return words


def pressed(desk: Desk, answer: str) -> str:
    """Press a button of the question that is on the screen; returns the question."""
    [box] = [one for one in desk.window.findChildren(QMessageBox) if one.isVisible()]
    [button] = [one for one in box.buttons() if one.text().replace("&", "") == answer]
    words: str = box.text()
    button.click()
    return words


def test_candidates_and_search_are_restricted_to_a_branch(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Y)
    tree(tall, qtbot)
    tall.press(Key.Key_Left)
    assert "3 entities are below it." in restricted(tall, "Restrict")
    branches = tall.project.branches.branches
    qtbot.waitUntil(lambda: branches().of == {"SpecificDisease": ("MESH:C280",)})
    tall.press(Key.Key_Escape)
    qtbot.waitUntil(lambda: any(one.active for one in tall.project.retraining.bundles()))  # of the new knowledge base
    tall.press(Key.Key_Slash)
    search = tall.search
    QTest.keyClicks(search.line, "cardiovascular")
    expected = "2 entities · 1 outside the branches"  # those that the linker suggests
    qtbot.waitUntil(lambda: not search.busy and search.status.words == expected)
    tall.press(Key.Key_Escape)
    tall.press(Key.Key_Y)
    pane = tree(tall, qtbot)
    tall.press(Key.Key_Slash)
    QTest.keyClicks(pane.line, "cardiovascular")
    qtbot.waitUntil(lambda: pane.matches.rowCount() == 1)
    tall.press(Key.Key_Return)
    tree(tall, qtbot)
    assert highlighted(pane) == "Cardiovascular diseases", "the tree shows everything"
    restricted(tall, "Add")
    qtbot.waitUntil(lambda: branches().of == {"SpecificDisease": ("MESH:C280", "MESH:C14")})
    restricted(tall, "Cancel")
    restricted(tall, "Lift")
    qtbot.waitUntil(lambda: branches().of == {})


def test_without_an_entity_the_question_says_what_to_do(tall: Desk) -> None:
    tall.bench.candidates.show_without_suggestions("They are kept back.")
    assert tall.bench.hierarchy.ask_branches() is None
    assert tall.said == NO_ENTITY.format(search="/", tree="Y")


def test_candidates_that_are_all_outside_the_branches_are_said_to_be_and_shown(tall: Desk, qtbot: QtBot) -> None:
    panel = tall.bench.candidates
    tall.project.branches.restrict("SpecificDisease", ["MESH:C1"])
    view = tall.bench.navigator.mention
    assert view is not None
    assert view.suggestion is not None
    with tall.world.store.write() as unit:  # as it is stored when the linker has answered
        none = Suggestion(view.mention.id, (), NilEstimate(0.1, False, False), view.suggestion.stamp)
        unit.suggestions.save(unit.suggestions.packed([none]))
    tall.bench.navigator.step_document(1)
    tall.bench.navigator.open(1, view.mention.id)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 0 and "outside the branches" in panel.list.empty_words)
    assert panel.list.empty_words == (
        "The only candidate is outside the branches that mentions of the type SpecificDisease are restricted to. "
        "H shows it; Tools › Restrict to branches lifts the restriction."
    )
    lines = [label.words for label in panel.findChildren(ElidedLabel)]
    assert not any("probably NIL" in one for one in lines), "the linker does not expect it"
    tall.press(Key.Key_H)
    assert panel.model.row_of("MESH:D006323") is not None


def test_the_whole_project_is_restricted_and_released(tall: Desk, qtbot: QtBot) -> None:
    branches = tall.project.branches.branches
    restricted(tall, "Whole project…")
    assert pressed(tall, "Restrict").endswith("No entity is below it.")
    qtbot.waitUntil(lambda: branches().of == {"": ("MESH:D006323",)})
    restricted(tall, "Whole project…")
    assert "in the whole project are restricted to: Heart Arrest." in pressed(tall, "Lift")
    qtbot.waitUntil(lambda: branches().of == {})


def test_some_of_many_branches_are_named(tall: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curator.ui.bench.hierarchy_side.NAMED", 1)
    tall.project.branches.restrict("SpecificDisease", ["MESH:D006323", "MESH:C280", "MESH:C14"])
    assert "are restricted to: Heart Arrest and 2 more." in restricted(tall, "Cancel")


def test_the_highlighted_entity_stays_in_sight_when_the_tree_gets_lower(tall: Desk, qtbot: QtBot) -> None:
    tall.press(Key.Key_Y)
    pane = tree(tall, qtbot)
    pane.open_at("MESH:D008012")
    view = tree(tall, qtbot).tree
    row = view.visualRect(view.currentIndex())
    view.setFixedHeight(row.top())
    QApplication.processEvents()
    assert view.viewport().rect().contains(view.visualRect(view.currentIndex()).center())
