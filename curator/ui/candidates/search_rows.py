"""Search results as rows: name above, facts below."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from curator.domain.entities import EntityMatch, Matches, MatchKind, ObsoleteEntity
from curator.domain.wording import UserError, ntr, tr
from curator.ui.kit.record_tables import RecordColumn, RecordModel
from curator.ui.kit.row_list import (
    PAD,
    SMALL,
    RowDelegate,
    draw_two_lines,
    draw_words,
    figure,
    row_height,
    scaled,
)
from curator.ui.kit.theme import Theme

Index = QModelIndex | QPersistentModelIndex
log = logging.getLogger(__name__)


HEADINGS = {
    MatchKind.SPELLING: "Similar spelling",
    MatchKind.MEANING: "Suggested by the linker",
    MatchKind.SOME_WORDS: "Names with some of the words",
    MatchKind.DEFINITION: "In the definition",
}
"""Above the first entity of the kind; those with a name of all the words have none."""


class MatchModel(RecordModel[EntityMatch | str]):
    """The search results under headings, which cannot be chosen; a row is an `EntityMatch` or the heading."""

    def __init__(self, parent: QObject | None = None) -> None:
        words = RecordColumn[EntityMatch | str]("", _name, tip=_spoken, spoken=_spoken)
        super().__init__([words], parent)

    def show_matches(self, matches: Sequence[EntityMatch]) -> None:
        self.show_rows(_under_headings(matches))

    def insert_matches(self, row: int, matches: Sequence[EntityMatch]) -> None:
        """Add results of other kinds than those there, before this row."""
        self.add_rows(_under_headings(matches), at=row)

    @property
    def matches(self) -> list[EntityMatch]:
        return [one for one in self.rows if isinstance(one, EntityMatch)]

    def found(self, row: int) -> EntityMatch | None:
        """The result in this row; None for a heading."""
        found = self.row(row)
        return found if isinstance(found, EntityMatch) else None

    def next_row(self, row: int, step: int = 1) -> int:
        """The row of the next result after `row`, or before it with step -1; -1 if there is none."""
        rows = range(row + step, self.rowCount() if step > 0 else -1, step)
        return next((one for one in rows if self.found(one) is not None), -1)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) if self.found(index.row()) is not None else Qt.ItemFlag.NoItemFlags


def _under_headings(matches: Sequence[EntityMatch]) -> list[EntityMatch | str]:
    rows: list[EntityMatch | str] = []
    for heading, group in groupby(matches, key=lambda one: HEADINGS.get(one.kind, "")):
        rows += [tr(heading)] if heading else []
        rows += group
    return rows


def _name(match: EntityMatch | str) -> str:
    return match if isinstance(match, str) else match.entity.name


def _spoken(match: EntityMatch | str) -> str:
    if isinstance(match, str):
        return match
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


class MatchDelegate(RowDelegate[EntityMatch | str]):
    """Rows of a `MatchModel`."""

    def height(self, font: QFont, row: EntityMatch | str) -> int:
        return row_height(font, 1.0 if isinstance(row, str) else 2.0)

    def ground(self, painter: QPainter, option: QStyleOptionViewItem, row: EntityMatch | str, theme: Theme) -> None:
        if not isinstance(row, str):
            super().ground(painter, option, row, theme)

    def draw(self, painter: QPainter, rect: QRectF, row: EntityMatch | str, font: QFont, theme: Theme) -> None:
        if isinstance(row, str):
            small = scaled(font, SMALL, bold=True)
            draw_words(painter, rect.adjusted(PAD + 4, 0, -PAD, 0), row, font=small, colour=theme.muted)
        else:
            line = QFontMetricsF(font).height()
            place = QRectF(rect.left() + PAD + 4, rect.top() + 7, rect.width() - 2 * PAD - 4, line)
            draw_two_lines(painter, place, row.entity.name, match_facts(row), font=font, theme=theme)


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
