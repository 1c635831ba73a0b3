"""Finding words in a document: which code points match, and which match is the current one."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from curator.domain.documents import Span

MOST = 10_000
"""Matches that are marked; who looks for a single letter in a whole book needs no more."""


@dataclass(frozen=True, slots=True)
class Found:
    """Matches in text order; `at` is the current one's index, -1 without any."""

    spans: tuple[Span, ...] = ()
    at: int = -1

    @property
    def current(self) -> Span | None:
        return self.spans[self.at] if self.spans else None

    def beside(self, direction: int) -> Found:
        """The next or previous match, round at the ends."""
        return replace(self, at=(self.at + direction) % len(self.spans)) if self.spans else self

    def within(self, start: int, end: int) -> Sequence[Span]:
        """The matches that touch a range; they never overlap each other."""
        first = bisect_right(self.spans, start, key=lambda one: one.end)
        last = bisect_left(self.spans, end, key=lambda one: one.start)
        return self.spans[first:last]


def find_in(text: str, query: str, *, start: int = 0) -> Found:
    """Matches of `query` without regard to case, any white space for a space; the current one is the first from the
    code point `start` on, round at the end."""
    words = query.split()
    if not words:
        return Found()
    pattern = re.compile(r"\s+".join(re.escape(word) for word in words), re.IGNORECASE)
    spans: list[Span] = []
    for match in pattern.finditer(text):
        spans.append(Span(match.start(), match.end()))
        if len(spans) == MOST:
            break
    behind = next((i for i, span in enumerate(spans) if span.start >= start), 0)
    return Found(tuple(spans), behind if spans else -1)
