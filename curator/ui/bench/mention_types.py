"""The type of a new mention, asked for in a popup beside the selection."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from curator.domain.wording import tr
from curator.ui.kit.sight import watch
from curator.ui.kit.theme import theme_of

HEADLINE = "Type of “{text}”"
NEW = "New type “{word}”"


class TypePicker(QFrame):
    """A popup. Digits or first letters choose, ↓ ↑ move, Enter takes the highlighted one, Esc leaves.

    A word that no type begins with is offered as a new type. `chosen(type)`, or `left` where none was chosen.
    """

    chosen = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAccessibleName(tr("Type of the new mention"))
        self._types: list[str] = []
        self._counts: Mapping[str, int] = {}
        self._answered = True
        self.title = QLabel(self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(tr("First letters, or a digit"))
        self.line.setAccessibleName(tr("Type"))
        self.line.setProperty("typing_acts", True)  # a digit chooses
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Types"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 8)
        for widget in (self.title, self.line, self.list):
            layout.addWidget(widget)
        self.line.textEdited.connect(self._typed)
        self.line.installEventFilter(self)
        watch(self)
        self.list.itemClicked.connect(lambda item: self._take(item))

    def ask(self, text: str, types: Mapping[str, int], *, at: QPoint, usual: str = "") -> None:
        """Ask for the type of `text` at a place on the screen. `types` with their number of mentions; the most used
        come first, `usual` (the type chosen last) before all."""
        self._types = sorted(types, key=lambda one: (one != usual, -types[one], one))
        self._counts = types
        self._answered = False
        short = text if len(text) <= 40 else text[:39] + "…"
        self.title.setText(tr(HEADLINE, text=short))
        self.line.clear()
        self._fill("")
        self.adjustSize()
        self.move(at)
        self.show()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fill(self, word: str) -> None:
        self.list.clear()
        for number, one in enumerate(self._types, start=1):
            if one.casefold().startswith(word.casefold()):
                key = f"{number}   " if number <= 9 else "     "
                self._add(f"{key}{one}   ({self._counts.get(one, 0):,})", one)
        if word and word not in self._types:
            self._add(tr(NEW, word=word), word)
        self.list.setCurrentRow(0)
        height = sum(self.list.sizeHintForRow(row) for row in range(min(self.list.count(), 12))) + 6
        self.list.setFixedHeight(max(height, 24))

    def _add(self, words: str, value: str) -> None:
        item = QListWidgetItem(words, self.list)
        item.setData(Qt.ItemDataRole.UserRole, value)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, words)

    def _typed(self, word: str) -> None:
        if word.isdigit() and 1 <= int(word) <= min(9, len(self._types)):
            self._answer(self._types[int(word) - 1])
        else:
            self._fill(word.strip())

    def _take(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._answer(str(item.data(Qt.ItemDataRole.UserRole)))

    def _answer(self, one: str) -> None:
        self._answered = True
        self.hide()
        self.chosen.emit(one)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key, row = event.key(), self.list.currentRow()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.list.setCurrentRow(min(max(row + step, 0), self.list.count() - 1))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(self.list.currentItem())
        elif key == Qt.Key.Key_Escape:
            self.hide()
        else:
            return super().eventFilter(watched, event)
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(QPen(theme_of(self.palette()).accent, 2))
        painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not self._answered:
            self._answered = True
            self.left.emit()
