"""The mouse over the text: clicking mentions, selecting, and dragging the ends of the current mention."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from curator.domain.documents import Span
from curator.domain.spans import snapped
from curator.ui.document.document_caret import DocumentCaret
from curator.ui.document.mention_handles import Handle, dragged, handle_at, handles
from curator.ui.document.mention_marks import MentionMark
from curator.ui.document.text_selection import TextSelection


class DocumentMouse(DocumentCaret):
    """During a drag, Ctrl reverses snapping to words and Esc cancels."""

    mention_activated = Signal(int)
    mention_double_clicked = Signal(int)
    reshaped = Signal(int, object)  # mention id, the spans it was dragged to
    zoom_wanted = Signal(int)  # steps
    menu_wanted = Signal(object)  # QPoint on the screen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._pressed: QPoint | None = None
        self._press_offset = 0
        self._dragged: Handle | None = None
        self._editable = False
        self._snapping = False

    def set_editable(self, editable: bool) -> None:
        """Set whether the ends of the current mention can be dragged."""
        self._editable = editable

    def set_snapping(self, snapping: bool) -> None:
        """Set whether selections and drags with the mouse snap to whole words."""
        self._snapping = snapping

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton or self._layout is None or not self._layout.blocks:
            return
        self._pressed = event.position().toPoint()
        self._dragged = handle_at(self._handles, event.position() - self._origin())
        if self._dragged is not None:
            return
        offset = self._offset_at(event.position())
        extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._press_offset = self._selected.anchor if extend else offset
        self._set_selected(self._selected.to(offset) if extend else self._selected.at(offset))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._layout is None:
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
        mark = self._mark(self._current)
        at_handle = handle_at(self._handles, position - self._origin())
        if self._editable and mark is not None and self._layout is not None and (mark in marks or at_handle):
            self._show_handles(tuple(handles(self._layout, mark.view.mention.spans)))
        elif self._handles:
            self._drop_handles()
        shape = Qt.CursorShape.PointingHandCursor if marks else Qt.CursorShape.IBeamCursor
        at_handle = handle_at(self._handles, position - self._origin())
        self.viewport().setCursor(Qt.CursorShape.SizeHorCursor if at_handle else shape)

    def _show_handles(self, found: tuple[Handle, ...]) -> None:
        if found != self._handles:
            self._handles = found
            self.viewport().update()

    def _drop_handles(self) -> None:
        self._dragged, self._preview = None, ()
        self._show_handles(())

    def _drag_end(self, position: QPointF, *, snap: bool) -> None:
        """Show the mention's spans if the mouse is released here."""
        mark = self._mark(self._current)
        if mark is None or self._document is None or self._dragged is None:
            return
        spans, offset = mark.view.mention.spans, self._offset_at(position)
        self._preview = dragged(self._document.text, spans, self._dragged, offset, snap=snap)
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
        if anchor == offset or self._document is None:
            return TextSelection(offset, offset)
        found = snapped(self._document.text, Span(min(anchor, offset), max(anchor, offset)))
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
            if marks and self._selected.span is None and self._current not in [mark.id for mark in marks]:
                self.mention_activated.emit(marks[0].id)
        elif (mark := self._mark(self._current)) is not None:
            below = self.rect_of(mark.view.mention.spans[0]).bottomLeft().toPoint()
            place = self.viewport().mapToGlobal(below)
        self.menu_wanted.emit(place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if self._dragged is not None:
            spans, current = self._preview, self._current
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

    def _marks_at(self, position: QPointF) -> list[MentionMark]:
        return self._marks.at(position - self._origin()) if self._marks is not None else []

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._dragged is not None:
            self._drop_handles()
        else:
            super().keyPressEvent(event)
