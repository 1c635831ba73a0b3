"""What the delegates of candidate, search, queue and history rows draw alike: grounds, key caps, bars, elided words."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPalette, QPen
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import Theme

PAD = 10.0
_LINE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine | Qt.TextFlag.TextDontClip
_LEFT, _RIGHT = int(_LINE | Qt.AlignmentFlag.AlignLeft), int(_LINE | Qt.AlignmentFlag.AlignRight)
"""Put together once: Python's flags take as long as drawing a word."""


def scaled(font: QFont, scale: float, *, bold: bool = False) -> QFont:
    result = QFont(font)
    result.setPointSizeF(max(font.pointSizeF(), 1.0) * scale)
    if bold:
        result.setWeight(QFont.Weight.DemiBold)
    return result


def fixed_font() -> QFont:
    """Letters of one width, in the size of the interface."""
    result = QFont()
    result.setFamilies(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
    return result


def row_height(font: QFont, lines: float = 2.0) -> int:
    """Height of a row of so many lines with its padding."""
    return int(QFontMetricsF(font).height() * lines + 14)


def draw_words(
    painter: QPainter, rect: QRectF, words: str, *, font: QFont, colour: QColor, right: bool = False
) -> float:
    """One line, elided at the end where it does not fit; returns the width it took."""
    metrics = QFontMetricsF(font)
    shown = " ".join(words.split())
    width = metrics.horizontalAdvance(shown)
    if width > rect.width():
        shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, max(rect.width(), 0.0))
        width = metrics.horizontalAdvance(shown)
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, _RIGHT if right else _LEFT, shown)
    return width


def draw_ground(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """Ground of a row: highlighted, hovered or plain; the highlighted one has a bar at its left."""
    rect = QRectF(option.rect)
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(rect, theme.accent_tint)
        painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), theme.accent)
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, theme.hover)


def draw_focus(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """A frame around the highlighted row while the list has the keyboard."""
    if option.state & QStyle.StateFlag.State_HasFocus and option.state & QStyle.StateFlag.State_Selected:
        painter.setPen(QPen(theme.accent, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(option.rect).adjusted(1, 1, -1, -1), 3, 3)


def draw_key(painter: QPainter, rect: QRectF, key: str, *, font: QFont, theme: Theme) -> None:
    """A key cap: the key that does this."""
    painter.setPen(QPen(theme.palette.color(QPalette.ColorRole.Dark) if not theme.dark else theme.muted, 1))
    painter.setBrush(theme.palette.color(QPalette.ColorRole.Button))
    painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(theme.palette.color(QPalette.ColorRole.ButtonText))
    painter.setFont(font)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, key)


def draw_bar(painter: QPainter, rect: QRectF, fraction: float, *, colour: QColor, theme: Theme) -> None:
    """A bar filled to `fraction` (clamped to 0..1)."""
    painter.setPen(Qt.PenStyle.NoPen)
    radius = rect.height() / 2
    painter.setBrush(theme.track)
    painter.drawRoundedRect(rect, radius, radius)
    width = rect.width() * min(max(fraction, 0.0), 1.0)
    if width > 0.5:
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(rect.left(), rect.top(), max(width, 2.0), rect.height()), radius, radius)


def draw_tag(painter: QPainter, place: QPointF, words: str, *, font: QFont, theme: Theme, state: MentionState) -> float:
    """A small tinted tag that ends at `place` (right, middle); returns its width."""
    metrics = QFontMetricsF(font)
    width, height = metrics.horizontalAdvance(words) + 12, metrics.height() + 3
    rect = QRectF(place.x() - width, place.y() - height / 2, width, height)
    colours = theme.states[state]
    painter.setPen(QPen(colours.line, 1))
    painter.setBrush(colours.tint)
    painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(theme.palette.color(QPalette.ColorRole.Text))
    painter.setFont(font)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, words)
    return width


def figure(value: float) -> str:
    """A score with two decimals, and a real minus sign."""
    return f"{value:.2f}".replace("-", "−")
