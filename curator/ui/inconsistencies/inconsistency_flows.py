"""Flows of the list of inconsistencies: from a row to its places in the text, marking, settling, reading again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer

from curator.domain.audit import Inconsistencies, Inconsistency
from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.wording import DamagedTextError, UserError, tr
from curator.ui.bench.workbench import Workbench
from curator.ui.deciding.mention_listing import add_undo_key, bring_up
from curator.ui.inconsistencies.contradiction_line import ContradictionLine
from curator.ui.inconsistencies.inconsistency_window import Hear, InconsistencyWindow
from curator.ui.kit.key_names import place_of, way_to

QUIET_MS = 1000
"""Delay after the last change before the list is read again, so that it never happens between two key presses."""
RENEWING = {
    ChangeKind.DECIDED,
    ChangeKind.ENTITIES,
    ChangeKind.MENTIONS,
    ChangeKind.NOTES,
    ChangeKind.KNOWLEDGE_BASE,
}
JUDGING = "In a round you do not see what is decided in the project. Leave the round first."
GONE = "This mention is no longer there. The list is read again."
NO_LIST = "The list of inconsistencies is not open: {place} opens it."


class InconsistencyFlows(QObject):
    """*Tools > Inconsistencies*, *Next inconsistency*, *Previous inconsistency*."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._window: InconsistencyWindow | None = None
        self.line = ContradictionLine(bench)
        self._later = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._later.timeout.connect(self._renew)
        bench.bridge.changed.connect(self._changed)
        bench.bridge.stepped.connect(self._stepped, Qt.ConnectionType.QueuedConnection)  # after the key is answered
        bench.state_changed.connect(self._state_changed)

    def show(self) -> InconsistencyWindow | None:
        """Open at the string of the current mention if its decisions differ. None in a round, where decisions of others
        are hidden."""
        bench = self._bench
        if bench.judging:
            bench.say(tr(JUDGING))
            return None
        window = self._opened()
        self._read(window, jump=True)  # while the window is laid out
        bring_up(window)
        return window

    def step(self, by: int) -> None:
        """Go to the next or previous place of the open list; the focus stays in the text."""
        if self._window is None:
            self._bench.say(tr(NO_LIST, place=place_of("tools.inconsistencies")))
        elif self._window.step(by):
            self._bench.focus_document()

    def _opened(self) -> InconsistencyWindow:
        if self._window is not None:
            return self._window
        project = self._bench.project
        window = InconsistencyWindow(
            contexts=project.inconsistencies.contexts,
            search=self._bench.search_everywhere(),
            lookup=project.knowledge.entity,
            curator=lambda: project.curation.curator,
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        window.mention_wanted.connect(self._preview)
        window.open_wanted.connect(self._go)
        window.settle_wanted.connect(self._settle)
        window.mark_wanted.connect(self._mark)
        window.said.connect(self._say)
        window.finished.connect(lambda _: self._window_gone())
        add_undo_key(window, self._bench, window.say)
        self._window = window
        return window

    def _window_gone(self) -> None:
        self._window = None

    def _read(self, window: InconsistencyWindow, *, jump: bool = False) -> None:
        service, said = self._bench.project.inconsistencies, self.line.mention_id
        mention_id = said if said is not None else self._bench.navigator.mention_id

        def find(hear: Hear | None) -> tuple[Inconsistencies, Inconsistency | None]:
            if hear is not None:
                hear(service.find_first())
            every = service.find()
            here = None
            if jump and mention_id is not None:
                every, here = service.of_string(mention_id, every)
            listed = here is not None and any(one.scope == here.scope for one in every.rows)
            return every, here if listed or said is not None else None

        window.read(find, jump=jump)

    # --- steps ---

    def _mark(self, one: Inconsistency, intended: bool) -> None:
        window, service = self._window, self._bench.project.inconsistencies
        if window is None:
            return
        try:
            change = service.mark(one, intended=intended)
        except UserError as error:
            window.say(str(error))
            return
        self._bench.decider.act(lambda: change)
        window.marked(one, intended=intended)
        window.say(tr("{done}. {undo} undoes it.", done=change.text, undo=way_to("edit.undo")))

    def _settle(self, one: Inconsistency, mention_ids: Sequence[int], to: Verdict) -> None:
        """Settle as an undoable step of the window; refusals are shown in it."""
        window, project = self._window, self._bench.project
        if window is None:
            return
        try:
            if refusal := self._bench.many.refusal:
                raise UserError(refusal)
            change = project.inconsistencies.settle(one, mention_ids, to)
        except UserError as error:
            window.back()
            window.say(str(error))
            self._renew()
            return
        self._bench.decider.several(lambda: change)
        window.back()
        window.say(tr("{done}. {undo} undoes it.", done=change.text, undo=way_to("edit.undo")))
        self._renew()

    # --- the mentions ---

    def _preview(self, document_id: int, mention_id: int) -> None:
        """Show a mention in the main window; the focus stays."""
        try:
            self._bench.navigator.open(document_id, mention_id)
        except UserError as error:
            self._say(str(error) if isinstance(error, DamagedTextError) else tr(GONE))
            self._renew()

    def _go(self, document_id: int, mention_id: int) -> None:
        self._preview(document_id, mention_id)
        self._bench.window().raise_()
        self._bench.window().activateWindow()
        self._bench.focus_document()

    def _say(self, words: str) -> None:
        """Show a message in the active window."""
        if self._window is not None and self._window.isActiveWindow():
            self._window.say(words)
        else:
            self._bench.say(words)

    # --- what changes meanwhile ---

    def _stepped(self, change: Change) -> None:
        if self._window is not None and change.kind in RENEWING:
            self._later.start()

    def _changed(self, change: Change) -> None:
        if not self._later.isActive():  # a team never pauses
            self._stepped(change)

    def _renew(self) -> None:
        if self._window is not None and self._window.worker.busy:
            self._later.start()  # what is being read would never be shown while a team works
        elif self._window is not None:
            self._read(self._window)

    def _state_changed(self) -> None:
        """Close the list in a round, where decisions of others are hidden."""
        if self._bench.judging and self._window is not None:
            self._later.stop()
            self._window.done(0)

    def close_windows(self) -> None:
        """Close the windows with the project."""
        self._later.stop()
        self.line.close()
        if self._window is not None:
            self._window.done(0)
