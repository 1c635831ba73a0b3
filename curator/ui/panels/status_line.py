"""The right end of the menu bar: when the last change was saved, and the state of the linker."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenuBar, QToolButton, QWidget

from curator.domain.jobs import LinkerState, LinkerStatus
from curator.domain.wording import tr
from curator.ui.kit.foreign_text import PlainLabel, tip
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import theme_of

WORDS = {
    LinkerState.OFF: "no index yet",
    LinkerState.STARTING: "starting…",
    LinkerState.READY: "ready",
    LinkerState.RESTARTING: "crashed, restarting…",
    LinkerState.FAILED: "stopped",
}


BETWEEN = 6
"""Least pixels between titles of a menu bar."""


class StatusLine(QWidget):
    """`saved 10:42:07 · linker: ready (CPU)`. The tooltip of the linker's text is the full sentence."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._saved = PlainLabel(parent=self)
        self._saved.setAccessibleName(tr("Saved"))
        self._bad: set[QLabel] = set()  # the text needs attention
        self._linker = PlainLabel(parent=self)
        self._linker.setAccessibleName(tr("Linker"))
        self._watched = False
        line = self._line = QHBoxLayout(self)
        line.setContentsMargins(8, 2, 12, 4)  # as high as a menu's title
        line.setSpacing(6)
        self.i_am = QToolButton(self)
        self.i_am.setAutoRaise(True)
        self.i_am.setToolTip(tr("Decisions are saved under this name. Click it to change the name."))
        self.i_am.hide()
        line.addWidget(self.i_am)
        line.addWidget(self._saved)
        line.addWidget(self._linker)
        for label in (self._saved, self._linker):
            label.setTextFormat(Qt.TextFormat.PlainText)

    def clear(self) -> None:
        self.i_am.setText("")
        self.i_am.hide()
        self._saved.clear()
        self._saved.setMinimumWidth(0)
        self._mark(self._saved, bad=False)
        self._linker.clear()
        self.adjust()

    def show_curator(self, name: str) -> None:
        words = name.replace("&", "&&")
        if words != self.i_am.text():
            self.i_am.setText(words)
            self.i_am.setAccessibleName(tr("Curator: {name}", name=name))
            self.i_am.show()
            self.adjust()

    def show_saved(self, at: datetime) -> None:
        """Show that all decisions were saved at `at`."""
        self._say_saved(tr("saved {at:%H:%M:%S}", at=at) + " ·", tr("All decisions up to this time are on disk."))

    def show_saving(self) -> None:
        """Show that a decision is being saved."""
        self._say_saved(tr("saving…") + " ·", tr("The last decisions are being written to disk."))

    def show_unsaved(self, why: str) -> None:
        """Show that saving fails; `why` is the error as a sentence."""
        self._say_saved(tr("NOT SAVED") + " ·", why, bad=True)

    def show_kept(self, number: int, away: str) -> None:
        """Show that the server of a shared project is `away` (the reason), or was until now, and how many steps are
        only on this computer."""
        words = tr("saved on this computer, not yet shared: {n:,}", n=number) if number else tr("server away")
        why = away or tr("The steps are being sent to the server.")
        self._say_saved(words + " ·", why, bad=True)

    def show_read_only(self) -> None:
        """Also that no linker runs: one is started only where its suggestions can be stored."""
        why = tr("Another process is writing to this project, a newer version wrote it, or it was opened read-only.")
        self._linker.clear()
        self._say_saved(tr("read-only"), why)

    def show_linker(self, status: LinkerStatus, *, trouble: str = "") -> None:
        """Show the linker's state; `trouble`: a sentence about answers that are missing, or ''."""
        self._linker.setText(
            tr("linker: {linker_words}", linker_words=linker_words(status))
            + (" " + tr("· suggestions missing") if trouble else "")
        )
        self._linker.setToolTip(tip("\n".join(part for part in (status.message, status.device, trouble) if part)))
        self._mark(self._linker, bad=bool(trouble) or status.state in (LinkerState.FAILED, LinkerState.RESTARTING))
        self.adjust()

    def _say_saved(self, words: str, why: str, *, bad: bool = False) -> None:
        self._saved.setText(words)
        self._saved.setToolTip(tip(why))
        self._mark(self._saved, bad=bad)
        if not bad:
            self._saved.setMinimumWidth(max(self._saved.minimumWidth(), self._saved.sizeHint().width()))  # stays put
        self.adjust()

    def _mark(self, label: QLabel, *, bad: bool) -> None:
        (self._bad.add if bad else self._bad.discard)(label)
        self._colour()

    def _colour(self) -> None:
        for label in (self._saved, self._linker):
            colour = theme_of(self.palette()).states[MentionState.REJECTED].ink.name() if label in self._bad else ""
            if (style := f"color: {colour}" if colour else "") != label.styleSheet():
                label.setStyleSheet(style)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and self._bad:
            self._colour()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """React to a resized menu bar or changed titles."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.FontChange, QEvent.Type.ActionChanged):
            self.adjust()
        return super().eventFilter(watched, event)

    def _make_room(self, bar: QMenuBar) -> None:
        """Hide what does not fit next to the menus: first the name, then the save time, then the linker; warnings
        stay."""
        titles = sum(bar.actionGeometry(one).width() + BETWEEN for one in bar.actions() if one.isVisible()) + BETWEEN
        parts: tuple[QToolButton | QLabel, ...] = (self.i_am, self._saved, self._linker)
        wanted = [bool(one.text()) for one in parts]
        for one, shown in zip(parts, wanted, strict=True):
            one.setVisible(shown)
        for one in parts:
            self._line.activate()
            if self._line.sizeHint().width() <= bar.width() - titles:
                break
            one.setVisible(one in self._bad)
        hidden = [one.text() for one, shown in zip(parts, wanted, strict=True) if shown and one.isHidden()]
        self.setToolTip(tip(" ".join(hidden)))

    def adjust(self) -> None:
        """Force a layout of the menu bar, which otherwise does not move its corner widget."""
        bar = self.parentWidget()
        if isinstance(bar, QMenuBar):
            if not self._watched:
                self._watched = True
                bar.installEventFilter(self)
            self._make_room(bar)
        self.updateGeometry()
        if isinstance(bar, QMenuBar):
            before = self.width()
            self.adjustSize()
            if self.width() != before:
                bar.setCornerWidget(self, Qt.Corner.TopRightCorner)  # the menus take space, too
            self.move(bar.width() - self.width(), 0)

    @property
    def words(self) -> str:
        return f"{self._saved.text()} {self._linker.text()}".strip()


def linker_words(status: LinkerStatus) -> str:
    """`ready (CPU)`, `lexical only (CPU)`, `died, restarting…`."""
    words = tr(WORDS[status.state])
    if status.state is not LinkerState.READY:
        return words
    if status.stages == ("lexical",):
        words = tr("lexical only")
    return f"{words} ({'GPU' if status.on_gpu else 'CPU'})" if status.device else words
