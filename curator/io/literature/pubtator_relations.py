"""Relations in PubTator: lines `PMID<tab>Type<tab>ID<tab>ID`, between entities rather than mentions.

An end may have its entity's type (`Chemical|MESH:D008012`), which is its role; a variant's form (`c|DEL|12_14|`) is an
entity. Other roles than types have no place in PubTator. Further columns, such as BioRED's novelty, are a
note.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from curator.domain.relations import Relation, RelationKind, SourceEnd, SourceRelation
from curator.io.bioc.bioc_relations import CDR, CDR_ROLES
from curator.io.files.idstyle import IdStyle, typed_entity
from curator.io.files.relations import unique_keys
from curator.io.files.source import split_lines, without_line_end

NAME = re.compile(r"[A-Za-z][A-Za-z _:-]*(:\d+)?")
"""The form of the second column of a relation's line."""


def relations_of(raw: str, extra: str) -> list[SourceRelation]:
    """The relations of a document's record, in its order."""
    style = IdStyle.load(extra)
    return [relation for _, relation in relation_lines(raw, style)]


def relation_lines(raw: str, style: IdStyle) -> Iterator[tuple[int, SourceRelation]]:
    """The relation lines, with their numbers in the record, from 0."""
    tabbed = ((number, line) for number, line in enumerate(split_lines(raw)) if "\t" in line)
    lines = ((number, without_line_end(line).split("\t")) for number, line in tabbed)
    rows = [(number, columns) for number, columns in lines if is_relation(columns)]
    keys = unique_keys([" ".join(one.strip() for one in columns[1:4]) for _, columns in rows])
    for (number, columns), key in zip(rows, keys, strict=True):
        ends = tuple(_end(one, style) for one in columns[2:4])
        note = " ".join(one.strip() for one in columns[4:]).strip()
        yield number, SourceRelation(key, columns[1].strip(), ends, note=note)


def is_relation(columns: Sequence[str]) -> bool:
    return len(columns) >= 4 and NAME.fullmatch(columns[1]) is not None


def relation_line(pmid: str, relation: Relation, style: IdStyle, types: Collection[str]) -> str | None:
    """The line of a relation that is not in the record, without its end; None if PubTator has no form for it. A role is
    written only if it is one of these `types` of mentions. The chemical of `CID` is first."""
    if relation.kind is not RelationKind.ENTITIES or NAME.fullmatch(relation.type) is None:
        return None
    reverse = relation.type == CDR and [one.role for one in relation.ends] == [*reversed(CDR_ROLES)]
    ends = [
        f"{one.role}|" * (one.role in types) + style.spell(one.entity_id)
        for one in (reversed(relation.ends) if reverse else relation.ends)
    ]
    note = [" ".join(relation.note.split())] if relation.note else []
    return "\t".join([pmid, relation.type, *ends, *note])


def _end(column: str, style: IdStyle) -> SourceEnd:
    role, words = typed_entity(column)
    ids = style.split(words, "")
    return SourceEnd(role, entity=ids[0] if len(ids) == 1 else words)
