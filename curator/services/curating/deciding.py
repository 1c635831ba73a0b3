"""Decides about mentions inside a caller's unit: one operation for any number of mentions, with a few queries."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from curator.domain.decisions import (
    Change,
    ChangeKind,
    Decision,
    NilReason,
    OperationKind,
    Outcome,
    RejectReason,
    Shown,
    ShownCandidate,
    SkipReason,
    Verdict,
)
from curator.domain.documents import DocumentState, Mention
from curator.domain.same_string import string_key
from curator.domain.suggestions import Suggestion
from curator.domain.wording import UserError, ntr, tr
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork

NOTHING_SHOWN = Shown("", ())
"""No candidates were shown: none was rejected."""
ONE_CHANGED = "{n} of these mentions was decided or deleted meanwhile; nothing was changed. Look at the list again."
CHANGED = "{n:,} of these mentions were decided or deleted meanwhile; nothing was changed. Look at the list again."
SHOWN = 10
"""The number of candidates of the stored suggestion that count as shown by default."""
KINDS = {
    OperationKind.DECIDE: ChangeKind.DECIDED,
    OperationKind.ADD_MENTION: ChangeKind.MENTIONS,
    OperationKind.DELETE_MENTION: ChangeKind.MENTIONS,
    OperationKind.CHANGE_MENTION: ChangeKind.MENTIONS,
    OperationKind.SET_STATE: ChangeKind.DOCUMENT_STATE,
    OperationKind.FLAG: ChangeKind.NOTES,
    OperationKind.COMMENT: ChangeKind.NOTES,
    OperationKind.DELETE_COMMENT: ChangeKind.NOTES,
    OperationKind.SET_ATTRIBUTE: ChangeKind.ATTRIBUTES,
    OperationKind.DEFINE_ATTRIBUTES: ChangeKind.ATTRIBUTES,
    OperationKind.ADD_RELATION: ChangeKind.RELATIONS,
    OperationKind.DELETE_RELATION: ChangeKind.RELATIONS,
    OperationKind.MAKE_ENTITY: ChangeKind.ENTITIES,
    OperationKind.CHANGE_ENTITY: ChangeKind.ENTITIES,
    OperationKind.DELETE_ENTITY: ChangeKind.ENTITIES,
    OperationKind.REMAP: ChangeKind.ENTITIES,
    OperationKind.INTEND: ChangeKind.NOTES,
}
"""What a step changes, by its kind."""
WORDS = {
    Outcome.NIL: "Marked {what} as NIL",
    Outcome.REJECTED: "Rejected {what}",
    Outcome.SKIPPED: "Skipped {what}",
}
REASONS: dict[str, str] = {
    NilReason.NOT_IN_KB: "not in the knowledge base",
    NilReason.TOO_GENERAL: "too general",
    NilReason.TOO_SPECIFIC: "too specific",
    RejectReason.NOT_AN_ENTITY: "not an entity",
    RejectReason.WRONG_SPAN: "wrong span",
    SkipReason.AMBIGUOUS: "ambiguous",
    SkipReason.UNSURE: "unsure",
}


def step_in(
    unit: UnitOfWork,
    kind: OperationKind,
    text: str,
    payload: Mapping[str, Any],
    *,
    curator: str,
    clock: Clock,
    documents: Sequence[int] = (),
) -> Change:
    """Append an operation. Its payload names the mentions that it is about."""
    operation = unit.operations.append(kind, actor=curator, at=clock.now(), text=text, payload=payload)
    mentions = tuple(payload.get("mentions", ()))
    return Change(KINDS[kind], curator, text, tuple(dict.fromkeys(documents)), mentions, operation)


def state_in(
    unit: UnitOfWork, document_id: int, state: DocumentState, *, curator: str, clock: Clock, **more: Any
) -> Change:
    """Set a document's state, as one step. Raises UserError for an unknown document."""
    document = unit.documents.get(document_id)
    unit.documents.set_state(document_id, state)
    text = tr("Marked {external_id} as “{words}”", external_id=document.external_id, words=tr(state.words))
    payload = {"states": [[document_id, document.state.value, state.value]], **more}
    return step_in(unit, OperationKind.SET_STATE, text, payload, curator=curator, clock=clock, documents=[document_id])


def decide_in(
    unit: UnitOfWork,
    mention_ids: Sequence[int],
    verdicts: Sequence[Verdict],
    *,
    curator: str,
    clock: Clock,
    shown: Sequence[Shown | None] = (),
    note: str = "",
    text: str = "",
    notes: Sequence[str] = (),
    kind: OperationKind = OperationKind.DECIDE,
    more: Mapping[str, Any] | None = None,
) -> Change:
    """Append decisions as one operation; a document in state todo becomes in progress.

    `shown` is parallel to the ids or empty; if it is None, the stored suggestion's first candidates count as shown.
    `text` describes the operation to the curator (by default made from the verdicts). `notes` are parallel to the ids,
    instead of one `note`; `more` goes into the operation's payload, for a step that is more than decisions. Raises
    UserError for an unknown or deleted mention and for an unknown entity.
    """
    unit.decisions.expect(mention_ids, actor=curator)
    mentions = _living(unit, mention_ids)
    names = _linked_names(unit, verdicts)
    documents = tuple(dict.fromkeys(mention.document_id for mention in mentions))
    states = _start_documents(unit, documents)
    said = text or _say(mentions, verdicts, names)
    at = clock.now()
    payload = {"mentions": list(mention_ids), "states": states, **(more or {})}
    operation = unit.operations.append(kind, actor=curator, at=at, text=said, payload=payload)
    unit.decisions.append(
        mention_ids,
        verdicts,
        curator=curator,
        at=at,
        operation_id=operation,
        shown=_seen(unit, mention_ids, shown or [None] * len(mentions)),
        notes=list(notes) or [note] * len(mention_ids),
    )
    return Change(ChangeKind.DECIDED, curator, said, documents, tuple(mention_ids), operation)


def redecide(
    unit: UnitOfWork,
    verdicts: Mapping[int, Verdict],
    now: Mapping[int, Decision],
    notes: Mapping[int, str],
    *,
    curator: str,
    clock: Clock,
    text: str,
) -> Change:
    """Change decisions chosen in a list that shows no candidates, as one operation; each note follows the decision's
    own. `now` are the current decisions, see `unchanged`."""
    return decide_in(
        unit,
        list(verdicts),
        list(verdicts.values()),
        curator=curator,
        clock=clock,
        shown=[NOTHING_SHOWN] * len(verdicts),
        notes=[joined_note(now[one].note, notes[one]) for one in verdicts],
        text=text,
    )


def unchanged(
    unit: UnitOfWork,
    listed: Mapping[int, object],
    *,
    by: Callable[[Verdict], object] = lambda verdict: verdict,
    missing: int = 0,
) -> dict[int, Decision]:
    """The current decisions of the listed mentions. Raises UserError if `by` of one differs from what was listed, if
    one was deleted, or if some are `missing` from the list."""
    now = unit.decisions.current(list(listed))
    living = {one.id for one in unit.mentions.get_many(list(listed)).values() if not one.deleted}
    same = sum(one in living and one in now and by(now[one].verdict) == was for one, was in listed.items())
    if changed := len(listed) + missing - same:
        raise UserError(ntr(ONE_CHANGED, CHANGED, changed))
    return now


def joined_note(old: str, new: str) -> str:
    """The new note after the old one, whose beginning marks adjudicated decisions."""
    return f"{old}; {new}" if old else new


def shown_of(suggestion: Suggestion | None, *, limit: int = SHOWN) -> Shown | None:
    """The `Shown` of a curator who sees the first `limit` candidates of a suggestion."""
    if suggestion is None:
        return None
    candidates = tuple(ShownCandidate(one.entity_id, one.score) for one in suggestion.candidates[:limit])
    return Shown(suggestion.stamp.bundle_id, candidates, suggestion.nil.score, suggestion.nil.is_nil)


def _living(unit: UnitOfWork, mention_ids: Sequence[int]) -> list[Mention]:
    found = unit.mentions.get_many(mention_ids)
    for mention in found.values():
        if mention.deleted:
            raise UserError(
                tr("Mention {id} (“{text}”) was deleted. Undo the deletion first.", id=mention.id, text=mention.text)
            )
    return [found[one] for one in mention_ids]


def _seen(unit: UnitOfWork, mention_ids: Sequence[int], given: Sequence[Shown | None]) -> list[Shown | None]:
    pairs = list(zip(mention_ids, given, strict=True))
    stored = unit.suggestions.get_many([mention_id for mention_id, one in pairs if one is None])
    return [one if one is not None else shown_of(stored.get(mention_id)) for mention_id, one in pairs]


def _linked_names(unit: UnitOfWork, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The names of the linked entities, all of which must be in the knowledge base."""
    wanted = {entity for verdict in verdicts for entity in verdict.entity_ids}
    found = unit.kb.get_many(sorted(wanted)) if wanted else {}
    missing = sorted(wanted - found.keys())
    if missing:
        raise UserError(
            tr(
                "The knowledge base has no entity {list}. Search it for the right identifier, or decide NIL.",
                list=", ".join(missing),
            )
        )
    return {one: entity.name for one, entity in found.items()}


def _start_documents(unit: UnitOfWork, document_ids: Sequence[int]) -> list[list[object]]:
    states = unit.documents.states(document_ids)
    todo = [one for one in document_ids if states[one] is DocumentState.TODO]
    if todo:
        unit.documents.set_states(dict.fromkeys(todo, DocumentState.IN_PROGRESS))
    return [[one, DocumentState.TODO.value, DocumentState.IN_PROGRESS.value] for one in todo]


def _say(mentions: Sequence[Mention], verdicts: Sequence[Verdict], linked: Mapping[str, str]) -> str:
    what = mentions_words(mentions)
    verdict = verdicts[0]
    if any(other != verdict for other in verdicts):
        return tr("Decided {what}", what=what)
    if verdict.outcome is Outcome.LINK:
        return tr("Linked {what} to {names}", what=what, names=said_names(verdict, linked))
    if verdict.outcome is Outcome.CLEARED:
        return tr("Cleared the decision about {what}", what=what)
    return tr(WORDS[verdict.outcome], what=what) + _reason(verdict)


def mentions_words(mentions: Sequence[Mention]) -> str:
    """Words for one mention: its string; for several: their number, and their string if they share it."""
    first = mentions[0].text
    if len(mentions) == 1:
        return tr("“{text}”", text=first)
    if len({string_key(one.text) for one in mentions}) == 1:
        return tr("{number:,} mentions of “{text}”", number=len(mentions), text=" ".join(first.split()))
    return tr("{number:,} mentions", number=len(mentions))


def said_names(verdict: Verdict, names: Mapping[str, str]) -> str:
    """The entities of a link by name, if known."""
    return " + ".join(names.get(one, one) for one in verdict.entity_ids)


def _reason(verdict: Verdict) -> str:
    return f" ({tr(REASONS[verdict.reason])})" if verdict.reason else ""


# Steps of a shared project as data, for the journal of this computer while the server is away. A `QueuedStep` holds
# everything that the step depends on: who, when, what was shown. It is taken at once on the server, or in the documents
# of this computer and later on the server, with the same result. Its key is stored with the operation, so that a step
# whose answer was lost is recognised and never taken twice. Other steps, also undo, need the server.

_REASON_OF: dict[Outcome, type[NilReason] | type[RejectReason] | type[SkipReason]] = {
    Outcome.NIL: NilReason,
    Outcome.REJECTED: RejectReason,
    Outcome.SKIPPED: SkipReason,
}


@dataclass(frozen=True, slots=True)
class QueuedStep:
    """A decision about `mention_ids`, or a new `state` of `document_id`. `shown` is parallel to the mentions, or
    empty."""

    key: str
    curator: str
    at: datetime
    mention_ids: tuple[int, ...] = ()
    verdict: Verdict | None = None
    shown: tuple[Shown | None, ...] = ()
    note: str = ""
    document_id: int = 0
    state: DocumentState | None = None

    def now(self) -> datetime:
        """The time of the step: it is its own clock."""
        return self.at

    def perform(self, unit: UnitOfWork) -> Change:
        """Take the step. Raises UserError if it is not possible (any more)."""
        more = {"key": self.key}
        if self.verdict is None:
            state = self.state or DocumentState.IN_PROGRESS
            return state_in(unit, self.document_id, state, curator=self.curator, clock=self, **more)
        verdicts = [self.verdict] * len(self.mention_ids)
        return decide_in(
            unit,
            self.mention_ids,
            verdicts,
            curator=self.curator,
            clock=self,
            shown=self.shown,
            note=self.note,
            more=more,
        )

    def packed(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"key": self.key, "curator": self.curator, "at": self.at.isoformat()}
        if self.verdict is None:
            return {**found, "document": self.document_id, "state": self.state.value if self.state else ""}
        verdict = {"outcome": self.verdict.outcome.value, "entities": self.verdict.entity_ids}
        reason = {"reason": self.verdict.reason.value} if self.verdict.reason else {}
        shown = {"shown": [_pack(one) for one in self.shown]} if self.shown else {}
        return {**found, "mentions": self.mention_ids, "verdict": {**verdict, **reason}, **shown, "note": self.note}


def new_decision(
    mention_ids: Sequence[int],
    verdict: Verdict,
    *,
    curator: str,
    at: datetime,
    shown: Sequence[Shown | None],
    note: str,
) -> QueuedStep:
    return QueuedStep(uuid.uuid4().hex, curator, at, tuple(mention_ids), verdict, tuple(shown), note)


def new_state(document_id: int, state: DocumentState, *, curator: str, at: datetime) -> QueuedStep:
    return QueuedStep(uuid.uuid4().hex, curator, at, document_id=document_id, state=state)


def unpacked(step: Mapping[str, Any]) -> QueuedStep:
    """The step from its `packed` form. Raises ValueError or KeyError for anything else."""
    key, curator, at = str(step["key"]), str(step["curator"]), datetime.fromisoformat(step["at"])
    if "state" in step:
        return QueuedStep(key, curator, at, document_id=int(step["document"]), state=DocumentState(step["state"]))
    outcome = Outcome(step["verdict"]["outcome"])
    reason = step["verdict"].get("reason")
    verdict = Verdict(outcome, tuple(step["verdict"]["entities"]), _REASON_OF[outcome](reason) if reason else None)
    shown = tuple(_unpack(one) for one in step.get("shown", ()))
    return QueuedStep(key, curator, at, tuple(map(int, step["mentions"])), verdict, shown, str(step["note"]))


def _pack(shown: Shown | None) -> dict[str, Any] | None:
    if shown is None:
        return None
    return {
        "bundle": shown.bundle_id,
        "candidates": [[one.entity_id, one.score] for one in shown.candidates],
        "nil": shown.nil_score,
        "first": shown.nil_first,
        "unseen": _pack(shown.unseen),
        "revealed": shown.revealed,
    }


def _unpack(value: Mapping[str, Any] | None) -> Shown | None:
    if value is None:
        return None
    candidates = tuple(ShownCandidate(entity_id, score) for entity_id, score in value["candidates"])
    return Shown(
        value["bundle"], candidates, value["nil"], value["first"], _unpack(value["unseen"]), bool(value["revealed"])
    )
