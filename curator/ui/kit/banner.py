"""A line across the text that says in which state the window is, with what can be done about it; never modal."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QSizePolicy, QWidget

from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.theme import theme_of


class Banner(QWidget):
    """Words on the note ground and buttons at their right; hidden while nothing is to be said."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.label = NoteLabel(self)
        self.label.setContentsMargins(0, 2, 0, 2)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.buttons: list[QPushButton] = []
        self._whole = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._whole.setContentsMargins(12, 6, 8, 6)
        self._whole.setSpacing(8)
        self._whole.addWidget(self.label, 1)
        self._line = QHBoxLayout()
        self._whole.addLayout(self._line)
        self.hide()

    def add_button(self, words: str, then: Callable[[], object]) -> QPushButton:
        button = QPushButton(words, self)
        button.setAutoDefault(False)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keyboard where it is
        button.clicked.connect(lambda: then())
        self._line.addWidget(button)
        self.buttons.append(button)
        return button

    def say(self, words: str) -> None:
        """Show the words; '' hides the banner."""
        self.label.set_note(words)
        self.setVisible(bool(words))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where little room is left beside the buttons, the words stand above them."""
        super().resizeEvent(event)
        narrow = 2 * self._line.sizeHint().width() > self.width()
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if way is not self._whole.direction():
            self._whole.setDirection(way)

    @property
    def words(self) -> str:
        return self.label.text()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme_of(self.palette()).note)
        painter.end()
