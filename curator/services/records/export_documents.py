"""What an exporter gets of each document: the mentions with their decisions, compared with the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from curator.domain.attributes import alike
from curator.domain.decisions import Decision
from curator.domain.documents import Document, DocumentState, Mention, MentionOrigin, MentionShape, slice_spans
from curator.domain.entities import is_new
from curator.domain.wording import DamagedTextError, tr
from curator.services.core.relation_reading import RelationReader
from curator.services.curating.attributes import scheme_of
from curator.services.importing.text_taking import restated_of
from curator.services.ports.files import ExportDocument, ExportMention
from curator.services.ports.storage import UnitOfWork
from curator.services.rounds.rounds import ANY_ROUND, adjudicated_by

OTHER_MENTION = (
    "Mention {number} of document {name} differs from the text at its place: the project is damaged. Check it "
    "(Project › Check project or `curator check`), and restore a backup (Project › Backups or `curator restore`)."
)


class ExportScope(StrEnum):
    """The scope of an export. DECIDED: every document, with its current decisions. DONE: documents that are done.
    ADJUDICATED: mentions whose decision came out of a round's adjudication, and their documents."""

    DECIDED = "decided"
    DONE = "done"
    ADJUDICATED = "adjudicated"


def names_new_entity(gold: ExportMention) -> bool:
    """Whether it is linked to a provisional entity."""
    return gold.decision is not None and any(map(is_new, gold.decision.verdict.entity_ids))


def any_unread(names: Iterable[str], gold: ExportMention) -> bool:
    """Whether the file's record of a mention has an attribute with one of these names that the project lacks."""
    return any(not any(alike(name, own) for own, _ in gold.attributes) for name in names)


def adjudicated_only(item: ExportDocument) -> ExportDocument:
    """The document with only its adjudicated mentions, and without the source's lines of the others."""
    kept = tuple(one for one in item.mentions if one.decision is not None and adjudicated_by(one.decision.note))
    ids = {one.mention.id for one in kept}
    left = {one.mention.record for one in item.mentions if one.mention.id not in ids and one.mention.record >= 0}
    related = tuple(one for one in item.relations if ids.issuperset(one.mention_ids))
    removed = tuple(sorted({*item.removed_records, *left}))
    return replace(item, mentions=kept, removed_records=removed, relations=related)


def documents_of(unit: UnitOfWork, scope: ExportScope) -> set[int] | None:
    """Ids of the documents in a scope; None for all."""
    if scope is ExportScope.DONE:
        return set(unit.documents.ids(state=DocumentState.DONE))
    if scope is ExportScope.ADJUDICATED:
        found = unit.mentions.get_many(unit.records.noted(ANY_ROUND))
        return {one.document_id for one in found.values()}
    return None


def export_document(unit: UnitOfWork, document_id: int, relations: RelationReader) -> ExportDocument:
    """A document with its mentions that are not deleted, their decisions and relations, for a writer. Raises
    DamagedTextError if the text differs from the one imported."""
    document = unit.documents.get(document_id, compared=True)
    mentions = unit.mentions.of_document(document_id, deleted=True)
    decisions = unit.decisions.current_of_document(document_id)
    first = unit.mentions.first_shapes(document_id)
    restated = restated_of(unit, document_id)
    attributes = _attributes(unit, [one.id for one in mentions])
    opinions = unit.suggestions.opinions([one.id for one in mentions])
    gold = [
        ExportMention(
            one,
            decisions.get(one.id),
            _is_unchanged(unit, document, one, decisions) and not (one.id in restated and one.id in decisions),
            reshaped=one.id in first and first[one.id] != MentionShape.of(one),
            opinion=opinions.get(one.id),
            attributes=attributes.get(one.id, ()),
        )
        for one in mentions
        if not one.deleted
    ]
    removed = (one.record for one in mentions if one.deleted and one.origin is MentionOrigin.SOURCE)
    records = sorted(record for record in removed if record >= 0)
    return ExportDocument(
        document,
        unit.documents.raw(document_id),
        tuple(gold),
        tuple(records),
        comments=tuple(unit.mentions.comments(document_id)),
        flagged=unit.documents.document_flagged(document_id),
        relations=tuple(relations.of(unit, document_id)),
        removed_relations=relations.removed(unit, document_id),
    )


def check_quotes(item: ExportDocument) -> None:
    """Raises DamagedTextError if a mention differs from the text at its place, which only damage can cause."""
    for gold in item.mentions:
        if slice_spans(item.document.text, gold.mention.spans) != gold.mention.text:
            raise DamagedTextError(tr(OTHER_MENTION, name=item.document.external_id, number=gold.mention.id))


def _attributes(unit: UnitOfWork, mention_ids: list[int]) -> dict[int, tuple[tuple[str, str | None], ...]]:
    """Names and values of attributes that were set, including cleared ones, without deleted attributes."""
    scheme = scheme_of(unit)
    chosen = unit.mentions.attributes(mention_ids) if scheme.shown else {}
    found = {}
    for mention, values in chosen.items():
        pairs = ((one, one.value(values[one.id])) for one in scheme.shown if one.id in values)
        found[mention] = tuple((one.name, value.name if value is not None else None) for one, value in pairs)
    return found


def _is_unchanged(unit: UnitOfWork, document: Document, mention: Mention, current: dict[int, Decision]) -> bool:
    """Whether the file's line already contains the current decision: the imported one, an equal one, or none at all."""
    if mention.origin is not MentionOrigin.SOURCE:
        return False
    decision = current.get(mention.id)
    if decision is not None and decision.is_imported:
        return True
    if decision is None and not current and document.state is DocumentState.TODO:
        return True  # nobody worked on this document: no look-up per mention needed
    past = unit.decisions.history(mention.id)
    imported = next((one.verdict for one in past if one.is_imported), None)
    return imported == decision.verdict if decision is not None else imported is None
