"""Relations of BioC: between annotations by their ids (`node`), or between entities named in infons.

BioRED names entities as `entity1` and `entity2`, the CDR corpus as `Chemical` and `Disease`, PubTator 3 as `role1` and
`role2`, in XML with the entity's type before it (`Chemical|MESH:D008012`). The name of the infon is the end's role,
which is also used to write a curator's relations of the type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from curator.domain.relations import Relation, RelationKind, SourceEnd, SourceRelation
from curator.io.bioc.bioc import BioCDocument, BioCRelation, Infons
from curator.io.bioc.bioc_ids import InfonStyle
from curator.io.files.export import FreeNames
from curator.io.files.idstyle import typed_entity
from curator.io.files.relations import roles_of, unique_keys

_TYPES = ("type", "relation", "relation type", "relationtype", "predicate")
_SAYS_MORE = frozenset({"novel", "novelty", "note", "score", "confidence", "probability", "annotator", "updated_at"})
_NOVELTY = ("Novel", "No")  # in BioRED
_IDENTIFIER = re.compile(r"(?![-+]?(\d*\.\d+(e[-+]?\d+)?|\d+e-\d+)$)\S*\d\S*", re.IGNORECASE)
"""A word with a digit that is not a decimal fraction."""
_ENTITIES = ("entity1", "entity2")
CDR = "CID"
CDR_ROLES = ("Chemical", "Disease")
"""The relation of the CDR corpus, whose type is in the infon `relation`, and the names of its ends."""


def stated_relations(
    document: BioCDocument, relations: Sequence[BioCRelation], style: InfonStyle
) -> list[SourceRelation]:
    """The relations of a document, in the order of its tree."""
    records: dict[tuple[int, int, str], int] = {}
    for record, one in reversed(list(enumerate(document.annotations))):
        records[one.passage, one.sentence, one.id] = records[-2, -2, one.id] = record
    keys = unique_keys([one.id or "relation" for one in relations])
    return [_stated(key, one, records, style) for key, one in zip(keys, relations, strict=True)]


def _stated(
    key: str, one: BioCRelation, records: Mapping[tuple[int, int, str], int], style: InfonStyle
) -> SourceRelation:
    named = _type_infon(one.infons)
    kind = dict(one.infons).get(named, "") or "relation"
    entities = _entities(one.infons, named)
    note = " ".join(value for key, value in one.infons if key.lower() in _SAYS_MORE and not key.endswith("_at"))
    if len(entities) == 2:
        stated = [(role, typed_entity(value)[1]) for role, value in entities]
        ids = [(role, words, style.ids.split(words, "")) for role, words in stated]
        whole = [(role, words, found) for role, words, found in ids if len(found) == 1 or (found and not one.nodes)]
        ends = [SourceEnd(role, entity=found[0] if len(found) == 1 else words) for role, words, found in whole]
        if len(ends) == 2:
            return SourceRelation(key, kind, tuple(ends), note=note)
    found = [(role, refid, _record(one, refid, records)) for refid, role in one.nodes]
    ends = [SourceEnd(role, record, name="" if record >= 0 else refid) for role, refid, record in found]
    ends = ends or [SourceEnd(role, name=value) for role, value in entities]  # one, or more than two
    return SourceRelation(key, kind, tuple(ends), fixed=len(ends) != 2 or any(e.record < 0 for e in ends), note=note)


def _record(one: BioCRelation, refid: str, records: Mapping[tuple[int, int, str], int]) -> int:
    """The record of the annotation with this id; if ids are reused, of the one in the same passage."""
    return records.get((one.passage, one.sentence, refid), records.get((-2, -2, refid), -1))


def _type_infon(infons: Infons) -> str:
    """The name of the infon with the type, '' if there is none."""
    return next((key for name in _TYPES for key, _ in infons if key.lower() == name), "")


def _entities(infons: Infons, named: str) -> Infons:
    """Infons that name an entity."""
    return [
        (key, value)
        for key, value in infons
        if key != named and key.lower() not in _SAYS_MORE and _IDENTIFIER.fullmatch(value)
    ]


def written_relation(
    relation: Relation, key: str, ids: Mapping[int, str], style: InfonStyle, there: Sequence[BioCRelation]
) -> BioCRelation:
    """A curator's relation under the id `key`. `ids` are the annotation ids of mentions, `there` the document's
    relations, whose name for the type is used."""
    usual = ("relation", CDR_ROLES) if relation.type == CDR else ("type", _ENTITIES)
    named = next((found for one in there if (found := _type_infon(one.infons))), usual[0])
    infons = [(named, relation.type)]
    nodes: list[tuple[str, str]] = []
    if relation.kind is RelationKind.ENTITIES:
        roles = [end.role or name for end, name in zip(relation.ends, usual[1], strict=True)]
        infons += [(role, style.ids.spell(end.entity_id)) for role, end in zip(roles, relation.ends, strict=True)]
    else:
        nodes = [(ids[one], role) for one, role in zip(relation.mention_ids, roles_of(relation), strict=True)]
    if relation.note:
        infons.append(("novel" if relation.note in _NOVELTY else "note", relation.note))
    if relation.author and relation.at is not None:
        infons += [("annotator", relation.author), ("updated_at", relation.at.isoformat(timespec="seconds"))]
    return BioCRelation(key, infons, nodes)


def fresh_id(taken: FreeNames) -> str:
    """An id that no relation of the document has, as `R0`."""
    return taken.take("R0", lambda number: f"R{number - 1}")
