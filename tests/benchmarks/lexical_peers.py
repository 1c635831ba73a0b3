"""Lexical top-64 against other libraries, from the repository's root:

    .venv/bin/python -m tests.benchmarks.lexical_peers                       # all that are installed
    .venv/bin/python -m tests.benchmarks.lexical_peers --only scikit-learn bm25s --rounds 5
    .venv/bin/python -m tests.benchmarks.lexical_peers --million             # costs at a million names

Names: all of `mesh_medic`; strings: the distinct mentions of BC5CDR dev, abbreviations written out where the document
defines them. Both are normalised once, and every engine gets the same strings. Speed counts everything from strings to
rows, on two threads where an engine has them; engines take turns on the same random strings, and a ratio is the median
over the rounds. Recall@64: of the mentions with a gold entity in the knowledge base, those with any of their gold
entities behind the 64 names found, once over all names and once over the names of the mention's type (an index of its
own for each type, for the peers). rapidfuzz is asked a sample only; ours on the same sample is next to it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from models.core.kb import KnowledgeBase, read_kb
from models.names.lexical import TfIdf
from models.text.abbreviations import abbreviation_table, expand
from models.text.normalise import normalise
from tests.benchmarks.lexical_engines import (
    Bm25s,
    Engine,
    Ours,
    RapidFuzz,
    Rows,
    ScikitLearn,
    ScispacyIndex,
    SparseDotTopn,
    resident_megabytes,
    seconds,
)
from tests.benchmarks.linker_bc5cdr import DATA, KB_TYPES, read_pubtator

K = 64
STRINGS = 256
FUZZY_STRINGS, FUZZY_RECALL = 6, 100
KINDS = ("Disease", "Chemical")
MODULES = {"scikit-learn": "sklearn", "sparse_dot_topn": "sparse_dot_topn", "bm25s": "bm25s", "rapidfuzz": "rapidfuzz",
           "scispaCy index": "nmslib"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A mention: the string that is looked up, its type, and the rows of its gold entities."""

    text: str
    kind: str
    gold: frozenset[int]


def read_mentions(kb: KnowledgeBase, split: str) -> list[Asked]:
    """The mentions of BC5CDR that have a gold entity in the knowledge base."""
    corpus = read_pubtator(DATA / "bc5cdr" / f"{split}.pubtator.txt")
    asked = []
    for document in corpus.documents:
        table = abbreviation_table(document.text)
        for mention in document.mentions:
            ids = corpus.gold[document.key, mention.key].split("|")
            gold = {kb.resolved.get(f"MESH:{one}") for one in ids} - {None}
            if gold:
                text = normalise(expand(mention.surface(document.text), table))
                kind = "Chemical" if mention.types == KB_TYPES["Chemical"] else "Disease"
                asked.append(Asked(text, kind, frozenset(kb.rows[one] for one in gold if one)))
    return asked


def recall(asked: Sequence[Asked], found: dict[tuple[str, str], Rows], kb: KnowledgeBase) -> float:
    """In percent; ``found`` holds name rows by string and type."""
    hits = [not one.gold.isdisjoint(kb.name_entity[found[one.text, one.kind]].tolist()) for one in asked]
    return 100 * float(np.mean(hits))


def find_all(engine: Engine, asked: Sequence[Asked]) -> dict[tuple[str, str], Rows]:
    """Over all names."""
    texts = list(dict.fromkeys(one.text for one in asked))
    by_text = dict(zip(texts, engine.search(texts, K), strict=True))
    return {(one.text, one.kind): by_text[one.text] for one in asked}


def find_typed(
    make: Callable[[Sequence[str]], Engine], asked: Sequence[Asked], kb: KnowledgeBase, names: Sequence[str]
) -> dict[tuple[str, str], Rows]:
    """Over the names of each type apart."""
    found = {}
    for kind in KINDS:
        rows = np.concatenate([np.arange(start, stop) for start, stop in kb.name_ranges((kind,))])
        engine = make([names[row] for row in rows])
        texts = list(dict.fromkeys(one.text for one in asked if one.kind == kind))
        for text, hits in zip(texts, engine.search(texts, K), strict=True):
            found[text, kind] = rows[hits]
    return found


def find_typed_by_us(ours: Ours, asked: Sequence[Asked], kb: KnowledgeBase) -> dict[tuple[str, str], Rows]:
    """Over ranges of the one index."""
    found = {}
    for kind in KINDS:
        texts = list(dict.fromkeys(one.text for one in asked if one.kind == kind))
        _, rows = ours.tfidf.search(ours.tfidf.transform(texts), K, ranges=kb.name_ranges((kind,)))
        found.update({(text, kind): one[one >= 0] for text, one in zip(texts, rows, strict=True)})
    return found


def compare_speed(engines: dict[str, Engine], texts: Sequence[str], rounds: int) -> dict[str, tuple[float, float]]:
    """Strings a second, and how many times as fast ours is: medians over the rounds."""
    for engine in engines.values():
        engine.search(texts[:2], K)
    speeds: dict[str, list[float]] = {name: [] for name in engines}
    for number in range(rounds):
        chosen = random.Random(number).sample(list(texts), STRINGS)
        for name, engine in engines.items():
            some = chosen[:FUZZY_STRINGS] if name == "rapidfuzz" else chosen
            speeds[name].append(len(some) / seconds(lambda engine=engine, some=some: engine.search(some, K)))
    return {
        name: (
            statistics.median(values),
            statistics.median(own / one for own, one in zip(speeds["ours"], values, strict=True)),
        )
        for name, values in speeds.items()
    }


def agreement(ours: Ours, peer: ScikitLearn, texts: Sequence[str]) -> str:
    pairs = zip(ours.search(texts, K), peer.search(texts, K), strict=True)
    same = sum(np.array_equal(one, other) for one, other in pairs)
    return f"identical top-{K}, order and ties included, for {same:,} of {len(texts):,} strings"


def million(names: Sequence[str]) -> None:
    """Costs at a million names, made by changing letters of the real ones."""
    random_source = random.Random(0)
    varied = list(names)
    while len(varied) < 1_000_000:
        name = random_source.choice(names)
        at = random_source.randrange(max(1, len(name)))
        varied.append(f"{name[:at]}{random_source.choice('abcdefghijklmnopqrstuvwxyz')}{name[at + 1 :]}")
    report_costs(varied, names[:: len(names) // 1000])


def report_costs(names: Sequence[str], texts: Sequence[str]) -> None:
    fitted: list[TfIdf] = []
    print(f"{len(names):,} names: fitted in {seconds(lambda: fitted.append(TfIdf.fit(names))):.1f} s", end=", ")
    with tempfile.TemporaryDirectory() as folder:
        fitted[0].save(Path(folder))
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20
        fitted.clear()
        before = resident_megabytes()
        print(
            f"{size:.0f} MB on disk, loaded in {seconds(lambda: fitted.append(TfIdf.load(Path(folder)))):.2f} s", end=""
        )
        tfidf = fitted[0]
        tfidf.search(tfidf.transform(texts[:2]), K)
        speed = len(texts) / seconds(lambda: tfidf.search(tfidf.transform(texts), K))
        single = sorted(seconds(lambda text=text: tfidf.search(tfidf.transform([text]), K)) for text in texts[:200])
        print(f", {resident_megabytes() - before:.0f} MB more resident after {len(texts):,} searches")
        print(f"  {speed:.0f} strings/s in a batch; one string: p95 {1000 * single[int(0.95 * len(single))]:.1f} ms")


def make_engines(names: Sequence[str], options: argparse.Namespace) -> dict[str, Callable[[Sequence[str]], Engine]]:
    options.work.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[Sequence[str]], Engine]] = {
        "scikit-learn": ScikitLearn,
        "sparse_dot_topn": lambda some: SparseDotTopn(ScikitLearn(some)),
        "bm25s": Bm25s,
        "rapidfuzz": RapidFuzz,
        "scispaCy index": lambda some: ScispacyIndex(some, options.work, construction=options.construction),
    }
    wanted = {name: make for name, make in makers.items() if not options.only or name in options.only}
    for name in [name for name in wanted if find_spec(MODULES[name]) is None]:
        print(f"{name} is not installed here ({MODULES[name]}): left out.")
        wanted.pop(name)
    return wanted


def compare(options: argparse.Namespace) -> None:
    kb = read_kb(DATA / "kb" / "mesh_medic.jsonl.gz")
    names = [normalise(name) for name in kb.names]
    if options.million:
        report_costs(names, names[:: len(names) // 1000])
        million(names)
        return
    asked = read_mentions(kb, "dev")
    texts = list(dict.fromkeys(one.text for one in asked))
    makers = make_engines(names, options)
    ours = Ours(names)
    engines: dict[str, Engine] = {"ours": ours, **{name: make(names) for name, make in makers.items()}}
    print(f"{len(names):,} names, {len(texts):,} strings of {len(asked):,} in-KB mentions; 2 threads")
    speeds = compare_speed(engines, texts, options.rounds)
    peer = engines.get("scikit-learn")
    if isinstance(peer, ScikitLearn):
        print(agreement(ours, peer, texts))
    sample = random.Random(0).sample(asked, FUZZY_RECALL)
    for name, engine in engines.items():
        some = sample if name == "rapidfuzz" else asked
        every = recall(some, find_all(engine, some), kb)
        typed = find_typed_by_us(ours, some, kb) if name == "ours" else find_typed(makers[name], some, kb, names)
        speed, ratio = speeds[name]
        print(
            f"{name:16s} {speed:8.1f}/s, ours {ratio:7.1f} x; recall@{K} {every:.1f} over all names, "
            f"{recall(some, typed, kb):.1f} within the type",
            flush=True,
        )
        if name == "rapidfuzz":
            own = recall(some, find_all(ours, some), kb), recall(some, find_typed_by_us(ours, some, kb), kb)
            print(f"{'':16s} (ours on the same {len(some)} mentions: {own[0]:.1f}, {own[1]:.1f})")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=MODULES, help="these peers alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--construction",
        type=int,
        default=200,
        help="candidates while scispaCy's graph is built; its own choice, 2000, takes hours on two cores",
    )
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "curator-lexical-peers")
    parser.add_argument("--million", action="store_true", help="our own costs at 190 thousand and a million names")
    compare(parser.parse_args(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
