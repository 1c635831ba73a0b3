"""The middle of a training job: what is trained, how it does by itself, and what is written of it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from models.bundle import Manifest
from training.assembly import TrainedPart, write_part
from training.budget import Budget, trains_entities
from training.events import Event, Phase, note
from training.gate import Alone
from training.preparation import Loaded, Prepared, PreparedTowers, part_recall, prepare_towers
from training.tasks import make_settings, make_task, make_towers
from training.towers import FloatArray, Towers
from training.trainer import Task, TrainResult, TrainSettings, train
from training.vectors import entity_vectors, mention_vectors


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """`write` puts the trained part into a staging folder and returns the manifest so far; `entity_tower` is "trained",
    "frozen", or "none" where there is none."""

    result: TrainResult
    alone: Alone
    write: Callable[[Path], Manifest]
    entity_tower: str


def learn_towers(loaded: Loaded, given: Prepared, budget: Budget) -> Generator[Event, None, Learnt]:
    """Train two towers and encode the entities anew where theirs was trained."""
    prepared = yield from prepare_towers(loaded, given, budget)
    trained, why = trains_entities(loaded.wanted.entity_tower, prepared.work, prepared.rates, budget.left())
    yield note(Phase.PREPARE, why)
    towers = make_towers(loaded, prepared, trained=trained)
    task = make_task(loaded, prepared, towers)
    result = yield from run(task, make_settings(loaded, prepared, budget, trained=trained))
    vectors = prepared.vectors
    if trained:
        vectors = yield from entity_vectors(replace(prepared.encoder, module=towers.entity), prepared.texts)
    part = _part(prepared, towers, vectors, loaded, trained=trained)
    return Learnt(
        result=result,
        alone=_alone(loaded, prepared, towers, vectors),
        write=lambda staging: write_part(part, loaded.recipe, loaded.base, staging, wanted=loaded.wanted),
        entity_tower="trained" if trained else "frozen",
    )


def run(task: Task, settings: TrainSettings) -> Generator[Event, None, TrainResult]:
    """The shared trainer, and what it did in sentences."""
    result = yield from train(task, settings)
    if result.cut_short:
        yield note(Phase.TRAIN, "The time budget ended training before the planned number of steps.")
    yield note(
        Phase.TRAIN,
        f"{result.steps:,} steps, {result.epochs:.1f} passes in {result.seconds:.0f} s; the loss went from "
        f"{result.losses[0]:.3f} to {result.losses[-1]:.3f}.",
    )
    return result


def _alone(loaded: Loaded, prepared: PreparedTowers, towers: Towers, vectors: FloatArray) -> Alone:
    """The part by itself on the held-out documents, untrained and trained."""
    mentions = mention_vectors(towers, prepared.held_out)
    after = part_recall(loaded, mentions, vectors, prepared.held_out, prepared.ranked)
    return Alone(prepared.before[0], after[0], prepared.before[1], after[1])


def _part(
    prepared: PreparedTowers, towers: Towers, vectors: FloatArray, loaded: Loaded, *, trained: bool
) -> TrainedPart:
    mention = replace(prepared.encoder, module=towers.mention, fingerprint="")
    entity = replace(prepared.encoder, module=towers.entity, fingerprint="") if trained else prepared.encoder
    return TrainedPart(mention, entity, vectors, loaded.inputs)
