"""Entries of the log of operations, and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from curator.domain.decisions import OperationKind


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the append-only log; an undo or redo names the operation it `target`s."""

    id: int
    kind: OperationKind
    actor: str
    at: datetime
    text: str
    target: int | None = None


@dataclass(frozen=True, slots=True)
class StepFilter:
    """A filter of operations; '', None and the empty set mean any. `words` occur in an operation's text, or in the
    identifiers of its entities."""

    actor: str = ""
    kinds: frozenset[OperationKind] = frozenset()
    document_id: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """An operation that is neither an undo nor a redo; `mentions` is the number of its mentions."""

    operation: Operation
    mentions: int


@dataclass(frozen=True, slots=True)
class Effort:
    """The effort of an operation since the previous one: keys and clicks, and milliseconds of work."""

    operation_id: int
    keys: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class SpentEffort:
    """An effort with its operation's number of `decisions`, their curator, and time."""

    operation_id: int
    keys: int
    milliseconds: int
    decisions: int
    curator: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RelationStep:
    """An entry of the log: an operation, undo or redo deleted, added or restored a row of a relation."""

    operation_id: int
    relation_id: int
    deleted: bool
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class RelationEnding:
    """An entry of the log: a relation of the mention, described by `words`, ended because its other mention was
    deleted, or was restored with it (`deleted` is False)."""

    operation_id: int
    mention_id: int
    words: str
    deleted: bool
    actor: str
    at: datetime
