"""Our searches for names: speed and recall on the real knowledge base; encodes all names first.

    .venv/bin/python -m tests.benchmarks.name_search

Names: all of `mesh_medic`. Strings: the distinct mentions of BC5CDR dev that have a gold entity, normalised,
abbreviations written out where the document defines them. Speed is strings in a second of processor time of all
threads, from strings to rows, after a first call; a busy machine changes it little. Recall@64: of the mentions, those
with a gold entity among those of the first 64 rows, over all names, in percent. RESULTS.md has the figures of other
programs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import faiss
import numpy as np
import torch
from numpy.typing import NDArray

from models.core.kb import KnowledgeBase, read_kb
from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import load_encoder
from models.linker.build import NAMES_TOKENS
from models.names.bm25 import Bm25
from models.names.detection import Detector
from models.names.lexical import TfIdf
from models.text.abbreviations import abbreviation_table, expand
from models.text.normalise import normalise
from models.vectors.index import VectorIndex
from tests.benchmarks.linker_bc5cdr import DATA, read_pubtator
from tests.benchmarks.targets import measured

K = 64
Rows = NDArray[np.int64]
Search = Callable[[Sequence[str]], Sequence[Rows]]
"""Strings → rows of entities of each, the best first."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A mention: the string that is looked up, and the rows of its gold entities."""

    text: str
    gold: frozenset[int]


def read_mentions(kb: KnowledgeBase) -> Iterator[Asked]:
    """The mentions of BC5CDR dev that have a gold entity in the knowledge base."""
    corpus = read_pubtator(DATA / "bc5cdr" / "dev.pubtator.txt")
    for document in corpus.documents:
        table = abbreviation_table(document.text)
        for mention in document.mentions:
            ids = corpus.gold[document.key, mention.key].split("|")
            gold = [kb.rows[one] for one in (kb.resolved.get(f"MESH:{each}") for each in ids) if one]
            if gold:
                yield Asked(normalise(expand(mention.surface(document.text), table)), frozenset(gold))


def searches(kb: KnowledgeBase) -> Iterator[tuple[str, Search]]:
    names = [normalise(name) for name in kb.names]

    def entities(rows: Sequence[Rows]) -> list[Rows]:
        return [kb.name_entity[one[one >= 0]] for one in rows]

    spelling = TfIdf.fit(names)
    yield "spelling", lambda texts: entities(spelling.search(spelling.transform(texts), K)[1])
    words = Bm25.fit(names)
    yield "words", lambda texts: entities(words.search(words.transform(texts), K)[1])
    encoder = load_encoder(default_encoder_folder(), device="cpu", max_tokens=NAMES_TOKENS, trainable=False)
    vectors = VectorIndex.build(np.asarray(EmbeddingCache(encoder).vectors(kb.names), dtype=np.float32))
    yield "meaning", lambda texts: entities(vectors.search(encoder.encode(texts), K)[1])
    detector = Detector.build(kb)
    yield "dictionary", lambda texts: [by_dictionary(detector, text) for text in texts]


def by_dictionary(detector: Detector, text: str) -> Rows:
    """The entities of the names in a string, those of the longest first."""
    spans = sorted(detector.detect(text), key=lambda one: one.start - one.end)
    rows = [detector.kb.rows[entity] for one in spans for entity in one.entity_ids]
    return np.asarray(rows[:K], dtype=np.int64)


def main() -> None:
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    kb = read_kb(DATA / "kb" / "mesh_medic.jsonl.gz")
    asked = list(read_mentions(kb))
    texts = list(dict.fromkeys(one.text for one in asked))
    print(f"{len(kb.names):,} names, {len(texts):,} strings of {len(asked):,} mentions; recall@{K}", flush=True)
    for name, search in searches(kb):
        search(texts[:64])  # the first call compiles and warms
        began = time.process_time()
        found = search(texts)
        speed = len(texts) / (time.process_time() - began)
        rows = dict(zip(texts, found, strict=True))
        recall = 100 * float(np.mean([not one.gold.isdisjoint(rows[one.text].tolist()) for one in asked]))
        measured(f"ours, by {name}: strings in a second of processor time", speed, "/s", more=True)
        measured(f"ours, by {name}: recall@{K} over all names", recall, "%", more=True)


if __name__ == "__main__":
    main()
