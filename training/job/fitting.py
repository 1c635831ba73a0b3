"""Everything that is fitted on decisions without training a network: combiner, NIL, and the weight of trained stages.

Combiner and NIL are fitted on every decision that no stage in use learned from. This includes train documents if only
the memory learned from them, since it never shows a document its own decisions. The weight of a newly trained part is
fitted on the documents held out from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.linker.answering import ScoredMention
from models.linker.linker import Linker
from models.linker.reranking import RANKER
from models.linker.tuning import MIN_COMBINER, Gold, hear, hear_nil, learn_nil, tune_scored
from models.names.candidates import NAMES
from models.types import LinkedMention
from training.data.document_splits import TURNS, place
from training.data.gold import GoldSet
from training.data.snapshot import SnapshotDocument

FITTED_ON, COMBINER_FITTED_ON = "fitted_on", "combiner_fitted_on"
"""In a manifest's `training`: keys of the documents on which NIL was fitted, and the combiner where it is not the
same."""
TRAINED = "trained"
"""Key in the settings of the stage over names; its value is the recipe that retrained the encoder."""
MOST_TAUGHT = 500
"""Train documents on which combiner and NIL are fitted: more would add minutes and little else."""
MIN_ORDER = 1_000
"""Links from which on the combiner is refitted without a network. With 500 it was no gain on average, and once the
check passed a linker that lost 2 points of recall@1 (tests/benchmarks/experiments/NAMES.md)."""

Scored = Sequence[ScoredMention]


@dataclass(frozen=True, slots=True)
class Taught:
    """The data that combiner and NIL are fitted on, scored by the linker in use: train documents, and held-out
    documents by fold."""

    train: tuple[ScoredMention, ...]
    folds: tuple[tuple[ScoredMention, ...], ...]

    def outside(self, fold: int | None = None) -> list[ScoredMention]:
        """All mentions except those of a fold."""
        others = [one for number, part in enumerate(self.folds) if number != fold for one in part]
        return [*self.train, *others]

    def of(self, documents: Collection[str]) -> Taught:
        """Only the mentions of these documents."""
        kept = [tuple(one for one in part if one.document.key in documents) for part in (self.train, *self.folds)]
        return Taught(kept[0], tuple(kept[1:]))

    def in_folds(self) -> Taught:
        """The decisions in folds, by document."""
        documents = sorted({one.document.key for one in self.outside()}, key=lambda key: place(key, salt="fold"))
        fold = {key: number % TURNS for number, key in enumerate(documents)}
        every = self.outside()
        return Taught((), tuple(tuple(one for one in every if fold[one.document.key] == at) for at in range(TURNS)))

    def alike(self, scored: Iterable[ScoredMention]) -> tuple[tuple[ScoredMention, ...], ...]:
        """Other scores of the same mentions, in the same folds."""
        fold = {one.document.key: number for number, part in enumerate(self.folds) for one in part}
        found: list[list[ScoredMention]] = [[] for _ in self.folds]
        for mention in scored:
            found[fold[mention.document.key]].append(mention)
        return tuple(map(tuple, found))

    @property
    def documents(self) -> frozenset[str]:
        return frozenset(one.document.key for one in self.outside())


@dataclass(frozen=True, slots=True)
class FittedBefore:
    """The mentions on which combiner and NIL of the linker in use were fitted: none for what ships with the program."""

    combiner: Taught
    nil: Taught

    @classmethod
    def of(cls, facts: Mapping[str, Any], taught: Taught) -> FittedBefore:
        """By the `training` of its manifest."""
        nil = facts.get(FITTED_ON, ())
        return cls(taught.of(facts.get(COMBINER_FITTED_ON, nil)), taught.of(nil))

    def without(self, linker: Linker, gold: GoldSet, fold: int | None) -> Linker:
        """The linker in use as it would be had it been fitted without a fold."""
        start = fitted(linker, self.combiner.outside(fold), gold) or linker
        if self.nil.documents == self.combiner.documents:
            return start
        return fitted(start, self.nil.outside(fold), gold, only_nil=True) or start


def was_taught(linker: Linker) -> bool:
    """Whether the linker uses a trained stage, which has memorised its train documents."""
    over_names = linker.bundle.manifest.retriever(NAMES)
    if over_names is not None and TRAINED in over_names.settings:
        return True
    names = [one.name for one in linker.stages.trained] + [RANKER] * (linker.stages.ranker is not None)
    return any(linker.listens_to(name) for name in names)


def sample(train: Sequence[SnapshotDocument]) -> list[SnapshotDocument]:
    """At most ``MOST_TAUGHT`` documents, chosen by a hash of their keys."""
    return sorted(train, key=lambda document: place(document.key, salt="calibration"))[:MOST_TAUGHT]


def linked_count(scored: Scored, gold: GoldSet) -> int:
    """The number of linked mentions."""
    linked = {mention.key for mention in gold.linked}
    return sum(one.query.key in linked for one in scored)


def fitted(linker: Linker, scored: Scored, gold: GoldSet, *, only_nil: bool = False) -> Linker | None:
    """The linker with combiner and NIL, or only NIL, fitted on these mentions; None if fewer than 200 are linked.

    The combiner stays close to the one shipped with the program (``models.rankers.fit_combiner``). The weights of
    trained stages are fitted on the same mentions, so these must not have trained such a stage.
    """
    if linked_count(scored, gold) < MIN_COMBINER:
        return None
    answers: Gold = {(mention.document, mention.key): frozenset(mention.ids) for mention in gold.mentions}
    known = [one for one in scored if (one.document.key, one.query.key) in answers]
    tuned = tune_scored(linker, known, answers, only_nil=only_nil)
    return linker.with_weights(fusion=tuned.fusion, combiner=tuned.combiner, nil=tuned.nil)


def deaf(linker: Linker, stage: str) -> Linker:
    """The linker with the stage's weight set to zero."""
    return linker.with_weights(combiner=linker.combiner.hearing(stage, None), nil=linker.nil.hearing(stage, None))


def refit(
    linker: Linker,
    scored: Scored,
    gold: GoldSet,
    *,
    stage: str = "",
    taught: Scored = (),
    known: Linker | None = None,
    only_nil: bool = False,
) -> Linker:
    """The linker that uses the new `stage` to the extent that `scored` supports it; without `stage` the stages' weights
    stay. With `only_nil` the combiner stays as well.

    First combiner and NIL are fitted on `taught`, scored by the linker `known`, if there are enough mentions. Otherwise
    both stay, except that a NIL model that was not calibrated on this project is fitted on `scored`. The weights of
    other stages stay too, since a few hundred mentions are too few for all: with fusion weights refitted on 50
    documents of BC5CDR train, recall@1 on 150 other train documents went from 90.8 to 90.7 % and NIL's F1 from .50 to
    .29.
    """
    labels = {mention.key: mention for mention in gold.mentions}
    pairs = [(mention, labels[mention.query.key]) for mention in scored if mention.query.key in labels]
    mentions, is_nil = [mention for mention, _ in pairs], [label.nil for _, label in pairs]
    linked = [(mention, frozenset(label.ids)) for mention, label in pairs if not label.nil]
    again = fitted(known or linker, taught, gold, only_nil=only_nil)
    if again is not None:
        linker = linker.with_weights(combiner=again.combiner, nil=again.nil)
    if stage:
        linker = hear(deaf(linker, stage), linked, stage=stage)
    if again is None and not linker.nil.calibrated:
        linker = linker.with_weights(nil=learn_nil(linker, mentions, is_nil))
    return hear_nil(linker, mentions, is_nil, stage=stage) if stage in linker.combiner.heard else linker


def cross_fitted(
    linker: Linker,
    folds: Sequence[Scored],
    gold: GoldSet,
    *,
    k: int,
    stage: str = "",
    taught: Taught | None = None,
    known: Linker | None = None,
) -> list[LinkedMention]:
    """Answers in which each fold is linked with weights fitted on the other folds; a single fold is fitted on
    itself."""
    found: list[LinkedMention] = []
    for number, fold in enumerate(folds):
        others = [mention for other, part in enumerate(folds) if other != number for mention in part]
        left = () if taught is None else taught.outside(number if others else None)
        judge = refit(linker, others or fold, gold, stage=stage, taught=left, known=known)
        found.extend(judge.finish(mention, k=k) for mention in fold)
    return found


def answers_before(
    linker: Linker, taught: Taught, gold: GoldSet, before: FittedBefore, *, k: int, new_nil: bool = False
) -> list[LinkedMention]:
    """Answers of the linker in use to each fold, without what it was fitted on there; with `new_nil` its NIL is fitted
    on the other folds. A single fold stays in."""
    found: list[LinkedMention] = []
    for number, fold in enumerate(taught.folds):
        left_out = number if len(taught.folds) > 1 else None
        judge = before.without(linker, gold, left_out)
        if new_nil:
            judge = fitted(judge, taught.outside(left_out), gold, only_nil=True) or judge
        found.extend(judge.finish(mention, k=k) for mention in fold)
    return found
