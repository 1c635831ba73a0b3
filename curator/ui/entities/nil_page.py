"""NIL mentions in clusters, with the contexts of the current cluster; ticked clusters can be merged, and ticked
mentions split off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QRadioButton, QWidget

from curator.domain.decisions import NilReason
from curator.domain.wording import localised, ntr, tr
from curator.services.knowledge.nil_clusters import NilCluster, merged, split
from curator.services.ports.queue import MentionContext
from curator.ui.deciding.kwic_list import TickList
from curator.ui.deciding.kwic_rows import CheckMark, KwicRow
from curator.ui.kit.compose import button, column, splitter
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.form import sentence
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.sizing import FlowRow

Contexts = Callable[[Sequence[int]], list[MentionContext]]
MOST_STRINGS = 6


class NilPage(QWidget):
    """`show_clusters` fills it. Actions apply to the ticked lines of the ticked clusters, or of the current one.

    `wanted(decided)` requests mentions decided NIL, or suggested as NIL.
    """

    wanted = Signal(bool)
    make_wanted = Signal(object, object)  # NilCluster, mention ids
    link_wanted = Signal(object)  # mention ids
    mention_wanted = Signal(int, int)  # document, mention

    def __init__(self, contexts: Contexts, *, writable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._contexts = contexts
        self._writable = writable
        self._shown: list[MentionContext] = []
        self.decided = QRadioButton(tr("Decided &NIL"), self)
        self.suggested = QRadioButton(tr("&Undecided, NIL suggested"), self)
        self.decided.setChecked(True)
        self.words = sentence("")
        self.table: RecordTable[NilCluster] = RecordTable(
            tr("Clusters of NIL mentions"),
            [
                RecordColumn(tr("Name"), lambda one: one.name),
                RecordColumn(tr("Type"), lambda one: one.type),
                RecordColumn(tr("Mentions"), lambda one: localised(len(one.mention_ids), ","), figure=True),
                RecordColumn(tr("Documents"), lambda one: localised(one.documents, ","), figure=True),
                RecordColumn(tr("Strings"), strings_words),
            ],
            wide=4,
            tickable=lambda _: True,
            parent=self,
        )
        self.list = TickList(tr("Mentions of the cluster in context"), self)
        self.make = button(tr("&Create a new entity…"), self._make, parent=self)
        self.link = button(tr("&Link to an entity…"), lambda: self.link_wanted.emit(self.chosen_ids), parent=self)
        self.merge = button(tr("Mer&ge the ticked clusters"), self.merge_clusters, parent=self)
        self.split = button(tr("&Split off the ticked mentions"), self.split_off, parent=self)
        which = FlowRow(PlainLabel(tr("Show mentions:"), self), self.decided, self.suggested)
        parts = splitter(self.table, self.list, parent=self, sizes=(260, 260))
        buttons = FlowRow(self.make, self.link, self.merge, self.split)
        column(which, self.words, (parts, 1), buttons, of=self, margins=10, spacing=8)
        self.decided.toggled.connect(lambda on: self.wanted.emit(on))
        self.table.moved.connect(self._show_contexts)
        self.table.lines.ticked_changed.connect(self._show_contexts)
        self.table.chosen.connect(self._make)
        self.list.acted.connect(self._acted)
        self.list.ticks_changed.connect(self._enable)
        self.list.previewed.connect(self.mention_wanted)

    def show_clusters(self, clusters: Sequence[NilCluster]) -> None:
        self.table.show_rows(clusters)
        number = sum(len(one.mention_ids) for one in clusters)
        found = ntr("{n} mention", "{n} mentions", number)
        groups = ntr("{n} cluster", "{n} clusters", len(clusters))
        some = tr(
            "{mentions} in {clusters}. Enter creates one entity for the ticked mentions. Space ticks "
            "clusters that belong together, or unticks a mention that does not belong.",
            mentions=found,
            clusters=groups,
        )
        nothing = tr(
            "No mentions are decided as NIL. Press N at a mention that the knowledge base lacks, and it is listed here."
        )
        if not self.decided.isChecked():
            nothing = tr("NIL is not suggested for any undecided mention.")
        self.words.setText(some if clusters else nothing)
        self._show_contexts()

    @property
    def clusters(self) -> tuple[NilCluster, ...]:
        """The clusters that actions apply to."""
        current = self.table.current
        return self.table.ticked or ((current,) if current is not None else ())

    @property
    def chosen_ids(self) -> list[int]:
        return self.list.ticked_ids

    def _show_contexts(self) -> None:
        ids = [one for cluster in self.clusters for one in cluster.mention_ids]
        self._shown = self._contexts(ids) if ids else []
        self.list.show_rows([KwicRow(_about(one), one, CheckMark.TICKED) for one in self._shown])
        self._enable()

    def _enable(self) -> None:
        some = bool(self.chosen_ids) and self._writable
        self.make.setEnabled(some)
        self.link.setEnabled(some)
        self.merge.setEnabled(len(self.table.ticked) > 1)
        self.split.setEnabled(0 < len(self.chosen_ids) < len(self._shown) and len(self.clusters) == 1)

    def _acted(self, key: int) -> None:
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._make()
        elif key == Qt.Key.Key_Escape:
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make(self) -> None:
        ids = self.chosen_ids
        if not ids or not self._writable:
            return
        cluster = merged(self.clusters, self._shown)
        parts = split(cluster, self._shown, ids)
        self.make_wanted.emit(parts[0], ids)

    def merge_clusters(self) -> None:
        """Merge the ticked rows into one, at the position of the first."""
        ticked, rows = self.table.ticked, list(self.table.lines.rows)
        if len(ticked) < 2:
            return
        at = rows.index(ticked[0])
        one = merged(ticked, self._shown)
        rows = [one if row is ticked[0] else row for row in rows if row is ticked[0] or row not in ticked]
        self._renew(rows, at)

    def split_off(self) -> None:
        """Split the ticked mentions and the others into two rows."""
        rows, clusters = list(self.table.lines.rows), self.clusters
        if len(clusters) != 1:
            return
        at = rows.index(clusters[0])
        self._renew([*rows[:at], *split(clusters[0], self._shown, self.chosen_ids), *rows[at + 1 :]], at)

    def _renew(self, rows: Sequence[NilCluster], at: int) -> None:
        self.table.lines.show_rows(rows)
        self.table.setCurrentIndex(self.table.lines.index(at, 0))
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)


def strings_words(cluster: NilCluster) -> str:
    """The most frequent strings with their numbers."""
    shown = [
        f"{text} ({localised(number, ',')})" if number > 1 else text for text, number in cluster.strings[:MOST_STRINGS]
    ]
    return " · ".join([*shown, "…"] if len(cluster.strings) > MOST_STRINGS else shown)


def _about(one: MentionContext) -> str:
    """The reason for NIL if it is not the default."""
    reason = one.verdict.reason if one.verdict is not None else None
    return reason.value.replace("-", " ") if reason is not None and reason is not NilReason.NOT_IN_KB else ""
