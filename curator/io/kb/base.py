"""Shared by the readers of knowledge bases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from curator.domain.entities import Entity
from curator.domain.wording import UserError, tr
from curator.io.files import first_of
from curator.services.ports import KnowledgeBaseReader, Problem


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


def first_of_each(found: Iterable[tuple[int, Entity]], problems: list[Problem]) -> Iterator[Entity]:
    """Entities with their lines, each id once: the first is used, the others are reported."""
    lines: dict[str, int] = {}
    for line, entity in found:
        if entity.id in lines:
            text = tr(
                "entity {id} ({name}) was already defined in line {lines}; that definition is kept",
                id=entity.id,
                name=entity.name,
                lines=lines[entity.id],
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
