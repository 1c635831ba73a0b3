"""The list of an entity's uses: its strings with their counts, the filters, and the mentions in their contexts."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from curator.domain.documents import Split
from curator.domain.wording import localised, ntr, tr
from curator.services.knowledge.uses import UsedString, UseFilter, UseOrder, Uses
from curator.services.ports.queue import MentionUse
from curator.ui.deciding.kwic_list import TickList
from curator.ui.deciding.kwic_rows import CheckMark
from curator.ui.entities.use_list import UseDelegate, UseHeader, UseRow, rows_of
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.sight import Glance, rows_in_sight
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


class UseFilters(QWidget):
    """`changed`: the curator chose something else. API: `offer`, `narrowed`, `order`."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curators, self.splits, self.orders = QComboBox(self), QComboBox(self), QComboBox(self)
        self.splits.addItem(tr("all splits"), "")
        for split in SPLIT_WORDS:
            self.splits.addItem(tr(SPLIT_WORDS[split]), split.value)
        for order in ORDERS:
            self.orders.addItem(tr(ORDERS[order]), order.value)
        self.curators.addItem(tr("everybody"), "")
        self.curators.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        parts = ((tr("C&urator:"), self.curators), (tr("&Split:"), self.splits), (tr("&Order:"), self.orders))
        self.setLayout(FlowRow(*(self._with_label(words, box) for words, box in parts)))
        for _, box in parts:
            box.currentIndexChanged.connect(self.changed)

    def _with_label(self, words: str, box: QComboBox) -> QWidget:
        both = QWidget(self)
        label = PlainLabel(words, both)
        label.setBuddy(box)
        box.setAccessibleName(words.replace("&", "").rstrip(":"))
        line = QHBoxLayout(both)
        line.setContentsMargins(0, 0, 12, 0)
        line.addWidget(label)
        line.addWidget(box)
        return both

    def reset(self) -> None:
        """Reset the filters."""
        for box in (self.curators, self.splits, self.orders):
            with QSignalBlocker(box):
                box.setCurrentIndex(0)

    def offer(self, uses: Uses) -> None:
        """Set the curators of these uses; the chosen one is kept if possible."""
        with QSignalBlocker(self.curators):
            chosen = self.curators.currentData()
            self.curators.clear()
            self.curators.addItem(tr("everybody"), "")
            for name in uses.curators():
                self.curators.addItem(name, name)
            self.curators.setCurrentIndex(max(self.curators.findData(chosen), 0))

    def narrowed(self, string: str) -> UseFilter:
        split = self.splits.currentData()
        return UseFilter(string, self.curators.currentData() or "", Split(split) if split else None)

    @property
    def order(self) -> UseOrder:
        return UseOrder(self.orders.currentData())


class UsesPage(QWidget):
    """API: `begin`, `show_uses`, `ticked`, `unseen`, `current`, `go_to`. `listed`: other lines or other ticks."""

    listed = Signal()
    pressed = Signal(int)  # Qt.Key of keys that neither move nor tick

    def __init__(self, glance: Glance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._glance = glance
        self.uses: Uses | None = None
        self._filling = False
        self._make_widgets()
        self._compose()
        self._connect()
        glance.remember(self.list.viewport(), self._lines_shown)

    def _make_widgets(self) -> None:
        self.title = ElidedLabel(scale=1.2, bold=True, parent=self)
        self.facts = ElidedLabel(muted=True, parent=self)
        self.filters = UseFilters(self)
        self.strings: RecordTable[UsedString] = RecordTable(
            tr("Strings of the entity"),
            [
                RecordColumn(tr("String"), lambda one: one.text),
                RecordColumn(
                    tr("Uses"), lambda one: localised(one.number, ","), by=lambda one: one.number, figure=True
                ),
            ],
            parent=self,
        )
        self.header = UseHeader(self)
        self.list = TickList(tr("Uses of the entity in their contexts"), self, glance=self._glance)
        self.list.setItemDelegate(UseDelegate(self.list))
        self.count = ElidedLabel(muted=True, parent=self)
        self.count.setMinimumWidth(24 * self.fontMetrics().horizontalAdvance("0"))
        self.hints = KeyHints(self, gives_way=True)
        self.hints.set_hints(HINTS)

    def _compose(self) -> None:
        lines = QWidget(self)
        right = QVBoxLayout(lines)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self.header)
        right.addWidget(self.list, 1)
        parts = QSplitter(Qt.Orientation.Horizontal, self)
        parts.addWidget(self.strings)
        parts.addWidget(lines)
        parts.setChildrenCollapsible(False)
        parts.setStretchFactor(1, 1)
        digit = self.fontMetrics().horizontalAdvance("0")
        parts.setSizes([30 * digit, 130 * digit])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        for part in (self.title, self.facts, self.filters):
            whole.addWidget(part)
        whole.addWidget(parts, 1)
        whole.addLayout(FlowRow(self.count, self.hints))

    def _connect(self) -> None:
        self.strings.selectionModel().currentRowChanged.connect(lambda: self._list())
        self.strings.chosen.connect(lambda: self.list.setFocus(Qt.FocusReason.OtherFocusReason))
        self.filters.changed.connect(self._list)
        self.list.verticalScrollBar().rangeChanged.connect(self._align_header)
        self.list.acted.connect(self.pressed)
        self.list.ticks_changed.connect(self._say_count)

    # --- what is shown ---

    def clear(self) -> None:
        """Show nothing."""
        self.begin("")
        self.strings.show_rows([])

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
        moved_in = self.list.moved_in and at is not None
        self.list.show_rows(rows_of(uses, set(ticked)), at=at)
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

    def _align_header(self, low: int, high: int) -> None:
        self.header.set_inset(self.list.verticalScrollBar().sizeHint().width() if high > low else 0)

    # --- the lines ---

    @property
    def current(self) -> MentionUse | None:
        row = self.list.current
        return row.use if isinstance(row, UseRow) else None

    @property
    def ticked(self) -> list[int]:
        """Mention ids, in the order of the list."""
        return self.list.lines.marked(CheckMark.TICKED)

    @property
    def unseen(self) -> list[int]:
        """Ticked mentions that were never on the screen."""
        return [one for one in self.ticked if self._glance.unseen([_key(one)])]

    @property
    def unlinked(self) -> list[int]:
        """Documents with uses without a suggestion."""
        uses = self.uses.uses if self.uses is not None else ()
        return list(dict.fromkeys(one.context.document_id for one in uses if not one.suggested))

    def go_to(self, mention_id: int) -> None:
        """Go to the line of a mention, with the keyboard focus."""
        self.list.go_to(self.list.lines.find(mention_id) or 0)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _lines_shown(self) -> list[Hashable]:
        rows = (self.list.lines.row(one) for one in rows_in_sight(self.list))
        return [_key(row.context.mention_id) for row in rows if row is not None and row.context is not None]


def _key(mention_id: int) -> Hashable:
    return "use", mention_id


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
