"""Changes the spans and the type of the current mention, by keyboard and mouse; every refusal says why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from curator.domain.decisions import Change
from curator.domain.documents import Mention, Span
from curator.domain.spans import (
    hull,
    next_word_end,
    next_word_start,
    overlaps,
    previous_word_end,
    previous_word_start,
    trimmed,
    with_span,
    without_span,
)
from curator.domain.wording import localised, tr
from curator.services.queue.seat import MentionEditing
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.navigator import Navigator
from curator.ui.document.document_view import DocumentView
from curator.ui.kit.compose import column
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.key_names import way_to
from curator.ui.kit.sight import watch
from curator.ui.kit.theme import theme_of

NO_SELECTION = "Select text first: press F7 to place a caret in the text, then hold Shift and use the arrow keys."
TEXT_ENDS = "The text ends here; the mention stays as it is."
NOTHING_LEFT = "Nothing would be left of “{text}”. Press Del to delete the mention."
NOT_IN = "The selection does not overlap “{text}”; nothing was removed."
IS_IN = "The selection is already part of “{text}”; nothing was changed."
ONE_PART = "“{text}” has only one part. {key} joins it with the next mention."
LAST_MENTION = "There is no mention after “{text}” to join it with."


class Edge(Enum):
    START = "start"
    END = "end"


class MentionEditor(QObject):
    """Acts on the navigator's current mention. After a change the service requests new suggestions; that of the changed
    mention is shown as soon as it arrives, since the current one is for other words."""

    def __init__(
        self,
        navigator: Navigator,
        decider: Decider,
        view: DocumentView,
    ) -> None:
        super().__init__(view)
        self._at = navigator
        self._decider = decider
        self._view = view
        self._awaited: int | None = None  # a changed mention whose new suggestion has been requested
        view.reshaped.connect(self.reshape)
        navigator.mention_changed.connect(self._swap_in)

    # --- what keys and mouse ask for ---

    def nudge(self, edge: Edge, *, forward: bool, by_word: bool) -> None:
        """Move the start or the end of the mention by a word or by one user-perceived character."""
        mention, text = self._mention, self._text
        if mention is None:
            return
        spans = tuple(sorted(mention.spans))
        part = spans[0] if edge is Edge.START else spans[-1]
        old = part.start if edge is Edge.START else part.end
        offset = self._moved(text, old, edge, forward=forward, by_word=by_word)
        if offset == old:
            self._decider.said.emit(tr(TEXT_ENDS))
            return
        start, end = (offset, part.end) if edge is Edge.START else (part.start, offset)
        new = trimmed(text, start, end) if start < end else None
        if new is None:
            self._decider.refused.emit(tr(NOTHING_LEFT, text=mention.text))
            return
        self.reshape(mention.id, (new, *spans[1:]) if edge is Edge.START else (*spans[:-1], new))

    def add_part(self) -> None:
        """Make the selection a further part of the mention; if it touches a part, this part grows."""
        mention, selection = self._mention, self._view.selection
        if mention is None or self._lacks_selection(selection) or selection is None:
            return
        spans = with_span(mention.spans, selection)
        if spans == mention.spans:
            self._decider.refused.emit(tr(IS_IN, text=mention.text))
        elif self.reshape(mention.id, spans):
            self._view.clear_selection()

    def take_out(self) -> None:
        """Take the selected words out of the mention; without a selection, the part that contains the caret."""
        mention = self._mention
        if mention is None:
            return
        cut = self._view.selection or self._part_at_caret(mention)
        if cut is None:
            self._decider.refused.emit(tr(NO_SELECTION))
            return
        if not overlaps(mention.spans, cut):
            self._decider.refused.emit(tr(NOT_IN, text=mention.text))
            return
        spans = without_span(self._text, mention.spans, cut)
        if not spans:
            self._decider.refused.emit(tr(NOTHING_LEFT, text=mention.text))
        elif self.reshape(mention.id, spans):
            self._view.clear_selection()

    def join_parts(self) -> None:
        """Join all parts into one, including the text between them."""
        mention = self._mention
        if mention is None:
            return
        if len(mention.spans) < 2:
            self._decider.refused.emit(tr(ONE_PART, text=mention.text, key=way_to("edit.join_next")))
            return
        self.reshape(mention.id, (hull(mention.spans),))

    def join_next(self) -> None:
        """Make one mention of this one and the next in the text."""
        mention, opened = self._mention, self._at.opened
        if mention is None or opened is None:
            return
        ids = [view.mention.id for view in opened.mentions]
        behind = ids[ids.index(mention.id) + 1 :]
        if not behind:
            self._decider.refused.emit(tr(LAST_MENTION, text=mention.text))
            return
        self._act(mention.id, lambda editing: editing.join_mentions(mention.id, behind[0]))

    def retype(self, mention_type: str) -> None:
        mention = self._mention
        if mention is not None:
            self._act(mention.id, lambda editing: editing.retype_mention(mention.id, mention_type))

    def reshape(self, mention_id: int, spans: Sequence[Span]) -> bool:
        """Give a mention other spans; False if refused, with a message."""
        return self._act(mention_id, lambda editing: editing.change_mention(mention_id, spans))

    # --- inside ---

    @property
    def _mention(self) -> Mention | None:
        return self._at.mention.mention if self._at.mention is not None else None

    @property
    def _text(self) -> str:
        return self._at.opened.document.text if self._at.opened is not None else ""

    def _moved(self, text: str, offset: int, edge: Edge, *, forward: bool, by_word: bool) -> int:
        if by_word:
            if edge is Edge.END:
                return next_word_end(text, offset) if forward else previous_word_end(text, offset)
            return next_word_start(text, offset) if forward else previous_word_start(text, offset)
        moved = self._view.step(offset, forward=forward)
        outward = forward == (edge is Edge.END)
        while outward and 0 < moved < len(text) and text[moved - 1 if forward else moved].isspace():
            moved = self._view.step(moved, forward=forward)  # do not extend by white space only
        return moved

    def _part_at_caret(self, mention: Mention) -> Span | None:
        caret = self._view.caret
        return (
            next((one for one in mention.spans if one.start <= caret <= one.end), None)
            if self._view.caret_mode
            else None
        )

    def _lacks_selection(self, selection: Span | None) -> bool:
        if selection is None:
            self._decider.refused.emit(tr(NO_SELECTION))
        return selection is None

    def _act(self, mention_id: int, action: Callable[[MentionEditing], Change]) -> bool:
        if not self._decider.saw():
            return False
        if self._decider.act(lambda: self._decider.seat.edit(action)) is None:
            return False
        self._awaited = mention_id
        self._at.select(mention_id)
        return True

    def _swap_in(self) -> None:
        """Show the new suggestion of the changed mention instead of the outdated one."""
        view, opened = self._at.mention, self._at.opened
        if view is None or opened is None or view.mention.id != self._awaited:
            self._awaited = None
            return
        stored = opened.view(view.mention.id)
        if stored is not None and stored.suggestion is not None and not stored.stale and self._at.newer_waits:
            self._awaited = None
            self._at.select(view.mention.id)


# A popup next to the selection that asks for the type of a new mention.

HEADLINE = "Type of “{text}”"
NEW = "New type “{word}”"
NO_SUCH = "No type begins with “{word}”. Press ↓ and Enter to create it."


class TypePicker(QFrame):
    """A popup. Digits or first letters choose, ↓ ↑ move, Enter accepts the highlighted one, Esc closes.

    A word that is no type is offered as a new type in the last row, which is never highlighted by itself. Emits
    `chosen(type)`, or `left` if none was chosen.
    """

    chosen = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAccessibleName(tr("Type of the new mention"))
        self._types: list[str] = []
        self._counts: Mapping[str, int] = {}
        self._answered = True
        self._guess = ""
        self.title = PlainLabel(parent=self)
        self.note = PlainLabel(parent=self)
        self.line = QLineEdit(self)
        self.line.setAccessibleName(tr("Type"))
        self.line.setProperty("typing_acts", True)  # a digit chooses
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Types"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column(self.title, self.line, self.list, self.note, of=self, margins=(10, 8, 10, 8))
        self.line.textEdited.connect(self._typed)
        self.line.installEventFilter(self)
        watch(self)
        self.list.itemClicked.connect(lambda item: self._take(item))

    def ask(
        self,
        text: str,
        types: Mapping[str, int],
        *,
        at: QPoint,
        guess: str = "",
        usual: str = "",
        headline: str = "",
    ) -> None:
        """Ask for the type of `text` at a position on the screen. `types` have their numbers of mentions; the most
        frequent come first, after `guess` (what the text is likely to be) and `usual` (the type chosen last).
        `headline` replaces the title."""
        self._types = sorted(types, key=lambda one: (one != guess, one != usual, -types[one], one))
        self._counts, self._guess = types, guess
        self._answered = False
        short = text if len(text) <= 40 else text[:39] + "…"
        self.title.setText(headline or tr(HEADLINE, text=short))
        self.line.setPlaceholderText(tr("First letters, or a digit") if types else tr("Name of a new type"))
        self.line.clear()
        self._fill("")
        self.move(at)
        self.show()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fill(self, word: str) -> None:
        self.list.clear()
        for number, one in enumerate(self._types, start=1):
            if one.casefold().startswith(word.casefold()):
                key = f"{number}   " if number <= 9 else "     "
                count = localised(self._counts.get(one, 0), ",")
                self._add(f"{key}{one}   ({count}{', ' + tr('suggested') if one == self._guess else ''})", one)
        known = self.list.count()
        if word and word.casefold() not in map(str.casefold, self._types):
            self._add(tr(NEW, word=word), word)
        self.list.setCurrentRow(0 if known else -1)
        self.note.setText("" if known or not word else tr(NO_SUCH, word=word))
        self.note.setVisible(bool(self.note.text()))
        height = sum(self.list.sizeHintForRow(row) for row in range(min(self.list.count(), 12))) + 6
        self.list.setFixedHeight(max(height, 24))
        self.adjustSize()

    def _add(self, words: str, value: str) -> None:
        item = QListWidgetItem(words, self.list)
        item.setData(Qt.ItemDataRole.UserRole, value)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, words)

    def _typed(self, word: str) -> None:
        if word.isdecimal() and 1 <= int(word) <= min(9, len(self._types)):
            self._answer(self._types[int(word) - 1])
        else:
            self._fill(word.strip())

    def _take(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._answer(str(item.data(Qt.ItemDataRole.UserRole)))

    def _answer(self, one: str) -> None:
        self._answered = True
        self.hide()
        self.chosen.emit(one)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key, row = event.key(), self.list.currentRow()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.list.setCurrentRow(min(max(row + step, 0), self.list.count() - 1))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(self.list.currentItem())
        elif key == Qt.Key.Key_Escape:
            self.hide()
        else:
            return super().eventFilter(watched, event)
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setPen(QPen(theme_of(self.palette()).accent, 2))
        painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not self._answered:
            self._answered = True
            self.left.emit()
