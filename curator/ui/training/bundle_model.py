"""The bundles of a project as a table, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from curator.domain.bundles import BundleInfo, GateVerdict
from curator.domain.wording import tr
from curator.services.training.bundle_files import DiskUse, size_words
from curator.ui.kit.labels import percent

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
HEADERS = ("", "Made", "Recipe", "Parts", "Gate", "Recall@1 before", "after", "On disk", "of its own", "Bundle")
VERDICTS = {
    GateVerdict.PROMOTE: "promoted",
    GateVerdict.NO_GAIN: "no gain",
    GateVerdict.REFUSED: "refused",
    GateVerdict.NOT_GATED: "–",
}


class BundleTableModel(QAbstractTableModel):
    """`ROW_ROLE` gives the whole `BundleInfo`, in every column."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[BundleInfo] = []
        self._disk: Mapping[str, DiskUse] = {}

    def show_disk(self, disk: Mapping[str, DiskUse]) -> None:
        """What the bundles take, once it is known."""
        self._disk = disk
        if self._rows:
            first, last = HEADERS.index("On disk"), HEADERS.index("of its own")
            self.dataChanged.emit(self.index(0, first), self.index(len(self._rows) - 1, last))

    def show_bundles(self, bundles: Sequence[BundleInfo]) -> None:
        """Oldest first, as the service lists them."""
        self.beginResetModel()
        self._rows = list(bundles)[::-1]
        self.endResetModel()

    def bundle(self, row: int) -> BundleInfo | None:
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(HEADERS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation is Qt.Orientation.Vertical:
            return str(section + 1) if 0 <= section < len(self._rows) else None
        return tr(HEADERS[section]) if 0 <= section < len(HEADERS) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        bundle = self.bundle(index.row()) if index.isValid() else None
        if bundle is None:
            return None
        if role == ROW_ROLE:
            return bundle
        if role == Qt.ItemDataRole.DisplayRole:
            return _words(bundle, self._disk.get(bundle.id))[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return bundle.summary or bundle.path
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _words(bundle, self._disk.get(bundle.id))[index.column()] or (
                tr("serves") if bundle.active else tr("does not serve")
            )
        if role == Qt.ItemDataRole.FontRole and bundle.active:
            font = QFont()
            font.setBold(True)
            return font
        return None


def _words(bundle: BundleInfo, disk: DiskUse | None) -> tuple[str, ...]:
    return (
        f"● {tr('serves')}" if bundle.active else "",
        f"{bundle.created_at.astimezone():%d %b %Y, %H:%M}",
        bundle.recipe,
        ", ".join(bundle.stages) + (tr(" · calibrated") if bundle.calibrated else ""),
        VERDICTS[bundle.verdict],
        _recall(bundle, "old"),
        _recall(bundle, "new"),
        size_words(disk.size) if disk is not None else "…",
        size_words(disk.own) if disk is not None else "…",
        bundle.id,
    )


def _recall(bundle: BundleInfo, which: str) -> str:
    report = bundle.metrics.get(which)
    recall = report.get("recall", {}).get("1") if isinstance(report, dict) else None
    return percent(recall) if recall is not None else ""
