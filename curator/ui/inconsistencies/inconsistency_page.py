"""The table of inconsistencies with its filters, and below it the places of the highlighted row in context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QFont, QKeyEvent, QPalette
from PySide6.QtWidgets import QCheckBox, QWidget

from curator.domain.audit import DecidedPlace, Inconsistencies, Inconsistency, InconsistencyKind
from curator.domain.wording import localised, ntr, tr
from curator.services.ports.queue import MentionContext
from curator.services.records.inconsistencies import decided_words
from curator.ui.deciding.kwic_list import CheckMark, KwicRow, TickList
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit.compose import choice, column, offer, pane, splitter
from curator.ui.kit.form import EmptyPage
from curator.ui.kit.key_names import is_plain
from curator.ui.kit.labels import ElidedLabel, FindLine
from curator.ui.kit.record_tables import DISPLAY, FONT, SPOKEN, Index, RecordColumn, RecordModel, RecordTable
from curator.ui.kit.sight import Glance, rows_in_sight
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker

DECIDED = 2
"""The column that takes the remaining width."""
GROUND = {
    int(Qt.ItemDataRole.BackgroundRole): QPalette.ColorRole.AlternateBase,
    int(Qt.ItemDataRole.ForegroundRole): QPalette.ColorRole.Text,
}
"""The colours of headings."""
KIND_WORDS = {
    InconsistencyKind.DOCUMENT: "One string, several entities in a document",
    InconsistencyKind.HIERARCHY: "One string, a broader and a narrower entity in a document",
    InconsistencyKind.OBSOLETE: "Obsolete entities, and entities that the knowledge base no longer has",
    InconsistencyKind.NIL: "Linked in one place, NIL in another",
    InconsistencyKind.PROJECT: "One string, several entities in the project",
}
HERE = "The string of the current mention: all its decisions"


def ways_words(one: Inconsistency, every: Inconsistencies) -> str:
    """The decisions with their counts, the most frequent first; for an obsolete entity, its replacement."""
    names = dict(every.names)
    if one.entity_id:
        into = " / ".join(f"{entity.id} {entity.name}" for entity in one.replacements)
        state = tr("obsolete") if one.obsolete else tr("no longer in the knowledge base")
        return f"{one.entity_id}: {state}, " + (tr("use {entities}", entities=into) if into else tr("no replacement"))
    return "  ·  ".join(f"{decided_words(way.verdict, names)} ({localised(len(way.places), ',')})" for way in one.ways)


def place_words(one: Inconsistency) -> str:
    """The document, or the number of them."""
    documents = {place.document_id for place in one.places}
    return one.external_id or ntr("{n:,} document", "{n:,} documents", len(documents))


class InconsistencyModel(RecordModel[Inconsistency | str]):
    """Rows grouped by kind; a row that is a string is a heading, in the first column."""

    def __init__(self) -> None:
        self.every = Inconsistencies()
        super().__init__(
            [
                RecordColumn(tr("String"), _of(lambda one: one.text), letters=26),
                RecordColumn(tr("Type"), _of(lambda one: one.type), letters=14),
                RecordColumn(tr("Decided as"), _of(lambda one: ways_words(one, self.every))),
                RecordColumn(tr("Mentions"), _of(lambda one: localised(len(one.places), ",")), figure=True, letters=11),
                RecordColumn(tr("Document"), _of(place_words), letters=16),
            ]
        )
        self._bold = QFont()
        self._bold.setWeight(QFont.Weight.DemiBold)

    def show_all(
        self, every: Inconsistencies, rows: Sequence[Inconsistency], here: Inconsistency | None = None
    ) -> None:
        """`rows` must be grouped by kind. `here`: all decisions about one string, at the top."""
        self.every = every
        shown: list[Inconsistency | str] = [tr(HERE), here] if here is not None else []
        for kind, of_kind in groupby(rows, key=lambda one: one.kind):
            found = list(of_kind)
            shown += [f"{tr(KIND_WORDS[kind])} ({localised(len(found), ',')})", *found]
        self.show_rows(shown)

    @property
    def headings(self) -> list[int]:
        return [at for at, one in enumerate(self.rows) if isinstance(one, str)]

    def inconsistency(self, at: int) -> Inconsistency | None:
        found = self.row(at)
        return found if isinstance(found, Inconsistency) else None

    def beside(self, at: int, step: int) -> int | None:
        """The next row that is not a heading, in steps of ±1; None at the end."""
        at += step
        while isinstance(self.row(at), str):
            at += step
        return at if self.row(at) is not None else None

    def find(self, scope: str) -> int | None:
        """The row of a scope."""
        return self.place(lambda one: isinstance(one, Inconsistency) and one.scope == scope)

    def flags(self, index: Index) -> Qt.ItemFlag:
        heading = isinstance(self.row(index.row()), str)
        return Qt.ItemFlag.NoItemFlags if heading else super().flags(index)

    def cell(self, row: Inconsistency | str, column: RecordColumn[Inconsistency | str], role: int) -> Any:
        if isinstance(row, str):
            first = column is self.columns[0]
            return {DISPLAY: row if first else "", SPOKEN: row if first else "", FONT: self._bold}.get(role)
        return super().cell(row, column, role)

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        parent = self.parent()
        if role in GROUND and isinstance(parent, QWidget) and isinstance(self.row(index.row()), str):
            return parent.palette().color(GROUND[role])
        return super().data(index, role)


def _of(words: Callable[[Inconsistency], str]) -> Callable[[Inconsistency | str], str]:
    return lambda one: "" if isinstance(one, str) else words(one)


class InconsistencyTable(RecordTable[Inconsistency | str]):
    """The rows; the arrow keys skip headings. `pressed`: printable keys other than Enter."""

    pressed = Signal(int)  # Qt.Key

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rows = InconsistencyModel()
        super().__init__(tr("Inconsistencies"), self.rows, wide=DECIDED, sortable=False, parent=parent)

    def show_all(
        self, every: Inconsistencies, rows: Sequence[Inconsistency], here: Inconsistency | None = None
    ) -> None:
        """Keep the highlighted row, or else highlight the row at its position."""
        at, one = self.currentIndex().row(), self.here
        self.rows.show_all(every, rows, here)
        self.clearSpans()
        for heading in self.rows.headings:
            self.setSpan(heading, 0, 1, self.rows.columnCount())
        same = self.rows.find(one.scope) if one is not None else None
        nearest = self.rows.beside(min(at, self.rows.rowCount()) - 1, 1) if at > 0 else self.rows.beside(-1, 1)
        if nearest is None:
            nearest = self.rows.beside(self.rows.rowCount(), -1)
        if (row := nearest if same is None else same) is not None:
            self.go_to(row)

    @property
    def here(self) -> Inconsistency | None:
        return self.rows.inconsistency(self.currentIndex().row())

    def go_to(self, row: int) -> None:
        super().go_to(row)
        if row == self.rows.beside(-1, 1):
            self.scrollToTop()  # with the heading above it

    def go_by(self, step: int) -> bool:
        """Go to the next or previous row; False at the end."""
        found, sign = self.currentIndex().row(), 1 if step > 0 else -1
        moved = False
        for _ in range(abs(step)):
            further = self.rows.beside(found, sign)
            if further is None:
                break
            found, moved = further, True
        if moved:
            self.go_to(found)
        return moved

    def scopes_in_sight(self) -> list[tuple[str, str]]:
        """The visible rows, for `Glance` to record."""
        found = (self.rows.inconsistency(at) for at in rows_in_sight(self))
        return [row_key(one) for one in found if one is not None]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, every = Qt.Key(event.key()), self.rows.rowCount()
        page = max(len(rows_in_sight(self)) - 1, 1)
        steps = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_J: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_K: -1,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_End: every,
            Qt.Key.Key_Home: -every,
        }
        passed = (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_plain(event) or key in passed:
            super().keyPressEvent(event)
        elif key in steps:
            self.go_by(steps[key])
        elif not event.isAutoRepeat():
            self.pressed.emit(key)


def row_key(one: Inconsistency) -> tuple[str, str]:
    """The key of a row for `Glance`: its text, so that a changed row counts as a new one."""
    return one.scope, "|".join(f"{way.way}{len(way.places)}" for way in one.ways)


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
