"""Find the place of a mention of several fragments, each of them as `anchoring` finds a mention of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from curator.domain.documents import Span
from curator.io.files.anchoring import GAP, Anchors

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AnchoredSpans:
    """Where a mention lies. `repair` says which convention matched, '' when the offsets were right as they are."""

    spans: tuple[Span, ...]
    repair: str = ""

    @property
    def words(self) -> str:
        """`3-8, 12-15`."""
        return ", ".join(f"{one.start}-{one.end}" for one in self.spans)


def find_place(anchors: Anchors, ranges: Sequence[Range], quote: str, text: str) -> AnchoredSpans | None:
    """The place of `quote`, its fragments joined by one space or a gap mark each; None when nothing unambiguous fits.

    Fragments that only line breaks part are one: formats of one line for each mention cannot write it otherwise.
    """
    for part in quote_parts(ranges, quote):
        found = [anchors.find(start, end, piece) for (start, end), piece in zip(ranges, part, strict=True)]
        if all(found) and (spans := _in_order([one.span for one in found if one])):
            repairs = dict.fromkeys(one.repair for one in found if one and one.repair)
            return AnchoredSpans(_joined(spans, text), "; ".join(repairs))
    anchor = anchors.find(ranges[0][0], ranges[-1][1], quote)
    return AnchoredSpans((anchor.span,), anchor.repair or _WHOLE) if anchor else None


def learn(anchors: Anchors, stated: Iterable[tuple[Sequence[Range], str]]) -> str:
    """Let `anchors` learn from all mentions of a document, each with its ranges and its quoted text."""
    return anchors.learn(
        (start, end, piece)
        for ranges, quote in stated
        for (start, end), piece in zip(ranges, next(quote_parts(ranges, quote), []), strict=False)
    )


_WHOLE = "the quoted text is that of the whole stretch, not of its fragments"


def broken(spans: Sequence[Span], text: str) -> list[Range]:
    """The spans as ranges without line breaks, for formats that quote a mention on one line."""
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
    """The ways to cut a quote into the texts of these fragments: by their lengths, one character between two, which
    may count UTF-16 units; or at gap marks (`...`, `[...]`, `…`)."""
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
    """The spans in text order; none where two of them share a character."""
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
