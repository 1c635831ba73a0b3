"""Arithmetic of a mention's spans, and word boundaries to snap to. All offsets are in code points."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from curator.domain.documents import Span

_JOINERS = "\u200c\u200d"  # zero-width joiners occur inside words of some scripts


def with_span(spans: Sequence[Span], new: Span) -> tuple[Span, ...]:
    """The spans with an additional one, in text order; spans that touch or overlap are merged."""
    joined: list[Span] = []
    for span in sorted((*spans, new)):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def without_span(text: str, spans: Sequence[Span], cut: Span) -> tuple[Span, ...]:
    """The spans without `cut` and without white space at the new ends; empty if nothing is left."""
    parts: list[Span | None] = []
    for span in spans:
        if span.end <= cut.start or cut.end <= span.start:
            parts.append(span)
            continue
        if span.start < cut.start:
            parts.append(trimmed(text, span.start, cut.start))
        if cut.end < span.end:
            parts.append(trimmed(text, cut.end, span.end))
    return tuple(one for one in parts if one is not None)


def hull(spans: Sequence[Span]) -> Span:
    """The range from the first to the last character. Raises ValueError without spans."""
    return Span(min(one.start for one in spans), max(one.end for one in spans))


def trimmed(text: str, start: int, end: int) -> Span | None:
    """The range without white space at its ends; None if it contains only white space."""
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    end = start + len(part.strip())
    return Span(start, end) if end > start else None


def overlaps(spans: Iterable[Span], other: Span) -> bool:
    return any(one.start < other.end and other.start < one.end for one in spans)


def apart(spans: Sequence[Span]) -> bool:
    """Whether the spans are disjoint."""
    return all(one.end <= other.start for one, other in pairwise(sorted(spans)))


# --- words ---


def word_at(text: str, offset: int) -> Span | None:
    """The word around the code point at `offset`, or the single character there; None on white space and outside."""
    if not 0 <= offset < len(text) or text[offset].isspace():
        return None
    if not _in_word(text[offset]):
        return Span(offset, _after_marks(text, offset + 1))
    start, end = offset, offset + 1
    while start > 0 and _same_word(text[start - 1], text[start]):
        start -= 1
    while end < len(text) and _same_word(text[end - 1], text[end]):
        end += 1
    if is_mark(text[start]) and start > 0 and not text[start - 1].isspace():
        start -= 1  # a mark on a sign that is not a letter: an emoji's variant
    return Span(start, end)


def snapped(text: str, span: Span) -> Span:
    """The span widened to whole words."""
    first, last = word_at(text, span.start), word_at(text, span.end - 1)
    return Span(first.start if first else span.start, last.end if last else span.end)


# A step by words moves to the next stop. A stop is * a run of letters and digits: a step into a compound stops at each
# of its parts ("TNF-α" at "TNF" and at the whole, "p.V600E" at "p" and at the whole), since either may be the mention;
# the signs between are passed over; * with the signs that belong to its end: primes, "%" and "'" after a digit, a
# charge ("5'", "5%", "Ca2+"), unless a letter or digit follows ("5'A", "A+B"); * with a bracket that was opened in the
# same word ("Fe(III)", "poly(A)"); * a symbol that is no punctuation, such as an emoji. Punctuation around words is
# never a stop: a mention does not grow by the full stop, comma or quote after it.

_PRIMES, _CHARGES, _AFTER_DIGIT = "\u2032\u2033\u2034", "+\u207a\u2212\u207b", "'\u2019%"
_OPENED = {")": "(", "]": "["}
_BRACKET_ROOM = 40
"""How far back, in code points, an opening bracket is searched for."""


def next_word_start(text: str, offset: int) -> int:
    """Start of the next word after `offset`; the text's length if there is none."""
    return next((one.start for one in _stops(text, offset) if one.start > offset), len(text))


def next_word_end(text: str, offset: int) -> int:
    """End of the word at or after `offset`; `offset` if there is none."""
    return next((one.end for one in _stops(text, offset) if one.end > offset), offset)


def previous_word_start(text: str, offset: int) -> int:
    """Start of the word before `offset`; `offset` if there is none."""
    return next((one.start for one in _stops_before(text, offset) if one.start < offset), offset)


def previous_word_end(text: str, offset: int) -> int:
    """End of the last word that ends before `offset`; 0 if there is none."""
    return next((one.end for one in _stops_before(text, offset) if one.end < offset), 0)


def _stops(text: str, offset: int) -> Iterator[Span]:
    """The stops at and after `offset`, in text order."""
    at = offset
    while at < len(text):
        word = word_at(text, at)
        stop = _stop(text, word) if word is not None else None
        if stop is not None:
            yield stop
        at = max(word.end if word is not None else 0, at + 1)


def _stops_before(text: str, offset: int) -> Iterator[Span]:
    """The stops that begin before `offset`, last first."""
    at = min(offset, len(text)) - 1
    while at >= 0:
        word = word_at(text, at)
        stop = _stop(text, word) if word is not None else None
        if stop is not None:
            yield stop
        at = min(word.start if word is not None else at, at) - 1


def _stop(text: str, word: Span) -> Span | None:
    """The stop that a word or sign belongs to; None for punctuation that belongs to no word."""
    if any(_in_word(char) for char in text[word.start : word.end]):
        end = _behind_signs(text, word.end)
        return Span(_opened_at(text, end) if end > word.end else word.start, end)
    run = word.start
    while run > 0 and not _in_word(text[run - 1]) and not text[run - 1].isspace() and word.start - run < 3:
        run -= 1
    if run > 0 and _in_word(text[run - 1]) and _behind_signs(text, run) >= word.end:
        return _stop(text, word_at(text, run - 1) or word)
    between = word.end < len(text) and _in_word(text[word.end])
    category = unicodedata.category(text[word.start])
    return None if category[0] == "P" or (category == "Sm" and between) else word


def _behind_signs(text: str, end: int) -> int:
    """The position after the signs that belong to the word ending at `end`."""
    at = end
    while at < len(text) and _belongs(text, at):
        at += 1
    return end if at < len(text) and _in_word(text[at]) and text[at - 1] not in _OPENED else at


def _belongs(text: str, at: int) -> bool:
    char = text[at]
    if char in _AFTER_DIGIT:
        return text[at - 1].isdigit()
    return char in _PRIMES or char in _CHARGES or (char in _OPENED and _opening(text, at) is not None)


def _opening(text: str, at: int) -> int | None:
    """The opening bracket, in the same word, of the bracket that closes at `at`."""
    found = text.rfind(_OPENED[text[at]], max(at - _BRACKET_ROOM, 0), at)
    inside = text[found + 1 : at]
    if found < 1 or not _in_word(text[found - 1]) or any(one.isspace() or one in ")]([" for one in inside):
        return None
    return found


def _opened_at(text: str, end: int) -> int:
    """Start of the word that ends at `end` with signs; for a closing bracket, of the word before its opening
    bracket."""
    at = end
    while at > 0 and not _in_word(text[at - 1]):
        at -= 1
        if text[at] in _OPENED and (opening := _opening(text, at)) is not None:
            at = opening
    word = word_at(text, at - 1)
    return word.start if word is not None else at


def is_mark(char: str) -> bool:
    """A combining mark, which belongs to the character before it."""
    return unicodedata.category(char)[0] == "M"


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_" or char in _JOINERS or is_mark(char)


def _same_word(one: str, other: str) -> bool:
    """Whether two neighbouring characters belong to one word; every wide letter (such as Chinese) is its own word."""
    if is_mark(other):
        return _in_word(one)
    return _in_word(one) and _in_word(other) and not _is_wide(one) and not _is_wide(other)


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF" and unicodedata.category(char) == "Lo"


def _after_marks(text: str, end: int) -> int:
    while end < len(text) and is_mark(text[end]):
        end += 1
    return end
