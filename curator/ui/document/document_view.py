"""The document for reading: text in one column, mentions marked by state, the current one framed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleTextCursorEvent,
    QHelpEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from curator.domain.documents import Document
from curator.domain.spans import word_at
from curator.domain.wording import ntr, tr
from curator.services.queue.queue import MentionView, OpenDocument
from curator.ui.document.document_find import Found
from curator.ui.document.document_mouse import DocumentMouse
from curator.ui.document.document_painter import Tint, tint_at
from curator.ui.document.mention_marks import Marks, MentionMark, bounds
from curator.ui.document.screen_reader import ReadingCopy
from curator.ui.document.text_selection import TextSelection
from curator.ui.kit.foreign_text import escaped
from curator.ui.kit.mention_state import LONG_FORM, long_form, marked, spoken, tooltip
from curator.ui.kit.theme import theme_of


class DocumentView(DocumentMouse):
    """Shows one `OpenDocument`.

    API: `show_document`, `clear`, `set_current`, `update_mentions`, `set_tints`, `selection`, `set_reading_font`,
    `set_spacing`, `scroll_lines`, `set_editable`, `set_snapping`, `set_caret_mode`, `find_text`, `find_beside`,
    `end_find`.
    Every offset counts code points of the stored text. Keys: see `DocumentCaret`; all others are the window's.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._copy: ReadingCopy | None = None
        self._told = ""  # of the current mention
        self._entered: int | None = None  # the mention that the caret entered

    # --- what is shown ---

    def show_document(self, opened: OpenDocument, *, current: int | None = None) -> None:
        """Show a document from its top; if the text is the same, the position is kept and only mentions are updated."""
        if self._document is not None and self._same_text(opened.document):
            self._document = opened.document
            self.update_mentions(opened.mentions)
        else:
            self._document, self._views = opened.document, opened.mentions
            self._current = None
            self._selected = TextSelection()
            self._tints = ()
            self._drop_handles()
            self._build()
            self.verticalScrollBar().setValue(0)
            self.selection_changed.emit(None)
            self._find_again()
        self.set_current(current)

    def clear(self, *, headline: str = "No document is open", hint: str = "Choose one from the queue.") -> None:
        """Show no document, but two lines with the next steps."""
        self._document, self._views, self._layout, self._marks, self._current = None, (), None, None, None
        self._found = Found()
        self._drop_handles()
        self.empty_words = (headline, hint)
        self._told, self._entered = "", None
        self.setAccessibleDescription(f"{headline}. {hint}")
        self._set_selected(TextSelection())
        self._fit_scroll_bar()
        self.viewport().update()

    def set_current(self, mention_id: int | None) -> None:
        """Frame a mention and, only if it is not visible, scroll to it."""
        if mention_id != self._current:
            self._drop_handles()
        old, self._current = self._current, mention_id
        for one in {old, mention_id}:
            self._update_mark(self._mark(one))
        mark = self._mark(mention_id)
        if mark is not None:
            self._bring_into_sight(mark)
            keep = self._selected.span is not None or (self._caret_mode and old == mention_id)
            self._selected = self._selected.at(mark.view.mention.spans[0].start, keep=keep)
        self._tell_reader(mark)

    # --- for screen readers ---

    def reading_copy(self) -> ReadingCopy:
        """The up-to-date copy of the document for screen readers."""
        if self._copy is None:
            self._copy = ReadingCopy(self)
            self._copy.moved.connect(self._reader_moved)
        scrolled = self.verticalScrollBar().value()
        self._copy.setGeometry(self.viewport().geometry())
        self._copy.show_layout(self._layout, origin=self._origin() + QPointF(0, scrolled), scrolled=scrolled)
        self._copy.show_mentions(self._views, theme_of(self.palette()))
        self._copy.show_selection(self._selected.anchor, self._selected.caret)
        return self._copy

    def _reader_moved(self, anchor: int, caret: int) -> None:
        if self._layout is not None:
            self._set_selected(TextSelection(anchor, caret, by_keyboard=True))
            self._show_offset(caret)

    def _set_selected(self, selected: TextSelection) -> None:
        before = self._selected
        super()._set_selected(selected)
        if QAccessible.isActive() and self._layout is not None and selected != before:
            self._tell_caret()

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
        title = self._document.title if self._document is not None else ""
        return ntr("{title}: {n} mention", "{title}: {n:,} mentions", len(self._views), title=title)

    def _tell_reader(self, mark: MentionMark | None) -> None:
        """Announce each mention when the curator goes to it, whether the text is being read or not."""
        if self._document is None:
            return
        words = self._about()
        if mark is not None:
            number = [view.mention.id for view in self._views].index(mark.id) + 1
            words = spoken(mark.view, number=number, of=len(self._views), text=self._document.text)
        if words != self._told:
            self._told = words
            self.setAccessibleDescription(words)
            if mark is not None and QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def update_mentions(self, views: Sequence[MentionView]) -> None:
        """Update all mentions of the shown document. Text and scroll position stay; only changes are repainted."""
        self._views = tuple(views)
        self._bar.forget()
        if self._marks is None or self._layout is None:
            return
        if self._marks.same_places(self._views):
            for mark in self._marks.patch(self._views):
                self._update_mark(mark)
            return
        self._marks = Marks(self._layout, self._views)
        self._drop_handles()
        if self._current not in self._marks:
            self._current = None
        self.viewport().update()

    def set_tints(self, tints: Sequence[Tint]) -> None:
        """Tint words of the shown document; an empty list removes them. Each has a tooltip with its words."""
        if tuple(tints) != self._tints:
            self._tints = tuple(tints)
            self.viewport().update()

    def _same_text(self, document: Document) -> bool:
        shown = self._document
        return shown is not None and (shown.id, shown.text, shown.passages) == (
            document.id,
            document.text,
            document.passages,
        )

    # --- what is said on hover ---

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            marks = self._marks_at(QPointF(event.pos()))
            offset = self._offset_at(QPointF(event.pos()), nearest=False) if self._tints and self._layout else -1
            tint = tint_at(self._tints, offset)
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
        offset = self._offset_at(QPointF(event.pos()), nearest=False) if self._layout is not None else 0
        word = word_at(self._document.text, offset) if self._document is not None else None
        inside = word is not None and self.rect_of(word).contains(QPointF(event.pos()))
        words = self._document.text[word.start : word.end] if inside and word is not None and self._document else ""
        long = long_form(words, self._views) if words else ""
        if long:
            QToolTip.showText(
                event.globalPos(), tr(LONG_FORM, short=escaped(words), long=escaped(long)), self.viewport()
            )
        else:
            QToolTip.hideText()
