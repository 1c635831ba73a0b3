"""Fits the combiners that come with the program, on the train documents of BC5CDR and NCBI Disease together:

    python -m tests.benchmarks.combiner_fit --stages lexical          # `LEXICAL_COMBINER`, two minutes
    python -m tests.benchmarks.combiner_fit                           # `DEFAULT_COMBINER`: all names are encoded first

Each mention is taken twice, with the memory of its corpus's other documents and without. It prints recall@1 of the
program's combiner and of one fitted on other documents (five folds), and the coefficients fitted on all.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from models.linker.answering import ScoredMention
from models.linker.linker import Linker
from models.linker.tuning import learn_combiner
from models.rankers.combiner import FEATURES
from models.types import DecidedDocument
from tests.benchmarks.linker_bc5cdr import DATA, build, read_pubtator

CORPORA = ("bc5cdr", "ncbi_disease")
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Decided:
    """A mention of train as the linker scored it, with its gold ids."""

    corpus: str
    mention: ScoredMention
    gold: frozenset[str]

    @property
    def document(self) -> tuple[str, str]:
        return self.corpus, self.mention.document.key


def scored(base: Linker, corpus: str) -> list[Decided]:
    """The linked mentions of train, scored with the memory of all other documents."""
    train = read_pubtator(DATA / corpus / "train.pubtator.txt")
    gold = train.resolved(base)
    linker = Linker.load(base.bundle.path)
    for one in train.documents:
        linker.remember(DecidedDocument(one, tuple(tuple(sorted(gold[one.key, m.key])) for m in one.mentions)))
    found = (Decided(corpus, m, gold[m.document.key, m.query.key]) for m in linker.score(train.documents))
    return [one for one in found if one.gold]


def judge(linker: Linker, name: str, mentions: Sequence[Decided], hits: Counter[tuple[str, str, bool]]) -> None:
    for one in mentions:
        for memory in (False, True):
            answer = linker.finish(one.mention if memory else one.mention.without_memory())
            right = bool(answer.candidates) and answer.candidates[0].entity_id in one.gold
            hits[name, one.corpus, memory] += right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", nargs="+", default=["lexical", "names"])
    stages = parser.parse_args().stages
    with tempfile.TemporaryDirectory() as folder:
        base = build(Path(folder), stages)
        mentions = [one for corpus in CORPORA for one in scored(base, corpus)]
        documents = sorted({one.document for one in mentions})
        random.Random(0).shuffle(documents)
        fold = {one: number % FOLDS for number, one in enumerate(documents)}
        hits: Counter[tuple[str, str, bool]] = Counter()
        for number in range(FOLDS):
            own = learn_combiner(base, [(m.mention, m.gold) for m in mentions if fold[m.document] != number])
            assert own is not None
            others = [one for one in mentions if fold[one.document] == number]
            judge(base, "the program's", others, hits)
            judge(base.with_weights(combiner=own), "fitted", others, hits)
        count = Counter(one.corpus for one in mentions)
        for (name, corpus, memory), right in sorted(hits.items()):
            print(f"{name:14} {corpus:13} {'with' if memory else 'without'} memory: {right / count[corpus]:.4f}")
        whole = learn_combiner(base, [(one.mention, one.gold) for one in mentions])
        assert whole is not None
        for feature, value in zip(FEATURES, whole.coefficients, strict=True):
            print(f"{value:8.3f}  {feature}")


if __name__ == "__main__":
    main()
