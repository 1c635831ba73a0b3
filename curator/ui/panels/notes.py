"""The key actions for flags, comments and discussion, saved moments later."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QWidget,
)

from curator.domain.audit import Comment
from curator.domain.documents import DocumentState
from curator.domain.wording import localised, ntr, tr
from curator.services.curating.curation import CurationService
from curator.services.curating.notes import NoteService
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.navigator import Navigator
from curator.ui.kit.compose import column, field, row, tool
from curator.ui.kit.foreign_text import PlainLabel

# A one-line comment field at the bottom, which covers nothing.


class CommentStrip(QWidget):
    """`ask(about)` takes the focus; Enter saves (`written`), Esc leaves (`left`). Then the focus returns."""

    written = Signal(str)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
        self._before: QWidget | None = None
        self.about = PlainLabel(parent=self)
        self.line = field(tr("Comment"), hint=tr("What should others know?"), parent=self)
        self.line.setMaxLength(10_000)
        hint = PlainLabel(tr("↵ saves, Esc cancels"), self)
        hint.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        row(self.about, (self.line, 1), hint, of=self, margins=(14, 4, 14, 4), spacing=8)
        self.line.installEventFilter(self)
        self.hide()

    def ask(self, about: str) -> None:
        """Open the field; `about` is the subject in words."""
        if not self.isVisible():
            self._before = QApplication.focusWidget()
        self.about.setText(tr("Comment on {about}:", about=about))
        self.line.setAccessibleName(tr("Comment on {about}", about=about))
        self.line.clear()
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def dismiss(self) -> None:
        """Leave without saving; harmless while hidden."""
        if self.isVisible():
            self._leave()
            self.left.emit()

    def _leave(self) -> None:
        self.hide()
        if self._before is not None:
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.line and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape:
                self.dismiss()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                words = self.line.text().strip()
                self._leave()
                self.written.emit(words) if words else self.left.emit()
                return True
        return super().eventFilter(watched, event)


# The comments on the mention and its document, with author and time; Delete removes the selected one.

ID_ROLE = int(Qt.ItemDataRole.UserRole)


class CommentsPanel(QWidget):
    """API: `show_comments`. Hidden while there are none."""

    deleted = Signal(int)  # comment id
    changed = Signal()  # other comments than before, or none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[Comment, ...] = ()
        self._writable = True
        self._heading = PlainLabel(parent=self)
        hint = tr("Delete the selected comment (Delete); undo brings it back.")
        self.delete = tool(tr("Delete"), tr("Delete the selected comment"), self._delete, hint=hint, parent=self)
        self.list = _List(self)
        head = row((self._heading, 1), self.delete, margins=(12, 0, 8, 0))
        column(head, (self.list, 1), of=self, margins=(0, 0, 0, 4), spacing=2)
        self.list.delete_pressed.connect(self._delete)
        self.list.currentRowChanged.connect(lambda at: self.delete.setEnabled(at >= 0 and self._writable))
        self.show_comments((), ())

    def set_writable(self, writable: bool) -> None:
        self._writable = writable
        self.delete.setEnabled(writable and self.list.currentRow() >= 0)

    def show_comments(self, of_mention: Sequence[Comment], of_document: Sequence[Comment]) -> None:
        """Newest first, those on the mention before those on the document."""
        wanted = (*reversed(of_mention), *reversed(of_document))
        other = wanted != self._shown
        if not other and self._heading.text():
            return
        if other:
            self._shown = wanted
            self.list.clear()
            for one in wanted:
                item = QListWidgetItem(comment_words(one), self.list)
                item.setData(ID_ROLE, one.id)
        number = len(wanted)
        self._heading.setText(ntr("{n} comment", "{n} comments", number))
        self.delete.setEnabled(self._writable and self.list.currentRow() >= 0)
        self.setVisible(bool(wanted))
        if other:
            self.changed.emit()

    @property
    def filled(self) -> bool:
        return bool(self._shown)

    @property
    def words(self) -> list[str]:
        return [self.list.item(at).text() for at in range(self.list.count())]

    def _delete(self) -> None:
        item = self.list.currentItem()
        if item is not None and self._writable:
            self.deleted.emit(item.data(ID_ROLE))


def comment_words(comment: Comment) -> str:
    where = "" if comment.mention_id is not None else tr(" · on the document")
    return f"{comment.text}\n{comment.author}, {localised(comment.at.astimezone(), '%d %b %Y, %H:%M')}{where}"


class _List(QListWidget):
    delete_pressed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Comments"))
        self.setWordWrap(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setViewportMargins(10, 0, 6, 0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self.setMinimumHeight(self.fontMetrics().height() + 2)  # the candidates above never move
        self.setProperty("keeps_delete", True)  # see keys.belongs_to

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        else:
            event.ignore()  # every other key belongs to the window


class Noter(QObject):
    """Adds flags and comments to the current mention or document."""

    def __init__(
        self,
        notes: NoteService,
        curation: CurationService,
        navigator: Navigator,
        decider: Decider,
        parent: QObject | None = None,
    ) -> None:
        """Its actions are steps of the `decider`, which knows what was visible before the key was pressed."""
        super().__init__(parent)
        self._notes = notes
        self._curation = curation
        self._at = navigator
        self._decider = decider
        self._about: tuple[int, int | None] | None = None

    def flag_mention(self) -> None:
        view = self._at.mention
        if view is not None and self._decider.saw():
            self._decider.act(lambda: self._notes.flag_mention(view.mention.id))

    def flag_document(self) -> None:
        opened = self._at.opened
        if opened is not None and self._decider.saw_document():
            self._decider.act(lambda: self._notes.flag_document(opened.document.id))

    def discuss(self) -> None:
        """Mark the document for discussion, or set it back to in progress."""
        opened = self._at.opened
        if opened is not None and self._decider.saw_document():
            there = opened.document.state is DocumentState.DISCUSS
            state = DocumentState.IN_PROGRESS if there else DocumentState.DISCUSS
            self._decider.act(lambda: self._curation.set_state(opened.document.id, state))

    def ask_comment(self, strip: CommentStrip, *, on_document: bool) -> bool:
        """Ask for a comment on the mention or the document; False if there is none."""
        opened, view = self._at.opened, self._at.mention
        if opened is None or (view is None and not on_document):
            return False
        if not (self._decider.saw_document() if on_document else self._decider.saw()):
            return False
        if on_document or view is None:
            self._about = (opened.document.id, None)
            strip.ask(tr("document {external_id}", external_id=opened.document.external_id))
        else:
            self._about = (opened.document.id, view.mention.id)
            strip.ask(f"“{view.mention.text}”")
        return True

    def write_comment(self, words: str) -> None:
        """Save the comment on the mention or document for which it was requested."""
        if self._about is not None:
            document_id, mention_id = self._about
            self._decider.act(lambda: self._notes.comment(document_id, words, mention_id=mention_id))

    def delete_comment(self, comment_id: int) -> None:
        self._decider.act(lambda: self._notes.delete_comment(comment_id))

    def show_in(self, panel: CommentsPanel) -> None:
        """Show the comments on the current mention and document."""
        opened, view = self._at.opened, self._at.mention
        panel.show_comments(view.comments if view is not None else (), opened.comments if opened is not None else ())
