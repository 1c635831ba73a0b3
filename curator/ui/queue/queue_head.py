"""The upper part of the queue: the filter text, the facets, the order, and the set filters."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QPushButton, QSizePolicy, QWidget

from curator.domain.facets import Facet
from curator.domain.wording import tr
from curator.services.ports.queue import QueueFilter
from curator.services.queue.ordering import QueueOrder
from curator.ui.kit.compose import column, field, row, tool
from curator.ui.kit.foreign_text import tip
from curator.ui.queue.facets_panel import FACET_WORDS, FacetsPanel, chips

# The active filters, one chip each; pressing one removes it.

CLEAR = "Clear all  (Shift+Q)"


class FilterChips(QWidget):
    """API: `show_filter`. Hidden while nothing is set; `words` describes the filters, for tests and screen readers."""

    lifted = Signal(str)  # a facet's value
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words: tuple[str, ...] = ()
        self._column = column(of=self, spacing=3)
        self.hide()

    def show_filter(self, where: QueueFilter) -> None:
        wanted = chips(where.facets)
        words = tuple(one for _, one in wanted)
        if words == self.words:
            return
        focused = any(button.hasFocus() for button in self.buttons)
        self._empty()
        self.words = words
        for facet, one in wanted:
            self._add(f"✕  {one}", tr("Clear the filter {facet}", facet=tr(FACET_WORDS[facet])), facet)
        if len(wanted) > 1:
            self._add(tr(CLEAR), tr("Clear all filters"), None)
        self.setVisible(bool(wanted))
        if focused and self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def buttons(self) -> list[QPushButton]:
        found = (self._column.itemAt(at) for at in range(self._column.count()))
        return [widget for item in found if item is not None and isinstance(widget := item.widget(), QPushButton)]

    def _empty(self) -> None:
        for button in self.buttons:
            self._column.removeWidget(button)
            button.hide()
            button.deleteLater()

    def _add(self, text: str, name: str, facet: Facet | None) -> None:
        button = QPushButton(text.replace("&", "&&"), self)
        button.setFlat(facet is None)
        button.setAccessibleName(name)
        button.setToolTip(tip(text))
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.setStyleSheet("text-align: left")
        if facet is None:
            button.clicked.connect(self.cleared)
        else:
            button.clicked.connect(lambda _=False, value=facet.value: self.lifted.emit(value))
        self._column.addWidget(button)


# Named filters: choose one, or type a name and press Enter to save the current filter.

HINT = "Saved filters"


class SavedFiltersRow(QWidget):
    """API: `show_names`."""

    chosen = Signal(str)
    named = Signal(str)  # save the current filter under this name
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
        line.setToolTip(tr("Type a name and press Enter to save the current filter; choose a name to apply it again."))
        delete = lambda: self.deleted.emit(self.box.currentText().strip())  # noqa: E731
        self.delete = tool("✕", tr("Delete this saved filter"), delete, parent=self)
        row((self.box, 1), self.delete, of=self)
        self.box.activated.connect(lambda at: self.chosen.emit(self.box.itemText(at)))
        line.returnPressed.connect(self._entered)
        line.textChanged.connect(self._enable)
        self.show_names(())

    def show_names(self, names: Iterable[str], current: str = "") -> None:
        self._names = list(names)
        self.box.blockSignals(True)  # filling the list is not a choice
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


ORDER_WORDS = {
    QueueOrder.DOCUMENT: ("by document", "Documents as imported, mentions as in the text."),
    QueueOrder.DIVERSE: (
        "highest value",
        "Mentions of all documents by expected value per second of work, never two in a row from the same cluster.",
    ),
    QueueOrder.UNCERTAIN: ("least certain", "Mentions of all documents, the least certain suggestion first."),
}


class QueueHead(QWidget):
    """Only the widgets; `QueuePanel` connects them."""

    unfolded = Signal(bool)  # or folded
    order_chosen = Signal(object)  # QueueOrder

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = field(
            tr("Filter documents by id or title"), hint=tr("Filter by id or title"), clear=True, parent=self
        )
        why = tr("Filter mentions by state, type, probability and more (Q)")
        self.fold = tool(tr("Facets"), tr("Show the facets"), hint=why, parent=self)
        self.fold.setCheckable(True)
        self.fold.setArrowType(Qt.ArrowType.RightArrow)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.orders = _orders(self)
        self.facets = FacetsPanel(self)
        self.saved = SavedFiltersRow(self)
        self.chips = FilterChips(self)
        self.fold.toggled.connect(self._fold)
        self.orders.activated.connect(lambda at: self.order_chosen.emit(QueueOrder(self.orders.itemData(at))))
        self._choices = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._choices.setSpacing(6)
        self._choices.addWidget(self.fold)
        self._choices.addWidget(self.orders, 1)
        parts = (self.text, self._choices, self.saved, (self.facets, 1), self.chips)
        column(*parts, of=self, margins=(10, 10, 10, 8), spacing=6)
        self._fold(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the order below the facets if there is no room next to them."""
        super().resizeEvent(event)
        words = max(self.fontMetrics().horizontalAdvance(self.orders.itemText(at)) for at in range(len(ORDER_WORDS)))
        needed = self.fold.sizeHint().width() + words + 3 * self.fontMetrics().height()
        way = QBoxLayout.Direction.TopToBottom if needed > self.width() - 20 else QBoxLayout.Direction.LeftToRight
        if way is not self._choices.direction():
            self._choices.setDirection(way)

    @property
    def is_unfolded(self) -> bool:
        return self.fold.isChecked()

    def unfold(self, shown: bool) -> None:
        self.fold.setChecked(shown)

    @property
    def order(self) -> QueueOrder:
        return QueueOrder(self.orders.currentData())

    def set_order(self, order: QueueOrder) -> None:
        self.orders.setCurrentIndex(self.orders.findData(order.value))

    def set_narrowing(self, facets: bool, *, orders: bool, saving: bool) -> None:
        """Set the filters available for this queue."""
        self.fold.setEnabled(facets)
        self.orders.setEnabled(orders)
        self.saved.setEnabled(saving)
        if not facets:
            self.unfold(False)

    def _fold(self, shown: bool) -> None:
        self.fold.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)
        self.facets.setVisible(shown)
        self.saved.setVisible(shown)
        policy = QSizePolicy.Policy.Preferred if shown else QSizePolicy.Policy.Maximum
        self.setSizePolicy(QSizePolicy.Policy.Preferred, policy)
        self.unfolded.emit(shown)


def _orders(parent: QWidget) -> QComboBox:
    box = QComboBox(parent)
    box.setAccessibleName(tr("Order of the queue"))
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for order in QueueOrder:
        words, why = (tr(one) for one in ORDER_WORDS[order])
        box.addItem(words, order.value)
        box.setItemData(box.count() - 1, tip(why), int(Qt.ItemDataRole.ToolTipRole))
    box.setToolTip(tr("Order of the queue (O)"))
    return box
