"""The queue on the left: filter, facets, order, set filters, the documents or the work list, and their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from curator.domain.facets import FacetCube
from curator.domain.wording import tr
from curator.services.ports.documents import ProjectCounts
from curator.services.ports.queue import QueueFilter, WorkRow
from curator.services.queue.facets import FacetService, SavedFilters
from curator.services.queue.ordering import OrderingService, QueueOrder
from curator.services.queue.queue import QueueService
from curator.services.queue.seat import Lists
from curator.ui.kit.worker import Worker
from curator.ui.queue.queue_head import QueueHead
from curator.ui.queue.queue_rows import QueueRows

DEBOUNCE_MS = 120
RECOUNT_MS = 400
"""Delay after the last change before facets are recounted, and never while collapsed."""
SHARE = 10
"""Also a delay of this multiple of the counting time, so that it uses at most a tenth of a core."""
MANY = 200
"""More documents than this are recounted in a background thread."""


class QueuePanel(QWidget):
    """API: `set_source`, `set_counts`, `set_current`, `refresh`, `where`, `focus_filter`, `focus_facets`, `narrow`,
    `clear`, `set_order`, `renew_work`, `close_work`."""

    document_activated = Signal(int)
    mention_activated = Signal(int, int)  # document, mention: of the work list
    filter_changed = Signal(object)  # QueueFilter; its documents are in `documents`
    work_changed = Signal(object)  # Sequence[WorkRow]; empty in the order of documents
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.head = QueueHead(self)
        self.rows = QueueRows(self)
        self.model, self.list, self.footer = self.rows.model, self.rows.list, self.rows.footer
        self.text, self.facets, self.chips = self.head.text, self.head.facets, self.head.chips
        self._facet_service: FacetService | None = None
        self._ordering: OrderingService | None = None
        self._filters: SavedFilters | None = None
        self._where = QueueFilter()
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._recount = QTimer(self, singleShot=True, interval=RECOUNT_MS)
        self._documents, self._cubes, self._works = (Worker(self, here=True) for _ in range(3))
        self._compose()
        self._connect()
        self._reload()

    def _compose(self) -> None:
        self.rows.put_under(self.head, self)

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
        head.unfolded.connect(lambda shown: self.rows.share(facets=shown))
        head.unfolded.connect(self._count)
        head.order_chosen.connect(self.set_order)
        saved.chosen.connect(self._apply_saved)
        saved.named.connect(self._save)
        saved.deleted.connect(self._delete_saved)
        self.rows.document_chosen.connect(self.document_activated)
        self.rows.mention_chosen.connect(self.mention_activated)

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
        self.rows.set_source(lists)
        self.facets.show_cube(FacetCube())
        self._show_saved()
        self._where = QueueFilter(text=self._where.text)
        self._reload()
        self.set_order(QueueOrder.DOCUMENT)

    def set_counts(self, counts: ProjectCounts) -> None:
        """Set the number of documents of the project."""
        self.rows.set_total(sum(counts.documents.values()))

    def refresh(self, document_ids: tuple[int, ...] = ()) -> None:
        """Update changed documents (none given: all)."""
        if self.model.ids is not None and self._facet_service is not None:
            if not document_ids or len(document_ids) > MANY:
                self._reload()
            else:
                self.model.update_matching(document_ids, self._facet_service.documents(self._where, document_ids))
        else:
            self.model.refresh(document_ids)
        self.rows.say()
        self._count_later()

    def set_away(self, away: bool) -> None:
        """The server of a shared project is away: list only what is on this computer and can be opened; or it is back:
        list everything. Raises AwayError, and keeps the rows, if nothing is on this computer."""
        self._reload()
        self.rows.set_away(away)

    def set_current(self, document_id: int | None) -> None:
        """Mark the open document and scroll to it."""
        self.rows.set_current(document_id)

    def suggestions_changed(self, document_ids: Sequence[int]) -> None:
        """Recount after new suggestions: rows are unchanged, but matches may differ."""
        if self.model.ids is not None:
            self.refresh(tuple(document_ids))
        else:
            self._count_later()

    def set_current_mention(self, mention_id: int | None) -> None:
        """Mark the current mention in a work list."""
        self.rows.set_current_mention(mention_id)

    def mark_decided(self, mention_ids: Sequence[int], queue: QueueService) -> None:
        """Mark mentions of a work list that were decided or reset."""
        for one, outcome in queue.outcomes(
            [one for one in mention_ids if self.rows.work.place(one) is not None]
        ).items():
            self.rows.work.set_outcome(one, outcome)
        self.rows.say()

    def close_work(self) -> None:
        """Report nothing more of running counts."""
        for one in (self._documents, self._cubes, self._works):
            one.close()

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
            self.rows.view.setFocus(Qt.FocusReason.ShortcutFocusReason)
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
        self.rows.load(where, found)
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
        self.rows.show_work(order is not QueueOrder.DOCUMENT)
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
        self.rows.work.show_work(rows)
        self.rows.say()
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
            QTimer.singleShot(0, self, lambda: self.rows.share(facets=self.head.is_unfolded))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Down in the filter goes to the list, Enter opens its first document, Esc empties the filter."""
        if watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Down:
                self.rows.enter()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._timer.isActive():  # the last text typed is not applied yet
                    self._text_changed()
                self.rows.choose_first()
                return True
            if event.key() == Qt.Key.Key_Escape and self.text.text():
                self.text.clear()
                return True
        return super().eventFilter(watched, event)
