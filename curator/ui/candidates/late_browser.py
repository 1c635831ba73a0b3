"""A text browser that renders after more urgent widgets were painted, however often its text changes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QFrame, QWidget

from curator.ui.kit import StillBrowser

MARGIN = 12
LATE_MS = 30
"""So long after the last change: a timer of 0 ms may run before what the key changed is painted."""


class LateBrowser(StillBrowser):
    """Subclasses give `html_now`. Laying out rich text takes milliseconds, which a key press has not: candidates are
    painted first, and several changes in a row are rendered once. Whoever asks for the text gets the newest."""

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
        """What is to be shown, in the colours of the present palette."""
        raise NotImplementedError

    def render_soon(self, *, from_top: bool = False) -> None:
        """Show `html_now` in a moment; `from_top` scrolls back, else the place stays."""
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
