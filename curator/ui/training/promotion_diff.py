"""The promotion diff: every gold decision that flips between two bundles, and how the undecided queue changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from curator.domain.wording import localised, tr
from curator.services.training.bundle_metrics import NIL, DiffKind, DiffRow, count, diff_words
from curator.ui.kit.compose import choice, column, row
from curator.ui.kit.form import sentence
from curator.ui.kit.labels import FindLine
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.theme import theme_of

WORDS = {
    DiffKind.BETTER: "✓ becomes right",
    DiffKind.WORSE: "✗ becomes wrong",
    DiffKind.QUEUE: "… undecided",
}
STATES = {
    DiffKind.BETTER: MentionState.LINKED,
    DiffKind.WORSE: MentionState.REJECTED,
    DiffKind.QUEUE: MentionState.UNDECIDED,
}
FILTERS = {
    "Everything that changes": None,
    "Wrong → right": DiffKind.BETTER,
    "Right → wrong": DiffKind.WORSE,
    "Undecided mentions": DiffKind.QUEUE,
}
ANSWERS = ("Before", "After")
NOTHING = "No gold decision changes, and no suggestion for an undecided mention changes."
OPENS = "Enter or a double-click opens the mention."


class PromotionDiff(QWidget):
    """`mention_wanted` carries the ids of a document and a mention of it. `asked` is the number of undecided mentions
    examined."""

    mention_wanted = Signal(int, int)

    def __init__(
        self,
        rows: Sequence[DiffRow],
        *,
        name_of: Callable[[str], str],
        title_of: Callable[[int], str],
        asked: int = 0,
        answers: tuple[str, str] = ANSWERS,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.rows = list(rows)
        self._inks: dict[DiffKind, QColor] = {}
        self.summary = sentence(f"{diff_words(self.rows, asked=asked)} {tr(OPENS)}" if self.rows else tr(NOTHING))
        numbers = [(words, kind, count(self.rows, kind) if kind else len(self.rows)) for words, kind in FILTERS.items()]
        kinds = [(f"{tr(words)} ({localised(number, ',')})", kind) for words, kind, number in numbers]
        self.kinds = choice(tr("Which changes are shown"), kinds, parent=self)
        self.words = FindLine(tr("Filter the changes"), tr("Filter by mention, entity or document"), self)
        self.table: RecordTable[DiffRow] = RecordTable(
            tr("What changes"), self._columns(name_of, title_of, answers), wide=(1, 2, 3, 4), parent=self
        )
        line = row(self.kinds, (self.words, 1))
        column(self.summary, line, (self.table, 1), of=self, margins=(0, 8, 0, 0))
        self._colour()
        self._list()
        self.kinds.currentIndexChanged.connect(self._list)
        self.words.textChanged.connect(self._list)
        self.words.returnPressed.connect(self.table.begin)
        self.table.chosen.connect(self._open)

    def _columns(
        self, name_of: Callable[[str], str], title_of: Callable[[int], str], answers: tuple[str, str]
    ) -> list[RecordColumn[DiffRow]]:
        name, title = lru_cache(maxsize=4096)(name_of), lru_cache(maxsize=4096)(title_of)

        def gold(one: DiffRow) -> str:
            return "" if one.kind is DiffKind.QUEUE else " + ".join(map(name, one.gold)) or NIL

        def answer(of: Callable[[DiffRow], str]) -> Callable[[DiffRow], str]:
            return lambda one: NIL if of(one) == NIL else name(of(one))

        return [
            RecordColumn("", lambda one: tr(WORDS[one.kind]), ink=lambda one: self._inks.get(one.kind)),
            RecordColumn(tr("Mention"), lambda one: one.surface),
            RecordColumn(tr("Decided"), gold),
            RecordColumn(tr(answers[0]), answer(lambda one: one.before)),
            RecordColumn(tr(answers[1]), answer(lambda one: one.after)),
            RecordColumn(tr("Document"), lambda one: "" if one.document is None else title(one.document)),
        ]

    def _list(self) -> None:
        """List the changes of the chosen kind with the words in any column."""
        kind, words, columns = self.kinds.currentData(), self.words.text().casefold(), self.table.lines.columns
        self.table.show_rows(
            [
                one
                for one in self.rows
                if kind in (None, one.kind) and (not words or any(words in it.words(one).casefold() for it in columns))
            ]
        )

    def _colour(self) -> None:
        theme = theme_of(self.palette())
        self._inks = {kind: theme.states[state].ink for kind, state in STATES.items()}

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._colour()

    def _open(self) -> None:
        one = self.table.current
        if one is not None and one.document is not None and one.mention is not None:
            self.mention_wanted.emit(one.document, one.mention)
