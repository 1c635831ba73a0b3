"""Exact search of many vectors in a file, of which little is in memory: by 8-bit codes first, then by the vectors.

Each vector is rounded to 8 bits a number, in units of its largest number / 127. The products of codes order all
vectors but for the errors of rounding. Of two scores these differ by a standard deviation of √2 × √((unit of the
vector² × length of the query² + unit of the query² × length of the vector²) / 12); what is within six of them of the
last that is wanted is compared again by its vectors. So the answers are those of exact search (`make bench` and tests
compare both), while a quarter of the memory is read.

Codes are made when their rows are first searched. Vectors are read from the file, not mapped: a mapped page stays in
the process's memory and brings fifteen neighbours with it.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray

from models.core.kb import Ranges
from models.errors import ModelError, say

FLOATS = NDArray[np.float32]
INTS = NDArray[np.int64]
FEWEST = 20_000
"""Fewer vectors are compared as they are: the codes would save little."""
DEVIATIONS = 6.0
NO_ROWS = np.zeros(0, dtype=np.int64)
CODED_ROWS = 2048  # rows whose codes are made at once
AT_A_TIME, FEWEST_QUERIES = 2**20, 16  # products at once, 4 MiB, but for so many queries at least


class First(NamedTuple):
    """What of an answer is needed: which rows come before the one with which ``wanted`` different groups are found, if
    that is among the best k; ``groups`` (all rows,) is each row's group. So rows before it may be in another order, and
    have the scores of their codes."""

    groups: INTS
    wanted: int


class StoredVectors:
    """The (n, d) float32 vectors at the end of a file, of which only the rows asked for are read."""

    def __init__(self, path: Path, rows: int, dimension: int) -> None:
        """Raises OSError if the file cannot be opened."""
        self.shape = (rows, dimension)
        self._width = 4 * dimension
        self._offset = path.stat().st_size - rows * self._width
        self._file = path.open("rb", buffering=0)
        weakref.finalize(self, self._file.close)
        self._read = self._reader()

    def __getitem__(self, rows: INTS) -> FLOATS:
        """(n, d) vectors of rows; neighbouring rows are read together. Raises IndexError for a row out of range,
        ModelError if the file was shortened."""
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < self.shape[0]:
            raise IndexError(f"rows {rows.min()} to {rows.max()} of {self.shape[0]}")
        found = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        if not len(rows):
            return found
        content, width = memoryview(cast(Any, found)).cast("B"), self._width
        starts = np.concatenate([[0], np.flatnonzero(np.diff(rows) != 1) + 1])
        stops = [*starts[1:].tolist(), len(rows)]
        for start, stop, row in zip(starts.tolist(), stops, rows[starts].tolist(), strict=True):
            size = self._read(content[start * width : stop * width], self._offset + row * width)
            if size != (stop - start) * width:
                raise ModelError(say("The index {path} is damaged: it is truncated.", path=self._file.name))
        return found

    def _reader(self) -> Callable[[memoryview, int], int]:
        """Fills a part of memory from an offset of the file; returns the number of bytes."""
        if sys.platform != "win32":
            number, preadv = self._file.fileno(), os.preadv
            return lambda target, offset: preadv(number, (target,), offset)
        seeking = threading.Lock()

        def read(target: memoryview, offset: int) -> int:
            with seeking:
                self._file.seek(offset)
                return self._file.readinto(target)

        return read


class Coarse:
    """Codes (n, d) with a unit for each vector, in memory that the system gives when it is first written."""

    def __init__(self, stored: StoredVectors) -> None:
        rows, dimension = stored.shape
        self.stored = stored
        self._codes = np.empty((rows, dimension), dtype=np.int8)
        self._units = np.zeros(rows, dtype=np.float32)
        self._lengths = np.zeros(rows, dtype=np.float32)
        self._coded = np.zeros(-(-rows // CODED_ROWS), dtype=np.bool_)
        self._coded_rows = lru_cache(maxsize=8)(self._rows_of)

    def search(self, queries: FLOATS, k: int, spans: Ranges, first: First | None = None) -> tuple[FLOATS, INTS]:
        """(q, at most k) inner products and rows within half-open ranges, in no order; see `First`."""
        from models.vectors.coarse_kernel import best_of_many, encode, near_of_many

        numbers, own_units, unit, longest = self._coded_rows(spans)
        owners, wanted = (NO_ROWS, 0) if first is None else (first.groups[numbers], first.wanted)
        codes = np.empty(queries.shape, dtype=np.int8)
        units, lengths = np.empty(len(queries), dtype=np.float32), np.empty(len(queries), dtype=np.float32)
        encode(queries, codes, units, lengths)
        margins = self._margins(units, lengths, unit, longest)
        scores = np.empty((len(queries), min(k, len(numbers))), dtype=np.float32)
        places = np.empty(scores.shape, dtype=np.int64)
        size = max(FEWEST_QUERIES, AT_A_TIME // len(numbers))
        for at in range(0, len(queries), size):
            some = slice(at, at + size)
            parts = [products(codes[some], self._codes[start:stop]) for start, stop in spans]
            found = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
            starts, near, rough, close = near_of_many(
                found, own_units, margins[some], scores.shape[1], owners, wanted, units[some]
            )
            different, which = np.unique(near[close], return_inverse=True)
            vectors = self.stored[numbers[different]]
            best_of_many(queries[some], vectors, which, starts, near, rough, close, scores[some], places[some])
        return scores, numbers[places]

    def warm_up(self) -> None:
        """Compile the search, or load it from its cache, before it is needed: seconds, once per installation."""
        rows = min(64, len(self._units))
        self.search(self.stored[np.arange(min(1, rows))], 1, ((0, rows),), First(np.zeros(rows, dtype=np.int64), 1))

    def _margins(self, units: FLOATS, lengths: FLOATS, unit: float, longest: float) -> FLOATS:
        """(q,) how far apart in doubt two scores may be, in units of the query's code, from the greatest unit and
        length of a vector."""
        deviation = np.sqrt(2 * ((unit * lengths) ** 2 + (units * longest) ** 2) / 12)
        return (DEVIATIONS * deviation / np.maximum(units, np.float32(1e-30))).astype(np.float32)

    def _rows_of(self, spans: Ranges) -> tuple[INTS, FLOATS, float, float]:
        """All rows of the ranges, their units, the greatest unit and length; their codes are made if they were not
        searched before. Two threads may both make them."""
        from models.vectors.coarse_kernel import encode

        for block in sorted({at for start, stop in spans for at in range(start // CODED_ROWS, -(-stop // CODED_ROWS))}):
            if not self._coded[block]:
                part = slice(block * CODED_ROWS, (block + 1) * CODED_ROWS)
                vectors = self.stored[np.arange(len(self._units))[part]]
                encode(vectors, self._codes[part], self._units[part], self._lengths[part])
                self._coded[block] = True
        numbers = np.concatenate([np.arange(*span) for span in spans])
        units = self._units[numbers]
        return numbers, units, float(units.max()), float(self._lengths[numbers].max())


def products(queries: NDArray[np.int8], codes: NDArray[np.int8]) -> NDArray[np.int32]:
    """(q, n) inner products of codes."""
    if _has_int8():
        found = torch._int_mm(torch.from_numpy(queries), torch.from_numpy(codes).T)
        return np.asarray(found.numpy(), dtype=np.int32)
    result = np.empty((len(queries), len(codes)), dtype=np.int32)
    wanted = torch.from_numpy(queries).float()
    for at in range(0, len(codes), CODED_ROWS):  # exact: sums below 2 ** 24
        block = torch.from_numpy(codes[at : at + CODED_ROWS]).float()
        result[:, at : at + CODED_ROWS] = (wanted @ block.T).numpy()
    return result


@cache
def _has_int8() -> bool:
    """Whether this CPU multiplies 8-bit integers faster than floats, and this PyTorch does it."""
    capabilities: Any = getattr(torch.cpu, "get_capabilities", dict)()
    if not (capabilities.get("avx512_vnni") or capabilities.get("avx_vnni")):
        return False
    try:
        made = torch._int_mm(torch.full((2, 3), 2, dtype=torch.int8), torch.full((5, 3), -3, dtype=torch.int8).T)
        return bool((made == -18).all())
    except (AttributeError, RuntimeError):
        return False
