"""A mention in words: tooltips, notes and what a screen reader says."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from curator.domain.decisions import Outcome
from curator.services.queue import MentionView
from curator.ui.mention_state import state_of, verdict_words


def names_in(view: MentionView) -> dict[str, str]:
    """Names of entities that the mention's suggestion knows."""
    return {} if view.suggestion is None else {one.entity_id: one.name for one in view.suggestion.candidates}


def decision_words(view: MentionView, names: Mapping[str, str] | None = None) -> str:
    """The decision so far in one line; '' for an undecided mention. `names` of entities beside the suggestion's."""
    if view.decision is None or view.decision.verdict.outcome is Outcome.CLEARED:
        return ""
    return verdict_words(view.decision.verdict, {**names_in(view), **(names or {})})


def suggestion_words(view: MentionView) -> str:
    """What the linker suggests, in one line."""
    suggestion = view.suggestion
    if suggestion is None:
        return "no suggestion yet"
    if suggestion.nil.is_nil:
        return f"NIL suggested ({suggestion.nil.score:.2f})"
    if not suggestion.candidates:
        return "no candidates"
    best = suggestion.candidates[0]
    return f"suggested: {best.name} ({best.score:.2f})"


def tooltip(view: MentionView) -> str:
    """Rich text; everything that comes from a document or a knowledge base is escaped."""
    state = state_of(view.decision)
    lines = [f"<b>{escape(view.mention.text)}</b> · {escape(view.mention.type)}"]
    if view.suggestion is not None and view.suggestion.expanded:
        lines.append(f"long form: {escape(view.suggestion.expanded)}")
    decided = decision_words(view)
    lines.append(f"{state.word}: {escape(decided)}" if decided else f"{state.word} · {escape(suggestion_words(view))}")
    return "<br>".join(lines)
