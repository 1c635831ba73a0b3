"""A text browser that renders only after more urgent widgets are painted, once for several changes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QFrame, QWidget

from curator.ui.kit.foreign_text import StillBrowser

MARGIN = 12
LATE_MS = 30
"""Milliseconds after the last change: a timer of 0 ms may fire before the key's effect is painted."""


class LateBrowser(StillBrowser):
    """Subclasses give `html_now`. Laying out rich text takes too many milliseconds for a key press: candidates are
    painted first, and several consecutive changes are rendered once. Reading the text returns the newest."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self.document().setDocumentMargin(MARGIN)
        self._from_top = False
        self._late = QTimer(self, singleShot=True, interval=LATE_MS)
        self._late.timeout.connect(self._render)

    def html_now(self) -> str:
        """The text to show, in the colours of the current palette."""
        raise NotImplementedError

    def render_soon(self, *, from_top: bool = False) -> None:
        """Show `html_now` in a moment; `from_top` scrolls to the top, else the position is kept."""
        self._from_top = self._from_top or from_top
        self._late.start()

    def toPlainText(self) -> str:
        self._settle()
        return super().toPlainText()

    def toHtml(self) -> str:
        self._settle()
        return super().toHtml()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_late"):
            self.render_soon()

    def _settle(self) -> None:
        if self._late.isActive():
            self._late.stop()
            self._render()

    def _render(self) -> None:
        bar = self.verticalScrollBar()
        place, self._from_top = 0 if self._from_top else bar.value(), False
        self.setHtml(self.html_now())
        bar.setValue(place)
