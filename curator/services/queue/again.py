"""Repeating a step about one string in chosen documents: a decision, a change of type, or made mentions.

Its effects are listed first. For made mentions the lines are text spans without a mention: whole words with the same
string.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from curator.domain.decisions import Change, OperationKind, Outcome, Verdict
from curator.domain.documents import Mention
from curator.domain.same_string import string_key
from curator.domain.wording import tr
from curator.services.core.events import EventBus
from curator.services.curating.mention_edits import retype_many_in
from curator.services.curating.propagation import Others, PropagationScope, PropagationService
from curator.services.curating.propagation_groups import Group, GroupKind, Line, is_other_word
from curator.services.curating.repeating import RepeatService, not_one
from curator.services.ports.processes import Clock
from curator.services.ports.queue import MentionContext, QueueFilter
from curator.services.ports.storage import Store, UnitOfWork
from curator.services.queue.corpus_search import CorpusQuery, CorpusSearch, Hit, HitChoice
from curator.services.queue.hit_making import HitMaking

AGAIN_KINDS = frozenset({OperationKind.DECIDE, OperationKind.CHANGE_MENTION, OperationKind.ADD_MENTION})
"""Kinds of steps that can be repeated elsewhere."""
MOST_LINES = 5_000
"""The most lines listed; for the others only the number is shown, and they do not change."""
UNDECIDED = Verdict(Outcome.CLEARED)


@dataclass(frozen=True, slots=True)
class Again:
    """The effects of a step elsewhere. `kind` is the step's; `mention_type` is the type that mentions get. If mentions
    are made, `hits` are their spans by line number, which is negative."""

    others: Others
    kind: OperationKind
    mention_type: str = ""
    hits: Mapping[int, Hit] = field(default_factory=dict)


class AgainService:
    """`ids` returns the documents of a filter; `curator` returns the curator's name."""

    def __init__(
        self,
        store: Store,
        events: EventBus,
        clock: Clock,
        *,
        decisions: tuple[RepeatService, PropagationService],
        places: tuple[CorpusSearch, HitMaking],
        ids: Callable[[QueueFilter], Sequence[int]],
        curator: Callable[[], str],
    ) -> None:
        self._store = store
        self._events = events
        self._clock = clock
        self._repeating, self._propagation = decisions
        self._corpus, self._hits = places
        self._ids = ids
        self._curator = curator

    def others(
        self,
        number: int,
        *,
        scope: PropagationScope,
        document_id: int | None = None,
        where: QueueFilter | None = None,
    ) -> Again:
        """The effects of the step in the document `document_id`, in the filter `where`, in documents imported since, or
        in the whole project. It may read every text: call it from a worker thread.

        Raises UserError if the step is not about one string, or if none of its mentions exists any longer.
        """
        with self._store.read() as unit:
            step, _ = unit.decisions.operation(number)
        if step.kind is OperationKind.CHANGE_MENTION:
            return self._retyping(number, scope, document_id, where)
        if step.kind is OperationKind.ADD_MENTION:
            return self._making(number, scope, document_id, where)
        found = self._repeating.others(number, scope=scope, document_id=document_id, where=where)
        return Again(found, OperationKind.DECIDE)

    def apply(self, again: Again, numbers: Collection[int]) -> Change:
        """Apply it to these lines, as one step.

        Raises UserError if one was changed since it was listed, ValueError for a line that was not listed; then nothing
        is changed.
        """
        if not set(numbers) <= {line.context.mention_id for line in again.others.lines}:
            raise ValueError("only what is listed can be done again")
        if again.kind is OperationKind.ADD_MENTION:
            hits = [again.hits[one] for one in numbers]
            verdict = again.others.verdict if again.others.verdict != UNDECIDED else None
            return self._hits.make(hits, again.mention_type, verdict, sought=again.others.this.text).change
        if again.kind is OperationKind.DECIDE:
            return self._propagation.decide(again.others, numbers)
        this = again.others.this
        with self._store.write() as unit:
            change = retype_many_in(
                unit, list(numbers), this.type, again.mention_type, curator=self._curator(), clock=self._clock
            )
        self._events.emit(change)
        return change

    def _retyping(
        self, number: int, scope: PropagationScope, document_id: int | None, where: QueueFilter | None
    ) -> Again:
        with self._store.read() as unit:
            edits = unit.mentions.edits_of_operation(number)
            changes = {(one.before.type, one.after.type) for one in edits if one.before.spans == one.after.spans}
            this, _ = _source(unit, number, [one.mention_id for one in edits])
            if len(changes) != 1 or any(one.before.spans != one.after.spans for one in edits):
                raise not_one(unit, number)
            [(old, new)] = changes
            documents = self._repeating.documents(unit, number, scope=scope, document_id=document_id)
            narrowed = where if scope is PropagationScope.QUEUE and where != QueueFilter() else None
            ids = unit.queue.identical(this.mention_id, where=narrowed, mention_type=old)
            if documents is not None:
                of = unit.mentions.documents_of(ids)
                ids = [one for one in ids if of[one] in documents]
            contexts = unit.queue.contexts(ids[:MOST_LINES], bundle_id="")
        others = _listed(replace(this, type=old), UNDECIDED, scope, contexts, beyond=max(len(ids) - MOST_LINES, 0))
        return Again(others, OperationKind.CHANGE_MENTION, new)

    def _making(
        self, number: int, scope: PropagationScope, document_id: int | None, where: QueueFilter | None
    ) -> Again:
        with self._store.read() as unit:
            _, payload = unit.decisions.operation(number)
            this, mention = _source(unit, number, [int(one) for one in payload.get("mentions", ())])
            verdicts = {one.verdict for one in unit.decisions.of_operation(number)}
            if len(verdicts) > 1 or len(mention.spans) > 1:
                raise not_one(unit, number)
            documents = self._repeating.documents(unit, number, scope=scope, document_id=document_id)
            names = unit.kb.get_many([entity for one in verdicts for entity in one.entity_ids])
        if scope is PropagationScope.QUEUE and where is not None and where != QueueFilter():
            documents = set(self._ids(where))
        hits = list(self._places(this.text, documents))
        lines = {-at: one for at, one in enumerate(hits[:MOST_LINES], start=1)}
        contexts = [_context(number, one, this.type) for number, one in lines.items()]
        verdict = next(iter(verdicts), UNDECIDED)
        others = _listed(this, verdict, scope, contexts, beyond=max(len(hits) - MOST_LINES, 0))
        said = tuple(names[one].name if one in names else one for one in verdict.entity_ids)
        return Again(replace(others, names=said), OperationKind.ADD_MENTION, this.type, lines)

    def _places(self, text: str, documents: Collection[int] | None) -> Iterable[Hit]:
        """Spans of whole words with the same string, without a mention."""
        key = string_key(text)
        for part in self._corpus.search(CorpusQuery(text, words=True, hits=HitChoice.NEW), most=None):
            for one in part.hits:
                chosen = documents is None or one.document_id in documents
                if chosen and one.bar is None and string_key(one.text) == key:
                    yield one


def _source(unit: UnitOfWork, number: int, mention_ids: Sequence[int]) -> tuple[MentionContext, Mention]:
    """A mention of the step, which must all have the same string and type. Raises UserError if they do not."""
    mentions = unit.mentions.get_many(mention_ids)
    step, _ = unit.decisions.operation(number)
    if step.target is not None or len({(string_key(one.text), one.type) for one in mentions.values()}) != 1:
        raise not_one(unit, number)
    there = unit.queue.contexts(mention_ids, bundle_id="")
    if not there:
        raise not_one(unit, number, gone=True)
    return there[0], mentions[there[0].mention_id]


def _listed(
    this: MentionContext, verdict: Verdict, scope: PropagationScope, contexts: Sequence[MentionContext], *, beyond: int
) -> Others:
    """The lines in one group; those spelled like another word are not ticked."""
    lines = tuple(
        Line(one, tr("written as “{text}”", text=one.text) if is_other_word(this.text, one.text) else "")
        for one in contexts
    )
    groups = (Group(GroupKind.ALIKE, tr("same string"), lines),) if lines else ()
    return Others(this=this, verdict=verdict, scope=scope, groups=groups, names=(), beyond=beyond)


def _context(number: int, hit: Hit, mention_type: str) -> MentionContext:
    place = (hit.document_id, hit.external_id, hit.start, hit.left, hit.text, hit.right)
    return MentionContext(number, *place, mention_type, None, "", None)
