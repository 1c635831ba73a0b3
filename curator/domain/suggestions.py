"""Suggestions: ranked candidates and a NIL estimate for one mention, with the bundle that they come from."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from math import exp

from curator.domain.documents import Span


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity with the scores of each stage (`lexical`, `names`, trained retrievers, `memory`, `ranker`).

    `probability` is that of being the answer, taking NIL into account. The exact string was linked to this entity
    `decided_times` before, in `decided_documents` documents.
    """

    entity_id: str
    name: str
    types: tuple[str, ...]
    matched: str
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    probability: float = 0.0
    decided_times: int = 0
    decided_documents: int = 0


@dataclass(frozen=True, slots=True)
class NilEstimate:
    """`score` grows with the evidence that the entity is missing; `calibrated` is false before this project's
    validation split holds 30 NIL and 100 linked decisions."""

    score: float
    is_nil: bool
    calibrated: bool


@dataclass(frozen=True, slots=True)
class Stamp:
    """Identifies the input of a suggestion; a suggestion is stale if its stamp is not the current one."""

    bundle_id: str
    document_revision: int


class Band(StrEnum):
    """How much attention a suggestion deserves."""

    ACCEPT = "accept"
    REVIEW = "review"
    PROBABLY_NIL = "probably NIL"


ACCEPTABLE = 0.95
"""With at least this calibrated probability, the first candidate should be accepted."""


class Doubt(StrEnum):
    """Why the first suggestion should not be accepted without a second look."""

    NIL_LEADS = "NIL leads"
    UNLIKELY = "unlikely"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Ranked candidates, best first. `expanded` is the long form of an abbreviation ('' if there is none)."""

    mention_id: int
    candidates: tuple[Candidate, ...]
    nil: NilEstimate
    stamp: Stamp
    expanded: str = ""

    @property
    def band(self) -> Band:
        """The band; uncalibrated probabilities never give `ACCEPT`."""
        if self.nil.is_nil or not self.candidates:
            return Band.PROBABLY_NIL
        sure = self.nil.calibrated and self.candidates[0].probability >= ACCEPTABLE
        return Band.ACCEPT if sure else Band.REVIEW

    @property
    def expects_nil(self) -> bool:
        """Whether the linker expects that the knowledge base lacks the entity: known without unpacking the
        candidates."""
        return self.nil.is_nil

    def doubt(self, least: float) -> Doubt | None:
        """Why the first answer is doubtful: NIL is suggested or more probable than the first candidate, or the first
        candidate is below `least`. Without probabilities its score counts, as it is what curators see."""
        if self.nil.is_nil or not self.candidates:
            return Doubt.NIL_LEADS if self.nil.is_nil else None
        probable = any(one.probability for one in self.candidates)
        value = self.candidates[0].probability if probable else self.candidates[0].score
        if probable and self.nil.score > value:
            return Doubt.NIL_LEADS
        return Doubt.UNLIKELY if value < least else None

    @property
    def margin(self) -> float | None:
        """Score difference between the first two candidates; None with fewer than two."""
        if len(self.candidates) < 2:
            return None
        return self.candidates[0].score - self.candidates[1].score

    @property
    def chance_margin(self) -> float | None:
        """The first candidate's probability minus the second's (or 0, if there is none); None without candidates."""
        if not self.candidates:
            return None
        behind = self.candidates[1].probability if len(self.candidates) > 1 else 0.0
        return self.candidates[0].probability - behind


# A second opinion: a language model's answer, in addition to the linker's suggestion.


class OpinionUse(StrEnum):
    """When a language model is asked. FRAMED: also automatically, for a doubtful mention that the curator opens."""

    OFF = "off"
    REQUEST = "request"
    FRAMED = "framed"


class OpinionPlace(StrEnum):
    """Where the language model may run."""

    LOCAL = "local"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Opinion:
    """A language model's answer for a mention: one of the candidates in its prompt, or NIL (`entity_id` is None). It
    never becomes a decision. `prompt`: SHA-256 of the model's name and the whole prompt, in hexadecimal."""

    mention_id: int
    entity_id: str | None
    model: str
    prompt: str
    at: datetime
    reason: str = ""

    def agrees(self, suggestion: Suggestion) -> bool:
        """Whether the suggestion's first answer is the same."""
        if suggestion.expects_nil or not suggestion.candidates:
            return suggestion.expects_nil and self.entity_id is None
        return self.entity_id == suggestion.candidates[0].entity_id


# Evidence for each of two candidates: words of the context by occlusion, and differences of their records.

NOTICEABLE = 0.05
"""Smaller changes of the lead, in logits, are not shown."""
MOST_ODDS = 1000.0
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|\W+|_+")
_SMALL = frozenset(
    "a an and are as at be by for from in is it its of on or that the their this to was were which with".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class WordEffect:
    """How much a word of the text adds to the first candidate's lead, in logits; a negative value supports the second.

    None: without the word one of the two is not a candidate.
    """

    span: Span
    change: float | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two candidates of a mention. `lead`: ln(p1 / p2). `stamp` as in a suggestion identifies linker and text."""

    mention_id: int
    first: str
    second: str
    lead: float
    words: tuple[WordEffect, ...]
    stamp: Stamp

    def speaking_for(self, entity_id: str) -> list[WordEffect]:
        """Words that noticeably support one of the two, strongest first."""
        sign = 1.0 if entity_id == self.first else -1.0
        found = [one for one in self.words if one.change is not None and sign * one.change >= NOTICEABLE]
        return sorted(found, key=lambda one: (-sign * (one.change or 0.0), one.span))

    @property
    def needed(self) -> list[WordEffect]:
        """Words without which one of the two is not a candidate."""
        return [one for one in self.words if one.change is None]


def odds(logit: float) -> float:
    """How many times likelier the first is, at least 1 and at most MOST_ODDS."""
    return min(exp(min(abs(logit), 50.0)), MOST_ODDS)


@dataclass(frozen=True, slots=True)
class TextRun:
    """A part of a text; `common`: the other text has the word too, or it is not a distinguishing word."""

    text: str
    common: bool


def apart(text: str, other: str) -> list[TextRun]:
    """A text split into runs that occur in the other text, in any order, and runs that do not."""
    return _runs(_pieces(text, {_plain(word) for word in _WORD.findall(other)}))


def names_apart(names: Sequence[str], others: Sequence[str]) -> list[TextRun]:
    """Names one by one; common if the other has the same name, ignoring case."""
    known = {name.casefold() for name in others}
    return [TextRun(name, name.casefold() in known) for name in names]


def _pieces(text: str, known: set[str]) -> Iterable[TextRun]:
    for part in _WORD.findall(text):
        word = _plain(part)
        yield TextRun(part, not word or word in known or word in _SMALL)


def _runs(pieces: Iterable[TextRun]) -> list[TextRun]:
    """Joins neighbouring words of one kind; text between two differing words belongs to them."""
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
    """The form used to compare words: lower case, singular; '' if it is not a word."""
    folded = word.casefold()
    if not any(ch.isalnum() for ch in folded):
        return ""
    return folded[:-1] if len(folded) > 3 and folded.endswith("s") and not folded.endswith("ss") else folded


# The order of a mention's candidates for a curator: best first, or shuffled for an evaluation.


class CandidateOrder(StrEnum):
    """SHUFFLED also hides the scores, so that only the text matters."""

    RANKED = "ranked"
    SHUFFLED = "shuffled"


def presented(suggestion: Suggestion, *, limit: int, order: CandidateOrder) -> Suggestion:
    """The first `limit` candidates in the order of display; scores stay with their candidates.

    The shuffle depends only on the mention, so it is the same in every session.
    """
    candidates = list(suggestion.candidates[:limit])
    if order is CandidateOrder.SHUFFLED:
        candidates.sort(key=lambda one: one.entity_id)  # so that the order does not depend on the ranking
        random.Random(f"candidates of {suggestion.mention_id}").shuffle(candidates)  # noqa: S311
    return replace(suggestion, candidates=tuple(candidates))
