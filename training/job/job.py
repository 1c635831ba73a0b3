"""The training job: decisions in, a complete staging bundle and a verdict on it out.

Runs in a child process. Every event is a point where it may be cancelled or killed; until the last one the staging
folder is incomplete, and the bundle in use is never touched.
"""

from __future__ import annotations

import platform
from collections.abc import Generator, Iterator, Mapping
from dataclasses import asdict
from importlib import metadata
from typing import Any

import torch

from models.core import choose_device, write_json
from models.errors import english, say
from models.linker import RANKER, Bundle, Linker, Manifest, ScoredMention, ask, new_id, now, open_bundle, seal
from models.types import LinkedMention
from training.data import Budget, Event, GoldSet, Phase, SnapshotDocument, TrainingSpec, note, resolve_gold
from training.evaluation import MAP_FILE, evaluate, flips
from training.job.calibration import cross_fitted, refit
from training.job.cross_encoder_learning import learn_pair
from training.job.gate import Alone, GateResult, comparison, judge, queue_changes, undecided
from training.job.part_learning import Learnt, learn_towers
from training.job.preparation import K, Loaded, Prepared, load, prepare
from training.job.ranker_rule import chosen_rule, rule_note, silent, with_margin, with_rule, without_time_limit
from training.job.recipes import Network, Role

ASKED_AT_ONCE = 256
PACKAGES = ("torch", "transformers", "faiss-cpu", "faiss-gpu", "numpy", "scikit-learn", "safetensors")


def run_training(spec: TrainingSpec | Mapping[str, Any], *, shuffle_labels: bool = False) -> Iterator[Event]:
    """Train a recipe; the last event has phase DONE and `data["result"]`: {bundle_id, verdict, message, metrics}.

    `shuffle_labels` deals the decisions out at random: a bundle made from them must be refused (for experiments).
    Raises ModelError for everything that the user or the environment can mend.
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


def _steps(spec: TrainingSpec, budget: Budget, notes: list[str], *, shuffle_labels: bool) -> Iterator[Event]:
    loaded = yield from load(spec)
    prepared = yield from prepare(loaded, budget, shuffle_labels=shuffle_labels)
    learn = learn_pair if loaded.recipe.network is Network.PAIR else learn_towers
    learnt = yield from learn(loaded, prepared, budget)
    manifest = yield from _write_part(loaded, learnt)
    linker, new = yield from _refit(loaded)
    yield Event(Phase.EVALUATE, 0, 1, text=say("Comparing the old and the new linker"))
    gate, metrics = _compare(loaded, prepared, linker, new, learnt.alone)
    metrics["queue"] = yield from queue_changes(loaded.linker, linker, undecided(loaded.snapshot.documents))
    facts = _provenance(loaded, gate, learnt, budget) | {"notes": notes}
    yield from _finish(manifest.replace(metrics=metrics, training=facts), linker, gate)


def _write_part(loaded: Loaded, learnt: Learnt) -> Generator[Event, None, Manifest]:
    """The bundle with the base's weights, so that it can be opened and fitted."""
    staging = loaded.spec.staging
    written = yield from learnt.write(staging)
    yield Event(Phase.INDEX, 0, 1, text=say("Writing the part"))
    if learnt.map is not None:
        write_json(staging / MAP_FILE, learnt.map.to_json())
    manifest = written.replace(
        id=new_id(loaded.recipe.id),
        kind=loaded.recipe.id,
        created=now(),
        parent=loaded.base.manifest.id,
        seeds=(loaded.spec.seed,),
        metrics={},
        training={},
    )
    seal(staging, manifest, known=loaded.base)
    yield Event(Phase.INDEX, 1, 1)
    return manifest


def _refit(loaded: Loaded) -> Generator[Event, None, tuple[Linker, list[LinkedMention]]]:
    """The new linker with weights fitted on all held-out documents, and cross-fitted answers for them.

    A new ranker is asked last, when the margins of all other stages are known."""
    loaded_anew = without_time_limit(Linker.load(loaded.spec.staging, device=choose_device(loaded.spec.device)))
    loaded_anew.adopt_memory(loaded.linker)
    ranks = loaded.recipe.role is Role.RANKER
    linker = silent(loaded_anew) if ranks else loaded_anew
    scored: list[list[ScoredMention]] = []
    total = len(loaded.parts.held_out)
    for fold in loaded.parts.folds:
        scored.append([])
        for document in fold:
            scored[-1].extend(linker.score([document.to_input()], k=K))
            done = sum(len(part) for part in loaded.parts.folds[: len(scored) - 1]) + fold.index(document) + 1
            text = say("Fitting what is heard of the new part, and NIL") if done == 1 else ""
            yield Event(Phase.REFIT, done, total, text=text)
    if ranks:
        linker, scored = yield from _ask_ranker(loaded_anew, scored)
    gold, stage = _gold(loaded, loaded.parts.held_out), _stage(loaded)
    new = cross_fitted(linker, scored, gold, stage=stage, k=K)
    linker = refit(linker, [mention for part in scored for mention in part], gold, stage=stage)
    yield note(Phase.REFIT, linker.combiner.hearing_sentence(stage))
    return linker, new


def _ask_ranker(
    linker: Linker, scored: list[list[ScoredMention]]
) -> Generator[Event, None, tuple[Linker, list[list[ScoredMention]]]]:
    """The linker with the margin that the recipe's share of mentions lies within, and their scores."""
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
    return ruled, answers


def _compare(
    loaded: Loaded, prepared: Prepared, linker: Linker, new: list[LinkedMention], alone: Alone
) -> tuple[GateResult, dict[str, Any]]:
    gold, seen = _gold(loaded, loaded.parts.held_out), _gold(loaded, loaded.parts.train).surfaces
    old = cross_fitted(loaded.linker, prepared.scored, gold, k=K)
    before, after = (evaluate(linked, gold, k=K, seen=seen) for linked in (old, new))
    gate = judge(old, new, gold, alone, heard=linker.listens_to(_stage(loaded)), stage=loaded.recipe.stage)
    metrics = {
        "old": before.to_json(),
        "new": after.to_json(),
        "alone": asdict(alone),
        "gate": gate.to_json(),
        "comparison": comparison(old, new, gold, k=K),
        "flips": [asdict(flip) for flip in flips(old, new, gold)],
    }
    return gate, metrics


def _finish(manifest: Manifest, linker: Linker, gate: GateResult) -> Iterator[Event]:
    """Write the manifest with the fitted weights, check every file's hash, report."""
    yield Event(Phase.WRITE, 0, 1, text=say("Writing the bundle"))
    staging = linker.bundle.path
    final = manifest.replace(fusion=linker.fusion.to_json(), nil=linker.nil.to_json())
    if linker.combiner.heard:
        final = final.replace(combiner=linker.combiner.to_json())
    if final.ranker is not None:
        final = final.replace(ranker=with_margin(final.ranker, linker.stages.rule.margin))
    seal(staging, final, known=Bundle(staging, linker.bundle.manifest))
    open_bundle(staging, verify="full")
    yield Event(Phase.WRITE, 1, 1)
    result = {
        "bundle_id": final.id,
        "verdict": gate.verdict.value,
        "message": gate.sentence,
        "metrics": dict(final.metrics),
    }
    yield Event(Phase.DONE, 1, 1, text=gate.sentence, data={"result": result})


def _stage(loaded: Loaded) -> str:
    """The name under which the part's scores are fused."""
    return RANKER if loaded.recipe.role is Role.RANKER else loaded.recipe.stage


def _gold(loaded: Loaded, documents: tuple[SnapshotDocument, ...]) -> GoldSet:
    return resolve_gold(documents, loaded.kb.resolved.get)


def _provenance(loaded: Loaded, gate: GateResult, learnt: Learnt, budget: Budget) -> dict[str, Any]:
    """Everything needed to repeat the run, and what it cost."""
    parts = {"train": loaded.parts.train, "held_out": loaded.parts.held_out}
    return {
        "recipe": loaded.recipe.id,
        "parameters": dict(loaded.values),
        "gate": {"verdict": gate.verdict.value, "message": english(gate.sentence)},
        "entity_tower": learnt.entity_tower,
        "run": asdict(learnt.result),
        "folds": len(loaded.parts.folds),
        "documents": {name: [document.key for document in documents] for name, documents in parts.items()},
        "data_hash": loaded.snapshot.data_hash,
        "kb_hash": loaded.base.manifest.kb_hash,
        "seed": loaded.spec.seed,
        "max_minutes": loaded.spec.max_minutes,
        "max_steps": loaded.spec.max_steps,
        "seconds": round(budget.elapsed, 1),
        "device": english(choose_device(loaded.spec.device).sentence),
        "threads": torch.get_num_threads(),
        "packages": _packages(),
    }


def _packages() -> dict[str, str]:
    installed = {distribution.name for distribution in metadata.distributions()}
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in PACKAGES if name in installed
    }
