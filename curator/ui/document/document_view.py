"""The document for reading: text in one column, mentions marked by state, the current one framed; its caret, selection
and find, and the mouse over it.

Painted over text layouts rather than in a QTextBrowser: with 20,000 tokens in one paragraph and 2,000 mentions a
QTextBrowser with extra selections needs 450 ms to move the current mention, and cannot draw nested mentions
distinguishably.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleTextCursorEvent,
    QColor,
    QContextMenuEvent,
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
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QToolTip, QWidget

from curator.domain.documents import Document, Span
from curator.domain.spans import snapped, word_at
from curator.domain.wording import ntr, tr
from curator.services.queue.queue import MentionView, OpenDocument
from curator.ui.document.document_find import Found, find_in
from curator.ui.document.document_layout import COLUMN, LINE_HEIGHT, DocumentLayout, Styles, column_width
from curator.ui.document.document_painter import Scene, Tint, paint, painted_rects, tint_at
from curator.ui.document.mention_handles import Handle, dragged, handle_at, handles
from curator.ui.document.mention_marks import MarkedScrollBar, Marks, MentionMark, bounds
from curator.ui.document.relation_lines import RelationLayers, RelationPair
from curator.ui.document.screen_reader import ReadingCopy
from curator.ui.kit.foreign_text import escaped
from curator.ui.kit.mention_state import LONG_FORM, MentionState, long_form, marked, spoken, tooltip
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
Key, Modifier = Qt.Key, Qt.KeyboardModifier
CARET_KEYS = {Key.Key_Left, Key.Key_Right, Key.Key_Up, Key.Key_Down, Key.Key_Home, Key.Key_End}


@dataclass(frozen=True, slots=True)
class TextSelection:
    """Code points; the selection is between `anchor` and `caret`. A caret moved with keys is visible."""

    anchor: int = 0
    caret: int = 0
    by_keyboard: bool = False

    @property
    def span(self) -> Span | None:
        return None if self.anchor == self.caret else Span(min(self.anchor, self.caret), max(self.anchor, self.caret))

    def span_in(self, text: str) -> Span | None:
        """The span without white space at its ends; None if nothing else is selected."""
        if self.span is None:
            return None
        part = text[self.span.start : self.span.end]
        start = self.span.start + len(part) - len(part.lstrip())
        end = start + len(part.strip())
        return Span(start, end) if end > start else None

    def at(self, offset: int, *, keep: bool = False) -> TextSelection:
        """No selection, with the caret at `offset`; `keep` changes nothing."""
        return self if keep else TextSelection(offset, offset)

    def to(self, offset: int, *, by_keyboard: bool = False) -> TextSelection:
        """The selection extended to `offset`."""
        return TextSelection(self.anchor, offset, by_keyboard or self.by_keyboard)


class DocumentView(QAbstractScrollArea):
    """Shows one `OpenDocument`. Every offset counts code points of the stored text.

    The text never moves by itself: a change of width or font keeps the line at the top where it is.

    Left and Right move a caret (Ctrl by word, Shift selecting). In caret mode Up, Down, Home and End do too, which
    otherwise belong to the window; Esc clears the selection, then leaves the mode. During a drag with the mouse, Ctrl
    reverses snapping to words and Esc cancels.
    """

    selection_changed = Signal(object)  # Span | None
    caret_mode_changed = Signal(bool)
    found_changed = Signal(object)  # Found
    mention_activated = Signal(int)
    mention_double_clicked = Signal(int)
    reshaped = Signal(int, object)  # mention id, the spans it was dragged to
    zoom_wanted = Signal(int)  # steps
    menu_wanted = Signal(object)  # QPoint on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Document text"))
        self.viewport().setBackgroundRole(QPalette.ColorRole.Base)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.document: Document | None = None
        self._views: tuple[MentionView, ...] = ()
        self.laid_out: DocumentLayout | None = None  # the position of each code point in the column
        self._ahead: tuple[tuple[object, ...], DocumentLayout] | None = None  # of a document that may be shown next
        self._marks: Marks | None = None
        self.current: int | None = None  # the mention that is framed
        self.tints: tuple[Tint, ...] = ()
        self._reading_font: QFont | None = None
        self._line_height, self._columns = LINE_HEIGHT, COLUMN
        self._included: frozenset[int] | None = None
        self.relations: tuple[RelationPair, ...] = ()  # mentions with lines between them
        self._lined: tuple[Marks, RelationLayers] | None = None  # the lines, for these marks
        self._selected = TextSelection()
        self.caret_mode = False
        self.found = Found()
        self._query, self._find_from = "", 0
        self._pressed: QPoint | None = None  # where the mouse was pressed
        self._press_offset = 0
        self._dragged: Handle | None = None
        self.preview: tuple[Span, ...] = ()  # the spans of the current mention if the drag of its end stopped now
        self.handles: tuple[Handle, ...] = ()  # the ends of the current mention that can be dragged
        self._editable = self._snapping = False
        self._copy: ReadingCopy | None = None
        self._told = ""  # of the current mention
        self._entered: int | None = None  # the mention that the caret entered
        self._late = QTimer(self, singleShot=True, interval=LATE_MS)
        self._late.timeout.connect(self._light)
        self._bar = MarkedScrollBar(self._bar_marks, self)
        self.setVerticalScrollBar(self._bar)
        self._settled = False
        self.empty_words = (tr("No document is open"), tr("Choose one from the queue."))

    # --- what is shown ---

    def show_document(self, opened: OpenDocument, *, current: int | None = None) -> None:
        """Show a document from its top; if the text is the same, the position is kept and only mentions are updated."""
        if self.document is not None and self._same_text(opened.document):
            self.document = opened.document
            self.update_mentions(opened.mentions)
        else:
            self.document, self._views = opened.document, opened.mentions
            self.current = None
            self._selected = TextSelection()
            self.tints = ()
            self._drop_handles()
            self._build()
            self.verticalScrollBar().setValue(0)
            self.selection_changed.emit(None)
            self._find_again()
        self.set_current(current)

    def clear(self, *, headline: str = "No document is open", hint: str = "Choose one from the queue.") -> None:
        """Show no document, but two lines with the next steps."""
        self.document, self._views, self.laid_out, self._marks, self.current = None, (), None, None, None
        self.found = Found()
        self._drop_handles()
        self.empty_words = (headline, hint)
        self._told, self._entered = "", None
        self.setAccessibleDescription(f"{headline}. {hint}")
        self._set_selected(TextSelection())
        self._fit_scroll_bar()
        self.viewport().update()

    def set_current(self, mention_id: int | None) -> None:
        """Frame a mention and, only if it is not visible, scroll to it."""
        if mention_id != self.current:
            self._drop_handles()
        old, self.current = self.current, mention_id
        for one in {old, mention_id}:
            self._update_mark(self._mark(one))
        mark = self._mark(mention_id)
        if mark is not None:
            self._bring_into_sight(mark)
            keep = self._selected.span is not None or (self.caret_mode and old == mention_id)
            self._selected = self._selected.at(mark.view.mention.spans[0].start, keep=keep)
        self._tell_reader(mark)

    def update_mentions(self, views: Sequence[MentionView]) -> None:
        """Update all mentions of the shown document. Text and scroll position stay; only changes are repainted."""
        self._views = tuple(views)
        self._bar.forget()
        if self._marks is None or self.laid_out is None:
            return
        if self._marks.same_places(self._views):
            for mark in self._marks.patch(self._views):
                self._update_mark(mark)
            return
        self._marks = Marks(self.laid_out, self._views)
        self._drop_handles()
        if self.current not in self._marks:
            self.current = None
        self.viewport().update()

    def set_tints(self, tints: Sequence[Tint]) -> None:
        """Tint words of the shown document; an empty list removes them. Each has a tooltip with its words."""
        if tuple(tints) != self.tints:
            self.tints = tuple(tints)
            self.viewport().update()

    def _same_text(self, document: Document) -> bool:
        shown = self.document
        return shown is not None and (shown.id, shown.text, shown.passages) == (
            document.id,
            document.text,
            document.passages,
        )

    def set_relations(self, pairs: Sequence[RelationPair]) -> None:
        """Draw lines between mentions of the shown document; an empty list removes the lines."""
        if tuple(pairs) != self.relations:
            self.relations, self._lined = tuple(pairs), None
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
        if self.laid_out is not None:
            for piece in self.laid_out.pieces(span):
                whole = whole.united(piece.rect)
        return whole.translated(self._origin())

    def below(self, span: Span) -> QPoint:
        """The screen position of a popup for a span."""
        return self.viewport().mapToGlobal(self.rect_of(span).bottomLeft().toPoint() + QPoint(0, 6))

    # --- layout ---

    def _build(self) -> None:
        document = self.document
        if document is None:
            return
        ahead, self._ahead = self._ahead, None
        ready = ahead is not None and ahead[0] == self._look_of(document)
        self.laid_out = ahead[1] if ready and ahead is not None else self._layout_of(document)
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
        if self.laid_out is not None:
            if self.laid_out.width != self._column():
                self.laid_out.lay_out(self._column())
            self._marks = Marks(self.laid_out, self._views)
            self.handles = ()
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
        height = self.laid_out.height + 2 * self._top_margin() if self.laid_out is not None else 0
        bar.setPageStep(page)
        bar.setSingleStep(int(self.laid_out.styles.body.line_height) if self.laid_out is not None else 20)
        bar.setRange(0, max(int(height) - page, 0))

    def _origin(self) -> QPointF:
        """The column's top left corner in the viewport."""
        width = self.laid_out.width if self.laid_out is not None else 0.0
        left = max((self.viewport().width() - width) // 2, 0)
        return QPointF(float(left), self._top_margin() - self.verticalScrollBar().value())

    def _top_offset(self) -> tuple[int, float] | None:
        """The code point at the viewport's top and how far its line is scrolled out."""
        if self.laid_out is None or not self.laid_out.blocks or self.verticalScrollBar().value() == 0:
            return None
        offset = self.laid_out.offset_at(QPointF(0, -self._origin().y()))
        return offset, self.laid_out.caret(offset).top() + self._origin().y()

    def _scroll_to_offset(self, anchor: tuple[int, float] | None) -> None:
        if anchor is not None and self.laid_out is not None and self.laid_out.blocks:
            top = self.laid_out.caret(anchor[0]).top() + self._top_margin() - anchor[1]
            self.verticalScrollBar().setValue(int(top))

    def _bring_into_sight(self, mark: MentionMark) -> None:
        """Scroll as little as necessary to show the mention with two lines of context."""
        assert self.laid_out is not None
        where = bounds(mark).translated(self._origin())
        context = 2 * self.laid_out.styles.body.line_height
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
        if self.relations:
            self._late.start()

    def _relation_layers(self, marks: Marks) -> RelationLayers:
        """The layers, built once for the current positions of mentions."""
        if self._lined is None or self._lined[0] is not marks:
            assert self.laid_out is not None
            self._lined = (marks, RelationLayers(self.relations, marks, self.laid_out.inked))
            self._lined[1].light(self.current)
        return self._lined[1]

    def _light(self) -> None:
        """Show the relations of the framed mention in full colour."""
        if self.relations and self._marks is not None:
            for rect in self._relation_layers(self._marks).light(self.current):
                self.viewport().update(rect.translated(self._origin()).toAlignedRect())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        if self.laid_out is None or self._marks is None:
            self._paint_empty(painter)
        else:
            caret = self._selected.caret if self.hasFocus() and self._selected.by_keyboard else None
            paint(painter, self._scene(self.laid_out, self._marks, caret), QRectF(event.rect()))
        painter.end()

    def _scene(self, layout: DocumentLayout, marks: Marks, caret: int | None) -> Scene:
        selected = self.preview or ((self._selected.span,) if self._selected.span is not None else ())
        return Scene(
            layout=layout,
            marks=marks,
            origin=self._origin(),
            palette=self.palette(),
            current=self.current,
            selected=selected,
            caret=caret,
            tints=self.tints,
            found=self.found,
            handles=self.handles,
            relations=self._relation_layers(marks) if self.relations else None,
            included=self._included,
        )

    def _bar_marks(self) -> Iterator[tuple[QColor, Iterator[float]]]:
        """Marks for the scroll bar: undecided mentions, then matches."""
        layout, marks = self.laid_out, self._marks
        if layout is not None and marks is not None and layout.height > 0 and self.verticalScrollBar().maximum() > 0:
            theme = theme_of(self.palette())
            yield theme.states[MentionState.UNDECIDED].line, (top / layout.height for top in marks.undecided())
            yield theme.note_ink, (layout.y_of(span.start) / layout.height for span in self.found.spans)

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
        if self.laid_out is not None and abs(self._column() - self.laid_out.width) > 0.5:
            anchor, seen = self._top_offset(), self.current is not None and self.is_in_sight(self.current)
            self._lay_out()
            self._scroll_to_offset(anchor if self.isVisible() else None)
            if seen and (mark := self._mark(self.current)) is not None:
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
        if (mark := self._mark(self.current)) is not None:
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

    # --- the selection ---

    @property
    def selection(self) -> Span | None:
        """The selected code points; without white space at the ends."""
        return self._selected.span_in(self.document.text if self.document else "")

    @property
    def caret(self) -> int:
        """The code point after the caret, which may be invisible."""
        return self._selected.caret

    def step(self, offset: int, *, forward: bool) -> int:
        """The next or previous caret position, by user-perceived characters."""
        return offset if self.laid_out is None else self.laid_out.step(offset, by_word=False, forward=forward)

    def select(self, span: Span) -> None:
        """Select a range like with keys; the text scrolls only if necessary."""
        self._set_selected(TextSelection(span.start, span.end, by_keyboard=True))
        self._show_offset(span.start)

    def clear_selection(self) -> None:
        self._set_selected(self._selected.at(self._selected.caret))

    def _set_selected(self, selected: TextSelection) -> None:
        old, self._selected = self._selected, selected
        self.viewport().update()
        if old.span != selected.span:
            self.selection_changed.emit(self.selection)
        if QAccessible.isActive() and self.laid_out is not None and selected != old:
            self._tell_caret()

    # --- caret mode ---

    def set_caret_mode(self, on: bool) -> None:
        """Show a caret at the current mention, or at its last position, movable by arrow keys; or hide it."""
        if on == self.caret_mode or self.laid_out is None or not self.laid_out.blocks:
            return
        self.caret_mode = on
        mark = self._mark(self.current)
        at = mark.view.mention.spans[0].start if on and mark is not None else self._selected.caret
        self._set_selected(TextSelection(at, at, by_keyboard=on))
        if on:
            self._show_offset(at)
        self.caret_mode_changed.emit(on)

    def event(self, event: QEvent) -> bool:
        """In caret mode, handle the keys that move the caret before the window's shortcuts."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._wants(event):
            event.accept()
            return True
        return super().event(event)

    def _wants(self, event: QKeyEvent) -> bool:
        alone = not event.modifiers() & (Modifier.AltModifier | Modifier.MetaModifier)
        return self.caret_mode and alone and (event.key() in CARET_KEYS or event.key() == Key.Key_Escape)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        control = bool(modifiers & Modifier.ControlModifier)
        if key == Key.Key_Escape and self._dragged is not None:
            self._drop_handles()
        elif self.laid_out is None or not self.laid_out.blocks or modifiers & Modifier.AltModifier:
            event.ignore()
        elif key in (Key.Key_Left, Key.Key_Right) or (self.caret_mode and key in CARET_KEYS):
            self._move_caret(self._moved(key, control=control), extend=bool(modifiers & Modifier.ShiftModifier))
        elif control and key in (Key.Key_Up, Key.Key_Down):
            self.scroll_lines(3 if key == Key.Key_Down else -3)
        elif control and key == Key.Key_C and self.selection is not None:
            assert self.document is not None
            QGuiApplication.clipboard().setText(self.document.text[self.selection.start : self.selection.end])
        elif key == Key.Key_Escape and self._selected.span is not None:
            self.clear_selection()
        elif key == Key.Key_Escape and self.caret_mode:
            self.set_caret_mode(False)
        else:
            event.ignore()

    def _moved(self, key: int, *, control: bool) -> int:
        """The new caret position; with Ctrl by word, and to the document's ends with Home and End."""
        layout, caret = self.laid_out, self._selected.caret
        assert layout is not None
        if key in (Key.Key_Left, Key.Key_Right):
            return layout.step(caret, by_word=control, forward=key == Key.Key_Right)
        if key in (Key.Key_Up, Key.Key_Down):
            return layout.beside_line(caret, 1 if key == Key.Key_Down else -1)
        if control:
            return layout.blocks[0].start if key == Key.Key_Home else layout.blocks[-1].end
        return layout.line_end(caret) if key == Key.Key_End else layout.line_span(*layout.line_of(caret)).start

    def _move_caret(self, offset: int, *, extend: bool) -> None:
        moved = self._selected.to(offset, by_keyboard=True) if extend else TextSelection(offset, offset, True)
        self._set_selected(moved)
        self._show_offset(offset)

    def _show_offset(self, offset: int) -> None:
        """Scroll if the line of a code point is not visible."""
        if self.laid_out is None or not self.laid_out.blocks:
            return
        where: QRectF = self.laid_out.caret(offset).translated(self._origin())
        if where.top() < 0 or where.bottom() > self.viewport().height():
            self._bar.setValue(int(self._bar.value() + where.top() - self.viewport().height() / 3))

    # --- finding ---

    def find_text(self, query: str) -> Found:
        """Mark every match of `query`; the current one is the first at or after the start of the search."""
        if not query.strip() or not self._query.strip():
            self._find_from = self._selected.span.start if self._selected.span is not None else self._first_in_sight()
        self._query = query
        return self._show_found(find_in(self.document.text if self.document else "", query, start=self._find_from))

    def find_beside(self, direction: int) -> Found:
        """Go to the next or previous match, wrapping around."""
        return self._show_found(self.found.beside(direction))

    def end_find(self) -> None:
        """Remove the marks; the current match is selected, so that a mention can be made from it."""
        current, self._query = self.found.current, ""
        self._show_found(Found())
        if current is not None:
            self.select(current)

    def _find_again(self) -> None:
        """Repeat the query in another document."""
        self._find_from = 0
        text = self.document.text if self.document is not None else ""
        self.found = find_in(text, self._query)
        self.found_changed.emit(self.found)

    def _show_found(self, found: Found) -> Found:
        self.found = found
        if found.current is not None:
            self._show_offset(found.current.start)
        self._bar.forget()
        self.viewport().update()
        self.found_changed.emit(found)
        return found

    def _first_in_sight(self) -> int:
        if self.laid_out is None or not self.laid_out.blocks:
            return 0
        mark = self._mark(self.current)
        if mark is not None and 0 <= self.rect_of(mark.view.mention.spans[0]).top() <= self.viewport().height():
            return mark.view.mention.spans[0].start
        anchor = self._top_offset()
        return anchor[0] if anchor is not None else 0

    # --- the mouse ---

    def set_editable(self, editable: bool) -> None:
        """Set whether the ends of the current mention can be dragged."""
        self._editable = editable

    def set_snapping(self, snapping: bool) -> None:
        """Set whether selections and drags with the mouse snap to whole words."""
        self._snapping = snapping

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton or self.laid_out is None or not self.laid_out.blocks:
            return
        self._pressed = event.position().toPoint()
        self._dragged = handle_at(self.handles, event.position() - self._origin())
        if self._dragged is not None:
            return
        offset = self._offset_at(event.position())
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._press_offset = self._selected.anchor if extend else offset
        self._set_selected(self._selected.to(offset) if extend else self._selected.at(offset))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.laid_out is None:
            return
        snap = self._snapping != bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed is not None:
            if self._dragged is not None:
                self._drag_end(event.position(), snap=snap)
            else:
                self._drag_to(event.position(), snap=snap)
            return
        self._hover(event.position())

    def _hover(self, position: QPointF) -> None:
        """Handles appear while the mouse is over the current mention; the cursor shows the effect of a press."""
        marks = self._marks_at(position)
        mark = self._mark(self.current)
        at_handle = handle_at(self.handles, position - self._origin())
        if self._editable and mark is not None and self.laid_out is not None and (mark in marks or at_handle):
            self._show_handles(tuple(handles(self.laid_out, mark.view.mention.spans)))
        elif self.handles:
            self._drop_handles()
        shape = Qt.CursorShape.PointingHandCursor if marks else Qt.CursorShape.IBeamCursor
        at_handle = handle_at(self.handles, position - self._origin())
        self.viewport().setCursor(Qt.CursorShape.SizeHorCursor if at_handle else shape)

    def _show_handles(self, found: tuple[Handle, ...]) -> None:
        if found != self.handles:
            self.handles = found
            self.viewport().update()

    def _drop_handles(self) -> None:
        self._dragged, self.preview = None, ()
        self._show_handles(())

    def _drag_end(self, position: QPointF, *, snap: bool) -> None:
        """Show the mention's spans if the mouse is released here."""
        mark = self._mark(self.current)
        if mark is None or self.document is None or self._dragged is None:
            return
        spans, offset = mark.view.mention.spans, self._offset_at(position)
        self.preview = dragged(self.document.text, spans, self._dragged, offset, snap=snap)
        self.viewport().update()

    def _drag_to(self, position: QPointF, *, snap: bool) -> None:
        assert self._pressed is not None
        moved = (position.toPoint() - self._pressed).manhattanLength()
        if moved < QApplication.startDragDistance() and self._selected.span is None:
            return
        offset = self._offset_at(position)
        self._set_selected(
            self._snapped(self._press_offset, offset) if snap else TextSelection(self._press_offset, offset)
        )
        outside = position.y() - min(max(position.y(), 0.0), float(self.viewport().height()))
        if outside:
            self.scroll_lines(1 if outside > 0 else -1)

    def _snapped(self, anchor: int, offset: int) -> TextSelection:
        if anchor == offset or self.document is None:
            return TextSelection(offset, offset)
        found = snapped(self.document.text, Span(min(anchor, offset), max(anchor, offset)))
        forward = offset > anchor
        return TextSelection(found.start if forward else found.end, found.end if forward else found.start)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom the text with Ctrl and the wheel."""
        steps = event.angleDelta().y()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and steps:
            self.zoom_wanted.emit(1 if steps > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The mention under the mouse becomes the current one, unless text is selected."""
        place = event.globalPos()
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            marks = self._marks_at(QPointF(event.pos()))
            if marks and self._selected.span is None and self.current not in [mark.id for mark in marks]:
                self.mention_activated.emit(marks[0].id)
        elif (mark := self._mark(self.current)) is not None:
            below = self.rect_of(mark.view.mention.spans[0]).bottomLeft().toPoint()
            place = self.viewport().mapToGlobal(below)
        self.menu_wanted.emit(place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if self._dragged is not None:
            spans, current = self.preview, self.current
            self._drop_handles()
            if spans and current is not None:
                self.reshaped.emit(current, spans)
            return
        if event.button() is not Qt.MouseButton.LeftButton or pressed is None or self._selected.span is not None:
            return
        marks = self._marks_at(event.position())
        if marks:
            self.mention_activated.emit(self._next_of(marks).id)

    def _next_of(self, marks: list[MentionMark]) -> MentionMark:
        """The innermost mention; clicking the current one again selects the next enclosing one."""
        ids = [mark.id for mark in marks]
        return marks[(ids.index(self.current) + 1) % len(marks)] if self.current in ids else marks[0]

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.laid_out is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        marks = self._marks_at(event.position())
        if marks:
            ids = [mark.id for mark in marks]
            self.mention_double_clicked.emit(self.current if self.current in ids else ids[0])
            return
        word = self.laid_out.word_at(self._offset_at(event.position(), nearest=False))
        if word is not None:
            self._set_selected(TextSelection(word.start, word.end))

    def _offset_at(self, position: QPointF, *, nearest: bool = True) -> int:
        assert self.laid_out is not None
        return self.laid_out.offset_at(position - self._origin(), nearest=nearest)

    def _marks_at(self, position: QPointF) -> list[MentionMark]:
        return self._marks.at(position - self._origin()) if self._marks is not None else []

    # --- what is said on hover ---

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            marks = self._marks_at(QPointF(event.pos()))
            offset = self._offset_at(QPointF(event.pos()), nearest=False) if self.tints and self.laid_out else -1
            tint = tint_at(self.tints, offset)
            if tint is not None:
                QToolTip.showText(event.globalPos(), tint.tooltip, self.viewport())
            elif marks:
                area = bounds(marks[0]).translated(self._origin()).toAlignedRect()
                QToolTip.showText(event.globalPos(), "<hr>".join(tooltip(m.view) for m in marks), self.viewport(), area)
            else:
                self._tell_long_form(event)
            return True
        return super().viewportEvent(event)

    def _tell_long_form(self, event: QHelpEvent) -> None:
        """The tooltip of an abbreviation that is a mention elsewhere in the document: its long form."""
        offset = self._offset_at(QPointF(event.pos()), nearest=False) if self.laid_out is not None else 0
        word = word_at(self.document.text, offset) if self.document is not None else None
        inside = word is not None and self.rect_of(word).contains(QPointF(event.pos()))
        words = self.document.text[word.start : word.end] if inside and word is not None and self.document else ""
        long = long_form(words, self._views) if words else ""
        if long:
            QToolTip.showText(
                event.globalPos(), tr(LONG_FORM, short=escaped(words), long=escaped(long)), self.viewport()
            )
        else:
            QToolTip.hideText()

    # --- for screen readers ---

    def reading_copy(self) -> ReadingCopy:
        """The up-to-date copy of the document for screen readers."""
        if self._copy is None:
            self._copy = ReadingCopy(self)
            self._copy.moved.connect(self._reader_moved)
        scrolled = self.verticalScrollBar().value()
        self._copy.setGeometry(self.viewport().geometry())
        self._copy.show_layout(self.laid_out, origin=self._origin() + QPointF(0, scrolled), scrolled=scrolled)
        self._copy.show_mentions(self._views, theme_of(self.palette()))
        self._copy.show_selection(self._selected.anchor, self._selected.caret)
        return self._copy

    def _reader_moved(self, anchor: int, caret: int) -> None:
        if self.laid_out is not None:
            self._set_selected(TextSelection(anchor, caret, by_keyboard=True))
            self._show_offset(caret)

    def _tell_caret(self) -> None:
        """Announce the caret, so that a screen reader continues there, and the mention that it enters."""
        cursor = self.reading_copy().textCursor()
        QAccessible.updateAccessibility(QAccessibleTextCursorEvent(self, cursor.position()))
        around = [one for one in self._views if any(s.start <= self.caret < s.end for s in one.mention.spans)]
        inner = min(around, key=lambda one: len(one.mention.text), default=None)
        entered = inner.mention.id if inner is not None else None
        if entered != self._entered:
            self._entered = entered
            self.setAccessibleDescription(marked(inner) if inner is not None else self._about())
            if inner is not None:
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, marked(inner)))

    def _about(self) -> str:
        title = self.document.title if self.document is not None else ""
        return ntr("{title}: {n} mention", "{title}: {n:,} mentions", len(self._views), title=title)

    def _tell_reader(self, mark: MentionMark | None) -> None:
        """Announce each mention when the curator goes to it, whether the text is being read or not."""
        if self.document is None:
            return
        words = self._about()
        if mark is not None:
            number = [view.mention.id for view in self._views].index(mark.id) + 1
            words = spoken(mark.view, number=number, of=len(self._views), text=self.document.text)
        if words != self._told:
            self._told = words
            self.setAccessibleDescription(words)
            if mark is not None and QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))
