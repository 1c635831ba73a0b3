"""The queue of documents and one opened document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import chain, islice

from curator.domain.attributes import Given
from curator.domain.audit import Comment
from curator.domain.decisions import Decision, Outcome
from curator.domain.documents import Document, DocumentState, Mention
from curator.domain.suggestions import Stamp, Suggestion
from curator.domain.wording import UserError
from curator.services.core.context import Context, Service
from curator.services.core.keys import active_bundle
from curator.services.curating.attributes import given_of
from curator.services.ports.documents import ProjectCounts, QueueRow
from curator.services.ports.queue import QueueFilter
from curator.tracing import span

PAGE = 500


class Direction(IntEnum):
    NEXT = 1
    PREVIOUS = -1


@dataclass(frozen=True, slots=True)
class MentionView:
    """A mention for display. `stale`: the suggestion is from another bundle than the active one, or for another
    revision of the document. `held_out`: undecided and to decide without suggestions, which are then in `kept_back`;
    `revealed`: it was held out until the curator asked for the suggestions."""

    mention: Mention
    decision: Decision | None
    suggestion: Suggestion | None
    stale: bool
    comments: tuple[Comment, ...] = ()
    held_out: bool = False
    kept_back: Suggestion | None = None
    revealed: bool = False
    attributes: Given = ()

    def reveal(self) -> MentionView:
        """The view with the hidden suggestion."""
        if not self.held_out:
            return self
        return replace(self, suggestion=self.kept_back, held_out=False, kept_back=None, revealed=True)

    def with_decision(self, decision: Decision | None) -> MentionView:
        """The view after a new decision, which reveals the hidden suggestion."""
        if decision is None or not self.held_out:
            return replace(self, decision=decision)
        return replace(self, decision=decision, suggestion=self.kept_back, held_out=False, kept_back=None)


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document with its mentions in text order; deleted ones are left out."""

    document: Document
    mentions: tuple[MentionView, ...]
    comments: tuple[Comment, ...] = ()  # on the document itself
    flagged: bool = False

    def view(self, mention_id: int) -> MentionView | None:
        return next((view for view in self.mentions if view.mention.id == mention_id), None)

    def linked(self) -> frozenset[str]:
        """The entities that its mentions are linked to: a search for another entity prefers these."""
        decisions = (view.decision for view in self.mentions if view.decision is not None)
        return frozenset(one for decision in decisions for one in decision.verdict.entity_ids)

    @property
    def skipped(self) -> int:
        """The number of skipped mentions, which are neither decided nor undecided."""
        decisions = (view.decision for view in self.mentions if view.decision is not None)
        return sum(one.verdict.outcome is Outcome.SKIPPED for one in decisions)

    @property
    def complete(self) -> bool:
        """Whether every mention is decided, none skipped, and the document is not marked as done yet."""
        decided = all(view.decision is not None for view in self.mentions) and not self.skipped
        return decided and bool(self.mentions) and self.document.state is not DocumentState.DONE

    def next_undecided(self, after: int | None = None, *, among: Collection[int] | None = None) -> int | None:
        """The next mention id without a decision after mention `after` (None: from the start), wrapping around once;
        only in `among` if given."""
        views = self.mentions
        start = next((n for n, view in enumerate(views, start=1) if view.mention.id == after), 0)
        rest = chain(islice(views, start, None), islice(views, start))
        undecided = (view.mention.id for view in rest if view.decision is None)
        return next((one for one in undecided if among is None or one in among), None)


class QueueService(Service):
    """Read-only views of the queue; a page costs one query."""

    def __init__(
        self,
        context: Context,
        *,
        held_out: Callable[[Sequence[int]], Collection[int]] = lambda _: (),
        seen: Callable[[OpenDocument], OpenDocument] = lambda opened: opened,
    ) -> None:
        """`held_out` returns the mentions among some that are decided without suggestions, `seen` the document shown to
        the context.curator."""
        super().__init__(context)
        self._held_out = held_out
        self._seen = seen
        self._last: tuple[int, QueueRow] | None = None  # the row read last, and `written` at that time
        self._read: tuple[int, OpenDocument] | None = None  # the document, likewise
        self._beside: tuple[tuple[int, int | None, QueueFilter, Direction], int | None] | None = None

    def rows(self, where: QueueFilter, *, offset: int = 0, limit: int = PAGE) -> list[QueueRow]:
        with self._store.read() as unit:
            return unit.documents.rows(where, offset=offset, limit=limit)

    def rows_of(self, document_ids: Sequence[int]) -> list[QueueRow]:
        """Rows in the given order; ids without a document are left out."""
        if len(document_ids) == 1 and (row := self._known(document_ids[0])) is not None:
            return [row]
        written = self._store.written  # before reading, so that later writes are read again
        with self._store.read() as unit:
            rows = unit.documents.rows_of(document_ids)
        self._last = (written, rows[0]) if len(rows) == 1 else self._last
        return rows

    def row(self, document_id: int) -> QueueRow:
        """The document's row. Raises UserError if there is no such document."""
        if (row := self._known(document_id)) is not None:
            return row
        with self._store.read() as unit:
            return unit.documents.row(document_id)

    def _known(self, document_id: int) -> QueueRow | None:
        """The cached row, since queue and header need the same row after a decision; None if another process may
        write."""
        if self._last is None or self._store.read_only:
            return None
        written, row = self._last
        return row if written == self._store.written and row.document_id == document_id else None

    def count(self, where: QueueFilter) -> int:
        with self._store.read() as unit:
            return unit.documents.count(where)

    def mention_ids(self, where: QueueFilter, document_id: int | None = None) -> list[int]:
        """The mentions that match the filter, decided or not, in queue and text order; of one document if given."""
        with self._store.read() as unit:
            return unit.queue.mentions(where, document_id)

    def waits(self, mention_id: int, where: QueueFilter) -> bool:
        """Whether the mention is undecided and matches the filter."""
        with self._store.read() as unit:
            return not unit.decisions.current([mention_id]) and unit.queue.matches(mention_id, where)

    def outcomes(self, mention_ids: Sequence[int]) -> dict[int, Outcome | None]:
        """What the mentions are decided as; None for undecided ones."""
        with self._store.read() as unit:
            current = unit.decisions.current(mention_ids)
        return {one: current[one].verdict.outcome if one in current else None for one in mention_ids}

    def counts(self) -> ProjectCounts:
        with self._store.read() as unit:
            return unit.documents.counts()

    def mention_types(self) -> dict[str, int]:
        """Types of the project's mentions with their numbers, for the type picker."""
        with self._store.read() as unit:
            return unit.documents.mention_types()

    def open(self, document_id: int) -> OpenDocument:
        """The document. Raises UserError if there is no such document."""
        found = self._stored(document_id)
        return self._seen(replace(found, mentions=self._keep_back(found.mentions)))

    def _stored(self, document_id: int) -> OpenDocument:
        """The stored document. A document opened in advance is used for the next key, until something is written."""
        written, kept = self._store.written, self._read
        if kept is not None and kept[0] == written and kept[1].document.id == document_id and not self._store.read_only:
            return kept[1]
        if self._store.team is not None:
            self._store.team.opened(document_id)
        again = kept is not None and kept[1].document.id == document_id
        found = self._read_document(document_id, compared=not again)
        self._read = written, found
        return found

    def _read_document(self, document_id: int, *, compared: bool) -> OpenDocument:
        with span("read document"), self._store.read() as unit:
            document = unit.documents.get(document_id, compared=compared)
            stamp = Stamp(active_bundle(unit.meta), document.revision)
            decisions = unit.decisions.current_of_document(document_id)
            suggestions = unit.suggestions.of_document(document_id)
            mentions = unit.mentions.of_document(document_id)
            comments = unit.comments.of_document(document_id)
            flagged = unit.documents.document_flagged(document_id)
            given = given_of(unit, [mention.id for mention in mentions])
        views = tuple(
            _view(mention, decisions.get(mention.id), suggestions.get(mention.id), stamp, given.get(mention.id, ()))
            for mention in mentions
        )
        own = tuple(one for one in comments if one.mention_id is None)
        return OpenDocument(document, with_comments(views, comments), own, flagged)

    def _keep_back(self, views: tuple[MentionView, ...]) -> tuple[MentionView, ...]:
        held = set(self._held_out([view.mention.id for view in views if view.decision is None]))
        if not held:
            return views
        return tuple(
            replace(view, suggestion=None, stale=False, held_out=True, kept_back=view.suggestion)
            if view.mention.id in held
            else view
            for view in views
        )

    def document_of(self, mention_id: int) -> int | None:
        """The document of a mention; None if there is no such mention."""
        with self._store.read() as unit:
            try:
                return unit.mentions.get(mention_id).document_id
            except UserError:
                return None

    def ids(self, where: QueueFilter) -> list[int]:
        """Document ids of the queue in order."""
        with self._store.read() as unit:
            total = unit.documents.count(where)
            pages = [unit.documents.rows(where, offset=at, limit=PAGE) for at in range(0, total, PAGE)]
        return [row.document_id for page in pages for row in page]

    def neighbour(self, document_id: int | None, where: QueueFilter, direction: Direction) -> int | None:
        """The next or previous document of the filtered queue; None at its end.

        A document that no longer matches (because it was just marked as done) keeps its position.
        """
        asked = self._store.written, document_id, where, direction
        if self._beside is not None and self._beside[0] == asked and not self._store.read_only:
            return self._beside[1]
        with self._store.read() as unit:
            found = unit.documents.beside(document_id, where, forward=direction is Direction.NEXT)
        self._beside = asked, found
        return found

    def next_undecided(self, document_id: int | None, where: QueueFilter) -> tuple[int, int] | None:
        """(document id, mention id) of the first undecided mention in the documents after `document_id`."""
        with self._store.read() as unit:
            found = unit.documents.beside(document_id, where, forward=True, undecided=True)
            if found is None:
                return None
            decided = unit.decisions.current_of_document(found)
            return found, next(one for one in unit.queue.mentions(where, found) if one not in decided)

    def under(self, where: QueueFilter) -> FilteredList:
        """The documents that match the filter, as a list for navigation."""
        return FilteredList(self, where)


@dataclass(frozen=True, slots=True)
class FilteredList:
    """See `seat.DocumentList`."""

    queue: QueueService
    where: QueueFilter

    def rows(self, *, offset: int = 0, limit: int = PAGE) -> list[QueueRow]:
        return self.queue.rows(self.where, offset=offset, limit=limit)

    def rows_of(self, document_ids: Sequence[int]) -> list[QueueRow]:
        return self.queue.rows_of(document_ids)

    def count(self) -> int:
        return self.queue.count(self.where)

    def neighbour(self, document_id: int | None, direction: Direction) -> int | None:
        return self.queue.neighbour(document_id, self.where, direction)

    def next_undecided(self, document_id: int | None) -> tuple[int, int] | None:
        return self.queue.next_undecided(document_id, self.where)


def with_comments(views: tuple[MentionView, ...], comments: Sequence[Comment]) -> tuple[MentionView, ...]:
    """The views with those of the comments that are on their mentions."""
    if not comments:
        return views
    by_mention: dict[int | None, list[Comment]] = {}
    for one in comments:
        by_mention.setdefault(one.mention_id, []).append(one)
    return tuple(replace(view, comments=tuple(by_mention.get(view.mention.id, ()))) for view in views)


def _view(
    mention: Mention, decision: Decision | None, suggestion: Suggestion | None, stamp: Stamp, attributes: Given
) -> MentionView:
    stale = suggestion is not None and suggestion.stamp != stamp
    return MentionView(mention, decision, suggestion, stale, attributes=attributes)
