"""Exact search by comparing whole blocks of rows: a range of rows is such a block, so restriction costs nothing.

On a GPU, where FAISS was built for one and one is there, by FAISS's brute force (its GPU indexes know no restriction;
it finds at most ``MAX_K`` neighbours). On the processor by torch's matrix product over the index's own memory: the
product inside FAISS is one thread's for a single query and two to three times slower for many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import faiss as faiss_module
import numpy as np
import torch
from numpy.typing import NDArray

faiss: Any = faiss_module
MAX_K = 2048
BLOCK_SCORES = 2**25  # scores at once, 128 MiB
FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
Search = Callable[[torch.Tensor, torch.Tensor, int], tuple[torch.Tensor, torch.Tensor]]
"""(q, d) queries, (n, d) vectors and k ≤ MAX_K → (q, k) inner products and places, best first."""


def gpu_count() -> int:
    """GPUs that FAISS can use; 0 for a FAISS built for the processor."""
    return int(faiss.get_num_gpus()) if hasattr(faiss, "StandardGpuResources") else 0


def gpu_memory() -> int:
    """Free bytes of the first GPU; 0 where FAISS or torch has none."""
    return int(torch.cuda.mem_get_info(0)[0]) if gpu_count() and torch.cuda.is_available() else 0


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """(n, d) float32 ``vectors`` on a device, how a block of them is searched, and for how many neighbours at most."""

    vectors: torch.Tensor
    search_block: Search
    most: int

    @classmethod
    def on_gpu(cls, chunks: Iterable[FLOATS]) -> Blocks:
        """Upload all vectors to the first GPU."""
        parts = [torch.from_numpy(np.ascontiguousarray(chunk)).to("cuda:0") for chunk in chunks]
        return cls(torch.cat(parts), _brute_force, MAX_K)

    @classmethod
    def over(cls, index: Any) -> Blocks:
        """The memory, mapped or not, of a flat FAISS index, which must outlive this and must not grow."""
        numbers = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
        return cls(torch.from_numpy(numbers.reshape(index.ntotal, index.d)), _matrix_product, int(index.ntotal))

    def search(self, queries: FLOATS, k: int, span: tuple[int, int]) -> tuple[FLOATS, INTS]:
        """(q, at most k) inner products and rows within the half-open range, best first."""
        start, stop = span
        moved = torch.from_numpy(queries).to(self.vectors.device)
        scores, places = self.search_block(moved, self.vectors[start:stop], min(k, self.most, stop - start))
        return scores.cpu().numpy(), places.cpu().numpy().astype(np.int64) + start


def _matrix_product(queries: torch.Tensor, vectors: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    size = max(1, BLOCK_SCORES // len(vectors))
    parts = [torch.topk(queries[at : at + size] @ vectors.T, k) for at in range(0, len(queries), size)]
    return torch.cat([part.values for part in parts]), torch.cat([part.indices for part in parts])


def _brute_force(queries: torch.Tensor, vectors: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    scores, places = faiss.knn_gpu(_resources(), queries, vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
    return scores, places


@cache
def _resources() -> Any:
    import_module("faiss.contrib.torch_utils")  # teaches FAISS to take tensors that are on the GPU already
    return faiss.StandardGpuResources()
