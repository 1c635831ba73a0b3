"""A plot as a table: the same figures for screen readers, and for who wants to read or copy them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from curator.domain.plots import Plot, Unit
from curator.ui.dashboard.plot_painter import place_words

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class PlotTableModel(QAbstractTableModel):
    def __init__(self, plot: Plot, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.show_plot(plot)

    def show_plot(self, plot: Plot) -> None:
        self.beginResetModel()
        self._plot = plot
        self._rows = list(plot.rows())
        self._units = [unit for one in plot.series for unit in self._units_of(one.low, one.counts)]
        self.endResetModel()

    def _units_of(self, low: tuple[float | None, ...], counts: tuple[int, ...]) -> list[Unit]:
        unit = self._plot.unit
        return [unit, *([unit, unit] if low else []), *([Unit.COUNT] if counts else [])]

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._plot.head)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole or orientation is not Qt.Orientation.Horizontal:
            return None
        return self._plot.head[section] if 0 <= section < len(self._plot.head) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column():
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None

    def _words(self, row: int, column: int) -> str:
        if column == 0:
            return place_words(self._plot, row)
        value = self._rows[row][column]
        assert not isinstance(value, str)
        return self._units[column - 1].words(value)


def plot_table(model: PlotTableModel, name: str, parent: QWidget | None = None) -> QTableView:
    table = QTableView(parent)
    table.setAccessibleName(name)
    table.setModel(model)
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return table
