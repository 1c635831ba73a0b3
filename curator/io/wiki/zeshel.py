"""ZESHEL / Wikia: `mentions/NAME.json` next to `documents/WORLD.json`, or only a documents file.

A mention's type is its world (`corpus`), like the types of the knowledge base read from the same documents, so that
candidates stay within the world. The text is the file's, including the title, since token indices count it.
`SourceMention.record` is the mention's line (from 0) in the mentions file; the whole mentions file is kept in `extra`
with the world and line of each context document, so that both files can be written back byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from curator.domain.documents import SourceDocument, SourceFile, SourceMention
from curator.domain.wording import UserError, tr
from curator.io.files.opening import own_file
from curator.io.files.reading import DocumentSourceReader
from curator.io.files.source import BOM, Source
from curator.io.wiki.zeshel_lines import (
    DOCUMENT_KEYS,
    MENTION_KEYS,
    DocumentLine,
    LineError,
    MentionLine,
    WhitespaceTokens,
    first_object,
    has_keys,
    parse_document,
    parse_mention,
    passages_of,
)
from curator.io.wiki.zeshel_write import write_files
from curator.services.ports.files import Carries, DocumentReader, ExportDocument, Problem


class _Reader(DocumentSourceReader):
    """Base of both readers."""

    format = "zeshel"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._path = path

    def _note_surrogates(self, document: DocumentLine, where: str, line: int) -> None:
        if document.replaced:
            text = tr("{where} {id} contains lone surrogates, read as U+FFFD", where=where, id=document.id)
            self._problem(line, "repaired", text)


class ZeshelMentionReader(_Reader):
    """Yields the context documents of a mentions file, world by world, each world in its documents file's order."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._worlds: dict[str, Source] = {}
        self._wanted: dict[str, dict[str, list[MentionLine]]] = {}
        self._content = ""
        self._early: list[Problem] = []

    @property
    def position(self) -> tuple[int, int]:
        pairs = [self._source.position] + [source.position for source in self._worlds.values()]
        done = sum(pair[0] for pair in pairs)
        total = self._source.path.stat().st_size + sum(s.path.stat().st_size for s in self._worlds.values())
        return done, total

    def prepare(self) -> None:
        """Read the mentions and find their documents. Raises UserError that names a missing documents file."""
        self._reset()
        self._wanted, self._worlds = {}, {}
        lines = list(self._source.lines())
        self._content = "".join(lines)
        for record, line in enumerate(lines):
            line = line.removeprefix(BOM) if record == 0 else line
            if not line.strip():
                continue
            try:
                mention = parse_mention(line, record)
            except LineError as error:
                self._problem(record + 1, "set aside", tr("the mention {error}", error=error))
                continue
            self._wanted.setdefault(mention.world, {}).setdefault(mention.document_id, []).append(mention)
        if not self._wanted:
            raise UserError(
                tr(
                    "{path} contains no usable ZESHEL mention: {first_problem}",
                    path=self._path,
                    first_problem=self._first_problem(),
                )
            )
        self._worlds = {world: Source(documents_file(self._path, world)) for world in self._wanted}
        self._early = self.problems

    def _first_problem(self) -> str:
        if not self.problems:
            return tr("it is empty")
        return tr("line {line} {text}", line=self.problems[0].line, text=self.problems[0].text)

    def __iter__(self) -> Iterator[SourceDocument]:
        if not self._worlds:
            self.prepare()
        self._reset()
        self.problems.extend(self._early)
        places: dict[str, tuple[str, int]] = {}
        for world, source in self._worlds.items():
            yield from self._world(world, source, places)
        if not places:
            paths = [str(source.path) for source in self._worlds.values()]
            searched = ", ".join(paths[:5]) + (", …" if len(paths) > 5 else "")
            raise UserError(
                tr(
                    "{path}: none of its context documents is in {searched}: check the folder",
                    path=self._path,
                    searched=searched,
                )
            )
        self.extra = json.dumps({"mentions": self._content, "documents": places}, ensure_ascii=False)

    def _world(self, world: str, source: Source, places: dict[str, tuple[str, int]]) -> Iterator[SourceDocument]:
        wanted = dict(self._wanted[world])
        for number, line in enumerate(source.lines(), 1):
            if not line.strip():
                continue
            try:
                document = parse_document(line.removeprefix(BOM))
            except LineError as error:
                self._problem(
                    number, "set aside", tr("in {name}: the document {error}", name=source.path.name, error=error)
                )
                continue
            if document.id in wanted:
                places[document.id] = (world, number)
                self._note_surrogates(document, f"{source.path.name}: document", number)
                yield self._document(document, wanted.pop(document.id), line.removeprefix(BOM), number)
            elif document.id in places:
                self._problem(
                    number, "set aside", tr("in {name}: duplicate document {id}", name=source.path.name, id=document.id)
                )
        for document_id, mentions in wanted.items():
            for mention in mentions:
                reason = tr(
                    "its context document {document_id} is not in {path}", document_id=document_id, path=source.path
                )
                self._problem(
                    mention.record + 1, "set aside", tr('mention "{text}": {reason}', text=mention.text, reason=reason)
                )

    def _document(self, found: DocumentLine, mentions: list[MentionLine], raw: str, line: int) -> SourceDocument:
        tokens = WhitespaceTokens(found.text)
        placed = [m for mention in mentions if (m := self._mention(mention, found, tokens)) is not None]
        passages = passages_of(found.title, found.text)
        return SourceDocument(found.id, found.title, found.text, passages, tuple(placed), raw, line)

    def _mention(self, mention: MentionLine, document: DocumentLine, tokens: WhitespaceTokens) -> SourceMention | None:
        where = tr(
            'mention "{text}" at tokens {start}-{end} of document {id}',
            text=mention.text,
            start=mention.start,
            end=mention.end,
            id=document.id,
        )
        place = tokens.find(mention, document.title)
        if place is None:
            self._problem(
                mention.record + 1,
                "set aside",
                tr("{where}: the text there is different, and no other position is unambiguous", where=where),
            )
            return None
        first, last, repair = place
        if repair:
            self._problem(
                mention.record + 1,
                "repaired",
                tr(
                    "{where}: {repair}; read as tokens {first}-{last}",
                    where=where,
                    repair=repair,
                    first=first,
                    last=last,
                ),
            )
        span = tokens.span(first, last)
        ids = (mention.label,) if mention.label else ()
        text = document.text[span.start : span.end]
        return SourceMention((span,), text, mention.world, ids, mention.label, not ids, mention.record)


class ZeshelDocumentReader(_Reader):
    """Yields the documents of a `documents/WORLD.json` file, without mentions."""

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        self.extra = json.dumps({"world": world_name(self._path)}, ensure_ascii=False)
        held: tuple[DocumentLine, int] | None = None
        raw = ""
        for number, line in enumerate(self._source.lines(), 1):
            document = self._parsed(line, number)
            if document is not None:
                if held is not None:
                    yield _plain_document(*held, raw)
                held, raw = (document, number), ""
            if number == 1 and line.startswith(BOM):
                self.head, line = BOM, line[1:]
            if held is None:
                self.head += line
            else:
                raw += line
        if held is None:
            raise UserError(tr("{path} contains no usable ZESHEL document", path=self._path))
        yield _plain_document(*held, raw)

    def _parsed(self, line: str, number: int) -> DocumentLine | None:
        if not line.removeprefix(BOM).strip():
            return None
        try:
            document = parse_document(line.removeprefix(BOM))
        except LineError as error:
            self._problem(number, "set aside", tr("the document {error}", error=error))
            return None
        self._note_surrogates(document, "document", number)
        return document


class ZeshelFormat:
    """Reads mentions or documents files, writes both. `problems` lists data that the last `write` left out."""

    name = "zeshel"
    title = "ZESHEL (Wikia)"
    can_read = True
    can_write = True
    carries = Carries(mentions=True)
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        found = first_object(head)
        return has_keys(found, MENTION_KEYS) or has_keys(found, DOCUMENT_KEYS)

    def open(self, path: Path) -> DocumentReader:
        """Raises UserError for a missing, empty, truncated or foreign file, or if the documents are missing."""
        found = first_object(Source(path).head())
        if not has_keys(found, MENTION_KEYS) and not has_keys(found, DOCUMENT_KEYS):
            raise UserError(
                tr(
                    "{path} is not ZESHEL: its first line must contain the keys {mention_keys} "
                    "(mentions) or {document_keys} (documents)",
                    path=path,
                    mention_keys=", ".join(MENTION_KEYS),
                    document_keys=", ".join(DOCUMENT_KEYS),
                )
            )
        kind = ZeshelMentionReader if has_keys(found, MENTION_KEYS) else ZeshelDocumentReader
        reader = kind(path)
        reader.prepare()
        return reader

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `zeshel_write.write_files`."""
        self.problems = []
        return write_files(files, out, self.problems)


def documents_file(mentions: Path, world: str) -> Path:
    """The documents file of a world for a mentions file. Raises UserError with the expected path, and for a link that
    leads out of the folder."""
    beside = mentions.absolute().parent
    places = [folder / f"{world}.json" for folder in (beside.parent / "documents", beside / "documents", beside)]
    for place in places:
        for found in (place, place.with_name(place.name + ".gz")):
            if found.is_file() and found != mentions.absolute():
                return own_file(found, beside if found.is_relative_to(beside) else beside.parent)
    raise UserError(
        tr(
            "{mentions} needs the documents of the world {world!r}: {places} does not exist; put the file there",
            mentions=mentions,
            world=world,
            places=places[0],
        )
    )


def world_name(path: Path) -> str:
    """`documents/WORLD.json` or `WORLD.json.gz` -> WORLD."""
    return Path(path.name.removesuffix(".gz")).stem


def _plain_document(found: DocumentLine, line: int, raw: str) -> SourceDocument:
    return SourceDocument(found.id, found.title, found.text, passages_of(found.title, found.text), (), raw, line)
