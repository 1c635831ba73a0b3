"""Dense search for names, compared with sentence-transformers with FAISS; from the repository's root:

    .venv/bin/python -m tests.benchmarks.dense_peers [--rounds 3] [--threads 1]

Both get the same encoder (the default one), the same names with the same vectors (from the embedding cache; encoding
them is not counted), and the same strings as `lexical_peers`. Speed counts everything from strings to rows: tokens, the
network, the search. Engines take turns on the same random strings; a ratio is the median over the rounds of CPU time,
which a busy machine changes little. Recall@64 as in `lexical_peers`: over all names, and within the mention's type, for
which the peer gets its own index.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any

import faiss as faiss_module
import numpy as np
import torch
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase, Ranges, read_kb
from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import Encoder, load_encoder
from models.linker.build import NAMES_TOKENS
from models.vectors.index import VectorIndex
from tests.benchmarks.lexical_engines import Rows
from tests.benchmarks.lexical_peers import KINDS, Asked, K, read_mentions, recall
from tests.benchmarks.linker_bc5cdr import DATA
from tests.benchmarks.targets import measured

faiss: Any = faiss_module
FLOATS = NDArray[np.float32]
STRINGS = 256


class Ours:
    """The linker's encoder and index; ranges restrict to a type."""

    def __init__(self, encoder: Encoder, vectors: FLOATS) -> None:
        self.encoder, self.index = encoder, VectorIndex.build(vectors)

    def search(self, texts: Sequence[str], k: int, ranges: Ranges | None = None) -> list[Rows]:
        return list(self.index.search(self.encoder.encode(texts), k, ranges=ranges)[1])


class SentenceTransformers:
    """As its makers show it: `encode` with its own batches, and a flat FAISS index."""

    def __init__(self, vectors: FLOATS) -> None:
        from sentence_transformers import SentenceTransformer

        self.model = SentenceTransformer(str(default_encoder_folder()), device="cpu")
        self.model.max_seq_length = NAMES_TOKENS
        self.index = flat(vectors)

    def search(self, texts: Sequence[str], k: int, index: Any = None) -> list[Rows]:
        found = self.model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return list((index or self.index).search(found, k)[1])


def flat(vectors: FLOATS) -> Any:
    made = faiss.IndexFlatIP(vectors.shape[1])
    made.add(vectors)
    return made


@dataclass(frozen=True, slots=True)
class Engines:
    kb: KnowledgeBase
    vectors: FLOATS
    ours: Ours
    peer: SentenceTransformers

    def found(self, asked: Sequence[Asked], *, typed: bool) -> tuple[dict[tuple[str, str], Rows], ...]:
        """Rows by string and type, of ours and of the peer."""
        own: dict[tuple[str, str], Rows] = {}
        other: dict[tuple[str, str], Rows] = {}
        for kind in KINDS:
            texts = list(dict.fromkeys(one.text for one in asked if one.kind == kind))
            keys = [(text, kind) for text in texts]
            ranges = self.kb.name_ranges((kind,)) if typed else ((0, len(self.kb.names)),)
            rows = np.concatenate([np.arange(start, stop) for start, stop in ranges])
            own.update(zip(keys, self.ours.search(texts, K, ranges), strict=True))
            index = flat(self.vectors[rows]) if typed else None
            places = self.peer.search(texts, K, index)
            other.update(zip(keys, (rows[place] for place in places), strict=True))
        return own, other


def processor_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def compare_speed(engines: Engines, texts: Sequence[str], rounds: int) -> tuple[float, float, float]:
    """Strings in a second of processor time, of ours and the peer, and how many times as fast ours is."""
    ours, peer, ratios = [], [], []
    for number in range(-1, rounds):
        chosen = random.Random(number).sample(list(texts), STRINGS)
        own = processor_seconds(lambda chosen=chosen: engines.ours.search(chosen, K))  # type: ignore[misc]
        other = processor_seconds(lambda chosen=chosen: engines.peer.search(chosen, K))  # type: ignore[misc]
        if number >= 0:  # the first time warms both
            ours.append(STRINGS / own)
            peer.append(STRINGS / other)
            ratios.append(other / own)
    return statistics.median(ours), statistics.median(peer), statistics.median(ratios)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(arguments)
    if find_spec("sentence_transformers") is None:
        print("sentence-transformers is not installed here: left out.")
        return
    torch.set_num_threads(given.threads)
    faiss.omp_set_num_threads(given.threads)
    kb = read_kb(DATA / "kb" / "mesh_medic.jsonl.gz")
    encoder = load_encoder(default_encoder_folder(), device="cpu", max_tokens=NAMES_TOKENS, trainable=False)
    cache = EmbeddingCache(encoder)
    for _ in cache.fill(kb.names):
        pass
    vectors = np.asarray(cache.vectors(kb.names), dtype=np.float32)
    engines = Engines(kb, vectors, Ours(encoder, vectors), SentenceTransformers(vectors))
    asked = read_mentions(kb, "dev")
    texts = list(dict.fromkeys(one.text for one in asked))
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("sentence-transformers", "faiss-cpu", "torch"))
    print(f"{len(kb.names):,} names, {len(texts):,} strings of {len(asked):,} in-KB mentions; {versions}")
    own, other, ratio = compare_speed(engines, texts, given.rounds)
    measured("strings by meaning in a second of processor time", own, "/s", more=True, note=f"{given.threads} threads")
    measured("the same by sentence-transformers and FAISS", other, "/s", more=True, note=f"ours {ratio:.1f} x")
    for typed in (False, True):
        where = "within the type" if typed else "over all names"
        mine, theirs = (recall(asked, one, kb) for one in engines.found(asked, typed=typed))
        measured(f"recall@{K} by meaning {where}", mine, "%", more=True, note=f"the peer's {theirs:.2f} %")


if __name__ == "__main__":
    main()
