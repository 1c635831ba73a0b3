"""Finding words in a document: which code points match, and which match is the current one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from curator.domain.documents import Span
from curator.domain.wording import tr
from curator.ui.kit.compose import row, tool
from curator.ui.kit.foreign_text import PlainLabel

MOST = 10_000
"""The most matches that are marked."""


@dataclass(frozen=True, slots=True)
class Found:
    """Matches in text order; `at` is the current one's index, -1 if there are none."""

    spans: tuple[Span, ...] = ()
    at: int = -1

    @property
    def current(self) -> Span | None:
        return self.spans[self.at] if self.spans else None

    def beside(self, direction: int) -> Found:
        """The next or previous match, wrapping around."""
        return replace(self, at=(self.at + direction) % len(self.spans)) if self.spans else self

    def within(self, start: int, end: int) -> Sequence[Span]:
        """The matches that touch a range; they never overlap each other."""
        first = bisect_right(self.spans, start, key=lambda one: one.end)
        last = bisect_left(self.spans, end, key=lambda one: one.start)
        return self.spans[first:last]


def find_in(text: str, query: str, *, start: int = 0) -> Found:
    """Matches of `query`, ignoring case, where a space matches any white space; the current one is the first from code
    point `start`, wrapping around."""
    words = query.split()
    if not words:
        return Found()
    pattern = re.compile(r"\s+".join(re.escape(word) for word in words), re.IGNORECASE)
    spans: list[Span] = []
    for match in pattern.finditer(text):
        spans.append(Span(match.start(), match.end()))
        if len(spans) == MOST:
            break
    behind = next((i for i, span in enumerate(spans) if span.start >= start), 0)
    return Found(tuple(spans), behind if spans else -1)


# The line above the text for searching in the document.

COUNT = "{at:,} of {of:,}"
NOTHING = "not in this document"
MANY = "{at:,} of more than {of:,}"


class FindBar(QWidget):
    """`query_changed` with each key, `stepped` by Enter (1) and Shift+Enter (-1), `left` by Esc."""

    query_changed = Signal(str)
    stepped = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.line = _FindLine(self)
        self.count = PlainLabel(parent=self)
        self.count.setAccessibleName(tr("Matches"))
        arrows = (
            self._button(Qt.ArrowType.UpArrow, tr("Previous match (Shift+Enter)"), -1),
            self._button(Qt.ArrowType.DownArrow, tr("Next match (Enter)"), 1),
        )
        row((self.line, 1), self.count, *arrows, of=self, margins=(16, 6, 12, 6))
        self.line.textChanged.connect(self.query_changed)
        self.line.stepped.connect(self.stepped)
        self.line.left.connect(self.left)
        self.hide()

    def _button(self, arrow: Qt.ArrowType, name: str, step: int) -> QToolButton:
        found = tool("", name, lambda: self.stepped.emit(step), parent=self)
        found.setArrowType(arrow)
        found.setAutoRaise(True)
        found.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Enter and Shift+Enter do the same from the line
        return found

    def start(self, words: str) -> None:
        """Show the line with `words`, if given, else with the last query."""
        self.show()
        if words:
            self.line.setText(words)
        self.line.selectAll()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.query_changed.emit(self.line.text())

    def show_found(self, found: Found) -> None:
        words = ""
        if found.spans:
            template = MANY if len(found.spans) == MOST else COUNT
            words = tr(template, at=found.at + 1, of=len(found.spans))
        elif self.line.text().strip():
            words = tr(NOTHING)
        self.count.setText(words)


class _FindLine(QLineEdit):
    """Enter, Shift+Enter, ↓ and ↑ step; Esc closes."""

    stepped = Signal(int)
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setPlaceholderText(tr("Find in this document"))
        self.setAccessibleName(tr("Find in this document"))
        self.setClearButtonEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, back = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.stepped.emit(-1 if back else 1)
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.stepped.emit(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
