"""*People > Rounds*: the list of rounds, everybody's progress, and actions for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QSpinBox, QWidget

from curator.domain.documents import Split
from curator.domain.rounds import Round, RoundKind, RoundProgress
from curator.domain.wording import localised, tr
from curator.ui.kit.compose import button, choice
from curator.ui.kit.form import EmptyPage, FormDialog, ShowDialog, sentence
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.sizing import FlowRow

INTRO = (
    "Several curators judge the same documents independently. Their agreement is then measured, and "
    "their disagreements are adjudicated. Colleagues on other computers take part by exchanging files."
)
SHARED_INTRO = (
    "Several curators judge the same documents independently. Their agreement is then measured, and their "
    "disagreements are adjudicated. Everybody joins the round in this project. While it is open, curators see only "
    "their own judgements."
)
NONE, MAKE = "No rounds yet", "“New round…” creates one; “Import…” reads a colleague's file."
KINDS = {RoundKind.BLIND: "blind", RoundKind.UNAIDED: "blind, no suggestions", RoundKind.CONSISTENCY: "own consistency"}


@dataclass(frozen=True, slots=True)
class RoundEntry:
    round: Round
    progress: tuple[RoundProgress, ...]
    active: bool

    @property
    def state(self) -> str:
        if self.round.closed:
            return tr("closed")
        return tr("you are in it") if self.active else tr("still open")

    @property
    def people(self) -> str:
        return " · ".join(map(_progress_words, self.progress)) or tr("nobody yet")


def _progress_words(one: RoundProgress) -> str:
    words = f"{one.curator} {localised(one.judged, ',')}/{localised(one.mentions, ',')}"
    return words + (", " + tr("{n:,} skipped", n=one.skipped) if one.skipped else "")


class RoundsDialog(ShowDialog):
    """Every signal carries the round; the dialog stays open and gets new rows with `show_rows`."""

    new_wanted = Signal()
    import_wanted = Signal()
    enter_wanted = Signal(object)  # Round
    close_wanted = Signal(object)
    export_wanted = Signal(object)
    agreement_wanted = Signal(object)
    adjudication_wanted = Signal(object)

    def __init__(
        self, rows: Sequence[RoundEntry], *, writable: bool, shared: bool = False, parent: QWidget | None = None
    ) -> None:
        """`shared`: the project is a shared one, so nobody exchanges files."""
        super().__init__(tr("Rounds"), parent)
        self._writable = writable
        self.words = sentence(tr(SHARED_INTRO if shared else INTRO))
        self.table: RecordTable[RoundEntry] = RecordTable(
            tr("Rounds"),
            [
                RecordColumn(tr("Round"), lambda row: row.round.name),
                RecordColumn(tr("Kind"), lambda row: tr(KINDS[row.round.kind])),
                RecordColumn(
                    tr("Documents"),
                    lambda row: localised(row.round.documents, ","),
                    by=lambda row: row.round.documents,
                ),
                RecordColumn(tr("State"), lambda row: row.state),
                RecordColumn(tr("Judged"), lambda row: row.people),
            ],
            wide=4,
            parent=self,
        )
        self.empty = EmptyPage(tr(NONE), tr(MAKE), self)
        self.body.addWidget(self.words)
        self.body.addWidget(self.table, 1)
        self.body.addWidget(self.empty, 1)
        self.body.addLayout(self._make_buttons())
        self.table.selectionModel().currentChanged.connect(lambda: self._enable())
        self.table.chosen.connect(lambda: self._wish(self.enter_wanted))
        self.resize(860, 480)
        self.show_rows(rows)
        self._choose_open(rows)
        (self.table if rows else self.new).setFocus()

    def _choose_open(self, rows: Sequence[RoundEntry]) -> None:
        """Select the round being judged, else the first open one."""
        order = [*(one for one in rows if one.active), *(one for one in rows if not one.round.closed)]
        if order:
            self.table.go_to(rows.index(order[0]))

    def _make_buttons(self) -> FlowRow:
        self.new = button(tr("&New round…"), self.new_wanted.emit, parent=self)
        self.take = button(tr("&Import…"), self.import_wanted.emit, parent=self)
        self.enter = button(tr("&Join the round"), lambda: self._wish(self.enter_wanted), parent=self)
        self.shut = button(tr("&Close the round"), lambda: self._wish(self.close_wanted), parent=self)
        self.give = button(tr("&Export…"), lambda: self._wish(self.export_wanted), parent=self)
        self.agree = button(tr("&Agreement…"), lambda: self._wish(self.agreement_wanted), parent=self)
        self.settle = button(tr("A&djudicate"), lambda: self._wish(self.adjudication_wanted), parent=self)
        return FlowRow(self.new, self.take, self.enter, self.shut, self.give, self.agree, self.settle)

    def _wish(self, signal: object) -> None:
        row = self.table.current
        if row is not None:
            signal.emit(row.round)  # type: ignore[attr-defined]

    def show_rows(self, rows: Sequence[RoundEntry]) -> None:
        self.table.show_rows(rows)
        self.empty.stand_in(self.table, empty=not rows)
        self._enable()

    def _enable(self) -> None:
        row, writable = self.table.current, self._writable
        blind = row is not None and row.round.kind is not RoundKind.CONSISTENCY
        closed = row is not None and row.round.closed
        self.new.setEnabled(writable)
        self.take.setEnabled(writable)
        self.enter.setEnabled(writable and row is not None and not closed)
        self.enter.setText(tr("Leave the round") if row is not None and row.active else tr("&Join the round"))
        self.shut.setEnabled(writable and row is not None)
        self.shut.setText(tr("Reo&pen the round") if closed else tr("&Close the round"))
        for one in (self.give, self.agree):
            one.setEnabled(row is not None)
        self.settle.setEnabled(writable and blind and closed)
        self.settle.setToolTip(
            "" if closed else tr("Close the round first, so that nobody judges after seeing the judgements of others.")
        )


# *Rounds > New*: name, kind of blinding, and documents.

NEW_INTRO = (
    "In a round, several curators judge the same documents independently. Nobody sees the judgements of "
    "others or the project's decisions on these mentions, and nothing in the project changes before the "
    "round is adjudicated."
)
KIND_CHOICES = {
    RoundKind.BLIND: "With suggestions",
    RoundKind.UNAIDED: "Without suggestions",
    RoundKind.CONSISTENCY: "Own consistency: documents that you decided before",
}
ANY = "from all splits"


class NewRoundDialog(FormDialog):
    """`name`, `kind`, `count`, `split` and `here_only` are valid after acceptance."""

    def __init__(self, *, documents: int, filtered: int | None = None, parent: QWidget | None = None) -> None:
        """`documents` is the total number; `filtered` the number in the queue if a filter is set."""
        super().__init__(tr("New round"), intro=tr(NEW_INTRO), ok=tr("Create round"), parent=parent)
        self.line = QLineEdit(self)
        self.line.setAccessibleName(tr("Name of the round"))
        self.line.setPlaceholderText(tr("for example: pilot 1"))
        kinds = [(tr(words), kind.value) for kind, words in KIND_CHOICES.items()]
        self.kinds = choice(tr("Suggestions"), kinds, parent=self)
        self.number = QSpinBox(self)
        self.number.setAccessibleName(tr("Number of documents"))
        self.number.setRange(1, max(documents, 1))
        self.number.setValue(min(20, max(documents, 1)))
        self.which = choice(tr("Which documents"), [(tr("drawn at random {any}", any=tr(ANY)), "")], parent=self)
        for split in Split:
            self.which.addItem(tr("drawn at random from {value}", value=split.value), split.value)
        if filtered:
            self.which.addItem(
                tr("the first in the queue as it is filtered now ({filtered:,})", filtered=filtered), "queue"
            )
        self.form.addRow(tr("&Name"), self.line)
        self.form.addRow(tr("&Suggestions"), self.kinds)
        self.form.addRow(tr("&Documents"), self.number)
        self.form.addRow(tr("&Which"), self.which)
        self.setMinimumWidth(560)
        self.line.setFocus()

    @property
    def name(self) -> str:
        return self.line.text().strip()

    @property
    def kind(self) -> RoundKind:
        return RoundKind(self.kinds.currentData())

    @property
    def count(self) -> int:
        return self.number.value()

    @property
    def split(self) -> Split | None:
        data = self.which.currentData()
        return Split(data) if data and data != "queue" else None

    @property
    def of_queue(self) -> bool:
        return bool(self.which.currentData() == "queue")

    def check(self) -> str:
        return "" if self.name else tr("Enter a name for the round, such as “pilot 1”.")
