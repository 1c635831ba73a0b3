"""ZESHEL / Wikia: `mentions/NAME.json` next to `documents/WORLD.json`, or only a documents file.

A mention's type is its world (`corpus`), like the types of the knowledge base read from the same documents, so that
candidates stay within the world. The text is the file's, including the title, since token indices count it.
`SourceMention.record` is the mention's line (from 0) in the mentions file; the whole mentions file is kept in `extra`
with the world and line of each context document, so that both files can be written back byte for byte.

The two kinds of ZESHEL lines, parsed and checked; and the map between whitespace tokens and code points.

Write ZESHEL: a folder with `mentions/NAME.json` and `documents/WORLD.json`.

* Documents files hold the raw lines of the context documents in their files' order; a document that several mentions
  files share is written once.
* Unchanged mention lines, and lines that were skipped, are written back exactly. A changed decision replaces
  `label_document_id` (and `category`) in its line. Lines of documents that are not exported, of deleted and of rejected
  mentions are left out. New mentions are appended at the end.
* ZESHEL has no NIL: it is written as an empty `label_document_id`, which our reader reads as NIL, and noted. One
  mention has one label: the first entity of a composite link is written, the others are noted.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span
from curator.domain.wording import UserError, tr
from curator.io.files.atomic import AtomicFiles
from curator.io.files.export import (
    Action,
    WrittenSource,
    action_for,
    entity_ids,
    export_name,
    extra_of,
    is_gold,
    unique,
)
from curator.io.files.format import Format
from curator.io.files.idstyle import is_nil
from curator.io.files.json_stream import LineError, first_object, has_keys, parse_object, text_in
from curator.io.files.opening import is_own, own_file
from curator.io.files.reading import Reader, mention_place
from curator.io.files.report import Report, first_of
from curator.io.files.source import BOM, Source, join_lines, line_end, plain_text, split_lines, without_line_end
from curator.services.ports.files import Carries, ExportDocument, ExportMention, Problem

DOCUMENT_KEYS = ("document_id", "title", "text")
MENTION_KEYS = ("context_document_id", "corpus", "text", "start_index", "end_index")
# the order of a mention's keys in the published files
MENTION_ORDER = (
    "category",
    "text",
    "end_index",
    "context_document_id",
    "label_document_id",
    "mention_id",
    "corpus",
    "start_index",
)

_WORLD = re.compile(r"[^/\\\x00-\x1f]{1,100}")


@dataclass(frozen=True, slots=True)
class DocumentLine:
    id: str
    title: str
    text: str
    replaced: bool  # lone surrogates became U+FFFD


@dataclass(frozen=True, slots=True)
class MentionLine:
    """`start` and `end` count whitespace tokens, end inclusive. `label` is '' if the file names no entity."""

    record: int
    document_id: str
    world: str
    label: str
    text: str
    start: int
    end: int


def parse_document(line: str) -> DocumentLine:
    """A line of `documents/WORLD.json`. Raises LineError."""
    value = parse_object(line)
    fields = [text_in(value, key) for key in DOCUMENT_KEYS]
    if not fields[0].strip():
        raise LineError(tr("has an empty `document_id`"))
    plain = [plain_text(field) for field in fields]
    return DocumentLine(plain[0].strip(), plain[1], plain[2], plain != fields)


def parse_mention(line: str, record: int) -> MentionLine:
    """A line of `mentions/*.json`. Raises LineError."""
    value = parse_object(line)
    world = text_in(value, "corpus")
    if not _WORLD.fullmatch(world) or world.strip(". ") == "":
        raise LineError(tr("has no usable world in `corpus`: {world!r}", world=world[:40]))
    label = value.get("label_document_id")
    if label is not None and not isinstance(label, str):
        raise LineError(tr("has a `label_document_id` that is not text"))
    start, end = _number(value, "start_index"), _number(value, "end_index")
    document_id = plain_text(text_in(value, "context_document_id")).strip()
    text = plain_text(text_in(value, "text"))
    return MentionLine(record, document_id, world, plain_text(label or "").strip(), text, start, end)


def _number(value: Mapping[str, Any], key: str) -> int:
    number = value.get(key)
    if not isinstance(number, int) or isinstance(number, bool):
        raise LineError(tr("has no whole number in `{key}`", key=key))
    return number


def passages_of(title: str, text: str) -> tuple[Passage, ...]:
    """The passages of a ZESHEL text: the title, with which it begins, and the rest."""
    cut = len(title)
    if not title or not text.startswith(title) or (cut < len(text) and not text[cut].isspace()):
        return (Passage("section", 0, len(text)),) if text else ()
    start = cut + len(text[cut:]) - len(text[cut:].lstrip())
    body = (Passage("section", start, len(text)),) if start < len(text) else ()
    return (Passage("title", 0, cut), *body)


class WhitespaceTokens:
    """Whitespace tokens of a text: `words[i]` is at `starts[i]`-`ends[i]` in code points."""

    def __init__(self, text: str) -> None:
        found = list(re.finditer(r"\S+", text))
        self.words = [m[0] for m in found]
        self.starts = [m.start() for m in found]
        self.ends = [m.end() for m in found]

    def span(self, start: int, end: int) -> Span:
        """Code points of the tokens `start` to `end`, both inclusive."""
        return Span(self.starts[start], self.ends[end])

    def covering(self, span: Span) -> tuple[int, int]:
        """First and last token that `span` touches. Raises ValueError if it touches none."""
        first = bisect_right(self.ends, span.start)
        last = bisect_left(self.starts, span.end) - 1
        if first > last:
            raise ValueError(f"{span} holds no token")
        return first, last

    def find(self, mention: MentionLine, title: str) -> tuple[int, int, str] | None:
        """Tokens (inclusive) of a mention and the repair, '' for none; None if nothing matches unambiguously."""
        wanted = mention.text.split()
        if not wanted:
            return None
        shift = len(title.split())
        tried = (
            (mention.start, mention.end, ""),
            (mention.start, mention.end - 1, tr("the end is exclusive")),
            (mention.start - 1, mention.end - 1, tr("the indices are one too large")),
            (mention.start + 1, mention.end + 1, tr("the indices are one too small")),
            (mention.start + shift, mention.end + shift, tr("the indices do not count the title")),
        )
        for first, last, repair in tried:
            if self._slice(first, last) == wanted:
                return first, last, repair
        return self._by_characters(mention) or self._loosely(mention) or self._by_text(mention, wanted)

    def _slice(self, first: int, last: int) -> list[str]:
        return self.words[first : last + 1] if 0 <= first <= last < len(self.words) else []

    def _by_characters(self, mention: MentionLine) -> tuple[int, int, str] | None:
        ends = (
            (mention.end, tr("the indices count characters, end exclusive")),
            (mention.end + 1, tr("the indices count characters, end inclusive")),
        )
        for end, repair in ends:
            if not 0 <= mention.start < end or mention.start not in self.starts or end not in self.ends:
                continue
            first, last = self.starts.index(mention.start), self.ends.index(end)
            if self._slice(first, last) == mention.text.split():
                return first, last, repair
        return None

    def _loosely(self, mention: MentionLine) -> tuple[int, int, str] | None:
        here = "".join(self._slice(mention.start, mention.end)).casefold()
        if here and here == "".join(mention.text.split()).casefold():
            return mention.start, mention.end, tr("the mention's text differs in case or spaces")
        return None

    def _by_text(self, mention: MentionLine, wanted: list[str]) -> tuple[int, int, str] | None:
        size = len(wanted)
        places = [i for i, word in enumerate(self.words) if word == wanted[0] and self.words[i : i + size] == wanted]
        if len(places) == 1:
            return places[0], places[0] + size - 1, tr("the mention's text occurs only once")
        ranked = sorted((abs(at - mention.start), at) for at in places)
        if not ranked or not 0 <= mention.start < len(self.words) or ranked[0][0] == ranked[1][0]:
            return None
        return ranked[0][1], ranked[0][1] + size - 1, tr("the nearest occurrence of the mention's text was used")


def _note_surrogates(problems: Report, document: DocumentLine, where: str, line: int) -> None:
    if document.replaced:
        words = "{where} {id} contains lone surrogates, read as U+FFFD"
        problems.repaired(tr(words, where=where, id=document.id), line)


class ZeshelMentionReader(Reader):
    """Yields the context documents of a mentions file, world by world, each world in its documents file's order."""

    format = "zeshel"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._worlds: dict[str, Source] = {}
        self._wanted: dict[str, dict[str, list[MentionLine]]] = {}
        self._content = ""
        self._early = Report()

    @property
    def position(self) -> tuple[int, int]:
        sources = [self.source, *self._worlds.values()]
        return sum(one.position[0] for one in sources), sum(one.path.stat().st_size for one in sources)

    def prepare(self) -> None:
        """Read the mentions and find their documents. Raises UserError that names a missing documents file."""
        self._wanted, self.problems = {}, Report()
        lines = list(self.source.lines())
        self._content = "".join(lines)
        for record, line in enumerate(lines):
            line = line.removeprefix(BOM) if record == 0 else line
            if not line.strip():
                continue
            try:
                mention = parse_mention(line, record)
            except LineError as error:
                self.problems.set_aside(tr("the mention {error}", error=error), record + 1)
                continue
            self._wanted.setdefault(mention.world, {}).setdefault(mention.document_id, []).append(mention)
        if not self._wanted:
            why = first_of(self.problems)
            raise UserError(tr("{path} contains no usable ZESHEL mention{why}", path=self.path, why=why))
        self._worlds = {world: Source(documents_file(self.path, world)) for world in self._wanted}
        self._early = self.problems

    def nothing(self) -> str:
        paths = [str(source.path) for source in self._worlds.values()]
        searched = ", ".join(paths[:5]) + (", …" if len(paths) > 5 else "")
        words = "{path}: none of its context documents is in {searched}: check the folder"
        return tr(words, path=self.path, searched=searched)

    def documents(self) -> Iterator[SourceDocument]:
        if not self._worlds:
            self.prepare()
        self.problems = Report(self._early)
        places: dict[str, tuple[str, int]] = {}
        for world, source in self._worlds.items():
            yield from self._world(world, source, places)
        self.extra = json.dumps({"mentions": self._content, "documents": places}, ensure_ascii=False)

    def _world(self, world: str, source: Source, places: dict[str, tuple[str, int]]) -> Iterator[SourceDocument]:
        wanted, name = dict(self._wanted[world]), source.path.name
        for number, line in enumerate(source.lines(), 1):
            if not line.strip():
                continue
            try:
                document = parse_document(line.removeprefix(BOM))
            except LineError as error:
                self.problems.set_aside(tr("in {name}: the document {error}", name=name, error=error), number)
                continue
            if document.id in wanted:
                places[document.id] = (world, number)
                _note_surrogates(self.problems, document, f"{name}: document", number)
                yield self._document(document, wanted.pop(document.id), line.removeprefix(BOM), number)
            elif document.id in places:
                self.problems.set_aside(tr("in {name}: duplicate document {id}", name=name, id=document.id), number)
        for key, mentions in wanted.items():
            reason = tr("its context document {document_id} is not in {path}", document_id=key, path=source.path)
            for mention in mentions:
                words = tr('mention "{text}": {reason}', text=mention.text, reason=reason)
                self.problems.set_aside(words, mention.record + 1)

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
            words = "{where}: the text there is different, and no other position is unambiguous"
            self.problems.set_aside(tr(words, where=where), mention.record + 1)
            return None
        first, last, repair = place
        if repair:
            words = "{where}: {repair}; read as tokens {first}-{last}"
            said = tr(words, where=where, repair=repair, first=first, last=last)
            self.problems.repaired(said, mention.record + 1)
        span = tokens.span(first, last)
        ids = (mention.label,) if mention.label else ()
        text = document.text[span.start : span.end]
        return SourceMention((span,), text, mention.world, ids, mention.label, not ids, mention.record)


class ZeshelDocumentReader(Reader):
    """Yields the documents of a `documents/WORLD.json` file, without mentions."""

    format = "zeshel"
    none = "{path} contains no usable ZESHEL document"

    def documents(self) -> Iterator[SourceDocument]:
        self.extra = json.dumps({"world": world_name(self.path)}, ensure_ascii=False)
        held: tuple[DocumentLine, int] | None = None
        raw = ""
        for number, line in enumerate(self.source.lines(), 1):
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
        if held is not None:
            yield _plain_document(*held, raw)

    def _parsed(self, line: str, number: int) -> DocumentLine | None:
        if not line.removeprefix(BOM).strip():
            return None
        try:
            document = parse_document(line.removeprefix(BOM))
        except LineError as error:
            self.problems.set_aside(tr("the document {error}", error=error), number)
            return None
        _note_surrogates(self.problems, document, "document", number)
        return document


def documents_file(mentions: Path, world: str) -> Path:
    """The documents file of a world for a mentions file. Raises UserError with the expected path, and for a link that
    leads out of the folder."""
    beside = mentions.absolute().parent
    places = [folder / f"{world}.json" for folder in (beside.parent / "documents", beside / "documents", beside)]
    for place in places:
        for found in (place, place.with_name(place.name + ".gz")):
            if found.is_file() and found != mentions.absolute():
                return own_file(found, beside if found.is_relative_to(beside) else beside.parent)
    words = "{mentions} needs the documents of the world {world!r}: {places} does not exist; put the file there"
    raise UserError(tr(words, mentions=mentions, world=world, places=places[0]))


def world_name(path: Path) -> str:
    """`documents/WORLD.json` or `WORLD.json.gz` -> WORLD."""
    return Path(path.name.removesuffix(".gz")).stem


def _plain_document(found: DocumentLine, line: int, raw: str) -> SourceDocument:
    return SourceDocument(found.id, found.title, found.text, passages_of(found.title, found.text), (), raw, line)


# ZESHEL's mention categories, by the published definition (Logeswaran et al. 2019, section 3.3).

_PHRASE = re.compile(r"\s*\(.*\)\s*")

_tokens = lru_cache(maxsize=1)(WhitespaceTokens)  # of the document whose mentions are written


def category(mention: str, title: str | None) -> str:
    """HIGH_OVERLAP: the title is the mention; MULTIPLE_CATEGORIES: the title is the mention and a phrase in
    parentheses; AMBIGUOUS_SUBSTRING: the mention is a part of the title; LOW_OVERLAP: all others, and mentions with an
    unknown title. The comparison ignores case and collapses white space."""
    if title is None:
        return "LOW_OVERLAP"
    words, name = " ".join(mention.split()).casefold(), " ".join(title.split()).casefold()
    if words == name:
        return "HIGH_OVERLAP"
    if words and name.startswith(words) and _PHRASE.fullmatch(name[len(words) :]):
        return "MULTIPLE_CATEGORIES"
    return "AMBIGUOUS_SUBSTRING" if words and words in name else "LOW_OVERLAP"


class Titles:
    """Titles of entities, read from the documents files next to the imported file, if they still exist."""

    def __init__(self, source: Path | None) -> None:
        self._source = source
        self._worlds: dict[str, dict[str, str]] = {}

    def of(self, world: str, entity_id: str) -> str | None:
        """The title; None if the file no longer exists or does not contain the entity."""
        if self._source is None or not entity_id:
            return None
        if world not in self._worlds:
            self._worlds[world] = self._read(self._source, world)
        return self._worlds[world].get(entity_id)

    def _read(self, source: Path, world: str) -> dict[str, str]:
        for folder, place in ((source.parent.parent, "documents"), (source.parent, "")):
            path = folder / place / f"{world}.json"
            if path.is_file() and path != source and is_own(path, folder):
                try:
                    return _titles(path)
                except UserError:  # damaged since the import: the category stays the general one
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


_LABEL = re.compile(r'("label_document_id"\s*:\s*)("(?:[^"\\]|\\.)*"|null)')
_CATEGORY = re.compile(r'("category"\s*:\s*)("(?:[^"\\]|\\.)*"|null)')


@dataclass(slots=True)
class _Worlds:
    """Raw document lines by world and place, with each document's id."""

    lines: dict[str, dict[tuple[int, int], str]] = field(default_factory=dict)
    places: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    heads: dict[str, str] = field(default_factory=dict)

    def add(self, world: str, document_id: str, place: tuple[int, int], raw: str, *, again: bool) -> None:
        """`again`: a repeated id is another document, not one shared with another mentions file."""
        if again or self.places.setdefault((world, document_id), place) == place:
            self.lines.setdefault(world, {})[place] = raw


def _world_text(worlds: _Worlds, world: str) -> str:
    lines = worlds.lines[world]
    ordered = [lines[place] for place in sorted(lines)]
    whole = [line if line.endswith("\n") else line + "\n" for line in ordered[:-1]]
    return worlds.heads.get(world, "") + "".join(whole + ordered[-1:])


class _FileWriter:
    """Writes the mentions of one source file and adds its documents to the worlds."""

    def __init__(self, file: SourceFile, number: int, worlds: _Worlds, problems: Report) -> None:
        self._file = file
        self._number = number
        self._worlds = worlds
        self._problems = problems
        self._written_id = ""
        self._key_order: tuple[str, ...] = MENTION_ORDER
        self._used: set[str] = set()
        self._digests: dict[str, str] = {}  # of each seed, the last one used
        self._extra = extra_of(file, "zeshel")
        stem = export_name(file, format_name="zeshel", suffix=".json").rpartition(".")[0] or file.name or "world"
        self._world: str = self._extra.get("world", re.sub(r"[/\\\s]", "_", stem.partition(".")[0]))
        self._titles = Titles(Path(file.path) if self._extra else None)

    def mentions(self, documents: Iterable[ExportDocument]) -> str:
        """The text of the mentions file, '' if there is no mention."""
        content: str = self._extra.get("mentions", "")
        lines: list[str | None] = list(split_lines(content))
        self._key_order = _key_order(lines)
        self._used = {found for line in lines if (found := _value(line, "mention_id"))}
        exported: set[str] = set()
        new: list[str] = []
        for order, item in enumerate(documents):
            again = item.document.external_id in exported and not content
            exported.add(item.document.external_id)
            self._written_id = self._id_for(item, order, again=again)
            self._keep_document(item, order, again=again)
            self._edit(item, lines, new)
        known = self._extra.get("documents", {})
        kept = [line for line in lines if line is not None and _stays(line, known, exported)]
        final = not content or content.endswith("\n")
        text = join_lines([*kept, *new], line_end(content), final=final)
        return text if text.strip() else ""

    def _id_for(self, item: ExportDocument, order: int, *, again: bool) -> str:
        """ZESHEL looks documents up by id: a second document with the same id from another format gets a new one."""
        wanted = item.document.external_id
        if not again or self._extra:
            return wanted
        self._problems.repaired(
            tr("a second document {wanted} was written as {wanted}-{order}", wanted=wanted, order=order)
        )
        return f"{wanted}-{order}"

    def _keep_document(self, item: ExportDocument, order: int, *, again: bool) -> None:
        document = item.document
        world, line = self._extra.get("documents", {}).get(document.external_id, (self._world, order))
        shared = "documents" in self._extra
        place = (0, line) if shared else (self._number, order)
        raw = item.raw if self._extra and item.raw else _document_line(item, self._written_id)
        self._worlds.add(world, self._written_id, place, raw, again=again)
        if not shared and self._file.format == "zeshel":
            self._worlds.heads.setdefault(world, self._file.head)

    def _edit(self, item: ExportDocument, lines: list[str | None], new: list[str]) -> None:
        has_records = "mentions" in self._extra
        for record in item.removed_records if has_records else ():
            lines[record] = None
        for gold in sorted(item.mentions, key=lambda g: g.mention.spans):
            action, record = action_for(gold, item.document.external_id, self._problems), gold.mention.record
            if has_records and record >= 0:
                if action is Action.DROP:
                    lines[record] = None
                elif gold.reshaped:
                    lines[record] = self._moved(lines[record] or "", gold, item, action)
                elif action is Action.WRITE:
                    lines[record] = self._relabelled(lines[record] or "", gold, item)
            elif action is not Action.DROP and (line := self._new_line(gold, item)):
                new.append(line)

    def _relabelled(self, line: str, gold: ExportMention, item: ExportDocument) -> str:
        label = self._label(gold, item)
        if _value(line, "label_document_id") == label:
            return line
        kind = category(gold.mention.text, self._titles.of(self._world_of(item), label))
        changed = _CATEGORY.sub(lambda m: m[1] + json.dumps(kind), line, count=1)
        if not _LABEL.search(changed):
            value = dict(parse_object(changed.removeprefix(BOM)))
            return json.dumps(value | {"label_document_id": label}) + line[len(without_line_end(line)) :]
        return _LABEL.sub(lambda m: m[1] + json.dumps(label), changed, count=1)

    def _moved(self, line: str, gold: ExportMention, item: ExportDocument, action: Action) -> str | None:
        """A source line with its mention's current spans; None if ZESHEL cannot represent them. Types are worlds, so
        another type does not change the line."""
        if action is Action.WRITE:
            line = self._relabelled(line, gold, item)
        value = dict(parse_object(line.removeprefix(BOM)))
        place = self._tokens_of(gold, item)
        if place is None:
            return None
        first, last, text = place
        title = self._titles.of(self._world_of(item), str(value.get("label_document_id") or ""))
        changed = {"start_index": first, "end_index": last, "text": text, "category": category(text, title)}
        return json.dumps(value | changed) + line[len(without_line_end(line)) :]

    def _tokens_of(self, gold: ExportMention, item: ExportDocument) -> tuple[int, int, str] | None:
        """First and last token and their text; None for a mention that ZESHEL cannot represent, which is noted."""
        mention, tokens = gold.mention, _tokens(item.document.text)
        if len(mention.spans) > 1:
            self._leave_out(item, gold, tr("is discontinuous, which ZESHEL does not support: left out"))
            return None
        try:
            first, last = tokens.covering(mention.spans[0])
        except ValueError:
            self._leave_out(item, gold, tr("contains no token: left out"))
            return None
        text = " ".join(tokens.words[first : last + 1])
        if tokens.span(first, last) != mention.spans[0]:
            self._note("repaired", item, gold, tr('was widened to whole tokens: "{text}"', text=text))
        return first, last, text

    def _new_line(self, gold: ExportMention, item: ExportDocument) -> str:
        """A new mention's line; '' for one that ZESHEL cannot represent, which is noted."""
        place = self._tokens_of(gold, item)
        if place is None:
            return ""
        first, last, text = place
        label, world = self._label(gold, item), self._world_of(item)
        value = {
            "category": category(text, self._titles.of(world, label)),
            "text": text,
            "end_index": last,
            "context_document_id": self._written_id,
            "label_document_id": label,
            "mention_id": self._mention_id(f"{self._written_id}|{first}|{last}|{text}"),
            "corpus": world,
            "start_index": first,
        }
        return json.dumps({key: value[key] for key in self._key_order})

    def _label(self, gold: ExportMention, item: ExportDocument) -> str:
        if not is_gold(gold):  # undecided, from another format: as in its source
            return "" if is_nil(gold.mention.raw_ids) else gold.mention.raw_ids
        ids = entity_ids(gold)
        if not ids:
            self._note("note", item, gold, tr("is NIL, which ZESHEL does not support: written with an empty label"))
        if len(ids) > 1:
            self._note("set aside", item, gold, tr("has several entities; only {ids} was written", ids=ids[0]))
        return ids[0] if ids else ""

    def _world_of(self, item: ExportDocument) -> str:
        known = self._extra.get("documents", {}).get(item.document.external_id)
        return str(known[0]) if known else self._world

    def _mention_id(self, seed: str) -> str:
        """16 hexadecimal digits, like published ids, from a hash; the next hash if it is taken."""
        digest = hashlib.sha256(self._digests.get(seed, seed).encode("utf-8")).hexdigest()
        while digest[:16].upper() in self._used:
            digest = hashlib.sha256(digest.encode("ascii")).hexdigest()
        self._digests[seed] = digest
        self._used.add(digest[:16].upper())
        return digest[:16].upper()

    def _leave_out(self, item: ExportDocument, gold: ExportMention, text: str) -> None:
        self._problems.left_out(gold, f"{mention_place(item.document.external_id, gold.mention.text)} {text}")

    def _note(self, severity: str, item: ExportDocument, gold: ExportMention, text: str) -> None:
        where = mention_place(item.document.external_id, gold.mention.text)
        self._problems.append(Problem(0, severity, f"{where} {text}"))


def _document_line(item: ExportDocument, document_id: str) -> str:
    document = item.document
    value = {"title": document.title, "text": document.text, "document_id": document_id}
    return json.dumps(value) + "\n"


def _key_order(lines: Sequence[str | None]) -> tuple[str, ...]:
    """The key order of the file's first mention, if it has exactly the known keys."""
    for line in lines:
        try:
            keys = tuple(parse_object((line or "").removeprefix(BOM)))
        except LineError:
            continue
        return keys if set(keys) == set(MENTION_ORDER) else MENTION_ORDER
    return MENTION_ORDER


def _value(line: str | None, key: str) -> str:
    if not line or "{" not in line:  # a file may end with a million blank lines
        return ""
    try:
        return str(parse_object(line.removeprefix(BOM)).get(key) or "")
    except LineError:
        return ""


def _stays(line: str, known: dict[str, Any], exported: set[str]) -> bool:
    """Whether a line stays; mentions of documents that are not exported are left out."""
    document_id = _value(line, "context_document_id").strip()
    return document_id not in known or document_id in exported


class ZeshelFormat(Format):
    """Reads mentions or documents files, writes both."""

    name = "zeshel"
    title = "ZESHEL (Wikia)"
    refusal = (
        f"{{path}} is not ZESHEL: its first line must contain the keys {', '.join(MENTION_KEYS)} (mentions) or "
        f"{', '.join(DOCUMENT_KEYS)} (documents)"
    )
    carries = Carries(mentions=True)

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        found = first_object(head)
        return has_keys(found, MENTION_KEYS) or has_keys(found, DOCUMENT_KEYS)

    def reader(self, path: Path) -> Reader:
        """Of the kind of file. Raises UserError if the documents of its mentions are missing."""
        mentions = has_keys(first_object(Source(path).head()), MENTION_KEYS)
        return ZeshelMentionReader(path) if mentions else ZeshelDocumentReader(path)

    def written(self, files: Sequence[WrittenSource], out: Path) -> list[Path]:
        """Into the folder `out`. On a UserError no file is changed."""
        names = unique([export_name(file, format_name="zeshel", suffix=".json") for file, _ in files])
        worlds = _Worlds()
        mentions = {}
        for number, ((file, documents), name) in enumerate(zip(files, names, strict=True)):
            if text := _FileWriter(file, number, worlds, self.problems).mentions(documents):
                mentions[out / "mentions" / name] = text
        texts = {out / "documents" / f"{world}.json": _world_text(worlds, world) for world in worlds.lines}
        with AtomicFiles() as atomic:
            for folder in (out, out / "documents", *((out / "mentions",) if mentions else ())):
                atomic.folder(folder)
            for target, text in (mentions | texts).items():
                atomic.open(target).write(text.encode("utf-8"))
        return [*mentions, *texts]
