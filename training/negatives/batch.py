"""The rows drawn for a batch, and which of them are negatives of which mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.negatives.kinship import Kinship, Rows, eligible


@dataclass(frozen=True, slots=True, eq=False)
class DrawnNegatives:
    """The negatives of a batch: distinct `rows` [U], each to be encoded once, and the mask `own` [B, U] of the rows
    that each mention uses. None: every mention uses every row. Some rows may be gold; `candidate_set` masks these."""

    rows: Rows
    own: NDArray[np.bool_] | None = None


def candidate_set(
    gold: Sequence[Iterable[int]], chosen: Sequence[int], drawn: DrawnNegatives, kinship: Kinship, *, in_batch: bool
) -> tuple[Rows, NDArray[np.bool_]]:
    """The rows to encode for a batch, and the mask [B, rows] of allowed negatives.

    `gold[b]` are all gold rows of mention b, `chosen[b]` the one it is pulled towards (−1: NIL). The rows are the
    sorted distinct union of the chosen and the drawn rows. A drawn row is a negative of the mentions in `drawn.own`;
    with `in_batch`, the other mentions' chosen rows are negatives too. A mention's gold rows and their aliases never
    are.
    """
    positives = np.array([row for row in chosen if row >= 0], dtype=np.int64)
    rows: Rows = np.unique(np.concatenate([positives, drawn.rows]))
    serves = np.zeros((len(chosen), len(rows)), dtype=bool)
    serves[:, np.searchsorted(rows, drawn.rows)] = True if drawn.own is None else drawn.own
    if in_batch:
        serves[:, np.searchsorted(rows, positives)] = True
    return rows, serves & eligible(gold, rows, kinship)
