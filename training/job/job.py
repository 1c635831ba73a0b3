"""The training job: it takes decisions and returns a complete staging bundle with a verdict.

Prepare, train, write the component; fit the candidate configurations (`fitting.py`); give their out-of-fold answers to
the gate (`gate.py`); seal the bundle with the best.

Runs in a child process. It can be cancelled or killed at every event. Until the last one the staging folder is
incomplete, and the bundle in use is never changed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from models.core.device import choose_device
from models.core.file_io import write_json
from models.errors import ModelError, english, nsay, say
from models.linker.answering import ScoredMention
from models.linker.bundle import Bundle, Manifest, new_id, now, open_bundle, reuse, seal
from models.linker.linker import Linker
from models.linker.reranking import RANKER, ask
from models.linker.tuning import MIN_COMBINER
from models.types import LinkedMention
from resources.recipe_files import Network, Recipe, Role
from training.data.budget import Budget
from training.data.examples import decided_documents
from training.data.gold import GoldSet, resolve_gold
from training.data.progress import Event, Phase, note
from training.data.snapshot import SnapshotDocument
from training.data.spec import TrainingSpec
from training.evaluation.embedding_map import MAP_FILE
from training.evaluation.flips import flips
from training.evaluation.report import evaluate
from training.job.assembly import provenance
from training.job.cross_encoder_learning import learn_pair
from training.job.fitting import (
    COMBINER_FITTED_ON,
    FITTED_ON,
    MIN_ORDER,
    CalibrationSet,
    Configuration,
    Folds,
    InUse,
    Refit,
    ablated,
    linked_count,
)
from training.job.gate import (
    LIKELIHOOD,
    GateOutcome,
    GateResult,
    Part,
    comparison,
    gains_of,
    judge,
    queue_changes,
    undecided,
)
from training.job.names_learning import learn_names
from training.job.part_learning import Learnt, learn_towers
from training.job.preparation import K, Loaded, Prepared, load, prepare, score, score_folds
from training.job.ranker_rule import chosen_rule, rule_note, silent, with_margin, with_rule, without_time_limit
from training.job.turns import needs_turns, scored_in_turns

ASKED_AT_ONCE = 256
ONLY_NIL = "Only NIL was refitted: a new order of candidates was no gain, or there are fewer than {least:,} links."
LEFT_OUT = "{sentence} Only the other weights were refitted: “{stage}” is left out, since it brought no gain."


def run_training(spec: TrainingSpec | Mapping[str, Any], *, shuffle_labels: bool = False) -> Iterator[Event]:
    """Train a recipe; the last event has phase DONE and `data["result"]`: {bundle_id, verdict, message, metrics}.

    `shuffle_labels` shuffles the decisions at random, for experiments: the resulting bundle must be refused. Raises
    ModelError for every error that the user can correct.
    """
    asked = spec if isinstance(spec, TrainingSpec) else TrainingSpec.from_json(spec)
    if asked.threads > 0:
        torch.set_num_threads(asked.threads)
    budget = Budget(asked.max_minutes)
    notes: list[str] = []
    for event in _steps(asked, budget, notes, shuffle_labels=shuffle_labels):
        if event.is_note:
            notes.append(english(event.text))
        yield event


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """The linker to seal, and answers to the held-out mentions of `gold`: by the linker in use, by the new one, and by
    the new one without its part where combiner and NIL, or `only_nil`, were refitted (`calibration`)."""

    linker: Linker
    gold: GoldSet
    old: list[LinkedMention]
    new: list[LinkedMention]
    without: list[LinkedMention] | None = None
    calibration: CalibrationSet | None = None
    only_nil: bool = False


def _steps(spec: TrainingSpec, budget: Budget, notes: list[str], *, shuffle_labels: bool) -> Iterator[Event]:
    loaded = yield from load(spec)
    if loaded.recipe.role is Role.FIT:
        yield from _fit_alone(loaded, budget, notes)
        return
    prepared = yield from prepare(loaded, budget, shuffle_labels=shuffle_labels)
    turned: list[ScoredMention] = []
    if not shuffle_labels and needs_turns(loaded, prepared, budget):
        turned = yield from scored_in_turns(loaded, prepared, budget, _train, lambda *asked: _scored_by(loaded, *asked))
    learnt, manifest = yield from _train(loaded, prepared, budget)
    refitted = yield from _refit(loaded, prepared.calibration, turned, fits=not shuffle_labels)
    in_place = loaded.recipe.role is Role.NAMES
    used = in_place or refitted.linker.uses_stage(_stage(loaded))
    part = Part(loaded.recipe.stage, learnt.component, used, without=refitted.without, in_place=in_place)
    gate = judge(refitted.old, refitted.new, refitted.gold, part)
    weights = None
    if gate.verdict is not GateOutcome.PROMOTE and not (shuffle_labels or spec.keeps_part):
        yield Event(Phase.REFIT, text=say("Fitting only the other weights"))
        weights = _weights_alone(loaded, prepared.calibration)
    if weights is None:
        run = {"entity_tower": learnt.entity_tower, "run": asdict(learnt.result)}
        facts = {**run, **provenance(loaded, budget), "notes": notes}
        yield from _finish(loaded, manifest, refitted, gate, facts, known=refitted.linker.bundle)
        return
    yield note(Phase.REFIT, gate.sentence)
    shutil.rmtree(loaded.spec.staging)
    loaded.spec.staging.mkdir()
    yield from _finish_weights(loaded, weights, budget, notes, without=loaded.recipe.stage)


def _train(loaded: Loaded, prepared: Prepared, budget: Budget) -> Generator[Event, None, tuple[Learnt, Manifest]]:
    learnt = yield from _learn_by(loaded.recipe)(loaded, prepared, budget)
    return learnt, (yield from _write_part(loaded, learnt))


def _learn_by(recipe: Recipe) -> Callable[[Loaded, Prepared, Budget], Generator[Event, None, Learnt]]:
    if recipe.role is Role.NAMES:
        return learn_names
    return learn_pair if recipe.network is Network.PAIR else learn_towers


def _fit_alone(loaded: Loaded, budget: Budget, notes: list[str]) -> Iterator[Event]:
    """Without a network: weights are fitted on all decisions; each document is evaluated with those of the others."""
    gold = _gold(loaded, loaded.parts.held_out)
    if len(gold.linked) < MIN_COMBINER:
        raise ModelError(
            nsay(
                "{n:,} linked mention is not enough to fit weights: {least} are needed. Link some more first.",
                "{n:,} linked mentions are not enough to fit weights: {least} are needed. Link some more first.",
                len(gold.linked),
                least=MIN_COMBINER,
            )
        )
    calibration = CalibrationSet((), (yield from score_folds(loaded)))
    yield Event(Phase.REFIT, text=say("Fitting the weights of names, memory, hierarchy and NIL"))
    yield from _finish_weights(loaded, _best_weights(loaded, calibration, gold), budget, notes)


def _finish_weights(
    loaded: Loaded, refitted: Refitted, budget: Budget, notes: list[str], *, without: str = ""
) -> Iterator[Event]:
    """The linker in use with other weights: nothing was trained, or it is left out (`without` names its stage)."""
    if refitted.only_nil:
        yield note(Phase.REFIT, say(ONLY_NIL, least=MIN_ORDER))
    for relative in loaded.base.manifest.files:
        reuse(loaded.base, relative, loaded.spec.staging)
    manifest = _named(loaded, loaded.base.manifest)
    gate = judge(refitted.old, refitted.new, refitted.gold)
    if without:
        gate = replace(gate, sentence=say(LEFT_OUT, sentence=gate.sentence, stage=without))
    facts = {**provenance(loaded, budget), "notes": notes}
    yield from _finish(loaded, manifest, refitted, gate, facts, known=loaded.base)


def _weights_alone(loaded: Loaded, calibration: CalibrationSet) -> Refitted | None:
    """If a trained part brings no gain: combiner and NIL fitted on all decisions, as without training. None if this
    brings no gain either, or if decisions are too few or were used to train a stage in use."""
    gold = _gold(loaded, loaded.decided)
    whole = calibration.in_folds()
    if not calibration.train or linked_count(whole.outside(), gold) < MIN_COMBINER:
        return None
    refitted = _best_weights(loaded, whole, gold)
    better = judge(refitted.old, refitted.new, refitted.gold).verdict is GateOutcome.PROMOTE
    return refitted if better else None


def _best_weights(loaded: Loaded, calibration: CalibrationSet, gold: GoldSet) -> Refitted:
    """Combiner and NIL fitted on all decisions, or only NIL if this is as good or links are too few for both."""
    nil = _fitted_on_all(loaded, calibration, gold, only_nil=True)
    if linked_count(calibration.outside(), gold) < MIN_ORDER:
        return nil
    return of_both(_fitted_on_all(loaded, calibration, gold, only_nil=False), nil)


def of_both(both: Refitted, nil: Refitted) -> Refitted:
    """The better of two results, with combiner and NIL refitted or only NIL: the one that the gate promotes. If it
    promotes both, the one with more fitted parts must be better than the other, and the decisions significantly more
    likely with it. If it promotes none, the one with fewer."""
    promoted = [one for one in (both, nil) if judge(one.old, one.new, one.gold).verdict is GateOutcome.PROMOTE]
    if len(promoted) == 2:
        apart = judge(nil.new, both.new, both.gold)
        if apart.verdict is not GateOutcome.PROMOTE or apart.gains[LIKELIHOOD].low <= 0:
            return nil
    return promoted[0] if promoted else nil


def _fitted_on_all(loaded: Loaded, calibration: CalibrationSet, gold: GoldSet, *, only_nil: bool) -> Refitted:
    refit = Refit(loaded.linker, calibration.folds, gold, calibration=calibration, only_nil=only_nil)
    new: Configuration = _in_use(loaded, calibration, gold, new_nil=True) if only_nil else refit
    old = _in_use(loaded, calibration, gold).answers(k=K)
    return Refitted(refit.fit(), gold, old, new.answers(k=K), calibration=calibration, only_nil=only_nil)


def _write_part(loaded: Loaded, learnt: Learnt) -> Generator[Event, None, Manifest]:
    """The bundle with the base's weights, so that it can be loaded and fitted."""
    staging = loaded.spec.staging
    written = yield from learnt.write(staging)
    yield Event(Phase.INDEX, 0, 1, text=say("Writing the new component"))
    if learnt.map is not None:
        write_json(staging / MAP_FILE, learnt.map.to_json())
    manifest = _named(loaded, written)
    seal(staging, manifest, known=loaded.base)
    yield Event(Phase.INDEX, 1, 1)
    return manifest


def _named(loaded: Loaded, manifest: Manifest) -> Manifest:
    """The manifest with this recipe's name and without results."""
    return manifest.replace(
        id=new_id(loaded.recipe.id),
        kind=loaded.recipe.id,
        created=now(),
        parent=loaded.base.manifest.id,
        seeds=(loaded.spec.seed,),
        metrics={},
        training={},
    )


def _opened(loaded: Loaded, staging: Path) -> Linker:
    """The linker with the new part and the memory of the one in use."""
    linker = without_time_limit(Linker.load(staging, device=choose_device(loaded.spec.device)))
    if linker.shares_memory_with(loaded.linker):
        linker.adopt_memory(loaded.linker)
    else:
        linker.remember(*decided_documents(loaded.parts.remembered, loaded.kb.resolved.get))
    return linker


def _scored_by(
    loaded: Loaded, staging: Path, documents: Sequence[SnapshotDocument]
) -> Generator[Event, None, list[ScoredMention]]:
    """All mentions of these documents with the scores of the new part too."""
    linker = _opened(loaded, staging)
    if loaded.recipe.role is not Role.RANKER:
        return (yield from score(linker, documents, "", weighted_only=False))
    scored = yield from score(silent(linker), documents, "", weighted_only=False)
    _, (found,) = yield from _ask_ranker(linker, (tuple(scored),))
    return list(found)


def _refit(
    loaded: Loaded, calibration: CalibrationSet, turned: Sequence[ScoredMention], *, fits: bool
) -> Generator[Event, None, Refitted]:
    """The new linker with weights fitted on all held-out documents, and cross-fitted answers for them. The documents of
    `turned` mentions, which parts scored that did not learn from them, count as held out too.

    Combiner and NIL are refitted too if there are enough decisions (and `fits`). A part is not used if the decisions
    are less likely with it than with this refit alone. A new ranker is added last, when the weights of all other stages
    are known.
    """
    reloaded = _opened(loaded, loaded.spec.staging)
    ranks, in_place = loaded.recipe.role is Role.RANKER, loaded.recipe.role is Role.NAMES
    linker = silent(reloaded) if ranks else reloaded
    text = say("Fitting the weight of the new component, and NIL")
    scored = yield from score(linker, loaded.parts.held_out, text, phase=Phase.REFIT, weighted_only=False)
    folds = calibration.alike(scored)
    if ranks:
        linker, folds = yield from _ask_ranker(reloaded, folds)
    documents = loaded.parts.held_out
    if turned:
        calibration = calibration.in_folds()
        folds = calibration.alike([*(mention for fold in folds for mention in fold), *turned])
        documents = tuple(one for one in loaded.decided if one.key in calibration.documents)
    gold, stage = _gold(loaded, loaded.decided), "" if in_place else _stage(loaded)
    held_out, in_use = _gold(loaded, documents), loaded.linker
    if not fits or linked_count(calibration.outside(), gold) < MIN_COMBINER:
        without = Refit(in_use, calibration.folds, gold)
        new = Refit(linker, folds, gold, stage)
        refitted = Refitted(new.fit(), held_out, without.answers(k=K), new.answers(k=K))
    else:
        without = Refit(in_use, calibration.folds, gold, calibration=calibration)
        shown = CalibrationSet(calibration.train, folds) if in_place else calibration
        new = Refit(linker, folds, gold, stage, shown, known=linker if in_place else in_use)
        left_out, answered, sealed = without.answers(k=K), new.answers(k=K), new.fit()
        gain = gains_of(left_out, answered, held_out)[LIKELIHOOD]
        if gain.new <= gain.old and not in_place:
            sealed, answered = ablated(sealed, stage), left_out
        old = _in_use(loaded, calibration, gold).answers(k=K)
        refitted = Refitted(sealed, held_out, old, answered, left_out, calibration)
    if stage:
        yield note(Phase.REFIT, refitted.linker.combiner.weights_sentence(stage))
    return refitted


def _in_use(loaded: Loaded, calibration: CalibrationSet, gold: GoldSet, *, new_nil: bool = False) -> InUse:
    return InUse.of(loaded.linker, calibration, gold, loaded.base.manifest.training, new_nil=new_nil)


def _ask_ranker(linker: Linker, scored: Folds) -> Generator[Event, None, tuple[Linker, Folds]]:
    """The linker whose ranker's margin covers the recipe's share of the mentions, and the mentions' scores."""
    every = [mention for part in scored for mention in part]
    rule = chosen_rule(linker, every)
    yield note(Phase.REFIT, rule_note(rule, every))
    ruled = with_rule(linker, rule)
    answers: list[list[ScoredMention]] = []
    done = 0
    for part in scored:
        answers.append([])
        for start in range(0, len(part), ASKED_AT_ONCE):
            answers[-1].extend(ask(ruled.stages, ruled.answerer(), part[start : start + ASKED_AT_ONCE]))
            done = min(done + ASKED_AT_ONCE, len(every))
            yield Event(Phase.REFIT, done, len(every))
    return ruled, tuple(map(tuple, answers))


def _finish(
    loaded: Loaded, manifest: Manifest, refitted: Refitted, gate: GateResult, facts: Mapping[str, Any], *, known: Bundle
) -> Iterator[Event]:
    """Write the manifest with the fitted weights, check every file's hash, report. Hashes of `known` files are kept."""
    yield Event(Phase.EVALUATE, 0, 1, text=say("Comparing the old and the new linker"))
    linker = refitted.linker
    metrics = _metrics(loaded, refitted, gate)
    metrics["queue"] = yield from queue_changes(loaded.linker, linker, undecided(loaded.snapshot.documents))
    yield Event(Phase.WRITE, 0, 1, text=say("Writing the linker"))
    staging = loaded.spec.staging
    final = manifest.replace(
        fusion=linker.fusion.to_json(),
        nil=linker.nil.to_json(),
        metrics=metrics,
        training={
            **facts,
            "gate": {"verdict": gate.verdict.value, "message": english(gate.sentence)},
            **_fitted_on(loaded, refitted),
        },
    )
    if linker.combiner.stage_weights or final.training[FITTED_ON]:
        final = final.replace(combiner=linker.combiner.to_json())
    if final.ranker is not None:
        final = final.replace(ranker=with_margin(final.ranker, linker.stages.rule.margin))
    seal(staging, final, known=known)
    open_bundle(staging, verify="full")
    yield Event(Phase.WRITE, 1, 1)
    result = {
        "bundle_id": final.id,
        "verdict": gate.verdict.value,
        "message": gate.sentence,
        "metrics": dict(final.metrics),
    }
    yield Event(Phase.DONE, 1, 1, text=gate.sentence, data={"result": result})


def _metrics(loaded: Loaded, refitted: Refitted, gate: GateResult) -> dict[str, Any]:
    old, new, gold = refitted.old, refitted.new, refitted.gold
    seen = _gold(loaded, loaded.parts.remembered).surfaces
    figures = {"old": old, "new": new} | ({} if refitted.without is None else {"without": refitted.without})
    return {
        **{name: evaluate(answers, gold, k=K, seen=seen).to_json() for name, answers in figures.items()},
        **({} if gate.component is None else {"alone": asdict(gate.component)}),
        "gate": gate.to_json(),
        "links": len(_gold(loaded, loaded.decided).linked),
        "comparison": comparison(old, new, gold, k=K),
        "flips": [asdict(flip) for flip in flips(old, new, gold)],
    }


def _fitted_on(loaded: Loaded, refitted: Refitted) -> dict[str, list[str]]:
    """Keys of the documents on which the sealed weights were fitted; none for those that came with the program."""
    before = loaded.base.manifest.training
    old = list(before.get(FITTED_ON, ()))
    combiner = {COMBINER_FITTED_ON: list(before.get(COMBINER_FITTED_ON, old))}
    if refitted.calibration is None:
        return {FITTED_ON: old, **combiner}
    return {FITTED_ON: sorted(refitted.calibration.documents), **(combiner if refitted.only_nil else {})}


def _stage(loaded: Loaded) -> str:
    """The name of the part's scores in the fusion."""
    return RANKER if loaded.recipe.role is Role.RANKER else loaded.recipe.stage


def _gold(loaded: Loaded, documents: tuple[SnapshotDocument, ...]) -> GoldSet:
    return resolve_gold(documents, loaded.kb.resolved.get)
