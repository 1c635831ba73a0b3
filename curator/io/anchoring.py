"""Find the place a file means when its offsets and its quoted text disagree."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from curator.domain.documents import Passage, Span
from curator.domain.offsets import Utf16Map
from curator.domain.wording import tr

NORMALISED = "the quoted text differs in case or compatibility characters"
GAP = re.compile(r"\s*(?:\[\s*(?:\.\.\.|\u2026)\s*\]|\.\.\.|\u2026)\s*")
"""What stands in a quotation for text that it leaves out: `...`, `[...]` or `…`, with the spaces around it."""
_MARKS = {"\u2018": "'", "\u2019": "'", "\u2032": "'", "\u201c": '"', "\u201d": '"', "\u2033": '"'}
_LOOKS = {"\u03bc": "u", "\u03bd": "v", "\u03c9": "w", "\u03c7": "x", "\u03b7": "n", "\u03c1": "p"}


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a mention lies. `repair` says which convention matched, '' when the offsets were right as they are."""

    span: Span
    repair: str = ""


def same_text(a: str, b: str) -> bool:
    """Equal but for line breaks, which one-line formats write as spaces."""
    return a == b or _spaced(a) == _spaced(b)


def _spaced(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ").replace("\t", " ")


class Anchors:
    """The conventions tried, in order: code points, UTF-16 units, UTF-8 bytes, passage-relative code points,
    surrounding whitespace, one to the left or right, case or compatibility characters, a mark for text left out; then
    the quoted text itself, if it stands in exactly one place, or nearest in the same passage.
    """

    def __init__(self, text: str, passages: Sequence[Passage]) -> None:
        self._text = text
        self._passages = passages
        self._flat = _spaced(text)
        self._utf16: Utf16Map | None = None

    def find(self, start: int, end: int, quote: str) -> Anchor | None:
        """The anchor of `quote`, stated at start-end (half-open); None when nothing unambiguous fits."""
        if not quote.strip():
            return None
        if 0 <= start < end and same_text(self._text[start:end], quote):
            return Anchor(Span(start, end))
        for s, e, what in self._conventions(start, end):
            if 0 <= s < e <= len(self._text) and same_text(self._text[s:e], quote):
                return Anchor(Span(s, e), what)
        return (
            self._trimmed(start, end, quote)
            or self._equivalent(start, end, quote)
            or self._with_gaps(start, end, quote)
            or self._by_quote(start, quote)
        )

    def _conventions(self, start: int, end: int) -> Iterator[tuple[int, int, str]]:
        if not self._text.isascii():
            yield *self._from_utf16(start, end), tr("the offsets count UTF-16 units")
            yield *self._from_bytes(start, end), tr("the offsets count UTF-8 bytes")
        for passage in self._passages:
            if passage.start:
                shift = passage.start
                yield start + shift, end + shift, tr("the offsets are relative to the {kind}", kind=passage.kind)
        yield start - 1, end - 1, tr("the offsets are one too large")
        yield start + 1, end + 1, tr("the offsets are one too small")
        yield start, end + 1, tr("the end is inclusive")

    def _from_utf16(self, start: int, end: int) -> tuple[int, int]:
        self._utf16 = self._utf16 or Utf16Map(self._text)
        if not 0 <= start < end <= self._utf16.to_utf16(len(self._text)):
            return -1, -1
        return self._utf16.to_code_point(start), self._utf16.to_code_point(end)

    def _from_bytes(self, start: int, end: int) -> tuple[int, int]:
        data = self._text.encode("utf-8", "surrogatepass")
        if not 0 <= start < end <= len(data):
            return -1, -1
        return len(data[:start].decode("utf-8", "ignore")), len(data[:end].decode("utf-8", "ignore"))

    def _trimmed(self, start: int, end: int, quote: str) -> Anchor | None:
        """The quote and the slice differ in the whitespace around them: the span shrinks to the words."""
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
        return Anchor(Span(start, end), NORMALISED)

    def _with_gaps(self, start: int, end: int, quote: str) -> Anchor | None:
        """The quote marks what it leaves out of the stretch: all its pieces are there, the outer ones at its ends."""
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
        return Anchor(Span(start, end), tr("the quoted text marks what it leaves out"))

    def _by_quote(self, start: int, quote: str) -> Anchor | None:
        wanted = _spaced(quote)
        places = list(self._places(wanted))
        if not places and wanted.strip() != wanted:
            wanted = wanted.strip()
            places = list(self._places(wanted))
        if not places:
            return None
        if len(places) == 1:
            return Anchor(Span(places[0], places[0] + len(wanted)), tr("the quoted text stands in one place only"))
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
        return Anchor(Span(at, at + length), tr("the nearest place of the quoted text in the same passage was taken"))


def alike(text: str, quote: str) -> bool:
    """Whether `quote` is `text` but for case, compatibility characters, accents, the kind of dash or quotation mark,
    and letters written in ASCII, as PubTator does (`TNF-α` as `TNF-a`); a `?` stands for any of those.
    """
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
