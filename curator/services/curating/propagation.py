"""Decides the other mentions of one string in context: only those shown and ticked, as one step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from curator.domain.attributes import Attribute, AttributeValue
from curator.domain.decisions import Change, Shown, ShownCandidate, Verdict
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.core.keys import active_bundle
from curator.services.curating.attributes import AttributeService
from curator.services.curating.deciding import decide_in
from curator.services.curating.propagation_groups import (
    Group,
    Line,
    entities_in,
    grouped,
    grouped_by_value,
    itself,
)
from curator.services.ports.queue import MentionContext, QueueFilter
from curator.services.ports.storage import UnitOfWork

LIMIT = 5_000
"""The most lines shown; for the others only the number is shown, and they do not change."""
NOTE = "decided with “{text}” of {document}"
ONE_CHANGED = "{n} of these mentions was decided in the meantime; nothing was changed. Check the list again."
ONE_SET = "The value of {n} of these mentions was changed in the meantime; nothing was set. Check the list again."
WERE_SET = "The values of {n:,} of these mentions were changed in the meantime; nothing was set. Check the list again."
CHANGED = "{n:,} of these mentions were decided in the meantime; nothing was changed. Check the list again."


class PropagationScope(StrEnum):
    DOCUMENT = "document"
    QUEUE = "queue"  # the mentions of the current filter
    PROJECT = "project"


@dataclass(frozen=True, kw_only=True)
class SameString:
    """The other mentions of the string of `this`, grouped; `beyond` is the number of those not shown."""

    this: MentionContext
    scope: PropagationScope
    groups: tuple[Group, ...]
    beyond: int = 0

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for group in self.groups for line in group.lines)

    @property
    def ticked(self) -> tuple[int, ...]:
        return tuple(line.context.mention_id for line in self.lines if line.ticked)


@dataclass(frozen=True, kw_only=True)
class Others(SameString):
    """Mentions that may get the verdict. `names` are those of its entities."""

    verdict: Verdict
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ValueOthers(SameString):
    """Mentions that may get the same value of the attribute as `this`; None clears it. `had` are the values by mention
    at the time of the list."""

    attribute: Attribute
    value: AttributeValue | None
    had: Mapping[int, int | None]


class PropagationService(Service):
    def others(
        self,
        mention_id: int,
        verdict: Verdict,
        *,
        scope: PropagationScope,
        where: QueueFilter | None = None,
        with_itself: bool = False,
    ) -> Others:
        """The other mentions of the same string and type. `where` is the current filter, for the queue's scope.
        `with_itself`: the mention is the first line, unless it has the verdict already.

        Raises UserError for an unknown or deleted mention.
        """
        with self._store.read() as unit:
            this, contexts, beyond = _identical(unit, mention_id, scope, where)
            names = _names(unit, verdict, [this, *contexts])
        own = itself(this, verdict, names=names) if with_itself else ()
        groups = (*own, *grouped(this, verdict, contexts, names=names))
        said = tuple(names.get(one, one) for one in verdict.entity_ids)
        return Others(this=this, verdict=verdict, scope=scope, groups=groups, names=said, beyond=beyond)

    def others_for_value(
        self,
        mention_id: int,
        attribute: Attribute,
        value: AttributeValue | None,
        *,
        scope: PropagationScope,
        where: QueueFilter | None = None,
    ) -> ValueOthers:
        """The same for a value of an attribute; None to clear it. Raises UserError like `others`."""
        with self._store.read() as unit:
            this, contexts, beyond = _identical(unit, mention_id, scope, where)
            given = unit.mentions.attributes([mention_id, *(one.mention_id for one in contexts)])
            names = _names(unit, this.verdict or Verdict.nil(), contexts)
        had = {mention: attribute.value(some.get(attribute.id)) for mention, some in given.items()}
        has = {mention: one.name for mention, one in had.items() if one is not None}
        groups = grouped_by_value(this, contexts, has, wanted=value.name if value else "", names=names)
        return ValueOthers(
            this=this,
            scope=scope,
            groups=groups,
            beyond=beyond,
            attribute=attribute,
            value=value,
            had={mention: one.id if one else None for mention, one in had.items()},
        )

    def set_value(self, others: ValueOthers, mention_ids: Collection[int], attributes: AttributeService) -> Change:
        """Set the value for the mention and these of the mentions shown, as one operation.

        Raises UserError like `AttributeService.set`, and if a value changed since it was shown; ValueError for a
        mention that was not shown.
        """
        ids = [others.this.mention_id, *(one.context.mention_id for one in others.lines)]
        wanted = {others.this.mention_id, *mention_ids}
        if not wanted <= set(ids):
            raise ValueError("only what is shown can be changed")
        chosen, number = [one for one in ids if one in wanted], others.attribute.id
        with self._store.write() as unit:
            now = unit.mentions.attributes(chosen)
            changed = [
                one for one in chosen if _shown(others.attribute, now.get(one, {}).get(number)) != others.had.get(one)
            ]
            if changed:
                raise UserError(ntr(ONE_SET, WERE_SET, len(changed)))
            change = attributes.set_in(unit, chosen, number, others.value.id if others.value else None)
        return self._emit(change)

    def decide(self, others: Others, mention_ids: Collection[int], *, shown_of_itself: Shown | None = None) -> Change:
        """Give the verdict to these of the mentions shown, as one operation. `shown_of_itself` is what was shown for
        the mention itself, if it is among them.

        Raises UserError if one was decided or deleted since it was shown; ValueError for one that was not shown.
        """
        shown = {line.context.mention_id: line.context for line in others.lines}
        wanted = set(mention_ids)
        if not wanted <= shown.keys():
            raise ValueError("only what is shown can be decided")
        chosen = [context for mention_id, context in shown.items() if mention_id in wanted]
        note, own = NOTE.format(text=others.this.text, document=others.this.external_id), others.this.mention_id
        with self._store.write() as unit:
            _refuse_changed(unit, chosen)
            change = decide_in(
                unit,
                [one.mention_id for one in chosen],
                [others.verdict] * len(chosen),
                curator=self._curator(),
                clock=self._clock,
                shown=[shown_of_itself if one.mention_id == own else shown_in_line(one) for one in chosen],
                notes=["" if one.mention_id == own else note for one in chosen],
            )
        return self._emit(change)


def _identical(
    unit: UnitOfWork,
    mention_id: int,
    scope: PropagationScope,
    where: QueueFilter | None,
) -> tuple[MentionContext, list[MentionContext], int]:
    """The mention, the others of its string in their contexts, and the number of those beyond the limit."""
    bundle_id = active_bundle(unit.meta)
    this = unit.queue.contexts([mention_id], bundle_id=bundle_id)
    if not this:
        raise UserError(tr("There is no mention {mention_id} in this project.", mention_id=mention_id))
    document_id = this[0].document_id if scope is PropagationScope.DOCUMENT else None
    narrowed = where if scope is PropagationScope.QUEUE and where != QueueFilter() else None
    ids = unit.queue.identical(mention_id, document_id=document_id, where=narrowed)
    contexts = unit.queue.contexts(ids[:LIMIT], bundle_id=bundle_id)
    return this[0], list(contexts), max(len(ids) - LIMIT, 0)


def _shown(attribute: Attribute, value_id: int | None) -> int | None:
    """A value, unless it is deleted."""
    value = attribute.value(value_id)
    return value.id if value is not None else None


def shown_in_line(context: MentionContext) -> Shown:
    """The `Shown` of a line, which shows only the first candidate."""
    head = context.head
    if head is None:
        return Shown("", ())
    candidates = (ShownCandidate(head.entity_id, head.score),) if head.entity_id else ()
    return Shown(head.bundle_id, candidates, head.nil_score, head.is_nil)


def _refuse_changed(unit: UnitOfWork, contexts: Collection[MentionContext]) -> None:
    current = unit.decisions.current([one.mention_id for one in contexts])
    now = {mention_id: decision.verdict for mention_id, decision in current.items()}
    changed = sum(now.get(one.mention_id) != one.verdict for one in contexts)
    if changed:
        raise UserError(ntr(ONE_CHANGED, CHANGED, changed))


def _names(unit: UnitOfWork, verdict: Verdict, contexts: Iterable[MentionContext]) -> dict[str, str]:
    contexts = list(contexts)
    names = {one.head.entity_id: one.head.name for one in contexts if one.head is not None}
    found = unit.kb.get_many([one for one in entities_in(verdict, contexts) if one not in names])
    return names | {one: entity.name for one, entity in found.items()}
