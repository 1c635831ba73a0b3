"""The document for reading: text in one column, mentions marked by state, the current one framed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from curator.domain.documents import Document, Span
from curator.services.queue import MentionView, OpenDocument
from curator.ui.document_area import DocumentArea
from curator.ui.document_tints import Tint, tint_at
from curator.ui.mention_marks import Mark, Marks, bounds
from curator.ui.mention_words import spoken, tooltip
from curator.ui.text_selection import TextSelection


class DocumentView(DocumentArea):
    """Shows one `OpenDocument`.

    API: `show_document`, `clear`, `set_current`, `update_mentions`, `set_tints`, `selection`, `set_reading_font`,
    `scroll_lines`.
    Every offset counts code points of the stored text. Keys: Left and Right move a caret (Ctrl: by word, Shift:
    selecting), Ctrl+Up and Ctrl+Down scroll, Ctrl+C copies, Esc drops the selection; all others are the window's.
    """

    mention_activated = Signal(int)
    mention_double_clicked = Signal(int)
    selection_changed = Signal(object)  # Span | None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._pressed: QPoint | None = None

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
            self._tints = ()
            self._build()
            self.verticalScrollBar().setValue(0)
            self.selection_changed.emit(None)
        self.set_current(current)

    def clear(self, *, headline: str = "No document is open", hint: str = "Choose one from the queue.") -> None:
        """Show no document but two lines that say what to do next."""
        self._document, self._views, self._layout, self._marks, self._current = None, (), None, None, None
        self._empty = (headline, hint)
        self.setAccessibleDescription(f"{headline}. {hint}")
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
        self._tell_reader(mark)

    def _tell_reader(self, mark: Mark | None) -> None:
        """The painted text has no text interface; a screen reader hears each mention as the curator comes to it."""
        if self._document is None:
            return
        words = f"{self._document.title}: {len(self._views)} mentions"
        if mark is not None:
            number = [view.mention.id for view in self._views].index(mark.id) + 1
            words = spoken(mark.view, number=number, of=len(self._views), text=self._document.text)
        if words != self.accessibleDescription():
            self.setAccessibleDescription(words)
            if mark is not None and QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

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

    def set_tints(self, tints: Sequence[Tint]) -> None:
        """Tint words of the shown document; none takes the tints away. A tooltip over one says its words."""
        if tuple(tints) != self._tints:
            self._tints = tuple(tints)
            self.viewport().update()

    @property
    def selection(self) -> Span | None:
        """The selected code points; white space at the ends is left out."""
        return self._selected.span_in(self._document.text if self._document else "")

    def clear_selection(self) -> None:
        self._set_selected(self._selected.at(self._selected.caret))

    def _same_text(self, document: Document) -> bool:
        shown = self._document
        return shown is not None and (shown.id, shown.text, shown.passages) == (
            document.id,
            document.text,
            document.passages,
        )

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
            offset = self._offset_at(QPointF(event.pos()), nearest=False) if self._tints and self._layout else -1
            tint = tint_at(self._tints, offset)
            if tint is not None:
                QToolTip.showText(event.globalPos(), tint.words, self.viewport())
            elif marks:
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
