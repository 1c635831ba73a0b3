"""A newer text of a document as a plan: which mentions and decisions it would move, and which have no place in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from curator.domain.decisions import Decision, Verdict
from curator.domain.documents import Document, Mention, MentionOrigin, MentionShape, SourceDocument, SourceMention, Span
from curator.services.ports import TextMover, UnitOfWork


@dataclass(frozen=True, slots=True)
class MovedMention:
    """What becomes of one mention. `shape` is None where it has no place in the new text; `stated` is the file's
    annotation that it belongs to. `decision` is the current one."""

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
    """The document as it is and as a file has it now. `mentions` holds the deleted ones too; `added` are those that
    only the file has."""

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
        """Decided mentions that are elsewhere in the new text."""
        return [one for one in self.living(decided=True) if one.shape is not None and not one.stays]

    @property
    def lost(self) -> list[MovedMention]:
        """Mentions, decided or not, without a place in the new text."""
        return [one for one in self.living() if one.shape is None]

    @property
    def lost_decisions(self) -> list[MovedMention]:
        return [one for one in self.lost if one.decision is not None]


def plan_change(unit: UnitOfWork, document_id: int, source: SourceDocument, mover: TextMover) -> TextChange:
    """What taking `source` as the document's text would do. Nothing is changed."""
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
    """A mention that a hand had put where nothing is any more goes to where the file has it."""
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
    """Which annotation of the file belongs to which mention, and those that belong to none: first by what the file
    said before, then by what the mention is now."""
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
