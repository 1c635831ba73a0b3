"""Reading and writing spaCy's DocBin (`.spacy`) without spaCy: compressed (zlib) msgpack with arrays of numbers.

Importing spaCy takes seconds and brings an unneeded tokeniser. The format is the documented version 0.1 and has no
pickles. Mentions are a document's entities and its span groups, each once; positions are those of the tokens, so the
text equals spaCy's. `kb_id` holds the identifiers, as in a cell of a table. The document's identifier is in its user
data, under `id`.

The content of a DocBin: tokens as rows of numbers, and span groups, by document.

Write a DocBin: tokens split at the mentions' ends, mentions as entities if they do not overlap, and all mentions as
spans.

In `doc.ents` mentions cannot overlap, so of overlapping mentions the longest are entities. `doc.spans["curator"]` holds
all. Mentions of several fragments are in neither, since spaCy has no such spans.
"""

from __future__ import annotations

import re
import struct
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from curator.domain.documents import Mention, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError, ntr, tr
from curator.io.bioc.source_ids import stated_ids
from curator.io.files.export import Action, WrittenSource, action_for, is_gold
from curator.io.files.field_meanings import Unread, unread_fields
from curator.io.files.format import Format
from curator.io.files.opening import first_bytes
from curator.io.files.reading import Reader, first_line, plain_passages
from curator.io.files.report import Report
from curator.io.files.source import plain_text
from curator.io.tables.document_table import ids_cell, ids_of
from curator.services.ports.files import Carries, ExportDocument, ExportMention

# Strings of spaCy's binary formats: they are 64-bit hashes, and a few words have fixed numbers instead.
#
# The hash is Austin Appleby's MurmurHash64A with seed 1 over UTF-8 (https://github.com/aappleby/smhasher); the numbers
# are those of `spacy.symbols`, version 3. Both are part of the format: a token "agent" is stored as the number 401.

_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995

_FIRST = (
    "IS_ALPHA IS_ASCII IS_DIGIT IS_LOWER IS_PUNCT IS_SPACE IS_TITLE IS_UPPER LIKE_URL LIKE_NUM LIKE_EMAIL "
    "IS_STOP IS_OOV_DEPRECATED IS_BRACKET IS_QUOTE IS_LEFT_PUNCT IS_RIGHT_PUNCT IS_CURRENCY "
)
_SECOND = (
    "ID ORTH LOWER NORM SHAPE PREFIX SUFFIX LENGTH CLUSTER LEMMA POS TAG DEP ENT_IOB ENT_TYPE HEAD SENT_START "
    "SPACY PROB LANG ADJ ADP ADV AUX CONJ CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X EOL "
    "SPACE "
)
_THIRD = (
    "PERSON NORP FACILITY ORG GPE LOC PRODUCT EVENT WORK_OF_ART LANGUAGE LAW DATE TIME PERCENT MONEY QUANTITY "
    "ORDINAL CARDINAL acomp advcl advmod agent amod appos attr aux auxpass cc ccomp complm conj cop csubj "
    "csubjpass dep det dobj expl hmod hyph infmod intj iobj mark meta neg nmod nn npadvmod nsubj nsubjpass num "
    "number oprd obj obl parataxis partmod pcomp pobj poss possessive preconj prep prt punct quantmod relcl "
    "rcmod root xcomp acl ENT_KB_ID MORPH ENT_ID IDX _ "
)
_NAMES = (
    "",
    *_FIRST.split(),
    *(f"FLAG{number}" for number in range(19, 64)),
    *_SECOND.split(),
    *(f"DEPRECATED{number:03}" for number in range(1, 277)),
    *_THIRD.split(),
)
SYMBOLS = {name: number for number, name in enumerate(_NAMES)}


def string_id(text: str) -> int:
    """The number of a string."""
    known = SYMBOLS.get(text)
    return murmur64(text.encode("utf-8", "surrogatepass")) if known is None else known


def by_id(strings: Iterable[str]) -> dict[int, str]:
    """The strings of a file by their numbers."""
    return {string_id(one): one for one in strings}


def murmur64(data: bytes, seed: int = 1) -> int:
    size = len(data)
    found = seed ^ (size * _MULTIPLIER & _MASK)
    whole = size - size % 8
    for at in range(0, whole, 8):
        block = int.from_bytes(data[at : at + 8], "little") * _MULTIPLIER & _MASK
        block = (block ^ (block >> 47)) * _MULTIPLIER & _MASK
        found = (found ^ block) * _MULTIPLIER & _MASK
    if whole < size:
        found = (found ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    found = (found ^ (found >> 47)) * _MULTIPLIER & _MASK
    return found ^ (found >> 47)


ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID = 65, 77, 78, 452
GROUP = "curator"
SPAN = struct.Struct(">QQQllll")
BEGIN, INSIDE = 3, 1
Spanned = tuple[int, int, str, str]
"""First token, end token (exclusive), label, identifier."""


class DocBinTokens:
    """The tokens of a DocBin. Raises UserError if it is not a DocBin of version 0.1."""

    def __init__(self, path: Path, data: bytes | bytearray) -> None:
        self._path = path
        content = unpacked(data)
        try:
            self._attributes: list[int] = [int(one) for one in content["attrs"]]
            lengths = memoryview(content["lengths"]).cast("i").tolist()
            self._numbers = memoryview(content["tokens"]).cast("Q")
            self._spaces = bytes(content["spaces"])
            self._strings = by_id(one for one in content["strings"] if isinstance(one, str))
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(tr("lacks the fields of a DocBin")) from error
        width = len(self._attributes)
        self._starts = [0, *accumulate(lengths)]
        fits = self._starts[-1] * width == len(self._numbers) and len(self._spaces) == self._starts[-1]
        if min(lengths, default=0) < 0 or not fits or ORTH not in self._attributes:
            raise self._damaged(tr("has tokens that do not fit its documents"))
        self._flags, self._user = _listed(content.get("flags")), _listed(content.get("user_data"))
        self.span_groups = _listed(content.get("span_groups"))
        self._categories = _listed(content.get("cats"))

    def __len__(self) -> int:
        return len(self._starts) - 1

    @property
    def attributes(self) -> int:
        return len(self._attributes)

    @property
    def known_attributes(self) -> int:
        return sum(one in (ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID) for one in self._attributes)

    def _damaged(self, why: str) -> UserError:
        return UserError(
            tr("{path} {why}: it is damaged or from another version of spaCy; write it again", path=self._path, why=why)
        )

    def string(self, number: int) -> str:
        """'' if it is not among the strings."""
        return self._strings.get(number, "")

    def user_data(self, document: int) -> Mapping[Any, Any]:
        data = self._user[document] if document < len(self._user) else None
        found = unpacked(data) if isinstance(data, bytes) else {}
        return found if isinstance(found, dict) else {}

    def fields(self, document: int) -> dict[str, Any]:
        """The user data by name, also those of extensions (`doc._.name`), and the categories as `cats`."""
        user = self.user_data(document).items()
        named = ((one[1] if isinstance(one, tuple) and len(one) > 1 else one, value) for one, value in user)
        categories = self._categories[document] if document < len(self._categories) else None
        return {**{one: value for one, value in named if isinstance(one, str)}, "cats": categories}

    def column(self, document: int, attribute: int) -> Sequence[int]:
        """One number for each token; empty if the file lacks the attribute."""
        if attribute not in self._attributes:
            return ()
        width, at = len(self._attributes), self._attributes.index(attribute)
        start, end = self._starts[document], self._starts[document + 1]
        return self._numbers[start * width + at : end * width : width].tolist() if end > start else ()

    def text(self, document: int) -> tuple[str, list[tuple[int, int]]]:
        """The text and the position of each token. Raises KeyError for a word that is not among the strings."""
        flags = self._flags[document] if document < len(self._flags) else None
        unknown = isinstance(flags, dict) and bool(flags.get("has_unknown_spaces"))
        start = self._starts[document]
        pieces: list[str] = []
        places: list[tuple[int, int]] = []
        at = 0
        for number, orth in enumerate(self.column(document, ORTH)):
            word = self._strings[orth]
            places.append((at, at + len(word)))
            space = " " if unknown or self._spaces[start + number] else ""
            pieces.append(word + space)
            at += len(word) + len(space)
        return "".join(pieces), places

    def entities(self, document: int) -> Iterator[Spanned]:
        """The entities in `doc.ents`."""
        iob, types = self.column(document, ENT_IOB), self.column(document, ENT_TYPE)
        ids = self.column(document, ENT_KB_ID) or [0] * len(iob)
        start = -1
        for number, (state, kind) in enumerate(zip(iob, types, strict=False)):
            goes_on = state == INSIDE and start >= 0 and kind == types[start]
            if start >= 0 and not goes_on:
                yield start, number, self.string(types[start]), self.string(ids[start])
                start = -1
            if state == BEGIN or (state == INSIDE and start < 0):
                start = number
        if start >= 0:
            yield start, len(iob), self.string(types[start]), self.string(ids[start])


def groups_of(tokens: DocBinTokens, document: int) -> Iterator[Spanned]:
    """The spans of our group, or of all groups if ours is missing."""
    data = tokens.span_groups[document] if document < len(tokens.span_groups) else b""
    content = unpacked(data) if isinstance(data, bytes) and data else {}
    packed = list(content) if isinstance(content, dict | list | tuple) else []
    groups = [found for one in packed if isinstance(found := _group(one), dict)]
    chosen = [one for one in groups if one.get("name") == GROUP] or groups
    for group in chosen:
        for span in _listed(group.get("spans")):
            if isinstance(span, bytes) and len(span) == SPAN.size:
                _, kb_id, label, start, end, _, _ = SPAN.unpack(span)
                yield start, end, tokens.string(label), tokens.string(kb_id)


def unpacked(data: bytes | bytearray) -> Any:
    """A msgpack value; an empty map for anything else."""
    import msgpack  # imported when such a file is read

    try:
        return msgpack.unpackb(data, raw=False, strict_map_key=False, use_list=False, unicode_errors="replace")
    except (ValueError, TypeError, RecursionError, msgpack.exceptions.UnpackException):
        return {}


def _group(data: object) -> object:
    return unpacked(data) if isinstance(data, bytes) else None


def _listed(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


FREE_BYTES = 24 << 20
"""A file may always unpack to this many bytes; a larger result may have `TIMES` the file's size."""
TIMES = 16
PIECE = 1 << 16
_KEYS = ("id", "doc_id", "document_id", "docid", "pmid")


class DocBinReader(Reader):
    """The whole file is unpacked at once, since the format does not mark the end of a document."""

    format = "docbin"
    none = "{path} contains no readable document{why}"

    def documents(self) -> Iterator[SourceDocument]:
        tokens = DocBinTokens(self.path, self._unpacked())
        left = Unread()
        for number in range(len(tokens)):
            left.row_fields.update(unread_fields(tokens.fields(number), (*_KEYS, "title")))
            found = self._document(tokens, number)
            if found is not None:
                yield found
        if tokens.known_attributes < tokens.attributes:
            self.problems.note(tr("parts of speech, lemmas, dependencies and similar annotations are not read"))
        self.problems.notes(left.sentences())

    def _unpacked(self) -> bytearray:
        path, unzip, data, read = self.path, zlib.decompressobj(), bytearray(), 0
        with self.source.stream() as stream:  # in pieces: at once it would be in memory twice
            while not unzip.eof and (packed := stream.read(PIECE)):
                read += len(packed)
                most = FREE_BYTES + TIMES * read
                try:
                    data += unzip.decompress(packed, most - len(data) + 1)
                except zlib.error as error:
                    words = "{path} is a damaged DocBin ({error}): download or write it again"
                    raise UserError(tr(words, path=path, error=error)) from error
                if len(data) > most:
                    words = "{path} is too large: it unpacks to more than {most:,} MB. Split it with spaCy"
                    raise UserError(tr(words, path=path, most=most >> 20))
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
            self.problems.set_aside(
                tr("document {key}: one of its words is missing from the file's strings", key=key), number + 1
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
                self.problems.set_aside(words, number + 1)
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


def is_docbin(head: bytes) -> bool:
    """Whether the first unpacked bytes are a map with a version and attributes."""
    if head[:1] != b"\x78":
        return False
    try:
        start = zlib.decompressobj().decompress(head, 256)
    except zlib.error:
        return False
    return bool(start) and start[0] & 0xF0 == 0x80 and b"\xa7version" in start and b"\xa5attrs" in start


OUTSIDE = 2
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")
Token = tuple[int, int, bool]
"""Start, end, and whether a space follows that belongs to it."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A mention with its tokens."""

    start: int
    end: int
    mention: Mention
    kb_id: str


class Packer:
    """Collects the documents that go into one file. `packed` is the file's content."""

    def __init__(self, problems: Report) -> None:
        self._problems = problems
        self._numbers = array("Q")
        self._spaces = bytearray()
        self._lengths: list[int] = []
        self._strings: dict[str, int] = {"": 0}
        self._user: list[bytes] = []
        self._groups: list[bytes] = []
        self._hidden = 0

    def add(self, item: ExportDocument, file: SourceFile) -> None:
        import msgpack

        text, name = item.document.text, item.document.external_id
        chosen = [gold for gold in item.mentions if self._is_carried(gold, name)]
        places = [gold.mention.spans[0] for gold in chosen]
        tokens = list(tokens_of(text, {one.start for one in places}, {one.end for one in places}))
        starts = {start: number for number, (start, _, _) in enumerate(tokens)}
        ends = {end: number + 1 for number, (_, end, _) in enumerate(tokens)}
        placed = [
            _Placed(starts[span.start], ends[span.end], gold.mention, self._kb_id(gold, item, file))
            for gold in chosen
            for span in gold.mention.spans
        ]
        rows = [[self._id(text[start:end]), OUTSIDE, 0, 0] for start, end, _ in tokens]
        self._mark(rows, placed)
        for row in rows:
            self._numbers.extend(row)
        self._spaces.extend(space for _, _, space in tokens)
        self._lengths.append(len(tokens))
        self._user.append(msgpack.packb({"id": name, "title": item.document.title}))
        spans = [self._span(one) for one in placed]
        group = msgpack.packb({"name": GROUP, "attrs": {}, "spans": spans})
        self._groups.append(msgpack.packb({group: [GROUP]}) if spans else b"")

    def packed(self) -> bytes:
        import msgpack

        if self._hidden:
            text = ntr(
                '{n} mention overlaps others: it is in doc.spans["{group}"] and not in doc.ents',
                '{n:,} mentions overlap others: they are in doc.spans["{group}"] and not in doc.ents',
                self._hidden,
                group=GROUP,
            )
            self._problems.note(text)
        content = {
            "version": "0.1",
            "attrs": [ORTH, ENT_IOB, ENT_TYPE, ENT_KB_ID],
            "tokens": self._numbers.tobytes(),
            "spaces": bytes(self._spaces),
            "lengths": struct.pack(f"<{len(self._lengths)}i", *self._lengths),
            "strings": sorted(self._strings),
            "cats": [{} for _ in self._lengths],
            "flags": [{"has_unknown_spaces": False} for _ in self._lengths],
            "span_groups": self._groups,
            "user_data": self._user,
        }
        return zlib.compress(msgpack.packb(content))

    def _id(self, text: str) -> int:
        if text not in self._strings:
            self._strings[text] = string_id(text)
        return self._strings[text]

    def _is_carried(self, gold: ExportMention, document: str) -> bool:
        if action_for(gold, document, self._problems) is Action.DROP:
            return False
        if len(gold.mention.spans) > 1:
            text = tr(
                'document {document}: "{text}" is discontinuous, which spaCy does not support: left out',
                document=document,
                text=gold.mention.text,
            )
            self._problems.left_out(gold, text)
            return False
        return True

    def _mark(self, rows: list[list[int]], placed: Sequence[_Placed]) -> None:
        """Mark the longest mentions that do not overlap as entities."""
        taken: set[int] = set()
        for one in sorted(placed, key=lambda one: (one.start - one.end, one.start)):
            if not taken.isdisjoint(range(one.start, one.end)):
                self._hidden += 1
                continue
            taken.update(range(one.start, one.end))
            kind, kb_id = self._id(one.mention.type), self._id(one.kb_id)
            for number in range(one.start, one.end):
                rows[number][1:] = [BEGIN if number == one.start else INSIDE, kind, kb_id]

    def _span(self, one: _Placed) -> bytes:
        span = one.mention.spans[0]
        kb_id, label = self._id(one.kb_id), self._id(one.mention.type)
        return SPAN.pack(0, kb_id, label, one.start, one.end, span.start, span.end)

    def _kb_id(self, gold: ExportMention, item: ExportDocument, file: SourceFile) -> str:
        if file.format == "docbin" and not is_gold(gold):
            return gold.mention.raw_ids
        ids = stated_ids(gold, item, file)
        return "" if ids is None else ids_cell(ids)


def tokens_of(text: str, starts: set[int], ends: set[int]) -> Iterator[Token]:
    """Words, signs and white space, split where mentions begin and end.

    A space after a token belongs to it, unless a mention begins or ends with that space.
    """
    cuts = sorted(starts | ends)
    pieces = [part for found in _PIECES.finditer(text) for part in _cut(found.start(), found.end(), cuts)]
    taken = -1  # the position of a space that belongs to the previous token
    for number, (start, end) in enumerate(pieces):
        start += start == taken
        if start == end:
            continue
        follows = text[end : end + 1] == " " and number + 1 < len(pieces) and not text[start:end].isspace()
        owns = follows and end not in starts and end + 1 not in ends
        taken = end if owns else -1
        yield start, end, owns


def _cut(start: int, end: int, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    inner = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
    bounds = [start, *inner, end]
    yield from pairwise(bounds)


class DocBinFormat(Format):
    name = "docbin"
    title = "spaCy DocBin"
    refusal = "{path} is not a spaCy DocBin: choose another file"
    reader = DocBinReader
    endings = (".spacy",)
    suffix = ".spacy"
    carries = Carries(mentions=True, several_ids=True, nil=True)

    def sniff_path(self, path: Path) -> bool:
        return is_docbin(first_bytes(path, 1 << 12))

    def open(self, path: Path) -> DocBinReader:
        """Raises UserError for a missing or foreign file."""
        reader = DocBinReader(path)
        with reader.source.stream() as stream:
            head = stream.read(1 << 12)
        if not is_docbin(head):
            raise UserError(tr(self.refusal, path=path))
        return reader

    def pieces(self, sources: Sequence[WrittenSource]) -> Iterator[bytes]:
        packer = Packer(self.problems)
        for file, documents in sources:
            for item in documents:
                packer.add(item, file)
        yield packer.packed()
