"""Adjudication of a closed round: disagreements of its curators are decided for the project, one by one.

The note of an adjudicated decision begins with the round's name, which marks it as *adjudicated* for the list of
remaining mentions and for the export. Agreed judgements are adopted in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from curator.domain.attributes import Attribute, AttributeValue, Given
from curator.domain.decisions import Change, OperationKind, Outcome, RejectReason, Verdict
from curator.domain.documents import Mention
from curator.domain.rounds import Judgement, Round, RoundMention, same_answer
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.curating.attributes import AttributeService, given_of
from curator.services.curating.curation import CurationService, Related
from curator.services.curating.deciding import decide_in, mentions_words, step_in
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork
from curator.services.queue.queue import MentionView, OpenDocument, QueueService, with_comments
from curator.services.queue.seat import Linking, Seat
from curator.services.rounds.rounds import round_note

OPEN = (
    "The round “{name}” is still open: curators who are still judging would see the judgements of the "
    "others. Close it first, then adjudicate."
)
NOBODY = (
    "Only one curator has judged in “{name}”, so there is nothing to compare. Import a colleague's judgements first."
)
NOTHING_AGREED = "There is no decision left to adopt that all curators of “{name}” agree on."


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The state of an adjudication: contested mentions in text order, the settled ones among them, and the number of
    agreed mentions not yet adopted."""

    round: Round
    contested: tuple[MentionVerdicts, ...]
    settled: frozenset[int]
    agreed: int

    @property
    def left(self) -> tuple[MentionVerdicts, ...]:
        return tuple(one for one in self.contested if one.mention.id not in self.settled)

    @property
    def done(self) -> bool:
        return not self.left and not self.agreed

    def next(self, after: int | None = None) -> MentionVerdicts | None:
        """The next unsettled mention after a mention, wrapping around once."""
        ids = [one.mention.id for one in self.contested]
        start = ids.index(after) + 1 if after in ids else 0
        order = [*self.contested[start:], *self.contested[:start]]
        return next((one for one in order if one.mention.id not in self.settled), None)


class AdjudicationService(Service):
    def __init__(self, context: Context, *, related: Related) -> None:
        super().__init__(context)
        self._related = related

    def of(self, round_id: int) -> Adjudication:
        """The state. Raises UserError if the round is open or has fewer than two curators."""
        with self._store.read() as unit:
            return _adjudication(unit, _closed(unit, round_id))

    def settle(self, round_id: int, mention_id: int, curator: str) -> Change:
        """Make a curator's verdict the project's decision, with the attributes set by the curator; not having marked a
        mention means rejecting it."""
        with self._store.write() as unit:
            found = _adjudication(unit, _closed(unit, round_id))
            judged = next((one for one in found.contested if one.mention.id == mention_id), None)
            if judged is None or curator not in judged.verdicts:
                raise UserError(
                    tr("{curator} did not judge this mention in “{name}”.", curator=curator, name=found.round.name)
                )
            verdict = judged.verdicts[curator] or Verdict.reject(RejectReason.NOT_AN_ENTITY)
            note = f"{round_note(found.round.name)}as {curator} judged"
            given = {mention_id: judged.attributes.get(curator, ())}
            changes = self._decide(unit, [mention_id], [verdict], given, note=note)
        return self._emit_all(changes)

    def adopt_agreed(self, round_id: int) -> Change:
        """Adopt, in one step, everything that all curators agree on. Raises UserError if nothing is left."""
        with self._store.write() as unit:
            found = _closed(unit, round_id)
            common = _agreed(unit, found)
            if not common:
                raise UserError(tr(NOTHING_AGREED, name=found.name))
            text = ntr(
                "Adopted {n} mention that all curators of “{name}” agree on",
                "Adopted {n:,} mentions that all curators of “{name}” agree on",
                len(common),
                name=found.name,
            )
            ids = [one.mention.id for one in common]
            verdicts = [one.common for one in common if one.common is not None]
            given = {one.mention.id: one.agreed_attributes for one in common}
            changes = self._decide(unit, ids, verdicts, given, note=f"{round_note(found.name)}all agreed", text=text)
        return self._emit_all(changes)

    def seat(self, found: Round, suggestions: Linking) -> Seat:
        """The project, with the mentions that curators made in the round in its documents."""
        queue = QueueService(self._context, seen=lambda opened: self._with_mentions_of(found.id, opened))
        curation = self._curation(found)
        attributes = AttributeService(self._context)
        return Seat(queue, queue.under, curation, suggestions, editing=curation, settling=True, attributes=attributes)

    def _curation(self, found: Round) -> CurationService:
        """The project's own decisions; those about contested mentions settle them and have the round's note."""

        def prepare(unit: UnitOfWork, mention_ids: Sequence[int]) -> tuple[Sequence[Change], str]:
            contested = {one.mention.id for one in _adjudication(unit, found).contested}
            note = f"{round_note(found.name)}decided again" if contested.issuperset(mention_ids) else ""
            return bring_in(unit, mention_ids, curator=self._curator(), clock=self._clock), note

        return CurationService(self._context, related=self._related, prepare=prepare)

    def _with_mentions_of(self, round_id: int, opened: OpenDocument) -> OpenDocument:
        with self._store.read() as unit:
            order = unit.rounds.mentions(round_id, opened.document.id)
            comments = unit.comments.of_document(opened.document.id)
        known = {view.mention.id: view for view in opened.mentions}
        new = {
            one.mention.id: MentionView(replace(one.mention, deleted=False), None, None, False)
            for one in order
            if one.mention.id not in known
        }
        views = tuple(known.get(one.mention.id) or new[one.mention.id] for one in order)
        return replace(opened, mentions=with_comments(views, comments))

    def _decide(
        self,
        unit: UnitOfWork,
        ids: Sequence[int],
        verdicts: Sequence[Verdict],
        given: Mapping[int, Given],
        *,
        note: str,
        text: str = "",
    ) -> list[Change]:
        """Decide, and set the attributes that were `given`, as one step."""
        curator = self._curator()
        brought = bring_in(unit, ids, curator=curator, clock=self._clock)
        had = unit.attributes.values([mention for mention, pairs in given.items() if pairs])
        steps = [
            (mention, one.id, had.get(mention, {}).get(one.id), value.id)
            for mention, pairs in given.items()
            for one, value in pairs
        ]
        steps = [one for one in steps if one[2] != one[3]]
        more = {"attributes": steps} if steps else None
        done = decide_in(unit, ids, verdicts, curator=curator, clock=self._clock, note=note, text=text, more=more)
        rows = [(mention, attribute, after) for mention, attribute, _, after in steps]
        unit.attributes.append(rows, curator=curator, at=self._clock.now(), operation_id=done.operation_id)
        return [*brought, done]

    def _emit_all(self, changes: Sequence[Change]) -> Change:
        for change in changes:
            self._events.emit(change)
        return changes[-1]


def bring_in(unit: UnitOfWork, mention_ids: Sequence[int], *, curator: str, clock: Clock) -> list[Change]:
    """Make curators' mentions from a round mentions of the project, as one step; [] if there are none."""
    hidden = [one for one in unit.mentions.get_many(mention_ids).values() if one.deleted]
    if not hidden:
        return []
    ids = [one.id for one in hidden]
    unit.mentions.set_deleted(ids, False)
    text = tr("Added {what} from the round to the text", what=mentions_words(hidden))
    documents, kind = [one.document_id for one in hidden], OperationKind.ADD_MENTION
    return [step_in(unit, kind, text, {"mentions": ids}, curator=curator, clock=clock, documents=documents)]


def _closed(unit: UnitOfWork, round_id: int) -> Round:
    found = unit.rounds.get(round_id)
    if not found.closed:
        raise UserError(tr(OPEN, name=found.name))
    return found


def _adjudication(unit: UnitOfWork, found: Round) -> Adjudication:
    documents = list(judged_documents(unit, found.id))
    if len({name for one in documents for item in one.mentions for name in item.verdicts}) < 2:
        raise UserError(tr(NOBODY, name=found.name))
    settled = frozenset(unit.records.noted(round_note(found.name)))
    every = [item for one in documents for item in one.mentions]
    agreed = sum(one.common is not None and one.mention.id not in settled for one in every)
    return Adjudication(found, tuple(one for one in every if one.contested), settled, agreed)


def _agreed(unit: UnitOfWork, found: Round) -> list[MentionVerdicts]:
    settled = set(unit.records.noted(round_note(found.name)))
    every = [item for one in judged_documents(unit, found.id) for item in one.mentions]
    return [item for item in every if item.common is not None and item.mention.id not in settled]


# The verdicts of a round's curators on each mention, read once for agreement and adjudication.


@dataclass(frozen=True, slots=True)
class MentionVerdicts:
    """The verdicts on one mention by curator. None means that the curator judged the document but did not mark this
    mention, which somebody else made in the round; curators who see it and have not judged it are absent. `attributes`
    are those that curators set; curators without any are absent."""

    document_id: int
    mention: Mention
    verdicts: Mapping[str, Verdict | None]
    attributes: Mapping[str, Given] = field(default_factory=dict)

    @property
    def common(self) -> Verdict | None:
        """The common verdict of at least two curators, which can be gold; None if they differ, including in an
        attribute's value."""
        first = next(iter(self.verdicts.values()), None)
        if len(self.verdicts) < 2 or first is None or first.outcome is Outcome.SKIPPED or self._set is None:
            return None
        return first if all(one is not None and same_answer(one, first) for one in self.verdicts.values()) else None

    @property
    def contested(self) -> bool:
        """Whether at least two curators judged differently; if all skipped, it is contested too."""
        return len(self.verdicts) > 1 and self.common is None

    @property
    def agreed_attributes(self) -> Given:
        """The attributes that curators set; empty if two set different values of an attribute. A curator who set no
        value agrees with every value."""
        return self._set or ()

    @property
    def _set(self) -> Given | None:
        found = dict[int, tuple[Attribute, AttributeValue]]()
        for name, given in self.attributes.items():
            for one, value in given if name in self.verdicts else ():
                if found.setdefault(one.id, (one, value))[1].id != value.id:
                    return None
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """A document of a round: its mentions in text order, and the curators who judged all their visible mentions in
    it."""

    document_id: int
    mentions: tuple[MentionVerdicts, ...]
    complete: tuple[str, ...]


def judged_documents(unit: UnitOfWork, round_id: int) -> Iterator[JudgedDocument]:
    """The documents of a round with judgements, in queue order."""
    by_mention: dict[int, dict[str, Judgement]] = {}
    for one in unit.rounds.current(round_id):
        by_mention.setdefault(one.mention_id, {})[one.curator] = one
    setting = unit.attributes.curators(round_id)
    for document_id in unit.rounds.document_ids(round_id):
        mentions = unit.rounds.mentions(round_id, document_id)
        for item in mentions:
            for twin in item.twins:
                by_mention[item.mention.id] = by_mention.get(twin, {}) | by_mention.get(item.mention.id, {})
        present = sorted({name for one in mentions for name in by_mention.get(one.mention.id, {})})
        if present:
            ids = [number for one in mentions for number in (one.mention.id, *one.twins)]
            given = {name: given_of(unit, ids, round_id=round_id, curator=name) for name in setting}
            verdicts = tuple(
                _verdicts_on(document_id, one, by_mention.get(one.mention.id, {}), present, given) for one in mentions
            )
            complete = tuple(
                name
                for name in present
                if all(name in by_mention.get(one.mention.id, {}) for one in mentions if one.is_for(name))
            )
            yield JudgedDocument(document_id, verdicts, complete)


def _verdicts_on(
    document_id: int,
    item: RoundMention,
    judged: Mapping[str, Judgement],
    present: list[str],
    given: Mapping[str, Mapping[int, Given]],
) -> MentionVerdicts:
    verdicts: dict[str, Verdict | None] = {}
    for name in present:
        if name in judged:
            verdicts[name] = judged[name].verdict
        elif not item.is_for(name):
            verdicts[name] = None
    own = (item.mention.id, *item.twins)
    attributes = {name: next(of[one] for one in own if one in of) for name, of in given.items() if of.keys() & {*own}}
    return MentionVerdicts(document_id, item.mention, verdicts, attributes)
