"""Additional data about the current mention, added to the panel after its candidates are painted, so that no key waits
for them.

They are looked up in a background thread when the curator pauses: hidden candidates with reasons, the path up from the
highlighted entity, and the words of the text that distinguish the first two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, CandidateOrder, Contrast
from curator.domain.wording import ntr, tr
from curator.services.knowledge.knowledge import HiddenEntities, KnowledgeService
from curator.services.linking.contrast import ContrastService
from curator.services.queue.queue import MentionView
from curator.tracing import span
from curator.ui.candidates.candidate_contrast import NO_WORDS, WEIGHING, CandidatePair, word_tints
from curator.ui.candidates.candidate_panel import CandidatePanel
from curator.ui.candidates.entity_card import EntityCard
from curator.ui.deciding.navigator import Navigator
from curator.ui.document.document_view import DocumentView
from curator.ui.kit.key_names import place_of, way_to
from curator.ui.kit.window_calls import Later
from curator.ui.kit.worker import Worker

REST_MS = 150
"""Milliseconds before look-ups begin: a curator who moves on sooner does not need them."""
AHEAD_MS = 80
"""Milliseconds: after the work that follows a key's frame, and before most people press the next key."""
NO_PAIR = "There is no second candidate to compare the first with."
ONE_OUTSIDE = (
    "The only candidate is outside the branches that mentions of the type {type} are restricted to. {show} shows it; "
    "{lift} lifts the restriction."
)
ALL_OUTSIDE = (
    "All {n:,} candidates are outside the branches that mentions of the type {type} are restricted to. {show} shows "
    "them; {lift} lifts the restriction."
)
NONE_INSIDE = (
    "The linker found no candidates inside the branches that mentions of the type {type} are restricted to. {lift} "
    "lifts the restriction. Or search the knowledge base with {search}, or press {nil} for NIL."
)
BLIND = "Candidates are shuffled for an evaluation: a comparison would reveal which come first."


SHUFFLED = "Candidates are shuffled and scores are hidden. Each decision records the order you saw."
RANKED = "Candidates are listed best first again."


class CandidateDesk(QObject):
    """Controls the panel's lower half, the hidden candidates and the document's tints."""

    said = Signal(str)

    def __init__(
        self,
        panel: CandidatePanel,
        document: DocumentView,
        navigator: Navigator,
        knowledge: KnowledgeService,
        contrasts: ContrastService,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._panel, self._document, self._at = panel, document, navigator
        self._knowledge, self._contrasts = knowledge, contrasts
        self._close_call = 0.0  # with a smaller lead of the first candidate the comparison is shown
        self._tinted = False
        self._mention: int | None = None
        self._candidates: list[str] = []  # of the current mention
        self._hidden = HiddenEntities()
        self._lookups, self._paths = Worker(self), Worker(self)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._look_up)
        self._path_rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._path_rest.timeout.connect(self._look_up_path)
        self._ahead: list[MentionView] = []  # to be prepared
        self._soon = Later(self, self._find_ahead, ms=AHEAD_MS)
        self._next = Later(self, self._prepare, ms=0)
        self._card = panel.card  # the card whose path is being read
        navigator.mention_changed.connect(self._mention_changed)
        self.follow(panel.card)
        panel.hidden_toggled.connect(self.toggle_hidden)

    def follow(self, card: EntityCard) -> None:
        """Look up the path from the entity on this card to the top."""

        def shown() -> None:
            self._card = card
            self._path_rest.start()

        card.entity_changed.connect(shown)

    def close(self) -> None:
        """Stop reading; called before the project is closed."""
        for timer in (self._rest, self._path_rest, self._soon, self._next):
            timer.stop()
        self._contrasts.cancel()
        self._panel.card.stop()
        self._lookups.close()
        self._paths.close()

    # --- what the curator asks for ---

    def set_close_call(self, percent: int) -> None:
        """Compare the first two automatically if the first leads by at most this many points of probability; 0:
        never."""
        self._close_call = percent / 100
        self._mention_changed(again=True)

    @property
    def order_words(self) -> str:
        return tr(SHUFFLED) if self._at.candidate_order is CandidateOrder.SHUFFLED else tr(RANKED)

    def toggle_contrast(self) -> None:
        """Compare the first two candidates, or go back to the highlighted one's record."""
        if self._panel.contrasting:
            self._leave_contrast()
        elif self._at.candidate_order is CandidateOrder.SHUFFLED:
            self.said.emit(tr(BLIND))
        elif not self._contrast():
            self.said.emit(tr(NO_PAIR))

    def toggle_tints(self) -> None:
        """Tint the words of the text by the candidate they support; compares the two if necessary."""
        if self._tinted:
            self._tinted = False
            self._document.set_tints(())
            return
        if not self._panel.contrasting:
            self.toggle_contrast()
        if self._panel.contrasting:
            self._tinted = True
            self._tint(say=True)

    def toggle_hidden(self) -> None:
        """Unfold the candidates beyond the limit and those of other types, or fold them again; for a held-out mention,
        show its suggestions."""
        if self._at.mention is not None and self._at.mention.held_out:
            self._at.reveal()
        elif self._at.beyond_limit or self._hidden.others:
            self._at.unfold(not self._at.unfolded)
            if self._at.unfolded:
                self._panel.bring_into_sight(self._at.limit)

    # --- inside ---

    @Slot()
    def _mention_changed(self, *, again: bool = False) -> None:
        view = self._at.mention
        number = view.mention.id if view is not None else None
        found = view.suggestion if view is not None else None
        ids = [one.entity_id for one in found.candidates] if found is not None else []
        if ids != self._candidates:  # also for the same mention: it may have been restricted to branches
            self._candidates = ids
            self._rest.start()
        self._next.stop()
        self._soon.start()
        if again or number != self._mention:
            self._mention = number
            self._hidden = HiddenEntities()
            self._contrasts.cancel()
            self._document.set_tints(())
            self._leave_contrast()
            self._rest.start()
            if view is not None and self._is_close(view):
                self._contrast()
        self._show_hidden()

    def _is_close(self, view: MentionView) -> bool:
        found = view.suggestion
        if found is None or view.decision is not None or self._at.candidate_order is CandidateOrder.SHUFFLED:
            return False
        lead = found.chance_margin
        told = len(found.candidates) > 1 and found.candidates[0].probability > 0.0
        return told and lead is not None and lead < self._close_call

    def _show_hidden(self) -> None:
        at = self._at
        others = self._hidden.others
        row = self._panel.hidden_row
        outside = self._hidden.outside
        row.show_counts(below=at.beyond_limit, others=len(others) - outside, unfolded=at.unfolded, outside=outside)
        self._panel.say_of_none(self._none_words())
        extent = replace(
            self._panel.extent,
            limit=at.limit,
            others=others if at.unfolded else (),
            gone=self._hidden.gone,
            blind=at.candidate_order is CandidateOrder.SHUFFLED,
        )
        self._panel.set_extent(extent)

    def _none_words(self) -> str:
        """Why there are no candidates, if branches are the reason; else ''."""
        view, hidden = self._at.mention, self._hidden
        if view is None or not hidden.restricted:
            return ""
        kind, lift = view.mention.type, place_of("tools.branches")
        if hidden.outside:
            show = way_to("mention.hidden")
            return ntr(ONE_OUTSIDE, ALL_OUTSIDE, hidden.outside, type=kind, show=show, lift=lift)
        return tr(NONE_INSIDE, type=kind, lift=lift, search=way_to("mention.search"), nil=way_to("mention.nil"))

    @Slot()
    def _look_up(self) -> None:
        view = self._at.mention
        if view is None:
            return
        found = view.suggestion
        text = found.expanded if found is not None and found.expanded else view.mention.text
        kind, number = view.mention.type, view.mention.id
        ids = [one.entity_id for one in found.candidates] if found is not None else []

        def done(hidden: HiddenEntities) -> None:
            now = self._at.mention
            if self._mention == number and now is not None and not now.held_out:
                self._hidden = hidden
                self._show_hidden()

        self._lookups.ask(lambda: self._knowledge.hidden(text, kind, ids), done)
        if self._panel.contrasting:
            self._weigh()

    @Slot()
    def _look_up_path(self) -> None:
        card, entity = self._card, self._card.entity
        if entity is None or not entity.parents:
            return

        def done(path: Sequence[Entity]) -> None:
            card.show_path(entity.id, path)

        self._paths.ask(lambda: self._knowledge.path(entity), done)

    # --- what the next key shows ---

    def _find_ahead(self) -> None:
        self._ahead = self._at.ahead()
        self._prepare()

    def _prepare(self) -> None:
        """Prepare one mention at a time, so that a key waits for at most one."""
        with span("prepare what may come next"):
            self._prepare_one()

    def _prepare_one(self) -> None:
        if self._ahead:
            self._panel.prepare(self._ahead.pop(0))
            self._next.start()
        elif (opened := self._at.document_ahead()) is not None:
            self._document.prepare(opened.document)
            if (view := self._at.entry_of(opened)) is not None:
                self._panel.prepare(view)

    # --- the comparison ---

    def _contrast(self) -> bool:
        pair = self._pair()
        if pair is None:
            return False
        self._panel.contrast.show_pair(pair, words=tr(WEIGHING))
        self._panel.show_contrast(True)
        self._rest.start()
        return True

    def _leave_contrast(self) -> None:
        if self._panel.contrasting:
            self._panel.show_contrast(False)
        self._tinted = False
        self._document.set_tints(())

    def _pair(self) -> CandidatePair | None:
        """The two likeliest candidates that the knowledge base still has."""
        found = self._at.mention.suggestion if self._at.mention is not None else None
        if found is None:
            return None
        ranked: list[Candidate] = list(found.candidates[:2])
        records = [one for candidate in ranked if (one := self._knowledge.entity(candidate.entity_id)) is not None]
        return CandidatePair(*records) if len(records) == 2 else None

    def _weigh(self) -> None:
        pair, opened, view = self._panel.contrast.pair, self._at.opened, self._at.mention
        if pair is None or opened is None or view is None or self._panel.contrast.contrast is not None:
            return
        answered = self._lookups.reporter(self._show_weighed)  # called in the linker's thread
        self._contrasts.ask(opened, view.mention.id, pair.ids, then=answered)

    def _show_weighed(self, answer: Contrast | str) -> None:
        opened = self._at.opened
        if isinstance(answer, str):
            self._panel.contrast.say(answer)
        elif opened is not None and answer.mention_id == self._mention:
            self._panel.contrast.show_words(answer, opened.document.text)
            self._tint(say=False)

    def _tint(self, *, say: bool) -> None:
        card = self._panel.contrast
        if not self._tinted or card.pair is None or card.contrast is None:
            return
        tints = word_tints(card.contrast, card.pair)
        self._document.set_tints(tints)
        if say and not tints:
            self.said.emit(tr(NO_WORDS))
