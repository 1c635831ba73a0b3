"""A seat: the documents, decisions and suggestions that one curator works with.

The window and its keys act on a `Seat` and on nothing behind it. The project, a round and an adjudication each hand in
their own; what one of them cannot do is not part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from curator.domain.attributes import Scheme
from curator.domain.decisions import Change, Decision, Shown, Verdict
from curator.domain.documents import Span
from curator.domain.wording import UserError
from curator.services.ports import ProjectCounts, QueueFilter, QueueRow
from curator.services.queue.queue import Direction, OpenDocument


class Queue(Protocol):
    """Opens the documents of the project or of a round, and says how far they are."""

    def open(self, document_id: int) -> OpenDocument:
        """Raises UserError when there is no such document."""
        ...

    def row(self, document_id: int) -> QueueRow: ...

    def counts(self) -> ProjectCounts: ...


class DocumentList(Protocol):
    """Documents in the order in which they are gone through: those that a filter shows, or all of a round."""

    def rows(self, *, offset: int = ..., limit: int = ...) -> Sequence[QueueRow]: ...

    def rows_of(self, document_ids: Sequence[int]) -> Sequence[QueueRow]:
        """In the order given; ids without a document are left out."""
        ...

    def count(self) -> int: ...

    def neighbour(self, document_id: int | None, direction: Direction) -> int | None:
        """The next or previous document; None at the end of the list. Without a document, the first or last."""
        ...

    def next_undecided(self, document_id: int | None) -> tuple[int, int] | None:
        """(document id, mention id) of the first undecided mention in the documents behind `document_id`."""
        ...


Lists = Callable[[QueueFilter], DocumentList]
"""The list of documents under a filter."""


class Curation(Protocol):
    """Decisions, new mentions and document states, with undo."""

    @property
    def curator(self) -> str: ...

    def decide_many(
        self, mention_ids: Sequence[int], verdict: Verdict, *, shown: Sequence[Shown | None] = ()
    ) -> Change:
        """One verdict for one or several mentions as one step. `shown` is parallel to the ids, or empty.

        Raises UserError where a decision cannot be made; then nothing was changed.
        """
        ...

    def add_mention(self, document_id: int, spans: Sequence[Span], mention_type: str) -> Change:
        """`change.mention_ids` holds the new id. Raises UserError where the mention cannot be made."""
        ...

    def finish(self, document_id: int) -> Change:
        """The document is done. Raises UserError where it is not."""
        ...

    def resume(self, document_id: int) -> Change:
        """A document that was done is in progress again."""
        ...

    def undo(self) -> Change | None:
        """None when there is nothing to undo."""
        ...

    def redo(self) -> Change | None: ...

    def can_undo(self) -> bool: ...

    def can_redo(self) -> bool: ...

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        """Current decisions; undecided mentions are absent."""
        ...

    def history(self, mention_id: int) -> list[Decision]:
        """Every decision of the mention, oldest first, cleared ones included."""
        ...


class MentionEditing(Protocol):
    """Changes of mentions that are there; each raises UserError where it cannot be."""

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
        """Give mentions a value as one step; None clears it. Raises UserError where that cannot be."""
        ...


class Linking(Protocol):
    """Links documents when they are opened."""

    def request(self, document_ids: Sequence[int]) -> None:
        """Returns at once; the suggestions arrive as a `Change`."""
        ...


@dataclass(frozen=True, slots=True)
class Seat:
    """`editing` is None where mentions that are there cannot be changed; `fixed` says why. `settling`: what others
    decided is decided again without a question. `attributes` is None where they cannot be set."""

    queue: Queue
    lists: Lists
    curation: Curation
    suggestions: Linking
    editing: MentionEditing | None
    fixed: str = ""
    settling: bool = False
    attributes: Attributing | None = None

    def edit(self, action: Callable[[MentionEditing], Change]) -> Change:
        """Raises UserError where mentions cannot be changed here, and as the action does."""
        if self.editing is None:
            raise UserError(self.fixed)
        return action(self.editing)
