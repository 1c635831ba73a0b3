"""Windows beside the text that list mentions of the whole project, and their flow.

Such a window shows its list, a note above it, buttons and questions below it, and a search of an entity in its place.
It changes nothing itself. Its flow opens it once, reads it again some time after changes, and closes it in rounds,
where decisions of others are hidden.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from curator.domain.decisions import Change, ChangeKind, Outcome, Verdict
from curator.domain.wording import DamagedTextError, UserError, ntr, tr
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import Search
from curator.ui.deciding.kwic_list import KwicRow, TickList
from curator.ui.deciding.reason_strip import QuestionStrip, StripAnswer
from curator.ui.kit.compose import pane
from curator.ui.kit.form import ShowDialog, bring_up
from curator.ui.kit.key_names import way_to
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.mention_state import REASON_WORDS, REASONS
from curator.ui.kit.sight import Glance, Sight, watch
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker

if TYPE_CHECKING:
    from curator.ui.bench.workbench import Workbench

NONE_TICKED = "Nothing is ticked. Space ticks a line, A all lines that are listed."
TOO_SOON = "Nothing was done: the list had only just appeared. Press the key again."
ONE_UNSEEN = "{n} ticked mention was never on the screen. Look at it, or untick it; nothing was changed."
UNSEEN = "{n:,} ticked mentions were never on the screen. Go through them, or untick them; nothing was changed."
JUDGING = "In a round you do not see what is decided in the project. Leave the round first."
GONE = "This mention is no longer there. The list is read again."
QUIET_MS = 500
"""Delay after the last change before a list is read again, so that it never happens between two key presses."""


class BesideWindow(ShowDialog):
    """A window beside the text with a note at the top, whose list `reload` reads again in a thread."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self.glance = Glance(Sight.of_process())
        self.worker = Worker(self)
        self.note = NoteLabel(self)
        self.body.addWidget(self.note)
        self.finished.connect(self.worker.close)

    @abstractmethod
    def reload(self) -> None:
        """Read the list again; ticks and the current line are kept if possible."""

    def say(self, words: str) -> None:
        """Show a sentence above everything; '' hides it."""
        self.note.set_note(words)

    def back(self) -> None:
        """Return to the list, with the keyboard focus."""
        self.say("")


class MentionListing(BesideWindow):
    """A subclass makes its page and calls `lay_out`; `found` gets the entity chosen in the search."""

    unseen_words = ONE_UNSEEN, UNSEEN

    def __init__(
        self, title: str, *, search: Search, lookup: Lookup, writable: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(title, parent)
        self.writable = writable
        self.strip = QuestionStrip(self)
        self._make_search = partial(SearchPane, search, lookup, glance=self.glance)
        self._search: SearchPane | None = None

    def lay_out(
        self,
        page: QWidget,
        lines: TickList,
        *buttons: QPushButton,
        keys: Mapping[Qt.Key, Callable[[], object]],
        home: QWidget | None = None,
    ) -> None:
        """`keys`: those of the list that neither move nor tick; `home`: what gets the keyboard focus instead of the
        lines."""
        self._lines, self._home = lines, home or lines
        self._keys = {Qt.Key.Key_Escape: self.reject, **keys}
        self.listing = pane((page, 1), self.strip, FlowRow(*buttons), parent=self, spacing=8)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.listing)
        self.body.addWidget(self.pages, 1)
        lines.too_soon.connect(lambda: self.say(tr(TOO_SOON)))
        self.finished.connect(self._close_search)

    def press(self, key: int) -> None:
        """A key of the list."""
        if (act := self._keys.get(Qt.Key(key))) is not None:
            act()

    # --- the search ---

    @property
    def search(self) -> SearchPane:
        """Created on demand, so that the list opens faster."""
        if self._search is None:
            self._search = self._make_search(self)
            self._search.linked.connect(self.found)
            self._search.left.connect(self.back)
            self.pages.addWidget(self._search)
            watch(self._search)
        return self._search

    def show_search(self, words: str = "") -> None:
        """Show the search instead of the list, with a sentence."""
        if words:
            self.say(words)
        self.pages.setCurrentWidget(self.search)
        self.search.start()

    @abstractmethod
    def found(self, entity_id: str) -> None: ...

    def _close_search(self) -> None:
        if self._search is not None:
            self._search.panel.close_search()

    # --- what is ticked ---

    def none_ticked(self) -> str:
        """What is said if nothing is ticked."""
        return NONE_TICKED

    def chosen(self) -> Sequence[KwicRow]:
        """The ticked lines, if all were seen; else none, with a message."""
        if not self.writable or not self._lines.saw():
            return ()
        ticked, unseen = self._lines.ticked, self._lines.unseen
        self.say(tr(self.none_ticked()) if not ticked else ntr(*self.unseen_words, len(unseen)) if unseen else "")
        if unseen:
            self._lines.go_to(unseen[0])
            self._lines.setFocus(Qt.FocusReason.OtherFocusReason)
        return () if unseen else ticked

    def chosen_ids(self) -> list[int]:
        """The mentions of the ticked lines."""
        return [row.context.mention_id for row in self.chosen() if row.context is not None]

    def ask_nil_reason(self, question: str, then: Callable[[Verdict], None], *, note: str = "") -> None:
        answers = []
        for number, reason in enumerate(REASONS[Outcome.NIL], start=1):
            act, key = partial(then, Verdict(Outcome.NIL, reason=reason)), Qt.Key(Qt.Key.Key_0 + number)
            answers.append(StripAnswer(key, str(number), tr(REASON_WORDS[reason]), act, enter=number == 1))
        self.strip.put(question, answers, note=note)

    # --- leaving ---

    def back(self) -> None:
        super().back()
        self.pages.setCurrentWidget(self.listing)
        self._home.setFocus(Qt.FocusReason.OtherFocusReason)

    def reject(self) -> None:
        """Esc first returns to the list."""
        if self.pages.currentWidget() is not self.listing:
            self.back()
        else:
            super().reject()


W = TypeVar("W", bound=BesideWindow)


class ListingFlow(QObject, Generic[W]):
    """API: `open`, `preview`, `go`, `say`, `settle`, `close_windows`. A subclass makes the window in `make`."""

    renewing = frozenset({ChangeKind.DECIDED, ChangeKind.ENTITIES, ChangeKind.MENTIONS, ChangeKind.KNOWLEDGE_BASE})
    quiet_ms = QUIET_MS
    gone = GONE

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._window: W | None = None
        self._later = QTimer(self, singleShot=True, interval=self.quiet_ms)
        self._later.timeout.connect(self.renew)
        bench.bridge.changed.connect(self._changed)
        bench.bridge.stepped.connect(self._stepped, Qt.ConnectionType.QueuedConnection)  # after the key's effect
        bench.state_changed.connect(self._state_changed)

    @abstractmethod
    def make(self) -> W: ...

    def open(self, fill: Callable[[W], object]) -> W | None:
        """Show the window, filled before it is painted. None while the curator judges in a round and must not see
        decisions."""
        if self._bench.judging:
            self._bench.say(tr(JUDGING))
            return None
        window = self._window
        if window is None:
            self._window = window = self.make()
            window.finished.connect(self._window_gone)
            add_undo_key(window, self._bench, window.say)
        fill(window)
        bring_up(window)
        return window

    def _window_gone(self) -> None:
        self._window = None
        self._later.stop()

    # --- the mentions ---

    def preview(self, document_id: int, mention_id: int | None) -> bool:
        """Show a mention in the main window; the focus stays. False, with a message, if it is gone."""
        try:
            self._bench.navigator.open(document_id, mention_id)
        except UserError as error:
            self.say(str(error) if isinstance(error, DamagedTextError) else tr(self.gone))
            self.renew()
            return False
        return True

    def go(self, document_id: int, mention_id: int | None) -> None:
        self.preview(document_id, mention_id)
        self.to_text()

    def to_text(self) -> None:
        """Continue in the main window."""
        self._bench.window().raise_()
        self._bench.window().activateWindow()
        self._bench.focus_document()

    def say(self, words: str) -> None:
        """Show a message in the window that the curator is using."""
        if self._window is not None and self._window.isActiveWindow():
            self._window.say(words)
        else:
            self._bench.say(words)

    # --- steps ---

    def settle(self, act: Callable[[], Change]) -> None:
        """Decide many mentions as an undoable step of the window, which shows it or the refusal."""
        if (window := self._window) is None:
            return
        try:
            if refusal := self._bench.many.refusal:
                raise UserError(refusal)
            change = act()
        except UserError as error:
            words = str(error)
        else:
            self._bench.decider.several(lambda: change)
            words = done_words(change.text)
        window.back()
        window.say(words)
        self.renew()

    # --- what changes meanwhile ---

    def _stepped(self, change: Change) -> None:
        if self._window is not None and change.kind in self.renewing:
            self._later.start()

    def _changed(self, change: Change) -> None:
        if not self._later.isActive():  # a team never pauses
            self._stepped(change)

    def renew(self) -> None:
        """Read the list again, if it is open."""
        self._later.stop()
        if self._window is not None and self._window.worker.busy:
            self._later.start()  # what is being read would never be shown while a team works
        elif self._window is not None:
            self._window.reload()

    def _state_changed(self) -> None:
        """Close the window in a round, in which decisions must not be visible."""
        if self._bench.judging and self._window is not None:
            self._window.done(0)

    def close_windows(self) -> None:
        """Close the windows with the project."""
        self._later.stop()
        if self._window is not None:
            self._window.done(0)


def done_words(done: str) -> str:
    """A sentence with the step and the key that undoes it."""
    return tr("{done}. {undo} undoes it.", done=done, undo=way_to("edit.undo"))


def add_undo_key(window: QWidget, bench: Workbench, say: Callable[[str], None] | None = None) -> None:
    """Make Ctrl+Z undo steps in this window too, except in a field, which has its own undo. `say` shows the undone
    step."""

    def undo() -> None:
        change = bench.decider.undo()
        if say is not None and change is not None:
            say(change.text)

    QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), window).activated.connect(undo)
