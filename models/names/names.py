"""Dense retrieval over all names of the knowledge base: each synonym is a vector (SapBERT style)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.core import Ranges
from models.encoders import Encoder
from models.vectors import SearchIndex

FLOATS = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class NamesRetriever:
    """Cosine between a mention's text and names; row i of the index is name i of the knowledge base."""

    encoder: Encoder
    index: SearchIndex

    def encode(self, texts: Sequence[str]) -> FLOATS:
        return self.encoder.encode(texts)

    def search(self, queries: FLOATS, k: int, *, ranges: Ranges) -> tuple[FLOATS, NDArray[np.int64]]:
        """(q, k) cosines and name rows, best first; −1 where there are fewer names."""
        return self.index.search(queries, k, ranges=ranges)

    def score(self, queries: FLOATS, rows: NDArray[np.int64]) -> FLOATS:
        """(q, n) cosines with the given name rows."""
        result: FLOATS = queries @ self.index.vectors(rows).T
        return result
