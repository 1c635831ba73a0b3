"""Room for a long comparison: while it is read, the list of candidates keeps only what its first rows need."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QSplitter, QTextBrowser

from curator.ui.kit.row_list import RowList

ROWS = 3
"""Candidates that stay in sight: the two that are compared, and one to see that there are more."""


class RecordRoom(QObject):
    """Moves the boundary between the candidates (above) and the record (below), and back to where it was.

    Rows stay where they are, as only the list's lower end moves. A boundary that the curator drags stays.
    """

    def __init__(self, splitter: QSplitter, rows: RowList, browser: QTextBrowser) -> None:
        super().__init__(splitter)
        self._splitter, self._rows, self._browser = splitter, rows, browser
        self._before: list[int] | None = None
        self._wanted = False
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._fit)
        browser.document().documentLayout().documentSizeChanged.connect(self._changed)
        splitter.splitterMoved.connect(self._dragged)

    def ask(self, wanted: bool) -> None:
        """Whether the browser is on show and may have room."""
        self._wanted = wanted
        if not wanted and self._before is not None:
            self._splitter.setSizes(self._before)
            self._before = None

    def _changed(self) -> None:
        if self._wanted:
            self._later.start()

    def _dragged(self) -> None:
        self._before, self._wanted = None, False

    def _fit(self) -> None:
        upper, lower = sizes = self._splitter.sizes()
        more = int(self._browser.document().size().height()) + 2 - lower
        if not self._wanted or more <= 0:
            return
        model = self._rows.model()
        shown = min(model.rowCount(), ROWS) if model is not None else 0
        needed = shown * max(self._rows.sizeHintForRow(0), 0)
        spare = max(self._rows.height() - needed, 0)
        if spare:
            self._before = self._before or sizes
            self._splitter.setSizes([upper - min(more, spare), lower + min(more, spare)])
