"""The list of inconsistencies with its filters, and below it the places of the highlighted row in context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from curator.domain.audit import DecidedPlace, Inconsistencies, Inconsistency, InconsistencyKind
from curator.domain.wording import localised, ntr, tr
from curator.services.ports.queue import MentionContext
from curator.services.records.inconsistencies import decided_words
from curator.ui.deciding.kwic_list import TickList
from curator.ui.deciding.kwic_rows import CheckMark, KwicRow
from curator.ui.inconsistencies.inconsistency_rows import KIND_WORDS, InconsistencyTable
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit.compose import choice, column, offer, pane, splitter
from curator.ui.kit.form import EmptyPage
from curator.ui.kit.labels import ElidedLabel, FindLine
from curator.ui.kit.sight import Glance
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker

TYPING_MS = 150
PART = 300
"""Places whose contexts are read at a time."""
HINTS = (("Space", "tick"), ("A", "all"), ("↵", "go to it"), ("⇧↵", "change"), ("I", "intended"), ("Esc", "leave"))
LOADING, READING = "Looking for inconsistencies…", "Every current decision of the project is compared."
NONE, CONSISTENT = "No inconsistency", "No string is decided in several ways, and no entity that is used is obsolete."
NO_MARKED, MARK_ONE = "No inconsistency is marked as intended", "I marks the highlighted one, which leaves the list."
NO_MATCH, LESS = "No inconsistency matches", "Change the search words or the kind above."
Contexts: TypeAlias = Callable[[Sequence[int]], list[MentionContext]]


class PlaceList(TickList):
    """The places of one inconsistency, the rarest decision first, read in parts. `filled`: all of them are listed."""

    filled = Signal()

    def __init__(self, contexts: Contexts, glance: Glance, parent: QWidget | None = None) -> None:
        super().__init__(tr("Places in their contexts"), parent, glance=glance)
        self._contexts = contexts
        self.worker = Worker(self)
        self._number = 0
        self._headed: tuple[str, ...] | None = None  # the decision that the last heading names
        self.of: Inconsistency | None = None
        self._names: dict[str, str] = {}
        self._wanted: int | None = None  # the mention to highlight once it is listed
        self._ticked: set[int] = set()

    def show_places(self, one: Inconsistency | None, every: Inconsistencies) -> None:
        """List places; for the same inconsistency, ticks and the highlighted place are kept if possible."""
        same = one is not None and self.of is not None and one.scope == self.of.scope
        self._ticked = set(self.ticked_ids) if same else set()
        if not same or not self.moved_in:
            self._wanted = None
        elif (here := self.mention_id) is not None:
            self._wanted = here
        self.of, self._names, self._headed = one, dict(every.names), None
        self._number += 1
        if not same:
            self.show_rows([])
        if one is not None:
            report = self.worker.reporter(self._hear)
            self.worker.ask(partial(_read, self._contexts, one.places, self._number, report), self._end)

    @property
    def mention_id(self) -> int | None:
        """The mention of the highlighted place."""
        row = self.current
        return row.context.mention_id if row is not None and row.context is not None else None

    def want(self, mention_id: int) -> None:
        """Highlight a place, now or once it is listed."""
        at = self.lines.find(mention_id)
        if at is None:
            self._wanted = mention_id
        else:
            self._wanted = None
            self.go_to(at)

    def _hear(self, report: tuple[int, bool, list[tuple[DecidedPlace, MentionContext]]]) -> None:
        number, first, found = report
        if number != self._number:
            return
        rows = list(self._rows_of(found))
        if first:
            moved_in = self.moved_in and self._wanted is not None
            self.show_rows(rows)
            self.moved_in = moved_in
        else:
            self.add_rows(rows)
        if self._wanted is not None and (at := self.lines.find(self._wanted)) is not None:
            self._wanted = None
            self.go_to(at)

    def _rows_of(self, found: Sequence[tuple[DecidedPlace, MentionContext]]) -> Iterator[KwicRow]:
        assert self.of is not None
        numbers = {way.way: (way.verdict, len(way.places)) for way in self.of.ways}
        for place, context in found:
            if place.way != self._headed:
                self._headed = place.way
                verdict, number = numbers[place.way]
                yield KwicRow(f"{decided_words(verdict, self._names)} ({localised(number, ',')})")
            ticked = place.mention_id in self._ticked
            yield KwicRow(place.curator, context, CheckMark.TICKED if ticked else CheckMark.UNTICKED)

    def _end(self, number: int) -> None:
        if number == self._number:
            self.filled.emit()


def _read(
    contexts: Contexts,
    places: Sequence[DecidedPlace],
    number: int,
    report: Callable[[tuple[int, bool, list[tuple[DecidedPlace, MentionContext]]]], None],
) -> int:
    """Called in the background."""
    for at in range(0, len(places), PART):
        part = {one.mention_id: one for one in places[at : at + PART]}
        found = contexts(list(part))
        report((number, at == 0, [(part[one.mention_id], one) for one in found]))
    return number


class InconsistencyPage(QWidget):
    """API: `begin`, `show_all`, `go_to_string`, `step`, `current`, `place`. `listed`: rows or ticks changed;
    `pressed`: keys of either list that neither move nor tick."""

    listed = Signal()
    pressed = Signal(int)  # Qt.Key

    def __init__(self, contexts: Contexts, glance: Glance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.every: Inconsistencies | None = None
        self.here: Inconsistency | None = None
        self.words = FindLine(tr("Find inconsistencies"), tr("Find by string, entity or document"), self)
        kinds = [(tr("Every kind"), "")]
        self.kinds = choice(tr("Kind of inconsistency"), kinds, parent=self, least=12, fits=True)
        self.intended = QCheckBox(tr("&Marked as intended"), self)
        self.intended.setToolTip(tr("Lists those that were marked as intended instead of the others"))
        self.table = InconsistencyTable(self)
        self.empty = EmptyPage("", parent=self)
        self.empty.say(tr(LOADING), tr(READING))
        self.list = PlaceList(contexts, glance, self)
        self.count = ElidedLabel(muted=True, parent=self)
        self.count.setMinimumWidth(30 * self.fontMetrics().horizontalAdvance("0"))
        self.hints = KeyHints(self, gives_way=True)
        self.hints.set_hints(HINTS)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._compose()
        self._connect(glance)

    def _compose(self) -> None:
        self.words.setMinimumWidth(28 * self.fontMetrics().averageCharWidth())
        upper = pane((self.table, 1), (self.empty, 1), parent=self)
        self.empty.stand_in(self.table, empty=True)
        parts = splitter(upper, self.list, parent=self, sizes=(300, 240), stretch=(3, 2))
        self.list.hide()  # until there is something to list
        filters, count = FlowRow(self.words, self.kinds, self.intended), FlowRow(self.count, self.hints)
        column(filters, (parts, 1), count, of=self, spacing=8)

    def _connect(self, glance: Glance) -> None:
        self._typing.timeout.connect(self._list)
        self.words.textChanged.connect(lambda: self._typing.start())
        self.words.returnPressed.connect(self._to_table)
        self.kinds.currentIndexChanged.connect(self._list)
        self.intended.toggled.connect(self._list)
        self.table.moved.connect(self._row_changed)
        self.table.pressed.connect(self._table_key)
        self.list.acted.connect(self._list_key)
        self.list.ticks_changed.connect(self._say_count)
        self.list.filled.connect(self._say_count)
        glance.log(self.table.viewport(), self.table.scopes_in_sight)

    # --- what is shown ---

    def show_all(self, every: Inconsistencies, here: Inconsistency | None = None) -> None:
        """Keep the highlighted row and the ticks if possible. `here`: the string to list at the top unless it is listed
        anyway."""
        self.every = every
        self.here = here if here is None or all(one.scope != here.scope for one in every.rows) else None
        self._offer()
        self._list(again=True)

    def go_to_string(self, here: Inconsistency | None) -> None:
        """Highlight the row about a string, preferring its document over the project."""
        at = self.table.rows.find(here.scope) if here is not None else None
        if at is not None:
            self.table.go_to(at)
            self.table.scrollTo(self.table.currentIndex(), self.table.ScrollHint.PositionAtCenter)
        if self.table.rows.rowCount():
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _offer(self) -> None:
        """Fill the box of kinds with their counts; keep the choice."""
        assert self.every is not None
        open_ = [one for one in self.every.rows if one.intended is self.intended.isChecked()]
        rows = [(tr("Every kind ({n:,})", n=len(open_)), "")]
        for kind in InconsistencyKind:
            if number := sum(one.is_of(kind) for one in open_):
                rows.append((f"{tr(KIND_WORDS[kind])} ({localised(number, ',')})", kind.value))
        offer(self.kinds, rows)

    def _list(self, *, again: bool = False) -> None:
        """List the rows that pass the filters."""
        if self.every is None:
            return
        if not again and self.sender() is self.intended:
            self._offer()
        kind, words = self.kinds.currentData(), self.words.text()
        rows = self.every.chosen(
            kind=InconsistencyKind(kind) if kind else None, words=words, intended=self.intended.isChecked()
        )
        here = None if kind or words.strip() else self.here
        with QSignalBlocker(self.table):
            self.table.show_all(self.every, rows, here)
        self._say_empty(not rows and here is None)
        self._row_changed()

    def _say_empty(self, empty: bool) -> None:
        assert self.every is not None
        narrowed = bool(self.words.text().strip() or self.kinds.currentData())
        nothing = (tr(NO_MARKED), tr(MARK_ONE)) if self.intended.isChecked() else (tr(NONE), tr(CONSISTENT))
        self.empty.say(*((tr(NO_MATCH), tr(LESS)) if narrowed else nothing))
        self.empty.stand_in(self.list, empty=empty, then=self.words)
        self.empty.stand_in(self.table, empty=empty, then=self.words)

    def _row_changed(self) -> None:
        self.list.show_places(self.current, self.every or Inconsistencies())
        self._say_count()

    def _to_table(self) -> None:
        if self.table.rows.rowCount():
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _say_count(self) -> None:
        one, ticked = self.current, len(self.list.ticked_ids)
        words = ntr("{n:,} mention", "{n:,} mentions", len(one.places)) if one is not None else ""
        if ticked:
            words += tr(", {ticked:,} ticked", ticked=ticked)
        self.count.set_words(words)
        self.listed.emit()

    # --- going through ---

    @property
    def current(self) -> Inconsistency | None:
        return self.table.here

    @property
    def place(self) -> DecidedPlace | None:
        """The highlighted place, or the first place of the highlighted row."""
        one, mention_id = self.current, self.list.mention_id
        if one is None or not one.places:
            return None
        shown = mention_id if self.list.of is one else None
        return next((place for place in one.places if place.mention_id == shown), one.places[0])

    def step(self, by: int) -> DecidedPlace | None:
        """Highlight the next or previous place, continuing in the next row; None at the end of the list."""
        one, place = self.current, self.place
        if one is None or place is None:
            return None
        at = one.places.index(place) + by
        if not 0 <= at < len(one.places):
            if not self.table.go_by(by) or self.current is None:
                return None
            one = self.current
            at = 0 if by > 0 else len(one.places) - 1
        found = one.places[at]
        self.list.want(found.mention_id)
        return found

    def _table_key(self, key: int) -> None:
        if key == Qt.Key.Key_Right:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.pressed.emit(key)

    def _list_key(self, key: int) -> None:
        if key == Qt.Key.Key_Left:
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.pressed.emit(key)
