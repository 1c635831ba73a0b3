"""*People > Conflicting decisions*: mentions of a shared project that the curator and somebody else decided
differently, with both decisions side by side; a row opens its mention."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from curator.domain.decisions import Verdict
from curator.domain.wording import UserError, tr
from curator.services.ports.queue import MentionContext
from curator.services.queue.team import Collision
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.mention_state import verdict_words
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.worker import Worker

TITLE = "Conflicting decisions"
INTRO = (
    "You and another curator decided these mentions differently since you opened the project. Both decisions are kept. "
    "To change which one is in force, press Enter to open the mention, and decide it again."
)
READING = "Reading the decisions…"
FAILED = "The decisions could not be read; the log says why."
AGAIN, LATER, NOBODY = "decided again by you", "decided again by {who}", "undecided"
Row = tuple[Collision, MentionContext]


class ConflictsWindow(ShowDialog):
    """Stays open while its mentions are decided again; `load` reads it again. `mention_wanted` carries the ids of a
    document and a mention."""

    mention_wanted = Signal(int, int)

    def __init__(
        self,
        read: Callable[[], Sequence[Row]],
        *,
        name_of: Callable[[str], str],
        curator: Callable[[], str],
        parent: QWidget | None = None,
    ) -> None:
        """`read` and `name_of` are called in another thread."""
        super().__init__(tr(TITLE), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._read = read
        self._name_of = name_of
        self._curator = curator
        self._names: dict[str, str] = {}
        self._again = False
        self.worker = Worker(self)
        self.table: RecordTable[Row] = RecordTable(
            tr(TITLE),
            [
                RecordColumn(tr("Document"), lambda row: row[1].external_id),
                RecordColumn(tr("Mention"), lambda row: row[1].text),
                RecordColumn(tr("Your decision"), lambda row: self._words(row[0].mine.verdict)),
                RecordColumn(tr("Other decision"), lambda row: self._words(row[0].theirs.verdict)),
                RecordColumn(tr("Other curator"), lambda row: row[0].theirs.curator),
                RecordColumn(tr("In force"), self._in_force),
            ],
            wide=(1, 2, 3, 4, 5),  # names may be long
            parent=self,
        )
        self.go = self.add_button(tr("&Open the mention"), self._open)
        self.words = sentence(tr(READING))
        self.body.addWidget(self.words)
        self.body.addWidget(self.table, 1)
        self.table.chosen.connect(self._open)
        self.finished.connect(self.worker.close)
        self.table.setFocus()
        self.resize(1040, 420)
        self.load()

    def load(self) -> None:
        """Read the rows again in a worker thread; the selected position is kept. If the server is away, say so.

        Every reading is shown, and a request during it causes another one: while a team works, requests can come faster
        than readings end.
        """
        if self.worker.busy:
            self._again = True
            return
        self._again = False
        self.worker.ask(self._with_names(), self._show, failed=lambda: self.words.setText(tr(FAILED)))

    def _with_names(self) -> Callable[[], tuple[Sequence[Row], dict[str, str]] | UserError]:
        read, name_of = self._read, self._name_of

        def work() -> tuple[Sequence[Row], dict[str, str]] | UserError:
            try:
                rows = read()
                verdicts = [it for one, _ in rows for it in (one.mine.verdict, one.theirs.verdict)]
                named = {it: name_of(it) for one in verdicts for it in one.entity_ids}
            except UserError as error:
                return error
            return rows, {it: name for it, name in named.items() if name != it}

        return work

    def _show(self, found: tuple[Sequence[Row], dict[str, str]] | UserError) -> None:
        self.words.setText(str(found) if isinstance(found, UserError) else tr(INTRO))
        if not isinstance(found, UserError):
            rows, self._names = found
            self.table.show_rows(rows)
            self.go.setEnabled(bool(rows))
        if self._again:
            self.load()

    def _words(self, verdict: Verdict) -> str:
        return verdict_words(verdict, self._names)

    def _in_force(self, row: Row) -> str:
        """The curator of the current decision, as one of the two or by name."""
        one, now = row
        if now.verdict is None:
            return tr(NOBODY)
        for decision, whose in ((one.mine, tr("yours")), (one.theirs, tr("theirs"))):
            if (now.curator, now.verdict) == (decision.curator, decision.verdict):
                return whose
        return tr(AGAIN) if now.curator == self._curator() else tr(LATER, who=now.curator)

    def _open(self) -> None:
        if (row := self.table.current) is not None:
            self.mention_wanted.emit(row[1].document_id, row[1].mention_id)
