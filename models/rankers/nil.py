"""NIL: the probability that no entity fits, and the threshold above which a mention is called NIL.

PEL's baseline (section 5.3) is a threshold on the top score. If there are enough validation decisions, a logistic
regression over a few features of the candidate list is used instead. Its coefficients are JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError, say
from models.rankers.stage_weights import NIL_STAGE_FEATURES, weights_from_json, weights_to_json

MIN_NIL = 30
MIN_LINKED = 100
MIN_OF_TYPE = 30
FEATURES = (
    "top",
    "margin",
    "probability",
    "lexical",
    "best_lexical",
    "names",
    "preferred",
    "exact",
    "covers",
    "covered",
    "document",
    "definition",
    "rivals",
    "length",
    "words",
    "digits",
    "capitals",
    "symbol",
    "seen",
    "share",
    "nil_share",
    "near",
    "nil_near",
)
FLOATS64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NilFeatures:
    """Facts about one mention and its candidates, each about 0 … 1.

    ``top``, ``margin``: fused score of the first candidate without the memory, and its lead with the memory;
    ``probability``: the combiner's for the first candidate; ``lexical``, ``names``, ``preferred``, ``exact``,
    ``covers``, ``covered``, ``document``, ``definition``: how the first candidate matches, and whether it has a
    definition; ``best_lexical``: of all candidates; ``rivals``: tenths of candidates within 0.05 of the first;
    ``length``, ``words``, ``digits``, ``capitals``, ``symbol``: the form of the mention; ``seen``, ``share``,
    ``nil_share``, ``near``, ``nil_near``: from the memory, for the first candidate and for NIL; ``types``: the
    mention's types.
    """

    top: float = 0.0
    margin: float = 0.0
    probability: float = 0.0
    lexical: float = 0.0
    best_lexical: float = 0.0
    names: float = 0.0
    preferred: float = 0.0
    exact: float = 0.0
    covers: float = 0.0
    covered: float = 0.0
    document: float = 0.0
    definition: float = 0.0
    rivals: float = 0.0
    length: float = 0.0
    words: float = 0.0
    digits: float = 0.0
    capitals: float = 0.0
    symbol: float = 0.0
    seen: float = 0.0
    share: float = 0.0
    nil_share: float = 0.0
    near: float = 0.0
    nil_near: float = 0.0
    types: tuple[str, ...] = ()
    stages: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """By trained stage, see ``models.rankers.stage_weights.nil_columns``."""

    def vector(self) -> FLOATS64:
        return np.asarray([getattr(self, name) for name in FEATURES], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class NilModel:
    """``coefficients`` empty: score = 1 − top score. ``threshold`` is on the score; ``calibrated``: fitted on enough
    decisions of this project."""

    threshold: float
    coefficients: tuple[float, ...] = ()
    intercept: float = 0.0
    calibrated: bool = False
    fitted_nil: int = 0
    fitted_linked: int = 0
    type_weights: Mapping[str, float] = field(default_factory=dict)
    stage_weights: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Coefficients of trained stages by name."""

    def score(self, features: NilFeatures) -> float:
        """NIL scores in [0, 1], higher is more NIL."""
        if not self.coefficients:
            return float(np.clip(1.0 - features.top, 0.0, 1.0))
        return float(1.0 / (1.0 + np.exp(-np.clip(self.logit(features), -50, 50))))

    def logit(self, features: NilFeatures) -> float:
        """The regression's logit, including trained stages."""
        logit = float(features.vector() @ np.asarray(self.coefficients)) + self.intercept
        logit += sum(self.type_weights.get(kind, 0.0) for kind in features.types)
        for stage, (scale, *own) in self.stage_weights.items():
            if stage in features.stages:
                logit = scale * logit + float(np.dot(own, features.stages[stage]))
        return logit

    def with_stage_weights(self, stage: str, coefficients: tuple[float, ...] | None) -> NilModel:
        """The same with other coefficients for a stage; with None the stage has no influence."""
        others = {name: own for name, own in self.stage_weights.items() if name != stage}
        return replace(self, stage_weights=others if coefficients is None else {**others, stage: coefficients})

    def to_json(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "coefficients": list(self.coefficients),
            "features": list(FEATURES),
            "intercept": self.intercept,
            "calibrated": self.calibrated,
            "fitted_nil": self.fitted_nil,
            "fitted_linked": self.fitted_linked,
            "type_weights": dict(self.type_weights),
            **weights_to_json(self.stage_weights, NIL_STAGE_FEATURES),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> NilModel:
        """Inverse of `to_json`; empty JSON gives the default. Raises ModelError if features or numbers do not match."""
        if not raw:
            return DEFAULT_NIL
        try:
            coefficients = tuple(float(value) for value in raw.get("coefficients", ()))
            if coefficients and (tuple(raw["features"]) != FEATURES or len(coefficients) != len(FEATURES)):
                raise ValueError("other features")
            return cls(
                float(raw["threshold"]),
                coefficients,
                float(raw.get("intercept", 0.0)),
                bool(raw.get("calibrated", False)),
                int(raw.get("fitted_nil", 0)),
                int(raw.get("fitted_linked", 0)),
                {str(kind): float(value) for kind, value in raw.get("type_weights", {}).items()},
                weights_from_json(raw, NIL_STAGE_FEATURES),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                say("The linker's NIL model is damaged ({error}). Roll back to another linker.", error=error)
            ) from error


# Highest NIL-F1 of the plain top score on BC5CDR train; projects and the demo have their own.
DEFAULT_NIL = NilModel(threshold=0.31)


def fit_nil(
    features: Sequence[NilFeatures],
    is_nil: Sequence[bool],
    *,
    default: NilModel | None = None,
    more: Sequence[tuple[NilFeatures, bool]] = (),
) -> NilModel:
    """Fit threshold and, with at least 30 NIL and 100 linked, the regression; ``more`` is used for the regression only.

    With fewer the uncalibrated ``default`` is kept. If enough are linked, its threshold is raised until it calls no
    more mentions NIL than the decisions support: a model fitted on other data may call every second mention of a new
    field NIL.
    """
    truth = np.asarray(is_nil, dtype=bool)
    nil, linked = int(truth.sum()), int((~truth).sum())
    if nil < MIN_NIL or linked < MIN_LINKED:
        kept = replace(default or DEFAULT_NIL, calibrated=False, fitted_nil=nil, fitted_linked=linked)
        if linked < MIN_LINKED:
            return kept
        scores = np.asarray([kept.score(item) for item in features])
        return replace(kept, threshold=max(kept.threshold, as_often(scores, nil)))
    every = [*features, *(item for item, _ in more)]
    kinds = _frequent_types(every)
    matrix = np.stack([np.append(item.vector(), [kind in item.types for kind in kinds]) for item in every])
    weights, intercept = _logistic(matrix, np.append(truth, [label for _, label in more]).astype(bool))
    own, by_type = weights[: len(FEATURES)], weights[len(FEATURES) :]
    model = NilModel(0.5, own, intercept, True, nil, linked, dict(zip(kinds, by_type, strict=True)))
    scores = np.asarray([model.score(item) for item in features])
    threshold, _ = best_threshold(scores, truth)
    return replace(model, threshold=threshold)


def _frequent_types(features: Sequence[NilFeatures]) -> list[str]:
    """Types with enough mentions that have them, and enough that do not, to fit a coefficient."""
    counts = Counter(kind for item in features for kind in set(item.types))
    return sorted(kind for kind, n in counts.items() if MIN_OF_TYPE <= n <= len(features) - MIN_OF_TYPE)


def best_threshold(scores: FLOATS64, is_nil: NDArray[np.bool_]) -> tuple[float, float]:
    """The threshold (midway between two of the (n,) scores) with the highest F1 of "score ≥ threshold", and that F1."""
    if not is_nil.any():
        return 1.0, 0.0
    order = np.argsort(-scores, kind="stable")
    ranked, truth = scores[order], is_nil[order]
    hits = np.cumsum(truth)
    f1 = 2 * hits / (np.arange(1, len(truth) + 1) + truth.sum())
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # no threshold can separate equal scores
    best = int(np.argmax(f1))
    below = float(ranked[best + 1]) if best + 1 < len(ranked) else 0.0
    return (float(ranked[best]) + below) / 2, float(f1[best])


def as_often(scores: FLOATS64, nil: int) -> float:
    """The lowest threshold reached by at most as many of the (n,) scores as the 95 % upper bound of a Poisson mean
    after ``nil`` events.

    The bound is 3 after no event, since a few documents do not show how rare NIL is. Fitted on 15 train documents of
    BC5CDR, this rule was right for 0.2 to 0.4 points more of the other documents' mentions than ``nil`` + 1.
    """
    from scipy.special import gammaincinv

    most = int(gammaincinv(nil + 1, 0.95))
    return float(np.nextafter(np.sort(scores)[::-1][most], 2.0))


def _logistic(matrix: FLOATS64, truth: NDArray[np.bool_]) -> tuple[tuple[float, ...], float]:
    """Coefficients on the raw features; regularised strongly enough for 130 mentions."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = matrix.mean(axis=0), matrix.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    fitted = LogisticRegression(C=1.0, max_iter=1000).fit((matrix - mean) / scale, truth)
    coefficients = fitted.coef_[0] / scale
    return tuple(float(value) for value in coefficients), float(fitted.intercept_[0] - coefficients @ mean)
