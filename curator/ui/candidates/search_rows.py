"""Search results as rows: name above, facts below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPalette
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from curator.domain.entities import EntityMatch, Matches, ObsoleteEntity
from curator.domain.wording import UserError, ntr, tr
from curator.ui.kit import PAD, draw_focus, draw_ground, draw_words, in_role, row_height, scaled, theme_of

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
ROW_ROLE = int(Qt.ItemDataRole.UserRole)


class MatchModel(QAbstractListModel):
    """The search results; `ROW_ROLE` gives the `EntityMatch`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._matches: tuple[EntityMatch, ...] = ()

    def show_matches(self, matches: Sequence[EntityMatch]) -> None:
        self.beginResetModel()
        self._matches = tuple(matches)
        self.endResetModel()

    def found(self, row: int) -> EntityMatch | None:
        return self._matches[row] if 0 <= row < len(self._matches) else None

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._matches)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        match = self.found(index.row()) if index.isValid() else None
        if match is None:
            return None
        if role == ROW_ROLE:
            return match
        if role == Qt.ItemDataRole.DisplayRole:
            return match.entity.name
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(f"{match.entity.name}\n{match_facts(match)}", role)
        return None


def match_facts(match: EntityMatch) -> str:
    """Id, types, and the matching synonym if it is not the name."""
    parts = [match.entity.id, ", ".join(match.entity.types)]
    if match.matched.casefold() not in (match.entity.name.casefold(), match.entity.id.casefold()):
        parts.append(tr("matched “{matched}”", matched=match.matched))
    return " · ".join(part for part in parts if part)


class MatchDelegate(QStyledItemDelegate):
    """Rows of a `MatchModel`."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        return QSize(200, row_height(option.font))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        match = index.data(ROW_ROLE)
        if not isinstance(match, EntityMatch):
            return
        theme, rect = theme_of(option.palette), QRectF(option.rect)
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
OBSOLETE = "{id} “{name}” is obsolete."
REPLACED_BY = "↵ links what replaces it."
CONSIDER = "Consider these instead."
NOTHING_INSTEAD = "The knowledge base has nothing that replaces it. Search for another entity."
BROKEN = "The search failed. See the log for the reason; other searches still work."


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
