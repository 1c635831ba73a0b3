"""*Mention > Knowledge-base update*: decisions affected by a new version, each with its proposal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from curator.domain.entities import Entity
from curator.domain.wording import ntr, tr
from curator.services.knowledge.remapping import RemapKind, Remapping, RemapPlan
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import Search
from curator.ui.kit.compose import pane
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.record_tables import RecordColumn, RecordTable, number_column


class RemapWindow(ShowDialog):
    """Lines with a proposal are ticked; nothing is changed before `apply_wanted`, which carries the ticked ones."""

    apply_wanted = Signal(object)  # tuple[Remapping, ...]
    mentions_wanted = Signal(object)  # Remapping

    def __init__(self, *, search: Search, lookup: Lookup, writable: bool, parent: QWidget | None = None) -> None:
        super().__init__(tr("Knowledge-base update"), parent)
        self.setWindowModality(Qt.WindowModality.NonModal)
        self._lookup = lookup
        self._writable = writable
        self.words = sentence("")
        self.table: RecordTable[Remapping] = RecordTable(
            tr("Decisions affected by the new version"),
            [
                RecordColumn(tr("What happened"), lambda one: kind_words(one.kind)),
                RecordColumn(tr("Decided as"), from_words),
                number_column(tr("Mentions"), lambda one: one.mentions),
                RecordColumn(tr("Moves to"), to_words),
            ],
            wide=3,
            tickable=lambda one: one.proposed is not None,
            parent=self,
        )
        self.search = SearchPane(search, lookup, self)
        self.apply = self.add_button(tr("&Move the ticked decisions"), self._apply)
        self.choose = self.add_button(tr("&Choose another entity…"), self._choose)
        self.show_mentions = self.add_button(tr("&Open the first mention"), self._open)
        self.lines = pane(self.words, (self.table, 1), parent=self, spacing=10)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.lines)
        self.pages.addWidget(self.search)
        self.body.addWidget(self.pages, 1)
        self.table.lines.ticked_changed.connect(self._enable)
        self.table.moved.connect(self._enable)
        self.table.chosen.connect(self._choose)
        self.search.linked.connect(self._chosen)
        self.search.left.connect(self.back)
        self.resize(880, 560)

    def show_plan(self, plan: RemapPlan) -> None:
        self.table.show_rows(plan.lines, ticked=True)
        self.words.setText(plan_words(plan))
        self.back()

    def say(self, words: str) -> None:
        self.words.setText(words)

    def back(self) -> None:
        self.pages.setCurrentWidget(self.lines)
        self._enable()
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def reject(self) -> None:
        """Esc first returns to the lines."""
        if self.pages.currentWidget() is self.search:
            self.back()
        else:
            super().reject()

    def done(self, result: int) -> None:
        self.search.panel.close_search()
        super().done(result)

    def _enable(self) -> None:
        lines = self.pages.currentWidget() is self.lines
        self.apply.setEnabled(lines and bool(self.table.ticked) and self._writable)
        self.choose.setEnabled(lines and self.table.current is not None and self._writable)
        self.show_mentions.setEnabled(lines and self.table.current is not None)

    def _apply(self) -> None:
        self.apply_wanted.emit(self.table.ticked)

    def _choose(self) -> None:
        line = self.table.current
        if line is not None and self._writable:
            self.pages.setCurrentWidget(self.search)
            self._enable()
            self.search.start(line.name)

    def _chosen(self, entity_id: str) -> None:
        entity, at = self._lookup(entity_id), self.table.currentIndex().row()
        line = self.table.current
        if entity is not None and line is not None:
            self.table.lines.replace_row(at, replace(line, proposed=entity), ticked=True)
        self.back()

    def _open(self) -> None:
        if self.table.current is not None:
            self.mentions_wanted.emit(self.table.current)


def kind_words(kind: RemapKind) -> str:
    words: Mapping[RemapKind, str] = {
        RemapKind.MERGED: tr("Merged into another entity"),
        RemapKind.OBSOLETE: tr("No longer in the knowledge base"),
        RemapKind.RESOLVED: tr("New entity, now in the knowledge base"),
        RemapKind.NIL: tr("NIL, now in the knowledge base"),
    }
    return words[kind]


def from_words(line: Remapping) -> str:
    if line.kind is RemapKind.NIL:
        return f"“{line.name}” · {', '.join(line.types)}"
    return line.key if line.name == line.key else f"{line.name} · {line.key}"


def to_words(line: Remapping) -> str:
    if line.proposed is not None:
        return entity_words(line.proposed)
    if line.others:
        named = "; ".join(map(entity_words, line.others))
        return tr("Choose one: {named}", named=named)
    return tr("No entity has this name; choose one, or leave the decision as it is")


def entity_words(entity: Entity) -> str:
    return " · ".join(part for part in (entity.name, entity.id, ", ".join(entity.types)) if part)


def plan_words(plan: RemapPlan) -> str:
    if not plan.lines:
        return tr("All decisions match the knowledge base. Nothing needs to be moved.")
    mentions = ntr("{n} mention", "{n} mentions", plan.mentions)
    return tr(
        "{now} affects the decisions on {mentions}. Nothing has been changed. Tick with Space what to "
        "move, or choose another entity with Enter. Each decision gets a note, and one undo reverts the "
        "whole step.",
        now=plan.now,
        mentions=mentions,
    )
