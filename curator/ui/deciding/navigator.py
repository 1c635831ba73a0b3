"""Navigation: the open document, the current mention, and which of its suggestions is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from curator.domain.decisions import Decision
from curator.domain.suggestions import CandidateOrder, Suggestion, presented
from curator.domain.wording import DamagedTextError, UserError, ntr, tr
from curator.services.ports.queue import QueueFilter, WorkRow
from curator.services.queue.facets import Matching
from curator.services.queue.ordering import WorkOrder
from curator.services.queue.queue import Direction, MentionView, OpenDocument, QueueService
from curator.services.queue.seat import Linking, Queue, Seat

FIRST_OF_WORK = "This is the first mention in the list."
NO_MORE_UP = "This is the first document in the queue."
NO_MORE_DOWN = "This is the last document in the queue."
GONE = "The document {name} and its decisions are no longer in the project. Choose another from the queue."
ALL_DECIDED = "No undecided mentions are left."
LEFT_BEFORE = "{n:,} undecided mention is left, but none in the documents after this one."
LEFT_BEFORE_MANY = "{n:,} undecided mentions are left, but none in the documents after this one."
NONE_LEFT = "No other undecided mentions are left. Press O to change the order."
NONE_MATCH = "No mention after this one matches the filter. Shift+Q shows everything again."

Place = tuple[int, int | None]
"""A document, and a mention; None: where a document opens."""


class Navigator(QObject):
    """Opens documents and mentions. Suggestions that arrive later wait until the curator moves.

    `mention` is shown in the panel: until the next action it keeps the suggestion from when the curator opened it, so
    that candidates never change while being read. A decision records it as shown.

    While facets are set, every step goes to a matching mention; with a list of work (`set_work`) steps follow it from
    document to document.
    """

    document_changed = Signal()  # another document, or none
    content_changed = Signal()  # the same document; mentions, decisions or suggestions differ
    mention_changed = Signal()  # another mention, or other contents for it
    said = Signal(str)
    work_wanted = Signal()  # the list of work is used up

    def __init__(self, queue: QueueService, suggestions: Linking, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue: Queue = queue
        self._suggestions = suggestions
        self._held: Suggestion | None = None
        self._mention_id: int | None = None
        self.limit = 10  # candidates shown
        self.candidate_order = CandidateOrder.RANKED
        self.unfolded = False  # whether the candidates of this mention beyond the limit are shown too
        self.opened: OpenDocument | None = None
        self.mention: MentionView | None = None
        self.newer_waits = False
        self._matching = Matching(queue)
        self._work = WorkOrder(())
        self._asked_for_work = False
        self._revealed: set[int] = set()  # mentions whose hidden suggestions were revealed

    @property
    def queue(self) -> Queue:
        """The source of documents: the project's queue or a round's."""
        return self._queue

    def use(self, seat: Seat) -> None:
        """Take documents from another seat, and request its suggestions."""
        self._queue, self._suggestions = seat.queue, seat.suggestions
        self._matching.use(seat.lists)

    def set_filter(self, where: QueueFilter, documents: Sequence[int] | None = None) -> None:
        """Set the filter of steps; `documents` have matching mentions, in queue order, if facets are set. If another
        filter excludes the current mention, go to the first one that it includes: the next here, or in the queue."""
        changed = where != self.where
        self._matching.set_filter(where, documents)
        self._match()
        if changed and self.opened is not None:
            self.content_changed.emit()
            if not self.included:
                self._enter_filter()

    @property
    def where(self) -> QueueFilter:
        """The queue's filter."""
        return self._matching.where

    def set_work(self, rows: Sequence[WorkRow]) -> None:
        """Set the mentions to go through, in order; none: the order of documents and texts."""
        self._work = WorkOrder(rows)
        asked, self._asked_for_work = self._asked_for_work, False
        if asked:
            self._first_work()

    @property
    def mention_id(self) -> int | None:
        """The current mention's id."""
        return self._mention_id

    def set_limit(self, candidates: int) -> None:
        """Set the number of candidates shown."""
        if candidates != self.limit:
            self.limit = candidates
            self._show(swap=False)
            self.mention_changed.emit()

    def set_candidate_order(self, order: CandidateOrder) -> None:
        """Set the order: best first, or shuffled for an evaluation."""
        if order is not self.candidate_order:
            self.candidate_order = order
            self._show(swap=False)
            self.mention_changed.emit()

    def unfold(self, unfolded: bool) -> None:
        """Show the candidates beyond the limit too, until another mention is shown; decisions record them as shown."""
        if unfolded != self.unfolded and self.mention is not None:
            self.unfolded = unfolded
            self._show(swap=False)
            self.mention_changed.emit()

    @property
    def included(self) -> bool:
        """Whether the queue's filter includes the current mention."""
        among = self.included_here
        return among is None or self._mention_id is None or self._mention_id in among

    @property
    def included_here(self) -> frozenset[int] | None:
        """The mentions of the open document that the queue's filter includes; None if it includes all."""
        return self._matching.included

    @property
    def complete(self) -> bool:
        """Whether every mention of the open document is decided, and the document is not marked as done yet."""
        return self.opened is not None and self.opened.complete

    @property
    def beyond_limit(self) -> int:
        """The number of the current mention's candidates that the limit hides, or would hide."""
        held = self._held if self.mention is not None and self.mention.suggestion is not None else None
        return max(len(held.candidates) - self.limit, 0) if held is not None else 0

    def reveal(self) -> None:
        """Show the hidden suggestions of the current mention; a decision records this."""
        if self.mention is not None and self.mention.held_out:
            self._revealed.add(self.mention.mention.id)
            self._show(swap=True)
            self.mention_changed.emit()

    # --- documents ---

    def open(self, document_id: int, mention_id: int | None = None) -> None:
        """Open a document at a mention: the given one, else the first undecided, else the first."""
        if self.opened is None or self.opened.document.id != document_id:
            self.opened = self._queue.open(document_id)
            self._mention_id = None
            self._match()
            self.document_changed.emit()
        else:
            self.reload()
        self._suggestions.request([document_id])
        self.select(mention_id if mention_id is not None else self._entry())

    def close(self) -> None:
        self.opened = self.mention = self._held = self._mention_id = None
        self.newer_waits = False
        self.document_changed.emit()
        self.mention_changed.emit()

    def open_first(self) -> None:
        """Open the first undamaged document with an undecided mention, else the first of the queue."""
        found = self._matching.list  # which counts again, also under facets
        if not self._open_sound(_following(found.next_undecided, None)):
            self._open_sound(_following(lambda one: _start(found.neighbour(one, Direction.NEXT)), None))

    def step_document(self, direction: int) -> bool:
        """Go to the next or previous document of the queue, past damaged ones; False at its end."""
        rows = self._work.along(self._mention_id, direction)
        of_work = (row.place for row in rows if row.document_id != self._current)
        places = of_work if self._work else self._documents(direction)
        return self._open_sound(places, tr(NO_MORE_DOWN) if direction > 0 else tr(NO_MORE_UP))

    def reload(self) -> None:
        """Read the open document again after a change; the shown suggestion stays."""
        if self.opened is not None:
            try:
                self.opened = self._queue.open(self.opened.document.id)
            except UserError as error:
                gone = tr(GONE, name=self.opened.document.external_id)
                self.said.emit(str(error) if isinstance(error, DamagedTextError) else gone)
                self.close()
                return
            self._match()
            if self._mention_id is not None and self.opened.view(self._mention_id) is None:
                self._mention_id = self._held = None
            self._show(swap=False)
            self.content_changed.emit()
            self.mention_changed.emit()

    def patch(self, decisions: Mapping[int, Decision | None]) -> None:
        """Update current decisions of mentions of the open document, without reading everything again: a decision in a
        document with thousands of mentions must not wait for their suggestions."""
        if self.opened is None:
            return
        views = list(self.opened.mentions)
        for number in [n for n, view in enumerate(views) if view.mention.id in decisions]:
            views[number] = views[number].with_decision(decisions[views[number].mention.id])
        self.opened = replace(self.opened, mentions=tuple(views))
        self._match()
        self._show(swap=False)
        self.content_changed.emit()

    # --- mentions ---

    def select(self, mention_id: int | None) -> None:
        """Go to a mention of the open document; its newest suggestion is shown."""
        self._mention_id = mention_id
        self._show(swap=True)
        self.mention_changed.emit()

    def step(self, direction: int) -> None:
        """Go to the next or previous mention in the text, staying at its ends; while facets are set, to the next match,
        in other documents too; in a list of work, to its neighbour."""
        if self._work:
            self._step_work(direction)
            return
        beside = self._beside(direction)
        if beside is not None:
            self.select(beside)
        elif self._matching:
            self._step_out(direction)

    def next_undecided(self) -> None:
        """Go to the next undecided mention, here or in later documents."""
        if self._work:
            self._next_work()
        elif not self.next_undecided_here():
            self._next_document()

    def go_on(self) -> bool:
        """After a decision, go to the next mention to decide. Without a filter or list only within the document, which
        should be marked as done first; False at its end."""
        if not self._work and not self._matching:
            return self.next_undecided_here()
        if not (self._next_work() if self._work else self.next_undecided_here() or self._next_document()):
            self.mention_changed.emit()  # it stays, and is decided
        return True

    def next_undecided_here(self) -> bool:
        """Go to another mention to decide in this document, wrapping around; False if there is none."""
        if self.opened is None:
            return False
        found = self._beside(1) if self._matching.reviewing else self._undecided_after(self._mention_id)
        if found is None or found == self._mention_id:
            return False
        self.select(found)
        return True

    # --- other documents ---

    def _next_document(self) -> bool:
        """Go to the first mention to decide after this document."""
        none_left = tr(NONE_MATCH) if self._matching else self._none_after()
        return self._open_sound(_following(self._matching.next_to_decide, self._current), none_left)

    def _none_after(self) -> str:
        left = self._queue.counts().undecided
        return ntr(LEFT_BEFORE, LEFT_BEFORE_MANY, left) if left else tr(ALL_DECIDED)

    def _step_out(self, direction: int) -> None:
        at = 0 if direction > 0 else -1
        places = ((document_id, self._matching.ids(document_id)[at]) for document_id, _ in self._documents(direction))
        self._open_sound(places, tr(NO_MORE_DOWN) if direction > 0 else tr(NO_MORE_UP))

    def _step_work(self, direction: int) -> None:
        places = (row.place for row in self._work.along(self._mention_id, direction))
        if not self._open_sound(places, "" if direction > 0 else tr(FIRST_OF_WORK)) and direction > 0:
            self._want_work()

    def _next_work(self) -> bool:
        """Go to the next undecided mention of the list; at its end a new list is requested."""
        rows = self._work.along(self._mention_id, 1)
        return self._open_sound(row.place for row in rows if self._matching.waits(row.mention_id)) or self._want_work()

    def _want_work(self) -> bool:
        self._asked_for_work = True
        before = self._mention_id
        self.work_wanted.emit()
        return self._mention_id != before

    def _first_work(self) -> None:
        """Go to the first of a new list; the current mention was just skipped."""
        places = (row.place for row in self._work.rows if row.mention_id != self._mention_id)
        self._open_sound(places, tr(NONE_MATCH) if self.where.facets else tr(NONE_LEFT))

    def ahead(self) -> list[MentionView]:
        """The mentions that the next key is likely to show: the next to decide, and the next and previous in the text;
        each as it will be shown."""
        opened = self.opened
        if opened is None or self._work:
            return []
        undecided = opened.next_undecided(self._mention_id, among=self._matching.mentions)
        wanted = dict.fromkeys((undecided, self._beside(1), self._beside(-1)))
        views = (opened.view(one) for one in wanted if one not in (None, self._mention_id))
        return [self._presented(view, view.suggestion, self.limit) for view in views if view is not None]

    def document_ahead(self) -> OpenDocument | None:
        """The document that is likely to open soon, if nothing else is left to decide in this one, or if it was just
        opened."""
        opened = self.opened
        if opened is None or self._work or self._matching:
            return None
        left = opened.next_undecided(self._mention_id)
        if left not in (None, self._mention_id) and self._mention_id != self._entry():
            return None
        found = self._matching.neighbour(opened.document.id, 1)
        with suppress(DamagedTextError):  # opening it says so
            return self._queue.open(found) if found is not None else None
        return None

    def entry_of(self, opened: OpenDocument) -> MentionView | None:
        """The mention that another document is opened at, as it will be shown."""
        first = next(iter(opened.mentions), None)
        view = opened.view(opened.next_undecided() or (first.mention.id if first is not None else 0))
        return self._presented(view, view.suggestion, self.limit) if view is not None else None

    # --- inside ---

    def _undecided_after(self, mention_id: int | None) -> int | None:
        return self.opened.next_undecided(mention_id, among=self._matching.mentions) if self.opened else None

    def _enter_filter(self) -> None:
        if self.included_here:
            found = None if self._matching.reviewing else self._undecided_after(self._mention_id)
            self.select(found or self._beside(1) or self._beside(-1))
        elif not self._open_sound(_following(self._matching.next_to_decide, None)):
            self._open_sound(_following(lambda one: _start(self._matching.neighbour(one, 1)), None))

    @property
    def _current(self) -> int | None:
        return self.opened.document.id if self.opened is not None else None

    def _open_sound(self, places: Iterable[Place], none: str = "") -> bool:
        """Open the first place whose document is not damaged; damage is said. Without any place `none` is said."""
        damaged: set[int] = set()
        for document_id, mention_id in places:
            try:
                if document_id not in damaged:
                    self.open(document_id, mention_id)
                    return True
            except DamagedTextError as error:
                self.said.emit(str(error))
                damaged.add(document_id)
        if none and not damaged:
            self.said.emit(none)
        return False

    def _documents(self, direction: int) -> Iterator[Place]:
        """The documents after or before the open one, nearest first."""
        return _following(lambda one: _start(self._matching.neighbour(one, direction)), self._current)

    def _presented(self, view: MentionView, held: Suggestion | None, limit: int) -> MentionView:
        shown = held and presented(held, limit=limit, order=self.candidate_order)
        return replace(view, suggestion=shown, stale=view.stale or self.newer_waits)

    def _ids(self) -> list[int]:
        return [view.mention.id for view in self.opened.mentions] if self.opened is not None else []

    def _match(self) -> None:
        """Find the matching mentions of the open document."""
        self._matching.look(self.opened.document.id if self.opened is not None else None)

    def _beside(self, direction: int) -> int | None:
        """The nearest matching mention after or before the current one."""
        ids = self._ids()
        if self._mention_id in ids:
            at = ids.index(self._mention_id)
            rest = ids[at + 1 :] if direction > 0 else ids[:at][::-1]
        else:
            rest = ids if direction > 0 else ids[::-1]
        return next((one for one in rest if self._matching.holds(one)), None)

    def _entry(self) -> int | None:
        assert self.opened is not None
        ids = [one for one in self._ids() if self._matching.holds(one)]
        undecided = self.opened.next_undecided(among=self._matching.mentions)
        return undecided or next(iter(ids), None) or next(iter(self._ids()), None)

    def _show(self, *, swap: bool) -> None:
        view = self.opened.view(self._mention_id) if self.opened is not None and self._mention_id is not None else None
        if view is None:
            self.mention, self._held, self.newer_waits = None, None, False
            return
        if view.mention.id in self._revealed:
            view = view.reveal()
        if swap or self._held is None:
            self._held = view.suggestion
        self.newer_waits = view.suggestion is not None and view.suggestion != self._held
        if swap:
            self.unfolded = False
        limit = len(self._held.candidates) if self._held is not None and self.unfolded else self.limit
        self.mention = self._presented(view, self._held, limit)


def _start(document_id: int | None) -> Place | None:
    return (document_id, None) if document_id is not None else None


def _following(step: Callable[[int | None], Place | None], document_id: int | None) -> Iterator[Place]:
    """What `step` finds after a document, then after that, and so on; it may wrap around."""
    given: set[int] = set()
    while (found := step(document_id)) is not None and found[0] not in given:
        yield found
        document_id = found[0]
        given.add(document_id)
