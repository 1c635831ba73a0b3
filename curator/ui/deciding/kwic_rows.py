"""Mentions in their contexts as a list: headings, and lines with a mark each (ticked or not; right, wrong or open)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from curator.domain.wording import tr
from curator.services.ports.queue import MentionContext
from curator.ui.kit.foreign_text import tip

ROW_ROLE = int(Qt.ItemDataRole.UserRole)
Index = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


class CheckMark(StrEnum):
    TICKED = "ticked"
    UNTICKED = "not ticked"
    RIGHT = "right"
    WRONG = "wrong"
    OPEN = "not checked"
    NONE = ""  # nothing can be ticked or checked


@dataclass(frozen=True, slots=True)
class KwicRow:
    """A heading if `context` is None. `words` is the heading, or the text at the line's end."""

    words: str
    context: MentionContext | None = None
    mark: CheckMark = CheckMark.UNTICKED

    @property
    def said(self) -> str:
        """The text of a line's end for tooltips and screen readers."""
        return self.words


class KwicModel(QAbstractListModel):
    """Rows do not move; only marks change."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[KwicRow] = []
        self._at: dict[int, int] = {}

    def show_rows(self, rows: Iterable[KwicRow]) -> None:
        self.beginResetModel()
        self._rows = list(rows)
        self._at = {row.context.mention_id: at for at, row in enumerate(self._rows) if row.context is not None}
        self.endResetModel()

    def append_rows(self, rows: Sequence[KwicRow]) -> None:
        """Append rows, whose mention ids must differ from those of the existing rows."""
        begin = len(self._rows)
        self.beginInsertRows(NO_PARENT, begin, begin + len(rows) - 1)
        self._rows += rows
        self._at |= {row.context.mention_id: at for at, row in enumerate(rows, start=begin) if row.context is not None}
        self.endInsertRows()

    def row(self, number: int) -> KwicRow | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def find(self, mention_id: int) -> int | None:
        return self._at.get(mention_id)

    def line_beside(self, number: int, step: int) -> int | None:
        """The nearest line in a direction, skipping headings; None at the end."""
        at = number + step
        while 0 <= at < len(self._rows) and self._rows[at].context is None:
            at += step
        return at if 0 <= at < len(self._rows) else None

    def section(self, number: int) -> list[int]:
        """Numbers of the lines under the heading at `number`, or around the line there."""
        begin = number
        while begin > 0 and self._rows[begin].context is not None:
            begin -= 1
        lines = []
        for at in range(begin + (self._rows[begin].context is None), len(self._rows)):
            if self._rows[at].context is None:
                break
            lines.append(at)
        return lines

    def marked(self, mark: CheckMark) -> list[int]:
        """Mention ids with this mark, in the order of the rows."""
        return [row.context.mention_id for row in self._rows if row.context is not None and row.mark is mark]

    def set_marks(self, marks: Mapping[int, CheckMark]) -> None:
        """Set the marks by row number; headings have none."""
        changed = [
            at for at, mark in marks.items() if self._rows[at].context is not None and self._rows[at].mark is not mark
        ]
        for at in changed:
            self._rows[at] = replace(self._rows[at], mark=marks[at])
        if changed:
            self.dataChanged.emit(self.index(min(changed)), self.index(max(changed)))

    @property
    def lines(self) -> Sequence[int]:
        """Numbers of the rows that are lines."""
        return list(self._at.values())

    def rowCount(self, parent: Index = NO_PARENT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index.row())
        return super().flags(index) if row is not None and row.context is not None else Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row()) if index.isValid() else None
        if row is None or role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole and row.context is not None:
            return tip(f"{row.context.external_id}: {row.said}" if row.said else row.context.external_id)
        return None


def spoken(row: KwicRow) -> str:
    """A row's text for screen readers."""
    if row.context is None:
        return row.words
    one = row.context
    text = " ".join(f"{one.left}[{one.text}]{one.right}".split())
    where, mark = tr("document {external_id}", external_id=one.external_id), row.mark.value
    return ", ".join(part for part in (mark and tr(mark), f"…{text}…", where, row.said) if part)
