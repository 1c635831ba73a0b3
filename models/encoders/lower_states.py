"""States of texts after an encoder's lower layers, in the user's cache, which may be deleted at any time.

Training that freezes the lower layers does not change these states. Encoding the same texts again then runs only the
upper layers, in half the time. One file, renamed into place, holds one list of texts for the last encoder: a JSON line,
sorted 128-bit text hashes, lengths, states (tokens, d) in half precision, a checksum.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from models.core.device import Precision
from models.core.file_io import atomic_path
from models.encoders.cache import HEADER_BYTES, PIECE_ROWS, Hashes, cache_root, hash_texts
from models.encoders.encoders import Encoder, FloatArray, length_batches, normalized
from models.encoders.packed import PackedBert, pool_packed

log = logging.getLogger(__name__)

CRC_BYTES = 4
CHECKED = ("pain", "acute myeloid leukaemia of childhood")
SAME = 1e-3
"""The most that a vector may differ when states are rounded to half precision; the measured difference is 7e-5."""
FREE = 2
"""The free disk space must be this many times the size of the states."""


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """An encoder split after its layer `cut`; `key` identifies the layers below and the tokenizer."""

    encoder: Encoder
    bert: PackedBert
    cut: int
    key: str

    def states(self, ids: Sequence[Sequence[int]]) -> list[NDArray[np.float16]]:
        """(tokens, d) states of each text after the lower layers."""
        found: list[NDArray[np.float16]] = [np.zeros((0, self.encoder.dimension), dtype=np.float16)] * len(ids)
        for rows in self._batches(ids):
            texts = [ids[row] for row in rows]
            lengths = [len(text) for text in texts]
            with torch.inference_mode():
                rounded = self.bert.through(self.bert.embedded(texts), lengths, stop=self.cut).half().numpy()
            for row, own in zip(rows, np.split(rounded, np.cumsum(lengths)[:-1]), strict=True):
                found[row] = own
        return found

    def vectors(self, states: Sequence[NDArray[np.float16]]) -> FloatArray:
        """(n, d) vectors of length 1 from the upper layers."""
        found = np.zeros((len(states), self.encoder.dimension), dtype=np.float32)
        for rows in self._batches(states):
            lengths = [len(states[row]) for row in rows]
            given = torch.from_numpy(np.concatenate([states[row] for row in rows], dtype=np.float32))
            with torch.inference_mode():
                output = self.bert.through(given, lengths, start=self.cut)
                found[rows] = pool_packed(output, lengths, self.encoder.pooling).numpy()
        return normalized(found)

    def _batches(self, texts: Sequence[Sequence[int]] | Sequence[NDArray[np.float16]]) -> list[list[int]]:
        """Rows of similar length, longest first; texts without tokens are left out."""
        device = self.encoder.device
        batches = length_batches([len(one) for one in texts], limit=device.batch_size, tokens=device.batch_tokens)
        return [[row for row in rows if len(texts[row])] for rows in batches if len(texts[rows[0]])]


def halves(encoder: Encoder) -> Halves | None:
    """The encoder split in two at the cut of `train_layers`; None if that saves no time or is not exact: on a GPU, in a
    rounded number format, or for encoders with another architecture than BERT."""
    layers = list(encoder.module.layers)
    bert, cut = encoder.packed(), len(layers) // 2
    if bert is None or not cut or encoder.device.precision is not Precision.FP32:
        return None
    encoder.module.eval()
    found = Halves(encoder, bert, cut, _key(encoder, layers[:cut]))
    ids = encoder.token_ids(CHECKED)
    with torch.inference_mode():
        expected = normalized(encoder.module(*encoder.pad(ids)).numpy())
    return found if np.abs(found.vectors(found.states(ids)) - expected).max() <= SAME else None


def _key(encoder: Encoder, layers: Iterable[nn.Module]) -> str:
    """A hash of everything the states depend on: tokenizer, embeddings, layers."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{encoder.max_tokens} {encoder.tokenizer.backend_tokenizer.to_str()}".encode())
    for part in (encoder.module.embeddings, *layers):
        for name, tensor in part.state_dict().items():
            digest.update(name.encode() + tensor.detach().numpy().tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """`hashes` (n, 2) sorted by the first column; the states of text p are at `ends[p]` to `ends[p + 1]`."""

    hashes: NDArray[np.uint64]
    ends: NDArray[np.int64]
    states: NDArray[np.float16]

    def find(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """(n,) the index of each text, -1 if it is missing."""
        wanted = hash_texts(texts)
        at = np.minimum(np.searchsorted(self.hashes[:, 0], wanted[:, 0]), len(self.hashes) - 1)
        return np.where((self.hashes[at] == wanted).all(axis=1), at, -1)

    def at(self, place: int) -> NDArray[np.float16]:
        found: NDArray[np.float16] = self.states[self.ends[place] : self.ends[place + 1]]
        return found


class LowerStates:
    """The stored states of one encoder's lower layers, in `root` (default: the user's cache)."""

    def __init__(self, found: Halves, *, root: Path | None = None) -> None:
        self._halves = found
        self._path = (root or cache_root()) / "states" / f"{found.key}.states"
        self._stored = _open(self._path)

    def fill(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Store the states of exactly `texts`, unless they are already stored; yields (done, total).

        If the disk is too full, nothing is stored, and `encode` computes the states.
        """
        distinct = list(dict.fromkeys(texts))
        if not distinct or (self._stored is not None and (self._stored.find(distinct) >= 0).all()):
            return
        hashes = hash_texts(distinct)
        order = np.argsort(hashes[:, 0], kind="stable")
        ids = self._halves.encoder.token_ids([distinct[row] for row in order])
        folder = self._path.parent
        try:
            for old in folder.glob("*"):
                old.unlink()
            folder.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(folder).free < FREE * 2 * self._halves.encoder.dimension * sum(map(len, ids)):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            with atomic_path(self._path) as beside, beside.open("wb") as handle:
                yield from self._write(handle, hashes[order], ids)
        except OSError as error:
            log.warning("The states of the encoder's lower layers are not kept in %s: %s.", folder, error.strerror)
        self._stored = _open(self._path)

    def _write(self, handle: BinaryIO, hashes: Hashes, ids: list[list[int]]) -> Iterator[tuple[int, int]]:
        lengths = np.asarray([len(one) for one in ids], dtype=np.int64)
        header = {"texts": len(ids), "tokens": int(lengths.sum()), "dimension": self._halves.encoder.dimension}
        handle.write(json.dumps(header).encode().ljust(HEADER_BYTES - 1) + b"\n")
        handle.write(hashes.tobytes())
        handle.write(lengths.tobytes())
        crc = 0
        for start in range(0, len(ids), PIECE_ROWS):
            yield start, len(ids)
            body = np.concatenate(self._halves.states(ids[start : start + PIECE_ROWS])).tobytes()
            crc = zlib.crc32(body, crc)
            handle.write(body)
        handle.write(crc.to_bytes(CRC_BYTES, "little"))
        yield len(ids), len(ids)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """(n, d) vectors of length 1, from the current upper layers."""
        stored = self._stored
        places = np.full(len(texts), -1) if stored is None else stored.find(texts)
        lacking = np.flatnonzero(places < 0)
        made = iter(self._halves.states(self._halves.encoder.token_ids([texts[row] for row in lacking.tolist()])))
        states = [next(made) if stored is None or place < 0 else stored.at(place) for place in places.tolist()]
        return self._halves.vectors(states)


def _open(path: Path) -> _Stored | None:
    """The stored states; None if there are none or they are damaged. Damaged files are deleted."""
    try:
        raw = np.memmap(path, dtype=np.uint8, mode="r")
        header = json.loads(bytes(raw[:HEADER_BYTES]))
        texts, tokens, dimension = (int(header[name]) for name in ("texts", "tokens", "dimension"))
        lengths = HEADER_BYTES + 16 * texts
        states = lengths + 8 * texts
        end = states + 2 * tokens * dimension
        intact = len(raw) == end + CRC_BYTES and zlib.crc32(raw[states:end].data) == int.from_bytes(raw[end:], "little")
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        intact = False
    if not intact:
        log.warning("Damaged states of an encoder's lower layers were dropped and will be computed again: %s", path)
        path.unlink(missing_ok=True)
        return None
    return _Stored(
        np.frombuffer(raw[HEADER_BYTES:lengths], dtype="<u8").reshape(-1, 2),
        np.concatenate([[0], np.cumsum(np.frombuffer(raw[lengths:states], dtype="<i8"))]),
        raw[states:end].view(np.float16).reshape(tokens, dimension),
    )
