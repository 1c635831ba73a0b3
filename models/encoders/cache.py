"""Embeddings by encoder and text hash in the user's cache folder; may be deleted at any time.

One folder per encoder holds write-once shards, each one file: a JSON line (rows, dimension, number format, checksum),
sorted 128-bit text hashes, vectors. Shards have random names and are written by renaming, so any number of processes
can read and write at the same time. At worst a vector is stored twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import platformdirs
from numpy.typing import NDArray

from models.core.file_io import atomic_path
from models.encoders.encoders import Encoder
from models.errors import ModelError, say

log = logging.getLogger(__name__)

SHARD_ROWS = 8192
PIECE_ROWS = 1024
"""Texts between two progress events: some seconds of work on two cores."""
MAX_SHARDS = 24
HEADER_BYTES = 256
DTYPES = {"float16": np.float16, "float32": np.float32}
Hashes = NDArray[np.uint64]
Vectors = NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """``hashes`` (n, 2) sorted by the first column; ``vectors`` (n, d) memory-mapped."""

    path: Path
    hashes: Hashes
    vectors: Vectors


@dataclass(frozen=True, slots=True, eq=False)
class CachedRows:
    """(n,) the number of the shard that holds each text, -1 for none, and (n,) the row in it."""

    shard: NDArray[np.int64]
    row: NDArray[np.int64]


def cache_root() -> Path:
    """CURATOR_CACHE if set, otherwise the user's cache folder."""
    return Path(os.environ.get("CURATOR_CACHE") or platformdirs.user_cache_dir("curator"))


def hash_texts(texts: Sequence[str]) -> Hashes:
    """(n, 2) 128-bit hashes."""
    raw = b"".join(hashlib.blake2b(t.encode("utf-8", "surrogatepass"), digest_size=16).digest() for t in texts)
    return np.frombuffer(raw, dtype="<u8").reshape(-1, 2)


def _even_pieces(texts: list[str], rows: int) -> list[list[str]]:
    """Split texts that are sorted by length into pieces, each with texts of all lengths."""
    number = -(-len(texts) // rows)
    return [texts[at::number] for at in range(number)]


class EmbeddingCache:
    """Normalised embeddings of one encoder; ``dtype`` is their type, stored and returned."""

    def __init__(self, encoder: Encoder, *, root: Path | None = None, dtype: str = "float16") -> None:
        self.encoder = encoder
        self.dtype = dtype
        self.folder = (root or cache_root()) / "embeddings" / f"{encoder.cache_key}-{dtype}"
        self._shards: dict[Path, Shard] = {}

    def fill(
        self, texts: Sequence[str], *, encode: Callable[[Sequence[str]], Vectors] | None = None
    ) -> Iterator[tuple[int, int]]:
        """Encode missing texts, with `encode` if given; yields (done, total) distinct texts at an even pace, since each
        piece has long and short texts.

        Finished pieces are kept if the caller stops early.
        """
        encode = encode or self.encoder.encode
        pieces, total = self.missing(texts), len(set(texts))
        done = total - sum(map(len, pieces))
        yield done, total
        waiting: list[tuple[list[str], Vectors]] = []
        try:
            for part in pieces:
                waiting.append((part, encode(part)))
                done += len(part)
                if sum(len(texts) for texts, _ in waiting) + PIECE_ROWS > SHARD_ROWS:
                    self._write_all(waiting)
                yield done, total
        finally:
            self._write_all(waiting)
        self._compact()

    def missing(self, texts: Sequence[str]) -> list[list[str]]:
        """Distinct missing texts, in the same pieces as in `fill`. The last digit of a vector depends on the texts
        encoded with it, so encoding the same pieces in another process gives the same vectors."""
        distinct = list(dict.fromkeys(texts))
        missing = [text for text, place in zip(distinct, self._find(distinct).shard, strict=True) if place < 0]
        missing.sort(key=len)
        return _even_pieces(missing, min(PIECE_ROWS, SHARD_ROWS))

    def add(self, pieces: Iterable[list[str]]) -> None:
        """Encode pieces of `missing` and write them as one shard; several processes can fill the cache this way."""
        self._write_all([(part, self.encoder.encode(part)) for part in pieces])

    def _write_all(self, waiting: list[tuple[list[str], Vectors]]) -> None:
        """Write all pending vectors as one shard; afterwards nothing is pending, even if writing failed."""
        parts, waiting[:] = waiting[:], []
        if parts:
            texts = [text for some, _ in parts for text in some]
            self._write(hash_texts(texts), np.concatenate([vectors for _, vectors in parts]))

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """(n, d) vectors of all texts, encoded if missing; every call returns the same values. Raises ModelError if the
        cache was emptied meanwhile."""
        vectors, found = self.lookup(texts)
        if found.all():
            return vectors
        del vectors
        for _ in self.fill(texts):
            pass
        vectors, found = self.lookup(texts)
        if not found.all():
            raise ModelError(
                say("The embedding cache {folder} was emptied while in use. Try again.", folder=self.folder)
            )
        return vectors

    def lookup(self, texts: Sequence[str]) -> tuple[Vectors, NDArray[np.bool_]]:
        """(n, d) vectors and whether each was found; rows not found are zero."""
        places = self._find(texts)
        vectors = np.zeros((len(texts), self.encoder.dimension), dtype=DTYPES[self.dtype])
        for number, shard in enumerate(self._shards.values()):
            rows = np.flatnonzero(places.shard == number)
            for start in range(0, len(rows), SHARD_ROWS):  # in parts, so that copies stay small
                part = rows[start : start + SHARD_ROWS]
                vectors[part] = shard.vectors[places.row[part]]
        return vectors, places.shard >= 0

    def _find(self, texts: Sequence[str]) -> CachedRows:
        """The position of each text's vector; no vector is read."""
        self._refresh()
        hashes = hash_texts(texts)
        places = CachedRows(np.full(len(texts), -1, dtype=np.int64), np.zeros(len(texts), dtype=np.int64))
        for number, shard in enumerate(self._shards.values()):
            rows = np.flatnonzero(places.shard < 0)
            if not len(rows):
                break
            at = np.searchsorted(shard.hashes[:, 0], hashes[rows, 0])
            at = np.minimum(at, len(shard.hashes) - 1)
            hit = (shard.hashes[at] == hashes[rows]).all(axis=1)
            places.shard[rows[hit]] = number
            places.row[rows[hit]] = at[hit]
        return places

    def _refresh(self) -> None:
        present = set(self.folder.glob("*.shard")) if self.folder.is_dir() else set()
        self._shards = {path: shard for path, shard in self._shards.items() if path in present}
        for path in sorted(present - self._shards.keys()):
            shard = _open(path, dimension=self.encoder.dimension)
            if shard is not None:
                self._shards[path] = shard

    def _write(self, hashes: Hashes, vectors: Vectors) -> None:
        order = np.argsort(hashes[:, 0], kind="stable")
        keys = np.ascontiguousarray(hashes[order]).tobytes()
        body = np.ascontiguousarray(vectors[order].astype(DTYPES[self.dtype])).tobytes()
        header = {
            "rows": len(hashes),
            "dimension": vectors.shape[1],
            "dtype": self.dtype,
            "crc": zlib.crc32(body, zlib.crc32(keys)),
        }
        target = self.folder / f"{secrets.token_hex(8)}.shard"
        try:
            with atomic_path(target) as beside, beside.open("wb") as handle:
                handle.write(json.dumps(header).encode().ljust(HEADER_BYTES - 1) + b"\n")
                handle.write(keys)
                handle.write(body)
        except OSError as error:
            raise ModelError(
                say(
                    "Cannot write to the embedding cache {folder} ({strerror}). Check the folder's "
                    "permissions and the free disk space, or set CURATOR_CACHE to another folder.",
                    folder=self.folder,
                    strerror=error.strerror,
                )
            ) from error

    def _compact(self) -> None:
        """Join many small shards into one; readers of the old shards keep their mapping."""
        self._refresh()
        if len(self._shards) <= MAX_SHARDS:
            return
        shards = list(self._shards.values())
        hashes = np.concatenate([shard.hashes for shard in shards])
        vectors = np.concatenate([shard.vectors for shard in shards])
        _, first = np.unique(hashes, axis=0, return_index=True)
        self._write(hashes[first], vectors[first])
        for shard in shards:
            shard.path.unlink(missing_ok=True)
        self._shards.clear()


def _open(path: Path, *, dimension: int) -> Shard | None:
    """The shard, or None after deleting a damaged file; also None if the file was deleted meanwhile."""
    try:
        raw = np.memmap(path, dtype=np.uint8, mode="r")
        header = json.loads(bytes(raw[:HEADER_BYTES]))
        rows, dtype = int(header["rows"]), np.dtype(DTYPES[header["dtype"]])
        middle = HEADER_BYTES + rows * 16
        intact = (
            header["dimension"] == dimension
            and len(raw) == middle + rows * dimension * dtype.itemsize
            and zlib.crc32(raw[HEADER_BYTES:].data) == header["crc"]
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, UnicodeDecodeError):
        intact = False
    if not intact:
        log.warning("A damaged part of the embedding cache was dropped and will be computed again: %s", path)
        path.unlink(missing_ok=True)
        return None
    hashes = np.frombuffer(raw[HEADER_BYTES:middle], dtype="<u8").reshape(-1, 2)
    return Shard(path, hashes, raw[middle:].view(dtype).reshape(rows, dimension))


# Work on the next pieces in threads while earlier results are used: numpy releases the GIL.

Piece = TypeVar("Piece")
Result = TypeVar("Result")
WORKERS = min(2, os.cpu_count() or 1)
"""More would hold more pieces in memory at a time."""


def ahead(work: Callable[[Piece], Result], pieces: Iterable[Piece], *, workers: int = WORKERS) -> Iterator[Result]:
    """`work(piece)` of each piece, in order; `pieces` is iterated in the caller's thread.

    At most `workers` results are running or waiting, in addition to the one in use. An error of `work` is raised in its
    piece's turn. On an error or when the iterator is closed, running work is waited for.
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="ahead") as pool:
        for piece in pieces:
            if len(waiting) == workers:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, piece))
        while waiting:
            yield waiting.popleft().result()
