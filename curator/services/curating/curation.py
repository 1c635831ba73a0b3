"""A curator's actions on mentions: each action is one short call, one operation, one `Change`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from curator.domain.decisions import Change, Decision, OperationKind, Outcome, Shown, Verdict
from curator.domain.documents import DocumentState, MentionEdit, MentionOrigin, Span
from curator.domain.relations import Relation
from curator.domain.wording import AwayError, tr
from curator.services.core.context import CachedAnswer, Context, Service
from curator.services.curating.deciding import QueuedStep, decide_in, new_decision, new_state, state_in, step_in
from curator.services.curating.mention_edits import change_in, checked, join_in, living, refuse_duplicate, retype_in
from curator.services.curating.relations import ended_by, goes_along
from curator.services.curating.undo import Undoer
from curator.services.ports.storage import UnitOfWork
from curator.tracing import span

Prepare = Callable[[UnitOfWork, Sequence[int]], tuple[Sequence[Change], str]]
"""Changes mentions in the unit that decides them, and gives the default note of a decision."""


FEW = 10
"""The most mentions that a key decides; their new decisions are cached."""
Related = Callable[[UnitOfWork, int], Sequence[Relation]]
"""Gives the relations of a document."""


class CurationService(Service):
    """Decisions, mentions and document states, undoable without limit."""

    def __init__(self, context: Context, *, related: Related, prepare: Prepare | None = None) -> None:
        super().__init__(context)
        self._prepare = prepare
        self._related = related
        self._undoer = Undoer(context.clock)
        self._made: tuple[int, set[int], dict[int, Decision]] = (-1, set(), {})  # the last current decisions, and when
        self._steps = CachedAnswer(context.store, self._next_steps)

    @property
    def curator(self) -> str:
        return self._curator()

    def _next_steps(self, unit: UnitOfWork) -> tuple[int | None, int | None]:
        return unit.operations.next_undo(self.curator), unit.operations.next_redo(self.curator)

    def decide(self, mention_id: int, verdict: Verdict, *, shown: Shown | None = None, note: str = "") -> Change:
        """Append the decision with what was shown (by default the stored suggestion's first candidates).

        Raises UserError for an unknown or deleted mention and for an unknown entity.
        """
        return self.decide_many([mention_id], verdict, shown=[shown], note=note)

    def decide_many(
        self, mention_ids: Sequence[int], verdict: Verdict, *, shown: Sequence[Shown | None] = (), note: str = ""
    ) -> Change:
        """One verdict for several mentions as one operation. `shown` is parallel to the ids, or empty."""
        if self._store.team is not None and self._prepare is None:
            now = self._clock.now()
            return self._take(new_decision(mention_ids, verdict, curator=self.curator, at=now, shown=shown, note=note))
        with span("store decisions", mentions=len(mention_ids)), self._store.write() as unit:
            before, usual = self._prepare(unit, mention_ids) if self._prepare is not None else ((), "")
            change = decide_in(
                unit,
                mention_ids,
                [verdict] * len(mention_ids),
                curator=self.curator,
                clock=self._clock,
                shown=shown,
                note=note or usual,
            )
            made = -1, set[int](), dict[int, Decision]()
            if len(mention_ids) <= FEW:  # the deciding key needs them, and a reader would look for changes first
                made = self._store.written + 1, set(mention_ids), unit.decisions.current(mention_ids)
        self._made = made
        for one in before:
            self._emit(one)
        return self._emit(change)

    def decide_each(self, verdicts: Mapping[int, Verdict]) -> Change:
        """A verdict for each mention, as one operation. Raises UserError like `decide`."""
        with self._store.write() as unit:
            change = decide_in(unit, list(verdicts), list(verdicts.values()), curator=self.curator, clock=self._clock)
        return self._emit(change)

    def _take(self, step: QueuedStep) -> Change:
        """Take the step in the shared project, or keep it on this computer while the server is away."""
        team = self._store.team
        assert team is not None
        made = -1, set[int](), dict[int, Decision]()
        try:
            with span("store decisions", mentions=len(step.mention_ids)), self._store.write() as unit:
                change = step.perform(unit)
                if len(step.mention_ids) <= FEW:
                    ids = step.mention_ids
                    made = self._store.written + 1, set(ids), unit.decisions.current(ids)
            team.did(change, step.packed())
        except AwayError as error:
            made = -1, set(), {}
            change = team.keep(step.packed(), error)
        self._made = made
        return self._emit(change)

    def clear(self, mention_id: int) -> Change:
        """Make the mention undecided again; the history keeps every decision."""
        return self.decide(mention_id, Verdict(Outcome.CLEARED))

    def add_mention(self, document_id: int, spans: Sequence[Span], mention_type: str) -> Change:
        """Add a mention; `change.mention_ids` holds its id.

        Raises UserError if the spans are empty, outside of the text, only white space, or those of another mention.
        """
        with self._store.write() as unit:
            document = unit.documents.get(document_id)
            source = checked(document, spans, mention_type)
            refuse_duplicate(unit.mentions.of_document(document_id), source)
            ids = unit.mentions.add(document_id, [source], origin=MentionOrigin.CURATOR)
            text = tr("Added the mention “{text}”", text=source.text)
            change = self._mentions_changed(unit, OperationKind.ADD_MENTION, ids, document_id, text)
        return self._emit(change)

    def delete_mention(self, mention_id: int) -> Change:
        """Mark the mention deleted; its decisions stay in the history, and its relations are hidden until it is
        restored. Raises UserError for an unknown mention."""
        with self._store.write() as unit:
            mention = living(unit, mention_id)
            related = self._related(unit, mention.document_id)
            ended = ended_by(unit, related, mention_id)
            unit.mentions.set_deleted([mention_id], True)
            text = tr("Deleted the mention “{text}”", text=mention.text) + goes_along(related, mention_id)
            more = {"ended": ended} if ended else {}
            change = self._mentions_changed(
                unit, OperationKind.DELETE_MENTION, [mention_id], mention.document_id, text, **more
            )
        return self._emit(change)

    def change_mention(self, mention_id: int, spans: Sequence[Span]) -> Change:
        """Move a mention, or change its parts; its decision stays. Raises UserError with the reason if this is not
        possible."""
        with self._store.write() as unit:
            change = change_in(unit, mention_id, spans, curator=self.curator, clock=self._clock)
        return self._emit(change)

    def retype_mention(self, mention_id: int, mention_type: str) -> Change:
        """Give a mention another type; its decision stays. Raises UserError if it already has this type."""
        with self._store.write() as unit:
            change = retype_in(unit, mention_id, mention_type, curator=self.curator, clock=self._clock)
        return self._emit(change)

    def join_mentions(self, mention_id: int, other_id: int) -> Change:
        """Make one mention of two; the other is deleted in the same step, and its relations move to the first. Raises
        UserError if this is not possible."""
        with self._store.write() as unit:
            change = join_in(unit, mention_id, other_id, curator=self.curator, clock=self._clock, related=self._related)
        return self._emit(change)

    def set_state(self, document_id: int, state: DocumentState) -> Change:
        if self._store.team is not None:
            return self._take(new_state(document_id, state, curator=self.curator, at=self._clock.now()))
        with self._store.write() as unit:
            change = state_in(unit, document_id, state, curator=self.curator, clock=self._clock)
        return self._emit(change)

    def finish(self, document_id: int) -> Change:
        return self.set_state(document_id, DocumentState.DONE)

    def resume(self, document_id: int) -> Change:
        return self.set_state(document_id, DocumentState.IN_PROGRESS)

    def undo(self) -> Change | None:
        """Undo the last operation that is not undone; None if there is none."""
        with self._store.write() as unit:
            change = self._undoer.undo(unit, actor=self.curator)
        return change and self._emit(change)

    def redo(self) -> Change | None:
        """Redo the operation that was undone last; None if there is none (any new operation ends redo)."""
        with self._store.write() as unit:
            change = self._undoer.redo(unit, actor=self.curator)
        return change and self._emit(change)

    def can_undo(self) -> bool:
        return self._steps.get()[0] is not None

    def can_redo(self) -> bool:
        return self._steps.get()[1] is not None

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        """Current decisions; undecided mentions are absent."""
        written, known, found = self._made
        if written == self._store.written and known.issuperset(mention_ids):
            return {one: found[one] for one in mention_ids if one in found}
        with self._store.read() as unit:
            return unit.decisions.current(mention_ids)

    def history(self, mention_id: int) -> list[Decision]:
        """Every decision of the mention, oldest first, including cleared ones."""
        with self._store.read() as unit:
            return unit.decisions.history(mention_id)

    def edits(self, mention_id: int) -> list[MentionEdit]:
        """Every change of the mention's spans and type, oldest first, including undone ones and the undo steps."""
        with self._store.read() as unit:
            return unit.mentions.edits(mention_id)

    def _mentions_changed(
        self, unit: UnitOfWork, kind: OperationKind, ids: Sequence[int], document_id: int, text: str, **more: Any
    ) -> Change:
        payload = {"mentions": list(ids), **more}
        return step_in(unit, kind, text, payload, curator=self.curator, clock=self._clock, documents=[document_id])
