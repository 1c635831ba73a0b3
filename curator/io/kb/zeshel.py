"""ZESHEL documents as entities: `documents/WORLD.json`, or a folder of such files.

The id is the document id, the type is the world. For a title that ends with a phrase in parentheses (`Mistfall ( audio
story )`), the title without it is a synonym. The definition is the text after the title, its first 200 tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import UserError, tr
from curator.io.files.opening import own_file
from curator.io.files.source import BOM, Source
from curator.io.kb.base import KbSource, first_of_each, needs_some
from curator.io.wiki.zeshel import DOCUMENT_KEYS, LineError, first_object, has_keys, parse_document, world_name
from curator.services.ports.files import Problem

DEFINITION_TOKENS = 200

_PHRASE = re.compile(r"(.*\S)\s*\([^()]*\)\s*")


class ZeshelKbReader:
    """Streams one or several documents files. A problem's line is in the file that it names."""

    format = "zeshel"

    def __init__(self, paths: Sequence[Path]) -> None:
        self._sources = [Source(path) for path in paths]
        self.problems: list[Problem] = []
        self.obsolete: list[ObsoleteEntity] = []

    @property
    def position(self) -> tuple[int, int]:
        done = sum(source.position[0] for source in self._sources)
        return done, sum(source.path.stat().st_size for source in self._sources)

    def prepare(self) -> None:
        for source in self._sources:
            source.verify()

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        entities = first_of_each(self._entities(), self.problems)
        yield from needs_some(entities, self._sources[0].path, self.problems)

    def _entities(self) -> Iterator[tuple[int, Entity]]:
        for source in self._sources:
            world = world_name(source.path)
            for number, line in enumerate(source.lines(), 1):
                if not line.strip():
                    continue
                try:
                    document = parse_document(line.removeprefix(BOM))
                except LineError as error:
                    text = tr("in {name}: the document {error}", name=source.path.name, error=error)
                    self.problems.append(Problem(number, "set aside", text))
                    continue
                title = document.title.strip() or document.id
                yield (
                    number,
                    Entity(
                        document.id,
                        title,
                        synonyms=synonyms_of(title),
                        types=(world,),
                        definition=definition_of(document.title, document.text),
                    ),
                )


def synonyms_of(title: str) -> tuple[str, ...]:
    """The title without its phrase in parentheses."""
    found = _PHRASE.fullmatch(title)
    return (found[1],) if found else ()


def definition_of(title: str, text: str) -> str:
    """The first tokens of the text after its title; `...` marks that there are more."""
    body = text[len(title) :] if title and text.startswith(title) else text
    tokens = body.split(None, DEFINITION_TOKENS)
    return " ".join(tokens[:DEFINITION_TOKENS]) + (" ..." if len(tokens) > DEFINITION_TOKENS else "")


def sniff(head: bytes) -> bool:
    return has_keys(first_object(head), DOCUMENT_KEYS)


def open_reader(path: Path) -> ZeshelKbReader:
    """A file, a folder of documents files, or a folder with a folder `documents`. Raises UserError."""
    paths = _files_in(path) if path.is_dir() else [path]
    for each in paths:
        if not sniff(Source(each).head()):
            keys = ", ".join(DOCUMENT_KEYS)
            raise UserError(
                tr("{each} is not a ZESHEL documents file: its lines need the keys {keys}", each=each, keys=keys)
            )
    reader = ZeshelKbReader(paths)
    reader.prepare()
    return reader


def _files_in(folder: Path) -> list[Path]:
    inner = folder / "documents"
    place = inner if inner.is_dir() else folder
    found = sorted(own_file(one, folder) for one in (*place.glob("*.json"), *place.glob("*.json.gz")))
    if not found:
        raise UserError(
            tr(
                "{folder} is a folder without ZESHEL documents (WORLD.json): choose a file or another folder",
                folder=folder,
            )
        )
    return found


ZESHEL = KbSource("zeshel", "ZESHEL documents", sniff, open_reader)
