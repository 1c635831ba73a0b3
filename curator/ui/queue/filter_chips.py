"""What the queue is narrowed to, one chip each: pressing one lifts it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from curator.domain.facets import Facet
from curator.domain.wording import tr
from curator.services.ports import QueueFilter
from curator.ui.queue.facet_words import FACET_WORDS, chips

CLEAR = "Clear all  (Shift+Q)"


class FilterChips(QWidget):
    """API: `show_filter`. Hidden while nothing is set; `words` says what is, for tests and screen readers."""

    lifted = Signal(str)  # a facet's value
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words: tuple[str, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(3)
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
            self._add(f"✕  {one}", tr("Lift the filter {facet}", facet=tr(FACET_WORDS[facet])), facet)
        if len(wanted) > 1:
            self._add(tr(CLEAR), tr("Lift all filters"), None)
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
        button.setToolTip(text)
        button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        button.setStyleSheet("text-align: left")
        if facet is None:
            button.clicked.connect(self.cleared)
        else:
            button.clicked.connect(lambda _=False, value=facet.value: self.lifted.emit(value))
        self._column.addWidget(button)
