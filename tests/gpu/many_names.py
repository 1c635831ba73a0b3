"""Millions of names: real ones, and others made of their words, encoded on the device and searched by every means.

Names are made and encoded by several processes, each with its own seed; vectors are kept as float16. What is measured
about an index is what a curator waits for: one query after the other, on as many threads as said. A mention counts as
found where one of the nearest 64 names is its entity's (`found`); `same` is the share of the exact nearest 64.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models.core.device import choose_device
from models.encoders.encoders import load_encoder
from models.linker.build import NAMES_TOKENS
from models.vectors import index as search
from models.vectors.index_plan import IndexKind, cell_count
from tests.benchmarks.scale.index_plan import recombined
from tests.gpu.material import Material
from tests.gpu.names_alone import Strings, strings

K, MENTIONS, SHARD, PASSES, SEED = 64, 600, 50_000, 10, 0
READS = (0.002, 0.01, 0.03, 0.1, 0.3, 0.6)
"""Shares of all cells that a search reads."""
THREADS, TIMED, FEW, MUCH = (1, 2), 100, 30, 0.1
"""So many queries are timed, one after the other, but FEW where so MUCH of everything is read."""


def before_timing() -> None:
    """Called once, before anything is timed: a place to wait until the machine is quiet."""


def measure(material: Material, device: str, *, count: int, processes: int | None = None) -> dict[str, Any]:
    """`count` names in all; exact search, 8-bit codes and cells of 8-bit codes."""
    begun = time.perf_counter()
    names = list(dict.fromkeys(material.kb.names))
    vectors = encoded(material, device, names, count, processes or max(1, min(12, (os.cpu_count() or 2) - 2)))
    found: dict[str, Any] = {"names": len(vectors), "encoding_s": round(time.perf_counter() - begun, 1)}
    places = {name: at for at, name in enumerate(names)}
    asked = strings(material.world.judged, material.kb)
    queries, gold = _queries(material, device, asked, places)
    there = torch.from_numpy(vectors).to(device)
    exact = _nearest(there, queries)
    ways: dict[str, tuple[Callable[[Any], Any], float]] = {}
    built = {}
    for kind in (IndexKind.SQ8, IndexKind.IVF):
        begun = time.perf_counter()
        index = _codes(vectors) if kind is IndexKind.SQ8 else _cells(vectors, there)
        size = len(vectors) * (index.code_size + (8 if kind is IndexKind.IVF else 0))
        built[kind.value] = {"build_s": round(time.perf_counter() - begun, 1), "gib": round(size / 2**30, 2)}
        if kind is IndexKind.SQ8:
            ways["8-bit codes, all"] = (lambda asked, index=index: index.search(asked, K), 1.0)
            continue
        for share in READS:
            read = max(1, round(share * index.nlist))
            params = search.faiss.SearchParametersIVF(nprobe=read)
            ways[f"{read:,} of {index.nlist:,} cells"] = (
                lambda asked, index=index, params=params: index.search(asked, K, params=params),
                share,
            )
    before_timing()
    rows = [{"way": "exact, on the device", **_shares(exact, exact, gold), **_on_device(there, queries)}]
    for name, (way, share) in ways.items():
        timed = _timed(way, queries[: FEW if share >= MUCH else TIMED])
        rows.append({"way": name, **_shares(way(queries)[1], exact, gold), **timed})
    return {**found, "built": built, "queries": len(queries), "ways": rows}


def encoded(material: Material, device: str, names: list[str], count: int, processes: int) -> np.ndarray:
    """(n, d) float16: the real names in order, then distinct others, about `count` in all; kept in the work folder."""
    folder = material.work / "many"
    folder.mkdir(parents=True, exist_ok=True)
    real = folder / "real.npy"
    if not real.is_file():
        np.save(real, _encoder(material, device).encode(names).astype(np.float16))
    shards = range(-(-max(0, count - len(names)) // SHARD))
    left = [one for one in shards if not (folder / f"{one}.npy").is_file()]
    share = [(material, device, names, folder, left[at::processes]) for at in range(min(processes, len(left)))]
    with ProcessPoolExecutor(max(1, len(share)), mp_context=get_context("spawn")) as pool:
        list(pool.map(_make, share))
    keys = [np.load(folder / f"{one}-keys.npy") for one in shards]
    kept, seen = [np.load(real)], np.unique(np.concatenate(keys), return_index=True)[1] if keys else np.empty(0, int)
    fresh = np.zeros(sum(map(len, keys)), dtype=bool)
    fresh[seen] = True
    for at, one in enumerate(shards):
        start = sum(map(len, keys[:at]))
        kept.append(np.load(folder / f"{one}.npy")[fresh[start : start + len(keys[at])]])
    return np.concatenate(kept)[:count]


def _make(share: tuple[Material, str, list[str], Path, Sequence[int]]) -> None:
    """In a process of its own: make, encode and keep these shards."""
    material, device, names, folder, shards = share
    torch.set_num_threads(1)
    encoder = _encoder(material, device)
    for one in shards:
        made = recombined(names, SHARD, seed=SEED + 1 + one)
        keys = [int.from_bytes(hashlib.blake2b(name.encode(), digest_size=7).digest(), "big") for name in made]
        np.save(folder / f"{one}-keys.npy", np.array(keys, dtype=np.int64))
        part = folder / f"{one}.part.npy"
        np.save(part, encoder.encode(made).astype(np.float16))
        part.replace(folder / f"{one}.npy")


def _encoder(material: Material, device: str) -> Any:
    precision = "fp16" if device.startswith("cuda") else "fp32"
    return load_encoder(material.encoder, device=choose_device(device, precision=precision), max_tokens=NAMES_TOKENS)


def _queries(
    material: Material, device: str, asked: Strings, places: dict[str, int]
) -> tuple[np.ndarray, list[frozenset[int]]]:
    """Vectors of some mentions as written, distinct, and the rows of their entities' names."""
    kb = material.kb
    first = {text: at for at, text in reversed(list(enumerate(asked.texts)))}
    some = list(first)[:: max(1, len(first) // MENTIONS)][:MENTIONS]
    starts = kb.name_starts
    gold = [
        frozenset(places[name] for row in asked.gold[first[text]] for name in kb.names[starts[row] : starts[row + 1]])
        for text in some
    ]
    return _encoder(material, device).encode(some), gold


def _nearest(there: torch.Tensor, queries: np.ndarray) -> np.ndarray:
    """(q, K) rows of the exact nearest, by products in float32."""
    asked = torch.from_numpy(queries).to(there.device)
    parts = []
    for start in range(0, len(there), SHARD):
        best = torch.topk(asked @ there[start : start + SHARD].float().T, min(K, len(there) - start))
        parts.append((best.values, best.indices + start))
    best = torch.topk(torch.cat([one for one, _ in parts], 1), K).indices
    rows: np.ndarray = torch.cat([one for _, one in parts], 1).gather(1, best).cpu().numpy()
    return rows


def _codes(vectors: np.ndarray) -> Any:
    index = search.faiss.IndexScalarQuantizer(
        vectors.shape[1], search.faiss.ScalarQuantizer.QT_8bit, search.faiss.METRIC_INNER_PRODUCT
    )
    index.train(vectors[:: max(1, len(vectors) // 100_000)].astype(np.float32))
    for start in range(0, len(vectors), SHARD):
        index.add(vectors[start : start + SHARD].astype(np.float32))
    return index


def _cells(vectors: np.ndarray, there: torch.Tensor) -> Any:
    """As FAISS trains it, with centres and each vector's cell found on the device."""
    faiss, d = search.faiss, vectors.shape[1]
    sample = there[:: max(1, len(there) // (39 * cell_count(len(there))))].float()
    centres = _centres(sample, cell_count(len(there)))
    quantizer = faiss.IndexFlatIP(d)
    quantizer.add(centres.cpu().numpy())
    index = faiss.IndexIVFScalarQuantizer(
        quantizer, d, len(centres), faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )
    index.train(np.ascontiguousarray(sample[:100_000].cpu().numpy()))
    for start in range(0, len(vectors), SHARD):
        own = np.ascontiguousarray(vectors[start : start + SHARD].astype(np.float32))
        cell = _cell(there[start : start + SHARD].float(), centres).cpu().numpy().astype(np.int64)
        index.add_core(len(own), faiss.swig_ptr(own), None, faiss.swig_ptr(cell))
    return index


def _centres(sample: torch.Tensor, number: int) -> torch.Tensor:
    """Spherical k-means."""
    draw = torch.Generator().manual_seed(SEED)
    centres = sample[torch.randperm(len(sample), generator=draw)[:number].to(sample.device)]
    for _ in range(PASSES):
        cell = _cell(sample, centres)
        sums = torch.zeros_like(centres).index_add_(0, cell, sample)
        empty = torch.bincount(cell, minlength=number) == 0
        centres = torch.nn.functional.normalize(torch.where(empty[:, None], centres, sums))
    return centres


def _cell(vectors: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    parts = [(vectors[at : at + SHARD] @ centres.T).argmax(1) for at in range(0, len(vectors), SHARD)]
    return torch.cat(parts)


def _shares(own: np.ndarray, exact: np.ndarray, gold: Sequence[frozenset[int]]) -> dict[str, float]:
    same = [len(set(one) & set(best)) / len(best) for one, best in zip(own.tolist(), exact.tolist(), strict=True)]
    found = [bool(rows & set(one)) for one, rows in zip(own.tolist(), gold, strict=True)]
    return {"same": round(float(np.mean(same)), 4), "found": round(float(np.mean(found)), 4)}


def _timed(way: Callable[[Any], Any], queries: np.ndarray) -> dict[str, list[float]]:
    """Milliseconds of one query, p50 and p95, by threads."""
    found = {}
    for threads in THREADS:
        search.faiss.omp_set_num_threads(threads)
        found[f"ms_{threads}"] = _milliseconds(lambda one: way(one[None]), queries)
    search.faiss.omp_set_num_threads(os.cpu_count() or 1)
    return found


def _on_device(there: torch.Tensor, queries: np.ndarray) -> dict[str, list[float]]:
    """The program's exact search over float32 vectors on a GPU, the query and the answer in the computer's memory."""
    if there.device.type != "cuda":
        return {}
    blocks = search.Blocks(there.float(), search._rounded_product, search.MAX_K)
    blocks.search(queries[:1], K, (0, len(there)))
    return {"ms": _milliseconds(lambda one: blocks.search(one[None], K, (0, len(there))), queries[:TIMED])}


def _milliseconds(work: Callable[[np.ndarray], Any], queries: np.ndarray) -> list[float]:
    spent = []
    for one in queries:
        begun = time.perf_counter()
        work(one)
        spent.append(1000 * (time.perf_counter() - begun))
    return [round(float(np.percentile(spent, share)), 2) for share in (50, 95)]
