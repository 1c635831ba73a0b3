"""Reading and writing spaCy's DocBin (`.spacy`) without spaCy: compressed (zlib) msgpack with arrays of numbers.

Importing spaCy takes seconds and brings an unneeded tokeniser. The format is the documented version 0.1 and has no
pickles. Mentions are a document's entities and its span groups, each once; positions are those of the tokens, so the
text equals spaCy's. `kb_id` holds the identifiers, as in a cell of a table. The document's identifier is in its user
data, under `id`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError, tr
from curator.io.datasets.docbin_tokens import DocBinTokens, groups_of
from curator.io.datasets.docbin_write import Packer
from curator.io.files.export import WrittenSource, write_streams
from curator.io.files.field_meanings import Unread, unread_fields
from curator.io.files.opening import first_bytes
from curator.io.files.reading import DocumentSourceReader, first_of
from curator.io.files.source import Source, plain_text
from curator.io.standoff.standoff import first_line, plain_passages
from curator.io.tables.document_table_write import ids_of
from curator.services.ports.files import Carries, ExportDocument, Problem

FREE_BYTES = 24 << 20
"""A file may always unpack to this many bytes; a larger result may have `TIMES` the file's size."""
TIMES = 16
PIECE = 1 << 16
_KEYS = ("id", "doc_id", "document_id", "docid", "pmid")


class DocBinReader(DocumentSourceReader):
    """The whole file is unpacked at once, since the format does not mark the end of a document."""

    format = "docbin"

    def __iter__(self) -> Iterator[SourceDocument]:
        self._reset()
        tokens = DocBinTokens(self._source.path, self._unpacked())
        count, left = 0, Unread()
        for number in range(len(tokens)):
            left.row_fields.update(unread_fields(tokens.fields(number), (*_KEYS, "title")))
            found = self._document(tokens, number)
            if found is not None:
                count += 1
                yield found
        if not count:
            why = first_of(self.problems)
            raise UserError(tr("{path} contains no readable document{why}", path=self._source.path, why=why))
        if tokens.known_attributes < tokens.attributes:
            text = tr("parts of speech, lemmas, dependencies and similar annotations are not read")
            self._problem(0, "note", text)
        for words in left.sentences():
            self._problem(0, "note", words)

    def _unpacked(self) -> bytearray:
        path, unzip, data, read = self._source.path, zlib.decompressobj(), bytearray(), 0
        with self._source.stream() as stream:  # in pieces: at once it would be in memory twice
            while not unzip.eof and (packed := stream.read(PIECE)):
                read += len(packed)
                most = FREE_BYTES + TIMES * read
                try:
                    data += unzip.decompress(packed, most - len(data) + 1)
                except zlib.error as error:
                    raise UserError(
                        tr("{path} is a damaged DocBin ({error}): download or write it again", path=path, error=error)
                    ) from error
                if len(data) > most:
                    raise UserError(
                        tr(
                            "{path} is too large: it unpacks to more than {most:,} MB. Split it with spaCy",
                            path=path,
                            most=most >> 20,
                        )
                    )
        if not unzip.eof:
            raise UserError(tr("{path} is a truncated DocBin: download or write it again", path=path))
        return data

    def _document(self, tokens: DocBinTokens, number: int) -> SourceDocument | None:
        user = tokens.user_data(number)
        key = next((str(user[one]) for one in _KEYS if isinstance(user.get(one), str | int)), "").strip()
        key = plain_text(key) or f"document {number + 1}"
        try:
            text, places = tokens.text(number)
        except KeyError:
            self._problem(
                number + 1,
                "set aside",
                tr("document {key}: one of its words is missing from the file's strings", key=key),
            )
            return None
        found: list[SourceMention] = []
        grouped = list(groups_of(tokens, number))
        spans = {(start, end, kind) for start, end, kind, _ in grouped}
        entities = (one for one in tokens.entities(number) if one[:3] not in spans)
        for start, end, kind, kb_id in (*grouped, *entities):
            mention = self._mention(text, places, start, end, plain_text(kind), plain_text(kb_id))
            if mention is None:
                words = tr(
                    "document {key}: a span has the tokens {start} to {end}, which do not exist",
                    key=key,
                    start=start,
                    end=end,
                )
                self._problem(number + 1, "set aside", words)
            elif mention.text:
                found.append(mention)
        title = user.get("title")
        return SourceDocument(
            key,
            plain_text(title) if isinstance(title, str) else first_line(text),
            text,
            plain_passages(text),
            tuple(replace(one, record=n) for n, one in enumerate(sorted(found, key=lambda one: one.spans))),
            "",
            number + 1,
        )

    def _mention(
        self, text: str, places: list[tuple[int, int]], start: int, end: int, kind: str, kb_id: str
    ) -> SourceMention | None:
        """A mention without text if the span is white space; None for a span outside of the document."""
        if not 0 <= start < end <= len(places):
            return None
        first, last = places[start][0], places[end - 1][1]
        words = text[first:last]
        first += len(words) - len(words.lstrip())
        words = words.strip()
        ids = ids_of(kb_id)
        span = Span(first, first + max(len(words), 1))
        return SourceMention((span,), words, kind or "entity", ids, kb_id, bool(kb_id.strip()) and not ids)


class DocBinFormat:
    """Reads and writes. `problems` holds what the last `write` could not carry."""

    name = "docbin"
    title = "spaCy DocBin"
    can_read = True
    can_write = True
    endings = (".spacy",)
    carries = Carries(mentions=True, several_ids=True, nil=True)
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return False  # no text: see `sniff_path`

    def sniff_path(self, path: Path) -> bool:
        return is_docbin(first_bytes(path, 1 << 12))

    def open(self, path: Path) -> DocBinReader:
        """Raises UserError for a missing or foreign file."""
        with Source(path).stream() as stream:
            head = stream.read(1 << 12)
        if not is_docbin(head):
            raise UserError(tr("{path} is not a spaCy DocBin: choose another file", path=path))
        return DocBinReader(path)

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> list[Path]:
        """See `export.write_streams`."""
        self.problems = []

        def pieces(sources: Sequence[WrittenSource]) -> Iterator[bytes]:
            packer = Packer(self.problems)
            for file, documents in sources:
                for item in documents:
                    packer.add(item, file)
            yield packer.packed()

        return write_streams(files, out, pieces, format_name=self.name, suffix=".spacy", endings=self.endings)


def is_docbin(head: bytes) -> bool:
    """Whether the first unpacked bytes are a map with a version and attributes."""
    if head[:1] != b"\x78":
        return False
    try:
        start = zlib.decompressobj().decompress(head, 256)
    except zlib.error:
        return False
    return bool(start) and start[0] & 0xF0 == 0x80 and b"\xa7version" in start and b"\xa5attrs" in start
