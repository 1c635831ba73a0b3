"""Where the curator is: the open document, the current mention, and which of its suggestions is on show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from curator.domain.decisions import Decision
from curator.domain.suggestions import Suggestion
from curator.services.ports import QueueFilter
from curator.services.queue import Direction, MentionView, OpenDocument, QueueService
from curator.services.suggestions import SuggestionService

NO_MORE_UP = "This is the first document of the queue."
NO_MORE_DOWN = "This is the last document of the queue."
ALL_DECIDED = "No undecided mention is left in the documents behind this one."


class Navigator(QObject):
    """Opens documents and mentions. Suggestions that arrive later wait until the curator moves.

    `mention` is what the panel shows: its suggestion is the one that was there when the curator came, until the next
    action, so that candidates never change under the reader's eyes. What a decision records as shown is taken from it.
    """

    document_changed = Signal()  # another document, or none
    content_changed = Signal()  # the same document; mentions, decisions or suggestions differ
    mention_changed = Signal()  # another mention, or something else is shown of it
    said = Signal(str)

    def __init__(self, queue: QueueService, suggestions: SuggestionService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._suggestions = suggestions
        self._held: Suggestion | None = None
        self._mention_id: int | None = None
        self.where = QueueFilter()
        self.limit = 10  # candidates shown
        self.opened: OpenDocument | None = None
        self.mention: MentionView | None = None
        self.newer_waits = False

    def set_limit(self, candidates: int) -> None:
        """How many candidates are shown."""
        if candidates != self.limit:
            self.limit = candidates
            self._show(swap=False)
            self.mention_changed.emit()

    # --- documents ---

    def open(self, document_id: int, mention_id: int | None = None) -> None:
        """Open a document at a mention: the given one, else the first undecided, else the first."""
        if self.opened is None or self.opened.document.id != document_id:
            self.opened = self._queue.open(document_id)
            self._mention_id = None
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
        """The first document with something undecided, else the first of the queue."""
        found = self._queue.next_undecided(None, self.where)
        if found is not None:
            self.open(*found)
            return
        first = self._queue.neighbour(None, self.where, Direction.NEXT)
        if first is not None:
            self.open(first)

    def step_document(self, direction: int) -> bool:
        """The next or previous document of the queue; False at its end."""
        current = self.opened.document.id if self.opened is not None else None
        found = self._queue.neighbour(current, self.where, Direction(direction))
        if found is None:
            self.said.emit(NO_MORE_DOWN if direction > 0 else NO_MORE_UP)
            return False
        self.open(found)
        return True

    def reload(self) -> None:
        """Read the open document anew after a change; what the panel shows of the suggestion stays."""
        if self.opened is not None:
            self.opened = self._queue.open(self.opened.document.id)
            if self._mention_id is not None and self.opened.view(self._mention_id) is None:
                self._mention_id = self._held = None
            self._show(swap=False)
            self.content_changed.emit()
            self.mention_changed.emit()

    def patch(self, decisions: Mapping[int, Decision | None]) -> None:
        """New current decisions of mentions of the open document, without reading everything anew: a decision in a
        document with thousands of mentions must not wait for their suggestions."""
        if self.opened is None:
            return
        views = (
            replace(view, decision=decisions[view.mention.id]) if view.mention.id in decisions else view
            for view in self.opened.mentions
        )
        self.opened = replace(self.opened, mentions=tuple(views))
        self._show(swap=False)
        self.content_changed.emit()

    # --- mentions ---

    def select(self, mention_id: int | None) -> None:
        """Go to a mention of the open document; its newest suggestion is shown."""
        self._mention_id = mention_id
        self._show(swap=True)
        self.mention_changed.emit()

    def step(self, direction: int) -> None:
        """The next or previous mention in the text; stays at the ends."""
        ids = self._ids()
        if not ids:
            return
        if self._mention_id not in ids:
            self.select(ids[0] if direction > 0 else ids[-1])
            return
        at = ids.index(self._mention_id) + direction
        if 0 <= at < len(ids):
            self.select(ids[at])

    def next_undecided(self) -> None:
        """The next undecided mention, here or in the documents behind."""
        if self.next_undecided_here():
            return
        current = self.opened.document.id if self.opened is not None else None
        found = self._queue.next_undecided(current, self.where)
        if found is None:
            self.said.emit(ALL_DECIDED)
        else:
            self.open(*found)

    def next_undecided_here(self) -> bool:
        """Another undecided mention of this document, going round once; False when there is none."""
        found = self.opened.next_undecided(self._mention_id) if self.opened is not None else None
        if found is None or found == self._mention_id:
            return False
        self.select(found)
        return True

    # --- inside ---

    def _ids(self) -> list[int]:
        return [view.mention.id for view in self.opened.mentions] if self.opened is not None else []

    def _entry(self) -> int | None:
        ids = self._ids()
        assert self.opened is not None
        return self.opened.next_undecided() or (ids[0] if ids else None)

    def _show(self, *, swap: bool) -> None:
        view = self.opened.view(self._mention_id) if self.opened is not None and self._mention_id is not None else None
        if view is None:
            self.mention, self._held, self.newer_waits = None, None, False
            return
        if swap or self._held is None:
            self._held = view.suggestion
        self.newer_waits = view.suggestion is not None and view.suggestion != self._held
        shown = self._held and replace(self._held, candidates=self._held.candidates[: self.limit])
        self.mention = replace(view, suggestion=shown, stale=view.stale or self.newer_waits)
