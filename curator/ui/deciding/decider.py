"""The actions of the deciding keys: each is short, painted at once, on disk moments later, and followed by the next
undecided mention.

Every action first checks that its mention, and the candidate it links to, were on the screen before the key was pressed
(`Glance`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from curator.domain.decisions import Change, ChangeKind, Outcome, Shown, Verdict
from curator.domain.documents import DocumentState, Span
from curator.domain.suggestions import CandidateOrder, Doubt
from curator.domain.wording import UserError, ntr, tr
from curator.services.curating.deciding import shown_of
from curator.services.queue.queue import MentionView
from curator.services.queue.seat import Curation, Seat
from curator.ui.deciding.navigator import Navigator
from curator.ui.kit.key_names import way_to
from curator.ui.kit.mention_state import decision_words
from curator.ui.kit.row_list import figure
from curator.ui.kit.sight import Glance

DOCUMENT_DECIDED = "Every mention of this document is decided."
DOCUMENT_SKIPPED = "Every mention of this document is decided except {n:,} that is skipped."
DOCUMENT_SKIPPED_MANY = "Every mention of this document is decided except {n:,} that are skipped."
MARKS_DONE = "{key} marks the document done and opens the next."
LEFT = "{n:,} mention in other documents is undecided."
LEFT_MANY = "{n:,} mentions in other documents are undecided."
NO_FIRST = "Candidates are shuffled, so none is first. Choose one by its number, or press N if none fits."
NOTHING_TO_UNDO = "Nothing to undo."
NOTHING_TO_REDO = "Nothing to redo."
TOO_SOON = "Nothing was decided: “{text}” had only just appeared when you pressed the key. Press it again."
TOO_SOON_HERE = "Nothing was done: the document had only just appeared when you pressed the key. Press it again."
OUT_OF_SIGHT = "Nothing was decided: “{text}” was not in view. It is in view now; press the key again."
IS_DECIDED = "“{text}” is already decided: {decision}. 1–9, N, X or S changes it; {key} goes to the next mention."
IS_SKIPPED = "“{text}” is skipped. 1–9, N or X decides it; {key} goes to the next mention."
SAME = "“{text}” already has this decision. Nothing was changed."
AGAIN_NIL = "Press {key} again to mark “{text}” NIL: NIL is suggested ({nil}). {one} links it to {first}."
AGAIN_ONLY_NIL = "Press {key} again to mark “{text}” NIL: NIL is suggested ({nil})."
AGAIN_DESPITE = "Press {key} again to link “{text}” to {first} ({chance}), although NIL is suggested ({nil})."
AGAIN_LINK = "Press {key} again to link “{text}” to {first} ({chance}), although NIL is more probable ({nil})."
AGAIN_UNLIKELY = "Press {key} again to link “{text}” to {first}, although its probability is only {chance}."
EXCLUDED = "The filter excludes “{text}”, so nothing was decided. Press the key again to decide it anyway."


def mention_key(mention_id: int) -> Hashable:
    """The key of a framed mention in the text, for `Glance`."""
    return "mention", mention_id


def document_key(document_id: int) -> Hashable:
    return "document", document_id


def candidate_key(mention_id: int, row: int, entity_id: str) -> Hashable:
    """The key of a candidate's row for this mention and entity."""
    return "candidate", mention_id, row, entity_id


def nil_key(mention_id: int) -> Hashable:
    """The key of the NIL row with a NIL suggestion for this mention."""
    return "nil", mention_id


def said_key(words: str) -> Hashable:
    """The key of a sentence in the bottom line."""
    return "said", words


@dataclass(frozen=True, slots=True)
class Revision:
    """Another person's or an imported decision that is about to be changed."""

    view: MentionView
    verdict: Verdict
    stay: bool


@dataclass(frozen=True, slots=True)
class Leftover:
    """A document to mark as done with these undecided mentions and this many skipped ones."""

    document_id: int
    mention_ids: tuple[int, ...]
    every: int
    skipped: int


class Decider(QObject):
    """Decides about the current mention. Decisions record exactly what the panel showed."""

    refused = Signal(str)  # the sentence of a UserError; nothing was changed
    said = Signal(str)
    unseen = Signal(object)  # the item that was not visible: a key of `Glance`
    revision_wanted = Signal(object)  # Revision to confirm
    leftover_wanted = Signal(object)  # Leftover to confirm

    def __init__(
        self,
        seat: Seat,
        navigator: Navigator,
        parent: QObject | None = None,
        *,
        glance: Glance,
        judged: Callable[[Change], None],
        took: Callable[[Change], None],
    ) -> None:
        """`judged` gets judgements in a round, which are not sent on the project's bus. `took` gets every step."""
        super().__init__(parent)
        self.seat = seat
        self._at = navigator
        self._glance = glance
        self._judged, self._took = judged, took
        self.enter_least = 0.0  # below this probability of the first candidate, Enter takes a second press
        self._asked: tuple[int, str] | None = None  # a mention, and what was said of it instead of deciding it
        self._agreed: set[str] = set()  # what was said of the current mention before a second press
        navigator.mention_changed.connect(self._forget_other)

    @property
    def curation(self) -> Curation:
        """The curation in use: the project's, or a round's."""
        return self.seat.curation

    # --- decisions: each gives what it changed, None where nothing was decided ---

    def choose(self, rank: int) -> Change | None:
        """Link to the candidate with this rank; 0 accepts the first suggestion, which may be NIL, for an undecided
        mention. A doubtful one takes a second press."""
        if rank == 0:
            first = self.suggested()
            sure = first is not None and self.saw(first[1]) and self._is_sure(first[0])
            return self.decide(*first) if first is not None and sure else None
        view = self._at.mention
        suggestion = view.suggestion if view is not None else None
        if view is None or suggestion is None or rank > len(suggestion.candidates):
            return None
        return self.link_candidate(rank - 1, suggestion.candidates[rank - 1].entity_id)

    def suggested(self) -> tuple[Verdict, Hashable] | None:
        """The verdict that accepts the first suggestion for an undecided mention, and the key of the row that shows it;
        None if there is none, with a message."""
        view = self._at.mention
        suggestion = view.suggestion if view is not None else None
        if view is None or suggestion is None:
            return None
        if view.decision is not None and not self.seat.settling:
            self._say_decided(view)
        elif self._at.candidate_order is CandidateOrder.SHUFFLED:
            self.said.emit(tr(NO_FIRST))
        elif suggestion.nil.is_nil:
            return Verdict.nil(), nil_key(view.mention.id)
        elif suggestion.candidates:
            entity_id = suggestion.candidates[0].entity_id
            return Verdict.link(entity_id), candidate_key(view.mention.id, 0, entity_id)
        return None

    def _is_sure(self, verdict: Verdict) -> bool:
        """Whether Enter may decide this: the first suggestion is not doubtful, or this is the second press."""
        view = self._at.mention
        suggestion = view.suggestion if view is not None else None
        doubt = suggestion.doubt(self.enter_least) if suggestion is not None else None
        if view is None or suggestion is None or doubt is None:
            return True
        first = suggestion.candidates[0] if suggestion.candidates else None
        if verdict.outcome is Outcome.NIL:
            words = AGAIN_NIL if first is not None else AGAIN_ONLY_NIL
        elif suggestion.nil.is_nil:
            words = AGAIN_DESPITE
        else:
            words = AGAIN_LINK if doubt is Doubt.NIL_LEADS else AGAIN_UNLIKELY
        said = tr(
            words,
            text=view.mention.text,
            nil=figure(suggestion.nil.score),
            first=first.name if first is not None else "",
            chance=figure(first.probability or first.score) if first is not None else "",
            key=way_to("mention.accept"),
            one=way_to("mention.choose1"),
        )
        return self._is_second(said)

    def _is_second(self, words: str) -> bool:
        """Whether these words about the current mention were on the screen before the key was pressed; shows them if
        not."""
        asked = self._at.mention_id or 0, words
        if words in self._agreed:
            return True
        if self._asked == asked and self._glance.saw(said_key(words)):
            self._agreed.add(words)
            return True
        self._asked = asked
        self.said.emit(words)
        return False

    def _forget_other(self) -> None:
        """What was said of one mention does not hold for another."""
        if self._asked is not None and self._asked[0] != self._at.mention_id:
            self._asked, self._agreed = None, set()

    def _say_decided(self, view: MentionView) -> None:
        if self._at.complete:
            self._say_nothing_left()
        else:
            text, key = view.mention.text, way_to("mention.undecided")
            if view.decision is not None and view.decision.verdict.outcome is Outcome.SKIPPED:
                self.said.emit(tr(IS_SKIPPED, text=text, key=key))
            else:
                self.said.emit(tr(IS_DECIDED, text=text, decision=decision_words(view, {}), key=key))

    def link_candidate(self, row: int, entity_id: str) -> Change | None:
        """Link to the entity in this row of the candidates."""
        view = self._at.mention
        return self.decide(Verdict.link(entity_id), candidate_key(view.mention.id, row, entity_id)) if view else None

    def link_first(self, entity_id: str) -> Change | None:
        """Link to the entity in the first row, where Enter was pressed in the list: a doubtful one takes a second
        press."""
        view = self._at.mention
        ranked = self._at.candidate_order is CandidateOrder.RANKED
        if view is None or not self.saw(candidate_key(view.mention.id, 0, entity_id)):
            return None
        return self.link_candidate(0, entity_id) if not ranked or self._is_sure(Verdict.link(entity_id)) else None

    def link(self, entity_id: str) -> Change | None:
        return self.decide(Verdict.link(entity_id))

    def also(self, entity_id: str) -> None:
        """Add an entity to the mention's link, or remove it, and stay at the mention: composite links are built one by
        one."""
        linked = self._linked()
        entities = tuple(one for one in linked if one != entity_id) if entity_id in linked else (*linked, entity_id)
        self.decide(Verdict.link(*entities) if entities else Verdict(Outcome.CLEARED), stay=True)

    def also_rank(self, rank: int) -> None:
        view = self._at.mention
        suggestion = view.suggestion if view is not None else None
        if suggestion is not None and view is not None and rank <= len(suggestion.candidates):
            entity_id = suggestion.candidates[rank - 1].entity_id
            if self.ready(candidate_key(view.mention.id, rank - 1, entity_id)):
                self.also(entity_id)

    def clear(self) -> None:
        self.decide(Verdict(Outcome.CLEARED), stay=True)

    def decide(self, verdict: Verdict, *seen: Hashable, stay: bool = False, anyway: bool = False) -> Change | None:
        """Decide the current mention, which must have been seen, like `seen`. An equal decision changes nothing; to
        change another person's or an imported one needs confirmation, unless `anyway`."""
        view = self._at.mention
        if view is None or not self.ready(*seen) or not (anyway or self._is_news(view, verdict, stay=stay)):
            return None
        try:
            change = self.curation.decide_many([view.mention.id], verdict, shown=[shown_in(view)])
        except UserError as error:
            self.refused.emit(str(error))
            return None
        self._asked, self._agreed = None, set()
        self._tell(change)
        if self._at.mention_id == view.mention.id:  # otherwise a listener has already moved on: an adjudication
            self._go_on(stay=stay)
        return change

    def revise(self, revision: Revision) -> None:
        """Decide after confirmation, if the mention is still shown."""
        if self._at.mention_id == revision.view.mention.id:
            self.decide(revision.verdict, stay=revision.stay, anyway=True)

    def saw(self, *keys: Hashable) -> bool:
        """Whether the current mention and these were on the screen before the key was pressed; shows a message if
        not."""
        view = self._at.mention
        if view is None:
            return False
        wanted = (mention_key(view.mention.id), *keys)
        if self._glance.saw(*wanted):
            return True
        hidden = next((one for one in wanted if not self._glance.is_shown(one)), None)
        if hidden is not None:
            self.unseen.emit(hidden)
        self.said.emit(tr(TOO_SOON if hidden is None else OUT_OF_SIGHT, text=view.mention.text))
        return False

    def ready(self, *seen: Hashable) -> bool:
        """Whether a key may decide the current mention: it and these were seen, and the filter includes it, or this is
        the second press; shows a message if not."""
        view = self._at.mention
        if view is None or not self.saw(*seen):
            return False
        return self._at.included or self._is_second(tr(EXCLUDED, text=view.mention.text))

    def saw_document(self) -> bool:
        """The same for the open document."""
        opened = self._at.opened
        seen = opened is not None and self._glance.saw(document_key(opened.document.id))
        if opened is not None and not seen:
            self.said.emit(tr(TOO_SOON_HERE))
        return seen

    def _is_news(self, view: MentionView, verdict: Verdict, *, stay: bool) -> bool:
        old = view.decision
        if old is None or self.seat.settling:
            return True
        if old.verdict == verdict:
            self.said.emit(tr(SAME, text=view.mention.text))
        elif old.curator != self.curation.curator:
            self.revision_wanted.emit(Revision(view, verdict, stay))
        else:
            return True
        return False

    def _go_on(self, *, stay: bool) -> None:
        if stay:
            self._at.mention_changed.emit()
        elif not self._at.go_on():
            self._at.mention_changed.emit()
            self._say_nothing_left()

    def _say_nothing_left(self) -> None:
        """Say that nothing in the document waits, and how much is skipped in it and undecided in others."""
        opened = self._at.opened
        skipped = opened.skipped if opened is not None else 0
        words = ntr(DOCUMENT_SKIPPED, DOCUMENT_SKIPPED_MANY, skipped) if skipped else tr(DOCUMENT_DECIDED)
        left = self._at.queue.counts().undecided
        parts = [words, tr(MARKS_DONE, key=way_to("queue.done")), ntr(LEFT, LEFT_MANY, left) if left else ""]
        self.said.emit(" ".join(filter(None, parts)))

    def several(self, action: Callable[[], Change]) -> Change | None:
        """A step over mentions of any documents; None if it was refused, with a message."""
        change = self.act(action)
        if change is not None and self._here(change):
            self._at.mention_changed.emit()
        return change

    def act(self, action: Callable[[], Change | None], *, nothing: str = "") -> Change | None:
        """Perform any step of the curator; it is shown when this returns. None if it was refused, with a message, or if
        there was `nothing` to do."""
        try:
            change = action()
        except UserError as error:
            self.refused.emit(str(error))
            return None
        if change is None:
            self.said.emit(nothing)
        else:
            self._tell(change)
        return change

    def patch(self, change: Change) -> None:
        """Update the shown data with the new current decisions."""
        if touched := self._here(change):
            current = self.curation.current(touched)
            self._at.patch({one: current.get(one) for one in touched})

    def verdict_of(self, mention_id: int) -> Verdict | None:
        """The mention's current decision; None while it is undecided."""
        decision = self.curation.current([mention_id]).get(mention_id)
        return decision.verdict if decision is not None else None

    # --- mentions and documents ---

    def add_mention(self, spans: tuple[Span, ...], mention_type: str) -> None:
        opened = self._at.opened
        if opened is None:
            return
        change = self.act(lambda: self.curation.add_mention(opened.document.id, spans, mention_type))
        if change is not None:
            self._at.select(change.mention_ids[0])

    def delete_mention(self) -> None:
        opened, view = self._at.opened, self._at.mention
        if opened is None or view is None or not self.ready():
            return
        mention_id = view.mention.id
        ids = [one.mention.id for one in opened.mentions]
        at = ids.index(mention_id)
        near = ids[at + 1 : at + 2] or ids[max(at - 1, 0) : at]
        if self.act(lambda: self.seat.edit(lambda editing: editing.delete_mention(mention_id))) is not None:
            self._at.select(near[0] if near else None)

    def mark_done(self, *, anyway: bool = False) -> None:
        """Mark the document as done and go to the next; a done document is reopened. Undecided and skipped
        mentions need confirmation, unless `anyway`."""
        opened = self._at.opened
        if opened is None or not self.saw_document():
            return
        left = tuple(view.mention.id for view in opened.mentions if view.decision is None)
        if opened.document.state is DocumentState.DONE:
            self._mark(self.curation.resume, opened.document.id)
        elif (left or opened.skipped) and not anyway:
            self.leftover_wanted.emit(Leftover(opened.document.id, left, len(opened.mentions), opened.skipped))
        else:
            self._finish(opened.document.id)

    def finish(self, leftover: Leftover, verdict: Verdict | None) -> None:
        """Mark the document as done; its undecided mentions get the verdict, or with None stay undecided."""
        opened = self._at.opened
        if opened is None or opened.document.id != leftover.document_id:
            return
        if verdict is not None:
            ids = leftover.mention_ids
            if self.several(lambda: self.curation.decide_many(ids, verdict)) is None:
                return
        self._finish(leftover.document_id)

    def _finish(self, document_id: int) -> None:
        if self._mark(self.curation.finish, document_id):
            self._at.step_document(1)

    def _mark(self, action: Callable[[int], Change], document_id: int) -> bool:
        return self.act(lambda: action(document_id)) is not None

    # --- back and forth ---

    def undo(self) -> Change | None:
        """Undo; returns the undone step, or None if there was none, or if it was refused, with a message."""
        return self._travel(self.curation.undo, tr(NOTHING_TO_UNDO))

    def redo(self) -> None:
        self._travel(self.curation.redo, tr(NOTHING_TO_REDO))

    def _travel(self, step: Callable[[], Change | None], nothing: str) -> Change | None:
        change = self.act(step, nothing=nothing)
        if change is None or not change.document_ids:
            return change
        opened = self._at.opened
        if change.kind is ChangeKind.DECIDED and opened and change.document_ids == (opened.document.id,):
            self._at.select(change.mention_ids[0])
        elif change.kind is ChangeKind.DECIDED and opened and len(change.document_ids) > 1:
            if self._here(change):  # a step over many documents does not open any of them
                self._at.mention_changed.emit()
        else:
            self._at.open(change.document_ids[0], change.mention_ids[0] if change.mention_ids else None)
        return change

    # --- inside ---

    def _linked(self) -> tuple[str, ...]:
        decision = self._at.mention.decision if self._at.mention is not None else None
        return decision.verdict.entity_ids if decision is not None else ()

    def _here(self, change: Change) -> list[int]:
        """The changed mentions that are shown."""
        opened = self._at.opened
        here = {view.mention.id for view in opened.mentions} if opened is not None else set()
        return [one for one in change.mention_ids if one in here]

    def _tell(self, change: Change) -> None:
        if change.operation_id is None:
            self._judged(change)
        self._took(change)


def shown_in(view: MentionView) -> Shown | None:
    """What the panel shows for a mention, as its decision records it."""
    if view.suggestion is None:
        return Shown("", (), unseen=shown_of(view.kept_back))
    shown = shown_of(view.suggestion, limit=len(view.suggestion.candidates))
    return replace(shown, revealed=True) if shown is not None and view.revealed else shown
