"""What the word list adds to the characters' list (prototype-triplet paper, section 3.1), on BC5CDR's train documents.

    python -m tests.benchmarks.lexical_words [--documents 150] [--stages lexical names]

For the whole untrained linker: in how many in-KB mentions a gold entity is among all candidates, among the first 64 and
first, with the lexical stage finding by characters, by both lists merged (each cut at half, as the merged list is cut
at k), and by BM25 over words beside the characters or alone. Scores are the characters' cosines in every case.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.core.kb import Ranges
from models.linker.linker import Linker
from models.names.bm25 import Bm25
from models.names.candidates import LEXICAL, NameCandidates, NameStage
from models.names.lexical import LexicalRetriever, TfIdf
from models.names.lexical_merged import WordRetriever
from models.text.normalise import normalise
from tests.benchmarks.linker_bc5cdr import DATA, Corpus, build, read_pubtator


@dataclass(frozen=True, slots=True, eq=False)
class Uncut:
    """The merged list at twice the length: nothing that the characters find is displaced."""

    merged: WordRetriever

    def encode(self, texts: Sequence[str]) -> Any:
        return self.merged.encode(texts)

    def search(self, queries: Any, k: int, *, ranges: Ranges) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        return self.merged.search(queries, 2 * k, ranges=ranges)

    def score(self, queries: Any, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return self.merged.score(queries, rows)


def lexical_stages(linker: Linker) -> dict[str, NameStage]:
    names = [normalise(name) for name in linker.stages.kb.names]
    chars = linker.stages.names.stages[LEXICAL]
    assert isinstance(chars, LexicalRetriever)
    words = LexicalRetriever(TfIdf.fit(names, analyzer="word"))
    bm25 = LexicalRetriever(Bm25.fit(names))
    merged = WordRetriever(chars, words, len(names))
    return {
        "characters": chars,
        "characters + words": merged,
        "the same, uncut": Uncut(merged),
        "characters + BM25": WordRetriever(chars, bm25, len(names)),
        "BM25": WordRetriever(chars, bm25, len(names), merged=False),
    }


def measure(linker: Linker, corpus: Corpus) -> tuple[int, list[float]]:
    """In-KB mentions, and in how many percent gold is among all candidates, the first 64, the first."""
    gold = corpus.resolved(linker)
    hits = []
    for mention in linker.score(corpus.documents):
        wanted = gold[mention.document.key, mention.query.key]
        if wanted:
            ranked = [candidate.entity_id for candidate in linker.finish(mention).candidates]
            hits.append(
                (
                    bool(wanted & set(mention.entity_ids)),
                    bool(wanted & set(ranked[:64])),
                    bool(wanted & set(ranked[:1])),
                )
            )
    return len(hits), [100 * float(np.mean([hit[at] for hit in hits])) for at in range(3)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--stages", nargs="+", default=["lexical", "names"])
    options = parser.parse_args()
    train = read_pubtator(DATA / "bc5cdr" / "train.pubtator.txt").first(options.documents)
    with tempfile.TemporaryDirectory() as folder:
        linker = build(Path(folder), options.stages)
        whole = linker.stages.names
        for name, stage in lexical_stages(linker).items():
            names = NameCandidates(whole.kb, {**whole.stages, LEXICAL: stage}, whole.has_definition)
            linker.stages = replace(linker.stages, names=names)
            started = time.perf_counter()
            count, (pool, at_64, at_1) = measure(linker, train)
            seconds = time.perf_counter() - started
            print(
                f"{name:20s} {count:,} in-KB mentions: in the pool {pool:.2f} %, recall@64 {at_64:.2f} %, "
                f"recall@1 {at_1:.2f} %, {seconds:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
