"""The speed of encoding names, compared with sentence-transformers with its defaults; from the repository's root:

    .venv/bin/python -m tests.benchmarks.encoding                     # speed of each number format, and of the cache
    .venv/bin/python -m tests.benchmarks.encoding --names 2000 --formats fp32 bf16

Speed: the same names, a random sample of the knowledge base with a fixed seed, and the same weights; tokenisation is
included; the peers take turns in one process on the same threads, and the ratio is the median over the rounds.

The effect of a format on recall is measured by tests/benchmarks/encoding_recall.py.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import load_encoder

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
KB = DATA / "kb" / "mesh_medic.jsonl.gz"
PEER = "sentence-transformers"
MAX_TOKENS = 64
Encode = Callable[[list[str]], NDArray[np.float32]]


def names_of_kb() -> list[str]:
    """All distinct names, in the order of the file."""
    with gzip.open(KB, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return list(dict.fromkeys(name for r in records for name in (r["name"], *r.get("synonyms", ())) if name.strip()))


def speed(names: list[str], *, formats: Sequence[str], rounds: int) -> None:
    peers = {PEER: peer()} | {form: ours(form) for form in formats}
    vectors = {name: encode(names[:256]) for name, encode in peers.items()}  # also warms them up
    seconds: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, encode in peers.items():
            started = time.perf_counter()
            encode(names)
            seconds[name].append(time.perf_counter() - started)
    print(f"{len(names):,} names, {torch.get_num_threads()} threads, {rounds} rounds")
    for name, spent in seconds.items():
        ratio = statistics.median(peer / own for peer, own in zip(seconds[PEER], spent, strict=True))
        cosines = (vectors[name] * vectors[PEER]).sum(axis=1)
        rate = len(names) / statistics.median(spent)
        print(f"{name:22s} {rate:6.0f} names/s  {ratio:.2f} x  cosine {cosines.mean():.4f}, least {cosines.min():.4f}")


def peer() -> Encode:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(default_encoder_folder()), device="cpu")
    return lambda names: np.asarray(model.encode(names, show_progress_bar=False), dtype=np.float32)


def ours(precision: str) -> Encode:
    return load_encoder(default_encoder_folder(), device="cpu", precision=precision, max_tokens=MAX_TOKENS).encode


def second_build(names: list[str]) -> None:
    """Encode into an empty cache, then ask another cache object for the same, as a second build does."""
    encoder = load_encoder(default_encoder_folder(), device="cpu", max_tokens=MAX_TOKENS)
    with tempfile.TemporaryDirectory() as folder:
        spent = []
        for _ in range(2):
            started = time.perf_counter()
            EmbeddingCache(encoder, root=Path(folder)).vectors(names)
            spent.append(time.perf_counter() - started)
    share = 100 * spent[1] / spent[0]
    print(f"vectors of {len(names):,} names: first {spent[0]:.1f} s, second {spent[1]:.3f} s: {share:.2f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=10_000)
    parser.add_argument("--formats", nargs="+", default=["fp32", "bf16"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    sample = random.Random(0).sample(names_of_kb(), options.names)
    speed(sample, formats=options.formats, rounds=options.rounds)
    second_build(sample)


if __name__ == "__main__":
    main()
