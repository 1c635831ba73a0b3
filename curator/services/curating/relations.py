"""Relations of documents: those that their records state, and what curators added and deleted.

A relation holds as long as its mentions do: with a deleted mention it goes, and comes back when that is undone. The
payload of an operation names in `relations` the rows that it `added` and those that it `deleted`.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from curator.domain.decisions import Change, ChangeKind, OperationKind, Outcome
from curator.domain.documents import Mention, MentionOrigin
from curator.domain.relations import LONGEST_TYPE, Relation, RelationEnd, RelationKind, SourceEnd, SourceRelation
from curator.domain.wording import UserError, ntr, tr
from curator.services.core import EventBus
from curator.services.ports import Clock, FormatRegistry, StatesRelations, Store, UnitOfWork

KEPT_RECORDS = 16
"""Records whose relations are remembered: reading a long one takes longer than a key may."""
SAMPLED = 200
"""Documents that are asked which types of relations their records have."""


class RelationReader:
    """What holds in a document now. Safe to call from several threads."""

    def __init__(self, formats: FormatRegistry) -> None:
        self._formats = formats
        self._known: OrderedDict[tuple[str, str, str], tuple[SourceRelation, ...]] = OrderedDict()

    def of(self, unit: UnitOfWork, document_id: int) -> list[Relation]:
        """Those of the record in its order, then the curators'. One with a deleted mention does not hold; an event
        holds with the ends that it still has."""
        stored = unit.mentions.relations(document_id)
        stated = self.stated(unit, document_id)
        if not stored and not stated:
            return []
        mentions = unit.mentions.of_document(document_id, deleted=True)
        living = {one.id for one in mentions if not one.deleted}
        by_record = {one.record: one for one in mentions if one.origin is MentionOrigin.SOURCE and one.record >= 0}
        rows = {one.relation.source: one for one in stored if one.relation.source}
        named = {end.entity for one in stated for end in one.ends if end.entity}
        meant = unit.kb.resolve(named) if named else {}
        found = []
        for one in stated:
            row = rows.get(one.key)
            gone = row is not None and row.deleted
            relation = None if gone else _read(one, document_id, by_record, living, meant)
            if relation is not None:
                found.append(replace(relation, id=row.relation.id) if row is not None else relation)
        own = (one.relation for one in stored if not one.relation.source and not one.deleted)
        return [*found, *(one for one in own if living.issuperset(one.mention_ids))]

    def removed(self, unit: UnitOfWork, document_id: int) -> tuple[str, ...]:
        """Keys of the record's relations that curators deleted."""
        return tuple(
            one.relation.source for one in unit.mentions.relations(document_id) if one.relation.source and one.deleted
        )

    def stated(self, unit: UnitOfWork, document_id: int) -> tuple[SourceRelation, ...]:
        """What the document's record says, whatever became of it."""
        key = unit.mentions.source_record(document_id)
        name, extra, raw = key
        if not raw:
            return ()
        if (known := self._known.get(key)) is not None:
            return known
        form = next((one for one in self._formats.formats() if one.name == name), None)
        found = tuple(form.relations(raw, extra)) if isinstance(form, StatesRelations) else ()
        self._known[key] = found
        while len(self._known) > KEPT_RECORDS:
            self._known.popitem(last=False)
        return found


class RelationService:
    """Adds and deletes relations. `curator` returns the name of who acts."""

    def __init__(
        self, store: Store, events: EventBus, clock: Clock, reader: RelationReader, *, curator: Callable[[], str]
    ) -> None:
        self._store = store
        self._events = events
        self._clock = clock
        self._reader = reader
        self._curator = curator
        self._types: tuple[int, dict[str, int]] | None = None

    def of_document(self, document_id: int) -> list[Relation]:
        """Every relation that holds: those of the record first. Raises UserError where there is no such document."""
        with self._store.read() as unit:
            unit.documents.get(document_id)
            return self._reader.of(unit, document_id)

    def types(self) -> dict[str, int]:
        """Types of relations with a number that says how usual each is. Records are only sampled."""
        with self._store.read() as unit:
            found = Counter(unit.mentions.relation_types())
            documents = unit.documents.ids()
            if self._types is None or self._types[0] != len(documents):
                step = max(len(documents) // SAMPLED, 1)
                stated = (one for each in documents[::step] for one in self._reader.stated(unit, each))
                self._types = (len(documents), dict(Counter(one.type for one in stated if not one.fixed)))
        return dict(found + Counter(self._types[1]))

    def add(self, first: int, second: int, relation_type: str, *, roles: tuple[str, str] = ("", "")) -> Change:
        """A relation from the first mention to the second; '' for roles: those that the type has in the document.

        Raises UserError for a mention that is not there, two documents, the same mention twice, a type that is none,
        and a relation that is there.
        """
        with self._store.write() as unit:
            one, other = _pair(unit, first, second)
            ends = (RelationEnd(roles[0], one.id), RelationEnd(roles[1], other.id))
            made = Relation(0, one.document_id, checked_type(relation_type), ends)
            change = self._added(unit, [made], (one, other), (one.text, other.text))
        return self._emit(change)

    def add_between_entities(self, first: int, second: int, relation_type: str) -> Change:
        """A relation from what the first mention is linked to, to what the second is; for composite mentions one for
        each pair, as one step. Raises UserError as `add` does, and for a mention that is not linked."""
        with self._store.write() as unit:
            one, other = _pair(unit, first, second)
            ids = [_linked(unit, mention) for mention in (one, other)]
            if ids[0] == ids[1]:
                raise UserError(tr("Both mentions are linked to the same entity: a relation needs two."))
            kind = checked_type(relation_type)
            made = [
                Relation(0, one.document_id, kind, (RelationEnd("", entity_id=a), RelationEnd("", entity_id=b)))
                for a, b in product(*ids)
                if a != b
            ]
            change = self._added(unit, made, (one, other), (_names(unit, ids[0]), _names(unit, ids[1])))
        return self._emit(change)

    def delete(self, document_id: int, name: str) -> Change:
        """Delete a relation by its name; undo brings it back. Raises UserError where there is none of this name, and
        for an event, which is kept as its file has it."""
        with self._store.write() as unit:
            document = unit.documents.get(document_id)
            found = next((one for one in self._reader.of(unit, document_id) if one.name == name), None)
            if found is None:
                raise UserError(
                    tr(
                        "Document {document} has no relation {name}. `curator relations` lists those it has.",
                        document=document.external_id,
                        name=name,
                    )
                )
            if found.fixed:
                raise UserError(
                    tr("{name} is an event with its own form: it is kept as the file has it.", name=found.name)
                )
            row = drop_relation(unit, found, author=self._curator(), at=self._clock.now())
            text = tr("Deleted the relation {words}", words=relation_words(unit, found))
            change = self._step(
                unit, OperationKind.DELETE_RELATION, text, document_id, found.mention_ids, deleted=[row]
            )
        return self._emit(change)

    def _added(
        self, unit: UnitOfWork, made: Sequence[Relation], pair: tuple[Mention, Mention], names: tuple[str, str]
    ) -> Change:
        document_id = pair[0].document_id
        there = self._reader.of(unit, document_id)
        new = [one for one in made if not any(one.says_the_same(other) for other in there)]
        words = tr("“{a}” → “{b}” ({type})", a=names[0], b=names[1], type=made[0].type)
        if not new:
            raise UserError(tr("The relation {words} is already there; nothing was changed.", words=words))
        at, author = self._clock.now(), self._curator()
        ids = [unit.mentions.add_relation(_with_roles(one, there), author=author, at=at) for one in new]
        text = tr("Added the relation {words}", words=words)
        return self._step(unit, OperationKind.ADD_RELATION, text, document_id, [one.id for one in pair], added=ids)

    def _step(
        self,
        unit: UnitOfWork,
        kind: OperationKind,
        text: str,
        document_id: int,
        mentions: Sequence[int],
        *,
        added: Sequence[int] = (),
        deleted: Sequence[int] = (),
    ) -> Change:
        payload = {
            "mentions": list(mentions),
            "documents": [document_id],
            "relations": {"added": list(added), "deleted": list(deleted)},
        }
        curator = self._curator()
        operation = unit.decisions.append_operation(
            kind, actor=curator, at=self._clock.now(), text=text, payload=payload
        )
        return Change(ChangeKind.RELATIONS, curator, text, (document_id,), tuple(mentions), operation)

    def _emit(self, change: Change) -> Change:
        self._events.emit(change)
        return change


def drop_relation(unit: UnitOfWork, relation: Relation, *, author: str, at: Any) -> int:
    """Mark it as deleted; returns the row that says so. One of the record gets a row with its first deletion."""
    if relation.id:
        unit.mentions.set_relations_deleted([relation.id], True)
        return relation.id
    return unit.mentions.add_relation(relation, author=author, at=at, deleted=True)


def restore_relations(unit: UnitOfWork, payload: Mapping[str, Any], *, forward: bool) -> list[int]:
    """Do again, or take back, what a step did to relations; returns the documents that it names."""
    steps = payload.get("relations")
    if not steps:
        return []
    unit.mentions.set_relations_deleted(steps["added"], not forward)
    unit.mentions.set_relations_deleted(steps["deleted"], forward)
    return [int(one) for one in payload.get("documents", ())]


def taken_over(
    unit: UnitOfWork, relations: Sequence[Relation], mention_id: int, other_id: int, *, author: str, at: Any
) -> tuple[dict[str, list[int]], int]:
    """Give the relations of `other_id`, which is joined with `mention_id`, to that one. Returns what the operation's
    payload says of it, and the number of relations that ended: those between the two, and events, which lose an end."""
    added: list[int] = []
    deleted: list[int] = []
    lost = 0
    for one in relations:
        if other_id not in one.mention_ids:
            continue
        new = replace(one.with_mentions({other_id: mention_id}), id=0, source="")
        if one.kind is not RelationKind.MENTIONS:
            lost += 1
            continue
        deleted.append(drop_relation(unit, one, author=author, at=at))
        if len(set(new.mention_ids)) < 2:
            lost += 1
        elif not any(other.says_the_same(new) for other in relations):
            added.append(unit.mentions.add_relation(new, author=one.author or author, at=one.at or at))
    return {"added": added, "deleted": deleted}, lost


def goes_along(relations: Sequence[Relation], mention_id: int) -> str:
    """What is said of the relations that go with a mention; '' where it has none."""
    number = sum(mention_id in one.mention_ids for one in relations)
    return ntr(" and its relation", " and its {n:,} relations", number) if number else ""


def checked_type(text: str) -> str:
    """Raises UserError where it is no type of a relation."""
    kind = " ".join(text.split())
    if not kind or len(kind) > LONGEST_TYPE or not kind.isprintable():
        raise UserError(tr("A relation needs a type of 1 to {longest} characters, such as CID.", longest=LONGEST_TYPE))
    return kind


def relation_words(unit: UnitOfWork, relation: Relation) -> str:
    """From what to what, and the type, for people."""
    mentions = unit.mentions.get_many(relation.mention_ids)
    names = [
        mentions[one.mention_id].text if one.mention_id is not None else _names(unit, (one.entity_id,)) or one.name
        for one in relation.ends
    ]
    return tr("“{a}” → “{b}” ({type})", a=names[0], b=names[-1], type=relation.type)


def _read(
    stated: SourceRelation,
    document_id: int,
    by_record: Mapping[int, Mention],
    living: set[int],
    meant: Mapping[str, str],
) -> Relation | None:
    """None where it has an end that is gone; of an event, where no end is left."""
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


def _pair(unit: UnitOfWork, first: int, second: int) -> tuple[Mention, Mention]:
    found = unit.mentions.get_many([first, second])
    one, other = found[first], found[second]
    for mention in (one, other):
        if mention.deleted:
            raise UserError(
                tr("Mention {id} (“{text}”) was deleted. Undo the deletion first.", id=mention.id, text=mention.text)
            )
    if first == second:
        raise UserError(tr("A relation needs two mentions: go to another one first."))
    if one.document_id != other.document_id:
        raise UserError(tr("A relation needs two mentions of the same document."))
    return one, other


def _linked(unit: UnitOfWork, mention: Mention) -> tuple[str, ...]:
    decision = unit.decisions.current([mention.id]).get(mention.id)
    if decision is None or decision.verdict.outcome is not Outcome.LINK:
        raise UserError(
            tr("“{text}” is not linked to an entity. Link it first, or relate the mentions.", text=mention.text)
        )
    return decision.verdict.entity_ids


def _names(unit: UnitOfWork, entity_ids: Sequence[str]) -> str:
    found = unit.kb.get_many(entity_ids)
    return " + ".join(found[one].name if one in found else one for one in entity_ids)


def _with_roles(relation: Relation, there: Sequence[Relation]) -> Relation:
    """With the roles that the type has in the document, where none are given."""
    if any(one.role for one in relation.ends):
        return relation
    same = next((one for one in there if (one.type, one.kind) == (relation.type, relation.kind)), None)
    if same is None:
        return relation
    ends = (replace(end, role=known.role) for end, known in zip(relation.ends, same.ends, strict=True))
    return replace(relation, ends=tuple(ends))
