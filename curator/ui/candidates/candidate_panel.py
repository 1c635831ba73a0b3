"""What the linker suggests for the current mention, and its decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QStackedWidget, QStyle, QWidget

from curator.domain.decisions import Outcome
from curator.domain.suggestions import Band
from curator.domain.wording import localised, tr
from curator.services.linking.name_linking import BY_NAME
from curator.services.queue.queue import MentionView
from curator.ui.candidates.candidate_contrast import ContrastCard
from curator.ui.candidates.candidate_delegate import CandidateDelegate
from curator.ui.candidates.candidate_model import (
    ALL,
    CandidateModel,
    Extent,
    candidate_rows,
)
from curator.ui.candidates.candidate_rows import HiddenRow, NilRow
from curator.ui.candidates.entity_card import EntityCard, Lookup
from curator.ui.kit.compose import column, pane, row, splitter
from curator.ui.kit.key_names import way_to
from curator.ui.kit.labels import ElidedLabel, NotedLabel, NoteLabel, StateChip
from curator.ui.kit.mention_state import decision_words, state_of
from curator.ui.kit.record_tables import Index
from curator.ui.kit.row_list import RowList, row_height

SHARE, ROWS = 0.64, 10
"""The candidates' share of the height, and the number that must be visible; the record gets the rest."""
NOT_LINKED = (
    "No suggestion yet: the linker is starting or has not reached this document. In the meantime, "
    "search the knowledge base with /, or decide with N, X or S."
)
NOT_STORED = "No suggestion is stored for this mention. Search the knowledge base with /."
NO_CANDIDATES = "The linker found no candidates. Search the knowledge base with /, or press N for NIL."
BY_NUMBER = "Choose by number, or press N if none fits."
BAND_WORDS = {
    Band.ACCEPT: "sure enough to accept",
    Band.REVIEW: "needs review",
    Band.PROBABLY_NIL: "probably NIL",
}


class _Candidates(RowList):
    """The list of candidates; changed rows are repainted in place if their heights did not change. `first_entered`:
    Enter on the first row, which is highlighted by itself."""

    first_entered = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().row() == 0:
            if not event.isAutoRepeat():
                self.first_entered.emit()
        else:
            super().keyPressEvent(event)

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        QAbstractItemView.dataChanged(self, first, last, list(roles))


class CandidatePanel(QWidget):
    """Header, candidates, the NIL row, and the highlighted candidate's record.

    API: `show_mention`, `show_without_suggestions`, `set_note` (what concerns all mentions, such as an index being
    built), `set_extent`, `show_contrast`, `highlight`, `move_highlight`, `highlighted`. No height changes from mention
    to mention, so rows stay in place.
    """

    candidate_chosen = Signal(str)
    first_entered = Signal(str)
    nil_chosen = Signal()
    hidden_toggled = Signal()

    def __init__(self, lookup: Lookup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view: MentionView | None = None
        self._withheld = ""  # reason why this mention's suggestions are not shown
        self._of_none = ""  # reason why there are no candidates, if known
        self._extent = ALL
        self._writable = True
        self._enter_least = 0.0
        self._lookup = lookup
        self.model = CandidateModel(self)
        self.list = _Candidates(tr("Candidates"), self)
        self.list.setModel(self.model)
        self._delegate = CandidateDelegate(self.list)
        self.list.setItemDelegate(self._delegate)
        self.nil_row = NilRow(self)
        self.hidden_row = HiddenRow(self)
        self.card = EntityCard(lookup, self)
        self.contrast = ContrastCard(self)
        self.records = QStackedWidget(self)
        self.note = NoteLabel(self)
        self._text = ElidedLabel(scale=1.3, bold=True, parent=self)
        self._chip = StateChip(self)
        self._facts = ElidedLabel(muted=True, parent=self)
        self._decided = ElidedLabel(parent=self)
        self.opinion = ElidedLabel(scale=0.92, muted=True, parent=self)
        self.contradiction = NotedLabel(scale=0.92, parent=self)  # other decisions about its string
        self._compose()
        self.list.chosen.connect(self._choose)
        self.list.first_entered.connect(lambda: self.first_entered.emit(self.highlighted))
        self.list.selectionModel().currentChanged.connect(self._highlighted)
        self.list.verticalScrollBar().rangeChanged.connect(self._align_nil_row)
        self.nil_row.clicked.connect(self.nil_chosen)
        self.hidden_row.clicked.connect(self.hidden_toggled)
        self.nothing = ""  # what to do while no mention is shown
        self.show_mention(None)

    def _compose(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        first = row((self._text, 1), self._chip)
        header = column(first, self._facts, self._decided, margins=(12, 12, 12, 8), spacing=3)
        for line in (self.opinion, self.contradiction):
            line.setContentsMargins(12, 3, 12, 5)
        self.opinion.hide()
        parts = (header, self.note, (self.list, 1), self.hidden_row, self.nil_row, self.opinion, self.contradiction)
        self._upper = upper = pane(*parts, parent=self, spacing=0)
        self.records.addWidget(self.card)
        self.records.addWidget(self.contrast)
        self.splitter = splitter(upper, self.records, parent=self, sizes=(560, 300), stretch=(3, 1))
        self._dragged = False
        self.splitter.splitterMoved.connect(self._drag)
        self._fit_list()
        column(self.splitter, of=self)

    def _fit_list(self) -> None:
        """Ensure that two candidates are visible even on a small screen."""
        self.list.setMinimumHeight(2 * row_height(self.font()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The candidates get their share, but at most the height of `ROWS`; a size set by the curator is kept."""
        super().resizeEvent(event)
        if self._dragged:
            return
        whole, layout = sum(self.splitter.sizes()), self._upper.layout()
        beside = layout.minimumSize().height() - self.list.minimumHeight() if layout is not None else 0
        upper = min(int(whole * SHARE), beside + ROWS * row_height(self.font()))
        self.splitter.setSizes([upper, max(whole - upper, 1)])

    def _drag(self) -> None:
        self._dragged = True

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "splitter"):
            self._fit_list()

    def show_mention(self, view: MentionView | None) -> None:
        """Show a mention's candidates with the linked or else the first one highlighted; None shows `nothing`.

        The same mention shown again keeps the curator's highlight.
        """
        same = self._view is not None and view is not None and self._view.mention.id == view.mention.id
        keep = self.highlighted if same else None
        if not same:
            self._withheld = ""
        self._view = view
        if view is not None and self._withheld:
            view = replace(view, suggestion=None, stale=False)
        self.model.show_mention(view, self._extent)
        self._show_header(view)
        suggestion = view.suggestion if view is not None else None
        decided_nil = view is not None and view.decision is not None and view.decision.verdict.outcome is Outcome.NIL
        estimate = None if suggestion is None or suggestion.stamp.bundle_id == BY_NAME else suggestion.nil
        said = self._extent.said_of(view.mention.id) if view is not None and suggestion is not None else None
        by_model = said is not None and said.entity_id is None
        undecided = view is not None and view.decision is None
        self.nil_row.show_estimate(
            estimate, chosen=decided_nil, undecided=undecided, blind=self._extent.blind, opinion=by_model
        )
        self.nil_row.setEnabled(view is not None)
        waiting = self._withheld or tr(NOT_LINKED if self._writable else NOT_STORED)
        self.list.set_empty_words(
            self.nothing if view is None else waiting if suggestion is None else self._of_none or tr(NO_CANDIDATES)
        )
        self._highlight_first(view, keep)

    def prepare(self, view: MentionView) -> None:
        """Draw the rows of a mention that is likely to be shown next, in advance."""
        option, ratio = self.list.row_option(), self.list.viewport().devicePixelRatioF()
        linked = view.decision.verdict.entity_ids if view.decision is not None else ()
        rows = candidate_rows(view, replace(self._extent, others=(), gone=frozenset(), opinion=None))
        ids = [one.candidate.entity_id for one in rows]
        first = next((ids.index(one) for one in linked if one in ids), 0)
        plain, below = option.state, self.list.viewport().height()
        for at, one in enumerate(rows):
            height = self._delegate.height(option.font, keyed=one.keyed)
            option.rect = QRect(0, 0, self.list.viewport().width(), height)
            option.state = plain | QStyle.StateFlag.State_Selected if at == first else plain
            self._delegate.picture(one, option, ratio)
            below -= height
            if below <= 0:
                break

    def say_of_none(self, words: str) -> None:
        """Set the message if the linker has no candidates for the current mention, instead of the usual one."""
        if words != self._of_none:
            self._of_none = words
            self.show_mention(self._view)

    def set_extent(self, extent: Extent) -> None:
        """Set which candidates are shown, and how; the current mention is updated at once."""
        if extent != self._extent:
            self._extent = extent
            self.show_mention(self._view)

    def set_writable(self, writable: bool) -> None:
        """Set whether a key can decide, and whether suggestions are calculated."""
        self._writable = writable

    def set_enter_least(self, least: float) -> None:
        """Set the probability of the first candidate below which Enter takes a second press."""
        if least != self._enter_least:
            self._enter_least = least
            self._show_header(self._view)

    def set_opinions(self, shown: bool) -> None:
        """Set whether there is a line below the candidates for the second opinion, `opinion`."""
        self.opinion.setVisible(shown)

    @property
    def extent(self) -> Extent:
        return self._extent

    def show_contrast(self, shown: bool) -> None:
        """Show the comparison of the first two instead of the highlighted candidate's record, or the reverse."""
        self.records.setCurrentWidget(self.contrast if shown else self.card)

    @property
    def contrasting(self) -> bool:
        return self.records.currentWidget() is self.contrast

    def show_without_suggestions(self, reason: str) -> None:
        """Hide the suggestions for the current mention, and show why, until another mention is shown."""
        self._withheld = reason
        self.show_mention(self._view)

    def _show_header(self, view: MentionView | None) -> None:
        self._chip.set_state(state_of(view.decision) if view is not None else None)
        if view is None:
            for label in (self._text, self._facts, self._decided):
                label.set_words("")
            return
        self._text.set_words(view.mention.text)
        parts = [view.mention.type, *(f"{one.name}: {value.name}" for one, value in view.attributes)]
        if view.suggestion is not None and view.suggestion.expanded:
            parts.append(tr("long form: {expanded}", expanded=view.suggestion.expanded))
        if self._extent.blind:
            parts.append(tr("candidates in random order"))
        elif (
            (found := view.suggestion) is not None and view.decision is None and (found.candidates or found.nil.is_nil)
        ):
            parts.append(tr(BAND_WORDS[found.band]))  # the list says why it is empty, such as for the branches
        self._facts.set_words(" · ".join(parts))
        blind = self._extent.blind and view.decision is None and view.suggestion is not None
        self._decided.set_words(
            _status(
                view,
                self._names(view),
                noted=bool(self.note.text()),
                decides=self._writable,
                blind=blind,
                least=self._enter_least,
            )
        )

    def _names(self, view: MentionView) -> dict[str, str]:
        """Names of the linked entities; they may come from a search."""
        linked = view.decision.verdict.entity_ids if view.decision is not None else ()
        return {one: entity.name for one in linked if (entity := self._lookup(one)) is not None}

    def _highlight_first(self, view: MentionView | None, keep: str | None) -> None:
        linked = view.decision.verdict.entity_ids if view is not None and view.decision is not None else ()
        rows = (self.model.row_of(one) for one in (keep, *linked) if one is not None)
        before = self.list.currentIndex().row()
        self.list.go_to(next((row for row in rows if row is not None), 0))
        if self.list.currentIndex().row() == before:  # another candidate in the same row
            self._highlighted(self.list.currentIndex())
        if self.model.rowCount() == 0:
            self.card.show_candidate(None)
        elif keep is None:
            self.list.scrollToTop() if self.list.currentIndex().row() == 0 else None

    def set_note(self, note: str) -> None:
        """Show a sentence for all suggestions; '' hides it. With it, no message about a stale suggestion is shown."""
        if note != self.note.text():
            self.note.set_note(note)
            self._show_header(self._view)

    @property
    def highlighted(self) -> str | None:
        """The entity id of the highlighted candidate."""
        row = self.model.row(self.list.currentIndex().row())
        return row.candidate.entity_id if row is not None else None

    def highlight(self, row: int) -> None:
        self.list.go_to(row)

    def bring_into_sight(self, row: int) -> None:
        """Scroll to a row without highlighting it."""
        if row < self.model.rowCount():
            self.list.scrollTo(self.model.index(row, 0), RowList.ScrollHint.PositionAtCenter)

    def move_highlight(self, by: int) -> None:
        self.list.go_to(min(max(self.list.currentIndex().row() + by, 0), self.model.rowCount() - 1))

    def _align_nil_row(self, low: int, high: int) -> None:
        self.nil_row.set_right_inset(self.list.verticalScrollBar().sizeHint().width() if high > low else 0)

    def _highlighted(self, index: QModelIndex) -> None:
        row = self.model.row(index.row())
        view = self._view
        scored = None if row is None or not row.rank or self._extent.blind or view is None else view.suggestion
        self.card.show_candidate(row.candidate if row is not None else None, scored)

    def _choose(self, number: int) -> None:
        row = self.model.row(number)
        if row is not None:
            self.candidate_chosen.emit(row.candidate.entity_id)


def _status(
    view: MentionView, names: Mapping[str, str], *, noted: bool, decides: bool, blind: bool, least: float
) -> str:
    """The current decision; for an undecided mention that a key `decides`, the effect of Enter, or, without a note
    about suggestions, that this one is being updated."""
    if blind and decides:
        return tr(BY_NUMBER)
    words = decision_words(view, names)
    if words and view.decision is not None:
        at = view.decision.at.astimezone()
        return f"{words} · {view.decision.curator}, {localised(at, '%d %b %H:%M')}"
    if not decides:
        return ""
    if view.stale and not noted:
        return tr("These suggestions are out of date; new ones are being calculated.")
    suggestion, key = view.suggestion, way_to("mention.accept")
    if suggestion is None:
        return ""
    if suggestion.nil.is_nil:
        return tr("{key} twice marks it NIL: not in the knowledge base", key=key)
    words = "{key} twice links it to {name}" if suggestion.doubt(least) else "{key} links it to {name}"
    return tr(words, key=key, name=suggestion.candidates[0].name) if suggestion.candidates else ""
