"""The facets with their counts, as a tree: arrow keys navigate, Space sets and clears a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState
from curator.domain.facets import (
    CANDIDATE_BANDS,
    MARGIN_BANDS,
    NO,
    NONE,
    NUMBERS,
    ON_DOCUMENT,
    OTHERS_BANDS,
    PROBABILITY_BANDS,
    RANK_BANDS,
    SECOND_BANDS,
    SIMILARITY_BANDS,
    UNDECIDED,
    YES,
    Facet,
    FacetCube,
    Facets,
    Range,
    band_key,
)
from curator.domain.wording import localised, tr

# The names of facets and their values.

FACET_WORDS = {
    Facet.STATE: "State",
    Facet.TYPE: "Type",
    Facet.PROBABILITY: "Probability",
    Facet.MARGIN: "Margin",
    Facet.SECOND: "Second candidate",
    Facet.OTHERS: "Other candidates",
    Facet.NIL: "Suggestion",
    Facet.OPINION: "Second opinion",
    Facet.CANDIDATES: "Candidates",
    Facet.MATCHED: "Exact name",
    Facet.EXACT: "Rank of the exact name",
    Facet.SIMILARITY: "Name similarity",
    Facet.ALIKE: "Similarity of the others",
    Facet.RANK: "Rank of the link",
    Facet.FLAG: "Flag",
    Facet.COMMENT: "Comment",
    Facet.ATTRIBUTE: "Attributes",
    Facet.CURATOR: "Curator",
    Facet.SPLIT: "Split",
    Facet.DOCUMENT: "Document",
}
NOT_SET = "{name}: not set"
FROM_TO, FROM, UP_TO = "{low} to {high}", "from {low}", "up to {high}"
ANY_RANGE = "From … to …"
ENDS_OF = "{facet}: from and to"
NO_RANGE = "Enter two numbers, such as .37 – .52, or one number for the lower end."
_NOT_YET = "no suggestion"


def _band_words(bands: Iterable[float]) -> dict[str, str]:
    lows = tuple(bands)
    words = {band_key(low): f"{_figure(low)} to {_figure(high)}" for low, high in pairwise(lows)}
    words[band_key(lows[0])] = f"below {_figure(lows[1])}"
    words[band_key(lows[-1])] = f"{_figure(lows[-1])} and more"
    return {**words, NONE: _NOT_YET}


def _number_words(bands: Sequence[int], nothing: str) -> dict[str, str]:
    """A range of whole numbers from 1, or `nothing` for 0."""
    words = {"0": nothing}
    for low, high in pairwise(bands[1:]):
        words[str(low)] = str(low) if high == low + 1 else f"{low} to {high - 1}"
    return {**words, str(bands[-1]): f"{bands[-1]} and more", NONE: _NOT_YET}


def _figure(value: float) -> str:
    """A number in English notation; it is translated for display."""
    return f"{value:.2f}".lstrip("0")


_WORDS: dict[Facet, dict[str, str]] = {
    Facet.STATE: {UNDECIDED: UNDECIDED, **{one.value: one.words for one in Outcome}},
    Facet.PROBABILITY: _band_words(PROBABILITY_BANDS),
    Facet.MARGIN: _band_words(MARGIN_BANDS),
    Facet.NIL: {NO: "an entity", YES: "NIL", NONE: _NOT_YET},
    Facet.OPINION: {YES: "agrees with the linker", NO: "disagrees with the linker", NONE: "not asked"},
    Facet.SECOND: _band_words(SECOND_BANDS),
    Facet.OTHERS: {**_band_words(OTHERS_BANDS), NONE: "no third candidate"},
    Facet.CANDIDATES: _number_words(CANDIDATE_BANDS, "no candidate"),
    Facet.MATCHED: {"name": "preferred name", "synonym": "synonym", NO: "no exact name", NONE: _NOT_YET},
    Facet.EXACT: _number_words(RANK_BANDS, "no exact name"),
    Facet.SIMILARITY: _band_words(SIMILARITY_BANDS),
    Facet.ALIKE: {**_band_words(SIMILARITY_BANDS), NONE: "no second candidate"},
    Facet.RANK: {**_number_words(RANK_BANDS, "not a candidate"), NO: "not linked"},
    Facet.FLAG: {YES: "flagged", ON_DOCUMENT: "its document flagged", NO: "not flagged"},
    Facet.COMMENT: {YES: "commented", ON_DOCUMENT: "its document commented", NO: "without comments"},
    Facet.CURATOR: {"": "nobody yet"},
    Facet.SPLIT: {one: one for one in ("train", "validation", "test")},
    Facet.DOCUMENT: {state.value: state.words for state in DocumentState},
}


def value_words(facet: Facet, value: str) -> str:
    if facet is Facet.ATTRIBUTE:
        name, _, given = value.partition("=")
        return f"{name}: {given}" if given else tr(NOT_SET, name=name)
    if facet in NUMBERS and (within := Range.of(value)) is not None:
        return range_words(within)
    return tr(_WORDS.get(facet, {}).get(value, value))


def range_words(within: Range) -> str:
    low, high = (_short(one) for one in (within.low, within.high))
    return tr(FROM_TO if low and high else FROM if low else UP_TO, low=low, high=high)


def _short(number: float | None) -> str:
    """A number as in the bands: .37; 12. In German 0,37."""
    text = "" if number is None else localised(number, ".6g")
    return text[1:] if text.startswith("0.") else text


def read_range(typed: str) -> Range | None:
    """“.37 – .52”, “.37 to .52”, “.9” (from), “< .5” or “–.5” (up to). None for other input."""
    numbers = _NUMBER.findall(typed.replace("..", " – "))
    if len(numbers) == 2:
        return Range.between(*numbers)
    if len(numbers) != 1:
        return None
    up_to = typed.strip().startswith(("<", "≤", "–", "-", ".."))
    return Range.between("" if up_to else numbers[0], numbers[0] if up_to else "")


_NUMBER = re.compile(r"\d*[.,]\d+|\d+")


def values_in_order(facet: Facet, present: Iterable[str]) -> list[str]:
    """The values to offer: known ones in their order, then others alphabetically; only those present."""
    found = set(present)
    if facet is Facet.ATTRIBUTE:  # for each attribute, mentions without a value last
        return sorted(found, key=lambda one: (one.partition("=")[0].casefold(), one.endswith("="), one.casefold()))
    known = [one for one in _WORDS.get(facet, {}) if one in found]
    return [*known, *sorted(found - set(known), key=str.casefold)]


def chips(facets: Facets) -> list[tuple[Facet, str]]:
    """A chip for each set facet: “State: undecided, skipped”."""
    return [
        (
            facet,
            f"{tr(FACET_WORDS[facet])}: {', '.join(value_words(facet, one) for one in values_in_order(facet, values))}",
        )
        for facet, values in facets.chosen
    ]


class _RangeEditor(QStyledItemDelegate):
    """The editor of a range's row."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:  # noqa: ARG002
        facet, _ = index.data(KEY_ROLE)
        line = QLineEdit(parent)
        line.setPlaceholderText(f"{_short(0.37)} – {_short(0.52)}")
        line.setAccessibleName(tr(ENDS_OF, facet=tr(FACET_WORDS[Facet(facet)])))
        line.setToolTip(tr(NO_RANGE))
        return line

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:  # noqa: ARG002
        """Make the editor higher than its row if its frame needs it."""
        place, height = option.rect, max(option.rect.height(), editor.sizeHint().height())
        editor.setGeometry(place.left(), place.center().y() - height // 2, place.width(), height)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Start empty, as the row's label is not a range."""


Index = QModelIndex | QPersistentModelIndex
ASK = ".."
"""The value of the row in which a range is entered."""
KEY_ROLE = int(Qt.ItemDataRole.UserRole)
OPEN = (Facet.STATE, Facet.TYPE, Facet.PROBABILITY)
"""Facets that are expanded initially."""


class FacetsPanel(QTreeWidget):
    """API: `show_cube`, `show_facets`; `changed` when the curator sets or clears a value; `said`: why a range was not
    set."""

    changed = Signal(object)  # Facets
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cube = FacetCube()
        self._present = self._cube.counts(Facets())
        self._facets = Facets()
        self._writing = False
        self.setAccessibleName(tr("Facets"))
        self.setColumnCount(2)
        self.setHeaderLabels([tr("Facet"), ""])  # even hidden, a heading would widen the column of figures
        self.headerItem().setData(1, Qt.ItemDataRole.AccessibleTextRole, tr("Mentions"))
        self.setHeaderHidden(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformRowHeights(True)
        self.setIndentation(10)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.setItemDelegate(_RangeEditor(self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._rows: dict[Facet, dict[str, QTreeWidgetItem]] = {facet: {} for facet in Facet}
        self._tops = {facet: self._top(facet) for facet in Facet}
        self.itemChanged.connect(self._toggled)
        self.itemClicked.connect(self._clicked)

    @property
    def facets(self) -> Facets:
        return self._facets

    def show_cube(self, cube: FacetCube) -> None:
        """Show new numbers and keep the focused row."""
        self._cube = cube
        self._present = cube.counts(Facets())
        self._write()

    def show_facets(self, facets: Facets) -> None:
        """Show the set facets without emitting a change."""
        self._facets = facets
        self._write()

    def counts(self, facet: Facet) -> dict[str, int]:
        """The displayed numbers, by value."""
        return {value: int(row.text(1).replace(",", "")) for value, row in self._rows[facet].items()}

    def item(self, facet: Facet, value: str) -> QTreeWidgetItem | None:
        return self._rows[facet].get(value)

    def _top(self, facet: Facet) -> QTreeWidgetItem:
        top = QTreeWidgetItem(self, [tr(FACET_WORDS[facet]), ""])
        top.setData(0, KEY_ROLE, (facet.value, None))
        top.setToolTip(0, tr(FACET_WORDS[facet]))  # a narrow panel cuts it
        top.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        top.setExpanded(facet in OPEN)
        return top

    def _write(self) -> None:
        self._writing = True
        counts = self._cube.counts(self._facets)
        for facet, top in self._tops.items():
            self._fill(facet, top, counts[facet])
        self._writing = False

    def _fill(self, facet: Facet, top: QTreeWidgetItem, counts: Mapping[str, int]) -> None:
        chosen = self._facets.values(facet)
        wanted = values_in_order(facet, {*self._present[facet], *chosen})  # a set value stays even at 0
        if list(self._rows[facet]) != wanted:
            top.takeChildren()
            self._rows[facet] = {value: self._value(facet, value) for value in wanted}
            top.addChildren(list(self._rows[facet].values()))
            if facet in NUMBERS:
                top.addChild(self._asking(facet))
        for value, row in self._rows[facet].items():
            row.setText(1, localised(counts.get(value, 0), ","))
            row.setCheckState(0, Qt.CheckState.Checked if value in chosen else Qt.CheckState.Unchecked)
        if facet in (Facet.OPINION, Facet.ATTRIBUTE):  # most projects have none
            top.setHidden(set(wanted) <= {NONE} and not chosen)
        font = top.font(0)
        font.setBold(bool(chosen))
        top.setFont(0, font)

    def _value(self, facet: Facet, value: str) -> QTreeWidgetItem:
        row = QTreeWidgetItem([value_words(facet, value), "0"])
        row.setData(0, KEY_ROLE, (facet.value, value))
        row.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable)
        row.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return row

    def _asking(self, facet: Facet) -> QTreeWidgetItem:
        row = QTreeWidgetItem([tr(ANY_RANGE), ""])
        row.setData(0, KEY_ROLE, (facet.value, ASK))
        row.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable)
        return row

    def ask_range(self, facet: Facet) -> None:
        """Edit a range of the facet in its row."""
        top = self._tops[facet]
        top.setExpanded(True)
        row = top.child(top.childCount() - 1)
        if row is not None and row.data(0, KEY_ROLE)[1] == ASK:
            self.setCurrentItem(row)
            self.editItem(row, 0)

    def _take_range(self, item: QTreeWidgetItem, facet: Facet) -> None:
        """Filter by the entered range, and restore the row's label."""
        typed, self._writing = item.text(0).strip(), True
        item.setText(0, tr(ANY_RANGE))
        self._writing = False
        within = read_range(typed)
        if within is None:
            if typed:
                self.said.emit(tr(NO_RANGE))
        elif within.key not in self._facets.values(facet):
            chosen = self._facets.toggled(facet, within.key)
            QTimer.singleShot(0, self, lambda: self._choose_range(chosen, facet, within.key))  # after the editing

    def _toggled(self, item: QTreeWidgetItem, column: int) -> None:
        facet, value = item.data(0, KEY_ROLE)
        if self._writing or column != 0 or value is None:
            return
        if value == ASK:
            self._take_range(item, Facet(facet))
            return
        checked = item.checkState(0) is Qt.CheckState.Checked
        if checked != (value in self._facets.values(Facet(facet))):
            self._choose(self._facets.toggled(Facet(facet), value))

    def _choose_range(self, facets: Facets, facet: Facet, key: str) -> None:
        self._choose(facets)
        self.setCurrentItem(self._rows[facet][key])

    def _choose(self, facets: Facets) -> None:
        self._facets = facets
        self._write()
        self.changed.emit(facets)

    def _clicked(self, item: QTreeWidgetItem, column: int) -> None:
        """Collapse a facet clicked by name; set a value clicked by number, like its box."""
        if item.data(0, KEY_ROLE)[1] is None:
            item.setExpanded(not item.isExpanded())
        elif item.data(0, KEY_ROLE)[1] == ASK:
            self.ask_range(Facet(item.data(0, KEY_ROLE)[0]))
        elif column == 1:
            checked = item.checkState(0) is Qt.CheckState.Checked
            item.setCheckState(0, Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if self.state() is QAbstractItemView.State.EditingState:
            event.accept()  # the field has handled it
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and item is not None:
            if item.data(0, KEY_ROLE)[1] is None:
                item.setExpanded(not item.isExpanded())
            else:
                self._clicked(item, 1)
        elif event.key() in _MOVES:
            super().keyPressEvent(event)
        else:
            event.ignore()  # every other key belongs to the window, including Esc


_MOVES = (
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Home,
    Qt.Key.Key_End,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
)
