"""The training job: decisions in, a complete staging bundle and a verdict on it out.

Runs in a child process. Every event is a point where it may be cancelled or killed; until the last one the staging
folder is incomplete, and the bundle in use is never touched.
"""

from __future__ import annotations

import platform
from collections.abc import Generator, Iterator, Mapping
from dataclasses import asdict, replace
from importlib import metadata
from typing import Any

import torch

from models.bundle import Bundle, Manifest, new_id, now, open_bundle, seal
from models.device import choose_device
from models.linker import Linker, ScoredMention
from models.reranking import RANKER
from models.types import LinkedMention
from training.assembly import TrainedPart, write_part
from training.budget import Budget, trains_entities
from training.evaluation import evaluate, flips
from training.events import Event, Phase, note
from training.gate import Alone, GateResult, judge
from training.gold import GoldSet, resolve_gold
from training.preparation import K, Loaded, Prepared, load, part_recall, prepare
from training.recipes import Role
from training.refit import cross_fitted, refit
from training.snapshot import SnapshotDocument
from training.spec import TrainingSpec
from training.tasks import make_settings, make_task, make_towers
from training.towers import FloatArray, Towers
from training.trainer import TrainResult, train
from training.vectors import entity_vectors, mention_vectors

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
            notes.append(event.text)
        yield event


def _steps(spec: TrainingSpec, budget: Budget, notes: list[str], *, shuffle_labels: bool) -> Iterator[Event]:
    loaded = yield from load(spec)
    prepared = yield from prepare(loaded, budget, shuffle_labels=shuffle_labels)
    trained, why = trains_entities(loaded.wanted.entity_tower, prepared.work, prepared.rates, budget.left())
    yield note(Phase.PREPARE, why)
    towers = make_towers(loaded, prepared, trained=trained)
    result = yield from _train(loaded, prepared, towers, budget, trained=trained)
    vectors = prepared.vectors
    if trained:
        vectors = yield from entity_vectors(replace(prepared.encoder, module=towers.entity), prepared.texts)
    alone = _alone(loaded, prepared, towers, vectors)
    manifest = yield from _write_part(loaded, _part(prepared, towers, vectors, loaded, trained=trained))
    linker, new = yield from _refit(loaded)
    yield Event(Phase.EVALUATE, 0, 1, text="Comparing the old and the new linker")
    gate, metrics = _compare(loaded, prepared, linker, new, alone)
    facts = _provenance(loaded, gate, result, budget, trained=trained) | {"notes": notes}
    yield from _finish(manifest.replace(metrics=metrics, training=facts), linker, gate)


def _train(
    loaded: Loaded, prepared: Prepared, towers: Towers, budget: Budget, *, trained: bool
) -> Generator[Event, None, TrainResult]:
    task = make_task(loaded, prepared, towers)
    result = yield from train(task, make_settings(loaded, prepared, budget, trained=trained))
    if result.cut_short:
        yield note(Phase.TRAIN, "The time budget ended training before the planned number of steps.")
    yield note(
        Phase.TRAIN,
        f"{result.steps:,} steps, {result.epochs:.1f} passes in {result.seconds:.0f} s; the loss went from "
        f"{result.losses[0]:.3f} to {result.losses[-1]:.3f}.",
    )
    return result


def _alone(loaded: Loaded, prepared: Prepared, towers: Towers, vectors: FloatArray) -> Alone:
    """The part by itself on the held-out documents, untrained and trained."""
    mentions = mention_vectors(towers, prepared.held_out)
    after = part_recall(loaded, mentions, vectors, prepared.held_out, prepared.ranked)
    return Alone(prepared.before[0], after[0], prepared.before[1], after[1])


def _part(prepared: Prepared, towers: Towers, vectors: FloatArray, loaded: Loaded, *, trained: bool) -> TrainedPart:
    mention = replace(prepared.encoder, module=towers.mention, fingerprint="")
    entity = replace(prepared.encoder, module=towers.entity, fingerprint="") if trained else prepared.encoder
    return TrainedPart(mention, entity, vectors, loaded.inputs)


def _write_part(loaded: Loaded, part: TrainedPart) -> Generator[Event, None, Manifest]:
    """The bundle with the base's weights, so that it can be opened and fitted."""
    yield Event(Phase.INDEX, 0, 1, text="Building the index")
    staging = loaded.spec.staging
    written = write_part(part, loaded.recipe, loaded.base, staging, top_k=loaded.wanted.candidates)
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
    """The new linker with weights fitted on all held-out documents, and cross-fitted answers for them."""
    linker = Linker.load(loaded.spec.staging, device=choose_device(loaded.spec.device))
    scored: list[list[ScoredMention]] = []
    total = len(loaded.parts.held_out)
    for fold in loaded.parts.folds:
        scored.append([])
        for document in fold:
            scored[-1].extend(linker.score([document.to_input()], k=K))
            done = sum(len(part) for part in loaded.parts.folds[: len(scored) - 1]) + fold.index(document) + 1
            yield Event(Phase.REFIT, done, total, text="Refitting fusion and NIL" if done == 1 else "")
    gold, stage = _gold(loaded, loaded.parts.held_out), _stage(loaded)
    new = cross_fitted(linker, scored, gold, stage=stage, k=K)
    linker = refit(linker, [mention for part in scored for mention in part], gold, stage=stage)
    yield note(Phase.REFIT, linker.fusion.sentence())
    return linker, new


def _compare(
    loaded: Loaded, prepared: Prepared, linker: Linker, new: list[LinkedMention], alone: Alone
) -> tuple[GateResult, dict[str, Any]]:
    gold, seen = _gold(loaded, loaded.parts.held_out), _gold(loaded, loaded.parts.train).surfaces
    before, after = (evaluate(linked, gold, k=K, seen=seen) for linked in (prepared.old, new))
    weight = linker.fusion.weights.get(_stage(loaded), 0.0)
    gate = judge(before, after, alone, weight=weight, stage=loaded.recipe.stage)
    metrics = {
        "old": before.to_json(),
        "new": after.to_json(),
        "alone": asdict(alone),
        "gate": gate.to_json(),
        "flips": [asdict(flip) for flip in flips(prepared.old, new, gold)],
    }
    return gate, metrics


def _finish(manifest: Manifest, linker: Linker, gate: GateResult) -> Iterator[Event]:
    """Write the manifest with the fitted weights, check every file's hash, report."""
    yield Event(Phase.WRITE, 0, 1, text="Writing the bundle")
    staging = linker.bundle.path
    final = manifest.replace(fusion=linker.fusion.to_json(), nil=linker.nil.to_json())
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


def _provenance(
    loaded: Loaded, gate: GateResult, result: TrainResult, budget: Budget, *, trained: bool
) -> dict[str, Any]:
    """Everything needed to repeat the run, and what it cost."""
    parts = {"train": loaded.parts.train, "held_out": loaded.parts.held_out}
    return {
        "recipe": loaded.recipe.id,
        "parameters": dict(loaded.values),
        "gate": {"verdict": gate.verdict.value, "message": gate.sentence},
        "entity_tower": "trained" if trained else "frozen",
        "run": asdict(result),
        "folds": len(loaded.parts.folds),
        "documents": {name: [document.key for document in documents] for name, documents in parts.items()},
        "data_hash": loaded.snapshot.data_hash,
        "kb_hash": loaded.base.manifest.kb_hash,
        "seed": loaded.spec.seed,
        "max_minutes": loaded.spec.max_minutes,
        "seconds": round(budget.elapsed, 1),
        "device": choose_device(loaded.spec.device).sentence,
        "threads": torch.get_num_threads(),
        "packages": _packages(),
    }


def _packages() -> dict[str, str]:
    installed = {distribution.name for distribution in metadata.distributions()}
    return {"python": platform.python_version()} | {
        name: metadata.version(name) for name in PACKAGES if name in installed
    }
