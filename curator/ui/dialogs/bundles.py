"""*Model > History*: the bundles, which serves, what they measured; promote or roll back."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from curator.domain.bundles import BundleInfo, GateVerdict
from curator.ui.dialogs.bundle_model import BundleTableModel
from curator.ui.dialogs.figures import gate_rows
from curator.ui.dialogs.form import ShowDialog, sentence
from curator.ui.dialogs.table import FigureTable

ROOM = 14  # pixels between two columns
NONE = "There is no bundle yet. Import a knowledge base: its index is the first one."


class BundlesDialog(ShowDialog):
    """`promote_wanted` carries a bundle's id; whether it may, the caller asks."""

    promote_wanted = Signal(str)
    rollback_wanted = Signal()

    def __init__(self, bundles: Sequence[BundleInfo], *, writable: bool, parent: QWidget | None = None) -> None:
        super().__init__("History of bundles", parent)
        self._writable = writable
        self.model = BundleTableModel(self)
        self.table = QTableView(self)
        self.table.setAccessibleName("Bundles")
        self.table.setModel(self.model)
        self.table.verticalHeader().hide()
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.summary = sentence("", selectable=True)
        self.figures = FigureTable("Old and new linker", ["On held-out documents", "before", "after"], self)
        self.promote = self.add_button("Let it &serve…")
        self.rollback = self.add_button("&Roll back…")
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.summary)
        self.body.addWidget(self.figures)
        self.table.selectionModel().currentRowChanged.connect(lambda: self._show_row())
        self.promote.clicked.connect(self._promote)
        self.rollback.clicked.connect(self.rollback_wanted)
        self.show_bundles(bundles)
        self.resize(980, 560)

    def show_bundles(self, bundles: Sequence[BundleInfo]) -> None:
        self.model.show_bundles(bundles)
        self.table.resizeColumnsToContents()
        for column in range(self.model.columnCount()):
            self.table.setColumnWidth(column, self.table.columnWidth(column) + ROOM)
        active = next((row for row in range(len(bundles)) if self._at(row).active), 0)
        self.table.setCurrentIndex(self.model.index(active, 0))
        self.rollback.setEnabled(self._writable and len(bundles) > 1)
        self._show_row()

    def _at(self, row: int) -> BundleInfo:
        bundle = self.model.bundle(row)
        assert bundle is not None
        return bundle

    @property
    def chosen(self) -> BundleInfo | None:
        return self.model.bundle(self.table.currentIndex().row())

    def _show_row(self) -> None:
        bundle = self.chosen
        self.summary.setText(NONE if bundle is None else bundle.summary or "An untrained bundle; no gate was needed.")
        rows = gate_rows(bundle.metrics) if bundle is not None else []
        self.figures.show_rows(rows)
        self.figures.setVisible(bool(rows))
        self.promote.setEnabled(self._writable and bundle is not None and not bundle.active)

    def _promote(self) -> None:
        if self.chosen is not None:
            self.promote_wanted.emit(self.chosen.id)


def promote_question(bundle: BundleInfo | None, verdict: GateVerdict | None = None) -> str:
    """What a curator should know before letting a bundle serve that the gate did not promote."""
    found = verdict or (bundle.verdict if bundle is not None else GateVerdict.NOT_GATED)
    rest = "Decisions stay; suggestions for undecided mentions are made anew. Model › History rolls back."
    if found is GateVerdict.REFUSED:
        return f"The gate refused this bundle: it was worse on held-out documents. Let it serve all the same? {rest}"
    if found is GateVerdict.NO_GAIN:
        return f"This bundle was no better on held-out documents. Let it serve all the same? {rest}"
    return f"Let this bundle serve? {rest}"
