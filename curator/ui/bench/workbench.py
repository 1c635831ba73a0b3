"""An open project: queue at the left, text in the middle, the mention at the right, background work at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from curator.commands.command import WindowState
from curator.domain.decisions import Outcome, Verdict
from curator.domain.entities import EntityMatch
from curator.domain.suggestions import CandidateOrder
from curator.services.queue.seat import Seat
from curator.ui.bench.decision_guard import DecisionGuard
from curator.ui.bench.effort_meter import EffortMeter
from curator.ui.bench.hierarchy_side import HierarchySide
from curator.ui.bench.likely_type import LikelyType
from curator.ui.bench.mention_editor import MentionEditor, TypePicker
from curator.ui.bench.relation_desk import RelationDesk
from curator.ui.bench.text_tools import TextTools
from curator.ui.bench.window_layout import MOVED
from curator.ui.candidates.candidate_panel import CandidatePanel
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import EntitySearch
from curator.ui.deciding.candidate_desk import CandidateDesk
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.group_decider import GroupDecider
from curator.ui.deciding.navigator import Navigator
from curator.ui.deciding.reason_strip import ReasonStrip
from curator.ui.document.document_find import FindBar
from curator.ui.document.document_view import DocumentView
from curator.ui.jobs.jobs import Jobs
from curator.ui.jobs.jobs_bar import BottomBar
from curator.ui.kit.compose import column, splitter
from curator.ui.kit.form import guard_from_wheel
from curator.ui.kit.notices import Notices
from curator.ui.kit.sight import Glance, Sight
from curator.ui.kit.sizing import USUAL_LINE
from curator.ui.kit.window_calls import LATE_MS, Bridge, Later
from curator.ui.kit.worker import join_left
from curator.ui.panels.guidelines_panel import GuidelinesPanel
from curator.ui.panels.history_panel import HistoryPanel, HistorySide
from curator.ui.panels.notes import CommentsPanel, CommentStrip, Noter
from curator.ui.queue.document_header import DocumentHeader
from curator.ui.queue.queue_panel import QueuePanel

if TYPE_CHECKING:
    from curator.bootstrap import Project

LEFT, RIGHT = 260, 400
"""Widths of the side columns in a window of at least WIDE pixels; in narrower windows all columns shrink."""
WIDE = 1440
LEAST_LEFT, LEAST_RIGHT = 220, 320
MOST_LEFT, MOST_RIGHT = 0.24, 0.36
"""The greatest shares of the side columns, which grow with larger fonts; the text keeps the largest part."""
RIGHT_ROWS = (720, 150)
"""Candidates and history."""


class Workbench(QWidget):
    """The widgets of one project and their controllers; `Refresher` keeps them up to date."""

    state_changed = Signal()

    def __init__(self, project: Project, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.project = project
        self.bridge = Bridge(self)
        self.jobs = Jobs(self.bridge, project.jobs)
        self.notices = Notices(self)
        self.navigator = Navigator(project.queue, project.suggestions, self)
        self.glance = Glance(Sight.of_process())
        self.meter = EffortMeter(project.efforts, self)
        judged, took = self.bridge.tell_change, self.meter.took
        self.decider = Decider(project.seat, self.navigator, self, glance=self.glance, judged=judged, took=took)
        self.noter = Noter(project.notes, project.curation, self.navigator, self.decider, self)
        self.many = GroupDecider(project, self.decider, self.navigator, self.jobs, self, glance=self.glance)
        self.usual_type = ""
        self._lates: list[Later] = []
        self.state_later = self.later(self.state_changed.emit)  # of another mention, which is painted first
        self._interrupted = self._judging = False
        self.drafting = False  # the form of a new entity is shown instead of the candidates
        self._verdicts = 0
        self._make_widgets()
        self._compose()
        self._make_text_tools()
        self._connect()
        self.hierarchy = HierarchySide(self)
        self.relations = RelationDesk(self)
        self.likely_type = LikelyType(self)
        self.guard = DecisionGuard(self)
        guard_from_wheel(self)

    def _make_widgets(self) -> None:
        lookup = self.project.knowledge.entity
        self.queue = QueuePanel(self)
        self.header = DocumentHeader(self)
        self.document = DocumentView(self)
        self.candidates = CandidatePanel(lookup, self)
        self.candidates.set_writable(not self.project.read_only)
        knowledge, contrasts = self.project.knowledge, self.project.contrasts
        self.desk = CandidateDesk(self.candidates, self.document, self.navigator, knowledge, contrasts, self)
        self.search = SearchPane(EntitySearch(self._find, self._meant), lookup, self, glance=self.glance)
        self.desk.follow(self.search.card)
        self.history = HistoryPanel(self)
        self.comments = CommentsPanel(self)
        self.comments.set_writable(not self.project.read_only)
        self.comment_strip = CommentStrip(self)
        self.guidelines = GuidelinesPanel(
            self.project.guidelines, writable=not self.project.read_only, images=self.project.folder, parent=self
        )
        self.guidelines.hide()
        self.reasons = ReasonStrip(self)
        self.types = TypePicker(self)
        self.bottom = BottomBar(self.jobs, self.notices, self)
        self.find_bar = FindBar(self)

    def _compose(self) -> None:
        middle = QWidget(self)
        parts = (self.header, self.find_bar, (self.document, 3), (self.many.strip, 2))
        self.middle = column(*parts, of=middle, spacing=0)
        self.side = QStackedWidget(self)
        self.side.addWidget(self.candidates)
        self.side.addWidget(self.search)
        sides = (500, 320)
        self.reading = splitter(middle, self.guidelines, parent=self, sizes=sides, stretch=(1,), across=True)
        below = HistorySide(self.history, self.comments, self)
        self.right = splitter(self.side, below, parent=self, sizes=RIGHT_ROWS, stretch=(1,))
        columns = (self.queue, self.reading, self.right)
        self.splitter = splitter(*columns, parent=self, sizes=(1, 1, 1), stretch=(0, 1, 0), across=True)
        for part, name in ((self.reading, "reading"), (self.right, "side"), (self.splitter, "columns")):
            part.setObjectName(name)  # named parts are saved: see window_layout
        self._fit_columns(WIDE)
        self.line = QStackedWidget(self)
        self.line.addWidget(self.bottom)
        self.line.addWidget(self.reasons)
        self.line.addWidget(self.comment_strip)
        self.line.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)  # as tall as its tallest page
        column((self.splitter, 1), self.line, of=self, spacing=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.splitter.property(MOVED):  # sizes set by the curator are kept
            self._fit_columns(event.size().width())

    def event(self, event: QEvent) -> bool:
        """Keys for the sample of bulk acceptance are no shortcuts, wherever the keyboard focus is."""
        typed = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if typed and self.many.takes(cast(QKeyEvent, event)):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.many.takes(event):
            self.many.take(event)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "splitter") and not self.splitter.property(MOVED):
            self._fit_columns(self.width())

    def reset_layout(self) -> None:
        """The columns and the side as at the first start."""
        self._fit_columns(self.width())
        self.right.setSizes(RIGHT_ROWS)

    def _fit_columns(self, width: int) -> None:
        larger = max(self.fontMetrics().height() / USUAL_LINE, 1.0)
        left, right = (
            max(least, min(int(usual * larger * min(width / WIDE, 1.0)), int(width * most)))
            for usual, least, most in ((LEFT, LEAST_LEFT, MOST_LEFT), (RIGHT, LEAST_RIGHT, MOST_RIGHT))
        )
        self.splitter.setSizes([left, max(width - left - right, 1), right])

    def _find(self, query: str) -> Sequence[EntityMatch]:
        """Called in a background thread. The mention's types first; for an empty query, the last linked."""
        mention, opened, knowledge = self.navigator.mention, self.navigator.opened, self.project.knowledge
        if not query:
            return knowledge.recent()
        if mention is None or opened is None:
            return knowledge.search(query)
        return knowledge.search(query, mention_type=mention.mention.type, likely=opened.linked())

    def _meant(self, text: str, wanted: Callable[[], bool]) -> Sequence[EntityMatch]:
        """Called in a background thread. The linker's candidates for a text, as a mention of the current one's type;
        none where a curator is to decide without suggestions."""
        if not self.aided:
            return ()
        mention = self.navigator.mention
        kind = mention.mention.type if mention is not None else ""
        return self.project.reconciliation.meant(text, mention_type=kind, wanted=wanted)

    def search_everywhere(self) -> EntitySearch:
        """A search for an entity without regard to the current mention, for other windows."""
        knowledge, reconciliation = self.project.knowledge, self.project.reconciliation
        return EntitySearch(
            lambda query: knowledge.search(query) if query else knowledge.recent(),
            lambda text, wanted: reconciliation.meant(text, wanted=wanted),
        )

    def _connect(self) -> None:
        self.queue.document_activated.connect(self._open)
        self.queue.mention_activated.connect(self._open)
        self.queue.filter_changed.connect(lambda where: self.navigator.set_filter(where, self.queue.documents))
        self.queue.work_changed.connect(self.navigator.set_work)
        self.navigator.work_wanted.connect(self.queue.renew_work)
        self.document.mention_activated.connect(self.navigator.select)
        self.document.mention_double_clicked.connect(self.search_text)
        self.candidates.candidate_chosen.connect(self._link_candidate)
        self.candidates.first_entered.connect(lambda one: self.many.press(lambda: self.decider.link_first(one)))
        self.candidates.nil_chosen.connect(lambda: self.ask_reason(Outcome.NIL))
        self.search.linked.connect(self.link_found)
        self.search.added.connect(lambda entity: self._found(entity, self.decider.also))
        self.search.left.connect(self.focus_document)
        self.comment_strip.written.connect(self._comment_written)
        self.comment_strip.left.connect(lambda: self.line.setCurrentWidget(self.bottom))
        self.comments.deleted.connect(self.noter.delete_comment)
        self.guidelines.closed.connect(self.focus_document)
        for signal in (self.navigator.mention_changed, self.navigator.content_changed):
            signal.connect(lambda: self.noter.show_in(self.comments))
        self.notices.changed.connect(self.state_changed)
        self.bottom.notice.left.connect(self.focus_document)
        self.many.closed.connect(self.focus_document)
        self.many.keyboard.connect(self.state_changed)
        self.many.in_sight_wanted.connect(lambda: self.document.set_current(self.navigator.mention_id))
        self.reasons.chosen.connect(self._reason_chosen)
        self.reasons.repeated.connect(self.many.usual)
        self.reasons.left.connect(lambda: self.line.setCurrentWidget(self.bottom))
        self.types.chosen.connect(self._type_chosen)
        for part in (self.navigator, self.decider, self.queue, self.desk, self.many, self.guidelines):
            part.said.connect(self.say)
        self.decider.refused.connect(self.say)
        self.bridge.stepped.connect(lambda change: self.say(change.text))

    def _make_text_tools(self) -> None:
        """Create the tools for the text and its mentions; the focus mode leaves text and candidates."""
        self.document.set_editable(not self.project.read_only)
        editor = MentionEditor(self.navigator, self.decider, self.document)
        history = self.right.widget(1)
        others = (self.queue, self.header, *((history,) if history is not None else ()))
        self.text = TextTools(self.document, self.find_bar, self.navigator, editor, others=others, say=self.say)

    def known_types(self) -> dict[str, int]:
        """Types of the project's mentions with their numbers, and those of the knowledge base."""
        info = self.project.knowledge.info()
        return dict.fromkeys(info.types if info is not None else (), 0) | self.project.queue.mention_types()

    def later(self, act: Callable[[], None], *, ms: int = LATE_MS) -> Later:
        """Run background work that no key waits for; it ends with the project."""
        self._lates.append(Later(self, act, ms=ms))
        return self._lates[-1]

    def say(self, words: str) -> None:
        """Show a message in the bottom line."""
        self.bottom.say(words)

    # --- what the parts ask for ---

    def _open(self, document_id: int, mention_id: int | None = None) -> None:
        self.navigator.open(document_id, mention_id)
        self.focus_document()

    def search_text(self, mention_id: int | None = None) -> None:
        """Search the knowledge base for the text of a mention, which becomes the current one."""
        if mention_id is not None:
            self.navigator.select(mention_id)
        view = self.navigator.mention
        self.start_search(view.mention.text if view is not None else "")

    def start_search(self, text: str = "", *, adding: bool = False) -> None:
        self.show_search(True)
        self.search.start(text, adding=adding)

    def link_found(self, entity_id: str) -> None:
        """Link the mention to an entity from the search or the hierarchy, and go back to the text."""
        self._found(entity_id, self._link)

    def _found(self, entity_id: str, act: Callable[[str], None]) -> None:
        if self.navigator.mention is not None and not self.project.read_only:
            if not self.decider.ready():  # a second press here decides
                return
            act(entity_id)
        self.focus_document()

    def ask_comment(self, *, on_document: bool) -> None:
        if not self.project.read_only and self.noter.ask_comment(self.comment_strip, on_document=on_document):
            self.line.setCurrentWidget(self.comment_strip)
            self.comment_strip.line.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _comment_written(self, words: str) -> None:
        self.line.setCurrentWidget(self.bottom)
        self.noter.write_comment(words)

    def ask_reason(self, outcome: Outcome) -> None:
        if not self.project.read_only and self.decider.ready():
            self.line.setCurrentWidget(self.reasons)
            self.reasons.ask(outcome)

    def _reason_chosen(self, verdict: Verdict) -> None:
        self.line.setCurrentWidget(self.bottom)
        self.decider.decide(verdict)

    def _link_candidate(self, entity_id: str) -> None:
        row = self.candidates.model.row_of(entity_id)
        if row is not None:
            self.many.press(lambda: self.decider.link_candidate(row, entity_id))

    def _link(self, entity_id: str) -> None:
        self.many.press(lambda: self.decider.link(entity_id))

    def _type_chosen(self, mention_type: str) -> None:
        selection = self.document.selection
        self.usual_type = mention_type
        if selection is not None:
            self.decider.add_mention((selection,), mention_type)
            self.document.clear_selection()
        self.focus_document()

    # --- the keyboard ---

    def focus_document(self) -> None:
        """Focus the text, with the candidates next to it."""
        self.show_search(False)
        self.document.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_search(self, shown: bool) -> None:
        self.side.setCurrentWidget(self.search if shown else self.candidates)
        self.state_changed.emit()

    @property
    def searching(self) -> bool:
        return self.side.currentWidget() is self.search

    def next_pane(self) -> None:
        every = (self.document, self.queue.list, self.side_focus(), self.history.list)
        panes = [pane for pane in every if pane.isVisibleTo(self)]
        at = next((i for i, pane in enumerate(panes) if pane.hasFocus()), -1)
        panes[(at + 1) % len(panes)].setFocus(Qt.FocusReason.TabFocusReason)

    def side_focus(self) -> QWidget:
        return self.hierarchy.focus or (self.search.panel.line if self.searching else self.candidates.list)

    # --- what is worked on ---

    def work_with(self, seat: Seat) -> None:
        """Switch the window to another seat: of a round, of an adjudication, or of the project. The caller updates the
        queue."""
        self.navigator.use(seat)
        self.decider.seat = seat

    @property
    def aided(self) -> bool:
        """Whether the linker may suggest entities for a text: not in rounds, where it could give the project's
        decisions away, nor for a held-out mention."""
        mention = self.navigator.mention
        return not (self._judging or (mention is not None and mention.held_out))

    @property
    def judging(self) -> bool:
        return self._judging

    def set_judging(self, judging: bool) -> None:
        """Set whether decisions are judgements in a round, which disables commands that act on the project."""
        self._judging = judging
        self.many.set_alone(judging)
        self.state_changed.emit()

    # --- the state ---

    @property
    def state(self) -> WindowState:
        """The window's state, which enables commands."""
        view, project = self.navigator.mention, self.project
        suggestion = view.suggestion if view is not None else None
        writable = not project.read_only
        return WindowState(
            project=True,
            writable=writable,
            knowledge_base=project.knowledge.info() is not None,
            document=self.navigator.opened is not None,
            mention=view is not None,
            decided=view is not None and view.decision is not None,
            complete=self.navigator.complete,
            candidates=len(suggestion.candidates) if suggestion is not None else 0,
            nil_suggested=suggestion is not None and suggestion.nil.is_nil,
            shuffled=self.navigator.candidate_order is CandidateOrder.SHUFFLED,
            selection=self.document.selection is not None,
            can_undo=writable and self.decider.curation.can_undo(),
            can_redo=writable and self.decider.curation.can_redo(),
            job_running=len(self.jobs) > 0,
            importing=self.jobs.importing,
            interrupted=self._interrupted,
            judging=self._judging,
            drafting=self.drafting,
            verdicts=self._verdicts,
            unread=len(self.notices),
            conflicts=len(project.team.collisions),
            results=self.notices.any,
        )

    def set_drafting(self, drafting: bool) -> None:
        """Set whether the form of a new entity is shown, which disables the deciding keys."""
        if drafting != self.drafting:
            self.drafting = drafting
            self.state_changed.emit()

    def set_verdicts(self, number: int) -> None:
        """Set the number of curators' verdicts that digit keys can choose; 0 while their list has no focus."""
        if number != self._verdicts:
            self._verdicts = number
            self.state_changed.emit()

    def set_interrupted(self, interrupted: bool) -> None:
        """Set whether a training can be resumed."""
        if interrupted != self._interrupted:
            self._interrupted = interrupted
            self.state_changed.emit()

    def close_project(self) -> None:
        """End its processes and release the lock; later results are not shown."""
        self.bridge.close()
        self.meter.close()
        self.history.stop()
        for one in self._lates:
            one.stop()
        self.queue.close_work()
        self.guidelines.flush()
        self.search.panel.close_search()
        self.likely_type.close()
        self.hierarchy.close()
        self.relations.close()
        self.desk.close()
        join_left()
        self.project.close()
