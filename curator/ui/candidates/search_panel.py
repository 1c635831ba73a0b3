"""Search in the knowledge base: type, move up and down, Enter chooses, Esc closes."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QWidget

from curator.domain.curies import checked_identifier, is_identifier, miswritten, registry_of
from curator.domain.entities import EntityMatch, MatchKind
from curator.domain.facets import parse_query
from curator.domain.wording import tr
from curator.ui.candidates.entity_card import EntityCard, Lookup
from curator.ui.candidates.search_rows import (
    BROKEN,
    EntitySearch,
    MatchDelegate,
    MatchModel,
    Meant,
    Search,
    SearchAnswer,
    answer_to,
    leads_to,
    left_out_words,
    obsolete_words,
)
from curator.ui.kit.compose import column, field, row, splitter, tool
from curator.ui.kit.labels import ElidedLabel, NoteLabel
from curator.ui.kit.row_list import RowList
from curator.ui.kit.sight import Glance, rows_in_sight
from curator.ui.kit.worker import Worker

NO_MATCH = "Nothing in the knowledge base matches “{query}”. Clear the line and type ? for search help."
ONLY_OUTSIDE = (
    "Nothing that matches “{query}” is in the branches that this mention is restricted to ({left_out}). "
    "Tools › Restrict to branches lifts the restriction."
)
UNKNOWN = "The knowledge base has no {id}. ↵ makes an entity with this identifier of {registry}."
HINT = "Type a name, a synonym or an identifier. ↓ ↑ move through the entities, ↵ links, Esc cancels."
LINKED_LAST = "Recently linked"
STILL_SEARCHING = "Still searching. Press ↵ when the entities are listed."
ASKING = "No name has these words. Asking the linker for suggestions…"
NOT_CHOSEN = "No name matches closely. Choose an entity with ↓ first."
TOO_SOON = "This entity had only just appeared. Press ↵ again."
MOST = 50
"""The most results of a search."""
PATIENCE_MS = 1_000
"""How long results that are not names wait for the linker, whose suggestions come before them."""
GRAMMAR = (
    "heart att\tnames with all these words, the last may be incomplete\n"
    "D008012\tan identifier\n"
    '"beta-block"\tnames with exactly these characters\n'
    "type:disease\tonly entities of this type\n"
    "cold :: virus\tcold in the name, virus in the definition"
)
GRAMMAR_NOTE = "\n".join(line.replace("\t", "   ·   ") for line in GRAMMAR.splitlines())


class SearchPanel(QWidget):
    """API: `prefill`, `open_empty`, `close_search`. `search` is called in its own thread and may raise UserError, whose
    message is shown; for '' it returns the entities linked last.

    Results stay until the next answer arrives, so that nothing flickers while typing. Names are listed first; the first
    is highlighted if it is nearly what was typed. With an `EntitySearch` the linker is asked next. Its suggestions, and
    then results with only some of the words or with the words in the definition, are added below; these wait for the
    linker at most `PATIENCE_MS`. No row under the cursor moves, and none of these is ever highlighted by itself.
    `highlighted` carries the highlighted entity (or None), for a card next to it. If `accepts` is true, Enter on an
    unknown identifier of a known registry emits `unknown` with it.
    """

    chosen = Signal(str)
    unknown = Signal(str)
    left = Signal()
    highlighted = Signal(object)  # Entity | None

    def __init__(self, search: Search, parent: QWidget | None = None, *, glance: Glance | None = None) -> None:
        super().__init__(parent)
        self._glance = glance or Glance(None)
        self.search = search
        self._meant = search.meant if isinstance(search, EntitySearch) else None
        self.accepts = False
        self._unknown = ""
        self.worker = Worker(self)
        self.linker = Worker(self)
        self._overtaken = threading.Event()  # another text was typed since the linker was asked
        self._answer = SearchAnswer("")
        self._named_rows = 0
        self._leads: list[EntityMatch] = []  # results that wait for the linker
        self.patience = QTimer(self, interval=PATIENCE_MS, singleShot=True)
        self.patience.timeout.connect(self._add_leads)
        self.model = MatchModel(self)
        self._make_widgets()
        self._compose()
        self.line.textChanged.connect(self._ask)
        self.list.chosen.connect(self._choose)
        self.list.selectionModel().currentChanged.connect(self._highlight)
        self.help.toggled.connect(lambda on: self.grammar.set_note(tr(GRAMMAR_NOTE) if on else ""))
        self.line.installEventFilter(self)
        self.list.installEventFilter(self)
        self._glance.log(self.list.viewport(), self._found_shown)

    def _make_widgets(self) -> None:
        hint = tr("Search the knowledge base; ? shows help")
        self.line = field(tr("Search the knowledge base"), hint=hint, clear=True, parent=self)
        self.help = tool("?", tr("Search help"), parent=self)
        self.help.setCheckable(True)
        self.grammar = NoteLabel(self)
        self.obsolete = NoteLabel(self)
        self.list = RowList(tr("Entities found"), self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(MatchDelegate(self.list))
        self.list.set_empty_words(tr(HINT))
        self.status = ElidedLabel(muted=True, parent=self)

    def _compose(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        head = column(row((self.line, 1), self.help), self.status, margins=(10, 10, 10, 6))
        column(head, self.grammar, self.obsolete, (self.list, 1), of=self, spacing=0)

    def close_search(self) -> None:
        """Deliver nothing of a running search."""
        self._overtaken.set()
        self.worker.close()
        self.linker.close()

    def open_empty(self) -> None:
        """Take the keyboard focus with an empty line and the entities linked last."""
        self._start("")

    def prefill(self, text: str) -> None:
        """Search a text at once (such as the mention's) and take the keyboard focus."""
        self._start(" ".join(text.split()))

    def _start(self, text: str) -> None:
        if self.line.text() == text:
            self._ask(text)  # the mention may be of another type, and more may have been linked
        else:
            self.line.setText(text)
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    @property
    def busy(self) -> bool:
        """Whether more results may come."""
        return self.worker.busy or self.linker.busy

    @Slot(str)
    def _ask(self, text: str) -> None:
        self._overtaken.set()
        self.linker.drop()
        query = text if text.strip() else ""
        broken = SearchAnswer(query, trouble=tr(BROKEN))
        self.worker.ask(partial(answer_to, self.search, query), self._show, failed=lambda: self._show(broken))

    def _show(self, answer: SearchAnswer) -> None:
        self._unknown, self._answer, self._leads = "", answer, []
        self.patience.stop()
        self.obsolete.set_note(obsolete_words(answer) if answer.matches else "")
        if self._meant is None or not _is_text(answer):
            self.model.show_matches(answer.matches)
            self._say(answer, len(answer.matches))
        else:
            named = [one for one in answer.matches if one.kind.by_name]
            self._leads = [one for one in answer.matches if not one.kind.by_name]
            self.model.show_matches(named)
            self._named_rows = self.model.rowCount()
            self.list.set_empty_words(tr(ASKING))
            self.status.set_words(_counted(len(named)) if named else "")
            self._ask_linker(self._meant, answer.query)
        if answer.matches and is_meant(answer.matches[0], answer.query):
            self.list.go_to(self.model.next_row(-1))
        else:
            self.highlighted.emit(None)
        self.list.scrollToTop()

    def _ask_linker(self, meant: Meant, query: str) -> None:
        self._overtaken = overtaken = threading.Event()
        work = partial(leads_to, meant, query, lambda: not overtaken.is_set())
        self.linker.ask(work, self._add_meant, failed=lambda: self._add_meant(()))
        self.patience.start()

    def _add_meant(self, meant: Sequence[EntityMatch]) -> None:
        """Add what the linker suggests, after the names; at the end if that would move the row under the cursor."""
        shown = {one.entity.id for one in self.model.matches}
        new = [one for one in meant if one.entity.id not in shown]
        place = self._named_rows
        if self.list.currentIndex().row() >= place or self.list.viewport().underMouse():
            place = self.model.rowCount()
        self.model.insert_matches(place, new)
        self._add_leads()

    def _add_leads(self) -> None:
        """Add the results that are not names of all the words."""
        self.patience.stop()
        shown = {one.entity.id for one in self.model.matches}
        leads, self._leads = [one for one in self._leads if one.entity.id not in shown], []
        self.model.insert_matches(self.model.rowCount(), leads)
        self._say(self._answer, len(self.model.matches))

    def _say(self, answer: SearchAnswer, number: int) -> None:
        """Say how many results there are, or why there are none."""
        query = answer.query.strip()
        left_out, obsolete = left_out_words(answer), obsolete_words(answer)
        found_none = self.accepts and not (answer.trouble or number or left_out or obsolete) and is_identifier(query)
        self._unknown = checked_identifier(query) if found_none else ""
        if self._unknown:
            nothing = tr(UNKNOWN, id=self._unknown, registry=registry_of(self._unknown).name)
        elif obsolete:
            nothing = obsolete
        elif left_out:
            nothing = tr(ONLY_OUTSIDE, query=query, left_out=left_out)
        else:
            nothing = (miswritten(query) if self.accepts else "") or tr(NO_MATCH, query=query)
        self.list.set_empty_words(answer.trouble or (nothing if query else tr(HINT)))
        counted = _counted(number) if query else tr(LINKED_LAST)
        self.status.set_words(" · ".join(one for one in (counted, left_out) if one) if number else "")

    def _highlight(self, index: QModelIndex) -> None:
        match = self.model.found(index.row())
        self.highlighted.emit(match.entity if match is not None else None)

    def _choose(self, row: int) -> None:
        match = self.model.found(row)
        if match is None:
            if self.model.rowCount():
                self.status.set_words(tr(NOT_CHOSEN))
            return
        if self._glance.saw(("found", match.entity.id)):
            self.chosen.emit(match.entity.id)
        else:
            self.list.go_to(row)
            self.status.set_words(tr(TOO_SOON))

    def _found_shown(self) -> list[Hashable]:
        matches = [self.model.found(one) for one in rows_in_sight(self.list)]
        return [("found", one.entity.id) for one in matches if one is not None]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the line and the list. Enter chooses nothing until the answer to the typed text has arrived."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.left.emit()
            return True
        if watched is self.line and key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            self.list.go_to(self.model.next_row(self.list.currentIndex().row(), step))
            return True
        if watched is self.line and key == Qt.Key.Key_Question and not self.line.text():
            self.help.toggle()
            return True
        if watched is self.line and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.worker.busy or (self.linker.busy and not self.list.currentIndex().isValid()):
                self.status.set_words(tr(STILL_SEARCHING))
            elif self._unknown:
                self.unknown.emit(self._unknown)
            else:
                self._choose(self.list.currentIndex().row())
            return True
        return super().eventFilter(watched, event)


def is_meant(match: EntityMatch, query: str) -> bool:
    """Whether Enter may link to it unseen: not if its name has many other words than those that were typed."""
    words, name = query.casefold().split(), match.matched.casefold()
    few = 2 * len(words) >= len(name.split()) or name.startswith(" ".join(words))
    exact = match.kind in (MatchKind.IDENTIFIER, MatchKind.EXACT) or not parse_query(query).plain
    return match.kind.by_name and (few or exact)


def _is_text(answer: SearchAnswer) -> bool:
    """Whether the query is a text to be linked, not a first letter, an identifier or a query with syntax."""
    query = answer.query.strip()
    known = answer.trouble or answer.obsolete is not None or is_identifier(query)
    known = known or any(one.kind is MatchKind.IDENTIFIER for one in answer.matches)
    return len(query) > 1 and not known and parse_query(query).plain


def _counted(number: int) -> str:
    if number >= MOST:
        return tr("The first {number} entities", number=number)
    return tr("1 entity") if number == 1 else tr("{number} entities", number=number)


# Knowledge-base search with the record of the highlighted entity below it.

ADDING = "The entity you choose is added to the link of this mention. Esc cancels."


class SearchPane(QWidget):
    """`linked` and `added` carry an entity id, to link to, or to add to a composite link; `unknown` carries an unknown
    identifier, for creating and linking an entity."""

    linked = Signal(str)
    added = Signal(str)
    unknown = Signal(str)
    left = Signal()

    def __init__(
        self, search: Search, lookup: Lookup, parent: QWidget | None = None, *, glance: Glance | None = None
    ) -> None:
        super().__init__(parent)
        self._adding = False
        self.note = NoteLabel(self)
        self.panel = SearchPanel(search, self, glance=glance)
        self.card = EntityCard(lookup, self)
        parts = splitter(self.panel, self.card, parent=self, sizes=(640, 220), stretch=(3, 1))
        column(self.note, parts, of=self, spacing=0)
        self.card.name_parents()
        self.panel.highlighted.connect(self.card.show_entity)
        self.panel.chosen.connect(self._choose)
        self.panel.unknown.connect(self.unknown)
        self.panel.left.connect(self.left)

    def start(self, text: str = "", *, adding: bool = False) -> None:
        """Take the focus; search `text` at once if given."""
        self._adding = adding
        self.panel.accepts = not adding
        self.note.set_note(tr(ADDING) if adding else "")
        if text:
            self.panel.prefill(text)
        else:
            self.panel.open_empty()

    def _choose(self, entity_id: str) -> None:
        (self.added if self._adding else self.linked).emit(entity_id)
