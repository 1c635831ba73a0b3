"""Existing documents with a changed text: the differences, the decisions that would move, and the choice for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from curator.domain.documents import Changed, DiffSide, differences, shortened
from curator.domain.wording import ntr, tr
from curator.services.importing.import_comparing import Compared
from curator.services.importing.text_taking import MovedMention, TextChange, verdict_words
from curator.ui.kit.compose import button, row, splitter
from curator.ui.kit.foreign_text import StillBrowser
from curator.ui.kit.form import FormDialog
from curator.ui.kit.record_tables import RecordColumn, RecordTable
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
        self._change = change
        self.choices = dict(choices)
        columns: list[RecordColumn[Compared]] = [
            RecordColumn(tr("Document"), lambda one: one.source.external_id),
            RecordColumn(tr("Title"), lambda one: one.source.title),
            RecordColumn(tr("What happens"), lambda one: tr(CHOSEN[self.choices.get(one.document_id, Changed.KEEP)])),
        ]
        self.table: RecordTable[Compared] = RecordTable(
            tr("Changed documents"), columns, wide=1, sortable=False, parent=self
        )
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.difference = StillBrowser(self)
        self.difference.setAccessibleName(tr("What differs"))
        self.body.insertWidget(0, splitter(self.table, self.difference, parent=self, sizes=(150, 320)), 1)
        self.buttons_of = {
            choice: button(tr(words), partial(self.choose, choice), parent=self) for choice, words in CHOICES.items()
        }
        self.body.insertLayout(1, row(*self.buttons_of.values(), 1))
        self.resize(860, 620)
        self.table.show_rows(compared)
        self.table.selectionModel().selectionChanged.connect(self._show)
        self._show()
        self.table.setFocus()

    def choose(self, choice: Changed) -> None:
        """Set the choice for the selected documents."""
        for index in self.table.selectionModel().selectedRows():
            self.choices[self.table.lines.rows[index.row()].document_id] = choice
        self.table.lines.refresh()

    def _show(self) -> None:
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        if rows:
            change = self._change(self.table.lines.rows[rows[0]])
            self.difference.setHtml(change_page(change, theme_of(self.palette())))

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
