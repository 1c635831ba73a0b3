"""Mentions changed from the window: by key, by mouse, with a reason where they cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain.documents import Span, slice_spans
from curator.domain.entities import EntityMatch, MatchKind
from curator.domain.wording import DamagedTextError
from curator.services.linking.reconciliation import ReconciliationService
from curator.services.ports.queue import QueueFilter
from tests.curator.ui.window.fakes import CTRL, PLAIN, SHIFT, Desk, MakeDesk, reopen

Key, ALT, LEFT = Qt.Key, Qt.KeyboardModifier.AltModifier, Qt.MouseButton.LeftButton


def said(desk: Desk) -> str:
    return desk.said


def go_to(desk: Desk, word: str) -> None:
    opened = desk.bench.navigator.opened
    assert opened is not None
    desk.bench.navigator.select(next(v.mention.id for v in opened.mentions if v.mention.text == word))
    desk.bench.focus_document()


def spans(desk: Desk) -> tuple[Span, ...]:
    view = desk.bench.navigator.mention
    assert view is not None
    return view.mention.spans


def test_ends_are_moved_by_word_and_by_character_and_undone(desk: Desk) -> None:
    go_to(desk, "cardiac arrest")
    desk.press(Key.Key_Down, ALT)
    assert desk.word == "arrest"
    desk.press(Key.Key_Up, ALT)
    assert desk.word == "cardiac arrest"
    desk.press(Key.Key_Left, ALT)
    assert desk.word == "cardiac"
    desk.press(Key.Key_Period, ALT)
    assert desk.word == "cardiac a", "white space alone is nothing to grow by"
    desk.press(Key.Key_Comma, ALT)
    desk.press(Key.Key_Comma)
    assert desk.word == "d cardiac"
    desk.press(Key.Key_Period)
    for wanted in ("d cardiac", "cardiac", "cardiac a", "cardiac", "cardiac arrest"):
        desk.press(Key.Key_Z, CTRL)
        assert desk.word == wanted


def test_a_step_by_a_word_leaves_punctuation_out(desk: Desk) -> None:
    go_to(desk, "arrhythmia")
    desk.press(Key.Key_Right, ALT)
    assert desk.word == "arrhythmia, not"
    go_to(desk, "blorbitis")
    desk.press(Key.Key_Right, ALT)
    assert desk.word == "blorbitis", "only a full stop follows"
    assert said(desk).startswith("The text ends here")
    desk.press(Key.Key_Period, ALT)
    assert desk.word == "blorbitis.", "a step by a character takes it"
    desk.press(Key.Key_Left, ALT)
    assert desk.word == "blorbitis"


def test_what_cannot_be_is_refused_with_its_reason(desk: Desk) -> None:
    go_to(desk, "Lidocaine")
    before = spans(desk)
    desk.press(Key.Key_Up, ALT)
    assert said(desk).startswith("The text ends here")
    desk.press(Key.Key_Left, ALT)
    assert "Press Del to delete the mention" in said(desk) or "ends here" in said(desk)
    desk.press(Key.Key_J, CTRL)
    assert "has only one part" in said(desk)
    desk.press(Key.Key_A, SHIFT)
    assert said(desk).startswith("Select text first")
    desk.bench.document.select(Span(50, 54))
    assert "as another part" in said(desk), "a selection says what can be done with it"
    desk.press(Key.Key_A, SHIFT)
    assert "does not overlap" in said(desk)
    assert spans(desk) == before


def test_parts_are_added_taken_out_and_joined_by_key(desk: Desk) -> None:
    go_to(desk, "cardiac arrest")
    desk.press(Key.Key_F7)
    assert desk.bench.document.caret_mode
    desk.press(Key.Key_Home, CTRL)
    desk.press(Key.Key_Right, SHIFT | CTRL)
    assert desk.bench.document.selection == Span(0, 9)
    desk.press(Key.Key_A)
    assert desk.word == "Lidocaine cardiac arrest"
    assert len(spans(desk)) == 2
    desk.press(Key.Key_J, CTRL)
    assert desk.word == "Lidocaine and cardiac arrest"
    desk.bench.document.select(Span(10, 13))
    desk.press(Key.Key_A, SHIFT)
    assert spans(desk) == (Span(0, 9), Span(14, 28))
    desk.bench.document.select(Span(3, 3 + 1))
    desk.press(Key.Key_Escape)
    assert desk.bench.document.caret_mode, "Esc drops the selection first"
    desk.press(Key.Key_Escape)
    assert not desk.bench.document.caret_mode
    go_to(desk, "arrhythmia")
    desk.press(Key.Key_J, CTRL | SHIFT)
    assert desk.word == "arrhythmia blorbitis"


def test_a_mention_is_retyped_in_a_popup_and_keeps_its_decision(desk: Desk) -> None:
    go_to(desk, "cardiac arrest")
    desk.press(Key.Key_1)
    go_to(desk, "cardiac arrest")
    desk.press(Key.Key_T)
    assert desk.bench.text.types.isVisible()
    QTest.keyClicks(desk.bench.text.types.line, "chem")
    desk.press(Key.Key_Return, at=desk.bench.text.types.line)
    view = desk.bench.navigator.mention
    assert view is not None
    assert view.mention.type == "Chemical"
    assert view.decision is not None
    assert desk.bench.document.hasFocus()
    assert desk.bench.history.model.index(0, 0).data() == "Type changed to Chemical"


def test_an_end_is_dragged_to_whole_words_and_with_ctrl_to_characters(desk: Desk) -> None:
    go_to(desk, "arrhythmia")
    view = desk.bench.document
    start, space = view.rect_of(Span(46, 47)), view.rect_of(Span(45, 46))

    def drag(to: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        rect = view.rect_of(spans(desk)[0])
        grip = QPoint(round(rect.left()), round(rect.center().y()))
        QTest.mouseMove(view.viewport(), rect.center().toPoint())
        view.mouseMoveEvent(_move(view, rect.center().toPoint(), PLAIN, held=Qt.MouseButton.NoButton))
        assert len(view.handles) == 2
        QTest.mousePress(view.viewport(), LEFT, PLAIN, grip)
        moved = _move(view, to, modifiers)
        view.mouseMoveEvent(moved)
        QTest.mouseRelease(view.viewport(), LEFT, modifiers, to)

    drag(QPoint(round(start.right()) - 1, round(start.center().y())), PLAIN)
    assert desk.word == "an arrhythmia"
    drag(QPoint(round(space.right()) + round(start.width()), round(start.center().y())), CTRL)
    assert desk.word == "n arrhythmia"


def _move(view, to: QPoint, modifiers: Qt.KeyboardModifier, *, held: Qt.MouseButton = LEFT):  # type: ignore[no-untyped-def]
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent

    place = QPointF(to)
    at = QPointF(view.viewport().mapToGlobal(to))
    return QMouseEvent(QEvent.Type.MouseMove, place, at, Qt.MouseButton.NoButton, held, modifiers)


def test_the_newer_suggestion_of_a_moved_mention_takes_the_old_ones_place(make_desk) -> None:  # type: ignore[no-untyped-def]
    desk = make_desk(manual=True)
    linker = desk.world.linker
    linker.answer(linker.asked[-1])
    go_to(desk, "cardiac arrest")
    desk.press(Key.Key_Down, ALT)
    linker.answer(linker.asked[-1])
    view = desk.bench.navigator.mention
    assert view is not None
    QTest.qWait(0)
    assert not desk.bench.navigator.newer_waits


def test_the_text_menu_lists_what_can_be_done(desk: Desk) -> None:
    go_to(desk, "cardiac arrest")
    menu = desk.bench.text.show_menu(QPoint(5, 5), desk.window.menus.action)
    names = [action.objectName() for action in menu.actions() if action.objectName()]
    assert "edit.retype" in names
    assert "edit.add_part" not in names, "without a selection there is nothing to add"
    menu.close()


def test_the_focus_mode_leaves_text_and_candidates_and_brings_everything_back(desk: Desk) -> None:
    bench, window = desk.bench, desk.window
    bench.header.hide()  # what was hidden before stays so
    desk.press(Key.Key_F11)
    assert bench.text.focused
    assert window.isFullScreen()
    below = bench.right.widget(1)
    assert below is not None
    shown = [part.isVisible() for part in (bench.document, bench.candidates, bench.bottom, bench.queue, below)]
    assert shown == [True, True, True, False, False]
    assert not window.menuBar().isVisible()
    desk.press(Key.Key_Down)
    assert desk.word == "cardiac arrest", "keys work as before"
    desk.press(Key.Key_F11)
    assert not window.isFullScreen()
    assert bench.queue.isVisible()
    assert below.isVisible()
    assert window.menuBar().isVisible()
    assert not bench.header.isVisible()


def test_finding_marks_every_place_and_leaves_the_last_one_selected(desk: Desk) -> None:
    desk.press(Key.Key_F, CTRL)
    bar = desk.bench.find_bar
    QTest.keyClicks(bar.line, "LIDO")
    assert bar.count.text() == "1 of 2"
    desk.press(Key.Key_Return)
    assert bar.count.text() == "2 of 2"
    desk.press(Key.Key_Return)
    desk.press(Key.Key_Return, SHIFT)
    assert bar.count.text() == "2 of 2", "round at both ends"
    assert desk.bench.navigator.step_document(1)
    assert desk.bench.document.found.at == 0, "in the next document from its top"
    QTest.keyClicks(bar.line, "x")
    assert bar.count.text() == "not in this document"
    desk.press(Key.Key_Backspace)
    desk.press(Key.Key_Escape)
    assert desk.bench.document.hasFocus()
    assert not bar.isVisible()
    assert desk.bench.document.selection == Span(0, 4)
    desk.press(Key.Key_F3)
    assert bar.isVisible()
    assert bar.line.text() == "LIDO"


def test_spacing_width_and_size_are_kept_as_settings(desk: Desk) -> None:
    settings = desk.window.preferences
    high = desk.bench.document.rect_of(Span(30, 34)).height()
    desk.press(Key.Key_L, ALT)
    assert desk.bench.document.rect_of(Span(30, 34)).height() > high
    desk.press(Key.Key_K, ALT)
    desk.press(Key.Key_N, ALT)
    desk.bench.document.zoom_wanted.emit(1)
    now = settings.settings
    assert (now.line_spacing, now.text_width, now.font_size) == (150, 68, 13)


def test_a_document_that_is_gone_closes_with_a_sentence(desk: Desk) -> None:
    opened = desk.bench.navigator.opened
    assert opened is not None
    desk.bench.navigator.opened = replace(opened, document=replace(opened.document, id=999))
    desk.bench.navigator.reload()
    assert "are no longer in the project" in said(desk)
    assert desk.bench.navigator.opened is None
    desk.press(Key.Key_Right, ALT)
    desk.press(Key.Key_F, CTRL)
    assert not desk.bench.find_bar.isVisible()


def test_a_document_with_a_damaged_text_is_not_shown_and_named(desk: Desk) -> None:
    opened = desk.bench.navigator.opened
    assert opened is not None
    other = next(one for one in desk.world.project.queue.ids(QueueFilter()) if one != opened.document.id)
    with desk.world.store.write() as unit:
        unit.connection.exec_driver_sql(f"UPDATE document_texts SET text = text || 'x' WHERE document_id = {other}")
    with pytest.raises(DamagedTextError, match="differs from the one imported"):
        desk.bench.navigator.open(other)  # the window's hook says it
    assert desk.bench.navigator.opened is opened
    assert desk.bench.navigator.document_ahead() is None
    with desk.world.store.write() as unit:
        unit.connection.exec_driver_sql("UPDATE document_texts SET text = text || 'y'")
    reopen(desk)
    assert "differs from the one imported" in said(desk)
    assert desk.bench.navigator.opened is None


def test_another_text_under_the_open_view_is_shown_anew(desk: Desk) -> None:
    opened = desk.bench.navigator.opened
    assert opened is not None
    desk.bench.document.select(Span(20, 28))
    short = replace(opened, document=replace(opened.document, text="Short.", passages=()), mentions=())
    desk.bench.document.show_document(short)
    assert desk.bench.document.selection is None
    desk.bench.document.find_text("Short")
    assert desk.bench.document.found.spans == (Span(0, 5),)


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        pytest.param("Xylocaine", "Chemical", id="a name of the knowledge base"),
        pytest.param("heart arrests", "SpecificDisease", id="a name whose type the project calls otherwise"),
        pytest.param("Blorbitis", "SpecificDisease", id="a string of the document"),
        pytest.param("ginger", "", id="nothing"),
    ],
)
def test_a_new_mention_may_have_any_type_of_the_knowledge_base_and_the_likely_one_is_first(
    desk: Desk, text: str, guess: str
) -> None:
    types = desk.bench.known_types()
    assert types == {"Chemical": 2, "Disease": 0, "SpecificDisease": 6}
    assert desk.bench.likely_type.of(text, types) == guess


@pytest.mark.parametrize(
    ("probability", "guess"), [pytest.param(0.9, "SpecificDisease", id="sure"), pytest.param(0.1, "", id="unsure")]
)
def test_the_type_of_a_selected_text_is_that_of_the_linkers_first_candidate(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, probability: float, guess: str
) -> None:
    opened, asked = desk.bench.navigator.opened, list[str]()
    assert opened is not None
    entity = desk.project.knowledge.entity("MESH:D006323")
    assert entity is not None

    def meant(_: object, words: str, **__: object) -> list[EntityMatch]:
        asked.append(words)
        return [EntityMatch(entity, words, 0.0, MatchKind.MEANING, probability)]

    monkeypatch.setattr(ReconciliationService, "meant", meant)
    at = Span(0, 3)
    words, types = slice_spans(opened.document.text, [at]), desk.bench.known_types()
    assert desk.bench.likely_type.of(words, types) == ""
    with qtbot.waitSignal(desk.bench.likely_type.worker.changed):
        desk.bench.document.select(at)
    qtbot.waitUntil(lambda: bool(asked) and not desk.bench.likely_type.worker.busy)
    assert asked == [words]
    assert desk.bench.likely_type.of(words, types) == guess
    desk.bench.set_judging(True)  # where the linker could give decisions away it is not asked
    desk.bench.document.select(Span(0, 2))
    desk.bench.likely_type.settle()
    assert not desk.bench.likely_type.worker.busy


def test_the_first_mention_does_not_hide_the_types_of_the_knowledge_base(make_desk: MakeDesk) -> None:
    desk = make_desk(documents=1)
    for one in desk.world.mentions(1)[1:]:
        desk.project.curation.delete_mention(one)
    assert set(desk.bench.known_types()) == {"Chemical", "Disease"}
