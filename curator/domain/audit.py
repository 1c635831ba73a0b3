"""One line of the audit trail: who did what and when, what was suggested, and what it replaced."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from curator.domain.decisions import Shown, Verdict
from curator.domain.documents import Span


class AuditKind(StrEnum):
    """DECISION: a verdict of the project, also one that undoing brought back. JUDGEMENT: a verdict given in a round.
    ATTRIBUTE: a value of an attribute, of the project or given in a round. OPERATION: any other step, such as a new
    mention or a document's state."""

    DECISION = "decision"
    JUDGEMENT = "judgement"
    ATTRIBUTE = "attribute"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True)
class AuditMention:
    """The mention of an entry, in its current state."""

    id: int
    document_id: int
    document: str
    spans: tuple[Span, ...]
    text: str
    type: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """`id` is that of the decision, judgement or operation. `operation` is the step it belongs to (None: it came with a
    file or belongs to a round), `step` its kind (`decide`, `undo`, …), `target` the step that an undo or redo is about.
    `actor` did it, `curator` is whose verdict it is: undoing brings back another's. `replaces` is the id of the
    mention's verdict before, `before` that verdict."""

    kind: AuditKind
    id: int
    at: datetime
    actor: str
    step: str = ""
    operation: int | None = None
    target: int | None = None
    text: str = ""
    mention: AuditMention | None = None
    curator: str = ""
    verdict: Verdict | None = None
    note: str = ""
    shown: Shown | None = None
    replaces: int | None = None
    before: Verdict | None = None
    round: str = ""


# Comments: what curators say to each other about a mention or a document.


@dataclass(frozen=True, slots=True)
class Comment:
    """On a mention, or on the whole document where `mention_id` is None. A deleted one stays in the records."""

    id: int
    document_id: int
    mention_id: int | None
    author: str
    at: datetime
    text: str
    deleted: bool = False
