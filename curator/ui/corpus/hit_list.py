"""The lines of a search: the hit in its context, then its mention, document and passage, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QStyleOptionViewItem, QWidget

from curator.domain.decisions import Outcome, Verdict
from curator.domain.wording import tr
from curator.services.ports.queue import MentionContext
from curator.services.queue.corpus_search import Bar, Hit
from curator.ui.deciding.kwic_list import KwicDelegate
from curator.ui.deciding.kwic_rows import CheckMark, KwicRow
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_list import PAD, draw_words, scaled
from curator.ui.kit.theme import theme_of

SMALL = 0.9
GAP = 14.0
MOST = 0.5
"""The greatest share of a line for the columns. If they need more, the last ones are left out."""
HEADINGS = ("Mention here", "Document", "Passage")
SAMPLES = ("undecided: Cardiomyopath", "PMC12345678", "DISCUSSION")
"""Texts that should fit in each column."""
STATES = {
    Outcome.LINK: MentionState.LINKED,
    Outcome.NIL: MentionState.NIL,
    Outcome.REJECTED: MentionState.REJECTED,
    Outcome.SKIPPED: MentionState.SKIPPED,
}
BAR_WORDS = {Bar.BORDER: "in two passages", Bar.BLANK: "white space alone"}


@dataclass(frozen=True, slots=True)
class HitRow(KwicRow):
    hit: Hit | None = None

    @property
    def said(self) -> str:
        """The text of all columns."""
        cells = hit_cells(self.hit) if self.hit is not None else ()
        return ", ".join(f"{tr(heading)}: {words}" for heading, words in zip(HEADINGS, cells, strict=False))


def hit_cells(hit: Hit) -> tuple[str, ...]:
    """The contents of the columns."""
    return mention_words(hit), hit.external_id, hit.passage or "–"


def mention_words(hit: Hit) -> str:
    """The mention at the hit, with its state and entity, or why there cannot be one; empty if there is none."""
    if hit.bar is not None:
        return tr(BAR_WORDS[hit.bar])
    if hit.mention is None:
        return "–"
    state = _state_words(hit.mention.verdict, hit.mention.names)
    return state if hit.exact else tr("in “{text}”: {state}", text=hit.mention.text, state=state)


def _state_words(verdict: Verdict | None, names: Sequence[str]) -> str:
    if verdict is None:
        return MentionState.UNDECIDED.word
    return " + ".join(names) if names else STATES[verdict.outcome].word


def column_places(font: QFont) -> list[tuple[float, float]]:
    """(Begin, width) in pixels of the columns, from the first one's left edge."""
    wide = QFontMetricsF(scaled(font, SMALL)).horizontalAdvance
    widths = [max(wide(tr(one)), wide(sample)) for one, sample in zip(HEADINGS, SAMPLES, strict=True)]
    ends = accumulate(one + GAP for one in widths)
    return [(end - GAP - one, one) for one, end in zip(widths, ends, strict=True)]


def end_width(width: float, font: QFont) -> float:
    """The width of the columns that fit in a line of this width; the first one is always shown."""
    ends = [begin + wide for begin, wide in column_places(font)]
    return max((end for end in ends if end <= width * MOST), default=min(ends[0], width * MOST))


class HitDelegate(KwicDelegate):
    """Rows of a list of `HitRow`."""

    def end_width(self, width: float, font: QFont) -> float:
        return end_width(width, font)

    def paint_end(self, painter: QPainter, option: QStyleOptionViewItem, row: KwicRow, where: QRectF) -> None:
        if not isinstance(row, HitRow) or row.hit is None:
            return
        muted, text = theme_of(option.palette).muted, option.palette.color(QPalette.ColorRole.Text)
        font = scaled(option.font, SMALL)
        cells = zip(hit_cells(row.hit), column_places(option.font), strict=True)
        for column, (words, (begin, width)) in enumerate(cells):
            if column and begin + width > where.width() + 1:
                break
            rect = QRectF(where.left() + begin, where.top(), min(width, where.width()), where.height())
            strong = column == 0 and row.hit.exact
            draw_words(painter, rect, words, font=font, colour=text if strong else muted)


class HitHeader(QWidget):
    """The headings over the columns; as wide as the list's rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inset = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_inset(self, pixels: int) -> None:
        """The width of the list's scroll bar."""
        self._inset = pixels
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(60, int(QFontMetricsF(self.font()).height()) + 8)

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        theme, font = theme_of(self.palette()), scaled(self.font(), SMALL, bold=True)
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.AlternateBase))
        side = QFontMetricsF(self.font()).height() * 0.75
        rect = QRectF(self.rect()).adjusted(PAD + side + 10, 0, -PAD - self._inset, 0)
        end = end_width(rect.width(), self.font())
        words = rect.adjusted(0, 0, -end - 12, 0)
        draw_words(painter, words, tr("Hit in its context"), font=font, colour=theme.muted)
        for column, (heading, (begin, width)) in enumerate(zip(HEADINGS, column_places(self.font()), strict=True)):
            if column and begin + width > end + 1:
                break
            cell = QRectF(rect.right() - end + begin, rect.top(), min(width, end), rect.height())
            draw_words(painter, cell, tr(heading), font=font, colour=theme.muted)
        painter.end()


def makeable(hit: Hit) -> bool:
    """Whether a mention can be made from it."""
    return hit.bar is None and not hit.exact


def row_of(hit: Hit, number: int, *, ticked: bool = False) -> HitRow:
    """A line; `number` is used as the mention's id, since most hits are not mentions."""
    context = MentionContext(
        number, hit.document_id, hit.external_id, hit.start, hit.left, hit.text, hit.right, "", None, "", None
    )
    mark = CheckMark.TICKED if ticked else CheckMark.UNTICKED
    return HitRow("", context, mark if makeable(hit) else CheckMark.NONE, hit)
