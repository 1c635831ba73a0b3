"""Shared by the readers of knowledge bases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import UserError, tr
from curator.io.files.reading import first_of
from curator.services.ports.files import KnowledgeBaseReader, Problem


@dataclass(frozen=True, slots=True)
class KbSource:
    """A kind of knowledge-base file: `sniff` gets the first bytes, `open` raises UserError.

    `sniff_path` recognises sources without text: folders and workbooks. `chooses` lists the `KbOptions` that it
    supports; if there are any, `open` gets them too.
    """

    name: str
    title: str
    sniff: Callable[[bytes], bool]
    open: Callable[..., KnowledgeBaseReader]
    sniff_path: Callable[[Path], bool] = lambda _: False
    chooses: frozenset[str] = frozenset()


Record = TypeVar("Record", Entity, ObsoleteEntity)
CONTROL = re.compile("[\x00-\x1f\x7f]")
_CONTROL_OF_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Without tabs and line ends, which a definition may have."""
_OTHER_IDS = ("alt_ids", "parents", "tree_numbers", "replaced_by", "consider")


def without_controls(record: Record, line: int, problems: list[Problem]) -> Record | None:
    """The record without control characters, which SQLite and PostgreSQL do not handle everywhere.

    None, with a problem, if its identifier has one, or its name nothing else. Texts lose theirs, and other identifiers
    with one are left out.
    """
    every = {one.name: getattr(record, one.name) for one in fields(record)}
    lists: dict[str, tuple[str, ...]] = {key: value for key, value in every.items() if isinstance(value, tuple)}
    texts = record.id, record.name, *(text for values in lists.values() for text in values)
    if CONTROL.search("".join(texts)) is None and _CONTROL_OF_TEXT.search(record.definition) is None:
        return record
    name, definition = _spaced(record.name), _CONTROL_OF_TEXT.sub(" ", record.definition)
    if not name or CONTROL.search(record.id) is not None:
        text = tr(
            "entity {id}: its identifier contains control characters, or its name nothing else", id=repr(record.id)
        )
        problems.append(Problem(line, "set aside", text))
        return None
    text = tr(
        "entity {id}: control characters were removed, and other identifiers that contain them left out", id=record.id
    )
    problems.append(Problem(line, "repaired", text))
    clean: dict[str, Any] = {
        key: tuple(one for one in values if CONTROL.search(one) is None)
        if key in _OTHER_IDS
        else clean_names(map(_spaced, values), besides=name if key == "synonyms" else "")
        for key, values in lists.items()
    }
    return replace(record, name=name, definition=definition.strip(), **clean)


def keep_obsolete(read: ObsoleteEntity, line: int, kept: list[ObsoleteEntity], problems: list[Problem]) -> None:
    """Add it to `kept`. See `without_controls`."""
    if (old := without_controls(read, line, problems)) is not None:
        kept.append(old)


def _spaced(text: str) -> str:
    return " ".join(CONTROL.sub(" ", text).split())


def first_of_each(found: Iterable[tuple[int, Entity]], problems: list[Problem]) -> Iterator[Entity]:
    """Entities with their lines (0 if unknown), each id once: the first is used, the others are reported. See also
    `without_controls`."""
    lines: dict[str, int] = {}
    for line, read in found:
        entity = without_controls(read, line, problems)
        if entity is None:
            continue
        if entity.id in lines:
            text = tr(
                "entity {id} ({name}) was already defined in line {lines}; that definition is kept",
                id=entity.id,
                name=entity.name,
                lines=lines[entity.id],
            )
            if not line:
                text = tr(
                    "entity {id} ({name}) was already defined; that definition is kept", id=entity.id, name=entity.name
                )
            problems.append(Problem(line, "set aside", text))
            continue
        lines[entity.id] = line
        yield entity


def needs_some(entities: Iterable[Entity], path: Path, problems: list[Problem]) -> Iterator[Entity]:
    """The entities; raises UserError if there are none."""
    count = 0
    for count, entity in enumerate(entities, 1):  # noqa: B007  # the count is used after the loop
        yield entity
    if not count:
        why = first_of(problems)
        raise UserError(tr("{path} contains no usable entity{why}", path=path, why=why))


def clean_names(names: Iterable[str], besides: str = "") -> tuple[str, ...]:
    """Stripped names, without empty ones, duplicates and `besides`."""
    stripped = (name.strip() for name in names)
    return tuple(dict.fromkeys(name for name in stripped if name and name != besides))
