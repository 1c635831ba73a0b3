"""Work inside a round: the queue, decisions and suggestions of one curator in it.

The three are what a `seat.Seat` holds while the round is active, so that the window and its keys work the same way.
They write only judgements, and mentions that only their curator sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from curator.domain.attributes import AttributeEdit, Scheme
from curator.domain.decisions import Change, ChangeKind, Decision, Outcome, Shown, Verdict
from curator.domain.documents import DocumentState, Mention, MentionOrigin, Span
from curator.domain.rounds import Judged, Judgement, Round, RoundMention, RoundProgress
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.events import EventBus
from curator.services.curating.attributes import checked_attribute, given_of, said, scheme_of
from curator.services.curating.deciding import mentions_words
from curator.services.curating.mention_edits import checked
from curator.services.ports.documents import ProjectCounts, QueueRow
from curator.services.ports.processes import Clock, LinkerPort
from curator.services.ports.storage import Store, UnitOfWork
from curator.services.queue.queue import PAGE, Direction, MentionView, OpenDocument, with_comments
from curator.services.queue.seat import Seat
from curator.services.rounds.round_suggestions import RoundSuggestions

FIXED = (
    "You are judging in the round “{name}”, where the project itself is not changed. Reject the mention with X and add "
    "another with M, or leave the round first."
)
ONE_NOT_YET = "{n} mention of this document is not judged yet."
NOT_YET = "{n:,} mentions of this document are not judged yet."
CLOSED = "The round “{name}” was closed; nothing more can be judged in it. Leave the round."
UNDID = "Undid the judgement of {what}"
REDID = "Redid the judgement of {what}"
UNDID_ATTRIBUTE = "Undid the attribute of {what}"
REDID_ATTRIBUTE = "Redid the attribute of {what}"


class RoundQueue:
    """The round's documents in queue order, with this curator's judgements instead of decisions: see `seat.Queue` and
    `seat.DocumentList`."""

    def __init__(self, store: Store, found: Round, curator: str, suggestions: RoundSuggestions) -> None:
        self._store = store
        self._round = found
        self._curator = curator
        self._suggestions = suggestions
        with store.read() as unit:
            self._ids = unit.rounds.document_ids(found.id)
            self._splits = Counter(row.split for row in unit.documents.rows_of(self._ids))
            self._numbers = unit.rounds.judged_in(found.id, curator)

    def renew(self, document_ids: Sequence[int]) -> None:
        """Count these documents again; others are not affected."""
        with self._store.read() as unit:
            for one in document_ids:
                self._numbers |= unit.rounds.judged_in(self._round.id, self._curator, document_id=one)

    @property
    def progress(self) -> RoundProgress:
        """The curator's progress."""
        return RoundProgress.of(self._curator, self._numbers.values())

    def rows(self, *, offset: int = 0, limit: int = PAGE) -> list[QueueRow]:
        return self.rows_of(self._ids[offset : offset + limit])

    def rows_of(self, document_ids: Sequence[int]) -> list[QueueRow]:
        with self._store.read() as unit:
            rows = unit.documents.rows_of(document_ids)
        return [_row(row, self._numbers.get(row.document_id, Judged())) for row in rows]

    def row(self, document_id: int) -> QueueRow:
        with self._store.read() as unit:
            return _row(unit.documents.row(document_id), self._numbers.get(document_id, Judged()))

    def count(self) -> int:
        return len(self._ids)

    def counts(self) -> ProjectCounts:
        """Counts of the round: documents by progress, mentions, and judged mentions by outcome."""
        with self._store.read() as unit:
            outcomes = unit.rounds.outcomes(self._round.id, self._curator)
        states = [_state(numbers) for numbers in self._numbers.values()]
        return ProjectCounts(
            documents={state: states.count(state) for state in DocumentState},
            documents_by_split=self._splits,
            mentions=self.progress.mentions,
            decisions_by_outcome={outcome: outcomes.get(outcome, 0) for outcome in Outcome},
        )

    def open(self, document_id: int) -> OpenDocument:
        with self._store.read() as unit:
            document = unit.documents.get(document_id, compared=True)
            mentions = self._mentions(unit, document_id)
            judged = unit.rounds.current(self._round.id, curator=self._curator, document_id=document_id)
            ids = [one.mention.id for one in mentions]
            attributes = given_of(unit, ids, round_id=self._round.id, curator=self._curator)
            # others' comments could give their judgements away
            comments = [one for one in unit.comments.of_document(document_id) if one.author == self._curator]
            flagged = unit.documents.document_flagged(document_id)
        given = {one.mention_id: as_decision(one) for one in judged}
        found = self._suggestions.of_document(document)
        views = tuple(
            MentionView(
                replace(one.mention, deleted=False),
                given.get(one.mention.id),
                found.get(one.mention.id),
                False,
                attributes=attributes.get(one.mention.id, ()),
            )
            for one in mentions
        )
        own = tuple(one for one in comments if one.mention_id is None)
        decides = [one.verdict.outcome.decides for one in given.values()]
        state = _state(Judged(sum(decides), len(decides) - sum(decides), len(views)))
        return OpenDocument(replace(document, state=state), with_comments(views, comments), own, flagged)

    def neighbour(self, document_id: int | None, direction: Direction) -> int | None:
        forward = direction is Direction.NEXT
        if document_id is None:
            return next(iter(self._ids if forward else self._ids[::-1]), None)
        behind = [one for one in self._ids if (one > document_id if forward else one < document_id)]
        return None if not behind else behind[0] if forward else behind[-1]

    def next_undecided(self, document_id: int | None) -> tuple[int, int] | None:
        """The next undecided mention, wrapping around: a round is done when nothing is left anywhere."""
        with self._store.read() as unit:
            left = [one for one in self._ids if self._numbers[one].left]
            order = [one for one in left if document_id is None or one > document_id] + left
            for one in order[:1]:
                judged = unit.rounds.current(self._round.id, curator=self._curator, document_id=one)
                known = {judgement.mention_id for judgement in judged}
                open_ = (item.mention.id for item in self._mentions(unit, one) if item.mention.id not in known)
                return one, next(open_)
        return None

    def _mentions(self, unit: UnitOfWork, document_id: int) -> list[RoundMention]:
        return [one for one in unit.rounds.mentions(self._round.id, document_id) if one.is_for(self._curator)]


class RoundCuration:
    """Decisions become judgements of one curator: see `seat.Curation`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        found: Round,
        curator: str,
        judged: Callable[[Sequence[int]], None],
    ) -> None:
        """`judged` gets the documents in which something was judged or made."""
        self.curator = curator
        self._store = store
        self._round = found
        self._judged = judged
        self._log = JudgingLog(found.id, clock)

    def decide_many(
        self, mention_ids: Sequence[int], verdict: Verdict, *, shown: Sequence[Shown | None] = ()
    ) -> Change:
        """Judge the mentions. Raises UserError for a closed round, an unknown mention or an unknown entity."""
        with self._writing() as unit:
            mentions = [unit.mentions.get(one) for one in mention_ids]
            _check(unit, verdict)
            self._log.judge(unit, mention_ids, verdict, curator=self.curator, shown=shown)
            text = said_of(unit, mentions, verdict)
        return self._change(text, tuple({one.document_id: None for one in mentions}), tuple(mention_ids))

    def add_mention(self, document_id: int, spans: Sequence[Span], mention_type: str) -> Change:
        """Make a mention that only this curator sees in the round; an identical mention by another curator is
        shared."""
        with self._writing() as unit:
            source = checked(unit.documents.get(document_id), spans, mention_type)
            same = [
                one
                for one in unit.rounds.mentions(self._round.id, document_id)
                if one.mention.spans == source.spans and one.mention.type == source.type
            ]
            if any(one.is_for(self.curator) for one in same):
                raise UserError(
                    tr(
                        "In this round, a mention “{text}” of type {type} already exists at exactly this position.",
                        text=source.text,
                        type=source.type,
                    )
                )
            if same:
                mention_id = same[0].mention.id
            else:
                (mention_id,) = unit.mentions.add(document_id, [source], origin=MentionOrigin.CURATOR, deleted=True)
            unit.rounds.add_mention(self._round.id, mention_id, self.curator)
        self._judged([document_id])
        text = tr("Added the mention “{text}” in this round", text=source.text)
        return Change(ChangeKind.MENTIONS, self.curator, text, (document_id,), (mention_id,))

    def finish(self, document_id: int) -> Change:
        """A document is done in a round when all its mentions are judged or skipped; nothing is stored. Raises
        UserError before that."""
        with self._store.read() as unit:
            found = unit.rounds.judged_in(self._round.id, self.curator, document_id=document_id)[document_id]
        if found.left:
            raise UserError(ntr(ONE_NOT_YET, NOT_YET, found.left))
        return Change(ChangeKind.DOCUMENT_STATE, self.curator, tr("Judged the whole document"), (document_id,))

    def resume(self, document_id: int) -> Change:
        """Does nothing: judgements stay, and the document stays done."""
        return self.finish(document_id)

    def undo(self) -> Change | None:
        """Undo this curator's last judgement in the round."""
        with self._writing() as unit:
            step = self._log.undo(unit, self.curator)
        return None if step is None else self._travelled(step, UNDID, UNDID_ATTRIBUTE)

    def redo(self) -> Change | None:
        with self._writing() as unit:
            step = self._log.redo(unit, self.curator)
        return None if step is None else self._travelled(step, REDID, REDID_ATTRIBUTE)

    def can_undo(self) -> bool:
        with self._store.read() as unit:
            return self._log.can_undo(unit, self.curator)

    def can_redo(self) -> bool:
        with self._store.read() as unit:
            return self._log.can_redo(unit, self.curator)

    def current(self, mention_ids: Sequence[int]) -> dict[int, Decision]:
        last = {one: self.history(one)[-1:] for one in mention_ids}
        return {one: made for one, some in last.items() for made in some if made.verdict.outcome is not Outcome.CLEARED}

    def history(self, mention_id: int) -> list[Decision]:
        """This curator's judgements in the round, without others' judgements and the project's decisions."""
        with self._store.read() as unit:
            return [as_decision(one) for one in self._log.of(unit, self.curator) if one.mention_id == mention_id]

    @contextmanager
    def _writing(self) -> Iterator[UnitOfWork]:
        with self._store.write() as unit:
            if unit.rounds.get(self._round.id).closed:
                raise UserError(tr(CLOSED, name=self._round.name))
            yield unit

    def _travelled(self, step: Step, judged: str, attribute: str) -> Change:
        with self._store.read() as unit:
            mention = unit.mentions.get(step.mention_id)
        what, documents = mentions_words([mention]), (mention.document_id,)
        if isinstance(step, Judgement):
            return self._change(tr(judged, what=what), documents, (mention.id,))
        return self._change(tr(attribute, what=what), documents, (mention.id,), ChangeKind.ATTRIBUTES)

    def _change(
        self, text: str, documents: tuple[int, ...], mentions: tuple[int, ...], kind: ChangeKind = ChangeKind.DECIDED
    ) -> Change:
        """Reported only to the window that requested it: listeners to decisions must not get judgements."""
        self._judged(documents)
        return Change(kind, self.curator, text, documents, mentions)

    # --- attributes: see `seat.Attributing` ---

    def scheme(self) -> Scheme:
        with self._store.read() as unit:
            return scheme_of(unit)

    def set(self, mention_ids: Sequence[int], attribute_id: int, value_id: int | None) -> Change:
        """Set this curator's value, which no one else sees. Raises UserError as in the project."""
        with self._writing() as unit:
            mentions = list(unit.mentions.get_many(mention_ids).values())
            attribute = checked_attribute(scheme_of(unit), mentions, attribute_id, value_id)
            self._log.set_attributes(unit, mention_ids, attribute_id, value_id, curator=self.curator)
        documents = tuple({one.document_id: None for one in mentions})
        return self._change(said(attribute, value_id, mentions), documents, tuple(mention_ids), ChangeKind.ATTRIBUTES)


@dataclass(frozen=True, slots=True)
class RoundSeat:
    """The services of one curator in a round, instead of the project's."""

    round: Round
    queue: RoundQueue
    curation: RoundCuration
    suggestions: RoundSuggestions

    @classmethod
    def take(
        cls, store: Store, linker: LinkerPort, events: EventBus, clock: Clock, found: Round, curator: str
    ) -> RoundSeat:
        suggestions = RoundSuggestions(store, linker, events, found, curator)
        queue = RoundQueue(store, found, curator, suggestions)
        curation = RoundCuration(store, clock, found=found, curator=curator, judged=queue.renew)
        return cls(found, queue, curation, suggestions)

    @property
    def for_window(self) -> Seat:
        """The seat for the window: every filter shows the whole round, and existing mentions cannot be changed."""
        fixed = tr(FIXED, name=self.round.name)
        return Seat(
            self.queue,
            lambda _: self.queue,
            self.curation,
            self.suggestions,
            editing=None,
            fixed=fixed,
            attributes=self.curation,
        )


def as_decision(judgement: Judgement) -> Decision:
    """A judgement in the form of a decision, for the window."""
    one = judgement
    return Decision(one.id, one.mention_id, one.verdict, one.curator, one.at, one.shown, 0, one.note)


def _check(unit: UnitOfWork, verdict: Verdict) -> None:
    known = unit.kb.get_many(verdict.entity_ids)
    missing = [one for one in verdict.entity_ids if one not in known]
    if missing:
        raise UserError(
            tr(
                "The knowledge base has no entity {list}. Search it for the right identifier, or decide NIL.",
                list=", ".join(missing),
            )
        )


def _state(found: Judged) -> DocumentState:
    if not found.left:
        return DocumentState.DONE
    return DocumentState.IN_PROGRESS if found.judged or found.skipped else DocumentState.TODO


def _row(row: QueueRow, found: Judged) -> QueueRow:
    return replace(row, state=_state(found), decided=found.judged, mentions=found.seen, skipped=found.skipped)


# Judgements and attributes in one round, with undo and redo, which are derived from the append-only rows, so a restart
# changes nothing.
#
# An ordinary row is a step. A row noted `undo` undoes the last current step, a row noted `redo` redoes it; an ordinary
# row after an undo clears redo, as in an editor.

UNDO, REDO = "undo", "redo"
Step = Judgement | AttributeEdit

JUDGED = {
    Outcome.NIL: "Judged {what} as NIL",
    Outcome.REJECTED: "Judged {what} as rejected",
    Outcome.SKIPPED: "Skipped {what} in this round",
    Outcome.CLEARED: "Cleared the judgement of {what}",
}


@dataclass(slots=True)
class Steps:
    """A curator's judgements and attributes, each in order, with the current and the undone steps. The last one is
    next."""

    log: list[Judgement] = field(default_factory=list)
    set: list[AttributeEdit] = field(default_factory=list)
    done: list[Step] = field(default_factory=list)
    undone: list[Step] = field(default_factory=list)

    def take(self, one: Step) -> None:
        if isinstance(one, Judgement):
            self.log.append(one)
        else:
            self.set.append(one)
        if one.note == UNDO and self.done:
            self.undone.append(self.done.pop())
        elif one.note == REDO and self.undone:
            self.done.append(self.undone.pop())
        else:
            self.done.append(one)
            self.undone.clear()


class JudgingLog:
    """Appends to a round, and undoes and redoes in it, separately for each curator. Rows are append-only, so only new
    rows are read."""

    def __init__(self, round_id: int, clock: Clock) -> None:
        self._round = round_id
        self._clock = clock
        self._known: dict[str, Steps] = {}

    def of(self, unit: UnitOfWork, curator: str) -> list[Judgement]:
        """All judgements of the curator, oldest first."""
        return self._steps(unit, curator).log

    def _steps(self, unit: UnitOfWork, curator: str) -> Steps:
        steps = self._known.setdefault(curator, Steps())
        new: list[Step] = [*unit.rounds.log(self._round, curator, after=steps.log[-1].id if steps.log else 0)]
        after = steps.set[-1].id if steps.set else 0
        new += unit.attributes.of_round(self._round, curator, after=after)
        for one in sorted(new, key=_place):
            steps.take(one)
        return steps

    def set_attributes(
        self,
        unit: UnitOfWork,
        mention_ids: Sequence[int],
        attribute_id: int,
        value_id: int | None,
        *,
        curator: str,
        note: str = "",
    ) -> None:
        """Append a value of an attribute for each mention; None clears it."""
        log = self._steps(unit, curator).log
        unit.attributes.append(
            [(one, attribute_id, value_id) for one in mention_ids],
            curator=curator,
            at=self._clock.now(),
            round_id=self._round,
            behind=log[-1].id if log else 0,
            note=note,
        )

    def judge(
        self,
        unit: UnitOfWork,
        mention_ids: Sequence[int],
        verdict: Verdict,
        *,
        curator: str,
        shown: Sequence[Shown | None] = (),
        note: str = "",
    ) -> None:
        verdicts = [verdict] * len(mention_ids)
        at = self._clock.now()
        unit.rounds.judge(self._round, mention_ids, verdicts, curator=curator, at=at, note=note, shown=shown)

    def undo(self, unit: UnitOfWork, curator: str) -> Step | None:
        """Undo the last step and return it; None if there is none."""
        steps = self._steps(unit, curator)
        if not steps.done:
            return None
        step = steps.done[-1]
        if isinstance(step, AttributeEdit):
            same = (step.mention_id, step.attribute_id)
            had = [one for one in steps.set if (one.mention_id, one.attribute_id) == same and one.id < step.id]
            self._set_again(unit, step, had[-1].value_id if had else None, note=UNDO)
            return step
        before = [one for one in steps.log if one.mention_id == step.mention_id and one.id < step.id]
        verdict = before[-1].verdict if before else Verdict(Outcome.CLEARED)
        self.judge(unit, [step.mention_id], verdict, curator=curator, note=UNDO)
        return step

    def redo(self, unit: UnitOfWork, curator: str) -> Step | None:
        """Redo the step undone last, and return it; None if there is none."""
        steps = self._steps(unit, curator)
        if not steps.undone:
            return None
        step = steps.undone[-1]
        if isinstance(step, AttributeEdit):
            self._set_again(unit, step, step.value_id, note=REDO)
        else:
            self.judge(unit, [step.mention_id], step.verdict, curator=curator, note=REDO, shown=[step.shown])
        return step

    def _set_again(self, unit: UnitOfWork, step: AttributeEdit, value_id: int | None, *, note: str) -> None:
        ids = [step.mention_id]
        self.set_attributes(unit, ids, step.attribute_id, value_id, curator=step.curator, note=note)

    def can_undo(self, unit: UnitOfWork, curator: str) -> bool:
        return bool(self._steps(unit, curator).done)

    def can_redo(self, unit: UnitOfWork, curator: str) -> bool:
        return bool(self._steps(unit, curator).undone)


def _place(one: Step) -> tuple[int, int]:
    """The sort key: attributes come after the judgement that was the last one when they were set."""
    return (one.id, 0) if isinstance(one, Judgement) else (one.behind, one.id)


def said_of(unit: UnitOfWork, mentions: Sequence[Mention], verdict: Verdict) -> str:
    """The sentence that describes a judgement."""
    what = mentions_words(mentions)
    if verdict.outcome is Outcome.LINK:
        names = unit.kb.get_many(verdict.entity_ids)
        return tr(
            "Judged {what} as {names}", what=what, names=" + ".join(names[one].name for one in verdict.entity_ids)
        )
    return tr(JUDGED[verdict.outcome], what=what)
