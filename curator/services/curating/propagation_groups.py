"""Other mentions of one string sorted by context, with those ticked that a verdict clearly fits. Pure.

Mentions that differ from the decided mention are listed but not ticked: another first suggestion, another long form of
an abbreviation, capitals that make it another word, a context that shares no words with the others', an earlier
decision.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from curator.domain.decisions import Outcome, Verdict
from curator.domain.same_string import string_key
from curator.domain.wording import tr
from curator.services.ports.queue import MentionContext

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
