"""Makes mentions from search hits, and decides them in the same step, which can be undone at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from curator.domain.decisions import Change, ChangeKind, OperationKind, Outcome, Shown, Verdict
from curator.domain.documents import MentionOrigin, SourceMention, Span
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.curating.deciding import decide_in, step_in
from curator.services.curating.mention_edits import checked
from curator.services.ports.storage import UnitOfWork
from curator.services.queue.corpus_search import Bar, Hit, bar_of

NOTHING_SHOWN = Shown("", ())
"""No candidate was shown: none was rejected."""
NONE_CHOSEN = "No hit was chosen. Tick those that you want to make mentions of."
NONE_LEFT = "No mention was made: {reasons}."
NO_TYPE = "A mention needs a type. Choose one of the project's types."
ONE_NIL, MANY_NIL = "Made {n:,} mention from a search, marked NIL", "Made {n:,} mentions from a search, marked NIL"
ONE_LINKED = "Made {n:,} mention from a search, linked to “{name}”"
MANY_LINKED = "Made {n:,} mentions from a search, linked to “{name}”"
NOTE = "Found by searching the documents for “{text}”"


class LeftOut(StrEnum):
    """Why no mention was made from a hit."""

    EXISTS = "exists"  # a mention is at exactly this place
    BORDER = "border"  # crosses the end of a passage
    BLANK = "blank"  # is only white space
    CHANGED = "changed"  # the document's text has changed there


BARS = {Bar.BORDER: LeftOut.BORDER, Bar.BLANK: LeftOut.BLANK}


@dataclass(frozen=True, slots=True)
class Made:
    """`change` is the step; its `mention_ids` are the new mentions. `left_out`: numbers of hits left out, by reason."""

    change: Change
    left_out: Mapping[LeftOut, int]


def left_out_words(left_out: Mapping[LeftOut, int]) -> str:
    """For display: "2 are mentions already, 1 crosses the end of a passage"; '' if nothing was left out."""
    exists, border, blank, changed = (left_out.get(one, 0) for one in LeftOut)
    words = (
        ntr("{n:,} is a mention already", "{n:,} are mentions already", exists) if exists else "",
        ntr("{n:,} crosses the end of a passage", "{n:,} cross the end of a passage", border) if border else "",
        ntr("{n:,} is white space alone", "{n:,} are white space alone", blank) if blank else "",
        ntr("{n:,} is in a text that changed", "{n:,} are in texts that changed", changed) if changed else "",
    )
    return ", ".join(one for one in words if one)


class HitMaking(Service):
    def make(self, hits: Sequence[Hit], mention_type: str, verdict: Verdict | None, *, sought: str = "") -> Made:
        """Make mentions of this type, all with this decision (None: undecided), as one operation. `sought` is noted
        with each decision. Hits that cannot become mentions, and existing mentions, are left out.

        Call it from a worker thread: the documents are read. Raises UserError if nothing is chosen or everything is
        left out, without a type, for an unknown entity, and while the curator judges in a round; then nothing is
        changed.
        """
        self._refuse_in_round()
        if not hits:
            raise UserError(tr(NONE_CHOSEN))
        if not mention_type.strip():
            raise UserError(tr(NO_TYPE))
        written = self._store.written
        with self._store.read() as unit:  # the slowest part, done while others can write
            wanted, left_out = _wanted(unit, hits, mention_type.strip())
        with self._store.write() as unit:
            if self._store.written != written or self._store.team is not None:  # whose writes are heard of later
                wanted, left_out = _wanted(unit, hits, mention_type.strip())
            if not wanted:
                raise UserError(tr(NONE_LEFT, reasons=left_out_words(left_out)))
            added = unit.mentions.add_many(wanted, origin=MentionOrigin.CURATOR)
            ids = [one for part in added.values() for one in part]
            change = self._decided(unit, tuple(wanted), ids, verdict, sought)
        self._events.emit(change)
        return Made(change, left_out)

    def _decided(
        self, unit: UnitOfWork, documents: tuple[int, ...], ids: list[int], verdict: Verdict | None, sought: str
    ) -> Change:
        text, kind = _words(unit, len(ids), verdict), OperationKind.ADD_MENTION
        if verdict is None:
            who, clock = self._curator(), self._clock
            return step_in(unit, kind, text, {"mentions": ids}, curator=who, clock=clock, documents=documents)
        change = decide_in(
            unit,
            ids,
            [verdict] * len(ids),
            curator=self._curator(),
            clock=self._clock,
            shown=[NOTHING_SHOWN] * len(ids),
            note=NOTE.format(text=sought) if sought else "",
            text=text,
            kind=kind,
        )
        return replace(change, kind=ChangeKind.MENTIONS)


def _wanted(
    unit: UnitOfWork, hits: Sequence[Hit], mention_type: str
) -> tuple[dict[int, list[SourceMention]], dict[LeftOut, int]]:
    """New mentions by document, for the current documents, and the hits left out."""
    left_out: Counter[LeftOut] = Counter()
    wanted: dict[int, list[SourceMention]] = {}
    by_document: dict[int, list[Hit]] = {}
    for one in hits:
        by_document.setdefault(one.document_id, []).append(one)
    mentions = unit.mentions.of_documents(list(by_document))
    for document_id, here in by_document.items():
        document = unit.documents.get(document_id)
        taken = {one.spans for one in mentions.get(document_id, [])}
        for hit in sorted(here, key=lambda one: one.place):
            spans = (Span(hit.start, hit.end),)
            bar = bar_of(document.text, document.passages, hit.start, hit.end)
            if document.text[hit.start : hit.end] != hit.text:
                left_out[LeftOut.CHANGED] += 1
            elif bar is not None:
                left_out[BARS[bar]] += 1
            elif spans in taken:
                left_out[LeftOut.EXISTS] += 1
            else:
                taken.add(spans)
                wanted.setdefault(document_id, []).append(checked(document, spans, mention_type))
    return wanted, dict(left_out)


def _words(unit: UnitOfWork, number: int, verdict: Verdict | None) -> str:
    """The history's text for the step."""
    if verdict is None:
        return ntr("Made {n:,} mention from a search", "Made {n:,} mentions from a search", number)
    if verdict.outcome is Outcome.NIL:
        return ntr(ONE_NIL, MANY_NIL, number)
    known = unit.kb.get_many(verdict.entity_ids)
    name = " + ".join(known[one].name if one in known else one for one in verdict.entity_ids)
    return ntr(ONE_LINKED, MANY_LINKED, number, name=name)
