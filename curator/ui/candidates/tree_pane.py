"""The hierarchy of the knowledge base: a tree, a line to search in it, and the record of the entity."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QStackedWidget, QWidget

from curator.domain.entities import Entity, TreeNode
from curator.domain.wording import ntr, tr
from curator.services.knowledge.hierarchy import TreeWay
from curator.ui.candidates.entity_card import EntityCard, Lookup
from curator.ui.candidates.search_panel import NO_MATCH, TOO_SOON
from curator.ui.candidates.search_rows import BROKEN, MatchDelegate, MatchModel, Search, SearchAnswer, answer_to
from curator.ui.candidates.tree_model import Narrower, TreeModel, Way
from curator.ui.candidates.tree_view import TreeView
from curator.ui.kit.compose import column, field, pane, splitter
from curator.ui.kit.labels import ElidedLabel, NoteLabel
from curator.ui.kit.row_list import RowList
from curator.ui.kit.sight import Glance
from curator.ui.kit.worker import Worker

READING = "Reading the hierarchy…"
FLAT = (
    "No entity of this knowledge base is above another: its file has no parents and no tree numbers. The search finds "
    "its entities."
)
HINT = "→ opens, ← closes, ↵ links, / searches here, Esc leaves"
ALONE = "{name} is in no hierarchy: nothing is above or below it."
SHOWS = "↵ shows the entity in the tree"


class TreePane(QWidget):
    """API: `browse`, `open_at`, `close_tree`. `linked` carries the id of the entity chosen with Enter.

    While there is text in the line, the matches are shown instead of the tree; the chosen one is shown in the tree.
    """

    linked = Signal(str)
    left = Signal()

    def __init__(
        self,
        narrower: Narrower,
        way: Way,
        search: Search,
        lookup: Lookup,
        parent: QWidget | None = None,
        *,
        glance: Glance | None = None,
    ) -> None:
        super().__init__(parent)
        self._glance, self._search = glance or Glance(None), search
        self.worker = Worker(self)
        self.model = TreeModel(narrower, way, self)
        self.matches = MatchModel(self)
        find = tr("Find in the hierarchy")
        self.line = field(find, hint=find, clear=True, parent=self)
        self.status = ElidedLabel(muted=True, parent=self)
        self.note = NoteLabel(self)
        self.tree = TreeView(self.model, tr("Hierarchy of the knowledge base"), self)
        self.tree.set_empty_words(tr(READING))
        self.list = RowList(tr("Entities found"), self)
        self.list.setModel(self.matches)
        self.list.setItemDelegate(MatchDelegate(self.list))
        self.card = EntityCard(lookup, self)
        self.pages = QStackedWidget(self)
        self._compose()
        self._connect()

    def _compose(self) -> None:
        self.pages.addWidget(self.tree)
        self.pages.addWidget(self.list)
        head = column(self.line, self.status, margins=(10, 10, 10, 6))
        upper = pane(head, self.note, (self.pages, 1), parent=self, spacing=0)
        upper.setAutoFillBackground(True)
        upper.setBackgroundRole(QPalette.ColorRole.Base)
        column(splitter(upper, self.card, parent=self, sizes=(640, 220), stretch=(3, 1)), of=self)

    def _connect(self) -> None:
        self.model.began.connect(lambda total: self.tree.set_empty_words("" if total else tr(FLAT)))
        self.model.arrived.connect(self._arrived)
        self.model.troubled.connect(self._troubled)
        self.tree.highlighted.connect(self._highlight)
        self.tree.chosen.connect(self._choose)
        self.tree.search_wanted.connect(self._to_line)
        self.line.textChanged.connect(self._ask)
        self.list.chosen.connect(self._show_match)
        self.list.selectionModel().currentChanged.connect(self._match_highlighted)
        self.line.installEventFilter(self)
        self.list.installEventFilter(self)
        self._glance.log(self.tree.viewport(), self._shown)

    def browse(self) -> None:
        """Take the keyboard focus, at the last position; at first with the topmost entities."""
        self.line.clear()
        self.model.begin()
        if not self.tree.currentIndex().isValid():
            self._go_top()
        self._say_hint()
        self.tree.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def open_at(self, entity_id: str) -> None:
        """Take the keyboard focus, opened at this entity."""
        self.line.clear()
        self._say_hint()
        self.model.open_at(entity_id)
        self.tree.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def forget(self) -> None:
        """Clear the tree, since the knowledge base has changed."""
        self.model.clear()
        self.tree.set_empty_words(tr(READING))
        if self.isVisible():
            self.browse()

    def close_tree(self) -> None:
        """Before the project is closed: show nothing more of what is being read."""
        self.worker.close()
        self.model.worker.close()
        self.card.stop()

    @property
    def entity(self) -> Entity | None:
        """The highlighted entity."""
        return self.tree.node.entity if self.tree.node is not None else None

    def focus_widget(self) -> QWidget:
        return self.line if self.line.text().strip() else self.tree

    # --- the tree ---

    def _go_top(self) -> None:
        first = self.model.index(0, 0)
        if first.isValid():
            self.tree.go_to(first)
        else:
            self.model.began.connect(self._first_came)

    @Slot()
    def _first_came(self) -> None:
        self.model.began.disconnect(self._first_came)
        if not self.tree.currentIndex().isValid() and self.model.rowCount():
            self.tree.go_to(self.model.index(0, 0))

    @Slot(object, object)
    def _arrived(self, index: QModelIndex, way: TreeWay) -> None:
        self.tree.go_to(index)
        if way.alone:
            self.note.set_note(tr(ALONE, name=way.nodes[0].entity.name))

    @Slot(str)
    def _troubled(self, words: str) -> None:
        self.tree.set_empty_words(words)
        self.status.set_words(words)

    @Slot(object)
    def _highlight(self, node: TreeNode | None) -> None:
        self.card.show_entity(node.entity if node is not None else None)
        if self.pages.currentWidget() is self.tree:
            self._say_hint()

    @Slot(object)
    def _choose(self, node: TreeNode) -> None:
        if self._glance.saw(("in the tree", node.entity.id)):
            self.linked.emit(node.entity.id)
        else:
            self.tree.scrollTo(self.tree.currentIndex())
            self.status.set_words(tr(TOO_SOON))

    def _shown(self) -> list[Hashable]:
        return list(self.tree.rows_in_sight())

    def _say_hint(self) -> None:
        self.status.set_words(tr(HINT))
        self.note.set_note("")

    # --- the search in it ---

    def _to_line(self) -> None:
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    @Slot(str)
    def _ask(self, text: str) -> None:
        query = text.strip()
        if not query:
            self._show_tree()
            return
        broken = SearchAnswer(query, trouble=tr(BROKEN))
        self.worker.ask(partial(answer_to, self._search, query), self._found, failed=lambda: self._found(broken))

    def _found(self, answer: SearchAnswer) -> None:
        if answer.query != self.line.text().strip():
            return
        self.list.set_empty_words(answer.trouble or tr(NO_MATCH, query=answer.query))
        self.matches.show_matches(answer.matches)
        self.pages.setCurrentWidget(self.list)
        number = len(answer.matches)
        counted = ntr("{n:,} entity", "{n:,} entities", number)
        self.status.set_words(f"{counted} · {tr(SHOWS)}" if number else "")
        if number:
            self.list.go_to(self.matches.next_row(-1))
            self.list.scrollToTop()

    def _show_tree(self) -> None:
        self.pages.setCurrentWidget(self.tree)
        self.card.show_entity(self.entity)
        self._say_hint()

    @Slot(QModelIndex)
    def _match_highlighted(self, index: QModelIndex) -> None:
        match = self.matches.found(index.row())
        if match is not None and self.pages.currentWidget() is self.list:
            self.card.show_entity(match.entity)

    @Slot(int)
    def _show_match(self, row: int) -> None:
        match = self.matches.found(row)
        if match is not None:
            self.open_at(match.entity.id)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the line and its results. Esc clears the line before it closes."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        key = event.key()
        if key == Qt.Key.Key_Escape:
            if self.line.text():
                self.line.clear()
                self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
            else:
                self.left.emit()
            return True
        if watched is self.line and key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            if self.pages.currentWidget() is self.tree:
                self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
            else:
                step = 1 if key == Qt.Key.Key_Down else -1
                self.list.go_to(self.matches.next_row(self.list.currentIndex().row(), step))
            return True
        if watched is self.line and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.line.text().strip() and not self.worker.busy:
                self._show_match(self.list.currentIndex().row())
            return True
        return super().eventFilter(watched, event)
