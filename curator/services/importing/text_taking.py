"""Gives a document a newer text of its file, with its mentions and decisions, or the former one back.

No record is changed: the old text is kept, moves of mentions are appended to their log, and mentions without a position
are deleted like by a curator, with their decisions in the history. One operation holds the data for undo. `base` is the
operation that gave a document its current text (0: its import).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from curator.domain.decisions import Decision, OperationKind, Verdict
from curator.domain.documents import (
    Document,
    DocumentState,
    Mention,
    MentionEdit,
    MentionOrigin,
    MentionShape,
    SourceDocument,
    SourceMention,
    Span,
    slice_spans,
)
from curator.domain.wording import tr
from curator.services.importing.gold import GoldWriter
from curator.services.ports.documents import TextMover, TextMoves
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork

TAKEN, MOVED, LOST, ADDED = "new texts taken", "decisions moved", "decisions without a place", "mentions added"
"""Keys of the report's counts."""


class TextTaker:
    def __init__(self, mover: TextMover, clock: Clock) -> None:
        self._mover = mover
        self._clock = clock

    def take(
        self,
        unit: UnitOfWork,
        change: TextChange,
        *,
        file_id: int,
        file_name: str,
        curator: str,
        gold: GoldWriter | None,
    ) -> Counter[str]:
        """Update the text inside the caller's unit. Returns counts by the keys above."""
        document = change.document
        text = tr("Updated the text of {document} from {file}", document=document.external_id, file=file_name)
        payload = {
            "document": document.id,
            "file": file_id,
            "base": base_of(unit, document.id),
            "state": document.state.value,
            "before": [_stored(one) for one in change.mentions],
            "restated": [one.mention.id for one in change.mentions if one.restated and not _says(one, gold)],
            "lost": [one.mention.id for one in change.lost],
        }
        operation = self._append(unit, text, payload, actor=curator)
        unit.documents.replace_text(document.id, change.source, file_id=file_id, operation_id=operation)
        hand_made = [one for one in change.mentions if _place(unit, change, one, operation)]
        if hand_made:  # a second step, so that the first one leaves the file's own spans
            second = self._append(unit, text, {"document": document.id, "of": operation}, actor=curator)
            for one in hand_made:
                assert one.shape is not None
                unit.mentions.reshape(one.mention.id, one.shape, operation_id=second)
        unit.mentions.set_deleted([one.mention.id for one in change.lost], deleted=True)
        added = unit.mentions.add(document.id, change.added, origin=MentionOrigin.SOURCE)
        if gold is not None:
            self._say_gold(unit, change, added, gold)
        self._reopen(unit, change, added)
        counts = {MOVED: len(change.moved), LOST: len(change.lost_decisions), ADDED: len(added)}
        return Counter({TAKEN: 1, **counts})

    def _append(self, unit: UnitOfWork, text: str, payload: dict[str, Any], *, actor: str) -> int:
        return unit.operations.append(
            OperationKind.TAKE_TEXT, actor=actor, at=self._clock.now(), text=text, payload=payload
        )

    def _say_gold(self, unit: UnitOfWork, change: TextChange, added: Sequence[int], gold: GoldWriter) -> None:
        """Add the file's annotations as decisions, unless a person decided or deleted the mention."""
        pairs: list[tuple[SourceMention, int]] = [
            (one.stated, one.mention.id) for one in change.living() if one.stated is not None and _says(one, gold)
        ]
        pairs += zip(change.added, added, strict=True)
        source = replace(change.source, mentions=tuple(stated for stated, _ in pairs))
        gold.write(unit, [(source, (change.document.id, [one for _, one in pairs]))], finish=False)

    def _reopen(self, unit: UnitOfWork, change: TextChange, added: Sequence[int]) -> None:
        """A done document with an undecided mention is no longer done."""
        if added and change.document.state is DocumentState.DONE and len(unit.decisions.current(added)) < len(added):
            unit.documents.set_state(change.document.id, DocumentState.IN_PROGRESS)

    # --- the way back ---

    def give_back(self, unit: UnitOfWork, document_id: int, *, curator: str) -> int:
        """Restore the document's text before the last update; returns the file of this text."""
        taken = base_of(unit, document_id)
        _, payload = unit.operations.get(taken)
        former, file_id, occurrence = unit.documents.former_text(document_id, taken)
        document = unit.documents.get(document_id)
        text = tr("Restored the previous text of {document}", document=document.external_id)
        facts = {"document": document_id, "file": file_id, "back": taken, "base": payload["base"], "restated": []}
        operation = self._append(unit, text, facts, actor=curator)
        places = self._mover(document.text, former.text, former.passages)
        now = unit.mentions.of_document(document_id, deleted=True)
        unit.documents.replace_text(document_id, former, file_id=file_id, operation_id=operation, occurrence=occurrence)
        before = {int(one[0]): one for one in payload["before"]}
        left_by = {one.mention_id: one.after for one in _last_edits(unit, taken)}
        lost = []
        for mention in now:
            shape = _shape_before(mention, before.get(mention.id), left_by, places)
            if shape is None:
                lost.append(mention.id)
            else:
                _reshape(unit, mention, shape, former.text, operation)
        for mention_id, record, raw_ids, *_ in before.values():
            unit.mentions.restate(mention_id, record=record, raw_ids=raw_ids)
        added = [one for one in now if one.id not in before and one.origin is MentionOrigin.SOURCE]
        for mention in added:  # a line number of the other record is not valid in this one
            unit.mentions.restate(mention.id, record=-1, raw_ids=mention.raw_ids)
        unit.mentions.set_deleted([*lost, *(one.id for one in added)], deleted=True)
        unit.mentions.set_deleted(payload["lost"], deleted=False)
        self._finish_again(unit, document_id, payload["state"])
        return file_id

    def _finish_again(self, unit: UnitOfWork, document_id: int, state: str) -> None:
        """A document that was done before the update is done again if nothing in it is undecided."""
        row = unit.documents.row(document_id)
        if state == DocumentState.DONE.value and not row.undecided:
            unit.documents.set_state(document_id, DocumentState.DONE)


def _says(one: MovedMention, gold: GoldWriter | None) -> bool:
    """Whether the file's gold decides the mention: it contains it, and no person decided it."""
    return gold is not None and one.stated is not None and (one.decision is None or one.decision.is_imported)


def _place(unit: UnitOfWork, change: TextChange, one: MovedMention, operation: int) -> bool:
    """Give a mention its spans in the file, or its moved ones. Returns True if a curator had changed them."""
    record, raw_ids = (one.stated.record, one.stated.raw_ids) if one.stated is not None else (-1, one.mention.raw_ids)
    unit.mentions.restate(one.mention.id, record=record, raw_ids=raw_ids)
    if one.shape is None:
        return False
    stated = MentionShape(one.stated.spans, one.stated.type) if one.stated is not None else one.shape
    _reshape(unit, one.mention, stated, change.source.text, operation)
    return stated != one.shape


def _shape_before(
    mention: Mention, known: list[Any] | None, left_by: Mapping[int, MentionShape], places: TextMoves
) -> MentionShape | None:
    """A mention's spans in the former text; None if later changes of it have no position there."""
    if known is not None:
        before = MentionShape(tuple(Span(start, end) for start, end in known[4]), known[5])
        if mention.deleted or left_by.get(mention.id, before) == MentionShape.of(mention):
            return before
    spans = places.find(mention.spans)
    return None if spans is None else MentionShape(spans, mention.type)


def _reshape(unit: UnitOfWork, mention: Mention, shape: MentionShape, text: str, operation: int) -> None:
    if shape != MentionShape.of(mention) or slice_spans(text, shape.spans) != mention.text:
        unit.mentions.reshape(mention.id, shape, operation_id=operation)


def base_of(unit: UnitOfWork, document_id: int) -> int:
    """The operation that gave the document its current text; 0 if the text is from its import."""
    last = unit.documents.last_replaced(document_id)
    if not last:
        return 0
    _, payload = unit.operations.get(last)
    return int(payload["base"]) if "back" in payload else last


def restated_of(unit: UnitOfWork, document_id: int) -> frozenset[int]:
    """Mentions whose statement in the document's record changed since they were decided."""
    base = base_of(unit, document_id)
    return frozenset(unit.operations.get(base)[1]["restated"]) if base else frozenset()


def _stored(one: MovedMention) -> list[Any]:
    found = one.mention
    spans = [[span.start, span.end] for span in found.spans]
    return [found.id, found.record, found.raw_ids, found.deleted, spans, found.type]


def _last_edits(unit: UnitOfWork, taken: int) -> list[MentionEdit]:
    """The last edits of a text update: its own edits, and those of its second step."""
    edits = unit.mentions.edits_of_operation(taken)
    after = [edit for one in edits for edit in unit.mentions.edits(one.mention_id) if edit.id > one.id]
    for edit in after:
        _, payload = unit.operations.get(edit.operation_id)
        if payload.get("of") == taken:
            edits.append(edit)
    return edits


# Planning a document's newer text: the mentions and decisions that move, and those without a position in it.


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
