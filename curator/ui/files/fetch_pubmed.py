"""*Project > Fetch from PubMed*: the records, their split, and what is sent over the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QFormLayout, QLineEdit, QSpinBox, QTabWidget, QWidget

from curator.domain.curies import pmids_in
from curator.domain.wording import UserError, ntr, tr
from curator.services.importing.fetching import FetchRequest, FetchWish, Unfinished
from curator.services.ports.pubmed import MOST_FOUND
from curator.ui.files.import_documents import SplitFields
from curator.ui.kit.compose import button, column, row
from curator.ui.kit.foreign_text import PlainEdit, PlainLabel
from curator.ui.kit.form import FormDialog, file_dialog, sentence
from curator.ui.kit.labels import NoteLabel

NETWORK = (
    "This uses the network and contacts {host}. It sends the PMIDs or the query, the name of this "
    "program and, if one is set, your API key; nothing from the project or its texts. Nothing is sent "
    "before you press Fetch or Count."
)
LARGEST = 1 << 24
"""The most bytes of a file of PMIDs that is read into the dialog."""


class FetchPubMedDialog(FormDialog):
    """`wish` are the values in the dialog. `count` is called with a query; `set_count` shows the result."""

    def __init__(
        self,
        *,
        host: str,
        stopped: Sequence[Unfinished],
        count: Callable[[str], None],
        forget: Callable[[FetchRequest], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Fetch from PubMed"), ok=tr("Fetch"), parent=parent)
        self._count, self._forget = count, forget
        self._stopped = stopped[0] if stopped else None
        self.note = NoteLabel(self)
        self.note.setAccessibleName(tr("Network use"))
        self.note.set_note(tr(NETWORK, host=host))
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName(tr("What to fetch"))
        self.tabs.tabBar().setAccessibleName(tr("What to fetch"))
        self.tabs.addTab(self._pmid_page(), tr("By &PMID"))
        self.tabs.addTab(self._query_page(), tr("By &query"))
        self.fields = SplitFields(self)
        self.fields.add_to(self.form)
        self.form.setRowVisible(self.fields.gold, False)
        self.again = self._stopped_row()
        self.body.insertWidget(0, self.note)
        self.body.insertWidget(1, self.again)
        self.body.insertWidget(2, self.tabs, 1)
        self.resize(700, 560)
        self.pmids.setFocus()
        self.tabs.currentChanged.connect(self._to_field)

    # --- the pages ---

    def _pmid_page(self) -> QWidget:
        page = QWidget(self)
        self.pmids = PlainEdit(page)
        self.pmids.setAccessibleName(tr("PMIDs"))
        self.pmids.setPlaceholderText(tr("Type or paste PMIDs, separated by line breaks, spaces or commas."))
        self.pmids.setTabChangesFocus(True)
        self.file = button(tr("From a &file…"), self._browse, parent=page)
        self.number = PlainLabel(parent=page)
        column((self.pmids, 1), row(self.file, (self.number, 1)), of=page, margins=None)
        self.pmids.textChanged.connect(self._tell_number)
        return page

    def _query_page(self) -> QWidget:
        page = QWidget(self)
        self.query = QLineEdit(page)
        self.query.setAccessibleName(tr("Query"))
        self.query.setPlaceholderText(tr("As on pubmed.ncbi.nlm.nih.gov: BRCA1[gene] AND 2024[dp]"))
        self.most = QSpinBox(page)
        self.most.setRange(1, MOST_FOUND)
        self.most.setValue(1000)
        self.most.setAccessibleName(tr("Maximum number of records"))
        self.counting = button(tr("&Count"), self._ask_count, parent=page)
        self.found = PlainLabel(parent=page)
        form = QFormLayout(page)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(tr("Query"), self.query)
        form.addRow(tr("At &most"), self.most)
        form.addRow("", row(self.counting, (self.found, 1)))
        self.counting.setEnabled(False)
        self.query.textChanged.connect(self._query_changed)
        return page

    def _stopped_row(self) -> QWidget:
        """The row that offers to resume a stopped fetch; hidden if there is none."""
        whole = QWidget(self)
        words = sentence(_stopped_words(self._stopped) if self._stopped is not None else "")
        self.go_on = button(tr("&Resume the fetch"), self._take_stopped, parent=whole)
        self.drop = button(tr("Discard th&e fetch"), self._forget_stopped, parent=whole)
        row((words, 1), self.go_on, self.drop, of=whole)
        whole.setVisible(self._stopped is not None)
        return whole

    # --- what is done in them ---

    def _to_field(self) -> None:
        """Move the focus to the field of the chosen page."""
        (self.query if self.tabs.currentIndex() == 1 else self.pmids).setFocus()

    def _browse(self) -> None:
        dialog = file_dialog(self, tr("PMIDs"), mode=QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.read_file(Path(name)))
        dialog.open()

    def read_file(self, path: Path) -> None:
        """Put a file's PMIDs into the field."""
        try:
            if not path.is_file():  # reading a pipe would block
                raise OSError
            with path.open("rb") as file:
                text = file.read(LARGEST).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            self.problem.set_note(tr("{path} cannot be read as UTF-8 text. Choose another file.", path=path))
            return
        self.pmids.setPlainText(text)
        self.problem.set_note("")

    def _tell_number(self) -> None:
        try:
            number = len(pmids_in(self.pmids.toPlainText()))
        except UserError as error:
            self.number.setText("")
            self.problem.set_note(str(error))
            return
        self.problem.set_note("")
        self.number.setText(ntr("{n:,} PMID", "{n:,} PMIDs", number) if number else "")

    def _query_changed(self) -> None:
        self.counting.setEnabled(bool(self.query.text().strip()))
        self.found.setText("")

    def _ask_count(self) -> None:
        self.counting.setEnabled(False)
        self.found.setText(tr("Counting…"))
        self._count(self.query.text())

    def set_count(self, query: str, words: str) -> None:
        """Show PubMed's count for `query`, if it is still the current query."""
        if query == self.query.text():
            self.found.setText(words)
            self.counting.setEnabled(True)

    def _take_stopped(self) -> None:
        if self._stopped is None:
            return
        asked = self._stopped.asked
        if asked.query:
            self.tabs.setCurrentIndex(1)
            self.most.setValue(asked.most)
            self.query.setText(asked.query)
        else:
            self.tabs.setCurrentIndex(0)
            self.pmids.setPlainText("\n".join(asked.given))
        self.ok.setFocus()

    def _forget_stopped(self) -> None:
        if self._stopped is not None:
            self._forget(self._stopped.asked)
        self.again.hide()
        self.tabs.setFocus()

    # --- the result ---

    def check(self) -> str:
        try:
            wish = self.wish
        except UserError as error:
            return str(error)
        return "" if wish.query or wish.pmids else tr("Enter PMIDs or a query.")

    @property
    def wish(self) -> FetchWish:
        """The request. Raises UserError for invalid PMIDs."""
        split, hold_out = self.fields.chosen, self.fields.held_out
        if self.tabs.currentIndex() == 1:
            query, most = self.query.text().strip(), self.most.value()
            return FetchWish(query=query, most=most, split=split, hold_out=hold_out)
        return FetchWish(pmids_in(self.pmids.toPlainText()), split=split, hold_out=hold_out)


def _stopped_words(stopped: Unfinished) -> str:
    asked = stopped.asked
    what = f"“{asked.query}”" if asked.query else ntr("{n:,} PMID", "{n:,} PMIDs", len(asked.given))
    return tr(
        "A fetch of {what} was stopped on {day}; {done:,} of {total:,} records were saved.",
        what=what,
        day=f"{datetime.fromisoformat(asked.at):%Y-%m-%d}",
        done=stopped.done,
        total=len(asked.pmids),
    )
