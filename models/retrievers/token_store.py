"""The states of all tokens of all entities, for scorers that compare token by token.

Files in a retriever's folder, the header written last:
    tokens.f16      (tokens, d) half-precision states, entity by entity, memory-mapped when opened
    tokens.offsets  (entities + 1) little-endian int64: where each entity's tokens begin
    tokens.json     the expected sizes of both, and what they were made from
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torch
from numpy.typing import NDArray

from models.core.file_io import atomic_path, read_json, write_json
from models.encoders.encoders import Encoder
from models.errors import ModelError, say
from models.types import Progress

FORMAT = 1
STATES_FILE = "tokens.f16"
OFFSETS_FILE = "tokens.offsets"
HEADER_FILE = "tokens.json"
REMEDY = "Roll back to another linker, or train the retriever again."
CHUNK = 512
FLOATS = NDArray[np.float32]
HALVES = NDArray[np.float16]
INTS = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TokenStore:
    """States (tokens, d), those of entity i from ``offsets[i]`` to ``offsets[i + 1]``, at least one.

    ``stored`` are the states in the file, ``added`` those of later entities, whose indexes follow.
    """

    stored: HALVES
    offsets: INTS
    added: HALVES

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def load(cls, folder: Path, *, rows: int, source: str) -> TokenStore:
        """Open memory-mapped; raises ModelError if a file is missing, damaged or of another KB or encoder."""
        header = read_json(folder / HEADER_FILE, what=say("The header of the token vectors"), remedy=say(REMEDY))
        try:
            kind, made_from = header["format"], header["source"]
            entities, tokens, dimension = (int(header[key]) for key in ("rows", "tokens", "dimension"))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                say("The token vectors in {folder} have a damaged header. {remedy}", folder=folder, remedy=say(REMEDY))
            ) from error
        if kind != FORMAT:
            raise ModelError(
                say(
                    "The token vectors in {folder} have a different version. {remedy}",
                    folder=folder,
                    remedy=say(REMEDY),
                )
            )
        if (rows, source) != (entities, made_from):
            raise ModelError(
                say(
                    "The token vectors in {folder} belong to another knowledge base or encoder. {remedy}",
                    folder=folder,
                    remedy=say(REMEDY),
                )
            )
        _check_size(folder / STATES_FILE, tokens * dimension * 2)
        _check_size(folder / OFFSETS_FILE, (entities + 1) * 8)
        offsets = np.fromfile(folder / OFFSETS_FILE, dtype="<i8")
        if offsets[0] != 0 or offsets[-1] != tokens or bool((np.diff(offsets) < 1).any()):
            raise ModelError(say("{folder} is damaged. {remedy}", folder=folder / OFFSETS_FILE, remedy=say(REMEDY)))
        states = np.memmap(folder / STATES_FILE, dtype="<f2", mode="r", shape=(tokens, dimension))
        return cls(states, offsets.astype(np.int64), np.zeros((0, dimension), dtype=np.float16))

    def padded(self, rows: INTS) -> HALVES:
        """(n, longest, d) states; shorter entities repeat their last token, which does not change a maximum."""
        lengths = self.lengths(rows)
        places = np.minimum(np.arange(int(lengths.max(initial=0))), lengths[:, None] - 1)
        return self._gather(self.offsets[rows][:, None] + places)

    def behind(self, states: FLOATS, offsets: INTS) -> TokenStore:
        """A store with more entities appended: their states (tokens, d), entity i's starting at ``offsets[i]``."""
        numbered = np.concatenate([self.offsets, self.offsets[-1] + offsets[1:]])
        return TokenStore(self.stored, numbered, np.concatenate([self.added, _halved(states)]))

    def lengths(self, rows: INTS) -> INTS:
        """(n,) numbers of tokens."""
        counts: INTS = self.offsets[rows + 1] - self.offsets[rows]
        return counts

    def _gather(self, places: INTS) -> HALVES:
        """(…, d) states at the given positions; never a view of the file."""
        new = places >= len(self.stored)
        if not new.any():
            return np.asarray(np.take(self.stored, places, axis=0))
        found = np.empty((*places.shape, self.stored.shape[1]), dtype=np.float16)
        found[~new] = self.stored[places[~new]]
        found[new] = self.added[places[new] - len(self.stored)]
        return found


def write_tokens(
    encoder: Encoder, token_ids: Sequence[Sequence[int]], folder: Path, *, source: str
) -> Iterator[Progress | FLOATS]:
    """Encode every entity and write its token states; yields progress and returns their means (entities, d).

    At most ``CHUNK`` entities are in memory at a time. Raises ModelError if the disk is full or the encoder gives
    numbers outside of half precision.
    """
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in token_ids])]).astype("<i8")
    folder.mkdir(parents=True, exist_ok=True)
    _check_room(folder, int(offsets[-1]) * encoder.dimension * 2, entities=len(token_ids))
    means = np.zeros((len(token_ids), encoder.dimension), dtype=np.float32)
    with atomic_path(folder / STATES_FILE) as beside, beside.open("wb") as handle:
        for start in range(0, len(token_ids), CHUNK):
            stop = min(start + CHUNK, len(token_ids))
            means[start:stop] = _write_chunk(encoder, token_ids[start:stop], handle)
            yield Progress("entities", stop, len(token_ids))
    with atomic_path(folder / OFFSETS_FILE) as beside, beside.open("wb") as handle:
        handle.write(offsets.tobytes())
    header = {"format": FORMAT, "rows": len(token_ids), "tokens": int(offsets[-1]), "dimension": encoder.dimension}
    write_json(folder / HEADER_FILE, header | {"source": source})
    yield means


def token_states(encoder: Encoder, token_ids: Sequence[Sequence[int]]) -> tuple[FLOATS, INTS]:
    """(tokens, d) concatenated states of the last layer, and the start of each text (texts + 1,)."""
    offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in token_ids])]).astype(np.int64)
    states = np.zeros((int(offsets[-1]), encoder.dimension), dtype=np.float32)

    def keep(rows: list[int], found: torch.Tensor) -> None:
        for row, own in zip(rows, torch.split(found, [len(token_ids[row]) for row in rows]), strict=True):
            states[offsets[row] : offsets[row + 1]] = own.cpu().numpy()

    encoder.each(token_ids, keep)
    return states, offsets


def text_means(states: FLOATS, offsets: INTS) -> FLOATS:
    """(texts, d) means of the states of each text, none of which is empty."""
    if len(offsets) == 1:
        return np.zeros((0, states.shape[1]), dtype=np.float32)
    means: FLOATS = np.add.reduceat(states, offsets[:-1], axis=0)
    means /= np.diff(offsets)[:, None].astype(np.float32)
    return means


def _write_chunk(encoder: Encoder, token_ids: Sequence[Sequence[int]], handle: BinaryIO) -> FLOATS:
    states, offsets = token_states(encoder, token_ids)
    handle.write(_halved(states).tobytes())
    return text_means(states, offsets)


def _halved(states: FLOATS) -> HALVES:
    with np.errstate(over="ignore"):
        halves = states.astype("<f2")
    if not bool(np.isfinite(halves).all()):
        raise ModelError(
            say(
                "The entity encoder gives vectors with values too large to be stored. Train again with a "
                "lower learning rate."
            )
        )
    return halves


def _check_size(path: Path, size: int) -> None:
    if not path.is_file() or path.stat().st_size != size:
        raise ModelError(say("{path} is missing or truncated. {remedy}", path=path, remedy=say(REMEDY)))


def _check_room(folder: Path, size: int, *, entities: int) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise ModelError(
            say(
                "The token vectors of {entities:,} entities need {size:,.0f} MiB, but {folder} has only "
                "{free:,.0f} MiB free. Free some disk space, or choose a scorer that keeps one vector "
                "per entity.",
                entities=entities,
                size=size / 2**20,
                folder=folder,
                free=free / 2**20,
            )
        )
