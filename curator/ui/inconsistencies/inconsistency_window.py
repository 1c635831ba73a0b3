"""*Tools > Inconsistencies*: review contradictory decisions, mark them as intended, or settle them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from curator.domain.audit import Inconsistencies, Inconsistency
from curator.domain.decisions import Outcome, Verdict
from curator.domain.wording import ntr, tr
from curator.services.records.inconsistencies import decided_words
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import Search
from curator.ui.deciding.reason_strip import QuestionStrip, StripAnswer
from curator.ui.inconsistencies.inconsistency_page import Contexts, InconsistencyPage
from curator.ui.inconsistencies.inconsistency_rows import row_key
from curator.ui.kit.form import ShowDialog
from curator.ui.kit.key_names import key_of
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.mention_state import REASON_WORDS, REASONS
from curator.ui.kit.sight import Glance, Sight, watch
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker

NONE_TICKED = "Nothing is ticked. Space ticks a place, A all places of the highlighted row."
TOO_SOON = "Nothing was done: the list had only just appeared. Press the key again."
ONE_UNSEEN = "{n} ticked mention was never on the screen. Look at it, or untick it; nothing was changed."
UNSEEN = "{n:,} ticked mentions were never on the screen. Go through them, or untick them; nothing was changed."
ONE_INTO, INTO = "Change {n} mention to:", "Change {n:,} mentions to:"
ONE_NIL, MANY_NIL = "{n} mention is NIL, because it is:", "{n:,} mentions are NIL, because they are:"
ONE_TARGET = "Choose the entity that {n} mention of “{text}” is linked to. Esc goes back to the list."
TARGET = "Choose the entity that {n:,} mentions of “{text}” are linked to. Esc goes back to the list."
OTHERS = "{n:,} of them is another curator's decision or came with a file."
MANY_OTHERS = "{n:,} of them are other curators' decisions or came with files."
FAILED = "The list could not be read; the log says why. Open the window again."
NOT_MARKED = "This string is decided in one way so far: there is nothing to mark."
LAST, FIRST = "This is the last place in the list.", "This is the first place in the list."
EMPTY = "No inconsistency is listed."
MOST_ANSWERS, LONGEST = 4, 40
"""The most answers in the line, and characters of each; others are found by search."""
Hear: TypeAlias = Callable[[Inconsistencies], None]
Find: TypeAlias = Callable[[Hear | None], tuple[Inconsistencies, Inconsistency | None]]


class InconsistencyWindow(ShowDialog):
    """API: `read`, `step`, `say`, `back`. It changes no data: `settle_wanted` carries an inconsistency, the ids of its
    ticked and seen mentions, and their new verdict; `mark_wanted` an inconsistency, and whether to mark it as intended.

    `find` and `contexts` are called in a background thread; `curator` returns the curator's name.
    """

    mention_wanted = Signal(int, int)  # document, mention: to preview
    open_wanted = Signal(int, int)  # document, mention: to open
    settle_wanted = Signal(object, object, object)  # Inconsistency, mention ids, Verdict
    mark_wanted = Signal(object, bool)
    said = Signal(str)

    def __init__(
        self,
        *,
        contexts: Contexts,
        search: Search,
        lookup: Lookup,
        curator: Callable[[], str],
        writable: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Inconsistencies"), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._curator, self._writable = curator, writable
        self._glance = Glance(Sight.of_process())
        self.worker = Worker(self)
        self._jump = False  # highlight the string read next
        self._moving: tuple[Inconsistency, list[int]] | None = None  # mentions for the entity searched for
        self.note = NoteLabel(self)
        self.page = InconsistencyPage(contexts, self._glance, self)
        self.go = self._button(tr("&Go to the mention"), self._open)
        self.change = self._button(tr("&Change the ticked…"), self.ask_target)
        self.nil = self._button(tr("Mark &NIL…"), self.ask_nil)
        self.intend = self._button(tr("Mark as &intended"), self.mark)
        self.strip = QuestionStrip(self)
        self._make_search = partial(SearchPane, search, lookup, glance=self._glance)
        self._search: SearchPane | None = None
        self._compose()
        self._connect()
        self.resize(1240, 760)

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
        whole.addLayout(FlowRow(self.go, self.change, self.nil, self.intend))
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.listing)
        self.body.addWidget(self.note)
        self.body.addWidget(self.pages, 1)

    def _connect(self) -> None:
        self.page.pressed.connect(self._pressed)
        self.page.listed.connect(self._enable)
        self.page.table.chosen.connect(self._open)
        self.page.list.stepped.connect(self.ask_target)
        self.page.list.too_soon.connect(lambda: self.say(tr(TOO_SOON)))
        self.page.list.rested.connect(self._rest)
        for command, by in (("tools.next_inconsistency", 1), ("tools.previous_inconsistency", -1)):
            if key := key_of(command):
                QShortcut(QKeySequence(key), self).activated.connect(partial(self._step_beside, by))
        self.finished.connect(self._end)
        self._enable()

    def _end(self) -> None:
        if self._search is not None:
            self._search.panel.close_search()
        self.page.list.worker.close()
        self.worker.close()

    @property
    def search(self) -> SearchPane:
        """Created on first use, so that the window opens faster."""
        if self._search is None:
            self._search = self._make_search(self)
            self._search.linked.connect(self._found)
            self._search.left.connect(self.back)
            self.pages.addWidget(self._search)
            watch(self._search)
        return self._search

    # --- what is shown ---

    def say(self, words: str) -> None:
        """Show a sentence at the top; '' hides it."""
        self.note.set_note(words)

    def read(self, find: Find, *, jump: bool = False) -> None:
        """List the rows of `find`, including those of a given string; `jump`: highlight that string. The first time,
        `find` gets a callback for rows that it has early."""
        self._jump = self._jump or jump
        hear = self.worker.reporter(self._begin) if self.page.every is None else None
        self.worker.ask(partial(find, hear), self._show, failed=lambda: self.say(tr(FAILED)))

    def _begin(self, first: Inconsistencies) -> None:
        if self.page.every is None and first.chosen():
            self.page.show_all(first)
            self.page.go_to_string(None)

    def _show(self, found: tuple[Inconsistencies, Inconsistency | None]) -> None:
        every, here = found
        jump, self._jump = self._jump, False
        self.page.show_all(every, here if jump else self.page.here)
        if jump:
            self.page.go_to_string(here)

    def _enable(self) -> None:
        one = self.page.current
        self.go.setEnabled(one is not None)
        for button in (self.change, self.nil):
            button.setEnabled(self._writable and one is not None)
        self.intend.setEnabled(self._writable and one is not None and one is not self.page.here)
        marked = one is not None and one.intended
        self.intend.setText(tr("No longer &intended") if marked else tr("Mark as &intended"))

    # --- keys and buttons ---

    def _pressed(self, key: int) -> None:
        acts = {
            Qt.Key.Key_Return: self._open,
            Qt.Key.Key_Enter: self._open,
            Qt.Key.Key_Escape: self.reject,
            Qt.Key.Key_I: self.mark,
            Qt.Key.Key_N: self.ask_nil,
        }
        if (act := acts.get(Qt.Key(key))) is not None:
            act()

    def _rest(self) -> None:
        if (place := self.page.place) is not None:
            self.mention_wanted.emit(place.document_id, place.mention_id)

    def _open(self) -> None:
        if (place := self.page.place) is not None:
            self.open_wanted.emit(place.document_id, place.mention_id)

    def step(self, by: int) -> bool:
        """Show the next or previous place in the text; False with a message if there is none."""
        place = self.page.step(by)
        if place is None:
            listed = self.page.current is not None
            self.said.emit(tr((LAST if by > 0 else FIRST) if listed else EMPTY))
            return False
        self.mention_wanted.emit(place.document_id, place.mention_id)
        return True

    def _step_beside(self, by: int) -> None:
        self.step(by)

    def mark(self) -> None:
        """Mark the row as intended, which removes it from the list, or remove the mark."""
        one = self.page.current
        if one is None or not self._writable:
            return
        if one is self.page.here:
            self.say(tr(NOT_MARKED))
        elif not self._glance.saw(row_key(one)):
            self.say(tr(TOO_SOON))
        else:
            self.mark_wanted.emit(one, not one.intended)

    def marked(self, one: Inconsistency, *, intended: bool) -> None:
        """Remove the marked row from the list at once, before it is read again."""
        every = self.page.every
        if every is not None:
            rows = tuple(replace(row, intended=intended) if row.scope == one.scope else row for row in every.rows)
            self.page.show_all(replace(every, rows=rows), self.page.here)

    # --- changing what is ticked ---

    def _chosen(self) -> tuple[Inconsistency, list[int]] | None:
        """The ticked mentions if all of them were seen; else None with a message."""
        one = self.page.current
        if one is None or not self._writable or not self.page.list.saw():
            return None
        ticked, unseen = self.page.ticked, self.page.unseen
        if not ticked:
            self.say(tr(NONE_TICKED))
            return None
        if unseen:
            self.say(ntr(ONE_UNSEEN, UNSEEN, len(unseen)))
            self.page.go_to_place(unseen[0])
            return None
        self.say("")
        return one, ticked

    def ask_target(self) -> None:
        """Ask for the new decision of the ticked mentions: one of the decisions, a replacement, or another entity."""
        chosen = self._chosen()
        if chosen is None:
            return
        one, ids = chosen
        names = dict(self.page.every.names) if self.page.every is not None else {}
        names |= {entity.id: entity.name for entity in one.replacements}
        answers, targets = [], _targets(one)
        for number, verdict in enumerate(targets[:MOST_ANSWERS], start=1):
            words, act = _shortened(decided_words(verdict, names)), partial(self._want, one, ids, verdict)
            usual = number == 1 and (not one.entity_id or len(targets) == 1)  # else it has to be chosen
            answers.append(StripAnswer(Qt.Key(Qt.Key.Key_0 + number), str(number), words, act, enter=usual))
        search = partial(self._ask_entity, one, ids)
        answers.append(StripAnswer(Qt.Key.Key_Slash, "/", tr("another entity…"), search, enter=not answers))
        self.strip.put(ntr(ONE_INTO, INTO, len(ids)), answers, note=self._others_words(one, ids))

    def ask_nil(self) -> None:
        """Ask for the reason why the ticked mentions are NIL."""
        chosen = self._chosen()
        if chosen is None:
            return
        one, ids = chosen
        answers = []
        for number, reason in enumerate(REASONS[Outcome.NIL], start=1):
            act = partial(self._want, one, ids, Verdict(Outcome.NIL, reason=reason))
            key = Qt.Key(Qt.Key.Key_0 + number)
            answers.append(StripAnswer(key, str(number), tr(REASON_WORDS[reason]), act, enter=number == 1))
        self.strip.put(ntr(ONE_NIL, MANY_NIL, len(ids)), answers, note=self._others_words(one, ids))

    def _want(self, one: Inconsistency, ids: list[int], verdict: Verdict) -> None:
        self.settle_wanted.emit(one, ids, verdict)

    def _others_words(self, one: Inconsistency, ids: list[int]) -> str:
        me, wanted = self._curator(), set(ids)
        others = sum(place.mention_id in wanted and place.curator != me for place in one.places)
        return ntr(OTHERS, MANY_OTHERS, others) if others else ""

    def _ask_entity(self, one: Inconsistency, ids: list[int]) -> None:
        self._moving = one, ids
        self.say(ntr(ONE_TARGET, TARGET, len(ids), text=one.text))
        self.pages.setCurrentWidget(self.search)
        self.search.start()

    def _found(self, entity_id: str) -> None:
        if self._moving is not None:
            self._want(*self._moving, Verdict.link(entity_id))

    # --- leaving ---

    def back(self) -> None:
        """Return to the list and give it the focus."""
        self.say("")
        self._moving = None
        self.pages.setCurrentWidget(self.listing)
        self.page.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def reject(self) -> None:
        """Esc returns to the list first."""
        if self.pages.currentWidget() is not self.listing:
            self.back()
        else:
            super().reject()


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _targets(one: Inconsistency) -> list[Verdict]:
    """The possible new decisions: replacements of an obsolete entity, else the existing decisions, the most frequent
    first."""
    if one.entity_id:
        return [Verdict.link(entity.id) for entity in one.replacements]
    return [way.verdict for way in one.ways]
