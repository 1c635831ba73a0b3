"""Search results as rows: name above, facts below."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from curator.domain.entities import EntityMatch, Matches, MatchKind, ObsoleteEntity
from curator.domain.wording import UserError, ntr, tr
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.row_list import PAD, draw_focus, draw_ground, draw_words, figure, row_height, scaled
from curator.ui.kit.theme import theme_of

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)
log = logging.getLogger(__name__)


HEADINGS = {
    MatchKind.SPELLING: "Similar spelling",
    MatchKind.MEANING: "Suggested by the linker",
    MatchKind.SOME_WORDS: "Names with some of the words",
    MatchKind.DEFINITION: "In the definition",
}
"""Above the first entity of the kind; those with a name of all the words have none."""


class MatchModel(QAbstractListModel):
    """The search results under headings, which cannot be chosen; `ROW_ROLE` gives the `EntityMatch`, or the heading."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[EntityMatch | str] = []

    def show_matches(self, matches: Sequence[EntityMatch]) -> None:
        self.beginResetModel()
        self._rows = _under_headings(matches)
        self.endResetModel()

    def insert_matches(self, row: int, matches: Sequence[EntityMatch]) -> None:
        """Add results of other kinds than those there, before this row."""
        if rows := _under_headings(matches):
            self.beginInsertRows(NO_PARENT, row, row + len(rows) - 1)
            self._rows[row:row] = rows
            self.endInsertRows()

    @property
    def matches(self) -> list[EntityMatch]:
        return [one for one in self._rows if isinstance(one, EntityMatch)]

    def found(self, row: int) -> EntityMatch | None:
        """The result in this row; None for a heading."""
        found = self._rows[row] if 0 <= row < len(self._rows) else None
        return found if isinstance(found, EntityMatch) else None

    def next_row(self, row: int, step: int = 1) -> int:
        """The row of the next result after `row`, or before it with step -1; -1 if there is none."""
        rows = range(row + step, len(self._rows) if step > 0 else -1, step)
        return next((one for one in rows if self.found(one) is not None), -1)

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) if self.found(index.row()) is not None else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row if isinstance(row, str) else row.entity.name
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(row if isinstance(row, str) else _spoken(row), role)
        return None


def _under_headings(matches: Sequence[EntityMatch]) -> list[EntityMatch | str]:
    rows: list[EntityMatch | str] = []
    for heading, group in groupby(matches, key=lambda one: HEADINGS.get(one.kind, "")):
        rows += [tr(heading)] if heading else []
        rows += group
    return rows


def _spoken(match: EntityMatch) -> str:
    heading = f" · {tr(HEADINGS[match.kind])}" if match.kind in HEADINGS else ""
    return f"{match.entity.name}\n{match_facts(match)}{heading}"


def match_facts(match: EntityMatch) -> str:
    """Id, types, the linker's probability, and the matching synonym if it is not the name."""
    parts = [match.entity.id, ", ".join(match.entity.types)]
    if match.probability is not None:
        parts.append(tr("probability {value}", value=figure(match.probability)))
    if match.matched.casefold() not in (match.entity.name.casefold(), match.entity.id.casefold()):
        parts.append(tr("matched “{matched}”", matched=match.matched))
    return " · ".join(part for part in parts if part)


class MatchDelegate(QStyledItemDelegate):
    """Rows of a `MatchModel`."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, row_height(option.font, 1.0 if isinstance(index.data(ROW_ROLE), str) else 2.0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        match = index.data(ROW_ROLE)
        theme, rect = theme_of(option.palette), QRectF(option.rect)
        if isinstance(match, str):
            small = scaled(option.font, 0.88, bold=True)
            draw_words(painter, rect.adjusted(PAD + 4, 0, -PAD, 0), match, font=small, colour=theme.muted)
        if not isinstance(match, EntityMatch):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_ground(painter, option, theme)
        line = QFontMetricsF(option.font).height()
        text = theme.palette.color(QPalette.ColorRole.Text)
        place = QRectF(rect.left() + PAD + 4, rect.top() + 7, rect.width() - 2 * PAD - 4, line)
        draw_words(painter, place, match.entity.name, font=scaled(option.font, 1.0, bold=True), colour=text)
        facts = place.translated(0, line)
        draw_words(painter, facts, match_facts(match), font=scaled(option.font, 0.88), colour=theme.muted)
        draw_focus(painter, option, theme)
        painter.restore()


# The answer of a search in the knowledge base: entities, or the reason why there are none.

Search = Callable[[str], Sequence[EntityMatch]]
Meant = Callable[[str, Callable[[], bool]], Sequence[EntityMatch]]
"""The linker's candidates for a text; it stops when the function returns False."""
OBSOLETE = "{id} “{name}” is obsolete."
REPLACED_BY = "↵ links what replaces it."
CONSIDER = "Consider these instead."
NOTHING_INSTEAD = "The knowledge base has nothing that replaces it. Search for another entity."
BROKEN = "The search failed. See the log for the reason; other searches still work."


@dataclass(frozen=True, slots=True)
class EntitySearch:
    """Searches for use in a thread: `named` in the knowledge base, and then `meant`, by the linker, which takes longer.
    As a function it is `named`."""

    named: Search
    meant: Meant

    def __call__(self, query: str) -> Sequence[EntityMatch]:
        return self.named(query)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The results of a query, or the reason why it failed."""

    query: str
    matches: tuple[EntityMatch, ...] = ()
    trouble: str = ""
    left_out: int = 0  # outside of the branches of the search
    obsolete: ObsoleteEntity | None = None  # the query is its id


def obsolete_words(answer: SearchAnswer) -> str:
    """The message that the query is the id of an obsolete entity; '' if it is not."""
    old = answer.obsolete
    if old is None:
        return ""
    words = tr(OBSOLETE, id=old.id, name=old.name)
    if not answer.matches:
        return f"{words} {tr(NOTHING_INSTEAD)}"
    return f"{words} {tr(REPLACED_BY) if old.replaced_by else tr(CONSIDER)}"


def left_out_words(answer: SearchAnswer) -> str:
    """The number of matches outside of the branches; '' if none is known."""
    return ntr("{n:,} outside the branches", "{n:,} outside the branches", answer.left_out) if answer.left_out else ""


def answer_to(search: Search, query: str) -> SearchAnswer:
    """The answer to a query, for use in a thread: an error becomes the answer's `trouble`."""
    try:
        found = search(query)
        if not isinstance(found, Matches):
            return SearchAnswer(query, tuple(found))
        return SearchAnswer(query, tuple(found), left_out=found.left_out, obsolete=found.obsolete)
    except UserError as error:
        return SearchAnswer(query, trouble=str(error))


def leads_to(meant: Meant, query: str, wanted: Callable[[], bool]) -> Sequence[EntityMatch]:
    """The linker's candidates, for use in a thread; none if the linker cannot answer."""
    try:
        return meant(query, wanted)
    except UserError as error:
        log.warning("The linker suggested nothing for a search: %s", error)
        return ()
