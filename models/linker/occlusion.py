"""Which words of the context support one of two candidates: each word is masked once and the pair scored again.

Occlusion (Zeiler and Fergus 2014, https://arxiv.org/abs/1311.2901, there of image patches): the lead of the first
candidate over the second, minus its lead without the word. The lead is the difference of the combiner's logits, ln(p1 /
p2); a change above 0 supports the first, below 0 the second. A word is masked by white space of its length, so that
offsets stay and no encoder reads a token in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Protocol

from models.errors import ModelError, say
from models.text.sentences import sentence_starts
from models.types import DocumentInput, LinkedDocument, MentionInput

Range = tuple[int, int]
K = 64
MOST_WORDS = 48
LEAST_CHANCE = 1e-12
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class LinksDocuments(Protocol):
    """The part of the linker that is needed here."""

    def link(self, documents: Iterable[DocumentInput], *, k: int, own: bool) -> Iterator[LinkedDocument]: ...


@dataclass(frozen=True, slots=True)
class WordEffect:
    """``change`` of the lead in favour of the first candidate, caused by the word at ``start`` to ``end`` in the text.
    None: without the word one of the two is no longer a candidate."""

    start: int
    end: int
    change: float | None


@dataclass(frozen=True, slots=True)
class Occlusion:
    """``lead`` of the first candidate over the second, as ln(p1 / p2), and the effect of each word."""

    lead: float
    words: tuple[WordEffect, ...]


def occlude(linker: LinksDocuments, document: DocumentInput, key: str, pair: tuple[str, str]) -> Occlusion:
    """Score the pair of entities for one mention, first unchanged, then without each word around it.

    The other mentions in its sentence are linked too, since their answers are evidence. Raises ModelError if the
    document has no such mention or one of the two is not a candidate for it.
    """
    mention = next((one for one in document.mentions if one.key == key), None)
    if mention is None or not mention.spans:
        raise ModelError(say("The mention is no longer in the document."))
    window = sentence_around(document.text, mention)
    near = tuple(one for one in document.mentions if _overlaps(one.spans, window))
    words = words_around(document.text, mention, window)
    plain = replace(document, mentions=near)
    variants = [plain, *(replace(plain, text=masked(document.text, word)) for word in words)]
    leads = [_lead(answer, key, pair) for answer in linker.link(variants, k=K, own=True)]
    if leads[0] is None:
        raise ModelError(say("One of the two entities is no longer a candidate for this mention."))
    whole = leads[0]
    changes = (None if lead is None else whole - lead for lead in leads[1:])
    return Occlusion(whole, tuple(WordEffect(*word, change) for word, change in zip(words, changes, strict=True)))


def sentence_around(text: str, mention: MentionInput) -> Range:
    """The sentence or sentences that contain a mention."""
    first, last = min(start for start, _ in mention.spans), max(end for _, end in mention.spans)
    starts = sentence_starts(text)
    begin = max((one for one in starts if one <= first), default=0)
    return begin, min((one for one in starts if one >= last), default=len(text))


def words_around(text: str, mention: MentionInput, window: Range) -> list[Range]:
    """The words of a window, at most ``MOST_WORDS`` nearest to the mention, in text order.

    They include the mention's own words if it has several; its only word cannot be left out.
    """
    found = [(window[0] + m.start(), window[0] + m.end()) for m in _WORD.finditer(text[window[0] : window[1]])]
    own = [word for word in found if _overlaps(mention.spans, word)]
    kept = [word for word in found if word not in own or len(own) > 1]
    middle = sum(start + end for start, end in mention.spans) / (2 * len(mention.spans))
    nearest = sorted(kept, key=lambda word: abs(sum(word) / 2 - middle))[:MOST_WORDS]
    return sorted(nearest)


def masked(text: str, word: Range) -> str:
    """The text with a word replaced by white space; offsets do not change."""
    return text[: word[0]] + " " * (word[1] - word[0]) + text[word[1] :]


def _lead(answer: LinkedDocument, key: str, pair: tuple[str, str]) -> float | None:
    mention = next(one for one in answer.mentions if one.key == key)
    chances = {one.entity_id: one.score for one in mention.candidates}
    if not chances.keys() >= set(pair):
        return None
    first, second = (log(max(chances[one], LEAST_CHANCE)) for one in pair)
    return first - second


def _overlaps(spans: Sequence[Range], window: Range) -> bool:
    return any(start < window[1] and window[0] < end for start, end in spans)
