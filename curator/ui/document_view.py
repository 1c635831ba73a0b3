"""The document for reading: text in one column, mentions marked by state, the current one framed.

Painted over text layouts rather than in a QTextBrowser: with 20,000 tokens in one paragraph and 2,000 mentions a
QTextBrowser with extra selections needs 450 ms to move the current mention, and cannot draw nested mentions apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QToolTip, QWidget

from curator.domain.documents import Document, Span
from curator.services.queue import MentionView, OpenDocument
from curator.ui.document_layout import DocumentLayout, Styles, column_width
from curator.ui.document_painter import Scene, frame_rects, paint
from curator.ui.mention_marks import Mark, Marks, bounds
from curator.ui.mention_words import tooltip
from curator.ui.text_selection import TextSelection
from curator.ui.theme import theme_of

MARGIN = 40
"""Least space beside the column; it narrows to a third where the window is narrow."""
READING_SCALE = 1.3
"""The reading font against the interface's."""


class DocumentView(QAbstractScrollArea):
    """Shows one `OpenDocument`.

    API: `show_document`, `clear`, `set_current`, `update_mentions`, `selection`, `set_reading_font`, `scroll_lines`.
    Every offset counts code points of the stored text. Keys: Left and Right move a caret (Ctrl: by word, Shift:
    selecting), Ctrl+Up and Ctrl+Down scroll, Ctrl+C copies, Esc drops the selection; all others are the window's.
    """

    mention_activated = Signal(int)
    mention_double_clicked = Signal(int)
    selection_changed = Signal(object)  # Span | None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Document text")
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Base)
        self._document: Document | None = None
        self._views: tuple[MentionView, ...] = ()
        self._layout: DocumentLayout | None = None
        self._marks: Marks | None = None
        self._current: int | None = None
        self._reading_font: QFont | None = None
        self._selected = TextSelection()
        self._pressed: QPoint | None = None
        self._empty = ("No document is open", "Choose one from the queue.")

    # --- what is shown ---

    def show_document(self, opened: OpenDocument, *, current: int | None = None) -> None:
        """Show a document from its top; the same text again keeps its place and only updates the mentions."""
        if self._document is not None and self._same_text(opened.document):
            self._document = opened.document
            self.update_mentions(opened.mentions)
        else:
            self._document, self._views = opened.document, opened.mentions
            self._current = None
            self._selected = TextSelection()
            self._build()
            self.verticalScrollBar().setValue(0)
            self.selection_changed.emit(None)
        self.setAccessibleDescription(f"{opened.document.title}: {len(opened.mentions)} mentions")
        self.set_current(current)

    def clear(self, *, headline: str = "No document is open", hint: str = "Choose one from the queue.") -> None:
        """Show no document but two lines that say what to do next."""
        self._document, self._views, self._layout, self._marks, self._current = None, (), None, None, None
        self._empty = (headline, hint)
        self._set_selected(TextSelection())
        self._fit_scroll_bar()
        self.viewport().update()

    def set_current(self, mention_id: int | None) -> None:
        """Frame a mention and, only where it is out of sight, scroll to it."""
        old, self._current = self._current, mention_id
        for one in {old, mention_id}:
            self._update_mark(self._mark(one))
        mark = self._mark(mention_id)
        if mark is not None:
            self._bring_into_sight(mark)
            self._selected = self._selected.at(mark.view.mention.spans[0].start, keep=self._selected.span is not None)

    @property
    def current(self) -> int | None:
        return self._current

    def update_mentions(self, views: Sequence[MentionView]) -> None:
        """All mentions of the shown document, anew. Text and scroll position stay; what changed is repainted."""
        self._views = tuple(views)
        if self._marks is None or self._layout is None:
            return
        if self._marks.same_places(self._views):
            for mark in self._marks.patch(self._views):
                self._update_mark(mark)
            return
        self._marks = Marks(self._layout, self._views)
        if self._current not in self._marks:
            self._current = None
        self.viewport().update()

    @property
    def selection(self) -> Span | None:
        """The selected code points; white space at the ends is left out."""
        return self._selected.span_in(self._document.text if self._document else "")

    def clear_selection(self) -> None:
        self._set_selected(self._selected.at(self._selected.caret))

    def set_reading_font(self, font: QFont | None) -> None:
        """The text's font; None: the interface's, larger by `READING_SCALE`. Keeps the place in the text."""
        self._reading_font = font
        self._rebuild_in_place()

    @property
    def reading_font(self) -> QFont:
        if self._reading_font is not None:
            return self._reading_font
        font = QFont(self.font())
        font.setPointSizeF(max(font.pointSizeF(), 1.0) * READING_SCALE)
        return font

    def scroll_lines(self, lines: int) -> None:
        self.verticalScrollBar().setValue(
            self.verticalScrollBar().value() + lines * self.verticalScrollBar().singleStep()
        )

    def rect_of(self, span: Span) -> QRectF:
        """Where a span stands in viewport pixels, for placing popups beside it."""
        whole = QRectF()
        if self._layout is not None:
            for piece in self._layout.pieces(span):
                whole = whole.united(piece.rect)
        return whole.translated(self._origin())

    # --- layout ---

    def _same_text(self, document: Document) -> bool:
        shown = self._document
        return shown is not None and (shown.id, shown.text, shown.passages) == (
            document.id,
            document.text,
            document.passages,
        )

    def _build(self) -> None:
        document = self._document
        if document is None:
            return
        titled = any(p.kind == "title" for p in document.passages) or document.text.startswith(document.title)
        title = "" if titled else document.title
        self._layout = DocumentLayout(document.text, document.passages, Styles.of(self.reading_font), title=title)
        self._lay_out()

    def _lay_out(self) -> None:
        if self._layout is not None:
            self._layout.lay_out(self._column())
            self._marks = Marks(self._layout, self._views)
        self._fit_scroll_bar()
        self.viewport().update()

    def _rebuild_in_place(self) -> None:
        anchor = self._top_offset()
        self._build()
        self._scroll_to_offset(anchor)

    def _column(self) -> float:
        room = self.viewport().width()
        return max(min(column_width(self.reading_font), room - 2 * min(MARGIN, room // 12)), 60.0)

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

    def _bring_into_sight(self, mark: Mark) -> None:
        """Scroll as little as shows the mention with two lines of its context; the text never jumps for less."""
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

    # --- painting ---

    def _mark(self, mention_id: int | None) -> Mark | None:
        return self._marks.get(mention_id) if self._marks is not None else None

    def _update_mark(self, mark: Mark | None) -> None:
        for rect in frame_rects(mark) if mark is not None else ():
            self.viewport().update(rect.translated(self._origin()).adjusted(-3, -3, 5, 5).toAlignedRect())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        if self._layout is None or self._marks is None:
            self._paint_empty(painter)
        else:
            caret = self._selected.caret if self.hasFocus() and self._selected.by_keyboard else None
            scene = Scene(
                self._layout, self._marks, self._origin(), self.palette(), self._current, self._selected.span, caret
            )
            paint(painter, scene, QRectF(event.rect()))
        painter.end()

    def _paint_empty(self, painter: QPainter) -> None:
        theme, area = theme_of(self.palette()), self.viewport().rect()
        painter.setPen(theme.palette.color(QPalette.ColorRole.Text))
        font = self.reading_font
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        middle = area.center().y()
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
        upper = QRectF(area.left() + 20, middle - 200, area.width() - 40, 195)
        painter.drawText(upper, flags | Qt.AlignmentFlag.AlignBottom, self._empty[0])
        painter.setFont(self.font())
        painter.setPen(theme.muted)
        painter.drawText(upper.translated(0, 205), flags | Qt.AlignmentFlag.AlignTop, self._empty[1])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._layout is not None and abs(self._column() - self._layout.width) > 0.5:
            anchor = self._top_offset()
            self._lay_out()
            self._scroll_to_offset(anchor if self.isVisible() else None)
        else:
            self._fit_scroll_bar()
            self.viewport().update()
        if not self.isVisible() and (mark := self._mark(self._current)) is not None:
            self.verticalScrollBar().setValue(0)  # shown for the first time: from the top, as far as it goes
            self._bring_into_sight(mark)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if (mark := self._mark(self._current)) is not None:
            self._bring_into_sight(mark)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._rebuild_in_place()
        elif event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(int(column_width(self.reading_font)) + 2 * MARGIN, 600)

    # --- mouse ---

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton or self._layout is None:
            return
        self._pressed = event.position().toPoint()
        offset = self._offset_at(event.position())
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._set_selected(self._selected.to(offset) if extend else self._selected.at(offset))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._layout is None:
            return
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed is not None:
            self._drag_to(event.position())
            return
        over = bool(self._marks_at(event.position()))
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.IBeamCursor)

    def _drag_to(self, position: QPointF) -> None:
        assert self._pressed is not None
        moved = (position.toPoint() - self._pressed).manhattanLength()
        if moved < QApplication.startDragDistance() and self._selected.span is None:
            return
        self._set_selected(self._selected.to(self._offset_at(position)))
        outside = position.y() - min(max(position.y(), 0.0), float(self.viewport().height()))
        if outside:
            self.scroll_lines(1 if outside > 0 else -1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if event.button() is not Qt.MouseButton.LeftButton or pressed is None or self._selected.span is not None:
            return
        marks = self._marks_at(event.position())
        if marks:
            self.mention_activated.emit(self._next_of(marks).id)

    def _next_of(self, marks: list[Mark]) -> Mark:
        """The innermost mention; clicking the current one again reaches the next one around it."""
        ids = [mark.id for mark in marks]
        return marks[(ids.index(self._current) + 1) % len(marks)] if self._current in ids else marks[0]

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._layout is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        marks = self._marks_at(event.position())
        if marks:
            ids = [mark.id for mark in marks]
            self.mention_double_clicked.emit(self._current if self._current in ids else ids[0])
            return
        word = self._layout.word_at(self._offset_at(event.position(), nearest=False))
        if word is not None:
            self._set_selected(TextSelection(word.start, word.end))

    def _offset_at(self, position: QPointF, *, nearest: bool = True) -> int:
        assert self._layout is not None
        return self._layout.offset_at(position - self._origin(), nearest=nearest)

    def _marks_at(self, position: QPointF) -> list[Mark]:
        return self._marks.at(position - self._origin()) if self._marks is not None else []

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            marks = self._marks_at(QPointF(event.pos()))
            if marks:
                area = bounds(marks[0]).translated(self._origin()).toAlignedRect()
                QToolTip.showText(event.globalPos(), "<hr>".join(tooltip(m.view) for m in marks), self.viewport(), area)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    # --- keyboard ---

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        if self._layout is None or not self._layout.blocks:
            event.ignore()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(forward=key == Qt.Key.Key_Right, by_word=control, modifiers=modifiers)
        elif control and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.scroll_lines(3 if key == Qt.Key.Key_Down else -3)
        elif control and key == Qt.Key.Key_C and self.selection is not None:
            assert self._document is not None
            QGuiApplication.clipboard().setText(self._document.text[self.selection.start : self.selection.end])
        elif key == Qt.Key.Key_Escape and self._selected.span is not None:
            self.clear_selection()
        else:
            event.ignore()

    def _step(self, *, forward: bool, by_word: bool, modifiers: Qt.KeyboardModifier) -> None:
        assert self._layout is not None
        moved = self._layout.step(self._selected.caret, by_word=by_word, forward=forward)
        extend = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        self._set_selected(self._selected.to(moved, by_keyboard=True) if extend else TextSelection(moved, moved, True))
        where = self._layout.caret(moved).translated(self._origin())
        if where.top() < 0 or where.bottom() > self.viewport().height():
            self.verticalScrollBar().setValue(int(self.verticalScrollBar().value() + where.top() - self.height() / 3))

    def _set_selected(self, selected: TextSelection) -> None:
        old, self._selected = self._selected, selected
        self.viewport().update()
        if old.span != selected.span:
            self.selection_changed.emit(self.selection)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
