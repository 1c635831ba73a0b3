"""Kinds of index over encoded names: cost of building, size, recall, and time of one query.

    .venv/bin/python -m tests.benchmarks.scale.index_plan                              # the real names
    .venv/bin/python -m tests.benchmarks.scale.index_plan --names 1000000 --kinds flat sq8 hnsw
    .venv/bin/python -m tests.benchmarks.scale.index_plan --vectors FOLDER             # float16 shards made before
    .venv/bin/python -m tests.benchmarks.scale.index_plan --codes                      # what 8-bit codes lose, by size

Beyond the real names, names are made of them: one word replaced by a word of another name, or the head of one joined to
the tail of another; half of each. They are encoded like the real ones, with fixed seeds. Queries are mentions of BC5CDR
dev as written. recall@64: the share of the exact nearest 64 among the 64 found. Times are CPU seconds of this process
on one thread, so that a busy computer changes them little.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import load_encoder
from models.vectors.index import VectorIndex, faiss
from models.vectors.index_plan import IndexKind, plan_index
from tests.benchmarks.encoding import DATA, MAX_TOKENS, names_of_kb
from tests.benchmarks.linker_bc5cdr import read_pubtator

K, QUERIES = 64, 200
SEED = 0


def recombined(names: list[str], number: int, *, seed: int = SEED) -> list[str]:
    """So many names that are not among the given ones, made of their words."""
    source, seen = random.Random(seed), set(names)
    words = [name.split() for name in names]
    made: list[str] = []
    while len(made) < number:
        first, second = list(source.choice(words)), source.choice(words)
        if source.random() < 0.5:
            first[source.randrange(len(first))] = source.choice(second)
        else:
            first = first[: source.randint(1, len(first))] + second[source.randrange(len(second)) :]
        name = " ".join(first)
        if name not in seen:
            seen.add(name)
            made.append(name)
    return made


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def queries(number: int) -> list[str]:
    """Distinct mentions as written."""
    documents = read_pubtator(DATA / "bc5cdr" / "dev.pubtator.txt").documents
    surfaces = dict.fromkeys(mention.surface(document.text) for document in documents for mention in document.mentions)
    return random.Random(SEED).sample(list(surfaces), number)


def measure(
    kind: IndexKind, vectors: NDArray[np.floating], asked: NDArray[np.float32], exact: NDArray[np.int64]
) -> str:
    building, index = spent(lambda: VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=kind)))
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder) / "names.faiss")
        size = (Path(folder) / "names.faiss").stat().st_size / 2**20
    index.search(asked[:2], K)
    _, found = index.search(asked, K)
    recall = float(np.mean([len(set(own) & set(best)) / K for own, best in zip(found, exact, strict=True)]))
    seconds = [spent(lambda one=one: index.search(one[None], K))[0] for one in asked]
    p50, p95 = 1000 * np.percentile(seconds, [50, 95])
    of_names = f"{100 * index.plan.recall:.1f} % with {index.plan.probes} read" if index.plan.probes else "–"
    return (
        f"| {len(vectors):,} | {kind.value} | {building:.0f} s | {size:,.0f} MiB | {100 * recall:.2f} % | {of_names} | "
        f"{p50:.1f} / {p95:.1f} ms |"
    )


def codes(vectors: NDArray[np.floating], asked: NDArray[np.float32]) -> None:
    """What comparing 8-bit codes finds among fewer and more names: whether the loss grows with them."""
    order = np.random.default_rng(SEED).permutation(len(vectors))
    print("| names | recall@64 of 8-bit codes | the exact 64 among their first 128 |\n|---|---|---|")
    for size in (len(vectors) // 2**halved for halved in (4, 3, 2, 1, 0)):
        some = vectors[np.sort(order[:size])]
        exact, coded = (
            VectorIndex.build(some, plan=plan_index(*some.shape, kind=kind)) for kind in (IndexKind.FLAT, IndexKind.SQ8)
        )
        best = exact.search(asked, K)[1]
        found = [
            float(
                np.mean(
                    [len(set(one) & set(own)) / K for one, own in zip(coded.search(asked, k)[1], best, strict=True)]
                )
            )
            for k in (K, 2 * K)
        ]
        print(f"| {size:,} | {100 * found[0]:.2f} % | {100 * found[1]:.2f} % |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=0, help="real and recombined names; 0: the real ones")
    parser.add_argument("--vectors", type=Path, help="a folder of float16 arrays (n, 384), instead of encoding")
    parser.add_argument("--kinds", nargs="+", choices=list(IndexKind), default=["flat", "sq8", "ivf", "hnsw"])
    parser.add_argument("--codes", action="store_true", help="only 8-bit codes, over parts of the names")
    options = parser.parse_args()
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    encoder = load_encoder(default_encoder_folder(), device="cpu", max_tokens=MAX_TOKENS)
    names = names_of_kb()
    names += recombined(names, max(0, options.names - len(names)))
    if options.vectors:
        shards = [np.load(path) for path in sorted(options.vectors.glob("*.npy"))]
        vectors = np.concatenate([EmbeddingCache(encoder).vectors(names), *shards])
        print(f"{len(names):,} names from the cache and {sum(map(len, shards)):,} vectors of the folder")
    else:
        encoding, vectors = spent(lambda: EmbeddingCache(encoder).vectors(names))
        print(f"{len(names):,} names encoded, those that were not in the cache, in {encoding:.0f} s")
    asked = encoder.encode(queries(QUERIES))
    if options.codes:
        codes(vectors, asked)
        return
    exact = VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=IndexKind.FLAT)).search(asked, K)[1]
    print("| names | kind | build | size | recall@64 of mentions | of its own names | one query p50 / p95 |")
    for kind in options.kinds:
        print(measure(IndexKind(kind), vectors, asked, exact), flush=True)


if __name__ == "__main__":
    main()
