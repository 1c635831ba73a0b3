"""The queue at the left: filter, facets with counts, the documents, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from curator.domain.documents import DocumentState, Split
from curator.services.ports import ProjectCounts, QueueFilter
from curator.ui.labels import ElidedLabel
from curator.ui.queue_delegate import QueueDelegate
from curator.ui.queue_model import STATE_WORDS, QueueModel, QueueSource
from curator.ui.row_list import RowTable

NO_PROJECT = "No project is open."
NO_DOCUMENTS = "This project has no documents yet. Import some with Project › Import documents…"
NONE_LEFT = "No document matches the filter."
DEBOUNCE_MS = 120

T = TypeVar("T", DocumentState, Split)


class QueuePanel(QWidget):
    """API: `set_source`, `set_counts`, `set_current`, `refresh`, `where`, `focus_filter`."""

    document_activated = Signal(int)
    filter_changed = Signal(object)  # QueueFilter

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = QueueModel(parent=self)
        self.list = RowTable("Documents", self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(QueueDelegate(self.list))
        self.text = QLineEdit(self)
        self.text.setPlaceholderText("Filter by id or title")
        self.text.setAccessibleName("Filter documents by id or title")
        self.text.setClearButtonEnabled(True)
        self.state = _facet("State", ["All states", *(STATE_WORDS[one] for one in DocumentState)], list(DocumentState))
        self.split = _facet("Split", ["All splits", *(one.value for one in Split)], list(Split))
        self.footer = ElidedLabel(muted=True, parent=self)
        self._total = 0
        self._has_project = False
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._compose()
        self._connect()
        self._reload()

    def _compose(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        facets = QHBoxLayout()
        facets.setSpacing(6)
        facets.addWidget(self.state, 1)
        facets.addWidget(self.split, 1)
        head = QVBoxLayout()
        head.setContentsMargins(10, 10, 10, 8)
        head.setSpacing(6)
        head.addWidget(self.text)
        head.addLayout(facets)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 5, 12, 6)
        foot.addWidget(self.footer)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(head)
        whole.addWidget(self.list, 1)
        whole.addLayout(foot)

    def _connect(self) -> None:
        self.text.textChanged.connect(lambda: self._timer.start())
        self.text.installEventFilter(self)
        self._timer.timeout.connect(self._reload)
        self.state.currentIndexChanged.connect(self._reload)
        self.split.currentIndexChanged.connect(self._reload)
        self.list.chosen.connect(self._choose)

    @property
    def where(self) -> QueueFilter:
        """The filter that the controls stand at."""
        state, split = self.state.currentData(), self.split.currentData()  # Qt gives plain strings back
        return QueueFilter(
            DocumentState(state) if state else None, Split(split) if split else None, self.text.text().strip()
        )

    def set_source(self, source: QueueSource | None) -> None:
        self._has_project = source is not None
        self.model.set_source(source)
        self._reload()

    def set_counts(self, counts: ProjectCounts) -> None:
        """Numbers beside the facets."""
        self._total = sum(counts.documents.values())
        _number(self.state, "All states", STATE_WORDS, counts.documents)
        _number(self.split, "All splits", {one: one.value for one in Split}, counts.documents_by_split)
        self._say()

    def refresh(self, document_ids: tuple[int, ...] = ()) -> None:
        """Documents have changed (none given: any)."""
        self.model.refresh(document_ids)
        self._say()

    def set_current(self, document_id: int | None) -> None:
        """Mark the open document and bring it into sight."""
        self.model.set_current(document_id)
        row = self.model.find(document_id) if document_id is not None else None
        if row is not None:
            self.list.go_to(row)

    def focus_filter(self) -> None:
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.text.selectAll()

    def _reload(self) -> None:
        self._timer.stop()
        self.model.load(self.where)
        self._say()
        current = self.model.current
        row = self.model.row_of(current) if current is not None else None
        if row is not None:
            self.list.go_to(row)
        self.filter_changed.emit(self.where)

    def _say(self) -> None:
        count = self.model.rowCount()
        filtered = self.where != QueueFilter()
        total = self._total if filtered and self._total else count
        words = f"{total:,} document{'s' if total != 1 else ''}"
        words = words if total == count else f"{count:,} of {words}"
        self.footer.set_words(words if self._has_project else "")
        self.list.set_empty_words(NO_PROJECT if not self._has_project else NONE_LEFT if filtered else NO_DOCUMENTS)

    def _choose(self, number: int) -> None:
        row = self.model.row(number)
        if row is not None:
            self.document_activated.emit(row.document_id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down from the filter goes to the list, Enter opens its first document, Esc empties the filter."""
        if watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus(Qt.FocusReason.TabFocusReason)
                self.list.go_to(max(self.list.currentIndex().row(), 0))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._timer.isActive():  # what was typed last is not filtered by yet
                    self._reload()
                self._choose(0)
                return True
            if event.key() == Qt.Key.Key_Escape and self.text.text():
                self.text.clear()
                return True
        return super().eventFilter(watched, event)


def _facet(name: str, words: list[str], values: list[DocumentState] | list[Split]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(f"{name} of the documents to show")
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for word, value in zip(words, [None, *values], strict=True):
        box.addItem(word, value)
    return box


def _number(box: QComboBox, all_words: str, words: Mapping[T, str], counts: Mapping[T, int]) -> None:
    box.setItemText(0, all_words)
    for at in range(1, box.count()):
        value = box.itemData(at)
        box.setItemText(at, f"{words[value]} ({counts.get(value, 0):,})")
