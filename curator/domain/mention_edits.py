"""What became of a mention's place and type: every change is kept beside its decisions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from curator.domain.documents import Mention, Span


@dataclass(frozen=True, slots=True)
class MentionShape:
    """Where a mention stands and of which type it is: what a curator can change of it."""

    spans: tuple[Span, ...]
    type: str

    @classmethod
    def of(cls, mention: Mention) -> MentionShape:
        return cls(mention.spans, mention.type)


@dataclass(frozen=True, slots=True)
class MentionEdit:
    """One appended change of a mention; undo and redo append their own. `curator` is who made it."""

    id: int
    mention_id: int
    before: MentionShape
    after: MentionShape
    curator: str
    at: datetime
    operation_id: int
