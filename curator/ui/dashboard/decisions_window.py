"""*View > Decisions*: who decided what and when, of the whole project; a row opens its mention."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QComboBox, QHBoxLayout, QHeaderView, QWidget

from curator.domain.statistics import TakenDecision
from curator.domain.wording import tr
from curator.services.records.statistics import StatisticsService
from curator.ui.dashboard.decisions_model import HEADERS, ROW_ROLE, DecisionsModel
from curator.ui.kit.find_line import FindLine
from curator.ui.kit.form import EmptyPage, ShowDialog
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.opening_table import OpeningTable
from curator.ui.kit.worker import Worker

PAGE = 300
TYPING_MS = 250
EVERYBODY = "Everybody"
NONE, LESS = "No decision matches", "Change the words or the curator above, or list what came with files."
NOTHING, LISTED = "Nothing has been decided yet", "Every decision is listed here, the newest first."
OPENS = "Enter or a double click opens the mention; F4 comes back."


class DecisionsWindow(ShowDialog):
    """`mention_wanted` carries the ids of a document and a mention."""

    mention_wanted = Signal(int, int)

    def __init__(
        self, service: StatisticsService, *, name_of: Callable[[str], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Decisions"), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._service = service
        self.worker = Worker(self)
        self.words = FindLine(tr("Find decisions"), tr("Find by mention, entity identifier or document"), self)
        self.curators = QComboBox(self)
        self.curators.setAccessibleName(tr("Curator"))
        self.curators.addItem(tr(EVERYBODY), "")
        for name in service.curators():
            self.curators.addItem(name, name)
        self.imported = QCheckBox(tr("With what came with &files"), self)
        self.model = DecisionsModel(name_of, self)
        self.table = self._make_table()
        self.empty = EmptyPage("", parent=self)
        self.empty.hide()
        self.state = ElidedLabel(muted=True, parent=self)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._compose()
        self._connect()
        self.load()
        self.resize(1000, 620)

    def _make_table(self) -> OpeningTable:
        table = OpeningTable(self)
        table.setAccessibleName(tr("Decisions of the project"))
        table.setModel(self.model)
        table.verticalHeader().hide()
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column, stretched in enumerate((False, False, True, True, False, True, False)):
            mode = QHeaderView.ResizeMode.Stretch if stretched else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)
        assert len(HEADERS) == header.count()
        return table

    def _compose(self) -> None:
        line = QHBoxLayout()
        line.addWidget(self.words, 1)
        line.addWidget(self.curators)
        line.addWidget(self.imported)
        self.body.addLayout(line)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        self.body.addWidget(self.state)

    def _connect(self) -> None:
        self._typing.timeout.connect(self.load)
        self.words.textChanged.connect(lambda: self._typing.start())
        self.words.returnPressed.connect(self._to_table)
        self.curators.currentIndexChanged.connect(self.load)
        self.imported.toggled.connect(self.load)
        self.model.more_wanted.connect(self._load_more)
        self.table.activated.connect(self._open)
        self.finished.connect(self.worker.close)

    # --- rows ---

    def load(self) -> None:
        """From the newest on, in a worker thread; what was asked for last is shown."""
        self.worker.ask(self._page(None), self._begin)

    def _load_more(self) -> None:
        self.worker.ask(self._page(self.model.last), lambda rows: self.model.add(rows, more=len(rows) == PAGE))

    def _page(self, before: int | None) -> Callable[[], list[TakenDecision]]:
        curator, words, imported = self.curators.currentData(), self.words.text().strip(), self.imported.isChecked()
        taken = self._service.taken
        return lambda: taken(limit=PAGE, before=before, curator=curator, words=words, imported=imported)

    def _begin(self, rows: list[TakenDecision]) -> None:
        self.model.begin(rows, more=len(rows) == PAGE)
        if rows:
            self.table.setCurrentIndex(self.model.index(0, 0))  # Enter opens it
        self.state.set_words(tr(OPENS) if rows else "")
        narrowed = bool(self.words.text().strip() or self.curators.currentData())
        self.empty.say(*((tr(NONE), tr(LESS)) if narrowed else (tr(NOTHING), tr(LISTED))))
        leaves = not rows and self.focusWidget() is self.table  # asked first: Qt may give the keyboard to any button
        self.empty.stand_in(self.table, empty=not rows)
        if leaves:
            self.words.setFocus(Qt.FocusReason.OtherFocusReason)

    def _to_table(self) -> None:
        if self.model.rowCount():
            self.table.setCurrentIndex(self.model.index(0, 0))
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, TakenDecision):
            self.mention_wanted.emit(row.document_id, row.mention_id)
