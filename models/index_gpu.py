"""Exact search on a GPU, where FAISS was built for one and one is there.

FAISS's GPU indexes know no restriction to rows; its brute-force search over a block of vectors does, since a range of
rows is such a block. It finds at most ``MAX_K`` neighbours.
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
class GpuVectors:
    """(n, d) float32 ``vectors`` on a device, and how a block of them is searched."""

    vectors: torch.Tensor
    search_block: Search

    @classmethod
    def upload(cls, chunks: Iterable[FLOATS]) -> GpuVectors:
        parts = [torch.from_numpy(np.ascontiguousarray(chunk)).to("cuda:0") for chunk in chunks]
        return cls(torch.cat(parts), _brute_force)

    def search(self, queries: FLOATS, k: int, span: tuple[int, int]) -> tuple[FLOATS, INTS]:
        """(q, min(k, MAX_K)) inner products and rows within the half-open range, best first."""
        start, stop = span
        moved = torch.from_numpy(queries).to(self.vectors.device)
        scores, places = self.search_block(moved, self.vectors[start:stop], min(k, MAX_K, stop - start))
        return scores.cpu().numpy(), places.cpu().numpy().astype(np.int64) + start


def _brute_force(queries: torch.Tensor, vectors: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    scores, places = faiss.knn_gpu(_resources(), queries, vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
    return scores, places


@cache
def _resources() -> Any:
    import_module("faiss.contrib.torch_utils")  # teaches FAISS to take tensors that are on the GPU already
    return faiss.StandardGpuResources()
