"""The caret, the selection, the keys of the text, and finding in it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QWidget

from curator.domain.documents import Span
from curator.ui.document.document_area import DocumentArea
from curator.ui.document.document_find import Found, find_in
from curator.ui.document.text_selection import TextSelection

Key, Modifier = Qt.Key, Qt.KeyboardModifier
CARET_KEYS = {Key.Key_Left, Key.Key_Right, Key.Key_Up, Key.Key_Down, Key.Key_Home, Key.Key_End}


class DocumentCaret(DocumentArea):
    """Left and Right move a caret (Ctrl by word, Shift selecting). In caret mode Up, Down, Home and End do too, which
    otherwise belong to the window; Esc clears the selection, then leaves the mode."""

    selection_changed = Signal(object)  # Span | None
    caret_mode_changed = Signal(bool)
    found_changed = Signal(object)  # Found

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._caret_mode = False
        self._query = ""
        self._find_from = 0

    # --- the selection ---

    @property
    def selection(self) -> Span | None:
        """The selected code points; without white space at the ends."""
        return self._selected.span_in(self._document.text if self._document else "")

    @property
    def caret(self) -> int:
        """The code point after the caret, which may be invisible."""
        return self._selected.caret

    def step(self, offset: int, *, forward: bool) -> int:
        """The next or previous caret position, by user-perceived characters."""
        return offset if self._layout is None else self._layout.step(offset, by_word=False, forward=forward)

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

    # --- caret mode ---

    @property
    def caret_mode(self) -> bool:
        return self._caret_mode

    def set_caret_mode(self, on: bool) -> None:
        """Show a caret at the current mention, or at its last position, movable by arrow keys; or hide it."""
        if on == self._caret_mode or self._layout is None or not self._layout.blocks:
            return
        self._caret_mode = on
        mark = self._mark(self._current)
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
        return self._caret_mode and alone and (event.key() in CARET_KEYS or event.key() == Key.Key_Escape)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers()
        control = bool(modifiers & Modifier.ControlModifier)
        if self._layout is None or not self._layout.blocks or modifiers & Modifier.AltModifier:
            event.ignore()
        elif key in (Key.Key_Left, Key.Key_Right) or (self._caret_mode and key in CARET_KEYS):
            self._move_caret(self._moved(key, control=control), extend=bool(modifiers & Modifier.ShiftModifier))
        elif control and key in (Key.Key_Up, Key.Key_Down):
            self.scroll_lines(3 if key == Key.Key_Down else -3)
        elif control and key == Key.Key_C and self.selection is not None:
            assert self._document is not None
            QGuiApplication.clipboard().setText(self._document.text[self.selection.start : self.selection.end])
        elif key == Key.Key_Escape and self._selected.span is not None:
            self.clear_selection()
        elif key == Key.Key_Escape and self._caret_mode:
            self.set_caret_mode(False)
        else:
            event.ignore()

    def _moved(self, key: int, *, control: bool) -> int:
        """The new caret position; with Ctrl by word, and to the document's ends with Home and End."""
        layout, caret = self._layout, self._selected.caret
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
        if self._layout is None or not self._layout.blocks:
            return
        where: QRectF = self._layout.caret(offset).translated(self._origin())
        if where.top() < 0 or where.bottom() > self.viewport().height():
            self._bar.setValue(int(self._bar.value() + where.top() - self.viewport().height() / 3))

    # --- finding ---

    @property
    def found(self) -> Found:
        return self._found

    def find_text(self, query: str) -> Found:
        """Mark every match of `query`; the current one is the first at or after the start of the search."""
        if not query.strip() or not self._query.strip():
            self._find_from = self._selected.span.start if self._selected.span is not None else self._first_in_sight()
        self._query = query
        return self._show_found(find_in(self._document.text if self._document else "", query, start=self._find_from))

    def find_beside(self, direction: int) -> Found:
        """Go to the next or previous match, wrapping around."""
        return self._show_found(self._found.beside(direction))

    def end_find(self) -> None:
        """Remove the marks; the current match is selected, so that a mention can be made from it."""
        current, self._query = self._found.current, ""
        self._show_found(Found())
        if current is not None:
            self.select(current)

    def _find_again(self) -> None:
        """Repeat the query in another document."""
        self._find_from = 0
        text = self._document.text if self._document is not None else ""
        self._found = find_in(text, self._query)
        self.found_changed.emit(self._found)

    def _show_found(self, found: Found) -> Found:
        self._found = found
        if found.current is not None:
            self._show_offset(found.current.start)
        self._bar.forget()
        self.viewport().update()
        self.found_changed.emit(found)
        return found

    def _first_in_sight(self) -> int:
        if self._layout is None or not self._layout.blocks:
            return 0
        mark = self._mark(self._current)
        if mark is not None and 0 <= self.rect_of(mark.view.mention.spans[0]).top() <= self.viewport().height():
            return mark.view.mention.spans[0].start
        anchor = self._top_offset()
        return anchor[0] if anchor is not None else 0
