"""The line above the text in which a curator types what to find in the document."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from curator.domain.wording import tr
from curator.ui.document.document_find import MOST, Found

COUNT = "{at:,} of {of:,}"
NOTHING = "not in this document"
MANY = "{at:,} of more than {of:,}"


class FindBar(QWidget):
    """`query_changed` with each key, `stepped` by Enter (1) and Shift+Enter (-1), `left` by Esc."""

    query_changed = Signal(str)
    stepped = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.line = _FindLine(self)
        self.count = QLabel(self)
        self.count.setAccessibleName(tr("Matches"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 12, 6)
        row.addWidget(self.line, 1)
        row.addWidget(self.count)
        for arrow, name, step in (
            (Qt.ArrowType.UpArrow, tr("Previous match (Shift+Enter)"), -1),
            (Qt.ArrowType.DownArrow, tr("Next match (Enter)"), 1),
        ):
            row.addWidget(self._button(arrow, name, step))
        self.line.textChanged.connect(self.query_changed)
        self.line.stepped.connect(self.stepped)
        self.line.left.connect(self.left)
        self.hide()

    def _button(self, arrow: Qt.ArrowType, name: str, step: int) -> QToolButton:
        button = QToolButton(self)
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        button.setToolTip(name)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Enter and Shift+Enter do the same from the line
        button.clicked.connect(lambda: self.stepped.emit(step))
        return button

    def start(self, words: str) -> None:
        """Show the line, filled with `words` where there are any; what was sought before stays otherwise."""
        self.show()
        if words:
            self.line.setText(words)
        self.line.selectAll()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.query_changed.emit(self.line.text())

    def show_found(self, found: Found) -> None:
        words = ""
        if found.spans:
            template = MANY if len(found.spans) == MOST else COUNT
            words = tr(template, at=found.at + 1, of=len(found.spans))
        elif self.line.text().strip():
            words = tr(NOTHING)
        self.count.setText(words)


class _FindLine(QLineEdit):
    """Enter, Shift+Enter, ↓ and ↑ step; Esc leaves."""

    stepped = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setPlaceholderText(tr("Find in this document"))
        self.setAccessibleName(tr("Find in this document"))
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, back = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.stepped.emit(-1 if back else 1)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.stepped.emit(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
