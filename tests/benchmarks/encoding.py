"""How fast names become vectors, against sentence-transformers with its defaults; from the repository's root:

    .venv/bin/python -m tests.benchmarks.encoding                     # speed of each number format, and of the cache
    .venv/bin/python -m tests.benchmarks.encoding --names 2000 --formats fp32 int8
    .venv/bin/python -m tests.benchmarks.encoding --recall int8       # does a format change what is found?

Speed: the same names, a random sample of the knowledge base with a fixed seed, and the same weights; tokenisation is
included; the peers take turns in one process on the same threads, and the ratio is the median over the rounds.

Recall: two linkers over the whole knowledge base, names encoded in float32 and in the other format, mentions in
float32, on train documents of BC5CDR. The difference of recall@1 has a paired bootstrap interval over documents.
The first run encodes all names in the other format, minutes on two cores; later ones find them in the cache.
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

from models.build import build_untrained
from models.bundle import new_staging, publish
from models.cache import EmbeddingCache
from models.candidates import NAMES
from models.default_encoder import default_encoder_folder
from models.encoders import load_encoder
from models.linker import Linker
from tests.benchmarks.linker_bc5cdr import Corpus, read_pubtator

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


def recall(precision: str, *, documents: int) -> None:
    train = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt")
    chosen = sorted(random.Random(0).sample(range(len(train.documents)), documents))
    corpus = Corpus(tuple(train.documents[number] for number in chosen), train.gold)
    outcomes = {form: hits(form, corpus) for form in ("fp32", precision)}
    for what in outcomes["fp32"]:
        before, after = outcomes["fp32"][what], outcomes[precision][what]
        low, high = paired_interval(before, after)
        first, second = (100 * whole[:, 0].sum() / whole[:, 1].sum() for whole in (before, after))
        print(
            f"{what}: recall@1 {first:.2f} in fp32, {second:.2f} in {precision}: {second - first:+.2f} points "
            f"(95 %: {low:+.2f} to {high:+.2f}; {documents} documents, {int(before[:, 1].sum())} mentions)"
        )


def hits(precision: str, corpus: Corpus) -> dict[str, NDArray[np.int64]]:
    """(documents, 2) found and all in-KB mentions, by the whole linker and by names alone."""
    with tempfile.TemporaryDirectory() as name:
        staging = new_staging(Path(name))
        started = time.perf_counter()
        for _ in build_untrained(KB, staging, precision=precision):
            pass
        print(f"bundle with names in {precision}: {time.perf_counter() - started:.0f} s")
        linker = Linker.load(publish(staging).path, device="cpu")
        gold = corpus.resolved(linker)
        place = {document.key: row for row, document in enumerate(corpus.documents)}
        counts = {what: np.zeros((len(place), 2), dtype=np.int64) for what in ("whole linker", "names alone")}
        for scored in linker.score(corpus.documents):
            wanted = gold[scored.document.key, scored.query.key]
            if wanted:
                candidates = linker.finish(scored).candidates
                dense = scored.table.scores[NAMES]
                first = candidates[0].entity_id if candidates else ""
                by_names = scored.entity_ids[int(dense.argmax())] if len(dense) else ""
                row = place[scored.document.key]
                counts["whole linker"][row] += (first in wanted, 1)
                counts["names alone"][row] += (by_names in wanted, 1)
    return counts


def paired_interval(before: NDArray[np.int64], after: NDArray[np.int64], *, draws: int = 10_000) -> tuple[float, float]:
    """95 % of the difference in points, documents drawn with replacement, the same for both."""
    drawn = np.random.default_rng(0).integers(len(before), size=(draws, len(before)))
    mentions = before[drawn, 1].sum(axis=1)
    differences = 100 * (after[drawn, 0].sum(axis=1) - before[drawn, 0].sum(axis=1)) / np.maximum(mentions, 1)
    low, high = np.percentile(differences, (2.5, 97.5))
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=10_000)
    parser.add_argument("--formats", nargs="+", default=["fp32", "int8", "bf16"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--recall", metavar="FORMAT", help="compare what is found with names in this format and in fp32"
    )
    parser.add_argument("--documents", type=int, default=150)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.recall:
        recall(options.recall, documents=options.documents)
        return
    sample = random.Random(0).sample(names_of_kb(), options.names)
    speed(sample, formats=options.formats, rounds=options.rounds)
    second_build(sample)


if __name__ == "__main__":
    main()
