"""Kinds of index over encoded names: cost of building, size, recall, time of one query, memory.

    .venv/bin/python -m tests.benchmarks.scale.index_plan                              # the real names
    .venv/bin/python -m tests.benchmarks.scale.index_plan --names 1000000 --kinds flat sq8 pq4
    .venv/bin/python -m tests.benchmarks.scale.index_plan --names 10000000 --vectors FOLDER --keep WORK --kinds pq4 sq8
    .venv/bin/python -m tests.benchmarks.scale.index_plan --codes                      # what 8-bit codes lose, by size

Beyond the real names, names are made of them: one word replaced by a word of another name, or the head of one joined to
the tail of another; half of each. They are encoded like the real ones, with fixed seeds. ``--vectors`` reads float16
arrays (n, 384) of such names, made before, instead; they stay on the disk. Queries are mentions of BC5CDR dev as
written. recall@64: the share of the exact nearest 64 among the 64 found.

What was made is kept in ``--keep``, by the number of names: the vectors of real names and queries, the exact answers,
and the indexes. So a run that was stopped goes on, and a second one only searches: once a quiet computer can time it.
Each kind is searched in a process of its own, from its file: its memory is that of this process once every page of the
index has been read. Times are CPU seconds on one thread, which a busy computer changes little, and the clock's.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
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
BLOCK, PAGE = 65_536, 4096


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


class Shards:
    """(n, d) float16 vectors of several arrays, read from their files when they are asked for."""

    def __init__(self, parts: list[NDArray[np.float16]], rows: int) -> None:
        self._parts, self._starts = parts, np.cumsum([0, *map(len, parts)])
        total = int(self._starts[-1])
        self.shape = (min(rows or total, total), int(parts[0].shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, wanted: Any) -> NDArray[np.float16]:
        rows = np.arange(*wanted.indices(len(self))) if isinstance(wanted, slice) else np.asarray(wanted) % len(self)
        found = np.empty((len(rows), self.shape[1]), dtype=np.float16)
        owners = np.searchsorted(self._starts, rows, side="right") - 1
        for part in np.unique(owners):
            mine = owners == part
            found[mine] = self._parts[part][rows[mine] - self._starts[part]]
        return found


def exact_rows(vectors: Any, asked: NDArray[np.float32]) -> NDArray[np.int64]:
    """(q, K) rows of the exact nearest, block by block."""
    scores, rows = torch.zeros((len(asked), 0)), torch.zeros((len(asked), 0), dtype=torch.int64)
    for start in range(0, len(vectors), BLOCK):
        block = torch.from_numpy(vectors[start : start + BLOCK].astype(np.float32))
        best = torch.topk(torch.from_numpy(asked) @ block.T, min(K, len(block)))
        scores, rows = torch.cat([scores, best.values], 1), torch.cat([rows, best.indices + start], 1)
        kept = torch.topk(scores, min(K, scores.shape[1]))
        scores, rows = kept.values, rows.gather(1, kept.indices)
    return np.asarray(rows.numpy(), dtype=np.int64)


def build(kind: IndexKind, vectors: Any, path: Path) -> None:
    """Into a file, unless it is there; the seconds of its build beside it."""
    if not path.is_file():
        seconds, index = spent(lambda: VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=kind)))
        path.with_suffix(".seconds").write_text(json.dumps(seconds))
        index.save(path)


def measure(path: Path, asked: NDArray[np.float32], exact: NDArray[np.int64]) -> str:
    """In a process of its own: a row of the table."""
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    index = VectorIndex.load(path)
    recall = np.mean(
        [len(set(own) & set(best)) / K for own, best in zip(index.search(asked, K)[1], exact, strict=True)]
    )
    works = [partial(index.search, query[None], K) for query in asked]
    cells = [_percentiles([spent(work)[0] for work in works])]
    for threads in (1, 2):
        torch.set_num_threads(threads)
        faiss.omp_set_num_threads(threads)
        cells.append(_percentiles([_clock(work) for work in works]))
    if index.plan.kind is IndexKind.PQ4:
        index._stages._codes[:: max(1, PAGE // index.dimension)].max()  # every page of the mapped codes
    of_names = f"{100 * index.plan.recall:.1f} % with {index.plan.probes:,} read" if index.plan.probes else "–"
    seconds = json.loads(path.with_suffix(".seconds").read_text())
    return (
        f"| {len(index):,} | {index.plan.kind.value} | {seconds:.0f} s | {path.stat().st_size / 2**20:,.0f} MiB | "
        f"{100 * recall:.2f} % | {of_names} | {' | '.join(cells)} | {_resident():,.0f} MiB |"
    )


def _percentiles(seconds: list[float]) -> str:
    p50, p95 = 1000 * np.percentile(seconds, [50, 95])
    return f"{p50:.2f} / {p95:.2f} ms"


def _clock(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _resident() -> float:
    """MiB of this process, mapped pages too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


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


def made(path: Path, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """The array of a file, mapped; made if the file is missing."""
    if not path.is_file():
        part = path.with_suffix(".part.npy")
        np.save(part, make())
        part.replace(path)
    return np.asarray(np.load(path, mmap_mode="r"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=0, help="real and recombined names; 0: the real ones, or all")
    parser.add_argument("--vectors", type=Path, help="a folder of float16 arrays (n, 384), instead of encoding")
    parser.add_argument("--keep", type=Path, help="a folder for what is made; None: a temporary one")
    parser.add_argument("--kinds", nargs="+", choices=list(IndexKind), default=["flat", "sq8", "ivf", "hnsw", "pq4"])
    parser.add_argument("--codes", action="store_true", help="only 8-bit codes, over parts of the names")
    options = parser.parse_args()
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        work = options.keep or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        encoder = cache(lambda: load_encoder(default_encoder_folder(), device="cpu", max_tokens=MAX_TOKENS))
        asked = np.array(made(work / "queries.npy", lambda: encoder().encode(queries(QUERIES))))
        parts = [made(work / "real.npy", lambda: EmbeddingCache(encoder()).vectors(names_of_kb()))]
        if options.vectors:
            parts += [np.load(path, mmap_mode="r") for path in sorted(options.vectors.glob("[0-9]*[0-9].npy"))]
        elif options.names > len(parts[0]):
            names = names_of_kb()
            names = recombined(names, options.names - len(names))
            parts.append(made(work / f"{options.names}.npy", lambda: EmbeddingCache(encoder()).vectors(names)))
        vectors = Shards(parts, options.names)
        if options.names > len(vectors):
            parser.error(f"there are only {len(vectors):,} vectors")
        if options.codes:
            codes(vectors[:], asked)
            return
        exact = np.array(made(work / f"exact-{len(vectors)}.npy", lambda: exact_rows(vectors, asked)))
        print("| names | kind | build | size | recall@64 of mentions | of its own names | one query, CPU", end=" ")
        print("| by the clock | with two threads | memory |", flush=True)
        for kind in map(IndexKind, options.kinds):
            path = work / f"{kind.value}-{len(vectors)}.faiss"
            build(kind, vectors, path)
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                print(pool.submit(measure, path, asked, exact).result(), flush=True)


if __name__ == "__main__":
    main()
