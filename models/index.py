"""A FAISS index over vectors numbered 0 … n−1: its kind chosen by size and memory, kept on disk safely.

File: one JSON line padded to HEADER_BYTES (rows, dimension, kind, size, what it was built from) in
``NAME.json`` beside the FAISS file ``NAME.faiss``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import faiss as faiss_module
import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError
from models.files import atomic_path, read_json, write_json
from models.kb import Ranges

faiss: Any = faiss_module  # its stubs lag behind its parameters
FORMAT = 1
REMEDY = "Rebuild the index from the knowledge base."
FLAT_BYTES = 600 * 2**20
FLOATS = NDArray[np.float32]


class IndexKind(StrEnum):
    FLAT = "flat"
    SQ8 = "sq8"
    IVF = "ivf"
    HNSW = "hnsw"


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """A kind of index, FAISS's factory string for it, and why."""

    kind: IndexKind
    factory: str
    sentence: str


def plan_index(
    rows: int, dimension: int, *, memory: int = FLAT_BYTES, kind: IndexKind | None = None, removal: bool = True
) -> IndexPlan:
    """Choose the kind of index for ``rows`` vectors within ``memory`` bytes; ``kind`` overrides.

    Exact search wherever it fits; 8-bit codes where only they do (they keep 99.5 % of the top 64); cells or a
    graph beyond, a graph only if nothing has to be removed (``removal`` False).
    """
    size = rows * dimension * 4
    if kind is None:
        kind = IndexKind.FLAT if size <= memory else IndexKind.SQ8
        if size / 4 > memory or rows > 3_000_000:
            kind = IndexKind.IVF if removal else IndexKind.HNSW
    cells = int(max(1, min(65536, 4 * np.sqrt(rows), rows / 39)))
    mib, limit = size / 2**20, memory / 2**20
    factory, reason = {
        IndexKind.FLAT: ("Flat", f"exact search: {mib:,.0f} MiB of vectors fit into {limit:,.0f} MiB"),
        IndexKind.SQ8: ("SQ8", f"8-bit codes: {mib:,.0f} MiB of vectors would not fit into {limit:,.0f} MiB"),
        IndexKind.IVF: (f"IVF{cells},SQ8", f"{cells:,} cells of 8-bit codes: too many vectors to look at all"),
        IndexKind.HNSW: ("HNSW32", "a neighbour graph: fastest where nothing is ever removed"),
    }[kind]
    return IndexPlan(kind, factory, f"{rows:,} vectors are searched by {kind.value} ({reason}).")


class VectorIndex:
    """Inner-product search; on a GPU if FAISS was built for one and one is there."""

    def __init__(self, index: Any, plan: IndexPlan, *, source: str = "") -> None:
        self._index = index
        self.plan = plan
        self.source = source

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        return int(self._index.d)

    @classmethod
    def build(cls, vectors: NDArray[np.floating], *, plan: IndexPlan | None = None, source: str = "") -> VectorIndex:
        """Index (n, d) vectors; ``source`` names what they were made from (checked when loaded)."""
        rows, dimension = vectors.shape
        plan = plan or plan_index(rows, dimension)
        index = faiss.index_factory(dimension, plan.factory, faiss.METRIC_INNER_PRODUCT)
        if not index.is_trained:
            index.train(_floats(vectors[_training_rows(rows)]))
        for start in range(0, rows, 65536):
            index.add(_floats(vectors[start : start + 65536]))
        _make_reconstructable(index)
        return cls(index, plan, source=source)

    def search(self, queries: NDArray[np.floating], k: int, *, ranges: Ranges | None = None) -> tuple[FLOATS, Any]:
        """(q, k) scores and rows, best first; −inf and −1 where there are fewer. Ties: the lower row first.

        ``ranges`` restricts to half-open ranges of rows.
        """
        spans = ((0, len(self)),) if ranges is None else ranges
        k_all = min(k, sum(stop - start for start, stop in spans))
        parts = [self._search_range(_floats(queries), min(k_all, stop - start), (start, stop)) for start, stop in spans]
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        rows = np.full((len(queries), k), -1, dtype=np.int64)
        if parts and k_all and len(queries):
            all_scores = np.concatenate([part[0] for part in parts], axis=1)
            all_rows = np.concatenate([part[1] for part in parts], axis=1)
            all_scores = np.where(all_rows < 0, -np.inf, all_scores)
            order = np.lexsort((all_rows, -all_scores), axis=1)[:, :k_all]
            scores[:, :k_all] = np.take_along_axis(all_scores, order, axis=1)
            rows[:, :k_all] = np.take_along_axis(all_rows, order, axis=1)
        return scores, rows

    def vectors(self, rows: NDArray[np.int64]) -> FLOATS:
        """(n, d) stored vectors of the given rows (decoded where they are codes)."""
        stored: FLOATS = self._index.reconstruct_batch(np.ascontiguousarray(rows, dtype=np.int64))
        return stored

    def to_gpu(self) -> str:
        """Move to the first GPU if this FAISS can; a sentence saying where it runs."""
        if not hasattr(faiss, "StandardGpuResources") or faiss.get_num_gpus() == 0:
            return f"{self.plan.sentence} FAISS {faiss.__version__} runs on the processor."
        self._index = faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, self._index)
        return f"{self.plan.sentence} FAISS {faiss.__version__} runs on the GPU."

    def save(self, path: Path) -> None:
        """Write ``path`` and its header ``path.json``, each atomically, the header last."""
        with atomic_path(path) as beside:
            _write(self._index, beside)
        header = {"format": FORMAT, "rows": len(self), "dimension": self.dimension, "bytes": path.stat().st_size}
        write_json(_header_path(path), header | {"source": self.source, "plan": asdict(self.plan)})

    @classmethod
    def load(cls, path: Path, *, rows: int | None = None, source: str | None = None) -> VectorIndex:
        """Open memory-mapped; ModelError where file and header, ``rows`` or ``source`` disagree."""
        header = read_json(_header_path(path), what="The index's header", remedy=REMEDY)
        try:
            plan = IndexPlan(IndexKind(header["plan"]["kind"]), header["plan"]["factory"], header["plan"]["sentence"])
            size, expected, made_from = header["bytes"], header["rows"], header["source"]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"The index {path} has a damaged header. {REMEDY}") from error
        if header.get("format") != FORMAT or not path.is_file() or path.stat().st_size != size:
            raise ModelError(f"The index {path} is damaged: it is missing, cut off, or of another version. {REMEDY}")
        if rows not in (None, expected) or source not in (None, made_from):
            raise ModelError(f"The index {path} was built from another knowledge base or encoder. {REMEDY}")
        index = _read(path)
        if index.ntotal != expected or index.d != header["dimension"]:
            raise ModelError(f"The index {path} is damaged: it does not hold {expected:,} vectors. {REMEDY}")
        _make_reconstructable(index)
        return cls(index, plan, source=made_from)

    def _search_range(self, queries: FLOATS, k: int, span: tuple[int, int]) -> tuple[FLOATS, Any]:
        whole = span == (0, len(self))
        selector = None if whole else faiss.IDSelectorRange(*span)
        parameters = _parameters(self.plan.kind, selector)
        if parameters is None:
            scores, rows = self._index.search(queries, k)
        else:
            scores, rows = self._index.search(queries, k, params=parameters)
        return scores, rows


def _parameters(kind: IndexKind, selector: Any) -> Any:
    if kind is IndexKind.IVF:
        return faiss.SearchParametersIVF(nprobe=32, sel=selector)
    if kind is IndexKind.HNSW:
        return faiss.SearchParametersHNSW(efSearch=256, sel=selector)
    return None if selector is None else faiss.SearchParameters(sel=selector)


def _write(index: Any, path: Path) -> None:
    try:
        faiss.write_index(index, str(path))
    except RuntimeError as error:
        raise ModelError(
            f"The index {path} cannot be written ({str(error).splitlines()[0]}). Free some space."
        ) from error


def _make_reconstructable(index: Any) -> None:
    """Cells keep their vectors in no order; a map from row to place lets them be read back."""
    if hasattr(index, "make_direct_map"):
        index.make_direct_map()


def _read(path: Path) -> Any:
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise ModelError(f"The index {path} is damaged ({str(error).splitlines()[0]}). {REMEDY}") from error


def _header_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _floats(vectors: NDArray[np.floating]) -> FLOATS:
    return np.ascontiguousarray(vectors, dtype=np.float32)


def _training_rows(rows: int) -> NDArray[np.int64]:
    """A fixed sample: the same vectors give the same index."""
    if rows <= 200_000:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, size=200_000, replace=False))
