"""Relations of documents: those stated in their records, and those added and deleted by curators.

A relation exists as long as its mentions: it disappears with a deleted mention, and returns when that is undone. An
operation's payload lists in `relations` the rows that it `added` and `deleted`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from threading import Lock
from typing import Any

from curator.domain.decisions import Change, OperationKind, Outcome
from curator.domain.documents import Mention
from curator.domain.relations import LONGEST_TYPE, Relation, RelationEdit, RelationEnd, RelationKind
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.core.relation_reading import (
    DocumentRelations,
    RelationReader,
    end_words,
    entity_names,
)
from curator.services.curating.deciding import step_in
from curator.services.ports.curation import RelationEnding, RelationStep
from curator.services.ports.storage import UnitOfWork

SAMPLED = 200
"""The number of documents whose records are sampled for types of relations."""


class RelationService(Service):
    """Adds and deletes relations."""

    def __init__(self, context: Context, reader: RelationReader) -> None:
        super().__init__(context)
        self._reader = reader
        self._types: tuple[int, dict[str, int]] | None = None
        self._steps = RelationSteps()

    def of_document(self, document_id: int) -> list[Relation]:
        """Every current relation: those of the record first. Raises UserError for an unknown document."""
        with self._store.read() as unit:
            unit.documents.get(document_id)
            return self._reader.of(unit, document_id)

    def with_names(self, document_id: int) -> list[DocumentRelations]:
        """The relations of a document with the names of their ends, empty if it has none. Raises UserError for an
        unknown document."""
        with self._store.read() as unit:
            unit.documents.get(document_id)
            return self._reader.with_names(unit, [document_id])

    def history(self, mention_id: int) -> list[RelationEdit]:
        """Every addition and deletion of a relation of the mention, oldest first, including undone ones and the undo
        steps, and those removed with another mention. Relations between entities belong to the mentions currently
        linked to them."""
        with self._store.read() as unit:
            decision = unit.decisions.current([mention_id]).get(mention_id)
            linked = decision.verdict.entity_ids if decision is not None else ()
            found = {one.relation.id: one.relation for one in unit.relations.about(mention_id, linked)}
            steps = self._steps.of(unit, found) if found else []
            words = relations_words(unit, [found[one.relation_id] for one in steps])
            endings = self._steps.endings(unit, mention_id)
        edits = [
            (one.operation_id, RelationEdit(text, one.deleted, one.actor, one.at))
            for text, one in zip(words, steps, strict=True)
        ]
        edits += [
            (one.operation_id, RelationEdit(one.words, one.deleted, one.actor, one.at, with_mention=True))
            for one in endings
        ]
        return [edit for _, edit in sorted(edits, key=lambda one: one[0])]

    def types(self) -> dict[str, int]:
        """Types of relations with their frequencies. Records are only sampled."""
        with self._store.read() as unit:
            found = Counter(unit.relations.types())
            documents = unit.documents.ids()
            if self._types is None or self._types[0] != len(documents):
                step = max(len(documents) // SAMPLED, 1)
                sample = self._reader.stated(unit, documents[::step])
                stated = (one for each in sample.values() for one in each)
                self._types = (len(documents), dict(Counter(one.type for one in stated if not one.fixed)))
        return dict(found + Counter(self._types[1]))

    def add(self, first: int, second: int, relation_type: str, *, roles: tuple[str, str] = ("", "")) -> Change:
        """Add a relation from the first mention to the second; '' as role means the type's role in the document.

        Raises UserError for an unknown mention, two documents, the same mention twice, an invalid type, and an existing
        relation.
        """
        with self._store.write() as unit:
            one, other = _pair(unit, first, second)
            ends = (RelationEnd(roles[0], one.id), RelationEnd(roles[1], other.id))
            made = Relation(0, one.document_id, checked_type(relation_type), ends)
            change = self._added(unit, [made], (one, other), (one.text, other.text))
        return self._emit(change)

    def add_between_entities(self, first: int, second: int, relation_type: str) -> Change:
        """Add a relation from the first mention's entity to the second's; for composite mentions one for each pair, as
        one step. Raises UserError like `add`, and for a mention that is not linked."""
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
        """Delete a relation by its name; undo restores it. Raises UserError for an unknown name, and for an event,
        which is kept as in its file."""
        with self._store.write() as unit:
            document = unit.documents.get(document_id)
            found = next((one for one in self._reader.of(unit, document_id) if one.name == name), None)
            if found is None:
                raise UserError(
                    tr(
                        "Document {document} has no relation {name}.",
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
        ids = [unit.relations.add(_with_roles(one, there), author=author, at=at) for one in new]
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
        who, clock = self._curator(), self._clock
        return step_in(unit, kind, text, payload, curator=who, clock=clock, documents=[document_id])


class RelationSteps:
    """The log of operations on rows of relations. The log only grows, so each part of it is read once, since a
    mention's history is shown after a key press. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._read_up_to = 0
        self._steps: defaultdict[int, list[RelationStep]] = defaultdict(list)
        self._endings: defaultdict[int, list[RelationEnding]] = defaultdict(list)

    def endings(self, unit: UnitOfWork, mention_id: int) -> list[RelationEnding]:
        """The relations of a mention that were removed or restored with another mention, oldest first."""
        with self._lock:
            self._read_on(unit)
            return list(self._endings.get(mention_id, ()))

    def of(self, unit: UnitOfWork, relations: Mapping[int, Relation]) -> list[RelationStep]:
        """The log of these rows by id, oldest first. Entries before a row's creation belong to an earlier row with the
        same id, whose import was removed."""
        with self._lock:
            self._read_on(unit)
            found = [step for one in relations for step in self._steps.get(one, ())]
        made = {one: relation.at for one, relation in relations.items()}
        kept = [one for one in found if (at := made[one.relation_id]) is None or one.at >= at]
        return sorted(kept, key=lambda one: (one.operation_id, not one.deleted))

    def _read_on(self, unit: UnitOfWork) -> None:
        new, last = unit.operations.relation_steps(after=self._read_up_to)
        if last <= self._read_up_to:
            return
        for one in new:
            self._steps[one.relation_id].append(one)
        for ending in unit.operations.relation_endings(after=self._read_up_to):
            self._endings[ending.mention_id].append(ending)
        self._read_up_to = last


def drop_relation(unit: UnitOfWork, relation: Relation, *, author: str, at: Any) -> int:
    """Mark a relation as deleted; returns its row. A relation of the record gets a row when it is first deleted."""
    if relation.id:
        unit.relations.set_deleted([relation.id], True)
        return relation.id
    return unit.relations.add(relation, author=author, at=at, deleted=True)


def restore_relations(unit: UnitOfWork, payload: Mapping[str, Any], *, forward: bool) -> list[int]:
    """Redo or undo a step's changes of relations; returns the documents that it names."""
    steps = payload.get("relations")
    if not steps:
        return []
    unit.relations.set_deleted(steps["added"], not forward)
    unit.relations.set_deleted(steps["deleted"], forward)
    return [int(one) for one in payload.get("documents", ())]


def taken_over(
    unit: UnitOfWork, relations: Sequence[Relation], mention_id: int, other_id: int, *, author: str, at: Any
) -> tuple[dict[str, list[int]], int]:
    """Move the relations of `other_id` to `mention_id`, with which it is joined. Returns their entry in the operation's
    payload, and the number of relations that ended: those between the two, and events, which lose an end."""
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
            added.append(unit.relations.add(new, author=one.author or author, at=one.at or at))
    return {"added": added, "deleted": deleted}, lost


def ended_by(unit: UnitOfWork, relations: Sequence[Relation], mention_id: int) -> list[dict[str, Any]]:
    """The entry about relations in the operation that deletes a mention, for the history of the other mentions."""
    gone = [one for one in relations if mention_id in one.mention_ids]
    others = [[each for each in dict.fromkeys(one.mention_ids) if each != mention_id] for one in gone]
    return [{"mentions": ids, "text": text} for ids, text in zip(others, relations_words(unit, gone), strict=True)]


def goes_along(relations: Sequence[Relation], mention_id: int) -> str:
    """The words about relations removed with a mention; '' if it has none."""
    number = sum(mention_id in one.mention_ids for one in relations)
    return ntr(" and its relation", " and its {n:,} relations", number) if number else ""


def checked_type(text: str) -> str:
    """Raises UserError if it is not a valid relation type."""
    kind = " ".join(text.split())
    if not kind or len(kind) > LONGEST_TYPE or not kind.isprintable():
        raise UserError(tr("A relation needs a type of 1 to {longest} characters, such as CID.", longest=LONGEST_TYPE))
    return kind


def relation_words(unit: UnitOfWork, relation: Relation) -> str:
    """A relation's ends and type, for display."""
    return relations_words(unit, [relation])[0]


def relations_words(unit: UnitOfWork, relations: Sequence[Relation]) -> list[str]:
    """The same of several, in their order."""
    mentions = unit.mentions.get_many([id_ for one in relations for id_ in one.mention_ids])
    texts = {one: mention.text for one, mention in mentions.items()}
    entities = entity_names(unit, {id_ for one in relations for id_ in one.entity_ids})
    ends = [[end_words(end, texts, entities) for end in one.ends] for one in relations]
    return [
        tr("“{a}” → “{b}” ({type})", a=names[0], b=names[-1], type=one.type)
        for names, one in zip(ends, relations, strict=True)
    ]


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
    """The relation with the type's roles in the document, if none are given."""
    if any(one.role for one in relation.ends):
        return relation
    same = next((one for one in there if (one.type, one.kind) == (relation.type, relation.kind)), None)
    if same is None:
        return relation
    ends = (replace(end, role=known.role) for end, known in zip(relation.ends, same.ends, strict=True))
    return replace(relation, ends=tuple(ends))
