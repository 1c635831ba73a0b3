"""The two kinds of ZESHEL lines, parsed and checked; and the map between whitespace tokens and code points."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curator.domain.documents import Passage, Span
from curator.domain.wording import tr
from curator.io.files.source import plain_text

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


class LineError(ValueError):
    """A line that cannot be used; the message gives the reason, without file and line."""


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


def parse_object(line: str) -> Mapping[str, Any]:
    """The JSON object of a line. Raises LineError."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LineError(tr("is not JSON: {error}", error=error)) from error
    if not isinstance(value, dict):
        raise LineError(tr("is not a JSON object"))
    return value


def first_object(head: bytes) -> Mapping[str, Any]:
    """The first line that is an object; empty if there is none."""
    for line in head.decode("utf-8", "ignore").split("\n"):
        if line.lstrip().startswith("{"):
            try:
                return parse_object(line)
            except LineError:
                continue
    return {}


def has_keys(value: Mapping[str, Any], keys: Sequence[str]) -> bool:
    return all(key in value for key in keys)


def parse_document(line: str) -> DocumentLine:
    """A line of `documents/WORLD.json`. Raises LineError."""
    value = parse_object(line)
    fields = [_text(value, key) for key in DOCUMENT_KEYS]
    if not fields[0].strip():
        raise LineError(tr("has an empty `document_id`"))
    plain = [plain_text(field) for field in fields]
    return DocumentLine(plain[0].strip(), plain[1], plain[2], plain != fields)


def parse_mention(line: str, record: int) -> MentionLine:
    """A line of `mentions/*.json`. Raises LineError."""
    value = parse_object(line)
    world = _text(value, "corpus")
    if not _WORLD.fullmatch(world) or world.strip(". ") == "":
        raise LineError(tr("has no usable world in `corpus`: {world!r}", world=world[:40]))
    label = value.get("label_document_id")
    if label is not None and not isinstance(label, str):
        raise LineError(tr("has a `label_document_id` that is not text"))
    start, end = _number(value, "start_index"), _number(value, "end_index")
    document_id = plain_text(_text(value, "context_document_id")).strip()
    text = plain_text(_text(value, "text"))
    return MentionLine(record, document_id, world, plain_text(label or "").strip(), text, start, end)


def _text(value: Mapping[str, Any], key: str) -> str:
    if not isinstance(value.get(key), str):
        raise LineError(tr("has no text in `{key}`", key=key))
    return str(value[key])


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
