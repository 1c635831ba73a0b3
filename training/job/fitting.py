"""Everything that is fitted on decisions without training a network: combiner, NIL, and the weight of trained stages.

A configuration (`Configuration`) says how weights are fitted; its out-of-fold answers go to the gate. Combiner and NIL
are fitted on every decision that no stage in use learned from. This includes train documents if only
the memory learned from them, since it never shows a document its own decisions. The weight of a newly trained part is
fitted on the documents held out from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.linker.answering import ScoredMention
from models.linker.linker import Linker
from models.linker.reranking import RANKER
from models.linker.tuning import MIN_COMBINER, Gold, fit_nil_weight, fit_stage, learn_nil, tune_scored
from models.names.candidates import NAMES
from models.types import LinkedMention
from training.data.document_splits import TURNS, fold_numbers, place
from training.data.gold import GoldMention, GoldSet
from training.data.snapshot import SnapshotDocument

FITTED_ON, COMBINER_FITTED_ON = "fitted_on", "combiner_fitted_on"
"""In a manifest's `training`: keys of the documents on which NIL was fitted, and the combiner where it is not the
same."""
TRAINED = "trained"
"""Key in the settings of the stage over names; its value is the recipe that retrained the encoder."""
MOST_CALIBRATED = 500
"""Train documents on which combiner and NIL are fitted: more would add minutes and little else."""
MIN_ORDER = 1_000
"""Links from which on the combiner is refitted without a network. With 500 it was no gain on average, and once the
check passed a linker that lost 2 points of recall@1 (tests/benchmarks/experiments/NAMES.md)."""

Scored = Sequence[ScoredMention]
Folds = tuple[tuple[ScoredMention, ...], ...]


@dataclass(frozen=True, slots=True)
class CalibrationSet:
    """What combiner and NIL are fitted on, scored by the linker in use: train documents, and held-out documents by
    fold."""

    train: tuple[ScoredMention, ...]
    folds: Folds

    def outside(self, fold: int | None = None) -> list[ScoredMention]:
        """All mentions except those of a fold."""
        others = [mention for number, part in enumerate(self.folds) if number != fold for mention in part]
        return [*self.train, *others]

    def of(self, documents: Collection[str]) -> CalibrationSet:
        """Only the mentions of these documents."""
        train, *folds = (
            tuple(mention for mention in part if mention.document.key in documents)
            for part in (self.train, *self.folds)
        )
        return CalibrationSet(train, tuple(folds))

    def in_folds(self) -> CalibrationSet:
        """All of it in folds, by document."""
        return CalibrationSet((), by_fold(self.outside(), fold_numbers(self.documents, TURNS), TURNS))

    def alike(self, scored: Iterable[ScoredMention]) -> Folds:
        """Other scores of the same mentions, in the same folds."""
        fold = {mention.document.key: number for number, part in enumerate(self.folds) for mention in part}
        return by_fold(scored, fold, len(self.folds))

    @property
    def documents(self) -> frozenset[str]:
        return frozenset(mention.document.key for mention in self.outside())


def by_fold(scored: Iterable[ScoredMention], fold: Mapping[str, int], count: int) -> Folds:
    """The mentions by the folds of their documents."""
    found: list[list[ScoredMention]] = [[] for _ in range(count)]
    for mention in scored:
        found[fold[mention.document.key]].append(mention)
    return tuple(map(tuple, found))


def has_trained_stage(linker: Linker) -> bool:
    """Whether the linker uses a trained stage, which has memorised its train documents."""
    over_names = linker.bundle.manifest.retriever(NAMES)
    if over_names is not None and TRAINED in over_names.settings:
        return True
    names = [one.name for one in linker.stages.trained] + [RANKER] * (linker.stages.ranker is not None)
    return any(linker.uses_stage(name) for name in names)


def sample(train: Sequence[SnapshotDocument]) -> list[SnapshotDocument]:
    """At most ``MOST_CALIBRATED`` documents, chosen by a hash of their keys."""
    return sorted(train, key=lambda document: place(document.key, salt="calibration"))[:MOST_CALIBRATED]


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


def ablated(linker: Linker, stage: str) -> Linker:
    """The linker that gives the stage no weight."""
    return linker.with_weights(
        combiner=linker.combiner.with_stage_weights(stage, None), nil=linker.nil.with_stage_weights(stage, None)
    )


class Configuration(ABC):
    """A way to fit a linker's weights. Each fold is answered with weights that were fitted without it, and the linker
    to seal is fitted on all."""

    folds: Folds

    @abstractmethod
    def fit(self, fold: int | None = None) -> Linker:
        """The linker with weights fitted on all mentions but those of a fold."""

    def answers(self, *, k: int) -> list[LinkedMention]:
        """Answers to the mentions of all folds, each by the linker fitted without it; a single fold stays in."""
        found: list[LinkedMention] = []
        for number, fold in enumerate(self.folds):
            linker = self.fit(number if len(self.folds) > 1 else None)
            found.extend(linker.finish(mention, k=k) for mention in fold)
        return found


@dataclass(frozen=True)
class Refit(Configuration):
    """The `linker` with the weight of a new `stage`, to the extent that the mentions of `folds`, which it scored,
    support it; without `stage` the stages' weights stay. With `only_nil` the combiner stays as well.

    First combiner and NIL are fitted on the calibration set, scored by the linker `known`, if there is one with enough
    mentions. Otherwise both stay, except that a NIL model that was not calibrated on this project is fitted on the
    folds. The weights of other stages stay too, since a few hundred mentions are too few for all: with fusion weights
    refitted on 50 documents of BC5CDR train, recall@1 on 150 other train documents went from 90.8 to 90.7 % and NIL's
    F1 from .50 to .29.
    """

    linker: Linker
    folds: Folds
    gold: GoldSet
    stage: str = ""
    calibration: CalibrationSet | None = None
    known: Linker | None = None
    only_nil: bool = False

    def fit(self, fold: int | None = None) -> Linker:
        linker, known = self.linker, self.known or self.linker
        scored = CalibrationSet((), self.folds).outside(fold)
        mentions, labels = labelled(scored, self.gold)
        is_nil = [label.nil for label in labels]
        calibrated = None
        if self.calibration is not None:
            calibrated = fitted(known, self.calibration.outside(fold), self.gold, only_nil=self.only_nil)
        if calibrated is not None:
            linker = linker.with_weights(combiner=calibrated.combiner, nil=calibrated.nil)
        if self.stage:
            pairs = zip(mentions, labels, strict=True)
            linked = [(mention, frozenset(label.ids)) for mention, label in pairs if not label.nil]
            linker = fit_stage(ablated(linker, self.stage), linked, stage=self.stage)
        if calibrated is None and not linker.nil.calibrated:
            linker = linker.with_weights(nil=learn_nil(linker, mentions, is_nil))
        if self.stage in linker.combiner.stage_weights:
            return fit_nil_weight(linker, mentions, is_nil, stage=self.stage)
        return linker


def labelled(scored: Scored, gold: GoldSet) -> tuple[list[ScoredMention], list[GoldMention]]:
    """The decided mentions and their decisions."""
    labels = {label.key: label for label in gold.mentions}
    mentions = [mention for mention in scored if mention.query.key in labels]
    return mentions, [labels[mention.query.key] for mention in mentions]


@dataclass(frozen=True)
class InUse(Configuration):
    """The linker in use, each fold without what combiner and NIL were fitted on there (`combiner_on`, `nil_on`): none
    for what ships with the program. With `new_nil` its NIL is fitted on the other folds."""

    linker: Linker
    calibration: CalibrationSet
    gold: GoldSet
    combiner_on: CalibrationSet
    nil_on: CalibrationSet
    new_nil: bool = False

    @classmethod
    def of(
        cls,
        linker: Linker,
        calibration: CalibrationSet,
        gold: GoldSet,
        facts: Mapping[str, Any],
        *,
        new_nil: bool = False,
    ) -> InUse:
        """By the `training` of its manifest."""
        nil = facts.get(FITTED_ON, ())
        combiner = calibration.of(facts.get(COMBINER_FITTED_ON, nil))
        return cls(linker, calibration, gold, combiner, calibration.of(nil), new_nil)

    @property
    def folds(self) -> Folds:  # type: ignore[override]
        return self.calibration.folds

    def fit(self, fold: int | None = None) -> Linker:
        start = fitted(self.linker, self.combiner_on.outside(fold), self.gold) or self.linker
        if self.nil_on.documents != self.combiner_on.documents:
            start = fitted(start, self.nil_on.outside(fold), self.gold, only_nil=True) or start
        if self.new_nil:
            start = fitted(start, self.calibration.outside(fold), self.gold, only_nil=True) or start
        return start
