"""What the deciding keys do: one short action each, painted at once, on the disk moments later, then on to the next
undecided mention.

Every action asks first whether its mention, and the candidate it links to, were on the screen before the key was
pressed (`Glance`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from curator.domain.changes import Change, ChangeKind
from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.documents import DocumentState, Span
from curator.domain.errors import UserError
from curator.domain.presenting import CandidateOrder
from curator.domain.wording import tr
from curator.services.deciding import shown_of
from curator.services.queue import MentionView
from curator.services.seat import Curation, Seat
from curator.ui.key_names import way_to
from curator.ui.mention_words import decision_words
from curator.ui.navigation import Navigator
from curator.ui.sight import Glance

DOCUMENT_DECIDED = "Every mention here is decided. {key} marks the document done and opens the next."
NO_FIRST = "Candidates are shuffled, so that none is first: choose one by its number, or N where none fits."
NOTHING_TO_UNDO = "There is nothing to undo."
NOTHING_TO_REDO = "There is nothing to redo."
TOO_SOON = "Nothing was decided: “{text}” had only just appeared when the key was pressed. Press it again."
TOO_SOON_HERE = "Nothing was done: the document had only just appeared when the key was pressed. Press it again."
OUT_OF_SIGHT = "Nothing was decided: “{text}” was scrolled out of view. It is in view now; press the key again."
IS_DECIDED = "“{text}” is already decided: {decision}. 1–9, N, X or S changes it; {key} goes to the next mention."
SAME = "“{text}” already has this decision. Nothing was changed."


def mention_key(mention_id: int) -> Hashable:
    """A mention that is framed in the text, for `Glance`."""
    return "mention", mention_id


def document_key(document_id: int) -> Hashable:
    return "document", document_id


def candidate_key(mention_id: int, row: int, entity_id: str) -> Hashable:
    """A row of the candidates, shown for this mention, and the entity in it."""
    return "candidate", mention_id, row, entity_id


def nil_key(mention_id: int) -> Hashable:
    """The NIL row that says that NIL is suggested for this mention."""
    return "nil", mention_id


@dataclass(frozen=True, slots=True)
class Revision:
    """A decision of somebody else, or of a file, that is about to be changed."""

    view: MentionView
    verdict: Verdict
    stay: bool


@dataclass(frozen=True, slots=True)
class Leftover:
    """A document that is to be done with so many undecided mentions."""

    document_id: int
    mention_ids: tuple[int, ...]
    every: int


class Decider(QObject):
    """Decides about the current mention. Decisions record exactly what the panel showed."""

    done = Signal(object)  # Change: it is stored, and on the disk moments later
    refused = Signal(str)  # the sentence of a UserError; nothing was changed
    said = Signal(str)
    unseen = Signal(object)  # what was out of sight: a key of `Glance`
    revision_wanted = Signal(object)  # Revision: to be confirmed
    leftover_wanted = Signal(object)  # Leftover: to be confirmed

    def __init__(self, seat: Seat, navigator: Navigator, parent: QObject | None = None, *, glance: Glance) -> None:
        super().__init__(parent)
        self.seat = seat
        self._at = navigator
        self._glance = glance

    @property
    def curation(self) -> Curation:
        """Who decides: the project, or a round."""
        return self.seat.curation

    def told(self, change: Change) -> None:
        """A decision that was made beside the deciding keys, by the same curator: shown at once, where it is open."""
        self._patch_here(change.mention_ids)
        self.done.emit(change)

    # --- decisions ---

    def choose(self, rank: int) -> None:
        """Link to the candidate with this rank; 0 accepts what is suggested first, which may be NIL, for an undecided
        mention."""
        view = self._at.mention
        suggestion = view.suggestion if view is not None else None
        if view is None or suggestion is None:
            return
        if rank == 0 and view.decision is not None and not self.seat.settling:
            words = decision_words(view, {})
            key = way_to("mention.undecided")
            self.said.emit(tr(IS_DECIDED, text=view.mention.text, decision=words, key=key))
        elif rank == 0 and self._at.candidate_order is CandidateOrder.SHUFFLED:
            self.said.emit(tr(NO_FIRST))
        elif rank == 0 and suggestion.nil.is_nil:
            if self.saw(nil_key(view.mention.id)):
                self.decide(Verdict.nil())
        elif max(rank, 1) <= len(suggestion.candidates):
            row = max(rank, 1) - 1
            self.link_candidate(row, suggestion.candidates[row].entity_id)

    def link_candidate(self, row: int, entity_id: str) -> None:
        """Link to the entity in this row of the candidates."""
        view = self._at.mention
        if view is not None and self.saw(candidate_key(view.mention.id, row, entity_id)):
            self.link(entity_id)

    def link(self, entity_id: str) -> None:
        self.decide(Verdict.link(entity_id))

    def also(self, entity_id: str) -> None:
        """Add an entity to the mention's link, or take it out again, and stay: a link of several is made one by one."""
        linked = self._linked()
        entities = tuple(one for one in linked if one != entity_id) if entity_id in linked else (*linked, entity_id)
        self.decide(Verdict.link(*entities) if entities else Verdict(Outcome.CLEARED), stay=True)

    def also_rank(self, rank: int) -> None:
        view = self._at.mention
        suggestion = view.suggestion if view is not None else None
        if suggestion is not None and view is not None and rank <= len(suggestion.candidates):
            entity_id = suggestion.candidates[rank - 1].entity_id
            if self.saw(candidate_key(view.mention.id, rank - 1, entity_id)):
                self.also(entity_id)

    def clear(self) -> None:
        self.decide(Verdict(Outcome.CLEARED), stay=True)

    def decide(self, verdict: Verdict, *, stay: bool = False) -> None:
        """Decide about the current mention. The same decision again changes nothing; one that somebody else made, or
        that was imported, is confirmed first."""
        view = self._at.mention
        if view is None or not self.saw():
            return
        old = view.decision
        if old is not None and not self.seat.settling:
            if old.verdict == verdict:
                self.said.emit(tr(SAME, text=view.mention.text))
                return
            if old.curator != self.curation.curator:
                self.revision_wanted.emit(Revision(view, verdict, stay))
                return
        self._decide(view, verdict, stay=stay)

    def revise(self, revision: Revision) -> None:
        """Decide after all, where the mention is still on show."""
        view = self._at.mention
        if view is not None and view.mention.id == revision.view.mention.id and self.saw():
            self._decide(view, revision.verdict, stay=revision.stay)

    def saw(self, *keys: Hashable) -> bool:
        """Whether the current mention and these were on the screen before the key was pressed; says it where not."""
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

    def saw_document(self) -> bool:
        """The same of the open document."""
        opened = self._at.opened
        seen = opened is not None and self._glance.saw(document_key(opened.document.id))
        if opened is not None and not seen:
            self.said.emit(tr(TOO_SOON_HERE))
        return seen

    def _decide(self, view: MentionView, verdict: Verdict, *, stay: bool) -> None:
        mention_id, shown = view.mention.id, _shown(view)
        change = self._act(lambda: self.curation.decide(mention_id, verdict, shown=shown))
        if change is None:
            return
        self._patch(change.mention_ids)
        if self._at.mention_id != mention_id:
            return  # who heard of it has led on already: an adjudication
        if stay:
            self._at.mention_changed.emit()
        elif not self._at.go_on():
            self._at.mention_changed.emit()
            self.said.emit(tr(DOCUMENT_DECIDED, key=way_to("queue.done")))

    def several(self, action: Callable[[], Change]) -> Change | None:
        """A step over mentions of any documents; None where it was refused, which is said."""
        change = self._act(action)
        if change is not None:
            self._patch_here(change.mention_ids)
        return change

    def verdict_of(self, mention_id: int) -> Verdict | None:
        """The mention's current decision; None while it is undecided."""
        decision = self.curation.current([mention_id]).get(mention_id)
        return decision.verdict if decision is not None else None

    # --- mentions and documents ---

    def add_mention(self, spans: tuple[Span, ...], mention_type: str) -> None:
        opened = self._at.opened
        if opened is None:
            return
        change = self._act(lambda: self.curation.add_mention(opened.document.id, spans, mention_type))
        if change is not None:
            self._at.reload()
            self._at.select(change.mention_ids[0])

    def delete_mention(self) -> None:
        opened, view = self._at.opened, self._at.mention
        if opened is None or view is None or not self.saw():
            return
        mention_id = view.mention.id
        ids = [one.mention.id for one in opened.mentions]
        at = ids.index(mention_id)
        near = ids[at + 1 : at + 2] or ids[max(at - 1, 0) : at]
        if self._act(lambda: self.seat.edit(lambda editing: editing.delete_mention(mention_id))) is not None:
            self._at.reload()
            self._at.select(near[0] if near else None)

    def mark_done(self, *, anyway: bool = False) -> None:
        """Done and on to the next document; a done document is taken back. Where mentions are undecided it is
        confirmed first, but for `anyway`."""
        opened = self._at.opened
        if opened is None or not self.saw_document():
            return
        left = tuple(view.mention.id for view in opened.mentions if view.decision is None)
        if opened.document.state is DocumentState.DONE:
            self._mark(self.curation.resume, opened.document.id)
        elif left and not anyway:
            self.leftover_wanted.emit(Leftover(opened.document.id, left, len(opened.mentions)))
        else:
            self._finish(opened.document.id)

    def finish(self, leftover: Leftover, verdict: Verdict | None) -> None:
        """The document is done; its undecided mentions get the verdict, or with None stay undecided."""
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
        changed = self._act(lambda: action(document_id)) is not None
        if changed:
            self._at.reload()
        return changed

    # --- back and forth ---

    def undo(self) -> None:
        self._travel(self.curation.undo, tr(NOTHING_TO_UNDO))

    def redo(self) -> None:
        self._travel(self.curation.redo, tr(NOTHING_TO_REDO))

    def _travel(self, step: Callable[[], Change | None], nothing: str) -> None:
        change = self._act(step, nothing=nothing)
        if change is None:
            return
        opened = self._at.opened
        if not change.document_ids:
            self._at.reload()
        elif change.kind is ChangeKind.DECIDED and opened and change.document_ids == (opened.document.id,):
            self._patch(change.mention_ids)
            self._at.select(change.mention_ids[0])
        elif change.kind is ChangeKind.DECIDED and opened and len(change.document_ids) > 1:
            self._patch_here(change.mention_ids)  # a step over many documents leads to none of them
        else:
            self._at.open(change.document_ids[0], change.mention_ids[0] if change.mention_ids else None)

    # --- inside ---

    def _linked(self) -> tuple[str, ...]:
        decision = self._at.mention.decision if self._at.mention is not None else None
        return decision.verdict.entity_ids if decision is not None else ()

    def _patch_here(self, mention_ids: Sequence[int]) -> None:
        """Of mentions of any documents those that are on show."""
        opened = self._at.opened
        here = {view.mention.id for view in opened.mentions} if opened is not None else set()
        if touched := [one for one in mention_ids if one in here]:
            self._patch(touched)
            self._at.mention_changed.emit()

    def _patch(self, mention_ids: Sequence[int]) -> None:
        """The new current decisions, into what is on show."""
        current = self.curation.current(mention_ids)
        self._at.patch({one: current.get(one) for one in mention_ids})

    def _act(self, action: Callable[[], Change | None], *, nothing: str = "") -> Change | None:
        try:
            change = action()
        except UserError as error:
            self.refused.emit(str(error))
            return None
        if change is None:
            self.said.emit(nothing)
        else:
            self.done.emit(change)
        return change


def _shown(view: MentionView) -> Shown | None:
    if view.suggestion is None:
        return Shown("", (), unseen=shown_of(view.kept_back))
    shown = shown_of(view.suggestion, limit=len(view.suggestion.candidates))
    return replace(shown, revealed=True) if shown is not None and view.revealed else shown
