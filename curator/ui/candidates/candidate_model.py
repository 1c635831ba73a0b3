"""The candidates of the current mention as rows."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject

from curator.domain.entities import EntityMatch
from curator.domain.suggestions import Candidate, Opinion
from curator.domain.wording import ntr, tr
from curator.services.queue.queue import MentionView
from curator.ui.kit.record_tables import RecordColumn, RecordModel

BELOW = "below the limit"
OTHER_TYPE = "of another type"
GONE = "no longer in the knowledge base"
BY_MODEL = "chosen by the language model"
KEYS = 9
"""Candidates that a digit chooses."""


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A candidate with its rank. `value`: its probability, or its score. `margin`: the first candidate's lead; for
    others, the negative distance to the first."""

    rank: int
    candidate: Candidate
    value: float
    margin: float | None
    fraction: float  # of the bar, 0..1
    chosen: bool  # the current decision links to it
    accepted: bool  # Enter links to it
    calibrated: bool = True  # whether `value` may be trusted as a probability
    reason: str = ""  # reason why it is normally hidden
    blind: bool = False  # no figure is shown
    opinion: bool = False  # a language model chose it

    @property
    def keyed(self) -> bool:
        """Whether it has a digit key."""
        return 1 <= self.rank <= KEYS and not self.reason

    @property
    def look(self) -> tuple[object, ...]:
        """Everything that determines its picture."""
        one = self.candidate
        shown = (one.entity_id, one.name, one.types, one.matched, one.decided_times, one.decided_documents)
        places = (self.rank, self.value, self.margin, self.fraction, self.reason)
        return (*shown, *places, self.chosen, self.accepted, self.calibrated, self.blind, self.opinion)

    @property
    def matched(self) -> str:
        """The matching synonym, if it is not the name itself."""
        candidate = self.candidate
        return "" if candidate.matched.casefold() == candidate.name.casefold() else candidate.matched

    @property
    def before(self) -> str:
        """How often this exact string was linked to this entity."""
        times, documents = self.candidate.decided_times, self.candidate.decided_documents
        if not times:
            return ""
        often = ntr("once", "{n:,} times", times)
        where = ntr("{n:,} document", "{n:,} documents", documents)
        return tr("decided {often} in {where}", often=often, where=where)

    @property
    def facts(self) -> str:
        """The facts, most informative first, since the end of a line may be cut off."""
        return self._facts(tr("matched “{name}”", name=self.matched))

    @property
    def short_facts(self) -> str:
        """The facts for a narrow row, with only the synonym itself."""
        return self._facts(f"“{self.matched}”")

    def _facts(self, matched: str) -> str:
        parts = [tr(self.reason), matched if self.matched else "", "" if self.blind else self.before]
        parts += [self.candidate.entity_id, ", ".join(self.candidate.types)]
        return " · ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Extent:
    """Which candidates are shown, and how. Those beyond `limit`, and `others`, which the type mapping excludes, are
    shown only on request; `gone` are no longer in the knowledge base. `blind`: without figures. `opinion`: a language
    model's choice."""

    limit: int = 10_000
    others: tuple[EntityMatch, ...] = ()
    gone: frozenset[str] = frozenset()
    blind: bool = False
    opinion: Opinion | None = None

    def said_of(self, mention_id: int) -> Opinion | None:
        """The opinion about this mention, unless figures are hidden."""
        here = self.opinion is not None and self.opinion.mention_id == mention_id and not self.blind
        return self.opinion if here else None


ALL = Extent()


def candidate_rows(view: MentionView | None, extent: Extent = ALL) -> list[CandidateRow]:
    """Rows of a mention in the order of its suggestion, with the probability (taking NIL into account), or with the
    score if there is none. Bars show the figure itself, or its share of the best if scores exceed 1."""
    linked = view.decision.verdict.entity_ids if view is not None and view.decision is not None else ()
    others = [_other(one, chosen=one.entity.id in linked, blind=extent.blind) for one in extent.others]
    if view is None or view.suggestion is None or not view.suggestion.candidates:
        return others if view is not None else []
    candidates = view.suggestion.candidates
    probable = any(one.probability for one in candidates)
    figures = [one.probability if probable else one.score for one in candidates]
    best, full = figures[0], max(1.0, figures[0])
    said = extent.said_of(view.mention.id)
    enter_links = view.decision is None and not view.suggestion.nil.is_nil and not extent.blind
    margins = [best - figures[1] if len(figures) > 1 else None, *(one - best for one in figures[1:])]
    rows = [
        CandidateRow(
            rank,
            one,
            value,
            margin,
            fraction=min(max(value / full, 0.0), 1.0),
            chosen=one.entity_id in linked,
            accepted=rank == 1 and enter_links,
            calibrated=view.suggestion.nil.calibrated,
            reason=GONE if one.entity_id in extent.gone else BELOW if rank > extent.limit else "",
            blind=extent.blind,
            opinion=said is not None and said.entity_id == one.entity_id,
        )
        for rank, (one, value, margin) in enumerate(zip(candidates, figures, margins, strict=True), start=1)
    ]
    return rows + others


def _other(match: EntityMatch, *, chosen: bool, blind: bool) -> CandidateRow:
    entity = match.entity
    candidate = Candidate(entity.id, entity.name, entity.types, match.matched, 0.0)
    return CandidateRow(0, candidate, 0.0, None, 0.0, chosen, False, reason=OTHER_TYPE, blind=blind)


class CandidateModel(RecordModel[CandidateRow]):
    """The rows of a mention."""

    def __init__(self, parent: QObject | None = None) -> None:
        name = RecordColumn[CandidateRow]("", lambda row: row.candidate.name, tip=_tip, spoken=_spoken)
        super().__init__([name], parent)

    def show_mention(self, view: MentionView | None, extent: Extent = ALL) -> None:
        """Show a mention's rows. If the new rows have the same heights, only data change, and a view need not lay them
        out."""
        rows = candidate_rows(view, extent)
        if [row.keyed for row in rows] == [row.keyed for row in self._rows]:
            self._rows = rows
            self.refresh()
        else:
            self.show_rows(rows)

    def row_of(self, entity_id: str) -> int | None:
        return self.place(lambda row: row.candidate.entity_id == entity_id)


def _tip(row: CandidateRow) -> str:
    return "\n".join((row.candidate.name, row.facts, *([tr(BY_MODEL)] if row.opinion else [])))


def _spoken(row: CandidateRow) -> str:
    number = f"{row.rank}: " if row.rank else ""
    score = "" if row.blind or not row.rank else tr(", score {value:.2f}", value=row.value)
    opinion = f", {tr(BY_MODEL)}" if row.opinion else ""
    return f"{number}{row.candidate.name}, {row.facts}{score}{opinion}"
