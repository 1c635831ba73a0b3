"""Relations in files: their keys, and the relations of a document that are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from curator.domain.relations import Relation, RelationKind
from curator.domain.wording import ntr, tr
from curator.services.ports.files import ExportDocument, Problem

USUAL_ROLES = ("Arg1", "Arg2")
"""Default roles, for formats that need them."""
WIDOWED = "widowed"


def unique_keys(keys: Sequence[str]) -> list[str]:
    """`R1`, `R1` -> `R1`, `R1 #2`."""
    seen: Counter[str] = Counter()
    found = []
    for key in keys:
        seen[key] += 1
        found.append(key if seen[key] == 1 else f"{key} #{seen[key]}")
    return found


def relations_for(
    item: ExportDocument,
    problems: list[Problem],
    *,
    own: bool,
    kinds: Collection[RelationKind],
    written: Collection[int],
    title: str,
) -> list[Relation]:
    """The relations to write in addition to the record: with `own`, only the curators', since the record is written
    anyway; without a record of this format, all. Relations that cannot be written are noted in `problems`.

    `kinds` are the kinds of the format `title`, `written` the ids of the mentions in the file.
    """
    if not item.relations:
        return []
    wanted = [one for one in item.relations if not (own and one.source)]
    known = [one for one in wanted if one.kind in kinds]
    chosen = [one for one in known if all(end in written for end in one.mention_ids)]
    left = Counter(one.kind.value for one in wanted if one.kind not in kinds)
    left[WIDOWED] += len(known) - len(chosen)
    for what, number in left.items():
        if number:
            problems.append(Problem(0, "note", _left_out(what, number, item.document.external_id, title)))
    return chosen


def roles_of(relation: Relation) -> tuple[str, str]:
    """The roles, or the usual ones if there are none."""
    first, second = (end.role or usual for end, usual in zip(relation.ends, USUAL_ROLES, strict=True))
    return first, second


def unwritten(item: ExportDocument, problems: list[Problem], relation: Relation, title: str) -> None:
    """Note a relation that the format cannot represent."""
    text = tr(
        "document {document}: {format} cannot store a relation of the type {type}: left out",
        document=item.document.external_id,
        format=title,
        type=relation.type,
    )
    problems.append(Problem(0, "note", text))


def _left_out(what: str, n: int, document: str, title: str) -> str:
    if what == RelationKind.MENTIONS:
        return ntr(
            "document {document}: {n} relation between mentions was left out: {format} does not hold any",
            "document {document}: {n:,} relations between mentions were left out: {format} does not hold any",
            n,
            document=document,
            format=title,
        )
    if what == RelationKind.ENTITIES:
        return ntr(
            "document {document}: {n} relation between entities was left out: {format} does not hold any",
            "document {document}: {n:,} relations between entities were left out: {format} does not hold any",
            n,
            document=document,
            format=title,
        )
    if what == RelationKind.EVENT:
        return ntr(
            "document {document}: {n} event was left out: it can be written only as it came",
            "document {document}: {n:,} events were left out: they can be written only as they came",
            n,
            document=document,
        )
    return ntr(
        "document {document}: {n} relation was left out together with its mention",
        "document {document}: {n:,} relations were left out together with their mentions",
        n,
        document=document,
    )
