"""The states of a mention in the window, and the words for every outcome and reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from curator.domain.decisions import Decision, NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.wording import tr
from curator.services.queue.queue import MentionView
from curator.ui.kit.foreign_text import escaped

Reason = NilReason | RejectReason | SkipReason


class MentionState(StrEnum):
    UNDECIDED = "undecided"
    LINKED = "linked"
    NIL = "nil"
    REJECTED = "rejected"
    SKIPPED = "skipped"

    @property
    def word(self) -> str:
        """The word for display: on chips, in tooltips and for screen readers."""
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

# The first reason of an outcome is the default: Enter accepts it.
REASONS: dict[Outcome, tuple[Reason, ...]] = {
    Outcome.NIL: (NilReason.NOT_IN_KB, NilReason.TOO_GENERAL, NilReason.TOO_SPECIFIC),
    Outcome.REJECTED: (RejectReason.NOT_AN_ENTITY, RejectReason.WRONG_SPAN),
    Outcome.SKIPPED: (SkipReason.UNSURE, SkipReason.AMBIGUOUS),
}


def state_of(decision: Decision | None) -> MentionState:
    """The state of a mention from its current decision; None and CLEARED are undecided."""
    return MentionState.UNDECIDED if decision is None else _STATES[decision.verdict.outcome]


def verdict_words(verdict: Verdict, names: dict[str, str] | None = None) -> str:
    """A verdict in words; `names` gives the known names of entity ids."""
    if verdict.outcome is Outcome.LINK:
        known = names or {}
        return " + ".join(f"{known[i]} ({i})" if i in known else i for i in verdict.entity_ids)
    if verdict.outcome is Outcome.CLEARED:
        return tr("undecided again")
    words = {Outcome.NIL: "NIL", Outcome.REJECTED: tr("Rejected"), Outcome.SKIPPED: tr("Skipped")}[verdict.outcome]
    return f"{words}: {tr(REASON_WORDS[verdict.reason])}" if verdict.reason is not None else words


# A mention in words: tooltips, notes and screen reader texts.

AROUND = 80
"""Characters of context before and after a mention for a screen reader."""


def names_in(view: MentionView) -> dict[str, str]:
    """Names of the entities in the mention's suggestion."""
    return {} if view.suggestion is None else {one.entity_id: one.name for one in view.suggestion.candidates}


def decision_words(view: MentionView, names: Mapping[str, str] | None = None) -> str:
    """The current decision in one line; '' for an undecided mention. `names` adds entities not in the suggestion."""
    if view.decision is None or view.decision.verdict.outcome is Outcome.CLEARED:
        return ""
    return verdict_words(view.decision.verdict, {**names_in(view), **(names or {})})


def suggestion_words(view: MentionView) -> str:
    """The linker's suggestion in one line."""
    suggestion = view.suggestion
    if suggestion is None:
        return tr("no suggestion yet")
    if suggestion.nil.is_nil:
        return tr("NIL suggested ({score:.2f})", score=suggestion.nil.score)
    if not suggestion.candidates:
        return tr("no candidates")
    best = suggestion.candidates[0]
    return tr("suggested: {name} ({n:.2f})", name=best.name, n=best.probability or best.score)


def state_words(view: MentionView) -> str:
    """The state of a mention for screen readers: `linked to Gout (D006073)`, or the linker's suggestion."""
    state, decided = state_of(view.decision), decision_words(view)
    if state is MentionState.LINKED:
        return tr("linked to {names}", names=decided)
    return decided or f"{state.word}, {suggestion_words(view)}"


def marked(view: MentionView) -> str:
    """Screen reader text when the caret enters a mention in the text."""
    return f"{view.mention.text}, {view.mention.type}, {state_words(view)}"


def spoken(view: MentionView, *, number: int, of: int, text: str) -> str:
    """Screen reader text when a mention becomes current; `text` is the document's."""
    mention = view.mention
    start, end = min(one.start for one in mention.spans), max(one.end for one in mention.spans)
    around = " ".join(text[max(start - AROUND, 0) : end + AROUND].split())
    return tr("Mention {number} of {of}: {join}. In: {around}", number=number, of=of, join=marked(view), around=around)


def tooltip(view: MentionView) -> str:
    """Rich text; text from documents and knowledge bases is escaped."""
    state = state_of(view.decision)
    lines = [f"<b>{escaped(view.mention.text)}</b> · {escaped(view.mention.type)}"]
    if view.suggestion is not None and view.suggestion.expanded:
        lines.append(tr("long form: {escape}", escape=escaped(view.suggestion.expanded)))
    decided = decision_words(view)
    lines.append(
        f"{state.word}: {escaped(decided)}" if decided else f"{state.word} · {escaped(suggestion_words(view))}"
    )
    return "<br>".join(lines)


LONG_FORM = "<b>{short}</b> stands for {long}"


def long_form(word: str, views: Sequence[MentionView]) -> str:
    """The long form the linker used for the abbreviation `word`, if it is a mention of the document; else ''."""
    same = (view.suggestion for view in views if view.mention.text == word and view.suggestion is not None)
    return next((one.expanded for one in same if one.expanded), "")
