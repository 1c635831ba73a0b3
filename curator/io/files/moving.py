"""Mapping positions of a text to a newer version of it.

Both texts are aligned word by word (difflib's SequenceMatcher, after removing the common beginning and end). A position
in common text moves with it. Others are searched for by their quoted text and context: `anchoring` finds the quote, and
a match counts only if the words around it are similar, or if the quote is long enough and occurs only once. Nothing is
guessed: positions not found this way have no match.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from curator.domain.documents import Passage, Span
from curator.io.files.anchoring import Anchors

AROUND = 40  # code points before and after a quote that are compared
ALIKE = 0.6  # of the surrounding text, 1 = equal
ONE_SIDE = (
    0.75  # how much the side counts that is more alike: a sentence may have moved, and its neighbours with it not
)
CLEARLY = 0.15  # by which the best position must exceed the next
LONG_ENOUGH = 5  # code points of a quote that occurs only once
MOST_EXACT = 4000  # up to this number of words, frequent ones are aligned, too (quadratic time)
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class MovedText:
    """Maps spans of `old` to spans of `new`, whose passages are `passages`."""

    def __init__(self, old: str, new: str, passages: Sequence[Passage]) -> None:
        self._old, self._new = old, new
        self._anchors = Anchors(new, passages)
        self._blocks = list(_blocks(old, new))
        self._starts = [at for at, _, _ in self._blocks]

    def find(self, spans: Sequence[Span]) -> tuple[Span, ...] | None:
        """The new spans of a mention's fragments; None if one has no match or their order changed."""
        found = [self._one(span) for span in spans]
        moved = tuple(span for span in found if span is not None)
        if len(moved) < len(found) or any(a.end > b.start for a, b in pairwise(moved)):
            return None
        return moved

    def _one(self, span: Span) -> Span | None:
        at = bisect_right(self._starts, span.start) - 1
        if at >= 0:
            old, new, size = self._blocks[at]
            if span.end <= old + size:
                return Span(span.start - old + new, span.end - old + new)
        return self._by_words(span)

    def _by_words(self, span: Span) -> Span | None:
        quote = self._old[span.start : span.end]
        places = list(self._places(quote)) or self._in_other_case(quote)
        ranked = sorted(((self._alike(span, at), -at) for at in places), reverse=True)
        if not ranked:
            return self._equivalent(span, quote)
        best, place = ranked[0][0], -ranked[0][1]
        clear = len(ranked) == 1 or best - ranked[1][0] >= CLEARLY
        sure = best >= ALIKE or (len(ranked) == 1 and len(quote) >= LONG_ENOUGH)
        return Span(place, place + len(quote)) if clear and sure else None

    def _equivalent(self, span: Span, quote: str) -> Span | None:
        """The same word in other characters, at the position expected from the alignment."""
        start = self._expected(span.start)
        found = self._anchors.find(start, start + len(quote), quote)
        return found.span if found is not None and self._alike(span, found.span.start) >= ALIKE else None

    def _places(self, quote: str) -> Iterator[int]:
        at = self._new.find(quote)
        while at >= 0:
            yield at
            at = self._new.find(quote, at + 1)

    def _in_other_case(self, quote: str) -> list[int]:
        found = re.finditer(re.escape(quote), self._new, re.IGNORECASE)
        return [one.start() for one in found if one.end() - one.start() == len(quote)]

    def _alike(self, span: Span, at: int) -> float:
        """The similarity of the context at `at` in the new text to the span's context in the old."""
        end = at + span.end - span.start
        before = _share(self._old[max(span.start - AROUND, 0) : span.start], self._new[max(at - AROUND, 0) : at])
        after = _share(self._old[span.end : span.end + AROUND], self._new[end : end + AROUND])
        return ONE_SIDE * max(before, after) + (1 - ONE_SIDE) * min(before, after)

    def _expected(self, start: int) -> int:
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return start
        old, new, size = self._blocks[at]
        return new + min(start - old, size)


def moved_text(old: str, new: str, passages: Sequence[Passage]) -> MovedText:
    """See `ports.TextMover`."""
    return MovedText(old, new, passages)


def _share(a: str, b: str) -> float:
    if not a and not b:
        return 1.0
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


def _blocks(old: str, new: str) -> Iterator[tuple[int, int, int]]:
    """(start in `old`, start in `new`, length) of the common blocks, in order, in code points."""
    words, others = _WORDS.findall(old), _WORDS.findall(new)
    most = min(len(words), len(others))
    first = _same(words, others, most)
    last = _same(words[::-1], others[::-1], most - first)
    between, between_new = words[first : len(words) - last], others[first : len(others) - last]
    matcher = SequenceMatcher(None, between, between_new, autojunk=max(len(between), len(between_new)) > MOST_EXACT)
    found = [
        (0, 0, first),
        *((a + first, b + first, size) for a, b, size in matcher.get_matching_blocks() if size),
        (len(words) - last, len(others) - last, last),
    ]
    old_at, new_at = _offsets(words), _offsets(others)
    for a, b, size in found:
        if size:
            yield old_at[a], new_at[b], old_at[a + size] - old_at[a]


def _same(words: Sequence[str], others: Sequence[str], most: int) -> int:
    """The number of equal words at the beginning, at most `most`."""
    return next((i for i in range(most) if words[i] != others[i]), most)


def _offsets(words: Sequence[str]) -> list[int]:
    """The start of each word, and the end of the last."""
    found = [0]
    for word in words:
        found.append(found[-1] + len(word))
    return found
