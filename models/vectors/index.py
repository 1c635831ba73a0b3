"""A FAISS index over vectors numbered 0 … n−1, searched by inner product, restricted to ranges of rows.

``plan_index`` chooses its kind, ``models.vectors.index_files`` keeps it on disk, ``models.vectors.grown`` adds and
removes vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import faiss as faiss_module
import numpy as np
import torch
from numpy.typing import NDArray

from models.core.device import gpu_memory
from models.core.kb import Ranges
from models.errors import say
from models.vectors.coarse import FEWEST, Coarse, First, StoredVectors
from models.vectors.index_files import read_index, write_index
from models.vectors.index_plan import IndexKind, IndexPlan, plan_index
from models.vectors.two_stage import (
    CHUNK,
    LEAST_READ,
    PATTERNS,
    TooLittleFoundError,
    TwoStage,
    floats,
    probed,
    training_rows,
)

# Exact search by comparing whole blocks of rows: a range of rows is such a block, so restriction costs nothing. On a
# GPU it uses FAISS's brute force if FAISS was built with GPU support (its GPU indexes do not support restriction; it
# finds at most ``MAX_K`` neighbours), else torch's matrix product, as on a CPU: FAISS's own product uses one thread for
# a single query and is two to three times slower for many.

faiss: Any = faiss_module
MAX_K = 2048
BLOCK_SCORES = 2**25  # scores at once, 128 MiB
CACHED_SCORES, FEWEST_QUERIES = 2**22, 32
"""On a CPU, scores at once, few enough to stay in its cache until the best are chosen; and the fewest queries per pass
over all vectors, as more passes would cost more than that gains."""
SPARE = 64  # neighbours more than asked for, which are compared exactly
FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
Search = Callable[[torch.Tensor, torch.Tensor, int], tuple[torch.Tensor, torch.Tensor]]
"""(q, d) queries, (n, d) vectors and k ≤ MAX_K → (q, k) inner products and places, best first."""


def gpu_count() -> int:
    """GPUs that FAISS can use; 0 if FAISS was built without GPU support."""
    return int(faiss.get_num_gpus()) if hasattr(faiss, "StandardGpuResources") else 0


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """(n, d) float32 ``vectors`` on a device, the search function of a block, and its largest number of neighbours."""

    vectors: torch.Tensor
    search_block: Search
    most: int

    @classmethod
    def on_gpu(cls, chunks: Iterable[FLOATS]) -> Blocks:
        """Upload all vectors to the first GPU."""
        parts = [torch.from_numpy(np.ascontiguousarray(chunk)).to("cuda:0") for chunk in chunks]
        return cls(torch.cat(parts), _brute_force if gpu_count() else _rounded_product, MAX_K)

    @classmethod
    def over(cls, index: Any) -> Blocks:
        """A view of the memory, mapped or not, of a flat FAISS index, which must outlive this view and must not
        grow."""
        numbers = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
        return cls(torch.from_numpy(numbers.reshape(index.ntotal, index.d)), _matrix_product, int(index.ntotal))

    def search(self, queries: FLOATS, k: int, span: tuple[int, int]) -> tuple[FLOATS, INTS]:
        """(q, at most k) inner products and rows within the half-open range, best first."""
        start, stop = span
        moved = torch.from_numpy(queries).to(self.vectors.device)
        scores, places = self.search_block(moved, self.vectors[start:stop], min(k, self.most, stop - start))
        return scores.cpu().numpy(), places.cpu().numpy().astype(np.int64) + start


def _matrix_product(queries: torch.Tensor, vectors: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    size = max(FEWEST_QUERIES, CACHED_SCORES // len(vectors))
    parts = [torch.topk(queries[at : at + size] @ vectors.T, k) for at in range(0, len(queries), size)]
    return torch.cat([part.values for part in parts]), torch.cat([part.indices for part in parts])


def _rounded_product(queries: torch.Tensor, vectors: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The same if a GPU rounds the factors of a product: the best and a few more are compared again exactly
    (elementwise products are not rounded)."""
    more = min(k + SPARE, len(vectors))
    size = max(1, BLOCK_SCORES // max(len(vectors), more * vectors.shape[1]))
    parts = []
    for at in range(0, len(queries), size):
        some = queries[at : at + size]
        places = torch.topk(some @ vectors.T, more).indices
        exact = torch.topk((some[:, None] * vectors[places]).sum(-1), k)
        parts.append((exact.values, places.gather(1, exact.indices)))
    return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])


def _brute_force(queries: torch.Tensor, vectors: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    scores, places = faiss.knn_gpu(_resources(), queries, vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
    return scores, places


@cache
def _resources() -> Any:
    import_module("faiss.contrib.torch_utils")  # lets FAISS use tensors that are on the GPU
    return faiss.StandardGpuResources()


class SearchIndex(Protocol):
    """The interface of an index, fixed or growing, for retrievers."""

    def __len__(self) -> int: ...

    @property
    def plan(self) -> IndexPlan: ...

    def search(self, queries: NDArray[np.floating], k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, INTS]: ...

    def vectors(self, rows: INTS) -> FLOATS: ...


class VectorIndex:
    """A frozen index; ``source`` identifies the data it was made from (checked when loaded)."""

    def __init__(
        self,
        index: Any,
        plan: IndexPlan,
        *,
        source: str = "",
        stored: StoredVectors | None = None,
        loaded: bool = False,
    ) -> None:
        """``stored``: the same vectors in a file, from which they are then read. ``loaded``: not to be saved again."""
        self.index = index
        self.source = source
        self._stored = stored
        self._loaded = loaded
        self._plan = plan
        self._gpu: Blocks | None = None

    def __len__(self) -> int:
        return int(self.index.ntotal)

    @property
    def plan(self) -> IndexPlan:
        return self._plan

    @property
    def dimension(self) -> int:
        return int(self.index.d)

    @property
    def on_gpu(self) -> bool:
        return self._gpu is not None

    @classmethod
    def build(cls, vectors: NDArray[np.floating], *, plan: IndexPlan | None = None, source: str = "") -> VectorIndex:
        """Index (n, d) vectors, added chunk by chunk.

        For two stages, the amount to read is chosen so that enough of the nearest are found. Raises ModelError if no
        amount suffices; without a ``plan``, 8-bit codes are then used instead.
        """
        rows, dimension = vectors.shape
        if plan is None:
            try:
                return cls.build(vectors, plan=plan_index(rows, dimension, gpu_memory=gpu_memory()), source=source)
            except TooLittleFoundError:
                why = say("since 4-bit codes do not find enough of them")
                plan = plan_index(rows, dimension, kind=IndexKind.SQ8, reason=why)
        index = faiss.index_factory(dimension, plan.factory, faiss.METRIC_INNER_PRODUCT)
        if not index.is_trained:
            some = floats(vectors[training_rows(rows)])
            index.train(np.resize(some, (PATTERNS, dimension)) if 0 < rows < PATTERNS else some)
        for start in range(0, rows, CHUNK):
            index.add(floats(vectors[start : start + CHUNK]))
        built = cls(index, plan, source=source)
        if plan.kind is IndexKind.PQ4 and rows:
            built._plan = probed(built._reading, plan, vectors)
        return built

    @classmethod
    def load(cls, path: Path, *, rows: int | None = None, source: str | None = None) -> VectorIndex:
        """Open memory-mapped.

        Raises DamagedIndexError if the file is damaged, ModelError if it does not have ``rows`` rows or this
        ``source``.
        """
        index, header = read_index(path, rows=rows, source=source)
        many = header.plan.kind is IndexKind.FLAT and header.rows >= FEWEST
        stored = StoredVectors(path, header.rows, header.dimension) if many else None
        return cls(index, header.plan, source=header.source, stored=stored, loaded=True)

    def save(self, path: Path) -> None:
        """Write ``path`` and its header, each atomically, the header last. What searches it is compiled now.

        Raises ValueError for an index that was loaded.
        """
        if self._loaded:
            raise ValueError("this index has a file already")
        write_index(self.index, path, plan=self.plan, source=self.source)
        if self.plan.kind is IndexKind.FLAT and len(self) >= FEWEST:
            Coarse(StoredVectors(path, len(self), self.dimension)).warm_up()

    def search(
        self, queries: NDArray[np.floating], k: int, *, ranges: Ranges | None = None, first: First | None = None
    ) -> tuple[FLOATS, INTS]:
        """(q, k) scores and rows, best first; −inf and −1 if there are fewer. Ties: the lower row first.

        ``ranges`` restricts to half-open ranges of rows, ascending and disjoint. With ``first`` not everything must be
        exact.
        """
        wanted = ((0, len(self)),) if ranges is None else ranges
        spans = tuple((start, min(stop, len(self))) for start, stop in wanted if start < min(stop, len(self)))
        if not spans or not len(queries) or k < 1:
            return merge([], queries=len(queries), k=k)
        return merge(self._parts(floats(queries), k, spans, first), queries=len(queries), k=k)

    def vectors(self, rows: INTS) -> FLOATS:
        """(n, d) stored vectors of the given rows (decoded if they are codes)."""
        wanted = np.ascontiguousarray(rows, dtype=np.int64)
        found: FLOATS = self.index.reconstruct_batch(wanted) if self._stored is None else self._stored[wanted]
        return found

    def chunks(self) -> Iterator[FLOATS]:
        """All stored vectors in order, in (≤ CHUNK, d) pieces."""
        for start in range(0, len(self), CHUNK):
            yield self.vectors(np.arange(start, min(start + CHUNK, len(self))))

    def to_gpu(self, *, wanted: bool = True) -> str:
        """Move to the first GPU if `wanted`, if there is one and the index fits; returns a sentence about the
        device."""
        free, needed = gpu_memory() if wanted else 0, len(self) * self.dimension * 4
        if not free:
            where = say("FAISS {version} runs on the processor.", version=faiss.__version__)
        elif 2 * needed > free:
            where = say(
                "FAISS {version} runs on the processor, since the GPU has only {free:,.0f} MiB free.",
                version=faiss.__version__,
                free=free / 2**20,
            )
        else:
            self._gpu = Blocks.on_gpu(self.chunks())
            where = (
                say("FAISS {version} compares all vectors on the GPU.", version=faiss.__version__)
                if gpu_count()
                else say("PyTorch compares all vectors on the GPU.")
            )
        return say("{sentence} {where}", sentence=self.plan.sentence, where=where)

    @cached_property
    def _flat(self) -> Blocks | Coarse | None:
        if self._stored is not None:
            return Coarse(self._stored)
        return Blocks.over(self.index) if self.plan.kind is IndexKind.FLAT else None

    def _parts(self, queries: FLOATS, k: int, spans: Ranges, first: First | None) -> list[tuple[FLOATS, INTS]]:
        """Search results that together contain the best ``k`` of all spans."""
        blocks = self._gpu or self._flat
        if isinstance(blocks, Coarse):
            return [blocks.search(queries, k, spans, first)]
        if blocks is not None:
            return [blocks.search(queries, k, span) for span in spans]
        if self.plan.kind is IndexKind.PQ4:
            return [self._stages.search(queries, k, self.plan.probes or LEAST_READ, spans)]
        return [_search_range(self.index, queries, k, span) for span in spans]

    @cached_property
    def _stages(self) -> TwoStage:
        return TwoStage(self.index, only=self._loaded)

    def _reading(self, queries: FLOATS, k: int, reads: int) -> INTS:
        """(q, k) rows found by comparing so many vectors again."""
        whole = ((0, len(self)),)
        return merge([self._stages.search(queries, k, reads, whole)], queries=len(queries), k=k)[1]


def merge(parts: list[tuple[FLOATS, INTS]], *, queries: int, k: int) -> tuple[FLOATS, INTS]:
    """The best ``k`` of several (q, ≤k) results, ignoring rows of −1: best first, the lower row in ties."""
    scores = np.full((queries, k), -np.inf, dtype=np.float32)
    rows = np.full((queries, k), -1, dtype=np.int64)
    if not parts:
        return scores, rows
    all_scores = np.concatenate([part[0] for part in parts], axis=1)
    all_rows = np.concatenate([part[1] for part in parts], axis=1)
    all_scores = np.where(all_rows < 0, -np.inf, all_scores)
    order = np.lexsort((all_rows, -all_scores), axis=1)[:, :k]
    scores[:, : order.shape[1]] = np.take_along_axis(all_scores, order, axis=1)
    rows[:, : order.shape[1]] = np.take_along_axis(all_rows, order, axis=1)
    return scores, rows


def _search_range(index: Any, queries: FLOATS, k: int, span: tuple[int, int]) -> tuple[FLOATS, INTS]:
    k = min(k, span[1] - span[0])
    if span == (0, index.ntotal):
        scores, rows = index.search(queries, k)
    else:
        scores, rows = index.search(queries, k, params=faiss.SearchParameters(sel=faiss.IDSelectorRange(*span)))
    return scores, rows
