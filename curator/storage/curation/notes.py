"""Comments on documents and mentions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from curator.domain.audit import Comment
from curator.domain.wording import UserError, tr
from curator.storage.db import AnyRow, CommentRow, chunks, from_iso, next_id


class Comments:
    """The part of `ports.MentionRepository` that is about comments."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def add_comment(self, document_id: int, mention_id: int | None, *, author: str, at: datetime, text: str) -> Comment:
        made = Comment(next_id(self._conn, CommentRow.id), document_id, mention_id, author, at, text)
        self._conn.execute(
            insert(CommentRow).values(
                id=made.id,
                document_id=document_id,
                mention_id=mention_id,
                author=author,
                at=at.isoformat(),
                text=text,
                deleted=False,
            )
        )
        return made

    def get_comment(self, comment_id: int) -> Comment:
        row = self._conn.execute(_COMMENTS.where(CommentRow.id == comment_id)).first()
        if row is None:
            raise UserError(tr("There is no comment {comment_id} in this project.", comment_id=comment_id))
        return _comment(row)

    def set_comments_deleted(self, comment_ids: Sequence[int], deleted: bool) -> None:
        for part in chunks(comment_ids):
            self._conn.execute(update(CommentRow).where(CommentRow.id.in_(part)).values(deleted=deleted))

    def comments(self, document_id: int) -> list[Comment]:
        query = _COMMENTS.where(CommentRow.document_id == document_id, ~CommentRow.deleted).order_by(CommentRow.id)
        return [_comment(row) for row in self._conn.execute(query)]


_COMMENTS = select(
    CommentRow.id,
    CommentRow.document_id,
    CommentRow.mention_id,
    CommentRow.author,
    CommentRow.at,
    CommentRow.text,
    CommentRow.deleted,
)


def _comment(row: AnyRow) -> Comment:
    return Comment(row.id, row.document_id, row.mention_id, row.author, from_iso(row.at), row.text, row.deleted)
