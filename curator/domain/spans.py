"""Arithmetic of a mention's spans, and words of a text as places to snap to. Everything counts code points."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

from curator.domain.documents import Span

_JOINERS = "\u200c\u200d"  # zero-width joiners stand inside words of some scripts


def with_span(spans: Sequence[Span], new: Span) -> tuple[Span, ...]:
    """The spans and a further one in text order; those that touch or overlap become one."""
    joined: list[Span] = []
    for span in sorted((*spans, new)):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def without_span(text: str, spans: Sequence[Span], cut: Span) -> tuple[Span, ...]:
    """What is left of the spans without `cut`, white space at the new ends left out; empty where nothing is left."""
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
    """From the first character to the last. Raises ValueError without any span."""
    return Span(min(one.start for one in spans), max(one.end for one in spans))


def trimmed(text: str, start: int, end: int) -> Span | None:
    """The range without white space at its ends; None where nothing else is in it."""
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    end = start + len(part.strip())
    return Span(start, end) if end > start else None


def overlaps(spans: Iterable[Span], other: Span) -> bool:
    return any(one.start < other.end and other.start < one.end for one in spans)


def apart(spans: Sequence[Span]) -> bool:
    """Whether no two of the spans share a character."""
    return all(one.end <= other.start for one, other in pairwise(sorted(spans)))


# --- words ---


def word_at(text: str, offset: int) -> Span | None:
    """The word around the code point at `offset`, or the sign that stands there; None on white space and outside."""
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
        start -= 1  # a mark on a sign that is no letter: an emoji's variant
    return Span(start, end)


def snapped(text: str, span: Span) -> Span:
    """The span widened to whole words."""
    first, last = word_at(text, span.start), word_at(text, span.end - 1)
    return Span(first.start if first else span.start, last.end if last else span.end)


def next_word_start(text: str, offset: int) -> int:
    """Where the next word behind `offset` begins; the text's length where there is none."""
    here = word_at(text, offset)
    at = here.end if here is not None and here.start <= offset else offset
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def next_word_end(text: str, offset: int) -> int:
    """Where the word at or behind `offset` ends; `offset` where only white space follows."""
    at = offset
    while at < len(text) and text[at].isspace():
        at += 1
    word = word_at(text, at)
    return word.end if word is not None else offset


def previous_word_start(text: str, offset: int) -> int:
    """Where the word before `offset` begins; `offset` where only white space precedes."""
    at = offset
    while at > 0 and text[at - 1].isspace():
        at -= 1
    word = word_at(text, at - 1)
    return word.start if word is not None else offset


def previous_word_end(text: str, offset: int) -> int:
    """Where the word that ends before `offset` ends; 0 where there is none."""
    start = previous_word_start(text, offset)
    at = start
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return at


def is_mark(char: str) -> bool:
    """A combining mark, which belongs to the character before it."""
    return unicodedata.category(char)[0] == "M"


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_" or char in _JOINERS or is_mark(char)


def _same_word(one: str, other: str) -> bool:
    """Whether two neighbours belong to one word; every wide letter (of Chinese, say) is a word of its own."""
    if is_mark(other):
        return _in_word(one)
    return _in_word(one) and _in_word(other) and not _is_wide(one) and not _is_wide(other)


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF" and unicodedata.category(char) == "Lo"


def _after_marks(text: str, end: int) -> int:
    while end < len(text) and is_mark(text[end]):
        end += 1
    return end
