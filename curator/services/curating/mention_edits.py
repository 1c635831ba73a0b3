"""Moves and retypes mentions inside a caller's unit, and refuses invalid mentions.

A changed mention keeps its identity, its decisions and its source record; the change is appended to a separate log, and
undo appends the reverse change. The document's revision rises, so that all its suggestions are requested again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from curator.domain.decisions import Change, ChangeKind, OperationKind
from curator.domain.documents import Document, Mention, MentionShape, SourceMention, Span, slice_spans
from curator.domain.relations import Relation
from curator.domain.spans import apart, with_span
from curator.domain.wording import UserError, ntr, tr
from curator.services.curating.relations import taken_over
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork

SAME_PLACE = "“{text}” is already at exactly this position; nothing was changed."
SAME_TYPE = "“{text}” already has the type {type}; nothing was changed."


def change_in(unit: UnitOfWork, mention_id: int, spans: Sequence[Span], *, curator: str, clock: Clock) -> Change:
    """Give a mention other spans. Raises UserError if they are invalid or unchanged."""
    mention = living(unit, mention_id)
    document = unit.documents.get(mention.document_id)
    new = checked(document, spans, mention.type)
    if new.spans == mention.spans:
        raise UserError(tr(SAME_PLACE, text=mention.text))
    refuse_duplicate(unit.mentions.of_document(document.id), new, of=mention_id)
    text = tr("Moved the mention “{text}” to “{new}”", text=mention.text, new=new.text)
    return _reshape(unit, mention, new, text, curator=curator, clock=clock)


def retype_in(unit: UnitOfWork, mention_id: int, mention_type: str, *, curator: str, clock: Clock) -> Change:
    """Give a mention another type. Raises UserError if it is empty or unchanged."""
    mention = living(unit, mention_id)
    new = checked(unit.documents.get(mention.document_id), mention.spans, mention_type.strip())
    if new.type == mention.type:
        raise UserError(tr(SAME_TYPE, text=mention.text, type=mention.type))
    refuse_duplicate(unit.mentions.of_document(mention.document_id), new, of=mention_id)
    text = tr("Changed the type of “{text}” from {type} to {new}", text=mention.text, type=mention.type, new=new.type)
    return _reshape(unit, mention, new, text, curator=curator, clock=clock)


def join_in(
    unit: UnitOfWork,
    mention_id: int,
    other_id: int,
    *,
    curator: str,
    clock: Clock,
    related: Callable[[UnitOfWork, int], Sequence[Relation]],
) -> Change:
    """Make one mention of two: the first takes the other's spans and relations, the other is deleted. Its decision
    stays in its history. Raises UserError for mentions of two documents and if the result already exists."""
    mention, other = living(unit, mention_id), living(unit, other_id)
    if mention.document_id != other.document_id or mention.id == other.id:
        raise UserError(tr("Only two mentions of one document can be joined."))
    spans = mention.spans
    for span in other.spans:
        spans = with_span(spans, span)
    new = checked(unit.documents.get(mention.document_id), spans, mention.type)
    others = [one for one in unit.mentions.of_document(mention.document_id) if one.id != other_id]
    refuse_duplicate(others, new, of=mention_id)
    text = tr("Joined “{text}” and “{other}”", text=mention.text, other=other.text)
    there = related(unit, mention.document_id)
    rows, lost = taken_over(unit, there, mention_id, other_id, author=curator, at=clock.now())
    text += ntr(", which ends {n} relation", ", which ends {n:,} relations", lost) if lost else ""
    more = {"relations": rows} if rows["added"] or rows["deleted"] else {}
    return _reshape(unit, mention, new, text, curator=curator, clock=clock, deleted=[other_id], more=more)


def restore_in(unit: UnitOfWork, target: int, deleted: Sequence[int], *, operation_id: int, forward: bool) -> None:
    """Undo or redo the changes of the operation `target` and restore, or delete again, mentions that it deleted."""
    edits = unit.mentions.edits_of_operation(target)
    for edit in edits if forward else reversed(edits):
        unit.mentions.reshape(edit.mention_id, edit.after if forward else edit.before, operation_id=operation_id)
    if deleted:
        unit.mentions.set_deleted(deleted, forward)


def living(unit: UnitOfWork, mention_id: int) -> Mention:
    """The mention. Raises UserError for an unknown or deleted mention."""
    mention = unit.mentions.get(mention_id)
    if mention.deleted:
        raise UserError(
            tr(
                "Mention {mention_id} (“{text}”) was deleted. Undo the deletion first.",
                mention_id=mention_id,
                text=mention.text,
            )
        )
    return mention


def checked(document: Document, spans: Sequence[Span], mention_type: str) -> SourceMention:
    """The spans and type to store. Raises UserError, with the reason, if they are invalid."""
    ordered = tuple(sorted(spans))
    if not ordered:
        raise UserError(tr("Select some text first: a mention needs at least one character."))
    if ordered[-1].end > len(document.text):
        raise UserError(
            tr(
                "The selection {start}-{end} is not within the text of {external_id}, which has "
                "{number} characters. Select inside the text.",
                start=ordered[-1].start,
                end=ordered[-1].end,
                external_id=document.external_id,
                number=len(document.text),
            )
        )
    if not apart(ordered):
        raise UserError(tr("The parts of a mention must not overlap. Select them again."))
    text = slice_spans(document.text, ordered)
    if not text.strip():
        raise UserError(tr("The selection contains only white space. Select the words of the mention."))
    if any(not document.text[one.start : one.end].strip() for one in ordered):
        raise UserError(tr("One part of the mention contains only white space. Select words."))
    if not mention_type.strip():
        raise UserError(tr("A mention needs a type. Choose one of the project's types."))
    return SourceMention(spans=ordered, text=text, type=mention_type)


def refuse_duplicate(mentions: Sequence[Mention], new: SourceMention, *, of: int | None = None) -> None:
    """Raises UserError if a mention other than `of` has these spans and this type."""
    if any(one.id != of and one.spans == new.spans and one.type == new.type for one in mentions):
        raise UserError(
            tr(
                "A mention “{text}” of type {type} already exists at exactly this position.",
                text=new.text,
                type=new.type,
            )
        )


def _reshape(
    unit: UnitOfWork,
    mention: Mention,
    new: SourceMention,
    text: str,
    *,
    curator: str,
    clock: Clock,
    deleted: Sequence[int] = (),
    more: Mapping[str, Any] | None = None,
) -> Change:
    payload = {"mentions": [mention.id], "deleted": list(deleted), **(more or {})}
    kind = OperationKind.CHANGE_MENTION
    operation = unit.operations.append(kind, actor=curator, at=clock.now(), text=text, payload=payload)
    unit.mentions.reshape(mention.id, MentionShape(new.spans, new.type), operation_id=operation)
    if deleted:
        unit.mentions.set_deleted(deleted, True)
    return Change(ChangeKind.MENTIONS, curator, text, (mention.document_id,), (mention.id, *deleted), operation)
