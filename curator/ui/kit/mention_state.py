"""What the window calls the state of a mention, and the words for every outcome and reason."""

from __future__ import annotations

from enum import StrEnum

from curator.domain.decisions import Decision, NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.wording import tr

Reason = NilReason | RejectReason | SkipReason


class MentionState(StrEnum):
    UNDECIDED = "undecided"
    LINKED = "linked"
    NIL = "nil"
    REJECTED = "rejected"
    SKIPPED = "skipped"

    @property
    def word(self) -> str:
        """For people: on chips, in tooltips and for screen readers."""
        return "NIL" if self is MentionState.NIL else tr(self.value)


_STATES = {
    Outcome.LINK: MentionState.LINKED,
    Outcome.NIL: MentionState.NIL,
    Outcome.REJECTED: MentionState.REJECTED,
    Outcome.SKIPPED: MentionState.SKIPPED,
    Outcome.CLEARED: MentionState.UNDECIDED,
}

REASON_WORDS: dict[Reason, str] = {
    NilReason.NOT_IN_KB: "not in the knowledge base",
    NilReason.TOO_GENERAL: "too general",
    NilReason.TOO_SPECIFIC: "too specific",
    RejectReason.NOT_AN_ENTITY: "not an entity",
    RejectReason.WRONG_SPAN: "wrong span",
    SkipReason.AMBIGUOUS: "ambiguous",
    SkipReason.UNSURE: "unsure",
}

# The first reason of an outcome is the usual one: Enter takes it.
REASONS: dict[Outcome, tuple[Reason, ...]] = {
    Outcome.NIL: (NilReason.NOT_IN_KB, NilReason.TOO_GENERAL, NilReason.TOO_SPECIFIC),
    Outcome.REJECTED: (RejectReason.NOT_AN_ENTITY, RejectReason.WRONG_SPAN),
    Outcome.SKIPPED: (SkipReason.UNSURE, SkipReason.AMBIGUOUS),
}


def state_of(decision: Decision | None) -> MentionState:
    """The state that a mention's current decision gives it; None and CLEARED are undecided."""
    return MentionState.UNDECIDED if decision is None else _STATES[decision.verdict.outcome]


def verdict_words(verdict: Verdict, names: dict[str, str] | None = None) -> str:
    """A verdict in words; `names` gives the names of entity ids where they are known."""
    if verdict.outcome is Outcome.LINK:
        known = names or {}
        return " + ".join(f"{known[i]} ({i})" if i in known else i for i in verdict.entity_ids)
    if verdict.outcome is Outcome.CLEARED:
        return tr("undecided again")
    words = {Outcome.NIL: "NIL", Outcome.REJECTED: tr("Rejected"), Outcome.SKIPPED: tr("Skipped")}[verdict.outcome]
    return f"{words}: {tr(REASON_WORDS[verdict.reason])}" if verdict.reason is not None else words
