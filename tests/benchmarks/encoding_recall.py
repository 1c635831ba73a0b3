"""The effect of a number format for names on recall, on train documents of BC5CDR; from the repository's root:

    .venv/bin/python -m tests.benchmarks.encoding_recall int8          # names alone, under a minute
    .venv/bin/python -m tests.benchmarks.encoding_recall bf16 --whole  # the whole linker; encodes all names first

Mentions are always encoded in float32. By names alone: the eight names that are nearest in float32 to each mention are
encoded in the other format and ordered again, so that only a mention's own neighbours can change places. The whole
linker: two bundles over the whole knowledge base; the first run takes minutes, later ones find the names in the cache.
The difference of recall@1 has a paired bootstrap interval over documents: a format becomes the default only where that
lies within 0.2 points.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase, read_kb
from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import Encoder, load_encoder
from models.linker.build import build_untrained
from models.linker.bundle import new_staging, publish
from models.linker.linker import Linker
from models.types import EntityRecord
from models.vectors.index import VectorIndex
from tests.benchmarks.linker_bc5cdr import DATA, Corpus, read_pubtator, resolve

KB = DATA / "kb" / "mesh_medic.jsonl.gz"
MAX_TOKENS = 64
NEAR = 8
Counts = NDArray[np.int64]
Query = tuple[str, tuple[str, ...]]


class KnownIds:
    """What `resolve` asks of a linker, without one."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    def entity(self, entity_id: str) -> EntityRecord | None:
        primary = self.kb.resolved.get(entity_id)
        return None if primary is None else self.kb.entities[self.kb.rows[primary]]


def encoder(precision: str) -> Encoder:
    return load_encoder(default_encoder_folder(), device="cpu", precision=precision, max_tokens=MAX_TOKENS)


def names_alone(precision: str, corpus: Corpus) -> tuple[Counts, Counts]:
    """(documents, 2) found and all in-KB mentions: in float32, and in the other format."""
    kb = read_kb(KB)
    plain = encoder("fp32")
    vectors = EmbeddingCache(plain).vectors(kb.names)
    queries = list(dict.fromkeys((m.surface(d.text), m.types) for d in corpus.documents for m in d.mentions))
    mentions = plain.encode([surface for surface, _ in queries])
    near = nearest(queries, mentions, VectorIndex.build(vectors), kb)
    rows, place = np.unique(near, return_inverse=True)
    changed = encoder(precision).encode([kb.names[row] for row in rows]).astype(vectors.dtype)
    cosines = (changed.astype(np.float32) * vectors[rows].astype(np.float32)).sum(axis=1)
    print(f"{len(queries):,} distinct mentions, {len(rows):,} names near them: cosine {cosines.mean():.4f} on average")
    scores = np.einsum("qd,qkd->qk", mentions, changed.astype(np.float32)[place.reshape(near.shape)])
    first = dict(zip(queries, near[:, 0], strict=True))
    other = {query: row[at] for query, row, at in zip(queries, near, scores.argmax(axis=1), strict=True)}
    return count(first, corpus, kb), count(other, corpus, kb)


def nearest(queries: list[Query], mentions: NDArray[np.float32], index: VectorIndex, kb: KnowledgeBase) -> Counts:
    """(queries, NEAR) rows of the names nearest to each, best first."""
    near = np.zeros((len(queries), NEAR), dtype=np.int64)
    for types in {types for _, types in queries}:
        at = [number for number, query in enumerate(queries) if query[1] == types]
        near[at] = index.search(mentions[at], NEAR, ranges=kb.name_ranges(types))[1]
    return near


def count(first: dict[Query, int], corpus: Corpus, kb: KnowledgeBase) -> Counts:
    counts = np.zeros((len(corpus.documents), 2), dtype=np.int64)
    known = KnownIds(kb)
    for row, document in enumerate(corpus.documents):
        for mention in document.mentions:
            gold = resolve(corpus.gold[document.key, mention.key], known)  # type: ignore[arg-type]
            if gold:
                name = first[mention.surface(document.text), mention.types]
                counts[row] += (kb.entities[kb.name_entity[name]].id in gold, 1)
    return counts


def whole_linker(precision: str, corpus: Corpus) -> Counts:
    """(documents, 2) found and all in-KB mentions, by a bundle whose names are encoded in this format."""
    counts = np.zeros((len(corpus.documents), 2), dtype=np.int64)
    with tempfile.TemporaryDirectory() as name:
        staging = new_staging(Path(name))
        started = time.perf_counter()
        for _ in build_untrained(KB, staging, precision=precision):
            pass
        print(f"bundle with names in {precision}: {time.perf_counter() - started:.0f} s", flush=True)
        linker = Linker.load(publish(staging).path, device="cpu")
        gold = corpus.resolved(linker)
        for row, answer in enumerate(linker.link(corpus.documents)):
            for mention in answer.mentions:
                wanted = gold[answer.key, mention.key]
                if wanted:
                    found = mention.candidates[0].entity_id if mention.candidates else ""
                    counts[row] += (found in wanted, 1)
    return counts


def report(before: Counts, after: Counts, precision: str) -> None:
    low, high = paired_interval(before, after)
    first, second = (100 * whole[:, 0].sum() / whole[:, 1].sum() for whole in (before, after))
    print(
        f"recall@1 {first:.2f} in fp32, {second:.2f} in {precision}: {second - first:+.2f} points "
        f"(95 %: {low:+.2f} to {high:+.2f}; {len(before)} documents, {int(before[:, 1].sum())} mentions)"
    )


def paired_interval(before: Counts, after: Counts, *, draws: int = 10_000) -> tuple[float, float]:
    """95 % of the difference in points, documents drawn with replacement, the same for both."""
    drawn = np.random.default_rng(0).integers(len(before), size=(draws, len(before)))
    mentions = before[drawn, 1].sum(axis=1)
    differences = 100 * (after[drawn, 0].sum(axis=1) - before[drawn, 0].sum(axis=1)) / np.maximum(mentions, 1)
    low, high = np.percentile(differences, (2.5, 97.5))
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", help="the number format to compare with fp32: int8, bf16 or fp16")
    parser.add_argument("--whole", action="store_true", help="the whole linker instead of names alone")
    parser.add_argument("--documents", type=int, default=150)
    options = parser.parse_args()
    train = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt")
    chosen = sorted(random.Random(0).sample(range(len(train.documents)), options.documents))
    corpus = Corpus(tuple(train.documents[number] for number in chosen), train.gold)
    if options.whole:
        before, after = whole_linker("fp32", corpus), whole_linker(options.format, corpus)
    else:
        before, after = names_alone(options.format, corpus)
    report(before, after, options.format)


if __name__ == "__main__":
    main()
