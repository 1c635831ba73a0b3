"""The lines of an entity's uses: the mention in its context, then facts about the link, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QStyleOptionViewItem, QWidget

from curator.domain.documents import DocumentState
from curator.domain.wording import localised, tr
from curator.services.ports.queue import MentionUse
from curator.ui.deciding.kwic_list import KwicDelegate
from curator.ui.deciding.kwic_rows import CheckMark, KwicRow
from curator.ui.kit.row_list import PAD, draw_words, scaled
from curator.ui.kit.theme import Theme, theme_of

SMALL = 0.9
GAP = 14.0
MOST = 0.56
"""The greatest share of a line for the columns. If they need more, the last ones are left out."""


@dataclass(frozen=True, slots=True)
class UseRow(KwicRow):
    use: MentionUse | None = None

    @property
    def said(self) -> str:
        """The text of all columns."""
        cells = use_cells(self.use) if self.use is not None else ()
        return ", ".join(f"{tr(heading)}: {words}" for heading, words in zip(HEADINGS, cells, strict=False))


HEADINGS = ("Linker", "Document", "Curator", "Decided", "State")
"""Headings of the columns; in a narrow list the last ones are left out."""
SAMPLES = ("not listed", "PMC12345678", "import:bc5cdr", "30 Nov 2026", "in progress")
"""Texts that should fit in each column."""
FIGURES, STATE = 0, 4


def use_cells(use: MentionUse) -> tuple[str, ...]:
    """The contents of the columns."""
    one = use.context
    return (
        chance_words(use.probability),
        one.external_id,
        one.curator,
        localised(use.at.astimezone(), "%d %b %Y"),
        tr(use.state.words),
    )


def chance_words(probability: float | None) -> str:
    """The probability in per cent; "not listed" if the entity is not a candidate."""
    if probability is None:
        return "–"
    if not probability:
        return tr("not listed")
    return "> 99 %" if probability > 0.99 else f"{localised(max(probability * 100, 1), '.0f')} %"


def column_places(font: QFont) -> Sequence[tuple[float, float]]:
    """(Begin, width) in pixels of the columns, from the first one's left edge."""
    look = font.key()  # the font may belong to a temporary option object
    if look not in _known:
        _known[look] = _places(font)
    return _known[look]


_known: dict[str, Sequence[tuple[float, float]]] = {}
"""Cache by the font's key: each painted line needs it twice."""


def _places(font: QFont) -> Sequence[tuple[float, float]]:
    heading = QFontMetricsF(scaled(font, SMALL, bold=True)).horizontalAdvance
    cell = QFontMetricsF(scaled(font, SMALL)).horizontalAdvance
    widths = [max(heading(tr(one)), cell(tr(sample))) for one, sample in zip(HEADINGS, SAMPLES, strict=True)]
    ends = accumulate(one + GAP for one in widths)
    return [(end - GAP - one, one) for one, end in zip(widths, ends, strict=True)]


def end_width(width: float, font: QFont) -> float:
    """The width of the columns that fit in a line of this width; the first one is always shown."""
    ends = [begin + wide for begin, wide in column_places(font)]
    return max((end for end in ends if end <= width * MOST), default=ends[0])


class UseDelegate(KwicDelegate):
    """Rows of a list of `UseRow`."""

    def end_width(self, width: float, font: QFont) -> float:
        return end_width(width, font)

    def paint_end(self, painter: QPainter, option: QStyleOptionViewItem, row: KwicRow, where: QRectF) -> None:
        if not isinstance(row, UseRow) or row.use is None:
            return
        theme = theme_of(option.palette)
        text = option.palette.color(QPalette.ColorRole.Text)
        font = scaled(option.font, SMALL)
        cells = zip(use_cells(row.use), column_places(option.font), strict=True)
        for column, (words, (begin, width)) in enumerate(cells):
            if begin + width > where.width() + 1:
                break
            rect = QRectF(where.left() + begin, where.top(), width, where.height())
            strong = column == FIGURES or (column == STATE and row.use.state is DocumentState.DONE)
            colour, right = text if strong else theme.muted, column == FIGURES
            draw_words(painter, rect, words, font=font, colour=colour, right=right)


class UseHeader(QWidget):
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
        theme: Theme = theme_of(self.palette())
        painter.fillRect(self.rect(), self.palette().color(QPalette.ColorRole.AlternateBase))
        side = QFontMetricsF(self.font()).height() * 0.75
        rect = QRectF(self.rect()).adjusted(PAD + side + 10, 0, -PAD - self._inset, 0)
        end = end_width(rect.width(), self.font())
        font = scaled(self.font(), SMALL, bold=True)
        words = rect.adjusted(0, 0, -end - 12, 0)
        draw_words(painter, words, tr("Mention in its context"), font=font, colour=theme.muted)
        for column, (heading, (begin, width)) in enumerate(zip(HEADINGS, column_places(self.font()), strict=True)):
            if begin + width > end + 1:
                break
            cell = QRectF(rect.right() - end + begin, rect.top(), width, rect.height())
            draw_words(painter, cell, tr(heading), font=font, colour=theme.muted, right=column == FIGURES)
        painter.end()


def rows_of(uses: Sequence[MentionUse], ticked: set[int]) -> list[KwicRow]:
    """Lines in the given order; those of `ticked` mentions with a tick."""
    marks = (CheckMark.TICKED if one.context.mention_id in ticked else CheckMark.UNTICKED for one in uses)
    return [UseRow("", one.context, mark, one) for one, mark in zip(uses, marks, strict=True)]
