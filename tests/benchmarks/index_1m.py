"""One million vectors of 384 numbers in each kind of index: the cost of searching, adding, changing and removing.

    .venv/bin/python -m tests.benchmarks.index_1m                             # all kinds
    .venv/bin/python -m tests.benchmarks.index_1m --kinds flat sq8 --rows 200000

The vectors are generated: groups of near ones, as the names of one entity are. Each kind is built in one process and
opened, memory-mapped, in a fresh one, so that its memory is that in use. Overlap is with the exact top 64.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DIMENSION, K, QUERIES, CHANGES = 384, 64, 60, 50
GROUP = 20
KINDS = ("flat", "sq8", "pq4")
TYPES = ("Disease", "Chemical")


def generate(folder: Path, rows: int) -> None:
    """Unit vectors in groups of ``GROUP``, queries near some of them, and the exact answers."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(96, DIMENSION)).astype(np.float32)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, (rows, DIMENSION))
    for start in range(0, rows, 50_000):
        count = min(50_000, rows - start)
        centres = np.repeat(rng.normal(size=(-(-count // GROUP), 96)), GROUP, axis=0)[:count]
        vectors[start : start + count] = _unit((centres + 0.6 * rng.normal(size=centres.shape)) @ mixing)
    near = vectors[rng.choice(rows, QUERIES)] + 0.4 * _unit(rng.normal(size=(QUERIES, DIMENSION)))
    queries = _unit(near)
    np.save(folder / "queries.npy", queries)
    best = np.zeros((QUERIES, 0)), np.zeros((QUERIES, 0), dtype=np.int64)
    for start in range(0, rows, 50_000):
        scores = np.concatenate([best[0], queries @ vectors[start : start + 50_000].T], axis=1)
        numbers = np.broadcast_to(np.arange(start, min(start + 50_000, rows)), (QUERIES, min(50_000, rows - start)))
        numbers = np.concatenate([best[1], numbers], axis=1)
        kept = np.argpartition(-scores, K, axis=1)[:, :K]
        best = np.take_along_axis(scores, kept, axis=1), np.take_along_axis(numbers, kept, axis=1)
    np.save(folder / "exact.npy", best[1])


def build(folder: Path, kind: str) -> dict[str, float]:
    from models.vectors.index import VectorIndex
    from models.vectors.index_plan import parse_kind, plan_index

    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    seconds, index = timed(lambda: VectorIndex.build(vectors, plan=plan_index(*vectors.shape, kind=parse_kind(kind))))
    saving, _ = timed(lambda: index.save(folder / f"{kind}.faiss"))
    return {"build s": seconds, "write s": saving, "file MiB": (folder / f"{kind}.faiss").stat().st_size / 2**20}


def serve(folder: Path, kind: str) -> dict[str, float]:
    from models.vectors.grown import grown
    from models.vectors.index import VectorIndex
    from models.vectors.index_files import check_index

    queries, exact = np.load(folder / "queries.npy"), np.load(folder / "exact.npy")
    rng = np.random.default_rng(1)
    opening, base = timed(lambda: VectorIndex.load(folder / f"{kind}.faiss"))
    base.search(queries[:2], K)  # the first pages are read
    figures = {"open ms": 1000 * opening} | percentiles("query", lambda at: base.search(queries[at : at + 1], K))
    _, found = base.search(queries, K)
    figures["overlap"] = float(np.mean([len(set(a) & set(b)) / K for a, b in zip(found, exact, strict=True)]))
    half = ((len(base) // 2, len(base)),)
    figures |= percentiles("half query", lambda at: base.search(queries[at : at + 1], K, ranges=half))
    figures["RSS MiB"] = memory()
    new, rows = _unit(rng.normal(size=(CHANGES, DIMENSION))), rng.choice(len(base), CHANGES, replace=False)
    states = [grown(base, new[:0], rows[:0])]
    figures |= percentiles("change", lambda at: states.append(grown(states[-1], new[at:][:1], rows[at:][:1])), CHANGES)
    figures |= percentiles("changed query", lambda at: states[-1].search(queries[at : at + 1], K))
    figures["full check s"] = timed(lambda: check_index(folder / f"{kind}.faiss"))[0]
    return figures


def plain_faiss(folder: Path) -> dict[str, float]:
    """What the first single add after a bulk load costs without a delta."""
    import faiss

    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(np.ascontiguousarray(vectors))  # at once: no room is left behind them
    one = np.ascontiguousarray(vectors[:1])
    return {"first add ms": 1000 * timed(lambda: index.add(one))[0], "RSS MiB": memory()}


def entities(folder: Path, kind: str) -> dict[str, float]:
    """One entity added, changed, removed in a knowledge base of so many, names encoded by the default encoder."""
    from models.core.kb import KnowledgeBase
    from models.core.queries import MentionQuery, Variant
    from models.encoders.default_encoder import default_encoder_folder
    from models.encoders.encoders import load_encoder
    from models.linker.overlay import change_entities
    from models.linker.stages import Stages
    from models.names.candidates import NAMES, NameCandidates
    from models.names.names import NamesRetriever
    from models.rankers.ranker import RerankRule
    from models.types import EntityRecord
    from models.vectors.index import VectorIndex

    index = VectorIndex.load(folder / f"{kind}.faiss")
    half = len(index) // 2
    kb = KnowledgeBase(tuple(EntityRecord(f"E{n}", f"name {n}", (), (TYPES[n >= half],)) for n in range(len(index))))
    encoder = load_encoder(default_encoder_folder(), device="cpu", max_tokens=64)
    names = NameCandidates(kb, {NAMES: NamesRetriever(encoder, index)}, np.zeros(len(index), dtype=bool))
    stages = [Stages(kb, names, (), None, RerankRule(), {}, ())]

    def find(at: int) -> int:
        query = MentionQuery("m", "", "", (Variant(f"mention {at}", 1.0),), TYPES[:1])
        return sum(len(item.rows) for item in stages[0].names.find([query], k=K).values())

    def put(at: int) -> None:
        record = EntityRecord(f"N{at}", f"new entity {at}", (f"synonym of {at}", f"another {at}"), TYPES[:1])
        stages[0] = change_entities(stages[0], upsert=[record])

    def change(at: int) -> None:
        stages[0] = change_entities(stages[0], upsert=[EntityRecord(f"E{at}", f"renamed {at}", (), TYPES[1:])])

    def remove(at: int) -> None:
        stages[0] = change_entities(stages[0], remove=[f"E{at + half}"])

    find(0)
    kb.prepare()
    figures = percentiles("query", find, 30)
    figures |= percentiles("encode 3 names", lambda at: encoder.encode([f"a {at}", f"one more {at}", f"b {at}"]), 30)
    figures["first upsert ms"] = 1000 * timed(lambda: put(0))[0]
    figures["next query ms"] = 1000 * timed(lambda: find(1))[0]
    for name, work in (("upsert", put), ("change", change), ("remove", remove)):
        figures |= percentiles(name, work, 30)
    return figures | percentiles("changed query", find, 30) | {"RSS MiB": memory()}


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def percentiles(name: str, work: Callable[[int], object], times: int = QUERIES) -> dict[str, float]:
    seconds = [timed(lambda at=at: work(at))[0] for at in range(times)]
    p50, p95 = 1000 * np.percentile(seconds, [50, 95])
    return {f"{name} p50 ms": float(p50), f"{name} p95 ms": float(p95)}


def memory() -> float:
    """MiB in memory, mapped pages that were read included."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def _unit(vectors: np.ndarray) -> np.ndarray:
    found: np.ndarray = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return found


def report(rows: int, kinds: tuple[str, ...]) -> None:
    """Print the tables; each measurement in a process of its own."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("CURATOR_BENCH_FOLDER")) as name:
        folder = Path(name)
        generate(folder, rows)
        print(f"{rows:,} × {DIMENSION} vectors, one query at a time, top {K}")
        columns = {}
        for kind in kinds:
            columns[kind] = _child(folder, "build", kind) | _child(folder, "serve", kind)
        table(columns)
        print("\nplain FAISS, flat, in memory: ", _line(_child(folder, "plain", "flat")))
        print(f"one entity of {rows:,}, {kinds[0]}, names encoded too: ", _line(_child(folder, "entities", kinds[0])))


def table(columns: dict[str, dict[str, float]]) -> None:
    names = list(dict.fromkeys(name for column in columns.values() for name in column))
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name in names:
        cells = (_number(column[name]) if name in column else "–" for column in columns.values())
        print(f"| {name} | " + " | ".join(cells) + " |")


def _child(folder: Path, step: str, kind: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.index_1m", "--step", step, "--kinds", kind, "--folder", folder]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _line(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {_number(value)}" for name, value in figures.items())


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--step", choices=("build", "serve", "plain", "entities"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    kind = wanted.kinds[0]
    steps: dict[str, Callable[[], dict[str, float]]] = {
        "build": lambda: build(wanted.folder, kind),
        "serve": lambda: serve(wanted.folder, kind),
        "plain": lambda: plain_faiss(wanted.folder),
        "entities": lambda: entities(wanted.folder, kind),
    }
    if wanted.step:
        print(json.dumps(steps[wanted.step]()))
    else:
        report(wanted.rows, tuple(wanted.kinds))


if __name__ == "__main__":
    main()
