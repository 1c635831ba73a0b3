"""The list views of candidates, search, queue and history: painted rows, and a text where there are none.

`RowTable` is for the queue: QListView lays out every row when its model is reset (300 ms for 100,000), a QTableView
with rows of one height does not (8 ms).
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMargins, QModelIndex, QPointF, QRect, QRectF, Qt, Signal, SignalInstance
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QListView,
    QStyle,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from curator.domain.wording import localised
from curator.ui.kit.foreign_text import shown
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import Theme, theme_of

BESIDE_WORDS = QMargins(12, 14, 12, 12)
_WORDS = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap


class RowList(QListView):
    """Rows without a frame. `chosen(row)`: clicked, or Enter while it has the keyboard."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty_words = ""
        _set_up(self, name)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

    def set_empty_words(self, words: str) -> None:
        """What to say, and what to do next, while there are no rows."""
        if words != self.empty_words:  # said again with every key: the rows need no painting for it
            self.empty_words = words
            self.viewport().update()

    def row_option(self) -> QStyleOptionViewItem:
        """How a row that is neither highlighted nor under the mouse is painted."""
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        return option

    def height_for_words(self) -> int:
        """What the words need while there are no rows."""
        room = QRect(0, 0, self.viewport().width() - BESIDE_WORDS.left() - BESIDE_WORDS.right(), 100_000)
        words = self.fontMetrics().boundingRect(room, int(_WORDS), self.empty_words)
        return words.height() + BESIDE_WORDS.top() + BESIDE_WORDS.bottom()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        _paint_empty(self, self.empty_words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            _choose(self.chosen, self, event)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        else:
            event.ignore()  # every other key is the window's

    def go_to(self, row: int) -> None:
        """Highlight a row and bring it into sight."""
        model = self.model()
        if model is not None and 0 <= row < model.rowCount():
            self.setCurrentIndex(model.index(row, self.modelColumn()))


class RowTable(QTableView):
    """A `RowList` for very many rows, all of the height that its delegate gives the first."""

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
        """What to say, and what to do next, while there are no rows."""
        if words != self.empty_words:  # said again with every key: the rows need no painting for it
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
            event.ignore()  # every other key is the window's

    def go_to(self, row: int) -> None:
        """Highlight a row and bring it into sight."""
        model = self.model()
        if model is not None and 0 <= row < model.rowCount():
            self.updateGeometries()  # rows that were read again a moment ago have their places only later
            self.setCurrentIndex(model.index(row, 0))


def _choose(chosen: SignalInstance, view: QAbstractItemView, event: QKeyEvent) -> None:
    """Once for each press: Enter held down may come from a window that it has just closed."""
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


def cut_line(view: QListView, height: int, *, above: float) -> int:
    """Pixels at the lower end of a list of this height that would show part of a line of words, where each row begins
    with so many pixels `above` its lines: nothing is read through half a letter."""
    model, line = view.model(), QFontMetricsF(view.font()).height()
    top = whole = 0.0
    for at in range(model.rowCount() if model is not None else 0):
        row = view.visualRect(model.index(at, 0)).height()
        for number in range(int((row - above) // line)):
            bottom = top + above + (number + 1) * line
            if bottom > height:
                return int(height - whole) if whole else 0
            whole = bottom
        top += row
    return 0


# What the delegates of candidate, search, queue and history rows draw alike: grounds, key caps, bars, elided words.

PAD = 10.0
LONGEST_LINE = 1_000
"""Characters of a line that are measured; no screen has room for more."""
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
    line = shown(" ".join(words[: 2 * LONGEST_LINE].split()), LONGEST_LINE)
    width = metrics.horizontalAdvance(line)
    if width > rect.width():
        line = metrics.elidedText(line, Qt.TextElideMode.ElideRight, max(rect.width(), 0.0))
        width = metrics.horizontalAdvance(line)
    painter.setFont(font)
    painter.setPen(colour)
    painter.drawText(rect, _RIGHT if right else _LEFT, line)
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


def tag_width(words: str, font: QFont) -> float:
    return QFontMetricsF(font).horizontalAdvance(words) + 12


def draw_tag(painter: QPainter, place: QPointF, words: str, *, font: QFont, theme: Theme, state: MentionState) -> float:
    """A small tinted tag that ends at `place` (right, middle); returns its width."""
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
    """A score with two decimals, and a real minus sign."""
    return localised(value, ".2f").replace("-", "−")
