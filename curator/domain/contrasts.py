"""What speaks for each of two candidates: words of the context by occlusion, and where their records differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp

from curator.domain.documents import Span
from curator.domain.suggestions import Stamp

NOTICEABLE = 0.05
"""Smaller changes of the lead, in logits, are not told."""
MOST_ODDS = 1000.0
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|\W+|_+")
_SMALL = frozenset(
    "a an and are as at be by for from in is it its of on or that the their this to was were which with".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class WordEffect:
    """How much a word of the text adds to the first candidate's lead, in logits; below 0 it speaks for the second.

    None: without the word one of the two is no candidate at all.
    """

    span: Span
    change: float | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two candidates of a mention. `lead`: ln(p1 / p2). `stamp` as of a suggestion: what answered, and which text."""

    mention_id: int
    first: str
    second: str
    lead: float
    words: tuple[WordEffect, ...]
    stamp: Stamp

    def speaking_for(self, entity_id: str) -> list[WordEffect]:
        """Words that noticeably speak for one of the two, strongest first."""
        sign = 1.0 if entity_id == self.first else -1.0
        found = [one for one in self.words if one.change is not None and sign * one.change >= NOTICEABLE]
        return sorted(found, key=lambda one: (-sign * (one.change or 0.0), one.span))

    @property
    def needed(self) -> list[WordEffect]:
        """Words without which one of the two is no candidate."""
        return [one for one in self.words if one.change is None]


def odds(logit: float) -> float:
    """How many times likelier, 1 and more; cut at MOST_ODDS."""
    return min(exp(min(abs(logit), 50.0)), MOST_ODDS)


@dataclass(frozen=True, slots=True)
class TextRun:
    """A part of a text; `common`: the other text has the word too, or it is no word that could tell them apart."""

    text: str
    common: bool


def apart(text: str, other: str) -> list[TextRun]:
    """A text cut into runs that the other one has as well and runs that it lacks, whatever their order."""
    return _runs(_pieces(text, {_plain(word) for word in _WORD.findall(other)}))


def names_apart(names: Sequence[str], others: Sequence[str]) -> list[TextRun]:
    """Names one by one: common where the other has the same, spelt with other capitals perhaps."""
    known = {name.casefold() for name in others}
    return [TextRun(name, name.casefold() in known) for name in names]


def _pieces(text: str, known: set[str]) -> Iterable[TextRun]:
    for part in _WORD.findall(text):
        word = _plain(part)
        yield TextRun(part, not word or word in known or word in _SMALL)


def _runs(pieces: Iterable[TextRun]) -> list[TextRun]:
    """Neighbours of one kind joined; what stands between two words that differ belongs to them."""
    listed = list(pieces)
    kinds = [one.common for one in listed]
    for at in range(1, len(listed) - 1):
        between = not _plain(listed[at].text)
        if between and not kinds[at - 1] and not kinds[at + 1] and not listed[at].text.strip():
            kinds[at] = False
    found: list[TextRun] = []
    for piece, common in zip(listed, kinds, strict=True):
        if found and found[-1].common == common:
            found[-1] = TextRun(found[-1].text + piece.text, common)
        else:
            found.append(TextRun(piece.text, common))
    return found


def _plain(word: str) -> str:
    """What two words are compared by: no capitals, no plural; '' for what is no word."""
    folded = word.casefold()
    if not any(ch.isalnum() for ch in folded):
        return ""
    return folded[:-1] if len(folded) > 3 and folded.endswith("s") and not folded.endswith("ss") else folded
