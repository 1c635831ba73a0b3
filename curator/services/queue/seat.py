"""A seat: the documents, decisions and suggestions that one curator works with.

The window and its keys act only on a `Seat`. The project, a round and an adjudication each have their own; a seat lacks
the actions that are impossible in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from curator.domain.attributes import Scheme
from curator.domain.decisions import Change, Decision, Shown, Verdict
from curator.domain.documents import Span
from curator.domain.wording import UserError
from curator.services.ports.documents import ProjectCounts, QueueRow
from curator.services.ports.queue import QueueFilter
from curator.services.queue.queue import Direction, OpenDocument


class Queue(Protocol):
    """Opens the documents of the project or of a round, and reports progress."""

    def open(self, document_id: int) -> OpenDocument:
        """The document. Raises UserError if there is no such document."""
        ...

    def row(self, document_id: int) -> QueueRow: ...

    def counts(self) -> ProjectCounts: ...


class DocumentList(Protocol):
    """Documents in navigation order: those that match a filter, or all of a round."""

    def rows(self, *, offset: int = ..., limit: int = ...) -> Sequence[QueueRow]: ...

    def rows_of(self, document_ids: Sequence[int]) -> Sequence[QueueRow]:
        """Rows in the given order; ids without a document are left out."""
        ...

    def count(self) -> int: ...

    def neighbour(self, document_id: int | None, direction: Direction) -> int | None:
        """The next or previous document; None at the end of the list. Without a document, the first or last."""
        ...

    def next_undecided(self, document_id: int | None) -> tuple[int, int] | None:
        """(document id, mention id) of the first undecided mention in the documents after `document_id`."""
        ...


Lists = Callable[[QueueFilter], DocumentList]
"""Returns the list of documents for a filter."""


class Curation(Protocol):
    """Decisions, new mentions and document states, with undo."""

    @property
    def curator(self) -> str: ...

    def decide_many(
        self, mention_ids: Sequence[int], verdict: Verdict, *, shown: Sequence[Shown | None] = ()
    ) -> Change:
        """One verdict for one or several mentions as one step. `shown` is parallel to the ids, or empty.

        Raises UserError if a decision cannot be made; then nothing is changed.
        """
        ...

    def add_mention(self, document_id: int, spans: Sequence[Span], mention_type: str) -> Change:
        """`change.mention_ids` holds the new id. Raises UserError if the mention cannot be made."""
        ...

    def finish(self, document_id: int) -> Change:
        """Mark the document as done. Raises UserError if this is not possible."""
        ...

    def resume(self, document_id: int) -> Change:
        """Put a done document back in progress."""
        ...

    def undo(self) -> Change | None:
        """Undo; None if there is nothing to undo."""
        ...

    def redo(self) -> Change | None: ...

    def can_undo(self) -> bool: ...

    def can_redo(self) -> bool: ...

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        """Current decisions; undecided mentions are absent."""
        ...

    def history(self, mention_id: int) -> list[Decision]:
        """Every decision of the mention, oldest first, including cleared ones."""
        ...


class MentionEditing(Protocol):
    """Changes of existing mentions; each raises UserError if it is impossible."""

    def delete_mention(self, mention_id: int) -> Change: ...

    def change_mention(self, mention_id: int, spans: Sequence[Span]) -> Change: ...

    def retype_mention(self, mention_id: int, mention_type: str) -> Change: ...

    def join_mentions(self, mention_id: int, other_id: int) -> Change: ...


class Attributing(Protocol):
    """Attributes of mentions."""

    def scheme(self) -> Scheme:
        """The project's attributes."""
        ...

    def set(self, mention_ids: Sequence[int], attribute_id: int, value_id: int | None) -> Change:
        """Give mentions a value as one step; None clears it. Raises UserError if this is impossible."""
        ...


class Linking(Protocol):
    """Links documents when they are opened."""

    def request(self, document_ids: Sequence[int]) -> None:
        """Returns at once; the suggestions arrive as a `Change`."""
        ...


@dataclass(frozen=True, slots=True)
class Seat:
    """`editing` is None if existing mentions cannot be changed; `fixed` is the reason. `settling`: others' decisions
    are replaced without a question. `attributes` is None if they cannot be set."""

    queue: Queue
    lists: Lists
    curation: Curation
    suggestions: Linking
    editing: MentionEditing | None
    fixed: str = ""
    settling: bool = False
    attributes: Attributing | None = None

    def edit(self, action: Callable[[MentionEditing], Change]) -> Change:
        """Perform an edit. Raises UserError if mentions cannot be changed here, and like the action."""
        if self.editing is None:
            raise UserError(self.fixed)
        return action(self.editing)
