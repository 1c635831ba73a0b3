"""From ranked entities to hard negatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from training.negatives.kinship import Kinship, Rows


def hard_rows(
    ranked: Sequence[int], gold: Iterable[int], kinship: Kinship, *, limit: int, shown: Sequence[int] = ()
) -> list[int]:
    """At most `limit` hard negatives of a mention, hardest first: what the curator saw and passed over (`shown`),
    then what an index `ranked` high; never its gold rows or their aliases."""
    forbidden = kinship.of(gold)
    passed_over = list(dict.fromkeys((*shown, *ranked)))
    return [row for row in passed_over if row not in forbidden][:limit]


def nearest(queries: NDArray[np.float32], vectors: NDArray[np.float32], *, k: int, threads_chunk: int = 256) -> Rows:
    """Rows [Q, k] of the `vectors` [N, d] with the largest inner products with `queries` [Q, d]; ties to lower rows."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    parts = [
        index.search(np.ascontiguousarray(queries[start : start + threads_chunk], dtype=np.float32), k)[1]
        for start in range(0, len(queries), threads_chunk)
    ]
    found: Rows = np.concatenate(parts) if parts else np.empty((0, k), dtype=np.int64)
    return found
