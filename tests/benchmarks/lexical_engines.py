"""The engines that `lexical_peers` compares: each is given names, and finds the rows of the best for strings.

Each peer is set up as its makers show it. scispaCy itself cannot build an index on Python 3.11 (it wants SciPy below
1.11); its index is scikit-learn's tf-idf of character 3-grams in an nmslib graph, which is built here from the same two
libraries with scispaCy's parameters.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from models.names.lexical import TfIdf

THREADS = 2
Rows = NDArray[np.int64]


class Engine(Protocol):
    """One way to find names; ``search`` gives at most ``k`` rows for each string, best first."""

    def search(self, texts: Sequence[str], k: int) -> list[Rows]: ...


class Ours:
    """The pruned product."""

    def __init__(self, names: Sequence[str]) -> None:
        self.tfidf = TfIdf.fit(names)

    def search(self, texts: Sequence[str], k: int) -> list[Rows]:
        rows = self.tfidf.search(self.tfidf.transform(texts), k)[1]
        return [one[one >= 0] for one in rows]


class ScikitLearn:
    """TfidfVectorizer, the product of sparse matrices, and the best of each row; ties by row."""

    BATCH = 64

    def __init__(self, names: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, lowercase=False)
        self.by_term = self.vectorizer.fit_transform(names).T.tocsr()

    def search(self, texts: Sequence[str], k: int) -> list[Rows]:
        found = []
        for start in range(0, len(texts), self.BATCH):
            product = self.vectorizer.transform(texts[start : start + self.BATCH]) @ self.by_term
            for row in range(product.shape[0]):
                part = slice(product.indptr[row], product.indptr[row + 1])
                found.append(best(product.indices[part], product.data[part].astype(np.float32), k))
        return found


class SparseDotTopn:
    """The same matrices through sparse_dot_topn, which keeps the best of each row while it multiplies."""

    def __init__(self, peer: ScikitLearn) -> None:
        self.vectorizer = peer.vectorizer
        self.by_term = peer.by_term.astype(np.float32)

    def search(self, texts: Sequence[str], k: int) -> list[Rows]:
        from sparse_dot_topn import sp_matmul_topn

        queries = self.vectorizer.transform(texts).astype(np.float32)
        product = sp_matmul_topn(queries, self.by_term, top_n=k, sort=True, n_threads=THREADS)
        return [product.indices[product.indptr[row] : product.indptr[row + 1]] for row in range(len(texts))]


class Bm25s:
    """bm25s with its own tokeniser; its back ends are numpy and numba, which is faster."""

    def __init__(self, names: Sequence[str], backend: str = "numpy") -> None:
        import bm25s

        self.module = bm25s
        self.index = bm25s.BM25(backend=backend)
        self.index.index(self._tokens(names), show_progress=False)

    def _tokens(self, texts: Sequence[str]) -> Any:
        return self.module.tokenize(list(texts), stopwords="en", show_progress=False)

    def search(self, texts: Sequence[str], k: int) -> list[Rows]:
        rows, scores = self.index.retrieve(self._tokens(texts), k=k, show_progress=False, n_threads=THREADS)
        return [one[values > 0] for one, values in zip(rows, scores, strict=True)]


class RapidFuzz:
    """rapidfuzz's WRatio against every name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)

    def search(self, texts: Sequence[str], k: int) -> list[Rows]:
        from rapidfuzz import fuzz, process

        found = [process.extract(text, self.names, scorer=fuzz.WRatio, limit=k) for text in texts]
        return [np.asarray([row for _, _, row in one], dtype=np.int64) for one in found]


class ScispacyIndex:
    """scispaCy's candidate index: distinct names, character 3-grams in at least 10 of them, an HNSW graph.

    Parameters as in its ``create_tfidf_ann_index`` (M 100, search 200; construction 2000 there). The graph is kept in
    ``folder``, since it takes long to build.
    """

    def __init__(self, names: Sequence[str], folder: Path, *, construction: int) -> None:
        import nmslib
        from sklearn.feature_extraction.text import TfidfVectorizer

        rows_of: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            rows_of.setdefault(name, []).append(row)
        self.vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=10, dtype=np.float32)
        vectors = self.vectorizer.fit_transform(rows_of)
        kept = np.asarray(vectors.sum(axis=1) != 0).ravel()
        self.rows = [rows for rows, keep in zip(rows_of.values(), kept, strict=True) if keep]
        self.index = nmslib.init(method="hnsw", space="cosinesimil_sparse", data_type=nmslib.DataType.SPARSE_VECTOR)
        self.index.addDataPointBatch(vectors[kept])
        file = folder / f"scispacy-{len(self.rows)}-{construction}.bin"
        if file.exists():
            self.index.loadIndex(str(file))
        else:
            parameters = {"M": 100, "indexThreadQty": THREADS, "efConstruction": construction, "post": 0}
            self.index.createIndex(parameters)
            self.index.saveIndex(str(file))
        self.index.setQueryTimeParams({"efSearch": 200})

    def search(self, texts: Sequence[str], k: int) -> list[Rows]:
        vectors = self.vectorizer.transform(texts)
        kept = np.flatnonzero(np.asarray(vectors.sum(axis=1) != 0).ravel())
        found = [np.zeros(0, dtype=np.int64)] * len(texts)
        if len(kept):
            for place, (near, _) in zip(
                kept, self.index.knnQueryBatch(vectors[kept], k=k, num_threads=THREADS), strict=True
            ):
                found[place] = np.asarray([row for one in near for row in self.rows[one]], dtype=np.int64)[:k]
        return found


def best(rows: NDArray[np.int32], scores: NDArray[np.float32], k: int) -> Rows:
    """The rows of the ``k`` best scores, ties by row."""
    if len(scores) > k:
        keep = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        rows, scores = rows[keep], scores[keep]
    return rows[np.lexsort((rows, -scores))[:k]].astype(np.int64)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def resident_megabytes() -> float:
    """Of this process, memory-mapped files included."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
