"""The queue on the left: filter, facets, order, set filters; below, the documents or the mentions of a work list, and
their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QStackedWidget, QWidget

from curator.domain.facets import FacetCube
from curator.domain.wording import ntr, tr
from curator.services.ports.documents import ProjectCounts
from curator.services.ports.queue import QueueFilter, WorkRow
from curator.services.queue.facets import FacetService, SavedFilters
from curator.services.queue.ordering import OrderingService, QueueOrder
from curator.services.queue.queue import QueueService
from curator.services.queue.seat import Lists
from curator.ui.kit.compose import column, pane, row, splitter
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.row_list import RowTable
from curator.ui.kit.worker import Worker
from curator.ui.queue.queue_delegate import QueueDelegate, WorkDelegate
from curator.ui.queue.queue_head import QueueHead
from curator.ui.queue.queue_model import QueueModel, WorkModel

NO_PROJECT = "No project is open."
NO_DOCUMENTS = "This project has no documents yet. Import some with Project › Import documents."
IMPORTING = "An import is running. Its documents appear here when it is done."
NONE_LEFT = "No document matches the filter."
NO_MENTION = "No mention matches the filters. Shift+Q shows everything again."
NO_WORK = "No undecided mentions are left here. O changes the order, Shift+Q clears the filter."
DEBOUNCE_MS = 120
RECOUNT_MS = 400
"""Delay after the last change before facets are recounted, and never while collapsed."""
SHARE = 10
"""Also a delay of this multiple of the counting time, so that it uses at most a tenth of a core."""
MANY = 200
"""More documents than this are recounted in a background thread."""


class QueuePanel(QWidget):
    document_activated = Signal(int)
    mention_activated = Signal(int, int)  # document, mention: of the work list
    filter_changed = Signal(object)  # QueueFilter; its documents are in `documents`
    work_changed = Signal(object)  # Sequence[WorkRow]; empty in the order of documents
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.head = QueueHead(self)
        self.text, self.facets, self.chips = self.head.text, self.head.facets, self.head.chips
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
        self._facet_service: FacetService | None = None
        self._ordering: OrderingService | None = None
        self._filters: SavedFilters | None = None
        self._where = QueueFilter()
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._recount = QTimer(self, singleShot=True, interval=RECOUNT_MS)
        self._documents, self._cubes, self._works = (Worker(self, here=True) for _ in range(3))
        below = pane((self._stack, 1), row(self.footer, margins=(12, 5, 12, 6)), parent=self, spacing=0)
        self._parts = splitter(self.head, below, parent=self, sizes=(0, 1), stretch=(0, 1))
        column(self._parts, of=self)
        self._connect()
        self._reload()

    def _connect(self) -> None:
        head, saved = self.head, self.head.saved
        self.text.textChanged.connect(lambda: self._timer.start())
        self.text.installEventFilter(self)
        self._timer.timeout.connect(self._text_changed)
        self._recount.timeout.connect(self._count)
        self.facets.changed.connect(lambda facets: self.narrow(QueueFilter(text=self._where.text, facets=facets)))
        self.facets.said.connect(self.said)
        self.chips.lifted.connect(self._lift)
        self.chips.cleared.connect(self.clear)
        head.unfolded.connect(self._share)
        head.unfolded.connect(self._count)
        head.order_chosen.connect(self.set_order)
        saved.chosen.connect(self._apply_saved)
        saved.named.connect(self._save)
        saved.deleted.connect(self._delete_saved)
        self.model.modelReset.connect(self._follow)
        self.list.chosen.connect(self._choose_document)
        self.work_list.chosen.connect(self._choose_mention)

    def _share(self, facets: bool) -> None:
        """Give the facets three fifths of the height, or undo that."""
        height = self._parts.height()
        self._parts.setSizes([height * 3 // 5, height * 2 // 5] if facets else [0, height])

    @property
    def view(self) -> RowTable:
        """The visible list."""
        return self.work_list if self._stack.currentWidget() is self.work_list else self.list

    # --- what the project gives ---

    def set_source(
        self,
        lists: Lists | None,
        *,
        facets: FacetService | None = None,
        ordering: OrderingService | None = None,
        filters: SavedFilters | None = None,
    ) -> None:
        """Set the queue. Without `facets` it has no mention filters (as in a round)."""
        self._facet_service, self._ordering, self._filters = facets, ordering, filters
        large = facets is not None and facets.large()
        for one in (self._documents, self._cubes, self._works):
            one.here = not large
        self.head.set_narrowing(facets is not None, orders=ordering is not None, saving=filters is not None)
        self._has_project = lists is not None
        self.model.set_source(lists)
        self.work.set_source(lists(QueueFilter()).rows_of if lists is not None else lambda _: ())
        self.facets.show_cube(FacetCube())
        self._show_saved()
        self._where = QueueFilter(text=self._where.text)
        self._reload()
        self.set_order(QueueOrder.DOCUMENT)

    def set_counts(self, counts: ProjectCounts) -> None:
        """Set the number of documents of the project."""
        self._total = sum(counts.documents.values())
        self.say()

    def set_importing(self, importing: bool) -> None:
        """Set whether an import is running."""
        if importing != self._importing:
            self._importing = importing
            self.say()

    def refresh(self, document_ids: tuple[int, ...] = ()) -> None:
        """Update changed documents (none given: all)."""
        if self.model.ids is not None and self._facet_service is not None:
            if not document_ids or len(document_ids) > MANY:
                self._reload()
            else:
                self.model.update_matching(document_ids, self._facet_service.documents(self._where, document_ids))
        else:
            self.model.refresh(document_ids)
        self.say()
        self._count_later()

    def set_away(self, away: bool) -> None:
        """The server of a shared project is away: list only what is on this computer and can be opened; or it is back:
        list everything. Raises AwayError, and keeps the rows, if nothing is on this computer."""
        self._reload()
        self._away = away
        self.say()

    def set_current(self, document_id: int | None) -> None:
        """Mark the open document and scroll to it."""
        self.model.set_current(document_id)
        self._follow()
        self.say()

    def _follow(self) -> None:
        """Keep the open document as the start for arrow keys, even after the rows were reloaded."""
        current = self.model.current
        at = self.model.find(current) if current is not None else None
        if at is not None:
            self.list.go_to(at)

    def suggestions_changed(self, document_ids: Sequence[int]) -> None:
        """Recount after new suggestions: rows are unchanged, but matches may differ."""
        if self.model.ids is not None:
            self.refresh(tuple(document_ids))
        else:
            self._count_later()

    def set_current_mention(self, mention_id: int | None) -> None:
        """Mark the current mention in a work list."""
        if mention_id != self.work.current:
            self.work.set_current(mention_id)
            at = self.work.place(mention_id)
            if at is not None:
                self.work_list.go_to(at)
        self.say()

    def mark_decided(self, mention_ids: Sequence[int], queue: QueueService) -> None:
        """Mark mentions of a work list that were decided or reset."""
        listed = [one for one in mention_ids if self.work.place(one) is not None]
        for one, outcome in queue.outcomes(listed).items():
            self.work.set_outcome(one, outcome)
        self.say()

    def close_work(self) -> None:
        """Report nothing more of running counts."""
        for one in (self._documents, self._cubes, self._works):
            one.close()

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

    def _choose_document(self, number: int) -> None:
        row = self.model.row(number)
        if row is not None:
            self.document_activated.emit(row.document_id)

    def _choose_mention(self, number: int) -> None:
        if 0 <= number < len(self.work.rows):
            row = self.work.rows[number]
            self.mention_activated.emit(row.document_id, row.mention_id)

    # --- narrowing ---

    @property
    def counting(self) -> bool:
        """Whether a count is still running in the background."""
        return any(one.busy for one in (self._documents, self._cubes, self._works))

    @property
    def where(self) -> QueueFilter:
        """The current filter of the queue."""
        return self._where

    @property
    def documents(self) -> Sequence[int] | None:
        """The documents with matches; None if no facet is set."""
        return self.model.ids

    @property
    def order(self) -> QueueOrder:
        return self.head.order

    def focus_filter(self) -> None:
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.text.selectAll()

    def focus_facets(self) -> None:
        """Expand and focus the facets; if focused, collapse them."""
        if self.facets.hasFocus():
            self.head.unfold(False)
            self.view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self._facet_service is not None:
            self.head.unfold(True)
            self.facets.setFocus(Qt.FocusReason.ShortcutFocusReason)
            if self.facets.currentItem() is None and (first := self.facets.topLevelItem(0)) is not None:
                self.facets.setCurrentItem(first)

    def narrow(self, where: QueueFilter) -> None:
        """Apply a filter."""
        if where == self._where:
            return
        self._where = where
        if self.text.text().strip() != where.text:
            self.text.blockSignals(True)  # already counted for this filter
            self.text.setText(where.text)
            self.text.blockSignals(False)
        self._reload()

    def clear(self) -> None:
        """Remove all filters."""
        self.narrow(QueueFilter())

    def _lift(self, facet: str) -> None:
        left = {one: values for one, values in self._where.facets.chosen if one.value != facet}
        self.narrow(QueueFilter(text=self._where.text, facets=type(self._where.facets).of(left)))

    def _text_changed(self) -> None:
        self._timer.stop()
        self.narrow(QueueFilter(text=self.text.text().strip(), facets=self._where.facets))

    def _reload(self) -> None:
        where, service = self._where, self._facet_service
        self.facets.show_facets(where.facets)
        self.chips.show_filter(where)
        if where.facets and service is not None:
            self._documents.ask(lambda: service.documents(where), lambda found: self._loaded(where, found))
        else:
            self._loaded(where, None)

    def _loaded(self, where: QueueFilter, found: Mapping[int, int] | None) -> None:
        if where != self._where:
            return
        self.model.load(where, found)
        self.say()
        self.filter_changed.emit(where)
        self._count()
        self.renew_work()

    def _count_later(self) -> None:
        if self.head.is_unfolded and not self._recount.isActive():
            self._recount.start(max(RECOUNT_MS, int(1000 * SHARE * self._cubes.took)))

    def _count(self, _: bool = True) -> None:
        service, where = self._facet_service, self._where
        if service is not None and self.head.is_unfolded:
            self._cubes.ask(lambda: service.cube(where), self.facets.show_cube)

    # --- the order ---

    def set_order(self, order: QueueOrder) -> None:
        self.head.set_order(order)
        focused = self.view.hasFocus()
        self._stack.setCurrentWidget(self.list if order is QueueOrder.DOCUMENT else self.work_list)
        if focused:
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.say()
        self.renew_work()

    def step_order(self) -> None:
        """Switch to the next order."""
        if self._ordering is not None:
            orders = list(QueueOrder)
            self.set_order(orders[(orders.index(self.order) + 1) % len(orders)])

    def renew_work(self) -> None:
        """Rebuild the work list if the order has one."""
        service, where, order = self._ordering, self._where, self.order
        if service is None or order is QueueOrder.DOCUMENT:
            self._worked(())
        else:
            self._works.ask(lambda: service.work(where, order), self._worked)

    def _worked(self, rows: Sequence[WorkRow]) -> None:
        self.work.show_work(rows)
        self.say()
        self.work_changed.emit(tuple(rows))

    # --- saved filters ---

    def _show_saved(self, current: str = "") -> None:
        self.head.saved.show_names(self._filters.all() if self._filters is not None else (), current)

    def _apply_saved(self, name: str) -> None:
        found = self._filters.all().get(name) if self._filters is not None else None
        if found is not None:
            self.narrow(found)

    def _save(self, name: str) -> None:
        if self._filters is not None:
            self._filters.save(name, self._where)
            self._show_saved(name)
            self.said.emit(tr("The filter is saved as “{name}”.", name=name))

    def _delete_saved(self, name: str) -> None:
        if self._filters is not None:
            self._filters.delete(name)
            self._show_saved()
            self.said.emit(tr("The saved filter “{name}” is deleted; the queue stays filtered as it is.", name=name))

    def changeEvent(self, event: QEvent) -> None:
        """Give the rows the space that the head does not need in a smaller font."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "head") and not self.head.is_unfolded:
            QTimer.singleShot(0, self, lambda: self._share(self.head.is_unfolded))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down in the filter goes to the list, Enter opens its first document, Esc empties the filter."""
        if watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self.view.setFocus(Qt.FocusReason.TabFocusReason)
                self.view.go_to(max(self.view.currentIndex().row(), 0))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._timer.isActive():  # the last text typed is not applied yet
                    self._text_changed()
                choose = self._choose_document if self.view is self.list else self._choose_mention
                choose(0)
                return True
            if event.key() == Qt.Key.Key_Escape and self.text.text():
                self.text.clear()
                return True
        return super().eventFilter(watched, event)
