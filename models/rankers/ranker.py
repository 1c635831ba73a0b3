"""Re-ranking of the first candidates: the interface of every ranker, and when it runs.

A ranker is expensive, so it runs only if the linker is uncertain (the margin rule), and within a time limit per
document. ``models/linker/reranking.py`` puts its scores into the pipeline.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from models.encoders.inputs import EntityStyle, InputSettings
from models.errors import ModelError, say
from models.retrievers.biencoder import Mentions

FLOATS = NDArray[np.float32]
RULE = "rule"
REMEDY = "Train the ranker again, or roll back to another linker."
RULES = {
    (True, True): "“{name}” re-ranks the first {top_k} candidates.",
    (False, True): (
        "“{name}” re-ranks the first {top_k} candidates if the first leads by at most {points:.3g} "
        "percentage points of probability."
    ),
    (True, False): "“{name}” re-ranks the first {top_k} candidates, for at most {seconds:g} s per document.",
    (False, False): (
        "“{name}” re-ranks the first {top_k} candidates if the first leads by at most {points:.3g} "
        "percentage points of probability, for at most {seconds:g} s per document."
    ),
}
"""Sentences by (no margin, no time limit)."""
ASKED = "The ranker was applied to {asked:,} of {mentions:,} mentions, in {seconds:.1f} s."
ASKED_LATE = (
    "The ranker was applied to {asked:,} of {mentions:,} mentions, in {seconds:.1f} s; {late:,} kept "
    "their order because their document's time limit was reached."
)


class Ranker(Protocol):
    """Scores the candidates of mentions; higher is better."""

    @property
    def name(self) -> str: ...

    def score(self, mentions: Mentions, candidates: Sequence[NDArray[np.int64]]) -> list[FLOATS]:
        """For each mention the (c,) scores of its candidate entity rows."""
        ...

    def relative(self, scores: FLOATS) -> FLOATS:
        """One mention's (c,) scores scaled to [−1, 0] in the same order, 0 for the best."""
        ...


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """The format of mention and entity."""

    inputs: InputSettings = field(default_factory=lambda: InputSettings(style=EntityStyle.TYPES_SYNONYMS))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> RankerSettings:
        try:
            inputs = dict(raw.get("inputs", {}))
            style = EntityStyle(inputs.pop("style", EntityStyle.TYPES_SYNONYMS))
            return cls(InputSettings(**inputs, style=style))
        except (TypeError, ValueError) as error:
            raise ModelError(
                say("The linker's ranker settings are damaged ({error}). {remedy}", error=error, remedy=say(REMEDY))
            ) from error


@dataclass(frozen=True, slots=True)
class RerankRule:
    """When the ranker runs, and for how many candidates.

    ``margin``: it runs only for mentions whose first candidate's calibrated probability (without the ranker) exceeds
    the second's by at most this margin. None: always; negative: never. ``share`` is the share of mentions that the
    margin was chosen for, stored so that it can be chosen again. ``seconds`` limits the ranker's time per document;
    None sets no limit.
    """

    top_k: int = 16
    margin: float | None = None
    share: float = 1.0
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The rule's JSON in a bundle, without the number of candidates, under ``settings["rule"]``."""
        return {"margin": self.margin, "share": self.share, "seconds": self.seconds}

    @classmethod
    def from_json(cls, top_k: Any, settings: Mapping[str, Any]) -> RerankRule:
        """Inverse of `to_json`; without a rule the ranker always runs. Raises ModelError if numbers are missing or
        invalid."""
        raw = settings.get(RULE, {})
        try:
            if not isinstance(top_k, int) or top_k < 1:
                raise ValueError(f"{top_k!r} candidates")
            rule = cls(top_k, _number(raw, "margin"), _number(raw, "share") or 0.0, _number(raw, "seconds"))
            if raw and not 0 < rule.share <= 1:
                raise ValueError(f"a share of {rule.share}")
        except (AttributeError, TypeError, ValueError) as error:
            raise ModelError(
                say("The linker's ranker rule is damaged ({error}). {remedy}", error=error, remedy=say(REMEDY))
            ) from error
        return rule if raw else cls(top_k)

    def sentence(self, name: str) -> str:
        """A sentence for the user, e.g. “x” ranks the first 8 candidates again where the first leads by 3 points of
        …."""
        return say(
            RULES[self.margin is None, self.seconds is None],
            name=name,
            top_k=self.top_k,
            points=100 * (self.margin or 0.0),
            seconds=self.seconds or 0.0,
        )


@dataclass(slots=True)
class RankerTally:
    """The number of mentions that the ranker ranked since the linker was loaded, and its time in seconds.

    ``certain`` mentions were left out by the margin rule (or had no second candidate), ``late`` mentions by the time
    limit.
    """

    asked: int = 0
    certain: int = 0
    late: int = 0
    seconds: float = 0.0

    def sentence(self) -> str:
        """A sentence for a report, e.g. The ranker was asked about 12 of 90 mentions, in 3.1 s."""
        mentions = self.asked + self.certain + self.late
        return say(
            ASKED_LATE if self.late else ASKED,
            asked=self.asked,
            mentions=mentions,
            seconds=self.seconds,
            late=self.late,
        )


def choose_margin(leads: Sequence[float], share: float) -> float | None:
    """The margin that includes the ``share`` of mentions with the smallest leads; None for all of them.

    At least one mention is included; mentions with equal leads are included together. Without mentions it is −1, so the
    ranker does not run.
    """
    if share >= 1:
        return None
    if not leads:
        return -1.0
    ordered = sorted(leads)
    return float(ordered[max(1, round(share * len(ordered))) - 1])


def relative_by_gap(scores: FLOATS) -> FLOATS:
    """(c,) negative distances, each with its gap g to the best as −g/(1+g): nearly 0 for all if the ranker cannot
    distinguish them. Relative to the range of the distances, a doubtful order counted as much as a clear one."""
    gaps = np.asarray(scores, dtype=np.float64)
    gaps = gaps.max(initial=-np.inf) - gaps
    result: FLOATS = (-gaps / (1.0 + gaps)).astype(np.float32)
    return result


def relative_by_softmax(scores: FLOATS) -> FLOATS:
    """(c,) logits as probabilities less that of the best: nearly 0 for all if the ranker cannot distinguish them."""
    if not len(scores):
        return np.zeros(0, dtype=np.float32)
    odds = np.exp(np.asarray(scores, dtype=np.float64) - float(scores.max()))
    result: FLOATS = ((odds - 1.0) / odds.sum()).astype(np.float32)
    return result


def _number(raw: Mapping[str, Any], name: str) -> float | None:
    value = raw.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} {value!r}")
    return float(value)
