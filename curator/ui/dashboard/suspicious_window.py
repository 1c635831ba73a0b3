"""*Model > Suspicious gold*: decisions that models fitted on other documents find unlikely; keep each, or decide
again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from curator.domain.wording import tr
from curator.services.training.suspicious import SuspiciousGold, SuspiciousList
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.record_tables import RecordColumn, RecordTable, number_column

INTRO = "{message} Enter opens the mention, K keeps the decision: it is not listed again unless it changes."
NEVER = (
    "Decisions have not been checked yet. “Check the decisions” compares each with models that never saw its document."
)
NOTHING = "{message} Nothing is left to review."
NIL = "NIL"


class SuspiciousWindow(ShowDialog):
    """`show_list` shows the remaining ones. The window stays open while its mentions are reviewed."""

    mention_wanted = Signal(int, int)  # document, mention
    keep_wanted = Signal(int)
    check_wanted = Signal()

    def __init__(
        self, found: SuspiciousList, *, name_of: Callable[[str], str], writable: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Suspicious gold"), parent)
        self.setWindowModality(Qt.WindowModality.NonModal)
        self._name_of = name_of
        self._writable = writable
        self.words = sentence("")
        self.table: RecordTable[SuspiciousGold] = RecordTable(
            tr("Suspicious gold"),
            [
                RecordColumn(tr("Mention"), lambda row: row.surface),
                RecordColumn(tr("Decided"), lambda row: self._names(row.gold)),
                number_column(tr("Probability"), lambda row: row.probability, ".2f"),
                RecordColumn(tr("More likely"), lambda row: row.rival_name),
                number_column(tr("Its probability"), lambda row: row.rival_probability, ".2f"),
            ],
            wide=1,
            parent=self,
        )
        self.check = self.add_button(tr("&Check the decisions"), self.check_wanted.emit)
        self.keep = self.add_button(tr("&Keep the decision"), self._keep)
        self.keep.setShortcut("K")
        self.go = self.add_button(tr("&Open the mention"), self._open)
        self.body.addWidget(self.words)
        self.body.addWidget(self.table, 1)
        self.table.chosen.connect(self._open)
        self.resize(820, 520)
        self.show_list(found)
        self.table.setFocus()

    def show_list(self, found: SuspiciousList) -> None:
        self.table.show_rows(found.rows)
        words = tr(INTRO) if found.rows else tr(NOTHING) if found.message else tr(NEVER)
        self.words.setText(words.format(message=found.message))
        self.keep.setEnabled(bool(found.rows) and self._writable)
        self.go.setEnabled(bool(found.rows))
        self.check.setEnabled(self._writable)

    def _names(self, ids: tuple[str, ...]) -> str:
        return " + ".join(map(self._name_of, ids)) or tr(NIL)

    def _open(self) -> None:
        row = self.table.current
        if row is not None:
            self.mention_wanted.emit(row.document_id, row.mention_id)

    def _keep(self) -> None:
        row = self.table.current
        if row is not None:
            self.keep_wanted.emit(row.mention_id)
