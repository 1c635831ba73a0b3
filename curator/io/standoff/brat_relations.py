"""Relations of brat: `R` lines with two arguments, events (`E`) and equivalences (`*`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from curator.domain.relations import Relation, SourceEnd, SourceRelation
from curator.io.files.relations import roles_of, unique_keys
from curator.io.files.source import BOM, split_lines, without_line_end

_RELATION = re.compile(r"(R\S*)\t(\S+)((?: \S+:\S+)+)\s*")
_EVENT = re.compile(r"(E\S*)\t([^\s:]+):(T\S+)((?: [^\s:]+:\S+)*)\s*")
_EQUAL = re.compile(r"\*\t(\S+)((?: T\S+)+)\s*")
_TEXT = re.compile(r"(T\S+)\t\S+ [^\t]*(?:\t(.*))?", re.DOTALL)
_ROLE = re.compile(r"[\s:]")
TRIGGER = "trigger"


def relations_of(raw: str, extra: str) -> list[SourceRelation]:  # noqa: ARG001 as every format's
    """The relations of a document's annotations, in their order."""
    lines = [without_line_end(line).removeprefix(BOM) for line in split_lines(raw)]
    texts, records = dict[str, str](), dict[str, int]()
    for record, line in enumerate(lines):
        if entity := _TEXT.fullmatch(line):
            records.setdefault(entity[1], record)
            texts.setdefault(entity[1], entity[2] or "")
    triggers = {found[3] for line in lines if (found := _EVENT.fullmatch(line))}
    for one in triggers:
        records.pop(one, None)
    made = [one for line in lines if (one := _relation(line, records, texts)) is not None]
    keys = unique_keys([one.key for one in made])
    return [SourceRelation(key, one.type, one.ends, one.fixed) for key, one in zip(keys, made, strict=True)]


def _relation(line: str, records: Mapping[str, int], texts: Mapping[str, str]) -> SourceRelation | None:
    if found := _RELATION.fullmatch(line):
        ends = _ends(found[3].split(), records)
        plain = len(ends) == 2 and all(one.record >= 0 for one in ends)
        return SourceRelation(found[1], found[2], ends, fixed=not plain)
    if found := _EVENT.fullmatch(line):
        trigger = SourceEnd(TRIGGER, name=texts.get(found[3], found[3]))
        return SourceRelation(found[1], found[2], (trigger, *_ends(found[4].split(), records)), fixed=True)
    if found := _EQUAL.fullmatch(line):
        ends = _ends([f":{one}" for one in found[2].split()], records)
        return SourceRelation(" ".join([found[1], *found[2].split()]), found[1], ends, fixed=True)
    return None


def _ends(words: Sequence[str], records: Mapping[str, int]) -> tuple[SourceEnd, ...]:
    """The ends from `Role:Key` words."""
    pairs = [word.partition(":") for word in words]
    return tuple(
        SourceEnd(role, records[key]) if key in records else SourceEnd(role, name=key) for role, _, key in pairs
    )


def relation_line(key: str, relation: Relation, keys: Mapping[int, str]) -> str:
    """The line of a curator's relation, without its end. `keys` are those of the mentions."""
    ends = zip(roles_of(relation), relation.mention_ids, strict=True)
    words = " ".join(f"{_ROLE.sub('_', role)}:{keys[mention]}" for role, mention in ends)
    return f"{key}\t{relation_type(relation)} {words}\t"


def relation_type(relation: Relation) -> str:
    """The type in a form that brat allows."""
    return re.sub(r"\s", "_", relation.type)
