from __future__ import annotations

import pytest
from PySide6.QtCore import QLineF, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from curator.services.queue.queue import OpenDocument
from curator.ui.document.document_painter import Tint, paint_dots, pen_of, tint_at
from curator.ui.document.document_view import DocumentView
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import DARK, LIGHT, contrast
from tests.curator.ui.samples import TEXT, document, opened, span

TINTS = (Tint(span("patients"), 0, "speaks for one"), Tint(span("had"), 1, "speaks for the other"))


@pytest.fixture
def view(qtbot: QtBot) -> DocumentView:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    widget.show_document(opened())
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def colours(view: DocumentView) -> set[str]:
    image = view.viewport().grab().toImage()
    return {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(0, image.height(), 2)}


def test_words_are_tinted_in_the_colour_of_their_side_and_back(view: DocumentView) -> None:
    grounds = {side.tint.name() for side in LIGHT.sides}
    assert not grounds & colours(view)
    view.set_tints(TINTS)
    assert grounds <= colours(view)
    view.set_tints(TINTS[:1])
    assert LIGHT.sides[1].tint.name() not in colours(view)
    view.set_tints(())
    assert not grounds & colours(view)


def test_another_document_has_no_tints(view: DocumentView) -> None:
    view.set_tints(TINTS)
    view.show_document(OpenDocument(document(TEXT + " More.", id=2), ()))
    assert not {side.tint.name() for side in LIGHT.sides} & colours(view)


def test_a_tint_is_found_by_its_code_points() -> None:
    start = TINTS[0].span.start
    assert [tint_at(TINTS, at) for at in (start - 1, start, TINTS[0].span.end)] == [None, TINTS[0], None]


def test_the_numbers_are_told_on_hover(qtbot: QtBot, view: DocumentView, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QHelpEvent

    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _where, words, *_: told.append(words))
    view.set_tints(TINTS)
    where: QPointF = view.rect_of(TINTS[0].span).center()
    view.viewportEvent(QHelpEvent(QEvent.Type.ToolTip, where.toPoint(), QPoint()))
    assert told == ["<qt>speaks for one</qt>"]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_on_both_tints_can_be_read(theme) -> None:
    text = theme.palette.text().color()
    for side in theme.sides:
        assert contrast(text, side.tint) >= 4.5
        assert contrast(side.ink, theme.palette.base().color()) >= 4.5
        assert contrast(side.line, side.tint) >= 2.5
        assert contrast(side.line, theme.palette.base().color()) >= 3.0


@pytest.mark.parametrize("ratio", [1.0, 2.0])
@pytest.mark.parametrize("right", [11.0, 40.0, 300.0])
def test_dots_look_like_the_stroked_line(qapp: QApplication, ratio: float, right: float) -> None:
    colour = QColor("#b06000")

    def stroked(painter: QPainter) -> None:
        painter.setPen(pen_of(MentionState.UNDECIDED, colour))
        painter.drawLine(QLineF(10, 12, right, 12))

    images = []
    for paint in (stroked, lambda painter: paint_dots(painter, 10, right, 12, colour)):
        image = QImage(int(320 * ratio), int(24 * ratio), QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint(painter)
        painter.end()
        images.append(image)
    line, dots = images
    assert any(QColor(line.pixel(x, int(12 * ratio))).blue() < 128 for x in range(line.width()))
    differing = [
        (x, y)
        for x in range(line.width())
        for y in range(line.height())
        if abs(QColor(line.pixel(x, y)).blue() - QColor(dots.pixel(x, y)).blue()) > 24
    ]
    assert differing == []
