"""The list of mentions in context that propagation and bulk acceptance share; it takes every key of letters."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QEvent, QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPalette
from PySide6.QtWidgets import QFrame, QWidget

from curator.ui.deciding.kwic_delegate import KwicDelegate
from curator.ui.deciding.kwic_model import KwicModel, KwicRow
from curator.ui.kit.keys import is_plain
from curator.ui.kit.row_list import RowList
from curator.ui.kit.sight import MODIFIERS, Glance

PREVIEW_MS = 120
"""Resting on a line for so long shows it in the text."""
PAGE = 10
ENTERS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class KwicList(RowList):
    """`pressed(key)` for every key that does not move; `clicked_mark(row)` for a click on a line's mark; `rested(row)`
    when the curator stays on a line, or asks with → or a double click; `stepped` for Shift+Enter. `moved_in`: a key or
    a click went to a line since the rows were shown."""

    pressed = Signal(int)  # Qt.Key
    clicked_mark = Signal(int)
    rested = Signal(int)
    stepped = Signal()

    too_soon = Signal()  # a key came before the rows were seen

    def __init__(self, name: str, parent: QWidget | None = None, *, glance: Glance | None = None) -> None:
        super().__init__(name, parent)
        self._glance = glance or Glance(None)
        self._shown = 0  # how often rows were shown
        self.moved_in = False
        self.lines = KwicModel(self)
        self.setModel(self.lines)
        self.setItemDelegate(KwicDelegate(self))
        self.setUniformItemSizes(True)
        self._timer = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._timer.timeout.connect(self._rest)
        self.selectionModel().currentChanged.connect(lambda: self._timer.start())
        self.doubleClicked.connect(lambda: self._rest())
        self._glance.log(self.viewport(), lambda: [self._rows_key()])

    def show_rows(self, rows: list[KwicRow], *, at: int | None = None) -> None:
        """Show rows and go to one, by default the first line; nothing is previewed before the curator moves."""
        self.lines.show_rows(rows)
        self._shown += 1
        self.moved_in = False
        first = self.lines.line_beside(-1, 1) if at is None else at
        if first is not None:
            self.go_to(first)
        self.scrollToTop() if at is None else None
        self._timer.stop()

    def saw(self) -> bool:
        """Whether these rows were on the screen before the key or button was pressed; says it where not."""
        seen = self._glance.saw(self._rows_key())
        if not seen:
            self.too_soon.emit()
        return seen

    def _rows_key(self) -> Hashable:
        return "rows", id(self), self._shown

    @property
    def current(self) -> KwicRow | None:
        return self.lines.row(self.currentIndex().row())

    def go_by(self, step: int) -> bool:
        """To the next or previous line; False at the end."""
        at = self.currentIndex().row()
        found = self.lines.line_beside(at, 1 if step > 0 else -1)
        if found is None:
            return False
        for _ in range(abs(step) - 1):
            further = self.lines.line_beside(found, 1 if step > 0 else -1)
            found = found if further is None else further
        self.go_to(found)
        if found == self.lines.line_beside(-1, 1):
            self.scrollToTop()  # with the heading above it
        return True

    def event(self, event: QEvent) -> bool:
        """No key that could be typed is the window's while the list has the keyboard: a slip decides nothing."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and is_plain(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_J: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_K: -1}
        pages = {Qt.Key.Key_PageDown: PAGE, Qt.Key.Key_PageUp: -PAGE}
        ends = {Qt.Key.Key_End: len(self.lines.lines), Qt.Key.Key_Home: -len(self.lines.lines)}
        step = {**steps, **pages, **ends}.get(Qt.Key(key))
        if key in MODIFIERS or not is_plain(event):
            event.ignore()
        elif key != Qt.Key.Key_Escape and not self.saw():
            event.accept()
        elif step is not None:
            self.moved_in = True
            self.go_by(step)
        elif key in ENTERS and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.stepped.emit()
        elif key == Qt.Key.Key_Right:
            self._rest()
        else:
            self.moved_in = self.moved_in or key not in ENTERS
            self.pressed.emit(key)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self.moved_in = True
        index: QModelIndex = self.indexAt(event.position().toPoint())
        row = self.lines.row(index.row())
        if row is not None and row.context is not None and event.position().x() < self.fontMetrics().height() * 1.8:
            self.clicked_mark.emit(index.row())

    def _rest(self) -> None:
        self._timer.stop()
        if self.current is not None and self.current.context is not None:
            self.rested.emit(self.currentIndex().row())


def rule(parent: QWidget) -> QFrame:
    """The line between the text and what stands below it."""
    line = QFrame(parent)
    line.setFrameShape(QFrame.Shape.HLine)
    line.setFrameShadow(QFrame.Shadow.Plain)
    line.setForegroundRole(QPalette.ColorRole.Mid)
    return line
