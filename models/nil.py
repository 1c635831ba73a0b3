"""NIL: how likely it is that no entity fits, and the threshold beyond which a mention is called NIL.

PEL's baseline (section 5.3) is a threshold on the top score. A logistic regression over a few features of
the candidate list is used instead where validation holds enough to fit one. Coefficients are JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError

MIN_NIL = 30
MIN_LINKED = 100
FEATURES = ("top", "margin", "lexical", "names", "exact", "length", "digits", "symbol", "second")
FLOATS64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NilFeatures:
    """Facts about one mention's candidates, each about 0 … 1; ``second`` is the runner-up's fused score."""

    top: float = 0.0
    margin: float = 0.0
    lexical: float = 0.0
    names: float = 0.0
    exact: float = 0.0
    length: float = 0.0
    digits: float = 0.0
    symbol: float = 0.0
    second: float = 0.0

    def vector(self) -> FLOATS64:
        return np.asarray([getattr(self, name) for name in FEATURES], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class NilModel:
    """``coefficients`` empty: score = 1 − top score. ``threshold`` is on the score; ``calibrated`` is earned."""

    threshold: float
    coefficients: tuple[float, ...] = ()
    intercept: float = 0.0
    calibrated: bool = False
    fitted_nil: int = 0
    fitted_linked: int = 0

    def score(self, features: NilFeatures) -> float:
        """In [0, 1], higher is more NIL."""
        if not self.coefficients:
            return float(np.clip(1.0 - features.top, 0.0, 1.0))
        logit = float(features.vector() @ np.asarray(self.coefficients)) + self.intercept
        return float(1.0 / (1.0 + np.exp(-np.clip(logit, -50, 50))))

    def to_json(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold,
            "coefficients": list(self.coefficients),
            "features": list(FEATURES),
            "intercept": self.intercept,
            "calibrated": self.calibrated,
            "fitted_nil": self.fitted_nil,
            "fitted_linked": self.fitted_linked,
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> NilModel:
        """Empty JSON gives the default; ModelError where features or numbers do not fit."""
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
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"The bundle's NIL model is damaged ({error}). Roll back to another bundle.") from error


DEFAULT_NIL = NilModel(threshold=0.5)


def fit_nil(features: Sequence[NilFeatures], is_nil: Sequence[bool], *, default: NilModel | None = None) -> NilModel:
    """Fit on validation: threshold and, with at least 30 NIL and 100 linked, the regression.

    With less the ``default`` stays, not calibrated.
    """
    truth = np.asarray(is_nil, dtype=bool)
    nil, linked = int(truth.sum()), int((~truth).sum())
    if nil < MIN_NIL or linked < MIN_LINKED:
        kept = default or DEFAULT_NIL
        return NilModel(kept.threshold, kept.coefficients, kept.intercept, False, nil, linked)
    matrix = np.stack([item.vector() for item in features])
    coefficients, intercept = _logistic(matrix, truth)
    model = NilModel(0.5, coefficients, intercept, True, nil, linked)
    scores = np.asarray([model.score(item) for item in features])
    threshold, _ = best_threshold(scores, truth)
    return NilModel(threshold, coefficients, intercept, True, nil, linked)


def best_threshold(scores: FLOATS64, is_nil: NDArray[np.bool_]) -> tuple[float, float]:
    """The threshold (midway between two scores) with the highest F1 of "score ≥ threshold", and that F1."""
    if not is_nil.any():
        return 1.0, 0.0
    order = np.argsort(-scores, kind="stable")
    ranked, truth = scores[order], is_nil[order]
    hits = np.cumsum(truth)
    f1 = 2 * hits / (np.arange(1, len(truth) + 1) + truth.sum())
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # no threshold can part equal scores
    best = int(np.argmax(f1))
    below = float(ranked[best + 1]) if best + 1 < len(ranked) else 0.0
    return (float(ranked[best]) + below) / 2, float(f1[best])


def _logistic(matrix: FLOATS64, truth: NDArray[np.bool_]) -> tuple[tuple[float, ...], float]:
    """Coefficients on the raw features; strongly enough regularised for 130 mentions."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = matrix.mean(axis=0), matrix.std(axis=0)
    scale = np.where(spread > 1e-9, spread, 1.0)
    fitted = LogisticRegression(C=1.0, max_iter=1000).fit((matrix - mean) / scale, truth)
    coefficients = fitted.coef_[0] / scale
    return tuple(float(value) for value in coefficients), float(fitted.intercept_[0] - coefficients @ mean)
