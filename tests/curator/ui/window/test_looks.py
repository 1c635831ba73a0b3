"""The running window in another size and in other colours: everything follows at once, and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Outcome
from curator.settings.schema import with_value
from curator.ui.deciding.reason_strip import QuestionStrip
from curator.ui.kit.theme import DARK, LIGHT, Theme, contrast, theme_of
from curator.ui.shell.main_window import MainWindow
from curator.ui.training.retrain import RetrainDialog
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_reach import clipped, dialogs, each_dialog, name_of

ROLE = QPalette.ColorRole
SIZES = ((1024, 700), (1440, 900))
PATIENCE = 5000
"""Milliseconds that a loaded machine may take to draw; a quick one is not waited for."""


@pytest.fixture
def dressed(window: MainWindow, qapp: QApplication) -> Iterator[MainWindow]:
    """The window under the program's own sheet, as `curator open` shows it; afterwards as the tests expect it."""
    font, palette = QFont(qapp.font()), QPalette(qapp.palette())
    _set(window, "theme", "light")
    window.preferences.theme.apply()
    yield window
    qapp.setStyleSheet("")
    qapp.setFont(font)
    qapp.setPalette(palette)


def _set(window: MainWindow, name: str, value: object) -> None:
    window.preferences.adopt(with_value(window.preferences.settings, name, value))
    settle()


def settle() -> None:
    for _ in range(4):  # a new font, new sizes, new places, what is fitted after them
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def fonts(top: QWidget) -> dict[QWidget, float]:
    """Without scroll bars and what Qt keeps hidden inside its own widgets: they have no words."""
    parts = (one for one in (top, *top.findChildren(QWidget)) if not isinstance(one, QScrollBar))
    return {one: one.font().pointSizeF() for one in parts if not one.objectName().startswith("qt_")}


@pytest.mark.parametrize("percent", [150])
def test_a_new_size_reaches_every_widget_at_once(dressed: MainWindow, make_desk: MakeDesk, percent: int) -> None:
    make_desk()
    settle()
    before = fonts(dressed)
    _set(dressed, "interface_size", percent)
    after = fonts(dressed)
    assert len(before) > 100
    wrong = {type(one).__name__ for one, size in before.items() if abs(after[one] - size * percent / 100) > 0.6}
    assert wrong == set()
    _set(dressed, "interface_size", 100)
    assert fonts(dressed) == before


def test_nothing_is_cut_at_200_percent(dressed: MainWindow, make_desk: MakeDesk) -> None:
    bench = make_desk().bench
    dressed.resize(*SIZES[0])
    _set(dressed, "interface_size", 200)
    assert clipped(dressed) == []
    for outcome in (Outcome.NIL, Outcome.REJECTED, Outcome.SKIPPED):
        bench.ask_reason(outcome)
        settle()
        assert clipped(bench.reasons) == []
        for button in bench.reasons.buttons:
            assert bench.rect().contains(button.rect().translated(button.mapTo(bench, button.rect().topLeft())))


@pytest.mark.parametrize("size", [SIZES[0], *(pytest.param(one, marks=pytest.mark.soak) for one in SIZES[1:])], ids=str)
def test_no_dialog_is_larger_than_the_screen_nor_cuts_words_at_200_percent(
    dressed: MainWindow, make_desk: MakeDesk, size: tuple[int, int]
) -> None:
    """The window stands for the screen: an offscreen one is smaller."""
    desk = make_desk()
    dressed.resize(*size)
    _set(dressed, "interface_size", 200)
    wrong: dict[str, list[str]] = {}
    for name, dialog in each_dialog(desk):
        settle()
        found = [*clipped(dialog), *cut_headings(dialog)]
        if dialog.width() > size[0] or dialog.height() > max(size[1], dialog.screen().availableSize().height()):
            found.append(f"{dialog.width()}×{dialog.height()}")
        if found:
            wrong[name] = found
    assert wrong == {}


def cut_headings(top: QWidget) -> list[str]:
    """Headings of tables with less room than their words need."""
    found = []
    for header in top.findChildren(QHeaderView):
        model = header.model()
        if header.orientation() is not Qt.Orientation.Horizontal or not header.isVisible() or model is None:
            continue
        for at in range(header.count()):
            if header.sectionSize(at) + 1 < header.sectionSizeHint(at) and not header.isSectionHidden(at):
                found.append(f"{model.headerData(at, Qt.Orientation.Horizontal)} in {name_of(header.parentWidget())}")
    return found


# --- colours ---

PAIRS = ((ROLE.WindowText, ROLE.Window), (ROLE.Text, ROLE.Base), (ROLE.ButtonText, ROLE.Button))


def unreadable(top: QWidget, theme: Theme) -> list[str]:
    """Widgets whose palette is not the theme's."""
    found = []
    for one in (top, *top.findChildren(QWidget)):
        palette = one.palette()
        palette.setCurrentColorGroup(QPalette.ColorGroup.Active)
        framed = isinstance(one, QComboBox | QAbstractSpinBox)  # the Window colour is that of their frame
        pairs = [pair for pair in PAIRS if not framed or pair[1] is not ROLE.Window]
        weak = any(contrast(palette.color(ink), palette.color(ground)) < 4.5 for ink, ground in pairs)
        if not isinstance(one, QScrollBar) and (weak or theme_of(palette) is not theme):
            found.append(f"{type(one).__name__} {one.accessibleName() or one.objectName()}")
    return found


def test_a_change_of_theme_leaves_nothing_in_the_old_colours(dressed: MainWindow, desk: Desk) -> None:
    for name in ("light", "dark", "light"):
        _set(dressed, "theme", name)
        theme = DARK if name == "dark" else LIGHT
        assert unreadable(dressed, theme) == []
        desk.bench.ask_reason(Outcome.NIL)
        settle()
        _read(desk.bench.reasons, theme)
        desk.bench.reasons.dismiss()


def _read(strip: QuestionStrip, theme: Theme) -> None:
    """The strip as it is painted: its ground is the theme's, and its words can be read on it."""
    image = strip.grab().toImage()
    question = strip.question.geometry()
    assert image.pixelColor(question.left() - 6, 2) == theme.accent_tint
    assert max(contrast(one, theme.accent_tint) for one in colours(image.copy(question))) > 7


def colours(image: QImage) -> list[QColor]:
    return [QColor(one) for one in {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}]


# --- the right column ---


def test_a_mention_with_comments_only_shows_them_where_decisions_would_be(
    dressed: MainWindow, desk: Desk, qtbot: QtBot
) -> None:
    dressed.resize(1440, 900)
    settle()
    desk.bench.ask_comment(on_document=False)
    desk.bench.comment_strip.line.setText("Ask the others.")
    desk.press(Qt.Key.Key_Return, at=desk.bench.comment_strip.line)
    bench, line = desk.bench, dressed.fontMetrics().height()
    qtbot.waitUntil(lambda: bench.comments.isVisible() and not bench.history.list.isVisible(), timeout=PATIENCE)
    qtbot.waitUntil(lambda: bench.comments.list.height() > 2 * line, timeout=PATIENCE)


def test_f6_goes_round_without_the_history_where_it_is_empty(dressed: MainWindow, desk: Desk) -> None:
    met = []
    for _ in range(4):
        desk.bench.next_pane()
        met.append(QApplication.focusWidget())
    assert None not in met
    assert desk.bench.history.list not in met
    assert desk.bench.document in met


def test_words_that_come_late_leave_the_keyboard_where_it_is(
    dressed: MainWindow, make_desk: MakeDesk, qtbot: QtBot
) -> None:
    """The forecast of a training comes when its dialog is open already, and makes it scroll."""
    desk = make_desk()
    dressed.resize(1440, 900)
    _set(dressed, "interface_size", 200)
    desk.window.menus.action("model.retrain").trigger()
    [dialog] = dialogs()
    assert isinstance(dialog, RetrainDialog)
    qtbot.waitUntil(lambda: bool(dialog.takes.text()))
    settle()
    assert clipped(dialog) == []
    assert dialog.focusWidget() is dialog.radios["names"]
    dialog.reject()
