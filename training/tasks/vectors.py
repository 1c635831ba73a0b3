"""Vectors of all entities and of mentions, without gradients; those of untrained encoders are kept between jobs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import nn

from models.core.file_io import atomic_path
from models.encoders.cache import cache_root
from models.encoders.encoders import Encoder, in_batches
from training.data.examples import EntityTexts, Example
from training.data.progress import Event, Phase
from training.loop.towers import FloatArray, Towers

CHUNK = 512
TOKENS_PER_BATCH = 4096


def entity_vectors(
    encoder: Encoder, texts: EntityTexts, *, phase: Phase = Phase.ENCODE
) -> Generator[Event, None, FloatArray]:
    """(entities, d) vectors, not normalised, shortest texts first; `work` in the events is the share of tokens done."""
    total = len(texts.kb.entities)
    tokens = texts.of(range(total))
    order = sorted(range(total), key=lambda row: (len(tokens[row]), row))
    vectors = np.zeros((total, encoder.dimension), dtype=np.float32)
    whole, done = max(sum(map(len, tokens)), 1), 0
    for start in range(0, total, CHUNK):
        rows = order[start : start + CHUNK]
        vectors[rows] = encoder.encode_ids([tokens[row] for row in rows], normalize=False)
        done += sum(len(tokens[row]) for row in rows)
        yield Event(phase, min(start + CHUNK, total), total, data={"work": done / whole})
    return vectors


def untrained_vectors(
    encoder: Encoder, texts: EntityTexts, *, kb_hash: str, cache: Path | None
) -> Generator[Event, None, tuple[FloatArray, bool]]:
    """The same for an encoder as stored on disk; read from the cache if possible (then the flag is True)."""
    path = cache_path(encoder, texts, kb_hash=kb_hash, cache=cache)
    shape = (len(texts.kb.entities), encoder.dimension)
    kept = _read(path, shape)
    if kept is not None:
        return kept, True
    vectors = yield from entity_vectors(encoder, texts, phase=Phase.PREPARE)
    with atomic_path(path) as beside, beside.open("wb") as handle:
        np.save(handle, vectors, allow_pickle=False)
    return vectors, False


def cache_path(encoder: Encoder, texts: EntityTexts, *, kb_hash: str, cache: Path | None) -> Path:
    """Path of the cached vectors, named by encoder, entity format, and knowledge base."""
    facts = [encoder.fingerprint, texts.settings.entity_tokens, texts.settings.style, kb_hash]
    name = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
    return (cache or cache_root()) / "entities" / f"{name[:40]}.npy"


def mention_vectors(towers: Towers, examples: Sequence[Example]) -> FloatArray:
    """(examples, d) vectors, not normalised, computed in evaluation mode; the networks' mode is restored."""
    lengths = [len(example.tokens.ids) for example in examples]
    vectors = np.zeros((len(examples), towers.mention.hidden_size), dtype=np.float32)

    def encode_rows(rows: list[int]) -> None:
        vectors[rows] = towers.encode_mentions([examples[row] for row in rows]).float().cpu().numpy()

    with at_rest(towers.mention, towers.entity):
        in_batches(encode_rows, lengths, limit=64, tokens=TOKENS_PER_BATCH)
    return vectors


def pool_vectors(towers: Towers, rows: Sequence[int]) -> FloatArray:
    """(rows, d) entity vectors from the current entity tower, not normalised; its mode is restored."""
    with at_rest(towers.mention, towers.entity):
        vectors: FloatArray = towers.encode_entities(np.asarray(rows, dtype=np.int64)).float().cpu().numpy()
    return vectors


@contextmanager
def at_rest(*networks: nn.Module) -> Iterator[None]:
    """Context: the networks in evaluation mode and without gradients; their mode is restored afterwards."""
    modes = [network.training for network in networks]
    try:
        with torch.inference_mode():
            for network in networks:
                network.eval()
            yield
    finally:
        for network, mode in zip(networks, modes, strict=True):
            network.train(mode)


def _read(path: Path, shape: tuple[int, int]) -> FloatArray | None:
    try:
        vectors: FloatArray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return vectors if vectors.shape == shape and vectors.dtype == np.float32 else None
