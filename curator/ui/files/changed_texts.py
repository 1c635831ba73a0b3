"""Existing documents with a changed text: the differences, the decisions that would move, and the choice for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from curator.domain.documents import DiffSide, differences, shortened
from curator.domain.imports import Changed
from curator.domain.wording import ntr, tr
from curator.services.importing.import_comparing import Compared
from curator.services.importing.text_changes import MovedMention, TextChange, verdict_words
from curator.ui.kit.foreign_text import StillBrowser
from curator.ui.kit.form import FormDialog
from curator.ui.kit.theme import Theme, theme_of

INTRO = (
    "These documents are already in the project with different text or annotations. Nothing changes "
    "unless you choose so, for one document or for several selected ones."
)
CHOICES = {
    Changed.KEEP: "&Keep the existing version",
    Changed.TAKE: "&Take the file's version",
    Changed.APART: "Import as &another document",
}
CHOSEN = {Changed.KEEP: "unchanged", Changed.TAKE: "file's version", Changed.APART: "another document"}
SHOWN = 30
"""The most mentions listed individually."""


class ChangedTextsDialog(FormDialog):
    """`choices` are the choices by the project's document; `change` previews an update."""

    def __init__(
        self,
        compared: Sequence[Compared],
        *,
        change: Callable[[Compared], TextChange],
        choices: Mapping[int, Changed],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Changed documents"), intro=tr(INTRO), ok=tr("Done"), parent=parent)
        self._compared = tuple(compared)
        self._change = change
        self.choices = dict(choices)
        self.table = self._make_table()
        self.difference = StillBrowser(self)
        self.difference.setAccessibleName(tr("What differs"))
        parts = QSplitter(Qt.Orientation.Vertical, self)
        parts.addWidget(self.table)
        parts.addWidget(self.difference)
        parts.setSizes([150, 320])
        parts.setChildrenCollapsible(False)
        self.body.insertWidget(0, parts, 1)
        row = QHBoxLayout()
        self.buttons_of = {choice: self._button(choice) for choice in CHOICES}
        for button in self.buttons_of.values():
            row.addWidget(button)
        row.addStretch(1)
        self.body.insertLayout(1, row)
        self.resize(860, 620)
        self.table.itemSelectionChanged.connect(self._show)
        self.table.selectRow(0)
        self.table.setFocus()

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(len(self._compared), 3, self)
        table.setAccessibleName(tr("Changed documents"))
        table.setHorizontalHeaderLabels([tr("Document"), tr("Title"), tr("What happens")])
        table.verticalHeader().hide()
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        for row, one in enumerate(self._compared):
            words = (one.source.external_id, one.source.title, self._chosen(one))
            for column, text in enumerate(words):
                table.setItem(row, column, QTableWidgetItem(text))
        return table

    def _button(self, choice: Changed) -> QPushButton:
        button = QPushButton(tr(CHOICES[choice]), self)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: self.choose(choice))
        return button

    def choose(self, choice: Changed) -> None:
        """Set the choice for the selected documents."""
        for row in {index.row() for index in self.table.selectedIndexes()}:
            one = self._compared[row]
            self.choices[one.document_id] = choice
            self.table.setItem(row, 2, QTableWidgetItem(self._chosen(one)))

    def _chosen(self, one: Compared) -> str:
        return tr(CHOSEN[self.choices.get(one.document_id, Changed.KEEP)])

    def _show(self) -> None:
        rows = sorted({index.row() for index in self.table.selectedIndexes()})
        if rows:
            self.difference.setHtml(change_page(self._change(self._compared[rows[0]]), theme_of(self.palette())))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._show()


def change_page(change: TextChange, theme: Theme) -> str:
    """The differences as HTML: text only in the project is struck through, text only in the file is underlined."""
    parts = []
    if change.same_text:
        parts.append(f"<p>{escape(tr('The text is the same; the annotations differ.'))}</p>")
    else:
        parts.append(f"<p>{_difference(change, theme)}</p>")
    parts += [
        _list(tr("Decisions that move to the new text:"), [_words(one) for one in change.moved]),
        _list(tr("Decisions without a place in the new text; they are removed:"), [_words(one) for one in change.lost]),
        _list(tr("Only in the file:"), [f"{one.text} ({one.type})" for one in change.added]),
    ]
    return "".join(parts)


def _difference(change: TextChange, theme: Theme) -> str:
    new, old = theme.sides
    styles = {
        DiffSide.OLD: f"background-color:{old.tint.name()};color:{old.ink.name()};text-decoration:line-through",
        DiffSide.NEW: f"background-color:{new.tint.name()};color:{new.ink.name()};text-decoration:underline",
    }
    pieces = []
    for one in shortened(differences(change.document.text, change.source.text), around=200):
        words = escape(one.text).replace("\n", "<br>")
        pieces.append(words if one.part is DiffSide.SAME else f'<span style="{styles[one.part]}">{words}</span>')
    return "".join(pieces)


def _words(one: MovedMention) -> str:
    found = f"{one.mention.text} ({one.mention.type})"
    if one.decision is None:
        return found
    return tr(
        "{mention}: {verdict}, decided by {who}",
        mention=found,
        verdict=verdict_words(one.decision.verdict),
        who=one.decision.curator,
    )


def _list(heading: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    shown = [f"<li>{escape(one)}</li>" for one in lines[:SHOWN]]
    if len(lines) > SHOWN:
        more = len(lines) - SHOWN
        shown.append(f"<li>{escape(ntr('… and {n:,} more', '… and {n:,} more', more))}</li>")
    return f"<p><b>{escape(heading)}</b></p><ul>{''.join(shown)}</ul>"
