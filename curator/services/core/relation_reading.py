"""Reading the relations of documents: those stated in their records, without those deleted by curators, with those
added."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from curator.domain.documents import Mention, MentionOrigin
from curator.domain.relations import Relation, RelationEnd, SourceEnd, SourceRelation, StoredRelation
from curator.services.ports.files import FormatRegistry
from curator.services.ports.storage import UnitOfWork

KEPT_RECORDS = 16
"""Records whose relations are cached: reading a long one takes too long for a key press."""


@dataclass(frozen=True, slots=True)
class DocumentRelations:
    """A document's relations, with the texts of its mentions and the names of the related entities, both by id."""

    document_id: int
    external_id: str
    relations: tuple[Relation, ...]
    texts: Mapping[int, str]
    names: Mapping[str, str]

    def words(self, end: RelationEnd) -> str:
        """The name of this end for display; '' for a deleted mention."""
        return end_words(end, self.texts, self.names)


class RelationReader:
    """The current relations of documents. Thread-safe."""

    def __init__(self, formats: FormatRegistry) -> None:
        self._formats = formats
        self._known: OrderedDict[tuple[str, str, str], tuple[SourceRelation, ...]] = OrderedDict()

    def of(self, unit: UnitOfWork, document_id: int) -> list[Relation]:
        """Relations of the record in its order, then the curators'. A relation with a deleted mention is left out; an
        event stays with its remaining ends."""
        return self._of_many(unit, [document_id])[0].get(document_id, [])

    def with_names(self, unit: UnitOfWork, document_ids: Sequence[int]) -> list[DocumentRelations]:
        """The relations of these documents in their order, without documents that have none."""
        found, mentions = self._of_many(unit, document_ids)
        relations = {one: found[one] for one in document_ids if found.get(one)}
        names = entity_names(unit, {id_ for some in relations.values() for one in some for id_ in one.entity_ids})
        rows = unit.documents.rows_of(list(relations))
        return [
            DocumentRelations(
                row.document_id,
                row.external_id,
                tuple(relations[row.document_id]),
                {one.id: one.text for one in mentions.get(row.document_id, ()) if not one.deleted},
                names,
            )
            for row in rows
        ]

    def _of_many(
        self, unit: UnitOfWork, document_ids: Sequence[int]
    ) -> tuple[dict[int, list[Relation]], dict[int, list[Mention]]]:
        """The relations, and the mentions, including deleted ones, of documents with relations of mentions."""
        stored = unit.relations.of_documents(document_ids)
        stated = self.stated(unit, document_ids)
        related = [one for one in document_ids if stored.get(one) or stated.get(one)]
        if not related:
            return {}, {}
        between = [one for one in related if _names_mentions(stated.get(one, ()), stored.get(one, ()))]
        mentions = unit.mentions.of_documents(between, deleted=True) if between else {}
        named = {end.entity for some in stated.values() for one in some for end in one.ends if end.entity}
        meant = unit.kb.resolve(named) if named else {}
        found = {
            one: _holding(one, stated.get(one, ()), stored.get(one, ()), mentions.get(one, ()), meant)
            for one in related
        }
        return found, mentions

    def removed(self, unit: UnitOfWork, document_id: int) -> tuple[str, ...]:
        """Keys of the record's relations that curators deleted."""
        rows = unit.relations.of_documents([document_id]).get(document_id, [])
        return tuple(one.relation.source for one in rows if one.relation.source and one.deleted)

    def stated(self, unit: UnitOfWork, document_ids: Sequence[int]) -> dict[int, tuple[SourceRelation, ...]]:
        """The relations in the documents' records, including deleted ones; documents without records are absent."""
        records = unit.relations.source_records(document_ids)
        return {one: self._stated(key) for one, key in records.items() if key[2]}

    def _stated(self, key: tuple[str, str, str]) -> tuple[SourceRelation, ...]:
        name, extra, raw = key
        if (known := self._known.get(key)) is not None:
            return known
        form = next((one for one in self._formats.formats() if one.name == name), None)
        found = tuple(form.relations(raw, extra)) if form is not None else ()
        self._known[key] = found
        while len(self._known) > KEPT_RECORDS:
            self._known.popitem(last=False)
        return found


def entity_names(unit: UnitOfWork, entity_ids: Collection[str]) -> dict[str, str]:
    """The names of entities in the knowledge base, also of alternate ids, by the given ids."""
    if not entity_ids:
        return {}
    primary = {one: one for one in entity_ids} | unit.kb.resolve(entity_ids)
    entities = unit.kb.get_many(sorted(set(primary.values())))
    return {one: entities[id_].name for one, id_ in primary.items() if id_ in entities}


def end_words(end: RelationEnd, texts: Mapping[int, str], names: Mapping[str, str]) -> str:
    """The name of an end for display: the text of its mention, or the name of its entity, otherwise its id."""
    if end.mention_id is not None:
        return texts.get(end.mention_id, "")
    return names.get(end.entity_id, end.entity_id or end.name)


def _names_mentions(stated: Sequence[SourceRelation], stored: Sequence[StoredRelation]) -> bool:
    return any(end.record >= 0 for one in stated for end in one.ends) or any(one.relation.mention_ids for one in stored)


def _holding(
    document_id: int,
    stated: Sequence[SourceRelation],
    stored: Sequence[StoredRelation],
    mentions: Sequence[Mention],
    meant: Mapping[str, str],
) -> list[Relation]:
    """See `RelationReader.of`."""
    living = {one.id for one in mentions if not one.deleted}
    by_record = {one.record: one for one in mentions if one.origin is MentionOrigin.SOURCE and one.record >= 0}
    rows = {one.relation.source: one for one in stored if one.relation.source}
    found = []
    for one in stated:
        row = rows.get(one.key)
        relation = None if row is not None and row.deleted else _read(one, document_id, by_record, living, meant)
        if relation is not None:
            found.append(replace(relation, id=row.relation.id) if row is not None else relation)
    own = (one.relation for one in stored if not one.relation.source and not one.deleted)
    return [*found, *(one for one in own if living.issuperset(one.mention_ids))]


def _read(
    stated: SourceRelation,
    document_id: int,
    by_record: Mapping[int, Mention],
    living: set[int],
    meant: Mapping[str, str],
) -> Relation | None:
    """The relation; None if one of its ends was deleted, or, for an event, if all were."""
    ends = [_end(one, by_record, living, meant) for one in stated.ends]
    kept = tuple(one for one in ends if one is not None)
    if not kept or (len(kept) < len(ends) and not stated.fixed):
        return None
    return Relation(0, document_id, stated.type, kept, stated.key, stated.fixed, stated.note)


def _end(
    stated: SourceEnd, by_record: Mapping[int, Mention], living: set[int], meant: Mapping[str, str]
) -> RelationEnd | None:
    if stated.record < 0:
        return RelationEnd(stated.role, None, meant.get(stated.entity, stated.entity), stated.name)
    mention = by_record.get(stated.record)
    return RelationEnd(stated.role, mention.id) if mention is not None and mention.id in living else None
