"""The speed of answering and learning with 190,256 names; run from the repository root on a quiet machine:

    .venv/bin/python -m tests.benchmarks.memory_bc5cdr

One query is a document of one mention; learning one decision includes asking again. The last lines are the time to
learn all train documents, and documents a second over the development set.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from models.linker.linker import Linker
from models.types import DecidedDocument, DocumentInput
from tests.benchmarks.linker_bc5cdr import DATA, Corpus, build, read_pubtator, say

QUERIES = 300


def single(corpus: Corpus) -> list[DocumentInput]:
    """Documents with one of their mentions each, spread over the corpus."""
    every = [DocumentInput(f"{d.key}-{m.key}", d.text, (m,)) for d in corpus.documents for m in d.mentions]
    return every[:: max(1, len(every) // QUERIES)][:QUERIES]


def milliseconds(linker: Linker, documents: list[DocumentInput], *, first: DecidedDocument | None = None) -> np.ndarray:
    """How long each takes, after learning ``first`` again where one is given."""
    taken = []
    for document in documents:
        begun = time.perf_counter()
        if first is not None:
            linker.remember(first)
        list(linker.link([document]))
        taken.append(1000 * (time.perf_counter() - begun))
    return np.asarray(taken)


def tell(name: str, taken: np.ndarray) -> None:
    say(f"{name}: p50 {np.percentile(taken, 50):.0f} ms, p95 {np.percentile(taken, 95):.0f} ms of {len(taken)}")


def main() -> None:
    corpora = {name: read_pubtator(DATA / "bc5cdr" / f"{name}.pubtator.txt") for name in ("train", "dev")}
    with tempfile.TemporaryDirectory() as folder:
        linker = build(Path(folder), ["lexical", "names"])
        gold = corpora["train"].resolved(linker)
        decided = [
            DecidedDocument(d, tuple(tuple(sorted(gold[d.key, m.key])) for m in d.mentions))
            for d in corpora["train"].documents
        ]
        asked = single(corpora["dev"])
        list(linker.link(asked[:5]))
        tell("one query, without memory", milliseconds(linker, asked))
        begun = time.perf_counter()
        linker.remember(*decided)
        say(f"learn {len(decided)} documents, {len(linker.memory):,} decisions: {time.perf_counter() - begun:.1f} s")
        tell("one query, with memory", milliseconds(linker, asked))
        tell("one decision and the next query", milliseconds(linker, asked[:100], first=decided[0]))
        begun = time.perf_counter()
        documents = [DocumentInput(f"dev-{d.key}", d.text, d.mentions) for d in corpora["dev"].documents]
        done = len(list(linker.link(documents)))
        say(f"link {done} documents: {done / (time.perf_counter() - begun):.1f} documents/s")
    say(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
