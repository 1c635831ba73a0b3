"""What each part of the linker is worth: drop one, fit what follows anew, compare on the same documents.

    python -m tests.benchmarks.ablations [--corpus bc5cdr|ncbi_disease] [--documents 500] [--tune 200]
                                         [--bundle FOLDER] [--only PART …] [--json FILE]

Every variant is fitted on the first `--tune` train documents (fusion of trained stages and NIL) and judged on dev, with
paired intervals of full − dropped from 1,000 resamples of documents: above 0 the part pays. Parts that the linker does
not have (a ranker, trained retrievers, a memory) are left out. `--bundle` is a published bundle of the knowledge base
`mesh_medic`; without one, an untrained bundle is built first (minutes where the embedding cache is cold).

A dropped retriever neither finds nor scores. Abbreviations are dropped by blanking parentheses and brackets outside
mentions, so that no document defines any. Dropped calibration is PEL's plain threshold on the top score.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.candidates import DEFINITION, LEXICAL, NAMES, PREFERRED
from models.fusion import DOCUMENT, FusionWeights
from models.linker import Linker
from models.nil import NilModel, best_threshold
from models.tuning import tune
from models.types import DocumentInput, LinkedMention
from tests.benchmarks.linker_bc5cdr import DATA, Corpus, Gold, build, read_pubtator
from training.evaluation.bootstrap import Difference, DocumentBootstrap
from training.evaluation.headline import headline
from training.evaluation.outcomes import outcomes
from training.gold import GoldMention, GoldSet, fold

FIGURES = ("recall@1", "recall@64", "NIL auPR", "NIL F1", "right in all, NIL included", "risk-coverage area")
K = 64


@dataclass(frozen=True)
class Part:
    """`prepare` changes documents, `drop` the linker before it is fitted, `after` the fitted one."""

    name: str
    drop: Callable[[Linker], Linker] = lambda linker: linker
    prepare: Callable[[DocumentInput], DocumentInput] = lambda document: document
    after: Callable[[Linker, Corpus, Gold], Linker] = lambda linker, _documents, _gold: linker


def parts(linker: Linker) -> Iterator[Part]:
    """The whole linker, then everything of it that can be dropped."""
    yield Part("(all)")
    yield Part("abbreviations", prepare=without_definitions)
    names = linker.stages.names.stages
    if len(names) > 1:
        for stage in names:
            yield Part(f"stage {stage}", drop=lambda one, stage=stage: without_name_stage(one, stage))  # type: ignore[misc]
    for retriever in linker.stages.trained:
        name = retriever.name
        yield Part(f"stage {name}", drop=lambda one, name=name: without_trained(one, name))  # type: ignore[misc]
    for stage, words in ((DOCUMENT, "coherence"), (PREFERRED, "preferred names"), (DEFINITION, "has-definition")):
        if linker.fusion.weights.get(stage):
            yield Part(words, drop=lambda one, stage=stage: without_weight(one, stage))  # type: ignore[misc]
    if linker.stages.ranker is not None:
        yield Part("ranker", drop=lambda one: with_stages(one, ranker=None, ranker_top_k=0))
    yield Part("calibration", after=plain_threshold)


def with_stages(linker: Linker, **changes: Any) -> Linker:
    other = copy.copy(linker)
    other.stages = replace(linker.stages, **changes)
    return other


def without_name_stage(linker: Linker, stage: str) -> Linker:
    names = linker.stages.names
    left = {name: one for name, one in names.stages.items() if name != stage}
    return with_stages(linker, names=replace(names, stages=left))


def without_trained(linker: Linker, name: str) -> Linker:
    return with_stages(linker, trained=tuple(one for one in linker.stages.trained if one.name != name))


def without_weight(linker: Linker, stage: str) -> Linker:
    fusion = linker.fusion
    weights = {name: weight for name, weight in fusion.weights.items() if name != stage}
    return linker.with_weights(fusion=FusionWeights(weights, fusion.scales, fusion.fitted_on))


def without_definitions(document: DocumentInput) -> DocumentInput:
    """Parentheses and brackets become blanks where no mention is; offsets stay."""
    text = list(document.text)
    inside = {at for mention in document.mentions for start, end in mention.spans for at in range(start, end)}
    for at, character in enumerate(text):
        if character in "()[]" and at not in inside:
            text[at] = " "
    return replace(document, text="".join(text))


def plain_threshold(linker: Linker, train: Corpus, gold: Gold) -> Linker:
    """NIL by the top score alone, at the threshold with the highest F1 on the fitting documents (PEL, section 5.3)."""
    plain = linker.with_weights(nil=NilModel(threshold=1.0))
    truth, scores = [], []
    for document in plain.link(train.documents, k=1):
        for mention in document.mentions:
            truth.append(not gold[document.key, mention.key])
            scores.append(mention.nil.score)
    threshold, _ = best_threshold(np.asarray(scores), np.asarray(truth))
    return plain.with_weights(nil=NilModel(threshold=threshold))


def fitted(linker: Linker, part: Part, train: Corpus) -> Linker:
    dropped = part.drop(linker)
    documents = Corpus(tuple(part.prepare(one) for one in train.documents), train.gold)
    gold = train.resolved(linker)
    tuned = tune(dropped, documents.documents, gold)
    weighted = dropped.with_weights(fusion=tuned.fusion, combiner=tuned.combiner, nil=tuned.nil)
    return part.after(weighted, documents, gold)


def gold_set(corpus: Corpus, linker: Linker) -> GoldSet:
    gold = corpus.resolved(linker)
    found = []
    for document in corpus.documents:
        for mention in document.mentions:
            surface = mention.surface(document.text)
            ids = tuple(sorted(gold[document.key, mention.key]))
            one = GoldMention(mention.key, document.key, fold(surface), mention.types, ids, len(ids) > 1, surface)
            found.append(one)
    return GoldSet(tuple(found))


def answers(linker: Linker, part: Part, dev: Corpus) -> list[LinkedMention]:
    prepared = (part.prepare(document) for document in dev.documents)
    return [mention for document in linker.link(prepared, k=K) for mention in document.mentions]


def differences(whole: list[LinkedMention], dropped: list[LinkedMention], gold: GoldSet) -> dict[str, Difference]:
    this, other = outcomes(whole, gold), outcomes(dropped, gold)
    wanted = [{name: one for name, one in headline(found, k=K).items() if name in FIGURES} for found in (this, other)]
    return DocumentBootstrap(this.document).differences(*wanted)


def row(name: str, found: dict[str, Difference]) -> str:
    cells = [f"{name:<18}"]
    for figure in FIGURES:
        one = found[figure]
        apart = one.difference
        scale = 1.0 if figure == "risk-coverage area" else 100.0
        if one.other is None or apart.value is None:
            cells.append(f"{'–':>26}")
            continue
        interval = f"({scale * apart.low:+.2f} to {scale * apart.high:+.2f})" if apart.low is not None else ""
        if scale == 1.0:
            interval = f"({apart.low:+.4f} to {apart.high:+.4f})" if apart.low is not None else ""
        value = f"{scale * one.other:.1f}" if scale > 1 else f"{one.other:.4f}"
        change = f"{scale * apart.value:+.2f}" if scale > 1 else f"{apart.value:+.4f}"
        cells.append(f"{value:>6} {change:>7} {interval:<18}")
    return " | ".join(cells)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def ablate(linker: Linker, train: Corpus, dev: Corpus, *, only: Sequence[str]) -> dict[str, dict[str, Difference]]:
    """Prints a line for each part as soon as it is measured: the figure without it, and what it is worth."""
    gold = gold_set(dev, linker)
    say(f"{len(dev.documents)} documents, {len(gold.mentions):,} mentions; fitted on {len(train.documents)} documents")
    say(" | ".join([f"{'dropped':<18}", *(f"{name[:26]:<33}" for name in FIGURES)]))
    whole: list[LinkedMention] = []
    results: dict[str, dict[str, Difference]] = {}
    for part in parts(linker):
        if whole and only and part.name not in only:
            continue
        found = answers(fitted(linker, part, train), part, dev)
        whole = whole or found
        results[part.name] = differences(whole, found, gold)
        say(row(part.name, results[part.name]))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="bc5cdr", choices=("bc5cdr", "ncbi_disease"))
    parser.add_argument("--documents", type=int, default=500, help="dev documents")
    parser.add_argument("--tune", type=int, default=200, help="train documents to fit on")
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    train = read_pubtator(DATA / options.corpus / "train.pubtator.txt").first(options.tune)
    dev = read_pubtator(DATA / options.corpus / "dev.pubtator.txt").first(options.documents)
    with tempfile.TemporaryDirectory() as folder:
        linker = Linker.load(options.bundle) if options.bundle else build(Path(folder), (LEXICAL, NAMES))
        results = ablate(linker, train, dev, only=options.only)
    if options.json:
        plain = {name: {figure: asdict(one) for figure, one in found.items()} for name, found in results.items()}
        options.json.write_text(json.dumps(plain, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
