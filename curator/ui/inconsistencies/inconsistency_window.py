"""*Tools > Inconsistencies*: review contradictory decisions, mark them as intended, or settle them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from curator.domain.audit import Inconsistencies, Inconsistency
from curator.domain.decisions import Verdict
from curator.domain.wording import ntr, tr
from curator.services.records.inconsistencies import decided_words
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_rows import Search
from curator.ui.deciding.mention_listing import TOO_SOON, MentionListing
from curator.ui.deciding.reason_strip import StripAnswer
from curator.ui.inconsistencies.inconsistency_page import Contexts, InconsistencyPage, row_key
from curator.ui.kit.compose import button
from curator.ui.kit.key_names import key_of

NONE_TICKED = "Nothing is ticked. Space ticks a place, A all places of the highlighted row."
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


class InconsistencyWindow(MentionListing):
    """API: `read`, `step`. `settle_wanted` carries an inconsistency, the ids of its ticked and seen mentions, and their
    new verdict; `mark_wanted` an inconsistency, and whether to mark it as intended.

    `find` and `contexts` are called in a background thread; `curator` returns the curator's name.
    """

    mention_wanted = Signal(int, int)  # document, mention: to preview
    open_wanted = Signal(int, int)  # document, mention: to open
    settle_wanted = Signal(object, object, object)  # Inconsistency, mention ids, Verdict
    mark_wanted = Signal(object, bool)
    reload_wanted = Signal()
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
        super().__init__(tr("Inconsistencies"), search=search, lookup=lookup, writable=writable, parent=parent)
        self._curator = curator
        self._jump = False  # highlight the string read next
        self._moving: tuple[Inconsistency, list[int]] | None = None  # mentions for the entity searched for
        self.page = InconsistencyPage(contexts, self.glance, self)
        self.go = button(tr("&Go to the mention"), self._open, parent=self)
        self.change = button(tr("&Change the ticked…"), self.ask_target, parent=self)
        self.nil = button(tr("Mark &NIL…"), self.ask_nil, parent=self)
        self.intend = button(tr("Mark as &intended"), self.mark, parent=self)
        keys = {
            Qt.Key.Key_Return: self._open,
            Qt.Key.Key_Enter: self._open,
            Qt.Key.Key_I: self.mark,
            Qt.Key.Key_N: self.ask_nil,
        }
        buttons = (self.go, self.change, self.nil, self.intend)
        self.lay_out(self.page, self.page.list, *buttons, keys=keys, home=self.page.table)
        self.page.pressed.connect(self.press)
        self.page.listed.connect(self._enable)
        self.page.table.chosen.connect(self._open)
        self.page.list.stepped.connect(self.ask_target)
        self.page.list.rested.connect(self._rest)
        for command, by in (("tools.next_inconsistency", 1), ("tools.previous_inconsistency", -1)):
            if key := key_of(command):
                QShortcut(QKeySequence(key), self).activated.connect(partial(self._step_beside, by))
        self.finished.connect(self.page.list.worker.close)
        self._enable()
        self.resize(1240, 760)

    # --- what is shown ---

    def reload(self) -> None:
        self.reload_wanted.emit()

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
        for one_of in (self.change, self.nil):
            one_of.setEnabled(self.writable and one is not None)
        self.intend.setEnabled(self.writable and one is not None and one is not self.page.here)
        marked = one is not None and one.intended
        self.intend.setText(tr("No longer &intended") if marked else tr("Mark as &intended"))

    # --- keys and buttons ---

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
        if one is None or not self.writable:
            return
        if one is self.page.here:
            self.say(tr(NOT_MARKED))
        elif not self.glance.saw(row_key(one)):
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

    def none_ticked(self) -> str:
        return NONE_TICKED

    def _chosen(self) -> tuple[Inconsistency, list[int]] | None:
        """The current row and its ticked mentions if all of them were seen; else None with a message."""
        one = self.page.current
        ids = self.chosen_ids() if one is not None else []
        return (one, ids) if one is not None and ids else None

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
        self.ask_nil_reason(
            ntr(ONE_NIL, MANY_NIL, len(ids)), partial(self._want, one, ids), note=self._others_words(one, ids)
        )

    def _want(self, one: Inconsistency, ids: list[int], verdict: Verdict) -> None:
        self.settle_wanted.emit(one, ids, verdict)

    def _others_words(self, one: Inconsistency, ids: list[int]) -> str:
        me, wanted = self._curator(), set(ids)
        others = sum(place.mention_id in wanted and place.curator != me for place in one.places)
        return ntr(OTHERS, MANY_OTHERS, others) if others else ""

    def _ask_entity(self, one: Inconsistency, ids: list[int]) -> None:
        self._moving = one, ids
        self.show_search(ntr(ONE_TARGET, TARGET, len(ids), text=one.text))

    def found(self, entity_id: str) -> None:
        if self._moving is not None:
            self._want(*self._moving, Verdict.link(entity_id))

    def back(self) -> None:
        self._moving = None
        super().back()


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _targets(one: Inconsistency) -> list[Verdict]:
    """The possible new decisions: replacements of an obsolete entity, else the existing decisions, the most frequent
    first."""
    if one.entity_id:
        return [Verdict.link(entity.id) for entity in one.replacements]
    return [way.verdict for way in one.ways]
