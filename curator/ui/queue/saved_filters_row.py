"""Named filters: choose one, or type a name and press Enter to keep what is set now."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from curator.domain.wording import tr

HINT = "Saved filters"


class SavedFiltersRow(QWidget):
    """API: `show_names`."""

    chosen = Signal(str)
    named = Signal(str)  # keep what is set now under this name
    deleted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QComboBox(self)
        self.box.setEditable(True)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName(tr("Saved filters"))
        self.box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line = self.box.lineEdit()
        assert line is not None
        line.setPlaceholderText(tr(HINT))
        line.setAccessibleName(tr("Name of a saved filter"))
        line.setToolTip(
            tr("Type a name and press Enter to keep the filter that is set; choose a name to set it again.")
        )
        self.delete = QToolButton(self)
        self.delete.setText("✕")
        self.delete.setAccessibleName(tr("Delete this saved filter"))
        self.delete.setToolTip(tr("Delete this saved filter"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.box, 1)
        row.addWidget(self.delete)
        self.box.activated.connect(lambda at: self.chosen.emit(self.box.itemText(at)))
        line.returnPressed.connect(self._entered)
        line.textChanged.connect(self._enable)
        self.delete.clicked.connect(lambda: self.deleted.emit(self.box.currentText().strip()))
        self.show_names(())

    def show_names(self, names: Iterable[str], current: str = "") -> None:
        self._names = list(names)
        self.box.blockSignals(True)  # filling is not choosing
        self.box.clear()
        self.box.addItems(self._names)
        self.box.setCurrentIndex(self._names.index(current) if current in self._names else -1)
        self.box.setEditText(current)
        self.box.blockSignals(False)
        self._enable()

    def _entered(self) -> None:
        name = self.box.currentText().strip()
        if name and name not in self._names:
            self.named.emit(name)

    def _enable(self) -> None:
        self.delete.setEnabled(self.box.currentText().strip() in self._names)
