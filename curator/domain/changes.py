"""What an operation changed: the one message that every view listens to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    DECIDED = "decided"
    MENTIONS = "mentions"  # added, moved, retyped, deleted, restored
    DOCUMENT_STATE = "document_state"
    NOTES = "notes"  # flags and comments
    IMPORTED = "imported"
    KNOWLEDGE_BASE = "knowledge_base"
    SUGGESTIONS = "suggestions"
    BUNDLE = "bundle"
    TYPE_MAPPING = "type_mapping"
    ENTITIES = "entities"  # provisional ones made, changed, deleted or replaced, with the decisions that follow
    ROUND = "round"  # made, closed, opened again, or judgements came in


STEPS = frozenset(
    {ChangeKind.DECIDED, ChangeKind.MENTIONS, ChangeKind.DOCUMENT_STATE, ChangeKind.NOTES, ChangeKind.ENTITIES}
)
"""What a curator does, step by step."""


class OperationKind(StrEnum):
    """What an entry of the operation log did; undo and redo are entries of their own."""

    DECIDE = "decide"
    ADD_MENTION = "add_mention"
    DELETE_MENTION = "delete_mention"
    CHANGE_MENTION = "change_mention"  # its spans or its type
    SET_STATE = "set_state"
    FLAG = "flag"
    COMMENT = "comment"
    DELETE_COMMENT = "delete_comment"
    MAKE_ENTITY = "make_entity"
    CHANGE_ENTITY = "change_entity"
    DELETE_ENTITY = "delete_entity"
    REMAP = "remap"  # decisions and provisional entities to what the knowledge base has now
    TAKE_TEXT = "take_text"  # a newer text of a document, with its mentions moved to it; or the former one again
    WITHDRAW_IMPORT = "withdraw_import"  # its documents are hidden
    UNDO = "undo"
    REDO = "redo"


@dataclass(frozen=True, slots=True)
class Change:
    """`text` says it to the curator ("Linked lidocaine to Lidocaine"); `actor` who did it.

    A step without an operation is a judgement in a round: no bus tells it, the window that asked shows it.
    """

    kind: ChangeKind
    actor: str
    text: str
    document_ids: tuple[int, ...] = ()
    mention_ids: tuple[int, ...] = ()
    operation_id: int | None = None
