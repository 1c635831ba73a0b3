"""The comments on the mention and its document, with who wrote them and when; Delete takes the chosen one away."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from curator.domain.comments import Comment
from curator.domain.wording import ntr, tr

ID_ROLE = int(Qt.ItemDataRole.UserRole)


class CommentsPanel(QWidget):
    """API: `show_comments`. Hidden while there are none."""

    deleted = Signal(int)  # comment id
    changed = Signal()  # other comments than before, or none

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[Comment, ...] = ()
        self._writable = True
        self._heading = QLabel(self)
        self.delete = QToolButton(self)
        self.delete.setText(tr("Delete"))
        self.delete.setAccessibleName(tr("Delete the chosen comment"))
        self.delete.setToolTip(tr("Delete the chosen comment (Delete); undo brings it back"))
        self.list = _List(self)
        head = QHBoxLayout()
        head.setContentsMargins(12, 0, 8, 0)
        head.addWidget(self._heading, 1)
        head.addWidget(self.delete)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 4)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        self.delete.clicked.connect(self._delete)
        self.list.delete_pressed.connect(self._delete)
        self.list.currentRowChanged.connect(lambda row: self.delete.setEnabled(row >= 0 and self._writable))
        self.show_comments((), ())

    def set_writable(self, writable: bool) -> None:
        self._writable = writable
        self.delete.setEnabled(writable and self.list.currentRow() >= 0)

    def show_comments(self, of_mention: Sequence[Comment], of_document: Sequence[Comment]) -> None:
        """Newest first, those on the mention before those on the document."""
        wanted = (*reversed(of_mention), *reversed(of_document))
        other = wanted != self._shown
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
        return [self.list.item(row).text() for row in range(self.list.count())]

    def _delete(self) -> None:
        item = self.list.currentItem()
        if item is not None and self._writable:
            self.deleted.emit(item.data(ID_ROLE))


def comment_words(comment: Comment) -> str:
    where = "" if comment.mention_id is not None else tr(" · on the document")
    return f"{comment.text}\n{comment.author}, {comment.at.astimezone():%d %b %Y, %H:%M}{where}"


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
        self.setMinimumHeight(1)  # so that the candidates above stay where they are, comments or not
        self.setProperty("keeps_delete", True)  # see keys.belongs_to

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        else:
            event.ignore()  # every other key is the window's
