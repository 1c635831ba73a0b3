"""The entities directly above or below one, to choose from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from curator.domain.entities import Entity, TreeNode, TreePage
from curator.domain.wording import UserError, tr
from curator.ui.candidates.entity_card import EntityCard, Lookup
from curator.ui.candidates.search_panel import TOO_SOON
from curator.ui.candidates.tree_model import BROKEN, ROW_ROLE, TreeRow
from curator.ui.candidates.tree_view import TreeDelegate
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.key_names import is_plain
from curator.ui.kit.labels import ElidedLabel, NoteLabel
from curator.ui.kit.row_list import RowList
from curator.ui.kit.sight import Glance, rows_in_sight
from curator.ui.kit.worker import Worker

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class Kin(Enum):
    BROADER = "broader"
    NARROWER = "narrower"


Relatives = Callable[[Kin, str], TreePage]
"""Returns the entities directly above or below the entity with this id."""
TITLES = {Kin.BROADER: "Broader than {name}", Kin.NARROWER: "Narrower than {name}"}
NOTHING = {
    Kin.BROADER: "Nothing in the knowledge base is broader than {name}: it is at the top, or in no hierarchy.",
    Kin.NARROWER: "Nothing in the knowledge base is narrower than {name}.",
}
HINT = "1–9 and ↵ link, ← broader, → narrower, Esc leaves"
FIRST = "The first {number} of {total:,}; the hierarchy lists all of them"


class KinModel(QAbstractListModel):
    """`ROW_ROLE` gives a `TreeRow`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[TreeRow, ...] = ()

    def show_nodes(self, nodes: Sequence[TreeNode]) -> None:
        self.beginResetModel()
        self._rows = tuple(TreeRow(one) for one in nodes)
        self.endResetModel()

    def node(self, row: int) -> TreeNode | None:
        return self._rows[row].node if 0 <= row < len(self._rows) else None

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or not 0 <= index.row() < len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.words
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(row.spoken, role)
        return None


@dataclass(frozen=True, slots=True)
class _Answer:
    page: TreePage
    trouble: str = ""


class KinPane(QWidget):
    """API: `show_kin`, `close_kin`. `linked` carries the id of the entity that was chosen. → and ← show the entities
    narrower and broader than the highlighted one."""

    linked = Signal(str)
    left = Signal()

    def __init__(
        self, relatives: Relatives, lookup: Lookup, parent: QWidget | None = None, *, glance: Glance | None = None
    ) -> None:
        super().__init__(parent)
        self._relatives, self._glance = relatives, glance or Glance(None)
        self._of: tuple[Kin, Entity] | None = None
        self.worker = Worker(self)
        self.model = KinModel(self)
        self.title = ElidedLabel(scale=1.15, bold=True, parent=self)
        self.status = ElidedLabel(muted=True, parent=self)
        self.note = NoteLabel(self)
        self.list = RowList(tr("Broader or narrower entities"), self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(TreeDelegate(self.list, numbered=True))
        self.card = EntityCard(lookup, self)
        self._compose()
        self.list.chosen.connect(self._choose)
        self.list.selectionModel().currentChanged.connect(self._highlight)
        self.list.installEventFilter(self)
        self._glance.log(self.list.viewport(), self._shown)

    def _compose(self) -> None:
        upper = QWidget(self)
        upper.setAutoFillBackground(True)
        upper.setBackgroundRole(QPalette.ColorRole.Base)
        head = QVBoxLayout()
        head.setContentsMargins(12, 12, 12, 8)
        head.setSpacing(3)
        head.addWidget(self.title)
        head.addWidget(self.status)
        rows = QVBoxLayout(upper)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addLayout(head)
        rows.addWidget(self.note)
        rows.addWidget(self.list, 1)
        splitter = QSplitter(Qt.Orientation.Vertical, self)
        splitter.addWidget(upper)
        splitter.addWidget(self.card)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 1)
        splitter.setChildrenCollapsible(False)
        splitter.setSizes([560, 300])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(splitter)

    def show_kin(self, kin: Kin, entity: Entity) -> None:
        """Show the entities directly above or below this one, and take the keyboard focus."""
        self._of = (kin, entity)
        self.model.show_nodes(())  # no row of another title can be chosen
        self.title.set_words(tr(TITLES[kin], name=entity.name))
        self.status.set_words(tr(HINT))
        self.note.set_note("")
        self.list.set_empty_words("")
        self.list.setFocus(Qt.FocusReason.ShortcutFocusReason)
        relatives = self._relatives

        def work() -> _Answer:
            try:
                return _Answer(relatives(kin, entity.id))
            except UserError as error:
                return _Answer(TreePage((), 0), str(error))

        broken = _Answer(TreePage((), 0), tr(BROKEN))
        done = partial(self._came, kin, entity)
        self.worker.ask(work, done, failed=lambda: done(broken))

    def _came(self, kin: Kin, entity: Entity, answer: _Answer) -> None:
        self.list.set_empty_words(answer.trouble or tr(NOTHING[kin], name=entity.name))
        self.model.show_nodes(answer.page.nodes)
        shown, total = len(answer.page.nodes), answer.page.total
        self.note.set_note(tr(FIRST, number=shown, total=total) if shown < total else "")
        if shown:
            self.list.go_to(0)
            self.list.scrollToTop()
        else:
            self.card.show_entity(entity)

    def close_kin(self) -> None:
        """Before the project is closed: show nothing more of what is being read."""
        self.worker.close()
        self.card.stop()

    @property
    def entity(self) -> Entity | None:
        """The highlighted entity; if the list is empty, the requested entity."""
        node = self.model.node(self.list.currentIndex().row())
        if node is not None:
            return node.entity
        return self._of[1] if self._of is not None else None

    @Slot(QModelIndex)
    def _highlight(self, index: QModelIndex) -> None:
        node = self.model.node(index.row())
        if node is not None:
            self.card.show_entity(node.entity)

    def _choose(self, row: int) -> None:
        node = self.model.node(row)
        if node is None:
            return
        if self._glance.saw(("kin", node.entity.id)):
            self.linked.emit(node.entity.id)
        else:
            self.list.go_to(row)
            self.status.set_words(tr(TOO_SOON))

    def _shown(self) -> list[Hashable]:
        nodes = [self.model.node(one) for one in rows_in_sight(self.list)]
        return [("kin", one.entity.id) for one in nodes if one is not None]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Digits choose as among candidates, ← and → navigate, Esc closes."""
        if not isinstance(event, QKeyEvent) or not is_plain(event):
            return super().eventFilter(watched, event)
        digit = event.text() if event.text() in tuple("123456789") else ""
        if event.type() == QEvent.Type.ShortcutOverride and digit:
            event.accept()
            return True
        if event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif digit:
            if not event.isAutoRepeat():
                self._choose(int(digit) - 1)
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self.entity is not None:
            self.show_kin(Kin.BROADER if event.key() == Qt.Key.Key_Left else Kin.NARROWER, self.entity)
        else:
            return super().eventFilter(watched, event)
        return True
