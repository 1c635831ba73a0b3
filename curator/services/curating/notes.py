"""Flags and comments, each an undoable operation: marks for oneself and words for others. And the guidelines.

The payload of a flag is {"flag": bool, "mentions": [...], "documents": [...]}, that of a comment {"comment": id,
"mentions": [...], "documents": [...]}.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from curator.domain.audit import Comment
from curator.domain.decisions import Change, ChangeKind, OperationKind
from curator.domain.wording import UserError, tr
from curator.services.core import EventBus
from curator.services.ports import Clock, Store, UnitOfWork

LONGEST = 10_000
"""Characters of a comment."""
FLAGGED = "Flagged {what}"
FLAG_OFF = "Removed the flag from {what}"


class NoteService:
    """Flags and comments on mentions and documents. `curator` returns the curator's name."""

    def __init__(self, store: Store, events: EventBus, clock: Clock, *, curator: Callable[[], str]) -> None:
        self._store = store
        self._events = events
        self._clock = clock
        self._curator = curator

    def flag_mention(self, mention_id: int) -> Change:
        """Flag the mention, or take its flag off. Raises UserError for an unknown one."""
        with self._store.write() as unit:
            mention = unit.mentions.get(mention_id)
            text = tr(FLAG_OFF if mention.flagged else FLAGGED, what=tr("“{text}”", text=mention.text))
            payload = {"flag": not mention.flagged, "mentions": [mention_id]}
            change = self._noted(unit, OperationKind.FLAG, text, mention.document_id, payload)
            restore_notes(unit, OperationKind.FLAG, payload, forward=True)
        return self._emit(change)

    def flag_document(self, document_id: int) -> Change:
        """Flag the document, or take its flag off. Raises UserError for an unknown one."""
        with self._store.write() as unit:
            document, flagged = unit.documents.get(document_id), unit.documents.document_flagged(document_id)
            text = tr(FLAG_OFF if flagged else FLAGGED, what=_document_name(document.external_id))
            payload = {"flag": not flagged, "documents": [document_id]}
            change = self._noted(unit, OperationKind.FLAG, text, document_id, payload)
            restore_notes(unit, OperationKind.FLAG, payload, forward=True)
        return self._emit(change)

    def comment(self, document_id: int, text: str, *, mention_id: int | None = None) -> Change:
        """Comment on a mention, or on the document. Raises UserError where nothing or far too much is said."""
        words = text.strip()
        if not words:
            raise UserError(tr("A comment cannot be empty; nothing was saved."))
        if len(words) > LONGEST:
            raise UserError(
                tr(
                    "A comment can have at most {longest:,} characters; this one has {number:,}.",
                    longest=LONGEST,
                    number=len(words),
                )
            )
        with self._store.write() as unit:
            said = tr("Commented on {what}", what=_name(unit, document_id, mention_id))
            made = unit.mentions.add_comment(
                document_id, mention_id, author=self._curator(), at=self._clock.now(), text=words
            )
            change = self._noted(unit, OperationKind.COMMENT, said, document_id, _payload(made))
        return self._emit(change)

    def delete_comment(self, comment_id: int) -> Change:
        """Take a comment away; undo brings it back. Raises UserError for an unknown one."""
        with self._store.write() as unit:
            found = unit.mentions.get_comment(comment_id)
            said = tr("Deleted a comment on {what}", what=_name(unit, found.document_id, found.mention_id))
            unit.mentions.set_comments_deleted([comment_id], True)
            change = self._noted(unit, OperationKind.DELETE_COMMENT, said, found.document_id, _payload(found))
        return self._emit(change)

    def comments(self, document_id: int) -> list[Comment]:
        """Of the document and its mentions, oldest first."""
        with self._store.read() as unit:
            return unit.mentions.comments(document_id)

    def _noted(
        self, unit: UnitOfWork, kind: OperationKind, text: str, document_id: int, payload: dict[str, Any]
    ) -> Change:
        operation = unit.decisions.append_operation(
            kind, actor=self._curator(), at=self._clock.now(), text=text, payload=payload
        )
        mentions = tuple(payload.get("mentions", ()))
        return Change(ChangeKind.NOTES, self._curator(), text, (document_id,), mentions, operation)

    def _emit(self, change: Change) -> Change:
        self._events.emit(change)
        return change


def restore_notes(unit: UnitOfWork, kind: OperationKind, payload: dict[str, Any], *, forward: bool) -> list[int]:
    """Do again, or take back, what an operation noted; returns the documents that it names itself."""
    if kind not in (OperationKind.FLAG, OperationKind.COMMENT, OperationKind.DELETE_COMMENT):
        return []
    documents = [int(one) for one in payload.get("documents", ())]
    if kind is OperationKind.FLAG:
        flag = bool(payload["flag"]) is forward
        unit.mentions.flag_mentions([int(one) for one in payload.get("mentions", ())], flag)
        unit.documents.flag_documents(documents, flag)
    else:
        deleted = forward is (kind is OperationKind.DELETE_COMMENT)
        unit.mentions.set_comments_deleted([int(payload["comment"])], deleted)
    return documents


def _payload(comment: Comment) -> dict[str, Any]:
    mentions = [] if comment.mention_id is None else [comment.mention_id]
    return {"comment": comment.id, "mentions": mentions, "documents": [comment.document_id]}


def _name(unit: UnitOfWork, document_id: int, mention_id: int | None) -> str:
    if mention_id is None:
        return _document_name(unit.documents.get(document_id).external_id)
    return tr("“{text}”", text=unit.mentions.get(mention_id).text)


def _document_name(external_id: str) -> str:
    return tr("document {external_id}", external_id=external_id)


# The project's guidelines: Markdown that every curator has beside the text.

GUIDELINES_KEY = "guidelines"
LONGEST_GUIDELINES = 1_000_000
"""Characters; a hundred times what guidelines usually have."""


class GuidelineService:
    """Read and write them; they are stored in the project, so that they travel with it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def text(self) -> str:
        """'' before the first were written."""
        with self._store.read() as unit:
            return unit.meta.get(GUIDELINES_KEY) or ""

    def set_text(self, text: str) -> None:
        """Raises UserError where they are far too long, or the project is read-only."""
        if len(text) > LONGEST_GUIDELINES:
            raise UserError(
                tr(
                    "Guidelines can have at most {longest:,} characters; these have {number:,}.",
                    longest=LONGEST_GUIDELINES,
                    number=len(text),
                )
            )
        with self._store.write() as unit:
            unit.meta.set(GUIDELINES_KEY, text)
