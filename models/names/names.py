"""Dense retrieval over all names of the knowledge base: each synonym is a vector (SapBERT style)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from models.core.kb import Ranges
from models.encoders.cache import EmbeddingCache
from models.encoders.encoders import Encoder
from models.errors import ModelError
from models.vectors.coarse import First
from models.vectors.grown import grown
from models.vectors.index import SearchIndex, VectorIndex

log = logging.getLogger(__name__)

FLOATS = NDArray[np.float32]
MOST_KNOWN = 50_000
WORTH_KEEPING = 64  # texts: a file for each decision would cost more than encoding it again


@dataclass(frozen=True, slots=True, eq=False)
class NamesRetriever:
    """Cosine between a mention's text and names; row i of the index is name i of the knowledge base."""

    encoder: Encoder
    index: SearchIndex
    known: dict[str, FLOATS] = field(default_factory=dict)
    """Vectors of texts encoded before: mentions repeat, and remembered texts occur again."""

    def encode(self, texts: Sequence[str]) -> FLOATS:
        return encode_once(self.encoder, texts, self.known)

    def search(
        self, queries: FLOATS, k: int, *, ranges: Ranges, first: First | None = None
    ) -> tuple[FLOATS, NDArray[np.int64]]:
        """(q, k) cosines and name rows, best first; −1 if there are fewer names. With ``first``, an index in a file
        compares only what decides it exactly."""
        if first is not None and isinstance(self.index, VectorIndex):
            return self.index.search(queries, k, ranges=ranges, first=first)
        return self.index.search(queries, k, ranges=ranges)

    def score(self, queries: FLOATS, rows: NDArray[np.int64]) -> FLOATS:
        """(q, n) cosines with the given name rows."""
        result: FLOATS = queries @ self.index.vectors(rows).T
        return result

    def changed(self, names: Sequence[str], dead: NDArray[np.int64]) -> NamesRetriever:
        """A copy with names appended and without the rows ``dead``."""
        return replace(self, index=grown(self.index, self.encode(names), dead))


def encode_once(
    encoder: Encoder, texts: Sequence[str], known: dict[str, FLOATS], *, cache: EmbeddingCache | None = None
) -> FLOATS:
    """(n, d) vectors; only texts that are not ``known`` are encoded, and then added to ``known``. Many new texts are
    first looked up in a ``cache`` on disk, and stored there."""
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if len(known) + len(new) > MOST_KNOWN:
        known.clear()
        new = list(dict.fromkeys(texts))
    known.update(zip(new, _encoded(encoder, new, cache), strict=True))
    return np.asarray([known[text] for text in texts], dtype=np.float32).reshape(-1, encoder.dimension)


def _encoded(encoder: Encoder, texts: list[str], cache: EmbeddingCache | None) -> FLOATS:
    if cache is not None and len(texts) >= WORTH_KEEPING:
        try:
            return np.asarray(cache.vectors(texts), dtype=np.float32)
        except ModelError as error:  # an unwritable folder costs time, not answers
            log.warning("%s", error)
    return encoder.encode(texts)
