"""Painting and keys of the hierarchy's tree."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyle,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from curator.domain.entities import TreeNode
from curator.ui.candidates.tree_model import TreeModel, TreeRow
from curator.ui.kit.row_list import PAD, SMALL, RowDelegate, draw_words, scaled
from curator.ui.kit.theme import Theme, theme_of

Index = QModelIndex | QPersistentModelIndex
Key = Qt.Key
MOVES = {
    *(Key.Key_Up, Key.Key_Down, Key.Key_Left, Key.Key_Right),
    *(Key.Key_Home, Key.Key_End, Key.Key_PageUp, Key.Key_PageDown),
}
INDENT = 1.1
"""Indent relative to the height of a line, so that a narrow column has room for many levels."""
TRIANGLE = 0.25
"""Half the height of the triangle of an expandable row, relative to the height of a line."""


class TreeDelegate(RowDelegate[TreeRow]):
    """Name and number of entities below, id and types under it."""

    def ground(self, painter: QPainter, option: QStyleOptionViewItem, row: TreeRow, theme: Theme) -> None:
        """Like in other lists, but the bar of the highlighted row is at the column's edge."""
        if not option.state & QStyle.StateFlag.State_Selected:
            super().ground(painter, option, row, theme)
        else:
            painter.fillRect(option.rect, theme.palette.color(QPalette.ColorRole.Base))
            painter.fillRect(option.rect, theme.accent_tint)

    def draw(self, painter: QPainter, rect: QRectF, row: TreeRow, font: QFont, theme: Theme) -> None:
        line = QFontMetricsF(font).height()
        place = QRectF(rect.left() + PAD, rect.top() + 7, rect.width() - 2 * PAD, line)
        if row.node is None:
            ink = theme.palette.color(QPalette.ColorRole.Link)
            draw_words(painter, place.translated(0, line / 2), row.words, font=font, colour=ink)
            return
        small = scaled(font, SMALL)
        taken = draw_words(painter, place, row.counted, font=small, colour=theme.muted, right=True)
        name = place.adjusted(0, 0, -taken - 8 if taken else 0, 0)
        ink = theme.palette.color(QPalette.ColorRole.Text)
        draw_words(painter, name, row.words, font=scaled(font, 1.0, bold=True), colour=ink)
        draw_words(painter, place.translated(0, line), row.facts, font=small, colour=theme.muted)


class TreeView(QTreeView):
    """`chosen`: Enter, or a double click, on an entity; a last row reads more instead. `search_wanted`: / was pressed.

    It handles the keys that move in a tree, Space, which opens and closes, and /; all others belong to the window.
    """

    chosen = Signal(object)  # TreeNode
    highlighted = Signal(object)  # TreeNode | None
    search_wanted = Signal()

    def __init__(self, model: TreeModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty_words = ""
        self._model = model
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setAnimated(False)
        self.setExpandsOnDoubleClick(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.setModel(model)
        self.setItemDelegate(TreeDelegate(self))
        self._fit()
        self._behind: QPersistentModelIndex | None = None  # the row before those that are being read
        self.clicked.connect(self._read_more)
        model.rowsInserted.connect(self._came)
        self.doubleClicked.connect(self._choose)
        self.selectionModel().currentChanged.connect(lambda index: self.highlighted.emit(self._node(index)))

    def set_empty_words(self, words: str) -> None:
        """Set the message while there are no rows."""
        self.empty_words = words
        self.viewport().update()

    @property
    def node(self) -> TreeNode | None:
        """The highlighted entity."""
        return self._node(self.currentIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the highlighted row visible at its position."""
        row = self.visualRect(self.currentIndex())
        super().resizeEvent(event)
        if row.isValid() and 0 <= row.top() < event.oldSize().height():
            self.scrollTo(self.currentIndex())

    def go_to(self, index: QModelIndex) -> None:
        """Open the path to a row, highlight it and scroll to it."""
        above = index.parent()
        while above.isValid():
            self.expand(above)
            above = above.parent()
        self.setCurrentIndex(index)
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def rows_in_sight(self) -> Iterator[Hashable]:
        """The entities of which at least half a row can be seen, as keys of `Glance`."""
        height = self.viewport().height()
        index = self.indexAt(QRect(self.viewport().rect()).topRight())
        while index.isValid():
            middle = self.visualRect(index).center().y()
            if middle >= height:
                return
            node = self._node(index)
            if middle >= 0 and node is not None:
                yield "in the tree", node.entity.id
            index = self.indexBelow(index)

    def _node(self, index: Index) -> TreeNode | None:
        row = self._model.row(index) if index.isValid() else None
        return row.node if row is not None else None

    def _read_more(self, index: QModelIndex) -> bool:
        if not self._model.read_more(index):
            return False
        self._behind = QPersistentModelIndex(index.siblingAtRow(index.row() - 1))
        return True

    def _came(self, parent: QModelIndex, first: int) -> None:
        """Highlight the first of the newly read entities, instead of the row that stood for them."""
        if self._behind is not None and self._behind.isValid() and self._behind.parent() == parent:
            self._behind = None
            self.setCurrentIndex(self._model.index(first, 0, parent))

    def _choose(self, index: QModelIndex) -> None:
        node = self._node(index)
        if node is not None:
            self.chosen.emit(node)

    # --- keys ---

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _slash(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.key() in (Key.Key_Return, Key.Key_Enter) and index.isValid():
            if not event.isAutoRepeat() and not self._read_more(index):
                self._choose(index)
        elif event.key() == Key.Key_Space and index.isValid():
            self.setExpanded(index, not self.isExpanded(index))
        elif _slash(event):
            self.search_wanted.emit()
        elif event.key() in MOVES:
            super().keyPressEvent(event)
        else:
            event.ignore()

    # --- looks ---

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw the row's background to the left, and a triangle if it has children."""
        selected, opens = self.selectionModel().isSelected(index), self._model.hasChildren(index)
        if not (selected or opens):
            return
        theme = theme_of(self.palette())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected:
            painter.fillRect(rect, theme.palette.color(QPalette.ColorRole.Base))
            painter.fillRect(rect, theme.accent_tint)
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), theme.accent)
        if opens:
            size = self.fontMetrics().height() * TRIANGLE
            first_line = rect.top() + 7 + self.fontMetrics().height() / 2
            centre = QPointF(rect.right() - self.indentation() / 2 + 2, first_line)
            corners = [QPointF(-size / 2, -size), QPointF(size / 2, 0), QPointF(-size / 2, size)]
            if self.isExpanded(index):
                corners = [QPointF(one.y(), one.x()) for one in corners]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.muted)
            painter.drawPolygon([centre + one for one in corners])
        painter.restore()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setIndentation(int(self.fontMetrics().height() * INDENT))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.empty_words or self._model.rowCount() > 0:
            return
        painter = QPainter(self.viewport())
        painter.setPen(theme_of(self.palette()).muted)
        flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        painter.drawText(self.viewport().rect().adjusted(12, 14, -12, -12), int(flags), self.empty_words)
        painter.end()


def _slash(event: QKeyEvent) -> bool:
    return event.text() == "/" and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
