"""The map: what is painted where, and what mouse and keys do."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from curator.services.training.embedding_map import EmbeddingMap, MapPoint
from curator.ui.kit.theme import DARK, LIGHT
from curator.ui.training.embedding_map import LEAST_ZOOM, MOST_ZOOM, MapView, When, group_colour, unit_places
from curator.ui.training.map_window import NO_MAP, NOT_FOUND, MapDialog, map_words

POINTS = [
    MapPoint("7", "arrest", True, "D1", (0.0, 0.0), (4.0, 4.0), document=3),
    MapPoint("D1", "Heart Arrest", False, "D1", (10.0, 0.0), (5.0, 4.0)),
    MapPoint("D2", "Arrhythmia", False, "D2", (10.0, 10.0), (0.0, 0.0)),
]


@pytest.fixture
def dialog(qtbot: QtBot) -> MapDialog:
    made = MapDialog("Map", EmbeddingMap(tuple(POINTS), stress=0.1, nearest=(0.5, 0.75)))
    qtbot.addWidget(made)
    made.resize(900, 560)
    made.show()
    return made


def at(view: MapView, number: int) -> QPoint:
    return view.place_of(number).toPoint()


def test_proportions_are_kept_and_y_grows_upwards() -> None:
    assert unit_places([(0, 0), (10, 0), (10, 5)]) == [(0.0, 0.75), (1.0, 0.75), (1.0, 0.25)]
    assert unit_places([(3, 3), (3, 3)]) == [(0.5, 0.5)] * 2
    assert unit_places([]) == []


def test_every_point_is_inside_at_first(dialog: MapDialog) -> None:
    for view in dialog.views:
        assert all(view.rect().contains(at(view, number)) for number in range(len(POINTS)))


def test_pointing_tells_and_marks_in_both(dialog: MapDialog) -> None:
    before, after = dialog.views
    plain = after.grab().toImage()
    QTest.mouseMove(before, at(before, 1))
    assert dialog.told.text() == "Heart Arrest (entity D1) · D1"
    assert after.grab().toImage() != plain
    QTest.mouseMove(before, QPoint(3, 3))
    assert dialog.told.text().strip() == ""


def test_a_click_opens_a_mention_and_looks_an_entity_up(dialog: MapDialog, qtbot: QtBot) -> None:
    _, after = dialog.views
    with qtbot.waitSignal(dialog.mention_wanted) as wanted:
        QTest.mouseClick(after, Qt.MouseButton.LeftButton, pos=at(after, 0))
    assert wanted.args == [7]
    with qtbot.assertNotEmitted(dialog.mention_wanted), qtbot.waitSignal(dialog.entity_wanted) as looked_up:
        QTest.mouseClick(after, Qt.MouseButton.LeftButton, pos=at(after, 2))
    assert looked_up.args == ["D2"]


def test_arrows_go_from_point_to_point_and_enter_opens(dialog: MapDialog, qtbot: QtBot) -> None:
    before, _ = dialog.views
    dialog.show_current(7)
    assert [view.current for view in dialog.views] == [0, 0]
    QTest.keyClick(before, Qt.Key.Key_Right)
    assert before.chosen == 0  # begins at the mention that is open
    with qtbot.waitSignal(dialog.mention_wanted) as wanted:
        QTest.keyClick(before, Qt.Key.Key_Return)
    assert wanted.args == [7]
    QTest.keyClick(before, Qt.Key.Key_Right)
    assert dialog.told.text() == "Heart Arrest (entity D1) · D1"
    assert before.accessibleDescription() == "Heart Arrest"
    QTest.keyClick(before, Qt.Key.Key_Up)
    assert before.chosen == 2
    QTest.keyClick(before, Qt.Key.Key_Up)
    assert before.chosen == 2
    with qtbot.waitSignal(dialog.entity_wanted) as looked_up:
        QTest.keyClick(before, Qt.Key.Key_Enter)
    assert looked_up.args == ["D2"]


def test_the_open_mention_is_marked_where_the_map_has_it(dialog: MapDialog) -> None:
    view = dialog.views[0]
    plain = view.grab().toImage()
    dialog.show_current(7)
    assert view.grab().toImage() != plain
    for unknown in (99, None):
        dialog.show_current(unknown)
        assert view.current == -1
        assert view.grab().toImage() == plain


def test_a_point_is_found_by_words_and_by_identifier(dialog: MapDialog) -> None:
    after = dialog.views[1]
    after.set_view(20.0, QPointF(0.0, 0.0))
    QTest.keyClicks(dialog.words, "arr")
    assert dialog.told.text().startswith("arrest (mention 7)")
    assert after.rect().contains(at(after, 0))  # brought into view
    QTest.keyClick(dialog.words, Qt.Key.Key_Return)
    assert after.chosen == 1
    QTest.keyClick(dialog.words, Qt.Key.Key_Return)
    QTest.keyClick(dialog.words, Qt.Key.Key_Return)
    assert after.chosen == 0  # round once
    dialog.words.clear()
    QTest.keyClicks(dialog.words, "d2")
    assert after.chosen == 2
    QTest.keyClicks(dialog.words, "xyz")
    assert (after.chosen, dialog.told.text()) == (-1, NOT_FOUND)


def test_dragging_moves_both_and_opens_nothing(dialog: MapDialog, qtbot: QtBot) -> None:
    before, after = dialog.views
    places = [view.place_of(0) for view in dialog.views]
    with qtbot.assertNotEmitted(dialog.mention_wanted):
        QTest.mousePress(before, Qt.MouseButton.LeftButton, pos=at(before, 0))
        QTest.mouseMove(before, at(before, 0) + QPoint(40, -30))
        QTest.mouseRelease(before, Qt.MouseButton.LeftButton, pos=at(before, 0))
    for view, place in zip((before, after), places, strict=True):
        assert (view.place_of(0) - place).toPoint() != QPoint(0, 0)


def test_the_wheel_keeps_what_is_under_the_mouse(dialog: MapDialog) -> None:
    before, after = dialog.views
    place = before.place_of(1)
    before.set_view(1.0, QPointF(0.6, 0.5))
    place = before.place_of(1)
    _wheel(before, place, 240)
    assert before.zoom == after.zoom > 1.0
    assert (before.place_of(1) - place).manhattanLength() < 1.0
    for _ in range(40):
        _wheel(before, place, 1200)
    assert before.zoom == MOST_ZOOM
    for _ in range(40):
        _wheel(before, place, -1200)
    assert before.zoom == LEAST_ZOOM


def _wheel(view: MapView, place: QPointF, delta: int) -> None:
    event = QWheelEvent(
        place,
        view.mapToGlobal(place),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)


def test_keys_move_and_zoom(dialog: MapDialog) -> None:
    view = dialog.views[0]
    start = view.place_of(0)
    QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert view.place_of(0).x() < start.x()
    QTest.keyClick(view, Qt.Key.Key_Plus)
    assert view.zoom > 1.0
    QTest.keyClick(view, Qt.Key.Key_0)
    assert (view.zoom, view.place_of(0)) == (1.0, start)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_it_paints_in_both_themes(qtbot: QtBot, theme: object) -> None:
    view = MapView(POINTS, When.AFTER)
    qtbot.addWidget(view)
    view.resize(300, 300)
    view.setPalette(theme.palette)  # type: ignore[attr-defined]
    picture = view.grab().toImage()
    assert picture.pixel(at(view, 0)) != picture.pixel(5, 150)


def test_groups_have_colours_of_their_own() -> None:
    for theme in (LIGHT, DARK):
        assert len({group_colour(theme, number).rgb() for number in range(12)}) == 12


def test_how_true_the_picture_is() -> None:
    words = map_words(EmbeddingMap(tuple(POINTS), stress=0.1, nearest=(0.5, 0.75)))
    assert "50.0 % of the mentions were nearest" in words
    assert "75.0 % are now" in words
    assert "well (stress 0.10)" in words
    assert "poorly" in map_words(EmbeddingMap(stress=0.3))
    assert map_words(EmbeddingMap()) == ""


def test_both_planes_are_one(dialog: MapDialog) -> None:
    """A point that stays is in one place in both; nothing is stretched from the one to the other."""
    stays = MapPoint("1", "", True, "g", (2.0, 3.0), (2.0, 3.0))
    goes = MapPoint("2", "", True, "g", (0.0, 0.0), (9.0, 9.0))
    views = [MapView([stays, goes], when) for when in When]
    assert views[0].place_of(0) == views[1].place_of(0)
    assert views[0].place_of(1) != views[1].place_of(1)


def test_without_points_it_says_so(qtbot: QtBot) -> None:
    empty = MapDialog("Map", EmbeddingMap())
    qtbot.addWidget(empty)
    empty.show()
    assert any(label.text() == NO_MAP for label in empty.findChildren(QLabel))
    assert not any(view.isVisible() for view in empty.views)
