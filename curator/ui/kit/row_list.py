"""The list views of candidates, search, queue and history: painted rows, and a text if there are none.

`RowTable` is for the queue: QListView lays out every row when its model is reset (300 ms for 100,000), a QTableView
with rows of one height does not (8 ms).
"""

from __future__ import annotations

from typing import Generic, TypeVar

from PySide6.QtCore import (
    QEvent,
    QMargins,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from curator.domain.wording import localised
from curator.ui.kit.foreign_text import shown
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.record_tables import ROW_ROLE
from curator.ui.kit.theme import Theme, theme_of

BESIDE_WORDS = QMargins(12, 14, 12, 12)
R = TypeVar("R")
_WORDS = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap


class RowList(QListView):
    """Rows without a frame. `chosen(row)`: clicked, or Enter with the focus."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty_words = ""
        _set_up(self, name)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

    def set_empty_words(self, words: str) -> None:
        """Set the text for an empty list: the reason, and what to do next."""
        if words != self.empty_words:  # called after every key: avoids repainting the rows
            self.empty_words = words
            self.viewport().update()

    def row_option(self) -> QStyleOptionViewItem:
        """The paint options of a row that is neither highlighted nor under the mouse."""
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        return option

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        _paint_empty(self, self.empty_words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            _choose(self.chosen, self, event)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        else:
            event.ignore()  # every other key belongs to the window

    def go_to(self, row: int) -> None:
        """Highlight a row and scroll to it."""
        model = self.model()
        if model is not None and 0 <= row < model.rowCount():
            self.setCurrentIndex(model.index(row, self.modelColumn()))


class RowTable(QTableView):
    """A `RowList` for very many rows, all as high as the first."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty_words = ""
        _set_up(self, name)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

    def setItemDelegate(self, delegate: QAbstractItemDelegate) -> None:
        super().setItemDelegate(delegate)
        self._fit_rows()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit_rows()

    def _fit_rows(self) -> None:
        option = QStyleOptionViewItem()
        option.font = self.font()
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(self.itemDelegate().sizeHint(option, QModelIndex()).height())

    def set_empty_words(self, words: str) -> None:
        """Set the text for an empty list: the reason, and what to do next."""
        if words != self.empty_words:  # called after every key: avoids repainting the rows
            self.empty_words = words
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        _paint_empty(self, self.empty_words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, model = event.key(), self.model()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            _choose(self.chosen, self, event)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End) and model is not None:
            self.go_to(0 if key == Qt.Key.Key_Home else model.rowCount() - 1)
        else:
            event.ignore()  # every other key belongs to the window

    def go_to(self, row: int) -> None:
        """Highlight a row and scroll to it."""
        model = self.model()
        if model is not None and 0 <= row < model.rowCount():
            self.updateGeometries()  # rows just reloaded get their positions only later
            self.setCurrentIndex(model.index(row, 0))


def _choose(chosen: SignalInstance, view: QAbstractItemView, event: QKeyEvent) -> None:
    """Choose once per press: a held Enter may come from a window it has just closed."""
    if not event.isAutoRepeat():
        chosen.emit(view.currentIndex().row())


def _set_up(view: QAbstractItemView, name: str) -> None:
    view.setAccessibleName(name)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setMouseTracking(True)


def _paint_empty(view: QAbstractItemView, words: str) -> None:
    model = view.model()
    if not words or (model is not None and model.rowCount() > 0):
        return
    painter = QPainter(view.viewport())
    painter.setPen(theme_of(view.palette()).muted)
    painter.drawText(view.viewport().rect().marginsRemoved(BESIDE_WORDS), int(_WORDS), words)
    painter.end()


class RowDelegate(QStyledItemDelegate, Generic[R]):
    """Paints the rows of a list or tree; subclasses give `draw`, and `lines` or `height`."""

    lines = 2.0

    def height(self, font: QFont, row: R) -> int:  # noqa: ARG002 for subclasses
        return row_height(font, self.lines)

    def row(self, index: QModelIndex | QPersistentModelIndex) -> R | None:
        """What is painted; nothing for None."""
        found: R | None = index.data(ROW_ROLE)
        return found

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, self.height(option.font, index.data(ROW_ROLE)))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = self.row(index)
        if row is None:
            return
        theme = theme_of(option.palette)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.ground(painter, option, row, theme)
        self.draw(painter, QRectF(option.rect), row, option.font, theme)
        draw_focus(painter, option, theme)
        painter.restore()

    def ground(self, painter: QPainter, option: QStyleOptionViewItem, row: R, theme: Theme) -> None:  # noqa: ARG002
        draw_ground(painter, option, theme)

    def draw(self, painter: QPainter, rect: QRectF, row: R, font: QFont, theme: Theme) -> None:
        raise NotImplementedError


# Shared painting for candidate, search, queue and history rows: backgrounds, key caps, bars, elided text.

PAD = 10.0
SMALL = 0.88
"""The size of facts below a name, relative to it."""
LONGEST_LINE = 1_000
"""The most characters of a line that are measured; no screen shows more."""
_LINE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine | Qt.TextFlag.TextDontClip
_LEFT, _RIGHT = int(_LINE | Qt.AlignmentFlag.AlignLeft), int(_LINE | Qt.AlignmentFlag.AlignRight)
"""Combined once: Python's flags take as long as drawing a word."""


def scaled(font: QFont, scale: float, *, bold: bool = False) -> QFont:
    result = QFont(font)
    result.setPointSizeF(max(font.pointSizeF(), 1.0) * scale)
    if bold:
        result.setWeight(QFont.Weight.DemiBold)
    return result


def fixed_font() -> QFont:
    """A fixed-width font in the size of the interface font."""
    result = QFont()
    result.setFamilies(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
    return result


def row_height(font: QFont, lines: float = 2.0) -> int:
    """Height of a row with this number of lines, including padding."""
    return int(QFontMetricsF(font).height() * lines + 14)


def draw_words(
    painter: QPainter, rect: QRectF, words: str, *, font: QFont, colour: QColor, right: bool = False
) -> float:
    """Draw one line, elided at the end if it does not fit; return its width."""
    metrics = QFontMetricsF(font)
    line = shown(" ".join(words[: 2 * LONGEST_LINE].split()), LONGEST_LINE)
    width = metrics.horizontalAdvance(line)
    if width > rect.width():
        line = metrics.elidedText(line, Qt.TextElideMode.ElideRight, max(rect.width(), 0.0))
        width = metrics.horizontalAdvance(line)
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, _RIGHT if right else _LEFT, line)
    return width


def draw_two_lines(
    painter: QPainter, place: QRectF, words: str, facts: str, *, font: QFont, theme: Theme, bold: bool = True
) -> None:
    """Draw a name, and facts below it, smaller and muted; `place` is that of the first line."""
    ink = theme.palette.color(QPalette.ColorRole.Text)
    draw_words(painter, place, words, font=scaled(font, 1.0, bold=bold), colour=ink)
    below = place.translated(0, QFontMetricsF(font).height())
    draw_words(painter, below, facts, font=scaled(font, SMALL), colour=theme.muted)


def draw_ground(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """Draw the background of a row: highlighted (with a bar at the left), hovered or plain."""
    rect = QRectF(option.rect)
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(rect, theme.accent_tint)
        painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), theme.accent)
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, theme.hover)


def draw_focus(painter: QPainter, option: QStyleOptionViewItem, theme: Theme) -> None:
    """Draw a frame around the highlighted row while the list has the focus."""
    if option.state & QStyle.StateFlag.State_HasFocus and option.state & QStyle.StateFlag.State_Selected:
        painter.setPen(QPen(theme.accent, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(option.rect).adjusted(1, 1, -1, -1), 3, 3)


def draw_key(painter: QPainter, rect: QRectF, key: str, *, font: QFont, theme: Theme) -> None:
    """Draw a key cap with the key of an action."""
    painter.setPen(QPen(theme.palette.color(QPalette.ColorRole.Dark) if not theme.dark else theme.muted, 1))
    painter.setBrush(theme.palette.color(QPalette.ColorRole.Button))
    painter.drawRoundedRect(rect, 4, 4)
    painter.setPen(theme.palette.color(QPalette.ColorRole.ButtonText))
    painter.setFont(font)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, key)


def draw_bar(painter: QPainter, rect: QRectF, fraction: float, *, colour: QColor, theme: Theme) -> None:
    """Draw a bar filled to `fraction` (clamped to 0..1)."""
    painter.setPen(Qt.PenStyle.NoPen)
    radius = rect.height() / 2
    painter.setBrush(theme.track)
    painter.drawRoundedRect(rect, radius, radius)
    width = rect.width() * min(max(fraction, 0.0), 1.0)
    if width > 0.5:
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(rect.left(), rect.top(), max(width, 2.0), rect.height()), radius, radius)


def tag_width(words: str, font: QFont) -> float:
    return QFontMetricsF(font).horizontalAdvance(words) + 12


def draw_tag(painter: QPainter, place: QPointF, words: str, *, font: QFont, theme: Theme, state: MentionState) -> float:
    """Draw a small tinted tag that ends at `place` (right, middle); return its width."""
    width, height = tag_width(words, font), QFontMetricsF(font).height() + 3
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
    """Format a score with two decimals and a true minus sign."""
    return localised(value, ".2f").replace("-", "−")
