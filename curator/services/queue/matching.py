"""Mentions that match the facets: in the open document, and the next ones in other documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from curator.domain.facets import UNDECIDED, Facet
from curator.services.ports.queue import QueueFilter
from curator.services.queue.queue import Direction, QueueService
from curator.services.queue.seat import DocumentList, Lists


class Matching:
    """`mentions` are those of the last checked document; None while no facet is set, when everything matches.

    `documents` have matches, in queue order, at the time of counting: one whose last match was decided since may be
    among them, and is skipped.
    """

    def __init__(self, queue: QueueService) -> None:
        """`queue` is the project's, which evaluates the facets."""
        self._queue = queue
        self._lists: Lists = queue.under
        self.where = QueueFilter()
        self.list: DocumentList = self._lists(self.where)
        self.mentions: frozenset[int] | None = None
        self._outside = False  # the filter excludes the last checked document
        self._documents: Sequence[int] | None = None

    def __bool__(self) -> bool:
        return self.mentions is not None

    def use(self, lists: Lists) -> None:
        """Use another list of documents: a round's, or the project's with additional mentions."""
        self._lists = lists
        self.list = lists(self.where)

    def set_filter(self, where: QueueFilter, documents: Sequence[int] | None) -> None:
        self.where, self._documents = where, documents
        self.list = self._lists(where)

    def look(self, document_id: int | None) -> None:
        """Find the document's mentions that currently match the facets, and whether the filter excludes it."""
        narrowed = document_id is not None and self.where != QueueFilter()
        ids = self.ids(document_id) if document_id is not None and narrowed else []
        self.mentions = frozenset(ids) if self.where.facets else None
        self._outside = narrowed and not ids

    @property
    def included(self) -> frozenset[int] | None:
        """The mentions of the last checked document that the filter includes; None if it includes all."""
        return frozenset() if self._outside else self.mentions

    def holds(self, mention_id: int) -> bool:
        return self.mentions is None or mention_id in self.mentions

    def ids(self, document_id: int) -> list[int]:
        """The matching mentions of any document, in text order."""
        return self._queue.mention_ids(self.where, document_id)

    def waits(self, mention_id: int) -> bool:
        """Whether the mention is undecided and matches the filter."""
        return self._queue.waits(mention_id, self.where)

    @property
    def reviewing(self) -> bool:
        """Whether the facets match only decided mentions, which are then reviewed."""
        states = self.where.facets.values(Facet.STATE)
        return bool(states) and UNDECIDED not in states

    def next_to_decide(self, document_id: int | None) -> tuple[int, int] | None:
        """(document, mention) of the first mention to decide after a document."""
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
        """The next or previous document; with facets, one that still has a match."""
        if self._documents is None or not self.where.facets:
            return self.list.neighbour(document_id, Direction(direction))
        place = document_id or 0
        if direction > 0:
            candidates = self._documents[bisect_right(self._documents, place) :]
        else:
            candidates = self._documents[: bisect_left(self._documents, place)][::-1]
        return next((one for one in candidates if self.ids(one)), None)
