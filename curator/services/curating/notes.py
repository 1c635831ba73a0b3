"""Flags and comments, each an undoable operation; and the guidelines.

The payload of a flag is {"flag": bool, "mentions": [...], "documents": [...]}, that of a comment is {"comment": id,
"mentions": [...], "documents": [...]}.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from curator.domain.audit import Comment, Way
from curator.domain.decisions import Change, OperationKind
from curator.domain.wording import UserError, tr
from curator.services.core.context import Service
from curator.services.curating.deciding import step_in
from curator.services.ports.storage import UnitOfWork

LONGEST = 10_000
"""The most characters of a comment."""
FLAGGED = "Flagged {what}"
FLAG_OFF = "Removed the flag from {what}"


class NoteService(Service):
    """Flags and comments on mentions and documents."""

    def flag_mention(self, mention_id: int) -> Change:
        """Flag the mention, or remove its flag. Raises UserError for an unknown mention."""
        with self._store.write() as unit:
            mention = unit.mentions.get(mention_id)
            text = tr(FLAG_OFF if mention.flagged else FLAGGED, what=tr("“{text}”", text=mention.text))
            payload = {"flag": not mention.flagged, "mentions": [mention_id]}
            change = self._noted(unit, OperationKind.FLAG, text, mention.document_id, payload)
            restore_notes(unit, OperationKind.FLAG, payload, forward=True)
        return self._emit(change)

    def flag_document(self, document_id: int) -> Change:
        """Flag the document, or remove its flag. Raises UserError for an unknown document."""
        with self._store.write() as unit:
            document, flagged = unit.documents.get(document_id), unit.documents.document_flagged(document_id)
            text = tr(FLAG_OFF if flagged else FLAGGED, what=_document_name(document.external_id))
            payload = {"flag": not flagged, "documents": [document_id]}
            change = self._noted(unit, OperationKind.FLAG, text, document_id, payload)
            restore_notes(unit, OperationKind.FLAG, payload, forward=True)
        return self._emit(change)

    def comment(self, document_id: int, text: str, *, mention_id: int | None = None) -> Change:
        """Comment on a mention, or on the document. Raises UserError if the text is empty or too long."""
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
            made = unit.comments.add(document_id, mention_id, author=self._curator(), at=self._clock.now(), text=words)
            change = self._noted(unit, OperationKind.COMMENT, said, document_id, _payload(made))
        return self._emit(change)

    def delete_comment(self, comment_id: int) -> Change:
        """Delete a comment; undo restores it. Raises UserError for an unknown comment."""
        with self._store.write() as unit:
            found = unit.comments.get(comment_id)
            said = tr("Deleted a comment on {what}", what=_name(unit, found.document_id, found.mention_id))
            unit.comments.set_deleted([comment_id], True)
            change = self._noted(unit, OperationKind.DELETE_COMMENT, said, found.document_id, _payload(found))
        return self._emit(change)

    def comments(self, document_id: int) -> list[Comment]:
        """The comments on the document and its mentions, oldest first."""
        with self._store.read() as unit:
            return unit.comments.of_document(document_id)

    def _noted(
        self, unit: UnitOfWork, kind: OperationKind, text: str, document_id: int, payload: dict[str, Any]
    ) -> Change:
        who, clock = self._curator(), self._clock
        return step_in(unit, kind, text, payload, curator=who, clock=clock, documents=[document_id])


def restore_notes(unit: UnitOfWork, kind: OperationKind, payload: dict[str, Any], *, forward: bool) -> list[int]:
    """Redo or undo an operation's flags and comments; returns the documents that it names."""
    if kind not in (OperationKind.FLAG, OperationKind.COMMENT, OperationKind.DELETE_COMMENT):
        return []
    documents = [int(one) for one in payload.get("documents", ())]
    if kind is OperationKind.FLAG:
        flag = bool(payload["flag"]) is forward
        unit.mentions.flag_mentions([int(one) for one in payload.get("mentions", ())], flag)
        unit.documents.flag_documents(documents, flag)
    else:
        deleted = forward is (kind is OperationKind.DELETE_COMMENT)
        unit.comments.set_deleted([int(payload["comment"])], deleted)
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


# The project's guidelines: Markdown that every curator can show next to the text.

GUIDELINES_KEY = "guidelines"
LONGEST_GUIDELINES = 1_000_000
"""Characters; a hundred times what guidelines usually have."""


class GuidelineService(Service):
    """Reads and writes the guidelines, which are stored in the project."""

    def text(self) -> str:
        """The guidelines; '' if there are none."""
        with self._store.read() as unit:
            return unit.meta.get(GUIDELINES_KEY) or ""

    def set_text(self, text: str) -> None:
        """Store the guidelines. Raises UserError if they are too long or the project is read-only."""
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


# Inconsistencies that a curator marked as intended: strings that may be decided in several ways, and where. Kept in the
# project (meta `inconsistencies.intended`, JSON: scope -> list of ways). A scope is a string and type in one document
# or in the project, or an entity that the knowledge base no longer has; a way is a sorted list of entity ids, empty for
# NIL. A decision that is not one of the listed ways makes the inconsistency appear again. Marking is an operation; its
# payload is {"intended": {"scope": …, "before": ways | null, "after": ways | null}}.

INTENDED_KEY = "inconsistencies.intended"


def string_scope(key: str, type_: str, document_id: int | None = None) -> str:
    """The scope of a string (`domain.same_string.string_key`) and type in a document, or in the project."""
    return json.dumps(["string", document_id, key, type_], ensure_ascii=False)


def entity_scope(entity_id: str) -> str:
    """The scope of an entity that is obsolete or gone."""
    return json.dumps(["entity", entity_id], ensure_ascii=False)


def intended_in(unit: UnitOfWork) -> dict[str, frozenset[Way]]:
    """The intended ways, by scope."""
    return {scope: frozenset(tuple(way) for way in ways) for scope, ways in _stored(unit).items()}


def is_intended(marks: Mapping[str, Collection[Way]], scope: str, ways: Iterable[Way]) -> bool:
    """Whether all of these ways are intended."""
    known = marks.get(scope)
    return known is not None and all(way in known for way in ways)


def intend(unit: UnitOfWork, scope: str, ways: Collection[Way] | None) -> dict[str, Any]:
    """Mark these ways of a scope as intended, replacing its earlier mark, or with None remove the mark; returns the
    operation's payload."""
    before = _stored(unit).get(scope)
    after = sorted(list(way) for way in ways) if ways is not None else None
    _set(unit, scope, after)
    return {"intended": {"scope": scope, "before": before, "after": after}}


def restore_intended(unit: UnitOfWork, payload: Mapping[str, Any], *, forward: bool) -> None:
    """Redo or undo an operation's mark."""
    if (mark := payload.get("intended")) is not None:
        _set(unit, str(mark["scope"]), mark["after" if forward else "before"])


def _set(unit: UnitOfWork, scope: str, ways: list[list[str]] | None) -> None:
    stored = _stored(unit)
    stored.pop(scope, None)
    if ways is not None:
        stored[scope] = ways
    unit.meta.set(INTENDED_KEY, json.dumps(stored, ensure_ascii=False))


def _stored(unit: UnitOfWork) -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = json.loads(unit.meta.get(INTENDED_KEY) or "{}")
    return {scope: [way for way in ways if isinstance(way, list)] for scope, ways in found.items()}
