"""A table whose rows are opened, inside a window whose button would take Enter."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QTableView


class OpeningTable(QTableView):
    """Enter opens the row and leaves the window as it is. Columns that share the room show their whole headings: where
    that is wider than the table, it scrolls sideways."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()

    def updateGeometries(self) -> None:
        """Qt calls it when the font, the columns or the room change."""
        header = self.horizontalHeader()
        stretched = QHeaderView.ResizeMode.Stretch
        shared = [at for at in range(header.count()) if header.sectionResizeMode(at) is stretched]
        least = max((header.sectionSizeHint(at) for at in shared), default=-1)
        if least > 0 and least != header.minimumSectionSize():
            header.setMinimumSectionSize(least)
        super().updateGeometries()
