"""Our searches for names next to five other programs: one table of speed and recall, with versions.

    .venv/bin/python -m tests.benchmarks.peers [--only MedCAT …] [--construction 200]

All get the same names (`mesh_medic`) and the same strings: the distinct mentions of BC5CDR dev that have a gold entity,
normalised, abbreviations written out where the document defines them. Speed is strings in a second of processor time of
all threads together, from strings to rows, after a first call; a busy machine changes it little. Recall@64: of the
mentions, those with a gold entity among those of the first 64 rows, over all names, in percent.

Ours are the linker's searches: by spelling, by words (BM25), by meaning, and by the dictionary that detects mentions.
A peer is beaten if one of them finds at least as much and is at least as fast. `lexical_peers` and `dense_peers`
compare more closely. sentence-transformers and FAISS get our vectors of the names and the same encoder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import faiss
import numpy as np
import torch

from models.core.kb import KnowledgeBase, read_kb
from models.encoders.cache import EmbeddingCache
from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoders import load_encoder
from models.linker.build import NAMES_TOKENS
from models.names.bm25 import Bm25
from models.names.detection import Detector
from models.text.normalise import normalise
from tests.benchmarks import dense_peers, medcat_peer
from tests.benchmarks.lexical_engines import Bm25s, Ours, Rows, ScikitLearn, ScispacyIndex, SparseDotTopn
from tests.benchmarks.lexical_peers import Asked, K, read_mentions
from tests.benchmarks.linker_start import KB
from tests.benchmarks.replay_project import kept
from tests.benchmarks.targets import measured

PEERS = {
    "scispaCy's index": ("nmslib", "nmslib-metabrainz", "scikit-learn"),
    "bm25s": ("bm25s", "bm25s", "numba"),
    "sparse_dot_topn": ("sparse_dot_topn", "sparse-dot-topn", "scikit-learn"),
    "sentence-transformers": ("sentence_transformers", "sentence-transformers", "faiss-cpu", "torch"),
}
"""The module that must be there, and the packages whose versions are given."""
MEDCAT = "MedCAT"
Search = Callable[[Sequence[str]], list[Rows]]


@dataclass(frozen=True, slots=True)
class Line:
    """`speed` in strings per second of processor time, `recall` in percent."""

    name: str
    versions: str
    speed: float
    recall: float

    def beats(self, peer: Line) -> bool:
        return self.speed >= peer.speed and self.recall >= peer.recall

    def told(self, verdict: str = "") -> str:
        return f"  {self.name:24} {self.speed:10,.0f} /s {self.recall:7.2f} %   {verdict:22} {self.versions}"


def recall(asked: Sequence[Asked], entities: dict[str, Rows]) -> float:
    """In percent; `entities` holds rows of entities by string."""
    return 100 * float(np.mean([not one.gold.isdisjoint(entities[one.text].tolist()) for one in asked]))


@dataclass(frozen=True, slots=True)
class Bench:
    kb: KnowledgeBase
    asked: Sequence[Asked]
    texts: Sequence[str]

    def line(self, name: str, versions: str, search: Search, *, entities: bool = False) -> Line:
        """`search` gives rows of names, or of `entities`."""
        search(self.texts[:64])  # the first call compiles and warms
        began = time.process_time()
        found = search(self.texts)
        speed = len(self.texts) / (time.process_time() - began)
        rows = found if entities else [self.kb.name_entity[one[one >= 0]] for one in found]
        return Line(name, versions, speed, recall(self.asked, dict(zip(self.texts, rows, strict=True))))


def by_dictionary(detector: Detector, texts: Sequence[str]) -> list[Rows]:
    """The entities of the names in each string, those of the longest first."""
    found = []
    for text in texts:
        spans = sorted(detector.detect(text), key=lambda one: one.start - one.end)
        rows = [detector.kb.rows[entity] for one in spans for entity in one.entity_ids]
        found.append(np.asarray(rows[:K], dtype=np.int64))
    return found


def dense(kb: KnowledgeBase) -> tuple[Search, Callable[[], Search]]:
    """Ours, and what makes the peer's."""
    encoder = load_encoder(default_encoder_folder(), device="cpu", max_tokens=NAMES_TOKENS, trainable=False)
    vectors = np.asarray(EmbeddingCache(encoder).vectors(kb.names), dtype=np.float32)
    ours = dense_peers.Ours(encoder, vectors)

    def peer() -> Search:
        made = dense_peers.SentenceTransformers(vectors)
        return lambda texts: made.search(texts, K)

    return (lambda texts: ours.search(texts, K)), peer


def lines(bench: Bench, given: argparse.Namespace) -> Iterator[Line]:
    """Ours first, then each peer."""
    names = [normalise(name) for name in bench.kb.names]
    tfidf, words, detector = Ours(names), Bm25.fit(names), Detector.build(bench.kb)
    by_meaning, dense_peer = dense(bench.kb)
    yield bench.line("ours, by spelling", "", lambda texts: tfidf.search(texts, K))
    yield bench.line("ours, by words", "", lambda texts: list(words.search(words.transform(texts), K)[1]))
    yield bench.line("ours, by meaning", "", by_meaning)
    yield bench.line("ours, by dictionary", "", lambda texts: by_dictionary(detector, texts), entities=True)
    given.work.mkdir(parents=True, exist_ok=True)

    def lexical(make: Callable[[], Bm25s | SparseDotTopn | ScispacyIndex]) -> Callable[[], Search]:
        def made() -> Search:
            engine = make()
            return lambda texts: engine.search(texts, K)

        return made

    makers: dict[str, Callable[[], Search]] = {
        "scispaCy's index": lexical(lambda: ScispacyIndex(names, given.work, construction=given.construction)),
        "bm25s": lexical(lambda: Bm25s(names, backend="numba")),
        "sparse_dot_topn": lexical(lambda: SparseDotTopn(ScikitLearn(names))),
        "sentence-transformers": dense_peer,
    }
    for name, (module, *packages) in PEERS.items():
        if given.only and name not in given.only:
            continue
        if find_spec(module) is None:
            print(f"{name} is not installed.")
            continue
        versions = ", ".join(f"{one} {metadata.version(one)}" for one in packages)
        yield bench.line(name, versions, makers[name]())
    if not given.only or MEDCAT in given.only:
        python = medcat_peer.interpreter(kept())
        if python is None:
            print("MedCAT could not be installed.")
            return
        took, rows = medcat_peer.ask(python, bench.kb, bench.texts)
        yield Line(MEDCAT, f"medcat {medcat_peer.VERSION}", len(bench.texts) / took, recall(bench.asked, rows))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*PEERS, MEDCAT], help="these peers alone")
    parser.add_argument("--construction", type=int, default=200, help="see `lexical_peers`")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "curator-lexical-peers")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    kb = read_kb(KB)
    asked = read_mentions(kb, "dev")
    bench = Bench(kb, asked, list(dict.fromkeys(one.text for one in asked)))
    print(f"{len(kb.names):,} names, {len(bench.texts):,} strings of {len(asked):,} mentions; recall@{K}", flush=True)
    found = []
    for line in lines(bench, given):
        found.append(line)
        print(line.told(), flush=True)
    own = [line for line in found if line.name.startswith("ours")]
    others = found[len(own) :]
    print("\nsearch                        strings  recall@64   beaten by              versions")
    for line in own:
        print(line.told())
    for line in others:
        better = [one.name.removeprefix("ours, ") for one in own if one.beats(line)]
        print(line.told(", ".join(better) or "NOTHING OF OURS"))
    for line in found:
        measured(f"{line.name}: strings in a second of processor time", line.speed, "/s", more=True)
        measured(f"{line.name}: recall@{K} over all names", line.recall, "%", more=True)


if __name__ == "__main__":
    main()
