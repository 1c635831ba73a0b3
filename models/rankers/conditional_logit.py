"""Choices between candidates as a log-linear model: the likelihood that the fits of combiner and trained stages
maximise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FLOATS64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ConditionalLogit:
    """Mean negative log-likelihood with its gradient; ``starts`` (m,) is the start of each mention's rows in ``matrix``
    (rows, features) and ``gold`` (rows,), and ``shares`` (m,), with a mean of 1, is how much each mention counts.

    The likelihood of a mention is the probability of all its gold rows together. The penalty is ``ridge`` times the
    squared distance of the weights from ``centre``.
    """

    matrix: FLOATS64
    gold: NDArray[np.bool_]
    starts: NDArray[np.int64]
    shares: FLOATS64
    ridge: float
    centre: FLOATS64

    @classmethod
    def of(
        cls,
        choices: Sequence[tuple[FLOATS64, NDArray[np.bool_]]],
        *,
        ridge: float,
        centre: FLOATS64,
        shares: FLOATS64 | None = None,
    ) -> ConditionalLogit:
        """Create it from (rows, features) and gold of each mention; without shares all count the same."""
        starts = np.concatenate([[0], np.cumsum([len(gold) for _, gold in choices])[:-1]])
        matrix = np.concatenate([facts for facts, _ in choices])
        gold = np.concatenate([gold for _, gold in choices])
        return cls(matrix, gold, starts, np.ones(len(choices)) if shares is None else shares, ridge, centre)

    def __call__(self, weights: FLOATS64) -> tuple[float, FLOATS64]:
        logits = self.matrix @ weights
        every, right = self._softmax(logits), self._softmax(np.where(self.gold, logits, -np.inf))
        count, apart = len(self.starts), weights - self.centre
        loss = float(self.shares @ (every[1] - right[1])) / count + self.ridge * float(apart @ apart)
        rows = np.repeat(self.shares, np.diff(np.append(self.starts, len(logits))))
        gradient = self.matrix.T @ (rows * (every[0] - right[0])) / count + 2 * self.ridge * apart
        return loss, gradient

    def _softmax(self, logits: FLOATS64) -> tuple[FLOATS64, FLOATS64]:
        """(rows,) probabilities within each mention and (m,) log of the sums."""
        sizes = np.diff(np.append(self.starts, len(logits)))
        top = np.maximum.reduceat(logits, self.starts)
        weights = np.exp(logits - np.repeat(top, sizes))
        total = np.add.reduceat(weights, self.starts)
        return weights / np.repeat(total, sizes), np.log(total) + top
