"""The lower part of the queue: documents or mentions of a work list, and their number."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from curator.domain.wording import ntr, tr
from curator.services.ports.queue import QueueFilter
from curator.services.queue.seat import Lists
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.row_list import RowTable
from curator.ui.queue.queue_delegate import QueueDelegate, WorkDelegate
from curator.ui.queue.queue_model import QueueModel
from curator.ui.queue.work_model import WorkModel

NO_PROJECT = "No project is open."
NO_DOCUMENTS = "This project has no documents yet. Import some with Project › Import documents."
IMPORTING = "An import is running. Its documents appear here when it is done."
NONE_LEFT = "No document matches the filter."
NO_MENTION = "No mention matches the filters. Shift+Q shows everything again."
NO_WORK = "No undecided mentions are left here. O changes the order, Shift+Q clears the filter."


class QueueRows(QWidget):
    """Widgets and models, filled by `QueuePanel`."""

    document_chosen = Signal(int)
    mention_chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model, self.work = QueueModel(parent=self), WorkModel(self)
        self.list = RowTable(tr("Documents"), self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(QueueDelegate(self.list))
        self.work_list = RowTable(tr("Mentions to decide"), self)
        self.work_list.setModel(self.work)
        self.work_list.setItemDelegate(WorkDelegate(self.work_list))
        self.footer = ElidedLabel(muted=True, parent=self)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.list)
        self._stack.addWidget(self.work_list)
        self._total = 0
        self._has_project = self._importing = self._away = False
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 5, 12, 6)
        foot.addWidget(self.footer)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._stack, 1)
        column.addLayout(foot)
        self.model.modelReset.connect(self._follow)
        self.list.chosen.connect(self._choose_document)
        self.work_list.chosen.connect(self._choose_mention)

    def put_under(self, head: QWidget, whole: QWidget) -> None:
        """Fill `whole` with the head and these rows; a splitter sets the height of the facets."""
        whole.setAutoFillBackground(True)
        whole.setBackgroundRole(QPalette.ColorRole.Base)
        self._parts = parts = QSplitter(Qt.Orientation.Vertical, whole)
        parts.addWidget(head)
        parts.addWidget(self)
        parts.setStretchFactor(0, 0)
        parts.setStretchFactor(1, 1)
        parts.setChildrenCollapsible(False)
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(parts)

    def share(self, *, facets: bool) -> None:
        """Give the facets three fifths of the height, or undo that."""
        height = self._parts.height()
        self._parts.setSizes([height * 3 // 5, height * 2 // 5] if facets else [0, height])

    @property
    def view(self) -> RowTable:
        """The visible list."""
        return self.work_list if self._stack.currentWidget() is self.work_list else self.list

    def set_source(self, lists: Lists | None) -> None:
        self._has_project = lists is not None
        self.model.set_source(lists)
        self.work.set_source(lists(QueueFilter()).rows_of if lists is not None else lambda _: ())

    def set_total(self, documents: int) -> None:
        self._total = documents
        self.say()

    def set_importing(self, importing: bool) -> None:
        """Set whether an import is running."""
        if importing != self._importing:
            self._importing = importing
            self.say()

    def set_away(self, away: bool) -> None:
        """Set whether the rows are those on this computer, without the server of a shared project."""
        self._away = away
        self.say()

    def show_work(self, shown: bool) -> None:
        focused = self.view.hasFocus()
        self._stack.setCurrentWidget(self.work_list if shown else self.list)
        if focused:
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.say()

    def load(self, where: QueueFilter, matching: Mapping[int, int] | None) -> None:
        self.model.load(where, matching)
        self.say()

    def set_current(self, document_id: int | None) -> None:
        self.model.set_current(document_id)
        self._follow()
        self.say()

    def _follow(self) -> None:
        """Keep the open document as the start for arrow keys, even after the rows were reloaded."""
        current = self.model.current
        row = self.model.find(current) if current is not None else None
        if row is not None:
            self.list.go_to(row)

    def set_current_mention(self, mention_id: int | None) -> None:
        if mention_id != self.work.current:
            self.work.set_current(mention_id)
            at = self.work.place(mention_id)
            if at is not None:
                self.work_list.go_to(at)
        self.say()

    def say(self) -> None:
        """Show the number of rows, or what to do if there are none."""
        count, where = self.model.rowCount(), self.model.where
        filtered = where != QueueFilter()
        total = self._total if (filtered or self._away) and self._total else count
        words = ntr("{n:,} document", "{n:,} documents", total)
        words = words if total == count else tr("{count:,} of {all}", count=count, all=words)
        if self._away:
            words = tr("{count:,} of {total:,} on this computer", count=count, total=total)
        if self.model.ids is not None:
            matching = self.model.matching
            words = ntr("{n:,} mention in {words}", "{n:,} mentions in {words}", matching, words=words)
        if self.view is self.work_list:
            words = tr("{left:,} of {n:,} to decide", left=self.work.left, n=len(self.work.rows))
        self.footer.set_words(words if self._has_project else "")
        none = tr(IMPORTING) if self._importing else tr(NO_DOCUMENTS)
        empty = tr(NO_MENTION) if where.facets else tr(NONE_LEFT) if filtered else none
        self.list.set_empty_words(empty if self._has_project else tr(NO_PROJECT))
        self.work_list.set_empty_words(tr(NO_WORK))

    def enter(self) -> None:
        """Focus the rows."""
        self.view.setFocus(Qt.FocusReason.TabFocusReason)
        self.view.go_to(max(self.view.currentIndex().row(), 0))

    def choose_first(self) -> None:
        if self.view is self.list:
            self._choose_document(0)
        else:
            self._choose_mention(0)

    def _choose_document(self, number: int) -> None:
        row = self.model.row(number)
        if row is not None:
            self.document_chosen.emit(row.document_id)

    def _choose_mention(self, number: int) -> None:
        if 0 <= number < len(self.work.rows):
            row = self.work.rows[number]
            self.mention_chosen.emit(row.document_id, row.mention_id)
