"""Decides the other mentions of one string in context: only those shown and ticked, as one step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from curator.domain.attributes import Attribute, AttributeValue
from curator.domain.decisions import Change, Outcome, Shown, ShownCandidate, Verdict
from curator.domain.same_string import string_key
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.core.keys import active_bundle
from curator.services.curating.attributes import AttributeService
from curator.services.curating.deciding import decide_in
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
            given = unit.attributes.values([mention_id, *(one.mention_id for one in contexts)])
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
            now = unit.attributes.values(chosen)
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


# Other mentions of one string sorted by context, with those ticked that a verdict clearly fits. Pure.
#
# Mentions that differ from the decided mention are listed but not ticked: another first suggestion, another long form
# of an abbreviation, capitals that make it another word, a context that shares no words with the others', an earlier
# decision.

NIL = "NIL"
_WORD = re.compile(r"[^\W\d_]{3,}")
_PLAIN = frozenset([
    "and", "are", "but", "for", "from", "had", "has", "have", "her", "him", "his", "its", "not", "our", "she",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "was", "were", "which",
    "with", "who", "whom", "whose", "been", "being", "can", "could", "did", "does", "may", "more", "most", "nor",
    "one", "other", "out", "over", "such", "than", "too", "two", "under", "upon", "used", "using", "very", "via",
    "when", "where", "while", "will", "would", "also", "all", "any", "between", "both", "during", "each", "into",
    "only", "same", "some", "after", "before",
])  # fmt: skip
FEW = 20
"""Fewer lines of one kind than this do not show what an unusual context is."""
SYMBOL = 5
"""In strings of at most this length, capitals may make another word."""


class GroupKind(IntEnum):
    """The groups, in the order of display."""

    ITSELF = 0
    ALIKE = 1
    UNSUGGESTED = 2
    OTHER_LONG_FORM = 3
    OTHER_SUGGESTION = 4
    DECIDED_ALIKE = 5
    DECIDED_OTHERWISE = 6


@dataclass(frozen=True, slots=True)
class Line:
    """A line; `why` is the reason for not ticking it, '' if it is ticked."""

    context: MentionContext
    why: str = ""

    @property
    def ticked(self) -> bool:
        return not self.why


@dataclass(frozen=True, slots=True)
class Group:
    """A group of lines; `title` is their common property."""

    kind: GroupKind
    title: str
    lines: tuple[Line, ...]


def suggested(context: MentionContext) -> str:
    """The first suggestion: an entity, NIL, or '' for none."""
    if context.head is None:
        return ""
    return NIL if context.head.is_nil or not context.head.entity_id else context.head.entity_id


def itself(this: MentionContext, verdict: Verdict, *, names: Mapping[str, str]) -> tuple[Group, ...]:
    """The mention as the first line, ticked; none if it has the verdict already."""
    if this.verdict == verdict:
        return ()
    title = tr("this mention")
    if this.verdict is not None:
        title = tr("this mention, decided: {verdict}", verdict=_said(this.verdict, names))
    return (Group(GroupKind.ITSELF, title, (Line(this),)),)


def grouped(
    this: MentionContext, verdict: Verdict, others: Sequence[MentionContext], *, names: Mapping[str, str]
) -> tuple[Group, ...]:
    """Groups with the lines most like the decided mention `this` first; `names` of entities by id."""
    parts: dict[tuple[GroupKind, str], list[MentionContext]] = {}
    for other in others:
        parts.setdefault(_part(this, verdict, other, names), []).append(other)
    groups = []
    for (kind, title), contexts in sorted(parts.items(), key=lambda one: (one[0][0], -len(one[1]), one[0][1])):
        strange = _strange(contexts) if kind is GroupKind.ALIKE else frozenset()
        lines = tuple(Line(one, _why(kind, title, this, one, strange=one.mention_id in strange)) for one in contexts)
        groups.append(Group(kind, title, lines))
    return tuple(groups)


def _part(
    this: MentionContext, verdict: Verdict, other: MentionContext, names: Mapping[str, str]
) -> tuple[GroupKind, str]:
    if other.verdict is not None:
        if other.verdict == verdict:
            return GroupKind.DECIDED_ALIKE, tr("already decided the same way")
        return GroupKind.DECIDED_OTHERWISE, tr("decided differently: {verdict}", verdict=_said(other.verdict, names))
    here, there = _long_form(this), _long_form(other)
    if here and there and string_key(here) != string_key(there):
        return GroupKind.OTHER_LONG_FORM, tr("stands for “{words}”", words=there)
    first = suggested(other)
    if not first:
        return GroupKind.UNSUGGESTED, tr("without a suggestion yet")
    if first == suggested(this) or first in _answers(verdict):
        return GroupKind.ALIKE, tr("same suggestion")
    return GroupKind.OTHER_SUGGESTION, tr("suggested: {name}", name=names.get(first, first))


def _why(kind: GroupKind, title: str, this: MentionContext, other: MentionContext, *, strange: bool) -> str:
    if kind is GroupKind.UNSUGGESTED:
        return "" if other.document_id == this.document_id and not is_other_word(this.text, other.text) else title
    if kind is not GroupKind.ALIKE:
        return title
    if is_other_word(this.text, other.text):
        return tr("written as “{text}”", text=other.text)
    return tr("no words of context in common with the others") if strange else ""


def grouped_by_value(
    this: MentionContext,
    others: Sequence[MentionContext],
    has: Mapping[int, str],
    *,
    wanted: str,
    names: Mapping[str, str],
) -> tuple[Group, ...]:
    """The same for a value of an attribute; `has` are the values by mention, '' for none. Mentions that seem to have
    another meaning than `this`, and mentions with another value, are not ticked."""
    parts: dict[tuple[GroupKind, str], list[MentionContext]] = {}
    for other in others:
        parts.setdefault(_value_part(this, other, has.get(other.mention_id, ""), wanted, names), []).append(other)
    groups = []
    for (kind, title), contexts in sorted(parts.items(), key=lambda one: (one[0][0], -len(one[1]), one[0][1])):
        strange = _strange(contexts) if kind is GroupKind.ALIKE else frozenset()
        lines = tuple(Line(one, _why(kind, title, this, one, strange=one.mention_id in strange)) for one in contexts)
        groups.append(Group(kind, title, lines))
    return tuple(groups)


def _value_part(
    this: MentionContext, other: MentionContext, has: str, wanted: str, names: Mapping[str, str]
) -> tuple[GroupKind, str]:
    if has == wanted:
        return GroupKind.DECIDED_ALIKE, tr("already set to {value}", value=has) if has else tr("not set")
    if has and wanted:
        return GroupKind.DECIDED_OTHERWISE, tr("set to {value}", value=has)
    here, there = _long_form(this), _long_form(other)
    if here and there and string_key(here) != string_key(there):
        return GroupKind.OTHER_LONG_FORM, tr("stands for “{words}”", words=there)
    mine, theirs = _meant(this), _meant(other)
    if mine and theirs and not set(mine) & set(theirs):
        said = _said(other.verdict, names) if other.verdict else names.get(theirs[0], theirs[0])
        return GroupKind.OTHER_SUGGESTION, tr("another entity: {name}", name=said)
    if not theirs:
        return GroupKind.UNSUGGESTED, tr("without a suggestion yet")
    return GroupKind.ALIKE, tr("same entity")


def _meant(context: MentionContext) -> tuple[str, ...]:
    """The meaning of a mention: its decision or, if undecided, its suggestion."""
    if context.verdict is None:
        first = suggested(context)
        return (first,) if first else ()
    return _answers(context.verdict) or (context.verdict.outcome.value,)


def _answers(verdict: Verdict) -> tuple[str, ...]:
    return (NIL,) if verdict.outcome is Outcome.NIL else verdict.entity_ids


def _long_form(context: MentionContext) -> str:
    return context.head.expanded if context.head is not None else ""


def is_other_word(one: str, other: str) -> bool:
    """Whether short words differ in capitals, like AS and As, and not only in the first letter of a lower-case word."""
    if max(len(one), len(other)) > SYMBOL or one.casefold() != other.casefold():
        return False
    return one[1:] != other[1:] or (len(one) <= 2 and one != other)


def _strange(contexts: Sequence[MentionContext]) -> frozenset[int]:
    """If there are enough lines, those that share no context word with another line."""
    if len(contexts) < FEW:
        return frozenset()
    around = {one.mention_id: _words(one) for one in contexts}
    known = Counter(word for words in around.values() for word in words)
    return frozenset(
        mention_id for mention_id, words in around.items() if words and all(known[word] == 1 for word in words)
    )


def _words(context: MentionContext) -> frozenset[str]:
    """Context words of a mention in normalised spelling, without the most common ones and without words cut at the
    ends."""
    left, right = context.left.split(maxsplit=1)[-1:] or [""], context.right.rsplit(maxsplit=1)[:1] or [""]
    found = (word.casefold() for word in _WORD.findall(f"{left[0]} {right[0]}"))
    return frozenset(string_key(word) for word in found if word not in _PLAIN)


def _said(verdict: Verdict, names: Mapping[str, str]) -> str:
    if verdict.outcome is Outcome.LINK:
        return " + ".join(names.get(one, one) for one in verdict.entity_ids)
    return tr(verdict.outcome.words)


def entities_in(verdict: Verdict, contexts: Iterable[MentionContext]) -> list[str]:
    """Ids of the entities that titles name: linked entities; suggested entities already have their names."""
    linked = [one for context in contexts if context.verdict is not None for one in context.verdict.entity_ids]
    return list(dict.fromkeys([*verdict.entity_ids, *linked]))
