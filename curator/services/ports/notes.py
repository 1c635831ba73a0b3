"""Port of what curators note beside their decisions: flags and comments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from curator.domain.comments import Comment


class NoteRepository(Protocol):
    def flag_mentions(self, mention_ids: Sequence[int], flagged: bool) -> None: ...

    def flag_documents(self, document_ids: Sequence[int], flagged: bool) -> None: ...

    def document_flagged(self, document_id: int) -> bool: ...

    def add_comment(
        self, document_id: int, mention_id: int | None, *, author: str, at: datetime, text: str
    ) -> Comment: ...

    def get_comment(self, comment_id: int) -> Comment: ...

    def set_deleted(self, comment_ids: Sequence[int], deleted: bool) -> None: ...

    def comments(self, document_id: int) -> list[Comment]:
        """Of the document and its mentions, oldest first; deleted ones are left out."""
        ...
