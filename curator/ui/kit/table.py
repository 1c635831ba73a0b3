"""A small table of figures for reading."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget


class FigureTable(QTableWidget):
    """`words` columns of words, which share the room that is left, then right-aligned figures."""

    def __init__(self, name: str, headings: Sequence[str], parent: QWidget | None = None, *, words: int = 1) -> None:
        super().__init__(0, len(headings), parent)
        self._words = words
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels(list(headings))
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in range(words):
            self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.setRowCount(len(rows))
        for row, values in enumerate(rows):
            for column, words in enumerate(values):
                item = QTableWidgetItem(words)
                if column < self._words:
                    item.setToolTip(words)
                else:
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(row, column, item)
        height = self.horizontalHeader().sizeHint().height() + sum(self.rowHeight(i) for i in range(len(rows))) + 6
        self.setMinimumHeight(min(height, 420))
