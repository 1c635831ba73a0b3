"""One score from the scores of all stages: a weighted sum on one scale, weights fitted on validation.

Each stage is first brought to a comparable scale: cosines are unchanged, except that the lexical cosine is cubed, since
a partial overlap of letters is weak evidence and a complete one is strong. The sum is divided by the sum of the
weights. Relative scores change only the order, so their weight is not in the divisor. These are a ranker's scores (0
for its favourite and if it did not run, negative for the others), those of trained retrievers (cosines minus the
highest, or min-max over the mention's candidates minus 1), and the memory's, which are positive for remembered entities
and 0 for others. So combiner and NIL model, which were fitted without a trained stage, get scores on the same scale.
With a stage's cosines in the mean, half of BC5CDR's linked mentions were called NIL. Ties are broken by the exact match
of a name, then by entity id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError, say
from models.names.candidates import LEXICAL, NAMES

FLOATS = NDArray[np.float32]
RAW, MINMAX, RELATIVE, LEAD, SPREAD = "raw", "minmax", "relative", "lead", "spread"
UNCOUNTED = (RELATIVE, LEAD, SPREAD)
"""Scales of scores that change only the order."""
DOCUMENT = "document"
MEMORY = "memory"
# Chosen on BC5CDR train, without using its dev set. Preferred names, definitions and coherence have no weight: on the
# train documents of BC5CDR and NCBI Disease adding them changed recall@1 by -0.14 to +0.08 points. They are features of
# the combiner (models/rankers/combiner.py), in which they do help.
DEFAULT_WEIGHTS: Mapping[str, float] = MappingProxyType({LEXICAL: 1.0, NAMES: 4.0, MEMORY: 5.0})
GRID = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Weights by stage; ``scales`` names the stages that need min-max; ``fitted_on`` counts mentions."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    scales: Mapping[str, str] = field(default_factory=lambda: {MEMORY: RELATIVE})
    fitted_on: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"weights": dict(self.weights), "scales": dict(self.scales), "fitted_on": self.fitted_on}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> FusionWeights:
        """Empty JSON gives the defaults; raises ModelError if it does not hold weights."""
        try:
            weights = {str(name): float(value) for name, value in raw.get("weights", DEFAULT_WEIGHTS).items()}
            scales = {MEMORY: RELATIVE, **raw.get("scales", {})}
            return cls({MEMORY: DEFAULT_WEIGHTS[MEMORY]} | weights, scales, int(raw.get("fitted_on", 0)))
        except (TypeError, ValueError, AttributeError) as error:
            raise ModelError(
                say("The linker's fusion weights are damaged ({error}). Roll back to another linker.", error=error)
            ) from error

    def fuse(self, scores: Mapping[str, FLOATS]) -> FLOATS:
        """(c,) fused scores; stages without a weight are ignored."""
        used = {name: values for name, values in scores.items() if self.weights.get(name)}
        size = len(next(iter(scores.values()), ()))
        total = np.zeros(size, dtype=np.float64)
        for name, values in used.items():
            total += self.weights[name] * comparable(name, values, self.scales.get(name, RAW))
        weight = sum(abs(self.weights[name]) for name in used if self.scales.get(name) not in UNCOUNTED) or 1.0
        result: FLOATS = (total / weight).astype(np.float32)
        return result

    def sentence(self) -> str:
        """E.g. "Fused by names 4, lexical 1 (fitted on 812 mentions)."""
        parts = ", ".join(f"{name} {weight:g}" for name, weight in self.weights.items() if weight)
        if self.fitted_on:
            return say("Fused from {parts} (fitted on {number:,} mentions).", parts=parts, number=self.fitted_on)
        return say("Fused from {parts} (default weights).", parts=parts)


def comparable(name: str, values: FLOATS, scale: str) -> NDArray[np.float64]:
    """The (c,) scores of one stage for one mention on the common scale."""
    raw = np.asarray(values, dtype=np.float64)
    if name == LEXICAL:
        return np.asarray(raw**3)
    if not len(raw) or scale in (RAW, RELATIVE):
        return raw
    low, high = raw.min(), raw.max()
    if scale == LEAD:
        return np.asarray(raw - high)
    share = (raw - low) / (high - low) if high > low else np.ones_like(raw)
    return np.asarray(share - 1.0 if scale == SPREAD else share)


def ranking(fused: FLOATS, exact: NDArray[np.bool_], ids: Sequence[str]) -> list[int]:
    """Positions of the (c,) candidates, best first; ties by exact name match, then by entity id."""
    places: list[int] = np.lexsort((np.asarray(ids, dtype=np.str_), ~exact, -fused)).tolist()
    return places


@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """One linked mention of the validation set: its candidates' scores and which of them are gold."""

    scores: Mapping[str, FLOATS]
    gold: NDArray[np.bool_]


def fit_fusion(
    mentions: Sequence[LabelledScores], *, start: FusionWeights | None = None, stages: Sequence[str] | None = None
) -> FusionWeights:
    """Weights that maximise the mean reciprocal rank, by coordinate search on a small grid from ``start``.

    Deterministic: stages in the given order, two rounds; of equally good weights the smallest, so that a stage that
    does not help gets none. Mentions whose gold is not among the candidates are left out. Only ``stages`` are fitted
    (default: all that occur); the names' weight is fixed, since only ratios matter.
    """
    weights = start or FusionWeights()
    usable = [mention for mention in mentions if mention.gold.any()]
    if not usable or (stages is not None and not stages):
        return weights
    names = stages if stages is not None else sorted(set().union(*(mention.scores for mention in usable)) - {NAMES})
    for _ in range(2):
        for name in names:
            values = {*GRID, weights.weights.get(name, 0.0)}
            tried = [FusionWeights({**weights.weights, name: value}, weights.scales) for value in sorted(values)]
            quality = [round(mean_reciprocal_rank(usable, one), 9) for one in tried]
            weights = tried[quality.index(max(quality))]
    return FusionWeights(weights.weights, weights.scales, len(usable))


def mean_reciprocal_rank(mentions: Sequence[LabelledScores], weights: FusionWeights) -> float:
    """The mean reciprocal rank of the best gold candidate; in a tie, the wrong candidate counts as first."""
    total = 0.0
    for mention in mentions:
        fused = weights.fuse(mention.scores)
        best = fused[mention.gold].max()
        total += 1.0 / (1 + int((fused[~mention.gold] >= best).sum()))
    return total / max(1, len(mentions))
