"""ZESHEL documents as entities: `documents/WORLD.json`, or a folder of such files.

The id is the document id, the type is the world. For a title that ends with a phrase in parentheses (`Mistfall ( audio
story )`), the title without it is a synonym. The definition is the text after the title, its first 200 tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from curator.domain.entities import Entity
from curator.domain.wording import UserError, tr
from curator.io.files.json_stream import LineError, first_object, has_keys
from curator.io.files.opening import own_file
from curator.io.files.source import BOM, Source
from curator.io.kb.base import KbReader
from curator.io.wiki.zeshel import DOCUMENT_KEYS, parse_document, world_name
from curator.services.ports.files import KbOptions

DEFINITION_TOKENS = 200

_PHRASE = re.compile(r"(.*\S)\s*\([^()]*\)\s*")


class ZeshelKbReader(KbReader):
    """Streams one or several documents files: a file, a folder of them, or a folder with a folder `documents`. A
    problem's line is in the file that it names."""

    format = "zeshel"
    title = "ZESHEL documents"
    refusal = f"{{path}} is not a ZESHEL documents file: its lines need the keys {', '.join(DOCUMENT_KEYS)}"

    def __init__(self, path: Path, options: KbOptions | None = None) -> None:
        super().__init__(path, options)
        self._sources = [Source(one) for one in (_files_in(path) if path.is_dir() else [path])]

    @staticmethod
    def sniff(head: bytes) -> bool:
        return has_keys(first_object(head), DOCUMENT_KEYS)

    @classmethod
    def open(cls, path: Path, options: KbOptions | None = None) -> Self:
        reader = cls(path, options)
        for source in reader._sources:
            if not cls.sniff(source.head()):
                raise UserError(tr(cls.refusal, path=source.path))
        return reader.prepared()

    @property
    def position(self) -> tuple[int, int]:
        done = sum(source.position[0] for source in self._sources)
        return done, sum(source.path.stat().st_size for source in self._sources)

    def prepare(self) -> None:
        for source in self._sources:
            source.verify()

    def entities(self) -> Iterator[tuple[int, Entity]]:
        for source in self._sources:
            world, name = world_name(source.path), source.path.name
            for number, line in enumerate(source.lines(), 1):
                if not line.strip():
                    continue
                try:
                    document = parse_document(line.removeprefix(BOM))
                except LineError as error:
                    self.problems.set_aside(tr("in {name}: the document {error}", name=name, error=error), number)
                    continue
                title = document.title.strip() or document.id
                definition = definition_of(document.title, document.text)
                found = Entity(document.id, title, synonyms_of(title), (world,), definition)
                yield number, found


def synonyms_of(title: str) -> tuple[str, ...]:
    """The title without its phrase in parentheses."""
    found = _PHRASE.fullmatch(title)
    return (found[1],) if found else ()


def definition_of(title: str, text: str) -> str:
    """The first tokens of the text after its title; `...` marks that there are more."""
    body = text[len(title) :] if title and text.startswith(title) else text
    tokens = body.split(None, DEFINITION_TOKENS)
    return " ".join(tokens[:DEFINITION_TOKENS]) + (" ..." if len(tokens) > DEFINITION_TOKENS else "")


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
