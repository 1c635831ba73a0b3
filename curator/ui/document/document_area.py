"""The reading area: one document laid out in a column, scrolled, and painted with its mentions.

Painted over text layouts rather than in a QTextBrowser: with 20,000 tokens in one paragraph and 2,000 mentions a
QTextBrowser with extra selections needs 450 ms to move the current mention, and cannot draw nested mentions
distinguishably.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from curator.domain.documents import Document, Span
from curator.domain.wording import tr
from curator.services.queue.queue import MentionView
from curator.ui.document.document_find import Found
from curator.ui.document.document_layout import COLUMN, LINE_HEIGHT, DocumentLayout, Styles, column_width
from curator.ui.document.document_painter import Scene, Tint, paint, painted_rects
from curator.ui.document.mention_handles import Handle
from curator.ui.document.mention_marks import MarkedScrollBar, Marks, MentionMark, bounds
from curator.ui.document.relation_lines import RelationLayers, RelationPair
from curator.ui.document.text_selection import TextSelection
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_list import scaled
from curator.ui.kit.theme import theme_of

MARGIN = 40
"""The least margin next to the column; in a narrow window it shrinks to a twelfth."""
READING_SCALE = 1.3
"""The size of the reading font relative to the interface's."""
LATE_MS = 40
"""Milliseconds until the relations of the framed mention are shown in full colour, after the mention is painted."""
HEADLINE = 1.25
"""The size of the text shown if no document is open, relative to the interface's font."""


class DocumentArea(QAbstractScrollArea):
    """Stores and paints the contents of `DocumentView`, without mouse and keys.

    The text never moves by itself: a change of width or font keeps the line at the top where it is.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Document text"))
        self.viewport().setBackgroundRole(QPalette.ColorRole.Base)
        self._document: Document | None = None
        self._views: tuple[MentionView, ...] = ()
        self._layout: DocumentLayout | None = None
        self._ahead: tuple[tuple[object, ...], DocumentLayout] | None = None  # of a document that may be shown next
        self._marks: Marks | None = None
        self._current: int | None = None
        self._tints: tuple[Tint, ...] = ()
        self._reading_font: QFont | None = None
        self._selected = TextSelection()
        self._line_height, self._columns = LINE_HEIGHT, COLUMN
        self._found = Found()
        self._preview: tuple[Span, ...] = ()  # the new spans of a mention being dragged
        self._handles: tuple[Handle, ...] = ()
        self._included: frozenset[int] | None = None
        self._pairs: tuple[RelationPair, ...] = ()
        self._lined: tuple[Marks, RelationLayers] | None = None  # the lines, for these marks
        self._late = QTimer(self, singleShot=True, interval=LATE_MS)
        self._late.timeout.connect(self._light)
        self._bar = MarkedScrollBar(self._bar_marks, self)
        self.setVerticalScrollBar(self._bar)
        self._settled = False
        self.empty_words = (tr("No document is open"), tr("Choose one from the queue."))

    @property
    def document(self) -> Document | None:
        """The open document."""
        return self._document

    @property
    def laid_out(self) -> DocumentLayout | None:
        """The layout with the position of each code point in the column."""
        return self._layout

    @property
    def current(self) -> int | None:
        """The mention that is framed."""
        return self._current

    @property
    def tints(self) -> tuple[Tint, ...]:
        """The words that are tinted."""
        return self._tints

    @property
    def handles(self) -> tuple[Handle, ...]:
        """The ends of the current mention that can be dragged."""
        return self._handles

    @property
    def preview(self) -> tuple[Span, ...]:
        """The spans of the current mention if the drag of its end stopped now; empty without a drag."""
        return self._preview

    @property
    def relations(self) -> tuple[RelationPair, ...]:
        """The pairs of mentions with lines."""
        return self._pairs

    def set_relations(self, pairs: Sequence[RelationPair]) -> None:
        """Draw lines between mentions of the shown document; an empty list removes the lines."""
        if tuple(pairs) != self._pairs:
            self._pairs, self._lined = tuple(pairs), None
            self.viewport().update()

    def set_included(self, included: frozenset[int] | None) -> None:
        """Dim the marks of all other mentions; None dims none."""
        if included != self._included:
            self._included = included
            self.viewport().update()

    def set_reading_font(self, font: QFont | None) -> None:
        """The text's font; None: the interface's, larger by `READING_SCALE`. Keeps the position in the text."""
        self._reading_font = font
        self._rebuild_in_place()

    def set_spacing(self, line_height: float, columns: int) -> None:
        """Set the line distance in ems and the column width in characters. Keeps the position in the text."""
        if (line_height, columns) != (self._line_height, self._columns):
            self._line_height, self._columns = line_height, columns
            self._rebuild_in_place()

    @property
    def reading_font(self) -> QFont:
        if self._reading_font is not None:
            return QFont(self._reading_font)
        font = QFont(self.font())
        font.setPointSizeF(max(font.pointSizeF(), 1.0) * READING_SCALE)
        return font

    def scroll_lines(self, lines: int) -> None:
        self.verticalScrollBar().setValue(
            self.verticalScrollBar().value() + lines * self.verticalScrollBar().singleStep()
        )

    def rect_of(self, span: Span) -> QRectF:
        """The rectangle of a span in viewport pixels, for placing popups next to it."""
        whole = QRectF()
        if self._layout is not None:
            for piece in self._layout.pieces(span):
                whole = whole.united(piece.rect)
        return whole.translated(self._origin())

    def below(self, span: Span) -> QPoint:
        """The screen position of a popup for a span."""
        return self.viewport().mapToGlobal(self.rect_of(span).bottomLeft().toPoint() + QPoint(0, 6))

    # --- layout ---

    def _build(self) -> None:
        document = self._document
        if document is None:
            return
        ahead, self._ahead = self._ahead, None
        ready = ahead is not None and ahead[0] == self._look_of(document)
        self._layout = ahead[1] if ready and ahead is not None else self._layout_of(document)
        self._lay_out()

    def prepare(self, document: Document) -> None:
        """Lay out a document that is likely to be shown next, in advance."""
        look = self._look_of(document)
        if self._ahead is None or self._ahead[0] != look:
            layout = self._layout_of(document)
            layout.lay_out(self._column())
            self._ahead = look, layout

    def _look_of(self, document: Document) -> tuple[object, ...]:
        """Everything except the width that a layout depends on."""
        text = document.id, document.title, document.text, document.passages
        return (*text, self.reading_font.key(), self._line_height)

    def _layout_of(self, document: Document) -> DocumentLayout:
        titled = any(p.kind == "title" for p in document.passages) or document.text.startswith(document.title)
        styles = Styles.of(self.reading_font, line_height=self._line_height)
        return DocumentLayout(document.text, document.passages, styles, title="" if titled else document.title)

    def _lay_out(self) -> None:
        if self._layout is not None:
            if self._layout.width != self._column():
                self._layout.lay_out(self._column())
            self._marks = Marks(self._layout, self._views)
            self._handles = ()
        self._bar.forget()
        self._fit_scroll_bar()
        self.viewport().update()

    def _rebuild_in_place(self) -> None:
        anchor = self._top_offset()
        self._build()
        self._scroll_to_offset(anchor)

    def _column(self) -> float:
        room = self.viewport().width()
        return max(min(column_width(self.reading_font, self._columns), room - 2 * min(MARGIN, room // 12)), 60.0)

    def _top_margin(self) -> float:
        return QFontMetricsF(self.reading_font).height() * 1.5

    def _fit_scroll_bar(self) -> None:
        bar, page = self.verticalScrollBar(), self.viewport().height()
        height = self._layout.height + 2 * self._top_margin() if self._layout is not None else 0
        bar.setPageStep(page)
        bar.setSingleStep(int(self._layout.styles.body.line_height) if self._layout is not None else 20)
        bar.setRange(0, max(int(height) - page, 0))

    def _origin(self) -> QPointF:
        """The column's top left corner in the viewport."""
        width = self._layout.width if self._layout is not None else 0.0
        left = max((self.viewport().width() - width) // 2, 0)
        return QPointF(float(left), self._top_margin() - self.verticalScrollBar().value())

    def _top_offset(self) -> tuple[int, float] | None:
        """The code point at the viewport's top and how far its line is scrolled out."""
        if self._layout is None or not self._layout.blocks or self.verticalScrollBar().value() == 0:
            return None
        offset = self._layout.offset_at(QPointF(0, -self._origin().y()))
        return offset, self._layout.caret(offset).top() + self._origin().y()

    def _scroll_to_offset(self, anchor: tuple[int, float] | None) -> None:
        if anchor is not None and self._layout is not None and self._layout.blocks:
            top = self._layout.caret(anchor[0]).top() + self._top_margin() - anchor[1]
            self.verticalScrollBar().setValue(int(top))

    def _bring_into_sight(self, mark: MentionMark) -> None:
        """Scroll as little as necessary to show the mention with two lines of context."""
        assert self._layout is not None
        where = bounds(mark).translated(self._origin())
        context = 2 * self._layout.styles.body.line_height
        page, bar = self.viewport().height(), self.verticalScrollBar()
        if where.isEmpty() or (where.top() >= context and where.bottom() <= page - context):
            return
        if where.top() < context:
            bar.setValue(int(bar.value() + where.top() - page / 3))
        else:
            bar.setValue(int(bar.value() + min(where.bottom() - page * 2 / 3, where.top() - context)))

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Move the screen contents; only newly visible lines are painted."""
        self.viewport().scroll(dx, dy)

    # --- painting ---

    def _mark(self, mention_id: int | None) -> MentionMark | None:
        return self._marks.get(mention_id) if self._marks is not None else None

    def is_in_sight(self, mention_id: int) -> bool:
        """Whether any part of a mention is visible in the viewport."""
        mark, origin, page = self._mark(mention_id), self._origin(), self.viewport().height()
        return mark is not None and any(0 <= piece.rect.center().y() + origin.y() < page for piece in mark.pieces)

    def painted_of(self, mention_id: int | None) -> list[QRect]:
        """Viewport rectangles of a painted mention; none if it is not in the open document."""
        return self._painted(self._mark(mention_id))

    def _painted(self, mark: MentionMark | None) -> list[QRect]:
        rects = painted_rects(mark) if mark is not None else ()
        return [rect.translated(self._origin()).toAlignedRect() for rect in rects]

    def _update_mark(self, mark: MentionMark | None) -> None:
        for rect in self._painted(mark):
            self.viewport().update(rect)
        if self._pairs:
            self._late.start()

    def _relation_layers(self, marks: Marks) -> RelationLayers:
        """The layers, built once for the current positions of mentions."""
        if self._lined is None or self._lined[0] is not marks:
            assert self._layout is not None
            self._lined = (marks, RelationLayers(self._pairs, marks, self._layout.inked))
            self._lined[1].light(self._current)
        return self._lined[1]

    def _light(self) -> None:
        """Show the relations of the framed mention in full colour."""
        if self._pairs and self._marks is not None:
            for rect in self._relation_layers(self._marks).light(self._current):
                self.viewport().update(rect.translated(self._origin()).toAlignedRect())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        if self._layout is None or self._marks is None:
            self._paint_empty(painter)
        else:
            caret = self._selected.caret if self.hasFocus() and self._selected.by_keyboard else None
            paint(painter, self._scene(self._layout, self._marks, caret), QRectF(event.rect()))
        painter.end()

    def _scene(self, layout: DocumentLayout, marks: Marks, caret: int | None) -> Scene:
        selected = self._preview or ((self._selected.span,) if self._selected.span is not None else ())
        return Scene(
            layout=layout,
            marks=marks,
            origin=self._origin(),
            palette=self.palette(),
            current=self._current,
            selected=selected,
            caret=caret,
            tints=self._tints,
            found=self._found,
            handles=self._handles,
            relations=self._relation_layers(marks) if self._pairs else None,
            included=self._included,
        )

    def _bar_marks(self) -> Iterator[tuple[QColor, Iterator[float]]]:
        """Marks for the scroll bar: undecided mentions, then matches."""
        layout, marks = self._layout, self._marks
        if layout is not None and marks is not None and layout.height > 0 and self.verticalScrollBar().maximum() > 0:
            theme = theme_of(self.palette())
            yield theme.states[MentionState.UNDECIDED].line, (top / layout.height for top in marks.undecided())
            yield theme.note_ink, (layout.y_of(span.start) / layout.height for span in self._found.spans)

    def _paint_empty(self, painter: QPainter) -> None:
        theme, area = theme_of(self.palette()), self.viewport().rect()
        painter.setPen(theme.palette.color(QPalette.ColorRole.Text))
        painter.setFont(scaled(self.font(), HEADLINE, bold=True))
        middle = area.center().y()
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
        upper = QRectF(area.left() + 20, middle - 200, area.width() - 40, 195)
        painter.drawText(upper, flags | Qt.AlignmentFlag.AlignBottom, self.empty_words[0])
        painter.setFont(self.font())
        painter.setPen(theme.muted)
        painter.drawText(upper.translated(0, 205), flags | Qt.AlignmentFlag.AlignTop, self.empty_words[1])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._layout is not None and abs(self._column() - self._layout.width) > 0.5:
            anchor, seen = self._top_offset(), self._current is not None and self.is_in_sight(self._current)
            self._lay_out()
            self._scroll_to_offset(anchor if self.isVisible() else None)
            if seen and (mark := self._mark(self._current)) is not None:
                self._bring_into_sight(mark)
        else:
            self._fit_scroll_bar()
            self.viewport().update()
        if not self._settled:
            self._to_top()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._settled:  # shown for the first time, now at its real size
            self._settled = True
            self._to_top()

    def _to_top(self) -> None:
        """Scroll to the top, and then down only until the current mention is visible."""
        self.verticalScrollBar().setValue(0)
        if (mark := self._mark(self._current)) is not None:
            self._bring_into_sight(mark)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._rebuild_in_place()
        elif event.type() == QEvent.Type.PaletteChange:
            self._bar.forget()
            self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(int(column_width(self.reading_font)) + 2 * MARGIN, 600)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
