"""*View > Decisions*: who decided what and when, in the whole project; a row opens its mention."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from curator.domain.decisions import KEPT_BACK_SHOWN, RANK_UNKNOWN, OperationKind, Outcome
from curator.domain.statistics import TakenDecision
from curator.domain.wording import localised, tr
from curator.services.records.statistics import StatisticsService
from curator.ui.kit.compose import choice, row
from curator.ui.kit.form import EmptyPage, ShowDialog
from curator.ui.kit.labels import ElidedLabel, FindLine
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.worker import Worker

# The project's decisions as a table, newest first; older ones are loaded on scrolling.

STEPS = {
    "": "from a file",
    OperationKind.DECIDE: "",
    OperationKind.UNDO: "undone",
    OperationKind.REDO: "redone",
    OperationKind.ADD_MENTION: "mention added",
    OperationKind.DELETE_MENTION: "mention deleted",
    OperationKind.CHANGE_MENTION: "mention changed",
    OperationKind.SET_STATE: "document state changed",
    OperationKind.FLAG: "flagged",
    OperationKind.COMMENT: "commented",
    OperationKind.DELETE_COMMENT: "comment deleted",
    OperationKind.SET_ATTRIBUTE: "attribute set",
    OperationKind.DEFINE_ATTRIBUTES: "attributes changed",
    OperationKind.ADD_RELATION: "relation added",
    OperationKind.DELETE_RELATION: "relation deleted",
    OperationKind.MAKE_ENTITY: "new entity",
    OperationKind.CHANGE_ENTITY: "new entity changed",
    OperationKind.DELETE_ENTITY: "new entity deleted",
    OperationKind.REMAP: "knowledge-base update",
    OperationKind.TAKE_TEXT: "newer text of the document",
    OperationKind.WITHDRAW_IMPORT: "import undone",
    OperationKind.INTEND: "marked as intended",
}
"""The origin of a decision, by the kind of its operation; '' means imported."""
OUTCOMES = {one.value: one.words for one in Outcome if one is not Outcome.LINK} | {"cleared": "undecided again"}


def decision_columns(name_of: Callable[[str], str]) -> list[RecordColumn[TakenDecision]]:
    name_of = lru_cache(maxsize=4096)(name_of)

    def decided(row: TakenDecision) -> str:
        named = " + ".join(name_of(one) for one in row.entity_ids)
        return tr(OUTCOMES[row.outcome]) if row.outcome in OUTCOMES else named

    return [
        RecordColumn(tr("When"), lambda row: localised(row.at.astimezone(), "%d %b %Y, %H:%M:%S")),
        RecordColumn(tr("Who"), _who),
        RecordColumn(tr("Mention"), lambda row: row.text),
        RecordColumn(tr("Decision"), decided),
        RecordColumn(tr("Rank"), rank_words),
        RecordColumn(tr("How"), _how),
        RecordColumn(tr("Document"), lambda row: row.document),
    ]


def _who(row: TakenDecision) -> str:
    if row.actor != row.curator:
        return tr("{actor} for {curator}", actor=row.actor, curator=row.curator)
    return row.curator


def _how(row: TakenDecision) -> str:
    step = tr(STEPS[row.step]) if STEPS[row.step] else ""
    return " · ".join(one for one in (step, row.note, "" if row.stands else tr("no longer current")) if one)


def rank_words(row: TakenDecision) -> str:
    """The number of the chosen candidates in the list, as in the history of the mention; for NIL whether it was
    suggested. '' without a list."""
    if row.rank is None or row.rank == RANK_UNKNOWN:
        return ""
    if row.rank == KEPT_BACK_SHOWN:
        return tr("shown on request")
    if row.rank < RANK_UNKNOWN:
        return tr("not shown")
    if row.outcome == Outcome.NIL:
        return tr("suggested") if row.rank else tr("not suggested")
    return " + ".join(str(place) for place in row.places) or tr("not listed")


PAGE = 300
TYPING_MS = 250
EVERYBODY = "Everybody"
NONE, LESS = "No decision matches", "Change the search words or the curator above, or include decisions from files."
NOTHING, LISTED = "Nothing has been decided yet", "Every decision is listed here, newest first."
OPENS = "Enter or a double-click opens the mention; F4 returns here."


class DecisionsWindow(ShowDialog):
    """`mention_wanted` carries the ids of a document and a mention."""

    mention_wanted = Signal(int, int)

    def __init__(
        self, service: StatisticsService, *, name_of: Callable[[str], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Decisions of the project"), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._service = service
        self.worker = Worker(self)
        self.words = FindLine(tr("Find decisions"), tr("Find by mention, entity identifier or document"), self)
        people = [(tr(EVERYBODY), ""), *((name, name) for name in service.curators())]
        self.curators = choice(tr("Curator"), people, parent=self)
        self.imported = QCheckBox(tr("Include decisions from &files"), self)
        self.table: RecordTable[TakenDecision] = RecordTable(
            tr("Decisions of the project"), decision_columns(name_of), wide=(2, 3, 5), sortable=False, parent=self
        )
        self.model = self.table.lines
        self.empty = EmptyPage("", parent=self)
        self.empty.hide()
        self.state = ElidedLabel(muted=True, parent=self)
        self.body.addLayout(row((self.words, 1), self.curators, self.imported))
        for part, share in ((self.table, 1), (self.empty, 1), (self.state, 0)):
            self.body.addWidget(part, share)
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._typing.timeout.connect(self.load)
        self.words.textChanged.connect(lambda: self._typing.start())
        self.words.returnPressed.connect(self.table.begin)
        self.curators.currentIndexChanged.connect(self.load)
        self.imported.toggled.connect(self.load)
        self.model.more_wanted.connect(self._load_more)
        self.table.chosen.connect(self._open)
        self.finished.connect(self.worker.close)
        self.load()
        self.resize(1000, 620)

    # --- rows ---

    def load(self) -> None:
        """Load decisions, newest first, in a worker thread; only the last request is shown."""
        self.worker.ask(self._page(None), self._begin)

    def _load_more(self) -> None:
        last = self.model.rows[-1].id
        self.worker.ask(self._page(last), lambda rows: self.model.add_rows(rows, more=len(rows) == PAGE))

    def _page(self, before: int | None) -> Callable[[], list[TakenDecision]]:
        curator, words, imported = self.curators.currentData(), self.words.text().strip(), self.imported.isChecked()
        taken = self._service.taken
        return lambda: taken(limit=PAGE, before=before, curator=curator, words=words, imported=imported)

    def _begin(self, rows: list[TakenDecision]) -> None:
        self.model.show_rows(rows, more=len(rows) == PAGE)
        if rows:
            self.table.go_to(0)  # Enter opens it
        self.state.set_words(tr(OPENS) if rows else "")
        narrowed = bool(self.words.text().strip() or self.curators.currentData())
        self.empty.say(*((tr(NONE), tr(LESS)) if narrowed else (tr(NOTHING), tr(LISTED))))
        self.empty.stand_in(self.table, empty=not rows, then=self.words)

    def _open(self) -> None:
        if (row := self.table.current) is not None:
            self.mention_wanted.emit(row.document_id, row.mention_id)
