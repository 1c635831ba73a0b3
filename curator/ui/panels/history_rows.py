"""The history of a mention as rows in words: decisions, changes of the mention, of its attributes and relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from curator.domain.attributes import AttributeEdit, Scheme
from curator.domain.decisions import Decision, Outcome
from curator.domain.documents import MentionEdit, slice_spans
from curator.domain.relations import RelationEdit
from curator.domain.wording import localised, tr
from curator.ui.kit.mention_state import verdict_words
from curator.ui.kit.row_list import figure


class DecisionStatus(StrEnum):
    """The status of a decision."""

    CURRENT = "current"
    REPLACED = "replaced"
    UNDONE = "undone"
    EDIT = ""  # not a decision: the mention was moved or retyped, an attribute or a relation changed


STATUS_WORDS = {DecisionStatus.REPLACED: "replaced", DecisionStatus.UNDONE: "undone"}
"""The words for a decision that is no longer current."""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    decision: Decision | None  # None: a change of the mention itself
    what: str
    shown: str
    status: DecisionStatus
    replaced: str = ""  # the previous value, in words
    edit: MentionEdit | AttributeEdit | RelationEdit | None = None

    @property
    def more(self) -> str:
        """The replaced decision and the note; '' if there is neither."""
        note = self.decision.note if self.decision is not None else ""
        parts = (tr("in place of {replaced}", replaced=self.replaced) if self.replaced else "", note)
        return " · ".join(part for part in parts if part)

    @property
    def small_lines(self) -> list[str]:
        """The lines below `what`."""
        return [words for words in (self.who_and_when, self.shown, self.more) if words]

    @property
    def lines(self) -> int:
        """The number of lines, computed without building them, as lists query row heights often."""
        more = bool(self.replaced) or (self.decision is not None and bool(self.decision.note))
        return 1 + ((self.decision or self.edit) is not None) + bool(self.shown) + more

    @property
    def who_and_when(self) -> str:
        done = self.decision or self.edit
        if done is None:
            return ""
        at = localised(done.at.astimezone(), "%d %b %Y, %H:%M:%S")
        status = f" · {tr(STATUS_WORDS[self.status])}" if self.status in STATUS_WORDS else ""
        return f"{at} · {done.curator}{status}"

    @property
    def at(self) -> datetime | None:
        done = self.decision or self.edit
        return done.at if done is not None else None


def history_rows(decisions: Sequence[Decision], names: Mapping[str, str]) -> list[HistoryRow]:
    """Newest first. `decisions` come oldest first; one followed by a CLEARED was undone."""
    rows = []
    for at, decision in enumerate(decisions):
        after = decisions[at + 1] if at + 1 < len(decisions) else None
        status = DecisionStatus.REPLACED
        if after is None:
            status = DecisionStatus.CURRENT
        elif after.verdict.outcome is Outcome.CLEARED:
            status = DecisionStatus.UNDONE
        before = decisions[at - 1] if at else None
        known = dict(names)
        replaced = None if before is None or before.verdict.outcome is Outcome.CLEARED else before
        rows.append(
            HistoryRow(
                decision,
                verdict_words(decision.verdict, known),
                shown_words(decision, names),
                status,
                verdict_words(replaced.verdict, known) if replaced else "",
            )
        )
    return rows[::-1]


def shown_words(decision: Decision, names: Mapping[str, str] | None = None) -> str:
    """The suggestion shown to the curator: the first candidate if another was chosen, the rank of the chosen entity,
    and the score of NIL."""
    shown = decision.shown
    if shown is None or decision.verdict.outcome is Outcome.CLEARED:
        return "" if decision.verdict.outcome is Outcome.CLEARED else tr("nothing shown")
    ids = [one.entity_id for one in shown.candidates]
    ranks = [str(place) for place in shown.places_of(decision.verdict)]
    among = tr("{n} shown", n=len(ids)) if ids else tr("no candidates shown")
    if ranks:
        among = tr("rank {join} of {n} shown", join=" + ".join(ranks), n=len(ids))
    elif ids and decision.verdict.outcome is Outcome.LINK:
        among = tr("not among {n} shown", n=len(ids))
    if shown.unseen is not None:
        among = tr("decided without suggestions")
    if shown.revealed:
        among = tr("{among} on request", among=among)
    if shown.nil_first:
        if decision.verdict.outcome is not Outcome.NIL:
            among = tr("suggested {get} · {among}", get="NIL", among=among)
    elif ids and ids[0] not in decision.verdict.entity_ids:
        among = tr("suggested {get} · {among}", get=(names or {}).get(ids[0], ids[0]), among=among)
    return (
        among if shown.nil_score is None else tr("{among} · NIL {figure}", among=among, figure=figure(shown.nil_score))
    )


MOVED = "Moved to “{text}”"
RETYPED = "Type changed to {type}"
WAS = "was “{text}”, {type}"


def edit_rows(edits: Sequence[MentionEdit], text: str) -> list[HistoryRow]:
    """Newest first, in words; `text` is the document's."""
    rows = []
    for edit in reversed(edits):
        moved = tr(MOVED, text=" ".join(slice_spans(text, edit.after.spans).split()))
        retyped = tr(RETYPED, type=edit.after.type)
        what = [moved] if edit.after.spans != edit.before.spans else []
        what += [retyped] if edit.after.type != edit.before.type else []
        before = " ".join(slice_spans(text, edit.before.spans).split())
        was = tr(WAS, text=before, type=edit.before.type)
        rows.append(HistoryRow(None, " · ".join(what), was, DecisionStatus.EDIT, edit=edit))
    return rows


def attribute_rows(edits: Sequence[AttributeEdit], scheme: Scheme) -> list[HistoryRow]:
    """Newest first, with the current names of attributes and values."""
    values = {value.id: value.name for one in scheme.attributes for value in one.values}
    names = {one.id: one.name for one in scheme.attributes}
    rows = []
    for edit in reversed(edits):
        value = values.get(edit.value_id or 0, tr("no value"))
        what = f"{names.get(edit.attribute_id, edit.attribute_id)}: {value}"
        rows.append(HistoryRow(None, what, "", DecisionStatus.EDIT, edit=edit))
    return rows


RELATED = "Relation added: {words}"
UNRELATED = "Relation deleted: {words}"
ENDED = "Relation ended because the other mention was deleted: {words}"
BACK = "Relation restored with the other mention: {words}"


def relation_rows(edits: Sequence[RelationEdit]) -> list[HistoryRow]:
    """Newest first, in words. Undo and redo are rows of their own."""
    rows = []
    for one in reversed(edits):
        if one.with_mention:
            what = tr(ENDED if one.deleted else BACK, words=one.words)
        else:
            what = tr(UNRELATED if one.deleted else RELATED, words=one.words)
        rows.append(HistoryRow(None, what, "", DecisionStatus.EDIT, edit=one))
    return rows


def merged(decisions: Sequence[HistoryRow], edits: Sequence[HistoryRow]) -> list[HistoryRow]:
    """Merge two lists, both newest first; at equal times, the decision counts as newer."""
    if not edits:
        return list(decisions)
    return sorted((*decisions, *edits), key=lambda row: row.at or datetime.min.replace(tzinfo=UTC), reverse=True)
