"""*Model > Errors of an evaluation*: the linker's errors, confident ones first; a row opens its mention."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from curator.domain.documents import Split
from curator.domain.same_string import NAME_CLASS_WORDS, NameClass
from curator.domain.wording import UserError, localised, ntr, tr
from curator.services.records.stored_evaluations import (
    KIND_WORDS,
    RELATION_WORDS,
    ErrorFilter,
    ErrorKind,
    ErrorList,
    EvaluationError,
    Relation,
    StoredEvaluation,
    StoredEvaluations,
)
from curator.ui.kit.compose import choice, offer
from curator.ui.kit.form import EmptyPage, ShowDialog, ask_file
from curator.ui.kit.key_names import key_of
from curator.ui.kit.labels import ElidedLabel, FindLine
from curator.ui.kit.messages import tell
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.row_list import figure
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker
from curator.ui.queue.queue_model import SPLIT_WORDS

if TYPE_CHECKING:
    from collections import Counter

CONTEXT, LEAST, BEFORE = 2, 40, 32
"""The column of the context, which is cut on the right, its least letters, and its characters before the mention."""
SPLITS = ""
"""Used instead of an evaluation's id: the newest of every split."""
NONE_STORED = "No evaluation is stored yet"
MAKE_ONE = "Tools › Evaluate compares the linker with the decisions of a split. Its errors are listed here."
NO_ERRORS, ALL_RIGHT = "No errors", "Every answer of the linker is right."
NO_LIST = "This evaluation was stored without its errors. Evaluate again to list them."
NO_MATCH, LESS = "No error matches", "Change the search words or the choices above."
OPENS = "Enter or a double-click opens the mention."
STEPS = "Enter or a double-click opens the mention. In the text, {next} and {previous} go to the next and the previous."
Found = tuple[list[StoredEvaluation], ErrorList, str]
"""Stored evaluations, errors of the chosen one, and an error message or ''."""


class ErrorsWindow(ShowDialog):
    """`mention_wanted` carries the ids of a document and a mention, `said` the description of the error."""

    mention_wanted = Signal(int, int)
    said = Signal(str)

    def __init__(self, service: StoredEvaluations, *, evaluation: str = SPLITS, parent: QWidget | None = None) -> None:
        super().__init__(tr("Errors of an evaluation"), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._service = service
        self.worker = Worker(self)
        self._every = self._shown = ErrorList()
        self._opened = False  # whether the current error was opened
        self._left_out = False  # whether the one above it was opened, and is no longer listed
        self._nothing = ("", "")
        self.evaluations = choice(tr("Evaluation"), parent=self, least=8, fits=True)
        self.kinds = choice(tr("Kind of error"), parent=self, least=8, fits=True)
        self.types = choice(tr("Type"), parent=self, least=8, fits=True)
        self.classes = choice(tr("Words of the mention"), parent=self, least=8, fits=True)
        self.splits = choice(tr("Split"), parent=self, least=8, fits=True)
        self.seen = choice(tr("String in training"), parent=self, least=8, fits=True)
        self.words = FindLine(tr("Find errors"), tr("Find by mention, entity or document"), self)
        self.left = QCheckBox(tr("&Hide mentions decided differently since"), self)
        self.table: RecordTable[EvaluationError] = RecordTable(
            tr("Errors of the evaluation"), self._columns(), wide=CONTEXT, least=LEAST, parent=self
        )
        self.model = self.table.lines
        self.empty = EmptyPage("", parent=self)
        self.empty.hide()
        self.state = ElidedLabel(muted=True, parent=self)
        self.save = self.add_button(tr("&Save list…"), self._ask_place)
        self.go = self.add_button(tr("&Open the mention"), self._open)
        self.body.addWidget(self.evaluations)
        filters = (self.kinds, self.types, self.classes, self.splits, self.seen)
        self.body.addLayout(FlowRow(*filters, self.left))
        for part, share in ((self.words, 0), (self.table, 1), (self.empty, 1), (self.state, 0)):
            self.body.addWidget(part, share)
        self.evaluations.activated.connect(lambda: self.load(self.evaluations.currentData()))
        for box in filters:
            box.currentIndexChanged.connect(self._filter)
        self.left.toggled.connect(self._filter)
        self.words.textChanged.connect(self._filter)
        self.words.returnPressed.connect(self.table.begin)
        self.table.chosen.connect(self._open)
        self.finished.connect(self.worker.close)
        self.resize(1340, 680)
        self.load(evaluation)

    def _columns(self) -> list[RecordColumn[EvaluationError]]:
        return [
            RecordColumn(tr("Error"), self._kind_words),
            RecordColumn(tr("Mention"), lambda row: row.text, letters=16),
            RecordColumn(tr("Context"), context_words),
            RecordColumn(tr("Gold"), lambda row: self._every.gold_words(row), letters=19),
            RecordColumn(tr("Words"), lambda row: row.name_class_words),
            RecordColumn(tr("Answer"), lambda row: self._every.words(row.answer), letters=19),
            RecordColumn(tr("Answer is"), lambda row: row.relation_words),
            RecordColumn(
                tr("Probability"), lambda row: figure(row.probability), by=lambda row: row.probability, figure=True
            ),
            RecordColumn(
                tr("Gold rank"),
                lambda row: "–" if row.rank is None else str(row.rank),
                by=lambda row: row.rank or 10_000,
                figure=True,
            ),
            RecordColumn(tr("Gold prob."), _its_probability, by=lambda row: row.gold_probability, figure=True),
            RecordColumn(tr("Document"), lambda row: row.document),
        ]

    # --- rows ---

    def load(self, evaluation: str) -> None:
        """Read the list of an evaluation in a worker thread; '' is the newest of every split."""
        self.worker.ask(partial(_found, self._service, evaluation), lambda found: self._show(found, evaluation))

    def refresh(self) -> None:
        """Check again after decisions which of the mentions are decided differently now."""
        if self._every.rows:
            compared, every = self._service.compared, self._every
            self.worker.ask(lambda: compared(every), self._mark)

    def _mark(self, found: ErrorList) -> None:
        self._every = found
        if self.left.isChecked():
            self._filter(keep=True)
        self.table.viewport().update()

    def _show(self, found: Found, evaluation: str) -> None:
        stored, self._every, wrong = found
        splits = list(dict.fromkeys(one.split for one in stored))
        rows = [(_stored_words(one), one.id) for one in stored]
        if len(splits) > 1:
            rows.insert(0, (tr("The newest evaluation of each split"), SPLITS))
        chosen = next((at for at, (_, id_) in enumerate(rows) if id_ == evaluation), 0)
        offer(self.evaluations, rows, chosen=rows[chosen][1] if rows else None)
        self.evaluations.setVisible(bool(rows))
        self._offer()
        headline, words = (tr(NO_ERRORS), tr(ALL_RIGHT)) if stored else (tr(NONE_STORED), tr(MAKE_ONE))
        if any(one.errors is None for one in stored if evaluation in ("", one.id)) and not self._every.rows:
            words = tr(NO_LIST)
        self._nothing = (headline, wrong or words)
        self._filter()

    def _offer(self) -> None:
        """Fill the choices with numbers of errors; keep the current choice if possible."""
        every = self._every
        kinds: list[tuple[str, object]] = [(tr("Every kind ({n:,})", n=len(every.rows)), "")]
        for kind, numbers in every.counts().items():
            kinds.append((f"{tr(KIND_WORDS[kind])} ({localised(numbers.total(), ',')})", kind.value))
            kinds += [
                (f"    {tr(RELATION_WORDS[one])} ({localised(numbers[one], ',')})", f"{kind.value} {one.value}")
                for one in _near(numbers)
            ]
        splits = [one.value for one in Split if any(row.split == one.value for row in every.rows)]
        known = any(row.seen is not None for row in every.rows)
        offer(self.kinds, kinds)
        offer(self.types, [(tr("Every type"), ""), *((one, one) for one in every.types)])
        offer(self.splits, [(tr("Every split"), ""), *((tr(SPLIT_WORDS[Split(one)]), one) for one in splits)])
        offer(
            self.seen,
            [
                (tr("Every string"), None),
                (tr("String seen in training"), True),
                (tr("String not seen in training"), False),
            ],
        )
        classes = every.name_classes()
        words = [
            (f"{tr(NAME_CLASS_WORDS[one])} ({localised(number, ',')})", one.value) for one, number in classes.items()
        ]
        offer(self.classes, [(tr("All words"), ""), *words])
        self.classes.setVisible(bool(classes))
        self.types.setVisible(len(every.types) > 1)
        self.splits.setVisible(len(splits) > 1)
        self.seen.setVisible(known)

    def _filter(self, *, keep: bool = False) -> None:
        """List the errors that match. `keep`: stay where the curator is in the list."""
        kind, _, relation = str(self.kinds.currentData() or "").partition(" ")
        where = ErrorFilter(
            ErrorKind(kind) if kind else None,
            Relation(relation) if relation else None,
            self.types.currentData() or "",
            self.splits.currentData() or "",
            self.seen.currentData(),
            NameClass(self.classes.currentData()) if self.classes.currentData() else None,
        )
        found = self._every.chosen(where)
        words = self.words.text().strip().casefold()
        rows = [one for one in found.rows if self._wanted(one, words)]
        self._shown = ErrorList(tuple(rows), found.names, found.changed)
        before = self.table.current
        self.table.show_rows(rows)
        self._say(rows)
        if keep:
            self._keep(before)
        else:
            self._opened = self._left_out = False
            self.table.setCurrentIndex(self.table.model().index(0, 0))  # Enter opens it

    def _keep(self, before: EvaluationError | None) -> None:
        """Stay at the error that was current; the table stays at its place if it is no longer listed."""
        at = self.model.place(lambda one: before is not None and one.mention_id == before.mention_id)
        if at is None:
            self._left_out |= self._opened
            self._opened = False
        else:
            self.table.go_to(at)

    def _wanted(self, row: EvaluationError, words: str) -> bool:
        if self.left.isChecked() and row.mention_id in self._every.changed:
            return False
        every = self._every
        texts = (row.text, row.document, every.gold_words(row), every.words(row.answer), row.answer, *row.gold)
        return not words or any(words in one.casefold() for one in texts)

    def _say(self, rows: Sequence[EvaluationError]) -> None:
        keys = key_of("model.next_error"), key_of("model.previous_error")
        hint = tr(STEPS, next=keys[0], previous=keys[1]) if all(keys) else tr(OPENS)
        number = ntr("1 error.", "{n:,} errors.", len(rows))
        self.state.set_words(f"{number} {hint}" if rows else "")
        self.empty.say(*((tr(NO_MATCH), tr(LESS)) if self._every.rows else self._nothing))
        self.empty.stand_in(self.table, empty=not rows, then=self.words)
        for button in (self.save, self.go):
            button.setEnabled(bool(rows))

    def _kind_words(self, row: EvaluationError) -> str:
        changed = row.mention_id in self._every.changed
        return f"{row.kind_words} · {tr('decided differently since')}" if changed else row.kind_words

    # --- going through them ---

    def step(self, by: int) -> None:
        """Open the next or previous error in the displayed order; the first time, the selected one."""
        rows = self.model.rowCount()
        if not rows:
            self.said.emit(tr("No error is listed."))
            return
        past = by if self._opened else min(by, 0) if self._left_out else 0
        at = max(self.table.currentIndex().row(), 0) + past
        if not 0 <= at < rows:
            self.said.emit(tr("This is the last error.") if by > 0 else tr("This is the first error."))
            return
        self.table.setCurrentIndex(self.table.model().index(at, 0))
        self._open()

    def _open(self) -> None:
        if (row := self.table.current) is not None:
            self._opened, self._left_out = True, False
            self.mention_wanted.emit(row.document_id, row.mention_id)
            self.said.emit(
                tr(
                    "Error {at:,} of {n:,}: {kind}. Answer: {answer}.",
                    at=self.table.currentIndex().row() + 1,
                    n=self.model.rowCount(),
                    kind=self._kind_words(row),
                    answer=self._every.words(row.answer),
                )
            )

    # --- a file of them ---

    def _ask_place(self) -> None:
        filters = f"{tr('Table (*.tsv)')};;{tr('JSON (*.json)')}"
        dialog = ask_file(self, tr("Save list"), self.save_to, filters=filters, name="errors.tsv")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("json" if "json" in chosen else "tsv"))

    def save_to(self, path: Path) -> None:
        """Write the visible rows, ordered by probability."""
        try:
            self._service.write(self._shown, path)
        except UserError as error:
            tell(self, tr("Save list"), str(error), wrong=True)
        else:
            self.state.set_words(tr("Saved to {path}.", path=path))


def context_words(row: EvaluationError) -> str:
    """The mention in context, cut at a word boundary on the left."""
    before = row.before
    if len(before) > BEFORE:
        before = "…" + before[-BEFORE:].partition(" ")[2]
    return f"{before}[{row.text}]{row.after}"


def _found(service: StoredEvaluations, evaluation: str) -> Found:
    stored = service.all()
    try:
        return stored, service.errors(evaluation) if evaluation else service.errors_of_splits(), ""
    except UserError as error:
        return stored, ErrorList(), str(error)


def _stored_words(one: StoredEvaluation) -> str:
    made = localised(one.made.astimezone(), "%d %b %Y %H:%M")
    wrong = tr("errors not stored") if one.errors is None else ntr("1 error", "{n:,} errors", one.errors)
    words = {one.value: words for one, words in SPLIT_WORDS.items()}
    return tr(
        "{split}, {made}: {errors} in {mentions:,} mentions, linker {bundle}",
        split=tr(words.get(one.split, one.split)),
        made=made,
        errors=wrong,
        mentions=one.mentions,
        bundle=one.bundle,
    )


def _its_probability(row: EvaluationError) -> str:
    return "–" if row.gold_probability is None else figure(row.gold_probability)


def _near(numbers: Counter[Relation | None]) -> list[Relation]:
    return [one for one in RELATION_WORDS if numbers[one]]
