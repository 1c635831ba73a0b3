"""Accessibility interfaces missing in Qt: the document as a text with mentions as marked ranges, and combo boxes with
their names.

The binding lets Python subclass Qt's text interface but not its `attributes`, which describe marked ranges. So the
document's interface forwards to that of a hidden copy, a text edit with the same words, lines and positions, which Qt
supports itself. The copy is made when a screen reader first requests it, and updated on later requests.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from math import ceil

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QBrush,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QAccessibleWidget, QComboBox, QFrame, QLineEdit, QTextEdit, QWidget
from shiboken6 import VoidPtr

from curator.domain.documents import Span, Utf16Map
from curator.domain.spans import overlaps
from curator.services.queue.queue import MentionView
from curator.ui.document.document_layout import Block, DocumentLayout, shown_text
from curator.ui.kit.mention_state import MentionState, state_of
from curator.ui.kit.theme import Theme

FEW = 20
"""With at most this many changed marks, only marks around them are set again."""
Underline = QTextCharFormat.UnderlineStyle
UNDERLINES = {
    MentionState.UNDECIDED: Underline.DotLine,
    MentionState.LINKED: Underline.SingleUnderline,
    MentionState.NIL: Underline.DashUnderline,
    MentionState.REJECTED: Underline.DashDotLine,
    MentionState.SKIPPED: Underline.DashDotDotLine,
}


class ReadingCopy(QTextEdit):
    """`show_layout`, `show_mentions` and `show_selection` copy the document's contents, only if they changed.
    `moved(anchor, caret)` in code points: a screen reader moved the caret."""

    moved = Signal(int, int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QTextEdit.LineWrapMode.FixedPixelWidth)
        self.document().setDocumentMargin(0)
        self._layout: DocumentLayout | None = None
        self._map = Utf16Map("")
        self._set: tuple[float, float, float] = (0.0, 0.0, 0.0)
        self._views: Sequence[MentionView] = ()
        self._marks: Sequence[tuple[Span, MentionState]] = ()
        self._theme: Theme | None = None
        self._copying = False
        self.cursorPositionChanged.connect(self._cursor_moved)

    def show_layout(self, layout: DocumentLayout | None, *, origin: QPointF, scrolled: int) -> None:
        """Copy the text, its lines and their positions. `origin`: the column's top left corner before scrolling."""
        self._copying = True
        if layout is not self._layout:
            self._layout, self._map = layout, Utf16Map(layout.text if layout is not None else "")
            self._views, self._marks, self._set = (), (), (0.0, 0.0, 0.0)
            self.setPlainText(copied_text(layout) if layout is not None else "")
        if layout is not None and (origin.x(), origin.y(), layout.width) != self._set:
            self._set = (origin.x(), origin.y(), layout.width)
            self._set_lines(layout, origin)
        self.verticalScrollBar().setValue(scrolled)
        self._copying = False

    def _set_lines(self, layout: DocumentLayout, origin: QPointF) -> None:
        width = ceil(origin.x() + layout.width)
        self.setLineWrapColumnOrWidth(width)
        frame = self.document().rootFrame()
        margins = frame.frameFormat()
        margins.setLeftMargin(width - layout.width)
        margins.setTopMargin(origin.y())
        frame.setFrameFormat(margins)
        cursor, bottom = QTextCursor(self.document()), 0.0
        cursor.beginEditBlock()
        for block in layout.blocks:
            self._select(cursor, Span(block.start, block.end))
            cursor.setBlockFormat(_block_format(block, block.text_top - bottom))
            letters = QTextCharFormat()
            letters.setFont(block.style.font)
            cursor.mergeCharFormat(letters)
            bottom = block.text_top + block.lines * block.style.line_height
        cursor.endEditBlock()

    def show_mentions(self, views: Sequence[MentionView], theme: Theme) -> None:
        """Mark the mentions by their states; only changed ones are marked again."""
        if views is self._views and theme is self._theme:
            return
        marks = _outer_first(views)
        same = set(marks) & set(self._marks) if theme is self._theme else set()
        changed = [span for span, state in {*marks, *self._marks} if (span, state) not in same]
        few = len(changed) <= FEW
        self._views, self._marks, self._theme, self._copying = views, marks, theme, True
        cursor, plain = QTextCursor(self.document()), QTextCharFormat()
        plain.setUnderlineStyle(Underline.NoUnderline)
        plain.setBackground(QBrush(Qt.BrushStyle.NoBrush))
        cursor.beginEditBlock()
        for span in changed:
            self._merge(cursor, span, plain)
        for span, state in marks:
            if not few or overlaps(changed, span):
                self._merge(cursor, span, _mention_format(state, theme))
        cursor.endEditBlock()
        self._copying = False

    def show_selection(self, anchor: int, caret: int) -> None:
        cursor = self.textCursor()
        if (cursor.anchor(), cursor.position()) != (self._place(anchor), self._place(caret)):
            self._copying = True
            cursor.setPosition(self._place(anchor))
            cursor.setPosition(self._place(caret), QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(cursor)
            self._copying = False

    def _place(self, offset: int) -> int:
        text = self._layout.text if self._layout is not None else ""
        return self._map.to_utf16(min(offset, len(text)))

    def _select(self, cursor: QTextCursor, span: Span) -> None:
        cursor.setPosition(self._place(span.start))
        cursor.setPosition(self._place(span.end), QTextCursor.MoveMode.KeepAnchor)

    def _merge(self, cursor: QTextCursor, span: Span, letters: QTextCharFormat) -> None:
        self._select(cursor, span)
        cursor.mergeCharFormat(letters)

    def _cursor_moved(self) -> None:
        if not self._copying:
            cursor = self.textCursor()
            self.moved.emit(self._map.to_code_point(cursor.anchor()), self._map.to_code_point(cursor.position()))


def copied_text(layout: DocumentLayout) -> str:
    """The text with each paragraph on its own line, like the document; offsets do not change."""
    parts, at = [], 0
    for block in layout.blocks:
        if block.start > at:
            parts.append(" " * (block.start - at - 1) + ("\n" if at else " "))
        parts.append(shown_text(layout.text[block.start : block.end]))
        at = block.end
    return "".join(parts) + " " * (len(layout.text) - at)


def _block_format(block: Block, above: float) -> QTextBlockFormat:
    found = QTextBlockFormat()
    found.setLineHeight(block.style.line_height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    found.setTopMargin(max(above, 0.0))
    return found


def _mention_format(state: MentionState, theme: Theme) -> QTextCharFormat:
    found = QTextCharFormat()
    found.setUnderlineStyle(UNDERLINES[state])
    found.setBackground(theme.states[state].tint)
    return found


def _outer_first(views: Sequence[MentionView]) -> list[tuple[Span, MentionState]]:
    """The order outer first, so that a mention inside another keeps its mark."""
    spans = [(span, state_of(one.decision)) for one in views for span in one.mention.spans]
    return sorted(spans, key=lambda one: one[0].start - one[0].end)


class DocumentInterface(QAccessibleWidget):
    """The accessibility interface of a document: a read-only multi-line text. `copy` returns the up-to-date copy."""

    def __init__(self, document: QWidget, copy: Callable[[], ReadingCopy]) -> None:
        super().__init__(document, QAccessible.Role.EditableText)
        self._copy = copy

    def interface_cast(self, kind: QAccessible.InterfaceType) -> int:
        """The binding accepts an interface as the address for Qt, and `VoidPtr(0)`, not None, for none."""
        if kind is QAccessible.InterfaceType.TextInterface:
            found = QAccessible.queryAccessibleInterface(self._copy())
            return found.textInterface()  # type: ignore[return-value]
        return VoidPtr(0)  # type: ignore[return-value]

    def state(self) -> QAccessible.State:
        state = super().state()
        state.multiLine = state.readOnly = state.selectableText = 1
        return state

    def childCount(self) -> int:
        """No children: the copy is read through this interface."""
        return 0

    def child(self, index: int) -> QAccessibleInterface:  # noqa: ARG002 Qt's signature
        return None  # type: ignore[return-value]

    def indexOfChild(self, child: QAccessibleInterface) -> int:  # noqa: ARG002 Qt's signature
        return -1


class ComboInterface(QAccessibleWidget):
    """A combo box with the name of its choice, and its value as text. On Linux Qt gives the value as the name."""

    def __init__(self, box: QComboBox) -> None:
        super().__init__(box, QAccessible.Role.ComboBox)
        self._box = box
        self._value: QLineEdit | None = None
        box.currentTextChanged.connect(self._say)

    def interface_cast(self, kind: QAccessible.InterfaceType) -> int:
        if kind is QAccessible.InterfaceType.TextInterface:
            return QAccessible.queryAccessibleInterface(self._text()).textInterface()  # type: ignore[return-value]
        return VoidPtr(0)  # type: ignore[return-value]

    def _text(self) -> QLineEdit:
        """The editable line, else a hidden one with the value."""
        line = self._box.lineEdit()
        if line is not None:
            return line
        if self._value is None:
            self._value = QLineEdit(self._box)
            self._value.setReadOnly(True)
            self._value.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._value.hide()
        self._value.setText(self._box.currentText())
        return self._value

    def text(self, kind: QAccessible.Text) -> str:
        return self._box.currentText() if kind is QAccessible.Text.Value else super().text(kind)

    def state(self) -> QAccessible.State:
        state = super().state()
        state.hasPopup = state.expandable = 1
        state.expanded = int(self._box.view().isVisible())
        state.editable = int(self._box.isEditable())
        return state

    def childCount(self) -> int:
        return 1

    def child(self, index: int) -> QAccessibleInterface:  # noqa: ARG002 there is one
        """The list that it opens."""
        view = self._box.view()
        view.setAccessibleName(self._box.accessibleName())
        return QAccessible.queryAccessibleInterface(view)

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return 0 if child.object() is self._box.view() else -1

    def _say(self, value: str) -> None:
        if QAccessible.isActive() and self._box.hasFocus():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._box, value))


@cache
def speak_to_screen_readers() -> None:
    """Install these interfaces: for widgets with a `reading_copy`, and on Linux for combo boxes."""

    def factory(_: str, thing: QObject) -> QAccessibleInterface | None:
        if isinstance(thing, QComboBox):
            return ComboInterface(thing) if sys.platform.startswith("linux") else None
        copy = getattr(thing, "reading_copy", None)
        return DocumentInterface(thing, copy) if copy is not None and isinstance(thing, QWidget) else None

    QAccessible.installFactory(factory)
