"""Lines of mentions in their contexts with facts in columns at their ends, under headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.wording import tr
from curator.ui.deciding.kwic_list import KwicDelegate, KwicList, KwicRow
from curator.ui.kit.row_list import PAD, draw_words, scaled
from curator.ui.kit.theme import Theme, theme_of

SMALL = 0.9
GAP = 14.0
MOST = 0.56
"""The greatest share of a line for the columns. If they need more, the last ones are left out."""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class KwicColumn(Generic[R]):
    """A heading, a text that should fit, and what a record shows; `strong` says whether it is not muted."""

    heading: str
    sample: str
    words: Callable[[R], str]
    figure: bool = False
    strong: Callable[[R], bool] = lambda _: False


class KwicColumns(Generic[R]):
    """The columns of a list; `context` is the heading of the words."""

    def __init__(self, context: str, columns: Sequence[KwicColumn[R]]) -> None:
        self.context, self.columns = context, columns
        self._known: dict[str, list[tuple[float, float]]] = {}  # by font: each painted line needs it twice

    def said(self, record: R) -> str:
        """The text of all columns."""
        return ", ".join(f"{tr(one.heading)}: {one.words(record)}" for one in self.columns)

    def places(self, font: QFont) -> Sequence[tuple[float, float]]:
        """(Begin, width) in pixels of the columns, from the first one's left edge."""
        look = font.key()  # the font may belong to a temporary option object
        if look not in self._known:
            heading = QFontMetricsF(scaled(font, SMALL, bold=True)).horizontalAdvance
            cell = QFontMetricsF(scaled(font, SMALL)).horizontalAdvance
            widths = [max(heading(tr(one.heading)), cell(tr(one.sample))) for one in self.columns]
            ends = accumulate(one + GAP for one in widths)
            self._known[look] = [(end - GAP - one, one) for one, end in zip(widths, ends, strict=True)]
        return self._known[look]

    def width(self, room: float, font: QFont) -> float:
        """The width of the columns that fit in a line of this width; the first one is always shown."""
        ends = [begin + wide for begin, wide in self.places(font)]
        return max((end for end in ends if end <= room * MOST), default=min(ends[0], room * MOST))

    def cells(self, where: QRectF, font: QFont) -> Sequence[tuple[KwicColumn[R], QRectF]]:
        """The columns that fit, with their places."""
        found: list[tuple[KwicColumn[R], QRectF]] = []
        for column, (begin, width) in zip(self.columns, self.places(font), strict=True):
            if found and begin + width > where.width() + 1:
                break
            place = QRectF(where.left() + begin, where.top(), min(width, where.width()), where.height())
            found.append((column, place))
        return found


@dataclass(frozen=True, slots=True)
class RecordRow(KwicRow):
    """A line of a record, with its columns."""

    record: Any = None
    columns: KwicColumns[Any] | None = None

    @property
    def said(self) -> str:
        return self.columns.said(self.record) if self.columns is not None else ""


class ColumnDelegate(KwicDelegate):
    """Paints a list of `RecordRow`."""

    def __init__(self, columns: KwicColumns[Any], parent: QWidget) -> None:
        super().__init__(parent)
        self._columns = columns

    def end_width(self, width: float, font: QFont) -> float:
        return self._columns.width(width, font)

    def draw_end(self, painter: QPainter, where: QRectF, row: KwicRow, font: QFont, theme: Theme) -> None:
        if not isinstance(row, RecordRow):
            return
        text, small = theme.palette.color(QPalette.ColorRole.Text), scaled(font, SMALL)
        for one, place in self._columns.cells(where, font):
            colour = text if one.strong(row.record) else theme.muted
            draw_words(painter, place, one.words(row.record), font=small, colour=colour, right=one.figure)


class ColumnHeader(QWidget):
    """The headings over the columns of a list, which it makes paint its rows in columns."""

    def __init__(self, columns: KwicColumns[Any], over: KwicList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns, self._inset = columns, 0
        over.setItemDelegate(ColumnDelegate(columns, over))
        self._bar = over.verticalScrollBar()
        self._bar.rangeChanged.connect(self._align)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def _align(self, low: int, high: int) -> None:
        """As wide as the rows, beside the list's scroll bar."""
        self._inset = self._bar.sizeHint().width() if high > low else 0
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
        end = self._columns.width(rect.width(), self.font())
        words = rect.adjusted(0, 0, -end - 12, 0)
        draw_words(painter, words, tr(self._columns.context), font=font, colour=theme.muted)
        for one, place in self._columns.cells(rect.adjusted(rect.width() - end, 0, 0, 0), self.font()):
            draw_words(painter, place, tr(one.heading), font=font, colour=theme.muted, right=one.figure)
        painter.end()
