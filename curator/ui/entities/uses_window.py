"""*Queue > All uses of the entity*: every mention linked to one entity in the whole project, with its strings and
filters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.wording import UserError, localised, ntr, tr
from curator.services.knowledge.uses import UsedString, UseFilter, UseOrder, Uses
from curator.services.ports.queue import MentionUse
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_rows import Search
from curator.ui.deciding.kwic_columns import ColumnHeader, KwicColumn, KwicColumns, RecordRow
from curator.ui.deciding.kwic_list import CheckMark, TickList
from curator.ui.deciding.mention_listing import MentionListing
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit.compose import button, choice, column, labelled, offer, pane, splitter
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.record_tables import RecordColumn, RecordTable, number_column
from curator.ui.kit.sight import Glance
from curator.ui.kit.sizing import FlowRow
from curator.ui.queue.queue_model import SPLIT_WORDS

LOADING = "Looking for the uses…"
NO_USES = "No mention is linked to “{name}” now."
NONE_LISTED = "No use matches. Choose another string, curator or split above."
HINTS = (("Space", "tick"), ("A", "all"), ("↵", "go to it"), ("⇧↵", "move"), ("N", "NIL"), ("Esc", "leave"))
ORDERS = {
    UseOrder.DOUBTFUL: "doubtful first",
    UseOrder.DOCUMENT: "by document",
    UseOrder.NEWEST: "newest first",
}
WHICH = "Choose the entity whose uses you want to see."
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


def chance_words(probability: float | None) -> str:
    """The probability in per cent; "not listed" if the entity is not a candidate."""
    if probability is None:
        return "–"
    if not probability:
        return tr("not listed")
    return "> 99 %" if probability > 0.99 else f"{localised(max(probability * 100, 1), '.0f')} %"


COLUMNS: KwicColumns[MentionUse] = KwicColumns(
    "Mention in its context",
    (
        KwicColumn("Linker", "not listed", lambda one: chance_words(one.probability), True, lambda _: True),
        KwicColumn("Document", "PMC12345678", lambda one: one.context.external_id),
        KwicColumn("Curator", "import:bc5cdr", lambda one: one.context.curator),
        KwicColumn("Decided", "30 Nov 2026", lambda one: localised(one.at.astimezone(), "%d %b %Y")),
        KwicColumn(
            "State", "in progress", lambda one: tr(one.state.words), strong=lambda one: one.state is DocumentState.DONE
        ),
    ),
)


class UseFilters(QWidget):
    """`changed`: the curator chose something else. API: `offer`, `narrowed`, `order`."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        splits = [(tr("all splits"), ""), *((tr(words), split.value) for split, words in SPLIT_WORDS.items())]
        orders = [(tr(words), order.value) for order, words in ORDERS.items()]
        self.curators = choice("", [(tr("everybody"), "")], parent=self, fits=True)
        self.splits, self.orders = choice("", splits, parent=self), choice("", orders, parent=self)
        parts = ((tr("C&urator:"), self.curators), (tr("&Split:"), self.splits), (tr("&Order:"), self.orders))
        self.setLayout(FlowRow(*(labelled(words, box) for words, box in parts)))
        for _, box in parts:
            box.currentIndexChanged.connect(self.changed)

    def offer(self, uses: Uses) -> None:
        """Set the curators of these uses; the chosen one is kept if possible."""
        offer(self.curators, [(tr("everybody"), ""), *((name, name) for name in uses.curators())])

    def narrowed(self, string: str) -> UseFilter:
        split = self.splits.currentData()
        return UseFilter(string, self.curators.currentData() or "", Split(split) if split else None)

    @property
    def order(self) -> UseOrder:
        return UseOrder(self.orders.currentData())


class UsesPage(QWidget):
    """API: `begin`, `show_uses`, `current`. `listed`: other lines or other ticks."""

    listed = Signal()

    def __init__(self, glance: Glance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.uses: Uses | None = None
        self._filling = False
        self.title = ElidedLabel(scale=1.2, bold=True, parent=self)
        self.facts = ElidedLabel(muted=True, parent=self)
        self.filters = UseFilters(self)
        self.strings: RecordTable[UsedString] = RecordTable(
            tr("Strings of the entity"),
            [
                RecordColumn(tr("String"), lambda one: one.text),
                number_column(tr("Uses"), lambda one: one.number),
            ],
            parent=self,
        )
        self.list = TickList(tr("Uses of the entity in their contexts"), self, glance=glance)
        self.count = ElidedLabel(muted=True, parent=self)
        self.count.setMinimumWidth(24 * self.fontMetrics().horizontalAdvance("0"))
        self.hints = KeyHints(self, gives_way=True)
        self.hints.set_hints(HINTS)
        lines = pane(ColumnHeader(COLUMNS, self.list, self), (self.list, 1), parent=self, spacing=0)
        digit = self.fontMetrics().horizontalAdvance("0")
        parts = splitter(self.strings, lines, parent=self, sizes=(30 * digit, 130 * digit), stretch=(0, 1), across=True)
        count = FlowRow(self.count, self.hints)
        column(self.title, self.facts, self.filters, (parts, 1), count, of=self, spacing=8)
        self.strings.selectionModel().currentRowChanged.connect(lambda: self._list())
        self.strings.chosen.connect(lambda: self.list.setFocus(Qt.FocusReason.OtherFocusReason))
        self.filters.changed.connect(self._list)
        self.list.ticks_changed.connect(self._say_count)

    # --- what is shown ---

    def begin(self, words: str) -> None:
        """Show that the uses of another entity are being read."""
        self.uses = None
        self.title.set_words(words)
        self.facts.set_words(tr(LOADING))
        self.list.set_empty_words("")
        self._fill([], [])

    def show_uses(self, uses: Uses, strings: Sequence[UsedString]) -> None:
        """Show the uses, with their strings, counted in the background. Filters, ticks and highlight are kept if
        possible."""
        self.uses = uses
        self.title.set_words(uses.name)
        self.filters.offer(uses)
        chosen = self.strings.current
        self.facts.set_words(facts_words(uses, len(strings)))
        rows = [UsedString(tr("All strings"), "", len(uses.uses)), *strings]
        self._filling = True
        self.strings.show_rows(rows)
        self.strings.go_to(next((at for at, one in enumerate(rows) if chosen and one.key == chosen.key), 0))
        self._filling = False
        self._list()

    def _list(self) -> None:
        """List the uses that pass the filters; ticks of hidden lines are dropped."""
        if self._filling or self.uses is None:
            return
        string, current = self.strings.current, self.current
        uses = self.uses.chosen(self.filters.narrowed(string.key if string is not None else ""), self.filters.order)
        at = None
        if current is not None and self.list.moved_in:
            ids = [one.context.mention_id for one in uses]
            at = ids.index(current.context.mention_id) if current.context.mention_id in ids else None
        self.list.set_empty_words(tr(NONE_LISTED) if self.uses.uses else tr(NO_USES, name=self.uses.name))
        self._fill(uses, self.ticked, at=at)

    def _fill(self, uses: Sequence[MentionUse], ticked: Collection[int], *, at: int | None = None) -> None:
        moved_in, kept = self.list.moved_in and at is not None, set(ticked)
        marks = (CheckMark.TICKED if one.context.mention_id in kept else CheckMark.UNTICKED for one in uses)
        rows = [RecordRow("", one.context, mark, one, COLUMNS) for one, mark in zip(uses, marks, strict=True)]
        self.list.show_rows(rows, at=at)
        self.list.moved_in = moved_in
        self._say_count()

    def _say_count(self) -> None:
        listed, ticked = len(self.list.lines.lines), len(self.ticked)
        every = len(self.uses.uses) if self.uses is not None else 0
        words = ntr("{n:,} use listed", "{n:,} uses listed", listed) if listed else ""
        if listed < every:
            words = tr("{listed:,} of {every:,} uses listed", listed=listed, every=every)
        if ticked:
            words += tr(", {ticked:,} ticked", ticked=ticked)
        self.count.set_words(words)
        self.listed.emit()

    # --- the lines ---

    @property
    def current(self) -> MentionUse | None:
        row = self.list.current
        return row.record if isinstance(row, RecordRow) else None

    @property
    def ticked(self) -> list[int]:
        """Mention ids, in the order of the list."""
        return self.list.ticked_ids

    @property
    def unlinked(self) -> list[int]:
        """Documents with uses without a suggestion."""
        uses = self.uses.uses if self.uses is not None else ()
        return list(dict.fromkeys(one.context.document_id for one in uses if not one.suggested))


class UsesWindow(MentionListing):
    """API: `show_entity`, `ask_entity`. `change_wanted` carries the ids of ticked and seen mentions, and their new
    verdict.

    `of` is called in a separate thread; `curator` returns the curator's name.
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
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("All uses of the entity"), search=search, lookup=lookup, writable=writable, parent=parent)
        self._of, self._curator = of, curator
        self._moving: list[int] | None = None  # mentions for the entity searched for
        self.page = UsesPage(self.glance, self)
        self.go = button(tr("&Go to the mention"), self._open, parent=self)
        self.change = button(tr("&Move to another entity…"), self.ask_target, parent=self)
        self.nil = button(tr("Mark &NIL…"), self.ask_nil, parent=self)
        self.linker = button(tr("Ask the &linker"), self._ask_linker, parent=self)
        self.source = button(tr("Open the entity's &page…"), self._open_page, parent=self)
        self.other = button(tr("Another &entity…"), self.ask_entity, parent=self)
        keys = {
            Qt.Key.Key_Return: self._open,
            Qt.Key.Key_Enter: self._open,
            Qt.Key.Key_M: self.ask_target,
            Qt.Key.Key_N: self.ask_nil,
            Qt.Key.Key_P: self._open_page,
        }
        buttons = (self.go, self.change, self.nil, self.linker, self.source, self.other)
        self.lay_out(self.page, self.page.list, *buttons, keys=keys)
        self.page.list.acted.connect(self.press)
        self.page.list.stepped.connect(self.ask_target)
        self.page.list.rested.connect(lambda _: self._emit(self.mention_wanted))
        self.page.listed.connect(self._enable)
        self._enable()
        self.resize(1240, 720)

    # --- what is shown ---

    @property
    def uses(self) -> Uses | None:
        """The listed uses; None while they are read."""
        return self.page.uses

    def show_entity(self, entity_id: str) -> None:
        """List its uses, read in a separate thread."""
        self.say("")
        self._show_listing()
        self.page.begin(entity_id)
        self.worker.ask(partial(_read, self._of, entity_id), self._show)

    def reload(self) -> None:
        """Read the uses again; filters and ticks are kept if possible."""
        if self.uses is not None:
            self.worker.ask(partial(_read, self._of, self.uses.entity_id), self._show)

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
        for one in (self.change, self.nil):
            one.setEnabled(self.writable and listed)
        self.linker.setEnabled(self.writable and bool(self.page.unlinked))
        self.source.setEnabled(self.uses is not None)

    # --- keys and buttons ---

    def _emit(self, wanted: SignalInstance) -> None:
        if (use := self.page.current) is not None:
            wanted.emit(use.context.document_id, use.context.mention_id)

    def _open(self) -> None:
        self._emit(self.open_wanted)

    def _open_page(self) -> None:
        if self.uses is not None:
            self.page_wanted.emit(self.uses.entity_id)

    def _ask_linker(self) -> None:
        if documents := self.page.unlinked:
            self.say(ntr(ASKED, ASKED_MANY, len(documents)))
            self.linker_wanted.emit(documents)

    # --- changing what is ticked ---

    def ask_target(self) -> None:
        """Search for the entity that the ticked mentions move to."""
        ids = self.chosen_ids() if self.uses is not None else []
        if ids and self.uses is not None:
            self._moving = ids
            self.show_search(ntr(ONE_MOVING, MOVING, len(ids), name=self.uses.name) + self._others_words(ids))

    def ask_nil(self) -> None:
        """Ask for the reason why the ticked mentions are NIL."""
        if self.uses is not None and (ids := self.chosen_ids()):
            question = ntr("{n} use is NIL, because it is:", "{n:,} uses are NIL, because they are:", len(ids))
            self.ask_nil_reason(question, partial(self.change_wanted.emit, ids), note=self._others_words(ids).strip())

    def _others_words(self, ids: Sequence[int]) -> str:
        assert self.uses is not None
        me, wanted = self._curator(), set(ids)
        others = sum(one.context.mention_id in wanted and one.context.curator != me for one in self.uses.uses)
        return ntr(OTHERS, MANY_OTHERS, others) if others else ""

    def found(self, entity_id: str) -> None:
        """The entity chosen in the search: the target of what is ticked, or the one to show."""
        if self._moving is None:
            self.show_entity(entity_id)
        else:
            self.change_wanted.emit(self._moving, Verdict.link(entity_id))

    # --- the search ---

    def ask_entity(self, *, keep: bool = False) -> None:
        """Search for an entity to show its uses. `keep`: the current message stays."""
        self._moving = None
        self.show_search("" if keep else tr(WHICH))

    def back(self) -> None:
        """Return to the list, with the keyboard focus; close the window if there is none."""
        if self.uses is None:
            self.done(0)
        else:
            self._moving = None
            super().back()

    def _show_listing(self) -> None:
        self._moving = None
        self.pages.setCurrentWidget(self.listing)


def _read(of: Of, entity_id: str) -> Found:
    """Called in the background."""
    try:
        found = of(entity_id)
        return found, found.strings()
    except UserError as error:
        return str(error)


def gone_words(uses: Uses) -> str:
    if uses.successor is not None:
        into = uses.successor
        return tr(SUCCEEDED, id=uses.entity_id, name=uses.name, into=into.id, new=into.name)
    return tr(GONE, id=uses.entity_id, name=uses.name)


def facts_words(uses: Uses, strings: int) -> str:
    """Identifier and types, and the numbers of uses."""
    if not uses.uses:
        return " · ".join([*_about(uses), tr("no uses")])
    number = ntr("{n:,} use", "{n:,} uses", len(uses.uses))
    documents = ntr("{n:,} document", "{n:,} documents", uses.documents)
    number_of_strings = ntr("{n:,} string", "{n:,} strings", strings)
    where = tr("{uses} in {documents}", uses=number, documents=documents)
    return " · ".join([*_about(uses), where, number_of_strings, tr("{done:,} in done documents", done=uses.done)])


def _about(uses: Uses) -> list[str]:
    types = ", ".join(uses.entity.types) if uses.entity is not None else ""
    return [uses.entity_id, *([types] if types else [])]
