"""A comment written in one line at the bottom, which covers nothing."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QWidget

from curator.domain.wording import tr


class CommentStrip(QWidget):
    """`ask(about)` takes the keyboard; Enter saves (`written`), Esc leaves (`left`). The keyboard goes back."""

    written = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self._before: QWidget | None = None
        self.about = QLabel(self)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.line = QLineEdit(self)
        self.line.setAccessibleName(tr("Comment"))
        self.line.setPlaceholderText(tr("What should others know?"))
        self.line.setMaxLength(10_000)
        hint = QLabel(tr("↵ saves, Esc leaves"), self)
        hint.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 4, 14, 4)
        row.setSpacing(8)
        row.addWidget(self.about)
        row.addWidget(self.line, 1)
        row.addWidget(hint)
        self.line.installEventFilter(self)
        self.hide()

    def ask(self, about: str) -> None:
        """`about` is what is commented on, in words."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self.about.setText(tr("Comment on {about}:", about=about))
        self.line.setAccessibleName(tr("Comment on {about}", about=about))
        self.line.clear()
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def dismiss(self) -> None:
        """Leave without saving; harmless while hidden."""
        if self.isVisible():
            self._leave()
            self.left.emit()

    def _leave(self) -> None:
        self.hide()
        if self._before is not None:
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.line and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.dismiss()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                words = self.line.text().strip()
                self._leave()
                self.written.emit(words) if words else self.left.emit()
                return True
        return super().eventFilter(watched, event)
