"""Flows of the list of inconsistencies: from a row to its places in the text, marking, settling, reading again."""

from __future__ import annotations

from collections.abc import Sequence

from curator.domain.audit import Inconsistencies, Inconsistency
from curator.domain.decisions import ChangeKind, Verdict
from curator.domain.wording import UserError, tr
from curator.ui.bench.workbench import Workbench
from curator.ui.deciding.mention_listing import ListingFlow, done_words
from curator.ui.inconsistencies.contradiction_line import ContradictionLine
from curator.ui.inconsistencies.inconsistency_window import Hear, InconsistencyWindow
from curator.ui.kit.key_names import place_of

NO_LIST = "The list of inconsistencies is not open: {place} opens it."


class InconsistencyFlows(ListingFlow[InconsistencyWindow]):
    """*Tools > Inconsistencies*, *Next inconsistency*, *Previous inconsistency*."""

    renewing = ListingFlow.renewing | {ChangeKind.NOTES}
    quiet_ms = 1000

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self.line = ContradictionLine(bench)

    def show(self) -> InconsistencyWindow | None:
        """Open at the string of the current mention if its decisions differ."""
        return self.open(lambda window: self._read(window, jump=True))

    def step(self, by: int) -> None:
        """Go to the next or previous place of the open list; the focus stays in the text."""
        if self._window is None:
            self._bench.say(tr(NO_LIST, place=place_of("tools.inconsistencies")))
        elif self._window.step(by):
            self._bench.focus_document()

    def make(self) -> InconsistencyWindow:
        project = self._bench.project
        window = InconsistencyWindow(
            contexts=project.inconsistencies.contexts,
            search=self._bench.search_everywhere(),
            lookup=project.knowledge.entity,
            curator=lambda: project.curation.curator,
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        window.mention_wanted.connect(self.preview)
        window.open_wanted.connect(self.go)
        window.settle_wanted.connect(self._settle)
        window.mark_wanted.connect(self._mark)
        window.reload_wanted.connect(lambda: self._read(window))
        window.said.connect(self.say)
        return window

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
        window.say(done_words(change.text))

    def _settle(self, one: Inconsistency, mention_ids: Sequence[int], to: Verdict) -> None:
        self.settle(lambda: self._bench.project.inconsistencies.settle(one, mention_ids, to))

    def close_windows(self) -> None:
        self.line.close()
        super().close_windows()
