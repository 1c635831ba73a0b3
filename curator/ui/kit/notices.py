"""Results of background work, in a line that stays until it is read, without a window and without taking the focus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QWidget

from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import tr
from curator.ui.kit.compose import button, row
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.messages import tell
from curator.ui.kit.theme import theme_of

BUG = "This is a bug in Curator; none of your data was changed. See the log for details."
KEPT = 50
"""The most unread notices; the oldest are dropped first."""


@dataclass(frozen=True, slots=True)
class Notice:
    """`words` is the sentence in the line; `show` opens the result. `wrong`: the work failed."""

    words: str
    show: Callable[[], object]
    wrong: bool = False


class Notices(QObject):
    """Unread results. `show` opens the newest, or the last read one if none is left."""

    changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._unread: list[Notice] = []
        self._read: Notice | None = None

    def __len__(self) -> int:
        return len(self._unread)

    @property
    def newest(self) -> Notice | None:
        return self._unread[-1] if self._unread else None

    @property
    def any(self) -> bool:
        """Whether there is a notice that `show` can open."""
        return bool(self._unread) or self._read is not None

    def add(self, words: str, show: Callable[[], object], *, wrong: bool = False) -> None:
        """Add a notice; an unread one with the same `show` is replaced. A window behind others is highlighted in the
        taskbar but not raised."""
        others = [one for one in self._unread if one.show != show]
        self._unread = [*others, Notice(words, show, wrong)][-KEPT:]
        self.changed.emit()
        QApplication.alert(self._parent.window())

    def add_outcome(self, title: str, outcome: JobOutcome, *, details: str = "") -> None:
        """Add an outcome as a sentence with collapsed `details`. Cancelled ones are not shown; a bug is called a bug,
        with its traceback in the details."""
        if outcome.state is JobState.CANCELLED:
            return
        wrong, words = outcome.state is not JobState.DONE, outcome.message
        if outcome.state is JobState.CRASHED:
            words = f"{words}\n\n{tr(BUG)}"
        parent, more = self._parent, details or outcome.detail
        self.add(
            f"{title}: {outcome.message}",
            lambda: tell(parent.window(), title, words, details=more, wrong=wrong),
            wrong=wrong,
        )

    def show(self) -> None:
        self._take()
        if self._read is not None:
            self._read.show()

    def dismiss(self) -> None:
        """Mark the newest notice as read; `show` can still open it."""
        self._take()

    def _take(self) -> None:
        if self._unread:
            self._read = self._unread.pop()
            self.changed.emit()


class NoticeLine(QWidget):
    """The newest notice, the number of others, and its buttons; hidden while there is none.

    `left` asks to return the focus to the text after a focused button was removed.
    """

    left = Signal()

    def __init__(self, notices: Notices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._notices = notices
        self._said: Notice | None = None
        self.words = ElidedLabel(bold=True, parent=self)
        self.open = button("", self._open, parent=self)
        self.away = button(tr("Dismiss"), self._dismiss, name=tr("Dismiss the result"), parent=self)
        for one in (self.open, self.away):
            one.setFlat(True)
            one.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click does not change the focus
            one.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row((self.words, 1), self.open, self.away, of=self, margins=(8, 0, 4, 0), spacing=10)
        notices.changed.connect(self.show_newest)
        self.show_newest()

    def show_newest(self) -> None:
        notice = self._notices.newest
        if notice is not None:
            more = len(self._notices) - 1
            self.words.set_words(notice.words + (tr(" (and {more} more)", more=more) if more else ""))
            self.open.setText(tr("Details") if notice.wrong else tr("Show"))
            self.open.setAccessibleName(tr("Details of the error") if notice.wrong else tr("Show the result"))
        self.setVisible(notice is not None)
        if notice is not None and notice is not self._said:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, notice.words))
        self._said = notice

    def _open(self) -> None:
        self._give_back()
        self._notices.show()

    def _dismiss(self) -> None:
        self._give_back()
        self._notices.dismiss()

    def _give_back(self) -> None:
        if self.open.hasFocus() or self.away.hasFocus():
            self.left.emit()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme_of(self.palette()).note)
        painter.end()
