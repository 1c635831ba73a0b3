"""Export of the updated knowledge base: its entities, obsolete ones too, names learned from decisions, and provisional
entities.

A name is learned if a string was linked to one entity in at least `least` documents, by at least `SHARE` of its links,
and is not yet a name of the entity: within one document authors abbreviate freely. Decisions of split `test` are not
used: the exported file may be imported as a knowledge base, and would leak them to the linker.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import UserError, guarded_row, tr
from curator.services.core.context import Context, Service
from curator.services.ports.files import FileWriter
from curator.services.ports.storage import UnitOfWork

LEAST = 2
SHARE = 0.8
SHORTEST = 2
"""The least characters of a learned name; a single one would match everywhere."""


@dataclass(frozen=True, slots=True)
class TaughtName:
    """A new name of an entity, with the numbers of links and documents of the string."""

    entity_id: str
    name: str
    synonym: str
    decisions: int
    documents: int


@dataclass(frozen=True, slots=True)
class KbExport:
    path: Path
    list_path: Path
    entities: int
    provisional: int
    names: int


class KnowledgeExport(Service):
    def __init__(self, context: Context, files: FileWriter) -> None:
        super().__init__(context)
        self._files = files

    def taught(self, *, least: int = LEAST) -> list[TaughtName]:
        """The names learned from decisions, by entity."""
        with self._store.read() as unit:
            return _taught(unit, least)

    def export(self, out: Path, *, least: int = LEAST) -> KbExport:
        """Write JSON lines for `kb import`, and next to them `….names.csv`, which lists new names with their counts.

        Raises UserError if there is no knowledge base or the files cannot be written; then nothing is changed.
        """
        list_path = out.with_name(f"{out.stem}.names.csv")
        with self._store.read() as unit:
            info = unit.kb.info()
            if info is None:
                raise UserError(tr("The project has no knowledge base yet. Import one first."))
            names = _taught(unit, least)
            made = sorted((one.entity for one in unit.kb.all_provisional()), key=lambda one: one.id)
            lines = _lines(unit, names, made)
            self._files.write({list_path: _list(names)})
            self._files.stream(out, lines)
        return KbExport(out, list_path, info.entities + len(made), len(made), len(names))


def _lines(unit: UnitOfWork, names: list[TaughtName], made: list[Entity]) -> Iterator[bytes]:
    by_entity: defaultdict[str, list[str]] = defaultdict(list)
    for one in names:
        by_entity[one.entity_id].append(one.synonym)
    known: set[str] = set()
    for entity in unit.kb.iterate():
        known.add(entity.id)
        yield _line(replace(entity, synonyms=(*entity.synonyms, *by_entity[entity.id])))
    for entity in made:
        if entity.id not in known:  # a knowledge base may already contain provisional entities
            yield _line(replace(entity, synonyms=(*entity.synonyms, *by_entity[entity.id])))
    for source in unit.kb.sources():
        for old in unit.kb.obsolete_of(source.name):
            yield _line(old)


def _line(entity: Entity | ObsoleteEntity) -> bytes:
    """Its fields without the empty ones, as `curator.io.kb.jsonl` reads them."""
    values = ((one.name, getattr(entity, one.name)) for one in fields(entity))
    row: dict[str, Any] = {key: value for key, value in values if value}
    if entity.definition:
        row["definition"] = row.pop("definition")  # the last
    if isinstance(entity, ObsoleteEntity):
        row["obsolete"] = True
    return (json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def _list(names: list[TaughtName]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("entity", "name", "synonym", "decisions", "documents"))
    rows = ((one.entity_id, one.name, one.synonym, one.decisions, one.documents) for one in names)
    writer.writerows(map(guarded_row, rows))
    return out.getvalue().encode("utf-8", "surrogatepass")


def _taught(unit: UnitOfWork, least: int) -> list[TaughtName]:
    """The learned names; spellings that differ only in case and spacing count together, under the most frequent one."""
    seen: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    documents: Counter[tuple[str, str]] = Counter()
    links: Counter[str] = Counter()
    for entity_id, text, decisions, in_documents in unit.records.decided_names():
        key = entity_id, _fold(text)
        seen[key][" ".join(text.split())] += decisions
        documents[key] = max(documents[key], in_documents)
        links[_fold(text)] += decisions
    enough = {
        key: spellings
        for key, spellings in seen.items()
        if len(key[1]) >= SHORTEST and documents[key] >= least and spellings.total() >= SHARE * links[key[1]]
    }
    entities = unit.kb.get_many(sorted({entity_id for entity_id, _ in enough}))
    found = []
    for (entity_id, folded), spellings in sorted(enough.items()):
        entity = entities.get(entity_id)
        if entity is None or folded in {_fold(one) for one in (entity.name, *entity.synonyms)}:
            continue
        best = min(spellings, key=lambda one: (-spellings[one], one))
        found.append(TaughtName(entity_id, entity.name, best, spellings.total(), documents[entity_id, folded]))
    return found


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
