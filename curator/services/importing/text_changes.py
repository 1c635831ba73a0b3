"""Planning a document's newer text: the mentions and decisions that move, and those without a position in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from curator.domain.decisions import Decision, Verdict
from curator.domain.documents import Document, Mention, MentionOrigin, MentionShape, SourceDocument, SourceMention, Span
from curator.services.ports.documents import TextMover
from curator.services.ports.storage import UnitOfWork


@dataclass(frozen=True, slots=True)
class MovedMention:
    """The effect on one mention. `shape` is None if it has no position in the new text; `stated` is its annotation in
    the file. `decision` is the current one."""

    mention: Mention
    decision: Decision | None
    shape: MentionShape | None
    stated: SourceMention | None = None

    @property
    def stays(self) -> bool:
        return self.shape is not None and self.shape.spans == self.mention.spans

    @property
    def restated(self) -> bool:
        """Whether the file has other identifiers for it than before."""
        return self.stated is not None and self.stated.raw_ids.strip() != self.mention.raw_ids.strip()


@dataclass(frozen=True, slots=True)
class TextChange:
    """The current document and its version in a file. `mentions` includes deleted ones; `added` are annotations only in
    the file."""

    document: Document
    source: SourceDocument
    mentions: tuple[MovedMention, ...]
    added: tuple[SourceMention, ...]

    @property
    def same_text(self) -> bool:
        return self.document.text == self.source.text

    def living(self, *, decided: bool = False) -> list[MovedMention]:
        return [one for one in self.mentions if not one.mention.deleted and (one.decision is not None or not decided)]

    @property
    def moved(self) -> list[MovedMention]:
        """Decided mentions with a new position in the new text."""
        return [one for one in self.living(decided=True) if one.shape is not None and not one.stays]

    @property
    def lost(self) -> list[MovedMention]:
        """Mentions, decided or not, without a position in the new text."""
        return [one for one in self.living() if one.shape is None]

    @property
    def lost_decisions(self) -> list[MovedMention]:
        return [one for one in self.lost if one.decision is not None]


def plan_change(unit: UnitOfWork, document_id: int, source: SourceDocument, mover: TextMover) -> TextChange:
    """The effects of updating the document to `source`. Nothing is changed."""
    document = unit.documents.get(document_id)
    places = mover(document.text, source.text, source.passages)
    mentions = unit.mentions.of_document(document_id, deleted=True)
    current = unit.decisions.current_of_document(document_id)
    first = unit.mentions.first_shapes(document_id)
    shapes: dict[int, MentionShape | None] = {}
    bases: dict[int, MentionShape | None] = {}
    for one in mentions:
        shapes[one.id] = _moved(MentionShape.of(one), places.find(one.spans))
        base = first.get(one.id)
        bases[one.id] = shapes[one.id] if base is None else _moved(base, places.find(base.spans))
    stated, added = _paired(mentions, shapes, bases, source)
    found = tuple(MovedMention(one, current.get(one.id), shapes[one.id], stated.get(one.id)) for one in mentions)
    return TextChange(document, source, tuple(map(_at_least_where_stated, found)), added)


def _at_least_where_stated(one: MovedMention) -> MovedMention:
    """A mention that a curator moved to text that no longer exists gets its position in the file."""
    if one.shape is not None or one.stated is None:
        return one
    return replace(one, shape=MentionShape(one.stated.spans, one.stated.type))


def _moved(shape: MentionShape, spans: tuple[Span, ...] | None) -> MentionShape | None:
    return None if spans is None else MentionShape(spans, shape.type)


def _paired(
    mentions: list[Mention],
    shapes: Mapping[int, MentionShape | None],
    bases: Mapping[int, MentionShape | None],
    source: SourceDocument,
) -> tuple[dict[int, SourceMention], tuple[SourceMention, ...]]:
    """Pairs the file's annotations with mentions, and lists the unpaired ones: first by the file's earlier annotations,
    then by the mentions' current state."""
    left: defaultdict[MentionShape, list[SourceMention]] = defaultdict(list)
    for one in source.mentions:
        left[MentionShape(one.spans, one.type)].append(one)
    found: dict[int, SourceMention] = {}
    from_file = [one for one in mentions if one.origin is MentionOrigin.SOURCE]
    for candidates, where in ((from_file, bases), (mentions, shapes)):
        for mention in candidates:
            shape = where[mention.id]
            if mention.id not in found and shape is not None and left.get(shape):
                found[mention.id] = left[shape].pop(0)
    rest = {id(one) for several in left.values() for one in several}
    return found, tuple(one for one in source.mentions if id(one) in rest)


def verdict_words(verdict: Verdict) -> str:
    """`D001145|D006323`, or the outcome: for reports."""
    return "|".join(verdict.entity_ids) or verdict.outcome.value
