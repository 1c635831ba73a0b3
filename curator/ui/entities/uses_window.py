"""*Queue > All uses of the entity*: every mention linked to one entity in the whole project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from curator.domain.decisions import Outcome, Verdict
from curator.domain.wording import UserError, ntr, tr
from curator.services.knowledge.uses import UsedString, Uses
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import Search
from curator.ui.deciding.reason_strip import QuestionStrip, StripAnswer
from curator.ui.entities.uses_page import UsesPage
from curator.ui.kit.form import ShowDialog
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.mention_state import REASON_WORDS, REASONS
from curator.ui.kit.sight import Glance, Sight, watch
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker

WHICH = "Choose the entity whose uses you want to see."
NONE_TICKED = "Nothing is ticked. Space ticks a line, A all lines that are listed."
TOO_SOON = "Nothing was done: the list had only just appeared. Press the key again."
ONE_UNSEEN = "{n} ticked mention was never on the screen. Look at it, or untick it; nothing was changed."
UNSEEN = "{n:,} ticked mentions were never on the screen. Go through them, or untick them; nothing was changed."
ASKED = "The linker is asked about {n} document. Its figures appear here as they come."
ASKED_MANY = "The linker is asked about {n:,} documents. Its figures appear here as they come."
GONE = "The knowledge base no longer has {id} “{name}”. Its uses stay linked to it until you move them."
SUCCEEDED = (
    "{id} “{name}” is part of {into} “{new}” in the knowledge base now. Its uses stay as they are until you move them."
)
ONE_MOVING = "Choose the entity that {n} use of “{name}” moves to. Esc goes back to the list."
MOVING = "Choose the entity that {n:,} uses of “{name}” move to. Esc goes back to the list."
OTHERS = " {n:,} of them is another curator's decision or came with a file."
MANY_OTHERS = " {n:,} of them are other curators' decisions or came with files."
Of: TypeAlias = Callable[[str], Uses]
Found: TypeAlias = tuple[Uses, tuple[UsedString, ...]] | str
"""The result of reading, or the error."""


class UsesWindow(ShowDialog):
    """API: `show_entity`, `ask_entity`, `reload`, `say`. It changes nothing itself: `change_wanted` carries the ids of
    ticked and seen mentions, and their new verdict.

    `of` is called in a separate thread; `curator` returns the curator's name. `first`: the entity shown first, whose
    uses are read while the window is built. When closed, it is kept: `renew` resets it, `shut` ends it.
    """

    mention_wanted = Signal(int, int)  # document, mention: to preview
    open_wanted = Signal(int, int)  # document, mention: to open
    change_wanted = Signal(object, object)  # mention ids, Verdict
    page_wanted = Signal(str)  # entity id
    linker_wanted = Signal(object)  # ids of documents that have uses without a suggestion

    def __init__(
        self,
        of: Of,
        *,
        search: Search,
        lookup: Lookup,
        curator: Callable[[], str],
        writable: bool,
        first: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("All uses of the entity"), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._of, self._curator, self._writable = of, curator, writable
        self.stay_built()
        self._glance = glance = Glance(Sight.of_process())
        self.worker = Worker(self)
        self._reading = first
        if first:
            self._read(first)  # while the rest of the window is built
        self._moving: list[int] | None = None  # mentions for the entity searched for
        self.note = NoteLabel(self)
        self.page = UsesPage(glance, self)
        self.go = self._button(tr("&Go to the mention"), self._open)
        self.change = self._button(tr("&Move to another entity…"), self.ask_target)
        self.nil = self._button(tr("Mark &NIL…"), self.ask_nil)
        self.linker = self._button(tr("Ask the &linker"), self._ask_linker)
        self.source = self._button(tr("Open the entity's &page…"), self._open_page)
        self.other = self._button(tr("Another &entity…"), self.ask_entity)
        self.strip = QuestionStrip(self)
        self._make_search = partial(SearchPane, search, lookup, glance=glance)
        self._search: SearchPane | None = None
        self._compose()
        self._connect()
        self.resize(1240, 720)

    def _button(self, words: str, then: Callable[[], None]) -> QPushButton:
        button = QPushButton(words, self)
        button.setAutoDefault(False)
        button.clicked.connect(then)
        return button

    def _compose(self) -> None:
        self.listing = QWidget(self)
        whole = QVBoxLayout(self.listing)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addWidget(self.page, 1)
        whole.addWidget(self.strip)
        whole.addLayout(FlowRow(self.go, self.change, self.nil, self.linker, self.source, self.other))
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.listing)
        self.body.addWidget(self.note)
        self.body.addWidget(self.pages, 1)

    def _connect(self) -> None:
        self.page.pressed.connect(self._pressed)
        self.page.listed.connect(self._enable)
        self.page.list.stepped.connect(self.ask_target)
        self.page.list.too_soon.connect(lambda: self.say(tr(TOO_SOON)))
        self.page.list.rested.connect(self._rest)
        self.finished.connect(self._end)
        self._enable()

    def _end(self) -> None:
        """Discard data that were read, without waiting for running reads."""
        self.worker.drop()
        self._close_search()
        self.strip.dismiss()
        self.page.clear()

    def renew(self, first: str = "") -> None:
        """Reset the window; `first` as in the constructor."""
        self._reading = first
        if first:
            self._read(first)
        self._glance.forget()
        self.page.filters.reset()
        self.begin_again()

    def shut(self) -> None:
        """Before the project is closed: show nothing more of running reads."""
        self.worker.close()
        self._close_search()
        self.deleteLater()

    def _close_search(self) -> None:
        if self._search is not None:
            self._search.panel.close_search()
            self.pages.removeWidget(self._search)
            self._search.deleteLater()
            self._search = None

    @property
    def search(self) -> SearchPane:
        """The search, created on demand, so that the list opens faster."""
        if self._search is None:
            self._search = self._make_search(self)
            self._search.linked.connect(self._found)
            self._search.left.connect(self.back)
            self.pages.addWidget(self._search)
            watch(self._search)
        return self._search

    # --- what is shown ---

    @property
    def uses(self) -> Uses | None:
        """The listed uses; None while they are read."""
        return self.page.uses

    def say(self, words: str) -> None:
        """Show a sentence above everything; '' hides it."""
        self.note.set_note(words)

    def show_entity(self, entity_id: str) -> None:
        """List its uses, read in a separate thread."""
        self.say("")
        self._show_listing()
        self.page.begin(entity_id)
        if entity_id != self._reading:
            self._read(entity_id)
        self._reading = ""

    def reload(self) -> None:
        """Read the uses again; filters and ticks are kept if possible."""
        if self.uses is not None:
            self._read(self.uses.entity_id)

    def warm_up(self, entity_id: str) -> None:
        """Read the uses of an entity without showing them."""
        self._read(entity_id, lambda _: None)

    def _read(self, entity_id: str, then: Callable[[Found], None] | None = None) -> None:
        of = self._of

        def work() -> Found:
            try:
                found = of(entity_id)
                return found, found.strings()
            except UserError as error:
                return str(error)

        self.worker.ask(work, then or self._show)

    def _show(self, found: Found) -> None:
        first = self.uses is None
        if isinstance(found, str):
            self.say(found)
            if first:
                self.ask_entity(keep=True)
            return
        uses, strings = found
        if first and uses.gone:
            self.say(gone_words(uses))
        self.page.show_uses(uses, strings)
        if first and self.pages.currentWidget() is self.listing:
            self.page.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _enable(self) -> None:
        listed = bool(self.page.list.lines.lines)
        self.go.setEnabled(listed)
        for button in (self.change, self.nil):
            button.setEnabled(self._writable and listed)
        self.linker.setEnabled(self._writable and bool(self.page.unlinked))
        self.source.setEnabled(self.uses is not None)

    # --- keys and buttons ---

    def _pressed(self, key: int) -> None:
        acts = {
            Qt.Key.Key_Return: self._open,
            Qt.Key.Key_Enter: self._open,
            Qt.Key.Key_Escape: self.reject,
            Qt.Key.Key_M: self.ask_target,
            Qt.Key.Key_N: self.ask_nil,
            Qt.Key.Key_P: self._open_page,
        }
        if (act := acts.get(Qt.Key(key))) is not None:
            act()

    def _rest(self) -> None:
        if (use := self.page.current) is not None:
            self.mention_wanted.emit(use.context.document_id, use.context.mention_id)

    def _open(self) -> None:
        if (use := self.page.current) is not None:
            self.open_wanted.emit(use.context.document_id, use.context.mention_id)

    def _open_page(self) -> None:
        if self.uses is not None:
            self.page_wanted.emit(self.uses.entity_id)

    def _ask_linker(self) -> None:
        if documents := self.page.unlinked:
            self.say(ntr(ASKED, ASKED_MANY, len(documents)))
            self.linker_wanted.emit(documents)

    # --- changing what is ticked ---

    def _chosen(self) -> list[int]:
        """The ticked mentions, if all were seen; else none, with a message."""
        if self.uses is None or not self._writable or not self.page.list.saw():
            return []
        ticked, unseen = self.page.ticked, self.page.unseen
        if not ticked:
            self.say(tr(NONE_TICKED))
        elif unseen:
            self.say(ntr(ONE_UNSEEN, UNSEEN, len(unseen)))
            self.page.go_to(unseen[0])
            return []
        else:
            self.say("")
        return ticked

    def ask_target(self) -> None:
        """Search for the entity that the ticked mentions move to."""
        ids = self._chosen()
        if ids and self.uses is not None:
            self._moving = ids
            self.say(ntr(ONE_MOVING, MOVING, len(ids), name=self.uses.name) + self._others_words(ids))
            self.pages.setCurrentWidget(self.search)
            self.search.start()

    def ask_nil(self) -> None:
        """Ask for the reason why the ticked mentions are NIL."""
        ids = self._chosen()
        if ids and self.uses is not None:
            question = ntr("{n} use is NIL, because it is:", "{n:,} uses are NIL, because they are:", len(ids))
            answers = []
            for number, reason in enumerate(REASONS[Outcome.NIL], start=1):
                verdict = Verdict(Outcome.NIL, reason=reason)
                key = Qt.Key(Qt.Key.Key_0 + number)
                act = self._nil_answer(ids, verdict)
                answers.append(StripAnswer(key, str(number), tr(REASON_WORDS[reason]), act, enter=number == 1))
            self.strip.put(question, answers, note=self._others_words(ids).strip())

    def _nil_answer(self, ids: list[int], verdict: Verdict) -> Callable[[], None]:
        return lambda: self.change_wanted.emit(ids, verdict)

    def _others_words(self, ids: Sequence[int]) -> str:
        assert self.uses is not None
        me, wanted = self._curator(), set(ids)
        others = sum(one.context.mention_id in wanted and one.context.curator != me for one in self.uses.uses)
        return ntr(OTHERS, MANY_OTHERS, others) if others else ""

    def _found(self, entity_id: str) -> None:
        if self._moving is None:
            self.show_entity(entity_id)
        else:
            self.change_wanted.emit(self._moving, Verdict.link(entity_id))

    # --- the search ---

    def ask_entity(self, *, keep: bool = False) -> None:
        """Search for an entity to show its uses. `keep`: the current message stays."""
        self._moving = None
        if not keep:
            self.say(tr(WHICH))
        self.pages.setCurrentWidget(self.search)
        self.search.start()

    def back(self) -> None:
        """Return to the list, with the keyboard focus; close the window if there is none."""
        if self.uses is None:
            super().reject()
            return
        self.say("")
        self._show_listing()
        self.page.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_listing(self) -> None:
        self._moving = None
        self.pages.setCurrentWidget(self.listing)

    def reject(self) -> None:
        """Esc first returns to the list."""
        if self.pages.currentWidget() is not self.listing:
            self.back()
        else:
            super().reject()


def gone_words(uses: Uses) -> str:
    if uses.successor is not None:
        into = uses.successor
        return tr(SUCCEEDED, id=uses.entity_id, name=uses.name, into=into.id, new=into.name)
    return tr(GONE, id=uses.entity_id, name=uses.name)
