"""The hierarchy of the knowledge base as a model for a tree: read when a node is opened, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from curator.domain.entities import TreeNode, TreePage
from curator.domain.wording import UserError, localised, ntr, tr
from curator.services.knowledge.hierarchy import TreeWay
from curator.ui.kit.foreign_text import in_role
from curator.ui.kit.record_tables import ROW_ROLE
from curator.ui.kit.worker import Worker

Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()
TOP = 0
BROKEN = "The hierarchy could not be read. The log says why."
REPEATED = "listed above"
Narrower = Callable[[str | None, int], TreePage]
"""The entities directly below one, or the topmost, from the given index on."""
Way = Callable[[str], TreeWay]


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of the tree. `node` is None for the last row, which represents `left` more children. `repeated`: the entity
    is its own ancestor, so it is not opened again."""

    node: TreeNode | None
    left: int = 0
    repeated: bool = False

    @property
    def words(self) -> str:
        if self.node is None:
            return ntr("{n:,} more", "{n:,} more", self.left)
        return self.node.entity.name

    @property
    def facts(self) -> str:
        """Id and types; '' for a row representing others."""
        if self.node is None:
            return ""
        entity = self.node.entity
        parts = (entity.id, ", ".join(entity.types), tr(REPEATED) if self.repeated else "")
        return " · ".join(part for part in parts if part)

    @property
    def counted(self) -> str:
        """The number of descendants; of children, if descendants are too many to count."""
        if self.node is None or not self.node.children:
            return ""
        return f"{localised(self.node.children, ',')}+" if self.node.below is None else localised(self.node.below, ",")

    @property
    def spoken(self) -> str:
        below = ""
        if self.node is not None and self.node.children:
            below = ntr("{n:,} entity below", "{n:,} entities below", self.node.below or self.node.children)
        return "\n".join(part for part in (self.words, self.facts, below) if part)


@dataclass(slots=True)
class _Place:
    """A node at its position in the tree: an entity with several parents has several."""

    number: int
    above: int
    node: TreeNode | None = None
    repeated: bool = False
    below: list[int] = field(default_factory=list)  # with the row for more, if any, at the end
    read: int = 0  # children read in order, without one added out of order
    total: int = 0
    asked: bool = False


class TreeModel(QAbstractItemModel):
    """`narrower` and `way` are called in a separate thread and may raise UserError, whose message `troubled` carries.
    API: `begin` reads the topmost entities (`began` carries their number), `read_more` the children represented by a
    last row; `open_at` reads the path down to an entity, whose index `arrived` carries with the path."""

    began = Signal(int)
    arrived = Signal(object, object)  # QModelIndex, TreeWay
    troubled = Signal(str)

    def __init__(self, narrower: Narrower, way: Way, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._narrower, self._way = narrower, way
        self.worker = Worker(self, in_turn=True)
        self._places: dict[int, _Place] = {TOP: _Place(TOP, -1)}
        self._next = TOP + 1
        self._wanted = 0  # the last requested path

    # --- reading ---

    def begin(self) -> None:
        """Read the topmost entities if they are not loaded."""
        self._ask(TOP)

    def clear(self) -> None:
        """Clear the tree, since the knowledge base has changed."""
        self.beginResetModel()
        self._places = {TOP: _Place(TOP, -1)}
        self.endResetModel()

    def fetchMore(self, parent: Index) -> None:
        self._ask(self._number(parent))

    def read_more(self, index: Index) -> bool:
        """Read the children represented by a node's last row; False if this row is an entity."""
        place = self._places.get(self._number(index))
        if place is None or place.number == TOP or place.node is not None:
            return False
        self._ask(place.above, more=True)
        return True

    def open_at(self, entity_id: str) -> None:
        """Read the nodes needed to show this entity; only the last request arrives."""
        self._wanted += 1
        wanted, narrower, way = self._wanted, self._narrower, self._way

        def work() -> tuple[TreeWay, list[TreePage]] | str:
            try:
                found = way(entity_id)
                above = [None, *(one.entity.id for one in found.nodes[:-1])]
                return found, [narrower(one, 0) for one in above]
            except UserError as error:
                return str(error)

        def done(answer: tuple[TreeWay, list[TreePage]] | str) -> None:
            if isinstance(answer, str):
                self.troubled.emit(answer)
            elif wanted == self._wanted:
                self._arrive(*answer)

        self.worker.ask(work, done, failed=lambda: self.troubled.emit(tr(BROKEN)))

    def _ask(self, number: int, *, more: bool = False) -> None:
        place = self._places.get(number)
        if place is None or (place.asked and not more):
            return
        place.asked = True
        entity_id = place.node.entity.id if place.node is not None else None
        narrower, start = self._narrower, place.read

        def work() -> TreePage | str:
            try:
                return narrower(entity_id, start)
            except UserError as error:
                return str(error)

        self.worker.ask(work, partial(self._came, place, start), failed=partial(self._came, place, start, tr(BROKEN)))

    def _came(self, place: _Place, start: int, answer: TreePage | str) -> None:
        if self._places.get(place.number) is not place or place.read != start:
            return  # another knowledge base, or read meanwhile
        if isinstance(answer, str):
            place.asked = False
            self.troubled.emit(answer)
        else:
            self._add(place, answer)
            if place.number == TOP:
                self.began.emit(place.total)

    # --- what was read ---

    def _arrive(self, way: TreeWay, pages: Sequence[TreePage]) -> None:
        place = self._places[TOP]
        for node, page in zip(way.nodes, pages, strict=True):
            if place.read == 0:
                place.asked = True
                self._add(place, page)
                if place.number == TOP:
                    self.began.emit(place.total)
            place = self._child(place, node) or self._bring(place, node)
        self.arrived.emit(self._index(place), way)

    def _child(self, place: _Place, node: TreeNode) -> _Place | None:
        found = (self._places[one] for one in place.below)
        return next((one for one in found if one.node is not None and one.node.entity.id == node.entity.id), None)

    def _bring(self, place: _Place, node: TreeNode) -> _Place:
        """Insert a child from a later page before the row for more."""
        at = len(place.below) - int(self._has_more(place))
        self.beginInsertRows(self._index(place), at, at)
        made = self._made(place, node)
        place.below.insert(at, made.number)
        self.endInsertRows()
        self._count_left(place)
        return made

    def _add(self, place: _Place, page: TreePage) -> None:
        """Append a page of children, and the row for more if needed."""
        index, here = self._index(place), len(place.below)
        if self._has_more(place):
            self.beginRemoveRows(index, here - 1, here - 1)
            self._places.pop(place.below.pop())
            self.endRemoveRows()
        known = {one.entity.id for number in place.below if (one := self._places[number].node) is not None}
        new = [node for node in page.nodes if node.entity.id not in known]
        place.read, place.total = place.read + len(page.nodes), page.total
        left = page.nodes and place.read < page.total
        if not new and not left:
            return
        first = len(place.below)
        self.beginInsertRows(index, first, first + len(new) - 1 + int(bool(left)))
        place.below += [self._made(place, node).number for node in new]
        if left:
            place.below.append(self._made(place, None).number)
        self.endInsertRows()

    def _made(self, above: _Place, node: TreeNode | None) -> _Place:
        made = _Place(self._next, above.number, node)
        self._next += 1
        self._places[made.number] = made
        at: _Place | None = above
        while node is not None and at is not None and not made.repeated:
            made.repeated = at.node is not None and at.node.entity.id == node.entity.id
            at = self._places.get(at.above)
        return made

    def _has_more(self, place: _Place) -> bool:
        return bool(place.below) and self._places[place.below[-1]].node is None

    def _count_left(self, place: _Place) -> None:
        if self._has_more(place):
            last = self._index(self._places[place.below[-1]])
            self.dataChanged.emit(last, last)

    # --- Qt's questions ---

    def row(self, index: Index) -> TreeRow | None:
        place = self._places.get(self._number(index))
        if place is None or place.number == TOP:
            return None
        if place.node is None:
            above = self._places[place.above]
            return TreeRow(None, left=above.total - (len(above.below) - 1))
        return TreeRow(place.node, repeated=place.repeated)

    def index(self, row: int, column: int, parent: Index = NO_PARENT) -> QModelIndex:
        place = self._places.get(self._number(parent))
        if place is None or column != 0 or not 0 <= row < len(place.below):
            return QModelIndex()
        return self.createIndex(row, 0, place.below[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        place = self._places.get(self._number(index))
        above = self._places.get(place.above) if place is not None else None
        return self._index(above) if above is not None else QModelIndex()

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        place = self._places.get(self._number(parent))
        return len(place.below) if place is not None else 0

    def columnCount(self, parent: Index = NO_PARENT) -> int:  # noqa: ARG002
        return 1

    def hasChildren(self, parent: Index = NO_PARENT) -> bool:
        place = self._places.get(self._number(parent))
        if place is None or place.number == TOP:
            return place is not None and bool(place.below)
        return place.node is not None and place.node.children > 0 and not place.repeated

    def canFetchMore(self, parent: Index) -> bool:
        place = self._places.get(self._number(parent))
        return place is not None and place.number != TOP and not place.asked and self.hasChildren(parent)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index) if index.isValid() else None
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.words
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return in_role(row.spoken, role)
        return None

    def _number(self, index: Index) -> int:
        return int(index.internalId())  # 0 for an invalid index, which is the top

    def _index(self, place: _Place) -> QModelIndex:
        if place.number == TOP:
            return QModelIndex()
        return self.createIndex(self._places[place.above].below.index(place.number), 0, place.number)
