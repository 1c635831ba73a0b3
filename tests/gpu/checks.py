"""What a GPU must give before anything is trained on it: the same vectors, the same neighbours, and how fast it is.

Everything runs on a processor too, where the device is compared with itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from models.core.device import choose_device
from models.encoders.encoders import Encoder, load_encoder
from models.linker.build import NAMES_TOKENS
from models.vectors import index as search
from tests.gpu.material import Material
from tests.gpu.synonyms import Learning, learn

COMPARED, QUERIES, NEIGHBOURS = 2000, 1000, 64
EQUAL = 1e-6
LONG_TOKENS, LONG_TEXTS = 128, 2048
FORMATS = (("float32", "highest", "fp32"), ("TF32", "high", "fp32"), ("bf16", "high", "bf16"), ("fp16", "high", "fp16"))
"""Name, torch's precision of float32 products, the encoder's number format."""


def vectors(material: Material, device: str) -> dict[str, Any]:
    """Names encoded on the processor in float32 against the same on the device in each number format.

    For each: the smallest and the mean cosine, the largest difference of a number, and the share of names whose nearest
    other name is the same.
    """
    names = list(material.kb.names)
    some = names[:: max(1, len(names) // COMPARED)][:COMPARED]
    exact = load_encoder(material.encoder, device="cpu", max_tokens=NAMES_TOKENS).encode(some)
    nearest, found = _nearest(exact), {}
    for name, products, precision in _formats(device):
        with products_in(products):
            own = _encoder(material, device, precision, products).encode(some)
        cosines = (own * exact).sum(1)
        found[name] = {
            "smallest_cosine": round(float(cosines.min()), 7),
            "mean_cosine": round(float(cosines.mean()), 7),
            "largest_difference": float(f"{np.abs(own - exact).max():.3g}"),
            "same_nearest": round(float((_nearest(own) == nearest).mean()), 4),
        }
    return {"names": len(some), "formats": found}


def neighbours(material: Material, device: str) -> dict[str, Any]:
    """The nearest names of some by FAISS and by torch, on the processor and on the device, against exact search.

    For each: the share of neighbours that are as near as the exact ones (there are names with equal vectors), the
    largest difference of a score, queries a second. What is not there is said.
    """
    names = list(material.kb.names)
    with products_in("highest"):
        matrix = _encoder(material, device, "fp32", "highest").encode(names)
    queries = matrix[:: max(1, len(names) // QUERIES)][:QUERIES]
    k = min(NEIGHBOURS, len(names))
    index = search.VectorIndex.build(matrix, plan=search.plan_index(*matrix.shape, kind=search.IndexKind.FLAT))
    scores, _ = index.search(queries, k)
    ways: dict[str, Callable[[], tuple[Any, Any]]] = {
        "FAISS on the processor": lambda: index.index.search(queries, k),
        "torch on the processor": lambda: index.search(queries, k),
    }
    notes = []
    if device.startswith("cuda"):
        there = torch.from_numpy(matrix).to(device)
        ways["torch on the GPU"] = _block(search.Blocks(there, search._rounded_product, search.MAX_K), queries, k)
        if search.gpu_count():
            ways["FAISS on the GPU"] = _block(search.Blocks(there, search._brute_force, search.MAX_K), queries, k)
        else:
            notes.append(f"FAISS {search.faiss.__version__} was built for the processor: faiss-gpu is not compared.")
    else:
        notes.append("There is no GPU.")
    found = {}
    for name, way in ways.items():
        way()
        begun = time.perf_counter()
        own_scores, own_rows = way()
        seconds = time.perf_counter() - begun
        found[name] = {
            "equally_near": round(float((_exact(queries, matrix, own_rows) >= scores - EQUAL).mean()), 5),
            "largest_difference": float(f"{np.abs(np.asarray(own_scores) - scores).max():.3g}"),
            "queries_a_second": round(len(queries) / max(seconds, 1e-9)),
        }
    return {"vectors": len(matrix), "queries": len(queries), "neighbours": k, "ways": found, "notes": notes}


def encoding(material: Material, device: str, *, names: int) -> dict[str, Any]:
    """Names a second, and texts of LONG_TOKENS tokens a second, in each number format; the memory taken at most."""
    every = list(material.kb.names)
    some = every[:: max(1, len(every) // names)][:names]
    found = {}
    for name, products, precision in _formats(device):
        encoder = _encoder(material, device, precision, products, tokens=LONG_TOKENS)
        ids = encoder.token_ids(some[: max(1, min(names, LONG_TEXTS))])
        full = [(own * LONG_TOKENS)[:LONG_TOKENS] for own in ids]
        with products_in(products):
            encoder.encode(some[:64])
            of_names = _rate(lambda encoder=encoder: encoder.encode(some), len(some))
            of_texts = _rate(lambda encoder=encoder, full=full: encoder.encode_ids(full), len(full))
        found[name] = {"names_a_second": of_names, "texts_a_second": of_texts}
    return {"names": len(some), "formats": found, "texts_a_second": _least(found, "names_a_second"), **_memory(device)}


def training(material: Material, device: str, *, steps: int, pairs: int) -> dict[str, Any]:
    """Names a second, forward and backward, of the names' task in float32 (TF32 on a GPU) and in bf16."""
    found: dict[str, Any] = {}
    for precision in ("fp32", "bf16") if device.startswith("cuda") else ("fp32",):
        encoder = _encoder(material, device, "fp32", "high")
        learning = Learning(pairs=pairs, epochs=100, max_steps=steps, precision=precision)
        result, taught = learn(encoder, material.kb, learning)
        texts = result.steps * min(taught, learning.batch_size) * 10  # a mention, a gold name, 8 rivals
        found[precision] = {
            "texts_a_second": round(texts / max(result.seconds, 1e-9)),
            "steps_a_second": round(result.steps / max(result.seconds, 1e-9), 2),
            "last_loss": round(result.losses[-1], 4) if result.losses else None,
        }
    return {"steps": steps, "formats": found, "texts_a_second": _least(found, "texts_a_second"), **_memory(device)}


@contextmanager
def products_in(precision: str) -> Iterator[None]:
    """Products of float32 matrices "highest" (exact) or "high" (TF32 on a GPU); as it was afterwards."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _encoder(material: Material, device: str, precision: str, products: str, *, tokens: int = NAMES_TOKENS) -> Encoder:
    """The material's encoder; choosing a GPU turns TF32 on, so the setting of products is put back."""
    encoder = load_encoder(material.encoder, device=choose_device(device, precision=precision), max_tokens=tokens)
    torch.set_float32_matmul_precision(products if device.startswith("cuda") else "highest")
    return encoder


def _formats(device: str) -> tuple[tuple[str, str, str], ...]:
    """On a processor half precision is emulated, and slow: float32 alone."""
    return FORMATS if device.startswith("cuda") else FORMATS[:1]


def _nearest(own: np.ndarray) -> np.ndarray:
    scores = own @ own.T
    np.fill_diagonal(scores, -np.inf)
    nearest: np.ndarray = scores.argmax(1)
    return nearest


def _exact(queries: np.ndarray, matrix: np.ndarray, rows: Any) -> np.ndarray:
    """(queries, k) inner products with the given rows."""
    found: np.ndarray = np.einsum("qd,qkd->qk", queries, matrix[np.asarray(rows)])
    return found


def _block(blocks: search.Blocks, queries: np.ndarray, k: int) -> Callable[[], tuple[Any, Any]]:
    return lambda: blocks.search(queries, k, (0, len(blocks.vectors)))


def _rate(work: Callable[[], object], count: int) -> int:
    begun = time.perf_counter()
    work()
    return round(count / max(time.perf_counter() - begun, 1e-9))


def _least(found: dict[str, Any], key: str) -> int:
    return int(min(one[key] for one in found.values()))


def _memory(device: str) -> dict[str, float]:
    return {"gpu_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2)} if device.startswith("cuda") else {}
