"""Mentions that match the facets: in the open document, and the next ones in other documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from curator.domain.facets import UNDECIDED, Facet
from curator.services.ports import QueueFilter
from curator.services.queue.queue import Direction, QueueService
from curator.services.queue.seat import DocumentList, Lists


class Matching:
    """`mentions` of the document that was looked at last; None while no facet is set, when everything is held.

    `documents` hold what matches, in queue order, as they were counted: one whose last match was decided since may be
    among them, and is passed over.
    """

    def __init__(self, queue: QueueService) -> None:
        """`queue` is the project's, which knows what the facets hold."""
        self._queue = queue
        self._lists: Lists = queue.under
        self.where = QueueFilter()
        self.list: DocumentList = self._lists(self.where)
        self.mentions: frozenset[int] | None = None
        self._documents: Sequence[int] | None = None

    def __bool__(self) -> bool:
        return self.mentions is not None

    def use(self, lists: Lists) -> None:
        """Go through other lists of documents: those of a round, or the project's with more in them."""
        self._lists = lists
        self.list = lists(self.where)

    def set_filter(self, where: QueueFilter, documents: Sequence[int] | None) -> None:
        self.where, self._documents = where, documents
        self.list = self._lists(where)

    def look(self, document_id: int | None) -> None:
        """Ask which mentions of a document the facets hold now."""
        if not self.where.facets:
            self.mentions = None
        else:
            self.mentions = frozenset(self.ids(document_id) if document_id is not None else ())

    def holds(self, mention_id: int) -> bool:
        return self.mentions is None or mention_id in self.mentions

    def ids(self, document_id: int) -> list[int]:
        """What the facets hold of any document, in text order."""
        return self._queue.mention_ids(self.where, document_id)

    def waits(self, mention_id: int) -> bool:
        """Whether the mention is undecided and the filter shows it."""
        return self._queue.waits(mention_id, self.where)

    @property
    def reviewing(self) -> bool:
        """Facets that hold no undecided mentions: what they hold is gone through to look at it again."""
        states = self.where.facets.values(Facet.STATE)
        return bool(states) and UNDECIDED not in states

    def next_to_decide(self, document_id: int | None) -> tuple[int, int] | None:
        """(document, mention) of the first to decide behind a document."""
        if self.mentions is None or self._documents is None:
            return self.list.next_undecided(document_id)
        for one in self._documents[bisect_right(self._documents, document_id or 0) :]:
            ids = self.ids(one)
            if ids and self.reviewing:
                return one, ids[0]
            waiting = next((mention for mention in ids if self.waits(mention)), None)
            if waiting is not None:
                return one, waiting
        return None

    def neighbour(self, document_id: int | None, direction: int) -> int | None:
        """The next or previous document, one that still holds a match where facets are set."""
        if self._documents is None or not self.where.facets:
            return self.list.neighbour(document_id, Direction(direction))
        place = document_id or 0
        if direction > 0:
            candidates = self._documents[bisect_right(self._documents, place) :]
        else:
            candidates = self._documents[: bisect_left(self._documents, place)][::-1]
        return next((one for one in candidates if self.ids(one)), None)
