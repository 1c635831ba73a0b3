"""A lexical index built on disk, piece by piece, for names whose counted terms do not fit in memory.

Its files are identical to those of `TfIdf.fit` and `save` (a test compares them). Built in memory, seven million names
of a hundred terms each take 38 GB; here any number takes a few hundred megabytes. The terms of names are written as
they are counted, and the inverted lists are built for as many terms at a time as fit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from models.core.file_io import write_json
from models.encoders.cache import ahead
from models.names.lexical import CHUNK, FORMAT, HEADER, VOCABULARY, TfIdf, count_terms, row_norms
from models.names.lexical_index import ARRAYS, CLASSES, class_norms, classes_of, name_weights
from models.text.normalise import normalise
from models.text.terms import ANALYZERS, UINTS
from models.types import Progress

FROM_NAMES = 750_000
"""An index of at least this many names is built on disk; in memory these take 4 GB."""
AT_ONCE = 1 << 22
"""Entries of inverted lists sorted at a time in each thread; each takes some 40 bytes in memory."""
_ENTRY = np.dtype([("row", np.int32), ("term", np.int32), ("weight", np.float32)])


@dataclass(slots=True)
class _Column:
    """One array of the index, written sequentially."""

    file: BinaryIO
    kind: np.dtype[Any]
    width: int = 0  # length of its rows; 0 for single numbers
    rows: int = 0

    @classmethod
    def begin(cls, folder: Path, name: str, *, width: int = 0) -> _Column:
        column = cls((folder / f"{name}.npy").open("wb"), np.dtype(ARRAYS[name]), width)
        column._head()
        return column

    def put(self, values: NDArray[Any]) -> None:
        np.ascontiguousarray(values, dtype=self.kind).tofile(self.file)
        self.rows += len(values)

    def end(self) -> None:
        """Write the final length; numpy leaves room for it in the header."""
        self.file.seek(0)
        self._head()
        self.file.close()

    def _head(self) -> None:
        shape = (self.rows, self.width) if self.width else (self.rows,)
        described = {"descr": npy.dtype_to_descr(self.kind), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self.file, described)


def build_on_disk(names: Sequence[str], folder: Path, *, analyzer: str = "char") -> Iterator[Progress]:
    """Fit a tf-idf on the names, normalised, and save it to the folder as `TfIdf.save` does."""
    folder.mkdir(parents=True, exist_ok=True)
    count = len(names)
    total = 3 * count
    with tempfile.TemporaryDirectory(dir=folder) as name:
        own = Path(name) / "terms"
        vocabulary, sizes = yield from _count(names, folder, analyzer, own, total)
        frequency = _rename(folder, vocabulary, own, sizes)
    gains = np.log((1 + count) / (1 + frequency)) + 1
    _save(folder, "gains", gains)
    _save(folder, "list_starts", np.concatenate([[0], np.cumsum(frequency)]))
    classes = classes_of(frequency, count)
    _save(folder, "classes", classes)
    counted = _Counted.open(folder, len(vocabulary))
    _weigh(counted, folder, gains, classes)
    for done in _invert(counted, folder, gains, frequency):
        yield Progress("lexical index", 2 * count + done * count // max(1, len(vocabulary)), total)
    np.save(folder / VOCABULARY, vocabulary, allow_pickle=False)
    write_json(folder / HEADER, {"format": FORMAT, "analyzer": analyzer, "shape": [count, len(vocabulary)]})
    TfIdf.load(folder).index.warm_up()
    yield Progress("lexical index", total, total)


def _count(
    names: Sequence[str], folder: Path, analyzer: str, own: Path, total: int
) -> Generator[Progress, None, tuple[UINTS, list[int]]]:
    """Write which terms each name has and how often. A term's number is its index in the sorted terms of its chunk,
    which are written to the file `own`. Returns the sorted terms of all chunks, and the number of terms of each
    chunk."""
    starts, terms, counts = (_Column.begin(folder, name) for name in ("starts", "terms", "counts"))
    starts.put(np.zeros(1))
    vocabulary = np.zeros(0, dtype=np.uint64)
    sizes = []

    def counts_of(chunk: list[str]) -> tuple[UINTS, sparse.csr_matrix]:
        rows, found = ANALYZERS[analyzer]([normalise(name) for name in chunk])
        there = np.unique(found)
        return there, count_terms(rows, found, there, len(chunk))

    with own.open("wb") as file:
        for number, (there, found) in enumerate(ahead(counts_of, _chunks(names))):
            there.tofile(file)
            sizes.append(len(there))
            vocabulary = np.union1d(vocabulary, there)
            starts.put(found.indptr[1:].astype(np.int64) + terms.rows)
            terms.put(found.indices)
            counts.put(found.data)
            yield Progress("lexical index", 2 * number * CHUNK, total)
    for column in (starts, terms, counts):
        column.end()
    return vocabulary, sizes


def _rename(folder: Path, vocabulary: UINTS, own: Path, sizes: Sequence[int]) -> NDArray[np.int64]:
    """Replace the terms' numbers by those of the vocabulary; returns each term's number of names."""
    frequency = np.zeros(len(vocabulary), dtype=np.int64)
    starts = np.load(folder / "starts.npy", allow_pickle=False)
    ends = starts[np.minimum(CHUNK * np.arange(1, len(sizes) + 1), len(starts) - 1)]
    with own.open("rb") as file, (folder / "terms.npy").open("r+b") as terms:
        npy.read_magic(terms)
        npy.read_array_header_1_0(terms)
        for size, count in zip(sizes, np.diff(ends, prepend=0), strict=True):
            numbers = np.searchsorted(vocabulary, np.fromfile(file, dtype=np.uint64, count=size))
            place = terms.tell()
            found = numbers.astype(ARRAYS["terms"])[np.fromfile(terms, dtype=ARRAYS["terms"], count=int(count))]
            terms.seek(place)
            found.tofile(terms)
            frequency += np.bincount(found, minlength=len(vocabulary))
    return frequency


@dataclass(frozen=True, slots=True)
class _Counted:
    """The written terms of the names, read a piece at a time to save memory."""

    folder: Path
    starts: NDArray[np.int64]
    terms: int

    @classmethod
    def open(cls, folder: Path, terms: int) -> _Counted:
        return cls(folder, np.load(folder / "starts.npy", allow_pickle=False), terms)

    def pieces(self) -> Iterator[tuple[int, sparse.csr_matrix]]:
        """(first name, counts of the names from there on)."""
        names = len(self.starts) - 1
        with (self.folder / "terms.npy").open("rb") as terms, (self.folder / "counts.npy").open("rb") as counts:
            for file in (terms, counts):
                npy.read_magic(file)
                npy.read_array_header_1_0(file)
            for first in range(0, names, CHUNK):
                bounds = self.starts[first : min(first + CHUNK, names) + 1]
                size = int(bounds[-1] - bounds[0])
                found = np.fromfile(terms, dtype=ARRAYS["terms"], count=size)
                number = np.fromfile(counts, dtype=ARRAYS["counts"], count=size)
                yield first, sparse.csr_matrix((number, found, bounds - bounds[0]), shape=(len(bounds) - 1, self.terms))


def _weigh(counted: _Counted, folder: Path, gains: NDArray[np.float64], classes: NDArray[np.int8]) -> None:
    """Write the values of each name: its own number, and its norms over the classes of terms."""
    owns, norms = _Column.begin(folder, "owns"), _Column.begin(folder, "norms", width=CLASSES)

    def numbers_of(piece: tuple[int, sparse.csr_matrix]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        _, counts = piece
        own = 1 / row_norms(counts, gains)
        return own, class_norms(counts, name_weights(counts, gains, own, saturating=False), classes)

    for own, norm in ahead(numbers_of, counted.pieces()):
        owns.put(own)
        norms.put(norm)
    owns.end()
    norms.end()


def _invert(counted: _Counted, folder: Path, gains: NDArray[np.float64], frequency: NDArray[np.int64]) -> Iterator[int]:
    """Write the names of each term with their weights, and the greatest weight; yields the number of terms done."""
    names, weights, peaks = (_Column.begin(folder, name) for name in ("list_names", "list_weights", "peaks"))
    spans = list(_spans(frequency))
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        yield from _deal(counted, folder, gains, [last for _, last in spans], place)

        def lists_of(at: int) -> tuple[NDArray[np.void], NDArray[np.float32]]:
            """The entries of a range of terms, ordered by term, and the greatest weight of each term."""
            first, last = spans[at]
            entries = np.fromfile(place / str(at), dtype=_ENTRY)
            (place / str(at)).unlink()
            entries = entries[np.argsort(entries["term"], kind="stable")]
            highest = np.zeros(last - first, dtype=np.float32)
            used = frequency[first:last] > 0
            begin = np.cumsum(frequency[first:last]) - frequency[first:last]
            highest[used] = np.maximum.reduceat(entries["weight"], begin[used])
            return entries, highest

        for (_, last), (entries, highest) in zip(spans, ahead(lists_of, range(len(spans))), strict=True):
            names.put(entries["row"])
            weights.put(entries["weight"])
            peaks.put(highest)
            yield last
    for column in (names, weights, peaks):
        column.end()


def _deal(
    counted: _Counted, folder: Path, gains: NDArray[np.float64], lasts: Sequence[int], place: Path
) -> Iterator[int]:
    """Write the entries of each range of terms to its own file, with the names of a term in order."""
    owns = np.load(folder / "owns.npy", allow_pickle=False)

    def entries_of(piece: tuple[int, sparse.csr_matrix]) -> tuple[NDArray[np.void], list[int]]:
        """The entries ordered by term, and the end of each range of terms."""
        start, counts = piece
        own = owns[start : start + counts.shape[0]]
        row = np.repeat(np.arange(counts.shape[0], dtype=np.int32), np.diff(counts.indptr))
        entries = np.empty(len(row), dtype=_ENTRY)
        entries["row"], entries["term"] = row + np.int32(start), counts.indices
        entries["weight"] = name_weights(counts, gains, own, saturating=False)
        entries = entries[np.argsort(counts.indices, kind="stable")]
        return entries, np.searchsorted(entries["term"], lasts).tolist()

    for entries, ends in ahead(entries_of, counted.pieces()):
        for at, (begin, end) in enumerate(pairwise([0, *ends])):
            if begin < end:
                with (place / str(at)).open("ab") as file:
                    entries[begin:end].tofile(file)
        yield 0


def _spans(frequency: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of terms with at most `AT_ONCE` entries each; a term with more is a range of its own."""
    ends = np.cumsum(frequency)
    first = 0
    while first < len(frequency):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
        yield first, last
        first = last


def _chunks(names: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), CHUNK):
        yield [names[at] for at in range(start, min(start + CHUNK, len(names)))]


def _save(folder: Path, name: str, values: NDArray[Any]) -> None:
    np.save(folder / f"{name}.npy", np.asarray(values, dtype=ARRAYS[name]), allow_pickle=False)
