"""*Edit > History of steps*: what was done, by whom and when; the mentions of a step, and returning to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from curator.domain.decisions import OperationKind
from curator.domain.jobs import Progress
from curator.domain.wording import UserError, localised, ntr, tr
from curator.services.curating.steps import Step, StepKind, StepPage, StepService, StepState
from curator.services.ports.curation import Operation, StepFilter
from curator.services.ports.queue import MentionContext
from curator.ui.deciding.kwic_list import CheckMark, KwicList, KwicRow
from curator.ui.deciding.mention_listing import BesideWindow
from curator.ui.kit.compose import button, choice, column, offer, pane, splitter
from curator.ui.kit.form import EmptyPage
from curator.ui.kit.labels import ElidedLabel, FindLine
from curator.ui.kit.mention_state import verdict_words
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker

PAGE = 300
TYPING_MS = 250
RESTING_MS = 120
NONE, LESS = "No step matches", "Change the search words, the curator, the kind or the documents above."
NOTHING, LISTED = "Nothing has been done yet", "Every step is listed here, newest first: decisions, mentions, imports."
OPENS = "Enter shows the mentions of a step and goes to the first one; F4 returns here."
NO_MENTIONS = "No mention of this step is still there. Enter goes to its document, if it has one."
OF_IMPORT = "An import: Project › Imports lists its files."
MORE = "{listed:,} of {every:,} mentions are listed."
WAY = "{done:,} of {total:,} steps are done. You can stop at any step."
BACK, FORTH = "Go &back to here…", "&Redo up to here…"


TEXT, LEAST = 3, 32
"""The column of the step, and characters of it that are shown at least."""
STATES = {
    StepState.DONE: "",
    StepState.REDOABLE: "undone",
    StepState.UNDONE: "undone for good",
    StepState.FIXED: "",
}
HERE = "last step now"
KINDS = {
    StepKind.DECISIONS: "Decisions",
    StepKind.MENTIONS: "Mentions added, changed, deleted",
    StepKind.STATES: "Document states",
    StepKind.NOTES: "Flags and comments",
    StepKind.ATTRIBUTES: "Attributes",
    StepKind.ENTITIES: "Entities of the project",
    StepKind.IMPORTS: "Imports",
}


def step_columns(here: Callable[[], int | None]) -> list[RecordColumn[Step]]:
    """`here` returns the number of the last step that is not undone."""
    struck = QFont()
    struck.setStrikeOut(True)

    def state(step: Step) -> str:
        if step.number is not None and step.number == here():
            return tr(HERE)
        return tr(STATES[step.state]) if STATES[step.state] else ""

    def undone(step: Step) -> QFont | None:
        return struck if step.state in (StepState.REDOABLE, StepState.UNDONE) else None

    return [
        RecordColumn(tr("Number"), lambda one: "" if one.number is None else localised(one.number, ","), figure=True),
        RecordColumn(tr("When"), lambda one: localised(one.at.astimezone(), "%d %b %Y, %H:%M:%S")),
        RecordColumn(tr("Who"), lambda one: one.actor),
        RecordColumn(tr("Step"), lambda one: one.text, font=undone),
        RecordColumn(tr("Mentions"), lambda one: localised(one.mentions, ",") if one.mentions else "", figure=True),
        RecordColumn(tr("State"), state),
    ]


class StepFilters(QWidget):
    """`changed`: something else was chosen; `typed`: the search words changed. API: `offer`, `narrowed`."""

    changed = Signal()
    typed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = FindLine(tr("Find steps"), tr("Find by words, string or entity identifier"), self)
        self.words.setMinimumWidth(28 * self.fontMetrics().averageCharWidth())
        self.curators = choice(tr("Curator"), [(tr("Everybody"), "")], parent=self, fits=True)
        kinds = [(tr("All kinds"), ""), *((tr(words), kind.value) for kind, words in KINDS.items())]
        self.kinds = choice(tr("Kind of step"), kinds, parent=self)
        documents = [(tr("All documents"), False), (tr("The open document"), True)]
        self.documents = choice(tr("Documents"), documents, parent=self)
        for box in (self.curators, self.kinds, self.documents):
            box.currentIndexChanged.connect(self.changed)
        self.setLayout(FlowRow(self.words, self.curators, self.kinds, self.documents))
        self.words.textChanged.connect(self.typed)

    def offer(self, actors: Sequence[str]) -> None:
        """Set the names of curators; the chosen one is kept."""
        offer(self.curators, [(tr("Everybody"), ""), *((name, name) for name in actors)])

    def narrowed(self, document_id: int | None) -> StepFilter:
        """The filter; `document_id` is the open document's; without one the list is not filtered by document."""
        kind = self.kinds.currentData()
        kinds: frozenset[OperationKind] = StepKind(kind).operations if kind else frozenset()
        of_document = document_id if self.documents.currentData() else None
        return StepFilter(self.curators.currentData() or "", kinds, of_document, self.words.text().strip())


@dataclass(frozen=True, slots=True)
class _Shown:
    """The mentions of a step, and the options of the request."""

    step: Step
    contexts: tuple[MentionContext, ...]
    beyond: int
    enter: bool


class StepsWindow(BesideWindow):
    """API: `step`, `go_to`. It changes nothing itself: `journey_wanted` carries the number of the step to go to.

    `document` returns the id of the open document, `name_of` the name of an entity.
    """

    mention_wanted = Signal(int, int)  # document, mention: to preview
    open_wanted = Signal(int, int)  # document, mention: to open
    document_wanted = Signal(int)  # step whose document to open
    journey_wanted = Signal(int)
    stop_wanted = Signal()  # the undoing or redoing, at a whole step

    def __init__(
        self,
        service: StepService,
        *,
        document: Callable[[], int | None],
        name_of: Callable[[str], str],
        writable: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("History of steps"), parent)
        self._service, self._document, self._writable = service, document, writable
        self._name_of = lru_cache(maxsize=4096)(name_of)
        self.side = Worker(self)  # reads the mentions of a step
        self.filters = StepFilters(self)
        self.here: int | None = None  # the number of the last step not undone
        self.beyond: Operation | None = None  # where the next page begins
        self.table: RecordTable[Step] = RecordTable(
            tr("Steps of the project"),
            step_columns(lambda: self.here),
            wide=TEXT,
            least=LEAST,
            sortable=False,
            parent=self,
        )
        self.model = self.table.lines
        self.empty = EmptyPage("", parent=self)
        self.empty.hide()
        self.about = ElidedLabel(muted=True, parent=self)
        self.mentions = KwicList(tr("Mentions of the step in their contexts"), self)
        self.go = button(tr("&Go to the mention"), self._go, parent=self)
        self.journey = button(tr(BACK), self._journey, parent=self)
        self.stop = button(tr("&Stop"), self.stop_wanted.emit, parent=self)
        self.stop.hide()
        self.state = ElidedLabel(muted=True, parent=self)
        self._loading = False
        self._typing = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._resting = QTimer(self, singleShot=True, interval=RESTING_MS)
        self._compose()
        self._connect()
        self.reload()
        self.resize(1080, 720)

    def _compose(self) -> None:
        below = pane(self.about, (self.mentions, 1), parent=self, spacing=4)
        self.parts = splitter(self.table, below, parent=self, sizes=(420, 220), stretch=(2, 1))
        actions = FlowRow(self.go, self.journey, self.stop, self.state)
        self.body.addLayout(column(self.filters, (self.parts, 1), (self.empty, 1), actions, spacing=8), 1)

    def _connect(self) -> None:
        self._typing.timeout.connect(self.reload)
        self._resting.timeout.connect(lambda: self._ask_mentions(enter=False))
        self.filters.changed.connect(self.reload)
        self.filters.typed.connect(self._typing.start)
        self.filters.words.returnPressed.connect(self.table.begin)
        self.model.more_wanted.connect(self._load_more)
        self.table.chosen.connect(lambda: self._ask_mentions(enter=True))
        self.table.selectionModel().currentRowChanged.connect(lambda: self._moved())
        self.mentions.previewed.connect(self.mention_wanted)
        self.mentions.pressed.connect(self._pressed)
        self.finished.connect(self.side.close)

    # --- rows ---

    @property
    def step(self) -> Step | None:
        """The current one."""
        return self.table.current

    def reload(self) -> None:
        """Load steps, newest first, in a worker thread; the current step is kept if it is listed."""
        page, actors = self._page(None), self._service.actors
        self._loading = True
        self.worker.ask(lambda: (page(), actors()), self._begin, failed=self._failed)

    def _failed(self) -> None:
        self._loading = False

    def _load_more(self) -> None:
        if self._loading:  # the first page is read again with the number of later rows
            return
        self.worker.ask(self._page(self.beyond), self._add)

    def _add(self, page: StepPage, *, first: bool = False) -> None:
        self.here, self.beyond = page.here, page.beyond
        (self.model.show_rows if first else self.model.add_rows)(page.steps, more=page.beyond is not None)

    def _page(self, after: Operation | None) -> Callable[[], StepPage]:
        where, page = self.filters.narrowed(self._document()), self._service.page
        return lambda: page(where, limit=PAGE, after=after)

    def _begin(self, found: tuple[StepPage, list[str]]) -> None:
        self._loading = False
        page, actors = found
        current = self.step
        self.filters.offer(actors)
        self._add(page, first=True)
        rows = self.model.rowCount()
        if rows:
            self.go_to(current.number if current is not None else page.here)
        self.state.set_words(tr(OPENS) if rows else "")
        narrowed = self.filters.narrowed(self._document())
        first = not (narrowed.words or narrowed.actor or narrowed.kinds or narrowed.document_id)
        self.empty.say(*((tr(NOTHING), tr(LISTED)) if first else (tr(NONE), tr(LESS))))
        self.empty.stand_in(self.parts, empty=not rows, then=self.filters.words)
        self._moved()

    def go_to(self, number: int | None) -> None:
        """Select a step by its number; the newest if it is not listed."""
        self.table.go_to(self.model.place(lambda one: one.number is not None and one.number == number) or 0)

    # --- the mentions of a step ---

    def _moved(self) -> None:
        step = self.step
        there = step is not None and step.number is not None
        self.go.setEnabled(there)
        self.journey.setText(tr(FORTH if step is not None and step.state is StepState.REDOABLE else BACK))
        elsewhere = step is not None and step.number != self.here
        reached = step is not None and step.state in (StepState.DONE, StepState.REDOABLE)
        self.journey.setEnabled(self._writable and there and elsewhere and reached)
        self._resting.start()

    def _ask_mentions(self, *, enter: bool) -> None:
        """List the mentions below, read in a thread; with `enter` they get the keyboard focus and the first is
        previewed."""
        self._resting.stop()
        step, service = self.step, self._service
        if step is None or (number := step.number) is None:
            self._show(_Shown(step, (), 0, False) if step is not None else None)
            return

        def work() -> _Shown:
            try:
                contexts, beyond = service.contexts(number)
            except UserError:  # it is gone after a restoration of the project
                contexts, beyond = [], 0
            return _Shown(step, tuple(contexts), beyond, enter)

        self.side.ask(work, self._show)

    def _show(self, found: _Shown | None) -> None:
        if found is None or found.step != self.step:
            self.about.set_words("")
            self.mentions.show_rows([])
            return
        listed, step = len(found.contexts), found.step
        self.mentions.set_empty_words(tr(OF_IMPORT) if step.number is None else tr(NO_MENTIONS))
        about = ntr("{n} mention", "{n:,} mentions", listed) if listed else ""
        if found.beyond:
            about = tr(MORE, listed=listed, every=listed + found.beyond)
        self.about.set_words(" · ".join(one for one in (step.text, about) if one))
        self.mentions.show_rows([KwicRow(self._verdict(one), one, CheckMark.NONE) for one in found.contexts])
        if found.enter and listed:
            self.mentions.setFocus(Qt.FocusReason.OtherFocusReason)
            self.mentions.rest()
        elif found.enter and step.number is not None:
            self.document_wanted.emit(step.number)

    def _verdict(self, one: MentionContext) -> str:
        """The mention's current verdict."""
        if one.verdict is None:
            return tr("undecided")
        return verdict_words(one.verdict, {each: self._name_of(each) for each in one.verdict.entity_ids})

    def _go(self) -> None:
        step = self.step
        if (place := self.mentions.place) is not None:
            self.open_wanted.emit(*place)
        elif step is not None and step.number is not None:
            self.document_wanted.emit(step.number)

    def _pressed(self, key: int) -> None:
        acts: dict[int, Any] = {
            Qt.Key.Key_Return: self._go,
            Qt.Key.Key_Enter: self._go,
            Qt.Key.Key_Escape: lambda: self.table.setFocus(Qt.FocusReason.OtherFocusReason),
        }
        if (act := acts.get(key)) is not None:
            act()

    # --- back and forth ---

    def _journey(self) -> None:
        step = self.step
        if step is not None and step.number is not None:
            self.say("")
            self.journey_wanted.emit(step.number)

    def show_way(self, progress: Progress | None) -> None:
        """Show the progress of a journey, with a button that stops it; None at its end."""
        self.stop.setVisible(progress is not None)
        if progress is not None:
            self.say(tr(WAY, done=progress.done, total=progress.total))
