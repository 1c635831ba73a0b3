"""The upper part of the queue: the filter's text, the facets, the order, and what is set."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QLineEdit, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from curator.domain.wording import tr
from curator.services.queue.ordering import QueueOrder
from curator.ui.queue.facets_panel import FacetsPanel
from curator.ui.queue.filter_chips import FilterChips
from curator.ui.queue.saved_filters_row import SavedFiltersRow

ORDER_WORDS = {
    QueueOrder.DOCUMENT: ("by document", "Documents as imported, mentions as in the text."),
    QueueOrder.DIVERSE: (
        "worth most",
        "Mentions hop between documents: what a second of work gains, never twice in a row from the same cluster.",
    ),
    QueueOrder.UNCERTAIN: ("least sure", "Mentions hop between documents: the least sure suggestion first."),
}


class QueueHead(QWidget):
    """Widgets only; `QueuePanel` says what they do."""

    unfolded = Signal(bool)  # or folded
    order_chosen = Signal(object)  # QueueOrder

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = QLineEdit(self)
        self.text.setPlaceholderText(tr("Filter by id or title"))
        self.text.setAccessibleName(tr("Filter documents by id or title"))
        self.text.setClearButtonEnabled(True)
        self.fold = QToolButton(self)
        self.fold.setText(tr("Facets"))
        self.fold.setToolTip(tr("Narrow the queue to mentions: by state, type, probability and more (Q)"))
        self.fold.setAccessibleName(tr("Show the facets"))
        self.fold.setCheckable(True)
        self.fold.setArrowType(Qt.ArrowType.RightArrow)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.orders = _orders(self)
        self.facets = FacetsPanel(self)
        self.saved = SavedFiltersRow(self)
        self.chips = FilterChips(self)
        self.fold.toggled.connect(self._fold)
        self.orders.activated.connect(lambda at: self.order_chosen.emit(QueueOrder(self.orders.itemData(at))))
        self._compose()
        self._fold(False)

    def _compose(self) -> None:
        self._choices = choices = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        choices.setSpacing(6)
        choices.addWidget(self.fold)
        choices.addWidget(self.orders, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 10, 10, 8)
        column.setSpacing(6)
        column.addWidget(self.text)
        column.addLayout(choices)
        column.addWidget(self.saved)
        column.addWidget(self.facets, 1)
        column.addWidget(self.chips)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where the order's words have no room beside the facets, it stands below them."""
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
        """What this queue can be narrowed by."""
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
        words, tip = (tr(one) for one in ORDER_WORDS[order])
        box.addItem(words, order.value)
        box.setItemData(box.count() - 1, tip, int(Qt.ItemDataRole.ToolTipRole))
    box.setToolTip(tr("The order in which the queue is worked off (O)"))
    return box
