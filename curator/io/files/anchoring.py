"""Find the position that a file means when its offsets and its quoted text disagree."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from curator.domain.documents import Passage, Span, Utf16Map
from curator.domain.wording import tr

NORMALISED = "the quoted text differs in case or compatibility characters"
GAP = re.compile(r"(?:(?<!\s)\s+)?(?:\[\s*(?:\.\.\.|\u2026)\s*\]|\.\.\.|\u2026)\s*")
"""The mark for omitted text in a quotation: `...`, `[...]` or `…`, with the spaces around it. A match begins only at
the first of several spaces, so that a long run of spaces is scanned once."""
_MARKS = {"\u2018": "'", "\u2019": "'", "\u2032": "'", "\u201c": '"', "\u201d": '"', "\u2033": '"'}
_LOOKS = {"\u03bc": "u", "\u03bd": "v", "\u03c9": "w", "\u03c7": "x", "\u03b7": "n", "\u03c1": "p"}


Stated = tuple[int, int, str]
"""Start, end and quoted text of a mention, as in its file."""


class Counting(Enum):
    """The units that offsets may count, in the order in which they are tried."""

    CODE_POINTS = auto()
    UTF16 = auto()
    BYTES = auto()
    PASSAGE = auto()
    TOO_LARGE = auto()
    TOO_SMALL = auto()
    INCLUSIVE = auto()


WAYS = {
    Counting.CODE_POINTS: "characters",
    Counting.UTF16: "UTF-16 units",
    Counting.BYTES: "UTF-8 bytes",
    Counting.PASSAGE: "characters of the passage",
    Counting.TOO_LARGE: "characters from 1",
    Counting.TOO_SMALL: "characters from -1",
    Counting.INCLUSIVE: "characters, end inclusive",
}
SLIPS = frozenset({Counting.TOO_LARGE, Counting.TOO_SMALL, Counting.INCLUSIVE})
"""Mistakes that a single mention may have without contradicting others."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The position of a mention. `repair` names the convention that matched, '' if the offsets were right."""

    span: Span
    repair: str = ""


def same_text(a: str, b: str) -> bool:
    """Equal except for line breaks, which one-line formats write as spaces."""
    return a == b or _spaced(a) == _spaced(b)


def _spaced(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")


class Anchors:
    """The conventions tried, in order: the one that `learn` found, code points, UTF-16 units, UTF-8 bytes,
    passage-relative code points, one to the left or right, surrounding whitespace, case or compatibility characters, a
    mark for text left out; then the quoted text itself, if it is in exactly one place, or nearest in the same
    passage.
    """

    def __init__(self, text: str, passages: Sequence[Passage]) -> None:
        self._text = text
        self._passages = passages
        self._flat = _spaced(text)
        self._utf16: Utf16Map | None = None
        self._bytes = b""
        self._usual = Counting.CODE_POINTS

    def learn(self, stated: Iterable[Stated]) -> str:
        """Find the convention that fits most mentions of the document; ambiguous mentions are read by it. Returns a
        sentence if mentions need different conventions, else ''."""
        known = [one for one in stated if one[2].strip()]
        if all(self._fits(*one) for one in known):  # the others cannot fit more
            return ""
        fitting = [self._fitting(*one) for one in known]
        scores = Counter(one for found in fitting for one in found)
        self._usual = max(Counting, key=lambda one: scores[one])  # the first of equals
        against: Counter[Counting] = Counter()
        for found in fitting:
            if self._usual not in found and (proven := [one for one in found if one not in SLIPS]):
                against[proven[0]] += 1
        if not against:
            return ""
        ways = [(self._usual, scores[self._usual]), *against.items()]
        return tr(
            "its offsets are not all counted in the same way ({ways}); where several of these fit, they "
            "were read as {usual}",
            ways=", ".join(f"{tr(WAYS[one])}: {n:,}" for one, n in ways),
            usual=tr(WAYS[self._usual]),
        )

    def find(self, start: int, end: int, quote: str) -> Anchor | None:
        """The anchor of `quote`, stated at start-end (half-open); None when nothing unambiguous fits."""
        if not quote.strip():
            return None
        if found := self.proven(start, end, quote):
            return found
        if self._fits(start, end, quote):
            return Anchor(Span(start, end))
        for _, s, e, what in self._conventions(start, end):
            if self._fits(s, e, quote):
                return Anchor(Span(s, e), what)
        return (
            self._trimmed(start, end, quote)
            or self._equivalent(start, end, quote)
            or self._with_gaps(start, end, quote)
            or self._by_quote(start, quote)
        )

    def proven(self, start: int, end: int, quote: str) -> Anchor | None:
        """The anchor by the convention that `learn` found, if it is not code points; None if it does not match."""
        if self._usual is Counting.CODE_POINTS or not quote.strip():
            return None
        if self._usual is Counting.PASSAGE and self._in_first(end) and self._fits(start, end, quote):
            return Anchor(Span(start, end))
        for way, s, e, what in self._conventions(start, end):
            if way is self._usual and self._fits(s, e, quote):
                return Anchor(Span(s, e), "" if (s, e) == (start, end) else what)
        return None

    def _fits(self, start: int, end: int, quote: str) -> bool:
        return 0 <= start < end <= len(self._text) and same_text(self._text[start:end], quote)

    def _fitting(self, start: int, end: int, quote: str) -> list[Counting]:
        """The conventions for which the quoted text is at its offsets, in order."""
        found = {way for way, s, e, _ in self._conventions(start, end) if self._fits(s, e, quote)}
        if self._fits(start, end, quote):
            found |= {Counting.CODE_POINTS} | ({Counting.PASSAGE} if self._in_first(end) else set())
        return [one for one in Counting if one in found]

    def _in_first(self, end: int) -> bool:
        """Whether offsets relative to the first of several passages are also those of the text."""
        return len(self._passages) > 1 and not self._passages[0].start and end <= self._passages[0].end

    def _conventions(self, start: int, end: int) -> Iterator[tuple[Counting, int, int, str]]:
        if not self._text.isascii():
            yield Counting.UTF16, *self._from_utf16(start, end), tr("the offsets count UTF-16 units")
            yield Counting.BYTES, *self._from_bytes(start, end), tr("the offsets count UTF-8 bytes")
        for passage in self._passages:
            if passage.start:
                words = tr("the offsets are relative to the {kind}", kind=passage.kind)
                yield Counting.PASSAGE, start + passage.start, end + passage.start, words
        yield Counting.TOO_LARGE, start - 1, end - 1, tr("the offsets are one too large")
        yield Counting.TOO_SMALL, start + 1, end + 1, tr("the offsets are one too small")
        yield Counting.INCLUSIVE, start, end + 1, tr("the end is inclusive")

    def _from_utf16(self, start: int, end: int) -> tuple[int, int]:
        self._utf16 = self._utf16 or Utf16Map(self._text)
        if not 0 <= start < end <= self._utf16.to_utf16(len(self._text)):
            return -1, -1
        return self._utf16.to_code_point(start), self._utf16.to_code_point(end)

    def _from_bytes(self, start: int, end: int) -> tuple[int, int]:
        self._bytes = self._bytes or self._text.encode("utf-8", "surrogatepass")
        data = self._bytes
        if not 0 <= start < end <= len(data):
            return -1, -1
        return len(data[:start].decode("utf-8", "ignore")), len(data[:end].decode("utf-8", "ignore"))

    def _trimmed(self, start: int, end: int, quote: str) -> Anchor | None:
        """If the quote and the slice differ in the white space around them, the span without it."""
        if not 0 <= start < end <= len(self._text):
            return None
        inner = self._text[start:end]
        words = inner.strip()
        if not words or not same_text(words, quote.strip()):
            return None
        at = start + inner.index(words)
        return Anchor(Span(at, at + len(words)), tr("the offsets and the quoted text differ in surrounding whitespace"))

    def _equivalent(self, start: int, end: int, quote: str) -> Anchor | None:
        if not 0 <= start < end <= len(self._text) or not alike(self._text[start:end], quote):
            return None
        return Anchor(Span(start, end), tr(NORMALISED))

    def _with_gaps(self, start: int, end: int, quote: str) -> Anchor | None:
        """If the quote marks omitted text: the span, if it contains all pieces of the quote, the outer ones at its
        ends."""
        pieces = GAP.split(_spaced(quote))
        if len(pieces) == 1 or not all(pieces) or not 0 <= start < end <= len(self._text):
            return None
        inner, at = self._flat[start:end], 0
        for piece in pieces[:-1]:
            found = inner.find(piece, at)
            if found < 0 or (not at and found):
                return None
            at = found + len(piece)
        if not inner.endswith(pieces[-1]) or at > len(inner) - len(pieces[-1]):
            return None
        return Anchor(Span(start, end), tr("the quoted text has a mark where it omits something"))

    def _by_quote(self, start: int, quote: str) -> Anchor | None:
        wanted = _spaced(quote)
        places = list(self._places(wanted))
        if not places and wanted.strip() != wanted:
            wanted = wanted.strip()
            places = list(self._places(wanted))
        if not places:
            return None
        if len(places) == 1:
            return Anchor(Span(places[0], places[0] + len(wanted)), tr("the quoted text occurs only once"))
        return self._nearest(start, places, len(wanted))

    def _places(self, wanted: str) -> Iterator[int]:
        at = self._flat.find(wanted)
        while at >= 0:
            yield at
            at = self._flat.find(wanted, at + 1)

    def _nearest(self, start: int, places: list[int], length: int) -> Anchor | None:
        home = next((p for p in self._passages if p.start <= start <= p.end), None)
        if home is None:
            return None
        ranked = sorted((abs(at - start), at) for at in places if home.start <= at and at + length <= home.end)
        if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
            return None
        at = ranked[0][1]
        return Anchor(
            Span(at, at + length), tr("the nearest occurrence of the quoted text in the same passage was used")
        )


def alike(text: str, quote: str) -> bool:
    """Whether `quote` equals `text` except for case, compatibility characters, accents, the kind of dash or quotation
    mark, and letters written in ASCII, as PubTator does (`TNF-α` as `TNF-a`); a `?` matches any of those."""
    if _folded(text) == _folded(quote):
        return True
    if not quote.isascii() or text.isascii():
        return False
    return any(_in_ascii(text, column) == _folded(quote) for column in range(3)) or _asked(text) == _folded(quote)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _in_ascii(text: str, column: int) -> str:
    """Greek letters by their first letter (0), by the Latin letter that looks alike (1) or by name (2)."""
    return "".join(ch if ch.isascii() else _letter(ch, column) for ch in unicodedata.normalize("NFKD", _folded(text)))


def _letter(ch: str, column: int) -> str:
    if unicodedata.combining(ch):
        return ""
    if unicodedata.category(ch) == "Pd" or ch == "\u2212":
        return "-"
    if ch in _MARKS:
        return _MARKS[ch]
    name = unicodedata.name(ch, "").partition("LETTER ")[2].lower()
    if not name or not unicodedata.name(ch).startswith("GREEK"):
        return ch
    return (name[0], _LOOKS.get(ch, name[0]), name.partition(" ")[2] or name)[column]


def _asked(text: str) -> str:
    return "".join(ch if ch.isascii() else "?" for ch in _folded(text))


# Find the position of a mention with several fragments, each like a mention with one.

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AnchoredSpans:
    """The position of a mention. `repair` names the convention that matched, '' if the offsets were right."""

    spans: tuple[Span, ...]
    repair: str = ""

    @property
    def words(self) -> str:
        """`3-8, 12-15`."""
        return ", ".join(f"{one.start}-{one.end}" for one in self.spans)


def find_place(anchors: Anchors, ranges: Sequence[Range], quote: str, text: str) -> AnchoredSpans | None:
    """The position of `quote`, whose fragments are joined by a space or a gap mark; None if nothing matches
    unambiguously.

    Fragments separated only by line breaks are one: formats with one line per mention must split them.
    """
    for part in quote_parts(ranges, quote):
        found = [anchors.find(start, end, piece) for (start, end), piece in zip(ranges, part, strict=True)]
        if all(found) and (spans := _in_order([one.span for one in found if one])):
            repairs = dict.fromkeys(one.repair for one in found if one and one.repair)
            return AnchoredSpans(_joined(spans, text), "; ".join(repairs))
    anchor = anchors.find(ranges[0][0], ranges[-1][1], quote)
    return AnchoredSpans((anchor.span,), anchor.repair or tr(_WHOLE)) if anchor else None


def learn(anchors: Anchors, stated: Iterable[tuple[Sequence[Range], str]]) -> str:
    """Let `anchors` learn from all mentions of a document, each with its ranges and its quoted text."""
    return anchors.learn(
        (start, end, piece)
        for ranges, quote in stated
        for (start, end), piece in zip(ranges, next(quote_parts(ranges, quote), []), strict=False)
    )


_WHOLE = "the quoted text covers the whole range, not only its fragments"


def broken(spans: Sequence[Span], text: str) -> list[Range]:
    """The spans split into ranges without line breaks, for formats that quote a mention on one line."""
    ranges = []
    for span in spans:
        start = span.start
        for at in range(span.start, span.end + 1):
            if at == span.end or text[at] in "\r\n":
                if at > start:
                    ranges.append((start, at))
                start = at + 1
    return ranges


def quoted(ranges: Sequence[Range], text: str) -> str:
    """The text under the ranges, joined by one space."""
    return " ".join(text[start:end] for start, end in ranges)


def quote_parts(ranges: Sequence[Range], quote: str) -> Iterator[list[str]]:
    """The ways to split a quote into the texts of these fragments: by their lengths (possibly in UTF-16 units), with
    one character between two; or at gap marks (`...`, `[...]`, `…`)."""
    if len(ranges) == 1:
        yield [quote]
        return
    wide = [unit for ch in quote for unit in ((ch, "") if ch > "\uffff" else (ch,))]
    for units in ([*quote], wide, [*GAP.sub(" ", quote)]):
        if sum(end - start + 1 for start, end in ranges) - 1 == len(units):
            yield _by_length(ranges, units)
    pieces = GAP.split(quote)
    if len(pieces) == len(ranges) and all(pieces):
        yield pieces


def _by_length(ranges: Sequence[Range], units: Sequence[str]) -> list[str]:
    parts, at = [], 0
    for start, end in ranges:
        parts.append("".join(units[at : at + end - start]))
        at += end - start + 1
    return parts


def _in_order(spans: list[Span]) -> list[Span]:
    """The spans in text order; none if two of them share a character."""
    spans = sorted(spans)
    return spans if all(one.end <= other.start for one, other in pairwise(spans)) else []


def _joined(spans: Sequence[Span], text: str) -> tuple[Span, ...]:
    joined = [spans[0]]
    for span in spans[1:]:
        gap = text[joined[-1].end : span.start]
        if gap and not gap.strip("\r\n"):
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return tuple(joined)
