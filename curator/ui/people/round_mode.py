"""Switches what the window's decisions are: the project's own, judgements in a round, or an adjudication.

Each mode is a `Seat` for the navigator and the decider; everything else stays the same.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from curator.domain.rounds import Round, RoundKind
from curator.domain.wording import DamagedTextError, tr
from curator.services.rounds.adjudication import Adjudication, MentionVerdicts
from curator.services.rounds.round_work import RoundSeat
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.labels import Banner
from curator.ui.kit.mention_state import suggestion_words
from curator.ui.people.adjudication_panel import AdjudicationPanel

JUDGING = (
    "Round “{name}” · you judge as {curator}, independently of everybody else{unaided} · {judged:,} of "
    "{mentions:,} judged{skipped}"
)
UNAIDED = ", without suggestions"
FINISHED = (
    "Round “{name}” · {curator}, all {mentions:,} mentions are judged. Leave the round and let your colleagues know."
)
FINISHED_BUT = (
    "Round “{name}” · {curator}, {judged:,} of {mentions:,} mentions are judged{skipped}. Judge the skipped ones, or "
    "leave the round and let your colleagues know."
)
EMPTY = "Round “{name}” · none of its documents is in the project at the moment. Leave the round."
NO_SUGGESTIONS = "This round is judged without suggestions. Search with / or Space, or decide with N, X or S."
LEFT = "You left the round “{name}”. Your judgements are kept; the project's own decisions are shown again."
ELSEWHERE = (
    "Nothing was resolved: a different mention was current. The judgements are about this one; press the key again."
)
ALL_SETTLED = (
    "All disagreements in “{name}” are resolved. To export the result, use Project › Export gold with "
    "“Adjudicated mentions only”."
)


class RoundMode(QObject):
    """API: `start`, `enter`, `leave`, `adjudicate`. `judging` shows whether decisions are judgements."""

    changed = Signal()

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._seat: RoundSeat | None = None
        self._round: Round | None = None  # that is being adjudicated
        self.banner = Banner("Round", bench)
        self.banner.add_button(tr("Leave the round"), self.leave)
        self.panel = AdjudicationPanel(self._name_of, bench, glance=bench.glance)
        self.panel.hide()
        bench.middle.insertWidget(0, self.banner)
        bench.middle.addWidget(self.panel)
        bench.bridge.stepped.connect(self._decided)
        bench.navigator.content_changed.connect(self._tell)
        bench.navigator.mention_changed.connect(self._tell_suggestion)
        self.panel.settled.connect(self._settle)
        self.panel.adopt_wanted.connect(self._adopt)
        self.panel.step_wanted.connect(self._step)
        self.panel.left.connect(self.end_adjudication)
        self.panel.said.connect(bench.say)
        self.panel.text_wanted.connect(bench.focus_document)
        self.panel.keyboard.connect(bench.set_verdicts)

    @property
    def judging(self) -> bool:
        return self._seat is not None

    @property
    def active(self) -> Round | None:
        """The round being judged or adjudicated."""
        return self._seat.round if self._seat is not None else self._round

    # --- judging ---

    def start(self) -> None:
        """Restore the round in which the curator left the project, if any."""
        found = self._bench.project.rounds.active()
        if found is not None and not self._bench.project.read_only:
            self._take(found)
        elif self._seat is not None:
            self._put_back()
        else:
            self._bench.work_with(self._bench.project.seat)

    def enter(self, found: Round) -> None:
        """Raises UserError for a closed round."""
        self.end_adjudication()
        self._bench.project.rounds.enter(found.id)
        self._take(found)

    def leave(self) -> None:
        if self._seat is not None:
            name = self._seat.round.name
            self._bench.project.rounds.leave()
            self._put_back()
            self._bench.say(tr(LEFT, name=name))
            self._bench.focus_document()

    def _take(self, found: Round) -> None:
        bench = self._bench
        if self._seat is not None:
            self._seat.suggestions.close()
        self._seat = seat = bench.project.rounds.seat(found)
        bench.work_with(seat.for_window)
        bench.queue.set_source(seat.for_window.lists)
        bench.queue.set_counts(seat.queue.counts())
        bench.set_judging(True)
        if found.kind is RoundKind.UNAIDED:
            bench.say(tr(NO_SUGGESTIONS))
        bench.navigator.close()
        bench.navigator.open_first()
        self._tell()
        self.changed.emit()

    def _put_back(self) -> None:
        if self._seat is not None:
            self._seat.suggestions.close()
        self._seat = None
        self.banner.say("")
        bench, project = self._bench, self._bench.project
        bench.set_judging(False)
        bench.work_with(project.seat)
        lists = project.queue.under
        bench.queue.set_source(lists, facets=project.facets, ordering=project.ordering, filters=project.filters)
        bench.queue.set_counts(project.queue.counts())
        self._bench.navigator.close()
        self._bench.navigator.open_first()
        self.changed.emit()

    def _tell(self) -> None:
        if self._seat is None:
            return
        found, progress = self._seat.round, self._seat.queue.progress
        ended = FINISHED_BUT if progress.skipped else FINISHED
        words = tr(EMPTY if not self._seat.queue.count() else ended if progress.done else JUDGING)
        skipped = tr(", {n:,} skipped", n=progress.skipped) if progress.skipped else ""
        self.banner.say(
            words.format(
                name=found.name,
                curator=progress.curator,
                unaided=tr(UNAIDED) if found.kind is RoundKind.UNAIDED else "",
                judged=progress.judged,
                skipped=skipped,
                mentions=progress.mentions,
            )
        )

    # --- adjudicating ---

    def adjudicate(self, found: Round) -> None:
        """Start at the first unsettled mention. Raises UserError for an open round or one with a single curator."""
        bench, service = self._bench, self._bench.project.adjudication
        state = service.of(found.id)
        if self._seat is not None:
            self._bench.project.rounds.leave()
            self._put_back()
        self._round = found
        bench.work_with(service.seat(found, bench.project.suggestions))
        bench.many.set_alone(True)
        self.panel.show()
        self._show(state, state.next())
        self.changed.emit()

    def end_adjudication(self) -> None:
        if self._round is not None:
            self._round = None
            self.panel.hide()
            self._bench.work_with(self._bench.project.seat)
            self._bench.many.set_alone(False)
            self._bench.navigator.reload()
            self._bench.focus_document()
            self.changed.emit()

    def _show(self, state: Adjudication, judged: MentionVerdicts | None, direction: int = 1) -> None:
        """Show a mention that is left, or the next one whose document is not damaged."""
        at = state.left.index(judged) if judged is not None else 0
        order = [*state.left[at:], *state.left[:at]] if direction > 0 else [*state.left[at::-1], *state.left[:at:-1]]
        damaged: set[int] = set()
        for one in order if judged is not None else ():
            if one.document_id in damaged:
                continue
            self.panel.show_adjudication(state, one)
            try:
                self._bench.navigator.open(one.document_id, one.mention.id)
            except DamagedTextError as error:
                self._bench.say(str(error))
                damaged.add(one.document_id)
            else:
                self.panel.list.setFocus()
                return
        self.panel.show_adjudication(state, None)
        if state.done:
            self._bench.say(tr(ALL_SETTLED, name=state.round.name))

    def _tell_suggestion(self) -> None:
        view, shown = self._bench.navigator.mention, self.panel.judged
        here = view is not None and shown is not None and view.mention.id == shown.mention.id
        self.panel.show_suggestion(suggestion_words(view) if view is not None and here else "")

    def _settle(self, mention_id: int, curator: str) -> None:
        assert self._round is not None
        round_id, shown, navigator = self._round.id, self.panel.judged, self._bench.navigator
        if shown is not None and navigator.mention_id != mention_id:
            navigator.open(shown.document_id, mention_id)
            self._bench.say(tr(ELSEWHERE))
            return
        self._bench.decider.several(lambda: self._bench.project.adjudication.settle(round_id, mention_id, curator))

    def _adopt(self) -> None:
        assert self._round is not None
        round_id = self._round.id
        self._bench.decider.several(lambda: self._bench.project.adjudication.adopt_agreed(round_id))

    def _decided(self) -> None:
        """Go to the next disagreement after the current one was settled, by its number or the usual keys."""
        self._tell()
        if self._round is not None:
            shown = self.panel.judged
            self._go_on(shown.mention.id if shown is not None else None)

    def _go_on(self, mention_id: int | None) -> None:
        assert self._round is not None
        state = self._bench.project.adjudication.of(self._round.id)
        shown = self.panel.judged
        if mention_id is not None and mention_id not in state.settled and shown is not None:
            self.panel.show_adjudication(state, shown)  # another mention was decided
        else:
            self._show(state, state.next(mention_id))

    def _step(self, direction: int) -> None:
        assert self._round is not None
        state = self._bench.project.adjudication.of(self._round.id)
        ids = [one.mention.id for one in state.left]
        shown = self.panel.judged
        at = ids.index(shown.mention.id) if shown is not None and shown.mention.id in ids else 0
        if ids:
            self._show(state, state.left[(at + direction) % len(ids)], direction)

    def _name_of(self, entity_id: str) -> str:
        return self._bench.project.knowledge.name_of(entity_id)
