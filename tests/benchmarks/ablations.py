"""The contribution of each part of the linker: drop it, refit the later parts, compare on the same documents.

    python -m tests.benchmarks.ablations [--corpus bc5cdr|ncbi_disease] [--documents 500] [--remember 500] [--tune 200]
                                         [--held-out] [--bundle FOLDER] [--only PART …] [--json FILE]

Every variant remembers the decisions of the first `--remember` train documents (0: none), is fitted on the first
`--tune` of them (fusion of trained stages, combiner, NIL; no document uses its own decisions), and is evaluated on dev
or, with `--held-out`, on the following train documents: defaults are chosen there, never on dev. Paired intervals of
full − dropped from 1,000 resamples of documents: above 0 the part helps. Parts that the linker does not have (a ranker,
trained retrievers) are left out. `--bundle` is a published bundle of the knowledge base `mesh_medic`; without one, an
untrained bundle is built first (minutes where the embedding cache is cold).

A dropped score (coherence, preferred names, has-definition) is 0 for fusion, combiner and NIL. A dropped retriever
neither finds nor scores; without `names` the memory knows equal strings only. Abbreviations are dropped by blanking
parentheses and brackets outside mentions, so that no document defines any. "context" leaves the memory's rival
decisions unweighed. Without the combiner the fused order is used. Dropped calibration is PEL's plain threshold on the
top score.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from models.linker.answering import ScoredMention
from models.linker.linker import Linker
from models.linker.recalling import Recollection
from models.linker.tuning import learn_nil, tune_scored
from models.names.candidates import DEFINITION, LEXICAL, NAMES, PREFERRED
from models.rankers.combiner import FEATURES, Combiner
from models.rankers.nil import NilModel, best_threshold
from models.retrievers.fusion import DOCUMENT
from models.retrievers.recalled import Place, RecallQuery
from models.types import DecidedDocument, DocumentInput, LinkedMention
from tests.benchmarks.linker_bc5cdr import DATA, Corpus, Gold, build, read_pubtator
from training.data.gold import GoldMention, GoldSet, fold
from training.evaluation.headline import headline
from training.evaluation.outcomes import outcomes
from training.evaluation.resampling import Difference, DocumentBootstrap

FIGURES = ("recall@1", "recall@64", "NIL auPR", "NIL F1", "right in all, NIL included", "risk-coverage area")
K = 64


@dataclass(frozen=True)
class Part:
    """`prepare` changes documents, `drop` the linker before it is fitted, `see` what was scored, `after` the rest."""

    name: str
    drop: Callable[[Linker], Linker] = copy.copy
    prepare: Callable[[DocumentInput], DocumentInput] = lambda document: document
    see: Callable[[ScoredMention], ScoredMention] = lambda mention: mention
    recollection: type[Recollection] = Recollection
    remembers: bool = True
    after: Callable[[Linker, Sequence[ScoredMention], Gold], Linker] = lambda linker, _scored, _gold: linker


class Contextless(Recollection):
    """Rival decisions count by their number alone."""

    def _rival_contexts(self, document: DocumentInput, asked: Sequence[RecallQuery]) -> dict[Place, Any]:
        return {}


def parts(linker: Linker, *, memory: bool) -> Iterator[Part]:
    """The whole linker, then everything of it that can be dropped."""
    yield Part("(all)")
    yield Part("abbreviations", prepare=without_definitions)
    names = linker.stages.names.stages
    if len(names) > 1:
        yield from (Part(f"stage {one}", drop=partial(without_name_stage, stage=one)) for one in names)
    for retriever in linker.stages.trained:
        yield Part(f"stage {retriever.name}", drop=partial(without_trained, name=retriever.name))
    for stage, words in ((DOCUMENT, "coherence"), (PREFERRED, "preferred names"), (DEFINITION, "has-definition")):
        yield Part(words, see=partial(without_score, stage=stage))
    if memory:
        yield Part("memory", remembers=False)
        yield Part("context", recollection=Contextless)
    if linker.stages.ranker is not None:
        yield Part("ranker", drop=partial(with_stages, ranker=None, ranker_top_k=0))
    yield Part("combiner", after=fused_order)
    yield Part("calibration", after=plain_threshold)


def with_stages(linker: Linker, **changes: Any) -> Linker:
    other = copy.copy(linker)
    other.stages = replace(linker.stages, **changes)
    return other


def without_name_stage(linker: Linker, *, stage: str) -> Linker:
    names = linker.stages.names
    left = {name: one for name, one in names.stages.items() if name != stage}
    return with_stages(linker, names=replace(names, stages=left))


def without_trained(linker: Linker, *, name: str) -> Linker:
    return with_stages(linker, trained=tuple(one for one in linker.stages.trained if one.name != name))


def without_score(mention: ScoredMention, *, stage: str) -> ScoredMention:
    return replace(mention, table=mention.table.with_scores(stage, np.zeros(len(mention.entity_ids), dtype=np.float32)))


def without_definitions(document: DocumentInput) -> DocumentInput:
    """Parentheses and brackets become blanks where no mention is; offsets stay."""
    text = list(document.text)
    inside = {at for mention in document.mentions for start, end in mention.spans for at in range(start, end)}
    for at, character in enumerate(text):
        if character in "()[]" and at not in inside:
            text[at] = " "
    return replace(document, text="".join(text))


def fused_order(linker: Linker, scored: Sequence[ScoredMention], gold: Gold) -> Linker:
    """A combiner that only repeats the fused scores, sharply; NIL is fitted again under it."""
    sharp = Combiner(tuple(20.0 * (name == "fused") for name in FEATURES))
    fused = linker.with_weights(combiner=sharp)
    return fused.with_weights(nil=learn_nil(fused, scored, truth_of(scored, gold)))


def plain_threshold(linker: Linker, scored: Sequence[ScoredMention], gold: Gold) -> Linker:
    """NIL by the top score alone, at the threshold with the highest F1 on the fitting documents (PEL, section 5.3)."""
    plain = NilModel(threshold=1.0)
    scores = np.asarray([plain.score(linker.nil_features(mention)) for mention in scored])
    threshold, _ = best_threshold(scores, np.asarray(truth_of(scored, gold)))
    return linker.with_weights(nil=NilModel(threshold=threshold))


def truth_of(scored: Sequence[ScoredMention], gold: Gold) -> list[bool]:
    return [not gold[mention.document.key, mention.query.key] for mention in scored]


def fitted(linker: Linker, part: Part, train: Corpus, *, remember: int, tune: int) -> Linker:
    """The linker without the part, with its memory and its weights again."""
    dropped = part.drop(linker)
    dropped.recollection = part.recollection(dropped.stages)
    documents = [part.prepare(one) for one in train.documents]
    gold = train.resolved(linker)
    if part.remembers and remember:
        dropped.remember(*(decided(one, gold) for one in documents[:remember]))
    scored = [part.see(mention) for mention in dropped.score(documents[:tune])]
    tuned = tune_scored(dropped, scored, gold)
    weighted = dropped.with_weights(fusion=tuned.fusion, combiner=tuned.combiner, nil=tuned.nil)
    return part.after(weighted, scored, gold)


def decided(document: DocumentInput, gold: Gold) -> DecidedDocument:
    outcomes_of = tuple(tuple(sorted(gold[document.key, mention.key])) for mention in document.mentions)
    return DecidedDocument(document, outcomes_of)


def gold_set(corpus: Corpus, linker: Linker) -> GoldSet:
    gold = corpus.resolved(linker)
    found = []
    for document in corpus.documents:
        for mention in document.mentions:
            surface = mention.surface(document.text)
            ids = tuple(sorted(gold[document.key, mention.key]))
            key = f"{document.key}/{mention.key}"  # a mention's own key is unique within its document only
            one = GoldMention(key, document.key, fold(surface), mention.types, ids, len(ids) > 1, surface)
            found.append(one)
    return GoldSet(tuple(found))


def answers(linker: Linker, part: Part, judged: Corpus) -> list[LinkedMention]:
    """As ``Linker.link`` gives them, from what the part lets it see."""
    scored = linker.score((part.prepare(document) for document in judged.documents), k=K)
    return [
        replace(linker.finish(part.see(mention), k=K), key=f"{mention.document.key}/{mention.query.key}")
        for mention in scored
    ]


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
        digits = 2 if scale > 1 else 4
        interval = ""
        if apart.low is not None and apart.high is not None:
            interval = f"({scale * apart.low:+.{digits}f} to {scale * apart.high:+.{digits}f})"
        value = f"{scale * one.other:.1f}" if scale > 1 else f"{one.other:.4f}"
        change = f"{scale * apart.value:+.2f}" if scale > 1 else f"{apart.value:+.4f}"
        cells.append(f"{value:>6} {change:>7} {interval:<18}")
    return " | ".join(cells)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def ablate(
    linker: Linker, train: Corpus, judged: Corpus, *, remember: int, tune: int, only: Sequence[str]
) -> dict[str, dict[str, Difference]]:
    """Prints a line for each part as soon as it is measured: the figure without it, and what it is worth."""
    gold = gold_set(judged, linker)
    say(
        f"{len(judged.documents)} documents, {len(gold.mentions):,} mentions; "
        f"{remember} train documents remembered, fitted on {tune}"
    )
    say(" | ".join([f"{'dropped':<18}", *(f"{name[:26]:<33}" for name in FIGURES)]))
    whole: list[LinkedMention] = []
    results: dict[str, dict[str, Difference]] = {}
    for part in parts(linker, memory=remember > 0):
        if whole and only and part.name not in only:
            continue
        found = answers(fitted(linker, part, train, remember=remember, tune=tune), part, judged)
        whole = whole or found
        results[part.name] = differences(whole, found, gold)
        say(row(part.name, results[part.name]))
    return results


def to_judge(corpus: str, count: int, *, after: int | None) -> Corpus:
    """The first documents of dev, or the train documents after so many."""
    found = read_pubtator(DATA / corpus / f"{'dev' if after is None else 'train'}.pubtator.txt")
    return Corpus(found.documents[after or 0 :][:count], found.gold)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="bc5cdr", choices=("bc5cdr", "ncbi_disease"))
    parser.add_argument("--documents", type=int, default=500, help="documents to judge on")
    parser.add_argument("--held-out", action="store_true", help="judge on train documents that are not fitted on")
    parser.add_argument("--remember", type=int, default=500, help="train documents whose decisions are remembered")
    parser.add_argument("--tune", type=int, default=200, help="train documents to fit on")
    parser.add_argument("--bundle", type=Path)
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    train = read_pubtator(DATA / options.corpus / "train.pubtator.txt").first(max(options.tune, options.remember))
    judged = to_judge(options.corpus, options.documents, after=len(train.documents) if options.held_out else None)
    with tempfile.TemporaryDirectory() as folder:
        linker = Linker.load(options.bundle) if options.bundle else build(Path(folder), (LEXICAL, NAMES))
        results = ablate(linker, train, judged, remember=options.remember, tune=options.tune, only=options.only)
    if options.json:
        plain = {name: {figure: asdict(one) for figure, one in found.items()} for name, found in results.items()}
        options.json.write_text(json.dumps(plain, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
