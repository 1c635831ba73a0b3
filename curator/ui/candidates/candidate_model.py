"""The candidates of the current mention as a table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from curator.domain.entities import EntityMatch
from curator.domain.suggestions import Candidate, Opinion
from curator.domain.wording import ntr, tr
from curator.services.queue.queue import MentionView
from curator.ui.kit.foreign_text import tip
from curator.ui.kit.row_list import figure

BELOW = "below the limit"
OTHER_TYPE = "of another type"
GONE = "no longer in the knowledge base"
BY_MODEL = "chosen by the language model"
KEYS = 9
"""Candidates that a digit chooses."""
ROW_ROLE = int(Qt.ItemDataRole.UserRole)

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class CandidateColumn(IntEnum):
    """Fixed columns; one for each stage's score follows."""

    RANK = 0
    NAME = 1
    ID = 2
    TYPE = 3
    MATCHED = 4
    SCORE = 5
    MARGIN = 6
    OPINION = 7


HEADERS = ("Rank", "Name", "Id", "Type", "Matched", "Score", "Margin", "Second opinion")


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


class CandidateTableModel(QAbstractTableModel):
    """`ROW_ROLE` gives the whole `CandidateRow`, in every column."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[CandidateRow] = []
        self._stages: tuple[str, ...] = ()

    def show_mention(self, view: MentionView | None, extent: Extent = ALL) -> None:
        """Show a mention's rows. If the new rows have the same heights, only data change, and a view need not lay them
        out."""
        rows = candidate_rows(view, extent)
        stages = tuple(dict.fromkeys(stage for row in rows for stage in row.candidate.scores))
        alike = [row.keyed for row in rows] == [row.keyed for row in self._rows] and stages == self._stages
        if not alike:
            self.beginResetModel()
        self._rows, self._stages = rows, stages
        if not alike:
            self.endResetModel()
        elif rows:
            last = self.index(len(rows) - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [ROW_ROLE])

    def row(self, number: int) -> CandidateRow | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def row_of(self, entity_id: str) -> int | None:
        return next((i for i, row in enumerate(self._rows) if row.candidate.entity_id == entity_id), None)

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(HEADERS) + len(self._stages)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole or not 0 <= section < (
            self.columnCount() if orientation is Qt.Orientation.Horizontal else self.rowCount()
        ):
            return None
        return (
            (*map(tr, HEADERS), *self._stages)[section]
            if orientation is Qt.Orientation.Horizontal
            else str(section + 1)
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row()) if index.isValid() else None
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return self._display(row, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip("\n".join((row.candidate.name, row.facts, *([tr(BY_MODEL)] if row.opinion else []))))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            number = f"{row.rank}: " if row.rank else ""
            score = "" if row.blind or not row.rank else tr(", score {value:.2f}", value=row.value)
            opinion = f", {tr(BY_MODEL)}" if row.opinion else ""
            return f"{number}{row.candidate.name}, {row.facts}{score}{opinion}"
        return None

    def _display(self, row: CandidateRow, column: int) -> str:
        candidate = row.candidate
        if column >= CandidateColumn.SCORE and (row.blind or not row.rank):
            return ""
        if column >= len(HEADERS):
            score = candidate.scores.get(self._stages[column - len(HEADERS)])
            return "" if score is None else figure(score)
        fixed = (str(row.rank or ""), candidate.name, candidate.entity_id, ", ".join(candidate.types), row.matched)
        margin = "" if row.margin is None else figure(row.margin)
        return (*fixed, figure(row.value), margin, "◆" if row.opinion else "")[column]
