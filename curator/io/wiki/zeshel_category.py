"""ZESHEL's mention categories, by the published definition (Logeswaran et al. 2019, section 3.3)."""

from __future__ import annotations

import re
from pathlib import Path

from curator.domain.errors import UserError
from curator.io.files.source import BOM, Source
from curator.io.wiki.zeshel_lines import LineError, parse_document

_PHRASE = re.compile(r"\s*\(.*\)\s*")


def category(mention: str, title: str | None) -> str:
    """HIGH_OVERLAP: the title is the mention; MULTIPLE_CATEGORIES: the title is the mention and a phrase in
    parentheses; AMBIGUOUS_SUBSTRING: the mention is a part of the title; LOW_OVERLAP: all others, and mentions whose
    title is not known. Compared case-insensitively, whitespace collapsed.
    """
    if title is None:
        return "LOW_OVERLAP"
    words, name = " ".join(mention.split()).casefold(), " ".join(title.split()).casefold()
    if words == name:
        return "HIGH_OVERLAP"
    if words and name.startswith(words) and _PHRASE.fullmatch(name[len(words) :]):
        return "MULTIPLE_CATEGORIES"
    return "AMBIGUOUS_SUBSTRING" if words and words in name else "LOW_OVERLAP"


class Titles:
    """Titles of entities, read from the documents files beside the imported file while they are still there."""

    def __init__(self, source: Path | None) -> None:
        self._source = source
        self._worlds: dict[str, dict[str, str]] = {}

    def of(self, world: str, entity_id: str) -> str | None:
        """The title, None when the file is gone or does not hold the entity."""
        if self._source is None or not entity_id:
            return None
        if world not in self._worlds:
            self._worlds[world] = self._read(self._source, world)
        return self._worlds[world].get(entity_id)

    def _read(self, source: Path, world: str) -> dict[str, str]:
        for path in (source.parent.parent / "documents" / f"{world}.json", source.parent / f"{world}.json"):
            if path.is_file() and path != source:
                try:
                    return _titles(path)
                except UserError:  # damaged since the import: the categories stay the general one
                    return {}
        return {}


def _titles(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in Source(path).lines():
        try:
            document = parse_document(line.removeprefix(BOM))
        except LineError:
            continue
        found.setdefault(document.id, document.title)
    return found
