"""The errors of a linker: every decided mention with a wrong answer, with the fields shown in the list of errors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from models.core.kb import KnowledgeBase
from models.types import LinkedMention
from training.data.gold import NIL_MARKERS, GoldMention, GoldSet
from training.data.snapshot import SnapshotDocument, SnapshotMention
from training.evaluation.outcomes import is_right
from training.evaluation.slices import NameClass, SliceFacts

VERSION = 1
AROUND = 70
"""Characters of the text kept on either side of a mention."""
NOTHING = NIL_MARKERS | {"nil", "none", "null"}
_SEPARATORS = re.compile(r"[|+,;\s]+")


class ErrorKind(StrEnum):
    """Why an answer is wrong. Each error has exactly one kind."""

    GOLD_NOT_IN_KB = "gold_not_in_kb"  # linked; the decision has entities that are missing from the knowledge base
    NOT_RETRIEVED = "not_retrieved"  # no gold entity is among the candidates
    RANKED_LOWER = "ranked_lower"  # a gold entity is among the candidates, another one is first
    LINKED_NIL = "linked_nil"  # linked; the decision is NIL
    NIL_LINK = "nil_link"  # answered NIL; the decision is a link
    NO_ANSWER = "no_answer"


class Relation(StrEnum):
    """How the answer relates to a gold entity, within one step of the hierarchy."""

    PARENT = "parent"
    CHILD = "child"
    SIBLING = "sibling"


@dataclass(frozen=True, slots=True)
class LinkingError:
    """One wrong answer. `gold` and `answer` are ids; empty `gold` is NIL, empty `answer` is NIL or no answer. For
    GOLD_NOT_IN_KB, `gold` holds the ids stated in the file. `probability` is the linker's probability that its answer
    is right (for NIL, the NIL score). `rank` (from 1), `gold_probability` and `gold_score` belong to the first gold
    entity among the candidates; None if there is none. `seen`: the string was decided in training documents; None
    without such documents. `name_class`: how the mention's words resemble the gold entity's names; None for NIL."""

    kind: ErrorKind
    relation: Relation | None
    document: str
    document_name: str
    mention: str
    text: str
    before: str
    after: str
    types: tuple[str, ...]
    gold: tuple[str, ...]
    answer: str
    probability: float
    rank: int | None
    gold_probability: float | None
    gold_score: float | None
    seen: bool | None
    name_class: NameClass | None


def linking_errors(
    linked: Iterable[LinkedMention],
    gold: GoldSet,
    documents: Sequence[SnapshotDocument],
    kb: KnowledgeBase,
    facts: SliceFacts,
) -> list[LinkingError]:
    """The errors that `Report.accuracy` counts, in document order."""
    answers = {one.key: one for one in linked}
    places = {mention.key: (document, mention) for document in documents for mention in document.mentions}
    found = []
    for mention in gold.mentions:
        answer = answers.get(mention.key)
        if not is_right(mention, answer):
            found.append(_error(mention, answer, *places[mention.key], kb, facts))
    return found


def errors_json(errors: Sequence[LinkingError], kb: KnowledgeBase) -> dict[str, Any]:
    """Plain JSON, compact: `fields`, a list for each error in `rows`, `names` of the entities by id, `kinds` with their
    numbers."""
    names = [one.name for one in fields(LinkingError)]
    ids = dict.fromkeys(one for error in errors for one in (*error.gold, error.answer))
    return {
        "version": VERSION,
        "fields": names,
        "rows": [[_plain(getattr(error, name)) for name in names] for error in errors],
        "names": {one: kb.entities[kb.rows[one]].name for one in ids if one in kb.rows},
        "kinds": dict(Counter(error.kind.value for error in errors)),
    }


def _error(
    gold: GoldMention,
    answer: LinkedMention | None,
    document: SnapshotDocument,
    mention: SnapshotMention,
    kb: KnowledgeBase,
    facts: SliceFacts,
) -> LinkingError:
    candidates = answer.candidates if answer is not None else ()
    says_nil = answer is not None and answer.nil.is_nil
    first = candidates[0] if candidates and not says_nil else None
    place = next((at for at, one in enumerate(candidates) if one.entity_id in gold.ids), None)
    wanted = gold.ids or tuple(_stated(mention))
    known = None if place is None else candidates[place]
    start, end = min(one[0] for one in mention.spans), max(one[1] for one in mention.spans)
    return LinkingError(
        kind=_kind(gold, answer, linked=first is not None, found=known is not None, stated=bool(wanted)),
        relation=_relation(first.entity_id, gold.ids, kb) if first is not None else None,
        document=document.key,
        document_name=document.name or document.key,
        mention=gold.key,
        text=gold.raw,
        before=_squeezed(document.text[max(0, start - AROUND) : start]).lstrip(),
        after=_squeezed(document.text[end : end + AROUND]).rstrip(),
        types=gold.types,
        gold=wanted,
        answer=first.entity_id if first is not None else "",
        probability=_rounded(answer.nil.score if answer and says_nil else first.probability if first else 0.0),
        rank=None if place is None else place + 1,
        gold_probability=None if known is None else _rounded(known.probability),
        gold_score=None if known is None else _rounded(known.score),
        seen=facts.seen(gold),
        name_class=facts.name_class(gold),
    )


def _kind(gold: GoldMention, answer: LinkedMention | None, *, linked: bool, found: bool, stated: bool) -> ErrorKind:
    if answer is None or not (linked or answer.nil.is_nil):
        return ErrorKind.NO_ANSWER
    if gold.nil:
        return ErrorKind.GOLD_NOT_IN_KB if stated else ErrorKind.LINKED_NIL
    if not linked:
        return ErrorKind.NIL_LINK
    return ErrorKind.RANKED_LOWER if found else ErrorKind.NOT_RETRIEVED


def _stated(mention: SnapshotMention) -> Iterator[str]:
    """The identifiers, missing from the knowledge base, that a decision counted as NIL or its file named."""
    if mention.gold is not None and mention.gold.ids:
        yield from mention.gold.ids
    else:
        yield from (one for one in _SEPARATORS.split(mention.stated) if one.casefold() not in NOTHING)


def _relation(answer: str, gold: Sequence[str], kb: KnowledgeBase) -> Relation | None:
    """The answer's relation to the first gold entity it is next to in the hierarchy."""
    above = _parents(answer, kb)
    for one in gold:
        parents = _parents(one, kb)
        if answer in parents:
            return Relation.PARENT
        if one in above:
            return Relation.CHILD
        if above & parents:
            return Relation.SIBLING
    return None


def _parents(entity: str, kb: KnowledgeBase) -> frozenset[str]:
    row = kb.rows.get(entity)
    return frozenset() if row is None else frozenset(kb.entities[row].parents) - {entity}


def _squeezed(text: str) -> str:
    """The text with every run of white space replaced by one space."""
    return re.sub(r"\s+", " ", text)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else list(value) if isinstance(value, tuple) else value


def _rounded(value: float) -> float:
    return round(float(value), 4)
