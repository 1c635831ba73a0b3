"""The middle of a training job: training a part, measuring it on its own, and writing it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from models.errors import say
from models.linker.bundle import Manifest
from training.data.budget import Budget, trains_entities
from training.data.progress import Event, Phase, note
from training.evaluation.embedding_map import EmbeddingMap, make_map, seen_by, select_points
from training.job.assembly import TrainedPart, write_part
from training.job.gate import ComponentQuality
from training.job.preparation import Loaded, Prepared, PreparedTowers, prepare_towers
from training.job.tasks import make_settings, make_task, make_towers, must_train_entities
from training.loop.checkpoints import Checkpoints
from training.loop.monitoring import Validate
from training.loop.task import Task, TrainSettings
from training.loop.towers import FloatArray, Towers
from training.loop.trainer import TrainResult, train
from training.losses.base import Similarity
from training.tasks.vectors import entity_vectors

TRAINED_BEFORE = "The entity tower is trained, as before the interruption."
FROZEN_BEFORE = "The entity tower is frozen, as before the interruption."
Writing = Generator[Event, None, Manifest]


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """`write` puts the trained part into a staging folder and returns the manifest so far; `entity_tower` is "trained",
    "frozen", or "none" if there is none. `map` shows mentions and entities before and after training (None for a
    cross-encoder)."""

    result: TrainResult
    component: ComponentQuality
    write: Callable[[Path], Writing]
    entity_tower: str
    map: EmbeddingMap | None = None


def learn_towers(loaded: Loaded, given: Prepared, budget: Budget) -> Generator[Event, None, Learnt]:
    """Train two towers and encode the entities again if their tower was trained."""
    checkpoints = make_checkpoints(loaded)
    prepared = yield from prepare_towers(loaded, given, budget)
    trained, why = _trains(loaded, prepared, budget, checkpoints)
    yield note(Phase.PREPARE, why)
    towers = make_towers(loaded, prepared, trained=trained)
    task = make_task(loaded, prepared, towers)
    settings = make_settings(loaded, prepared, budget, trained=trained)
    some = prepared.judge.some()
    kept = None if trained else prepared.vectors
    result = yield from run(
        task,
        settings,
        loaded,
        checkpoints,
        validate=lambda: some.figures(towers, None if kept is None else towers.projected(kept)).live(),
    )
    vectors = yield from _vectors(loaded, prepared, towers, trained=trained)
    after = prepared.judge.figures(towers, vectors)
    before = prepared.before
    return Learnt(
        result=result,
        component=ComponentQuality(before.recall_at_1, after.recall_at_1, before.recall_at_k, after.recall_at_k),
        write=lambda staging: write_part(
            _part(loaded, prepared, towers, vectors, trained=trained),
            loaded.recipe,
            loaded.base,
            loaded.kb,
            staging,
            wanted=loaded.wanted,
        ),
        entity_tower="trained" if trained else "frozen",
        map=_map(loaded, prepared, towers),
    )


def run(
    task: Task,
    settings: TrainSettings,
    loaded: Loaded,
    checkpoints: Checkpoints | None,
    *,
    validate: Validate | None = None,
    untrained: float | None = None,
) -> Generator[Event, None, TrainResult]:
    """Run the shared trainer; also returns sentences about the run. `untrained` is the recall@1 of `validate` before
    training."""
    if untrained is not None:
        yield Event(Phase.TRAIN, data={"step": 0, "recall_at_1": untrained, "untrained": untrained})
    result = yield from train(
        task, settings, checkpoints=checkpoints, validate=validate, tensorboard=loaded.spec.tensorboard
    )
    if result.cut_short:
        yield note(Phase.TRAIN, say("The time budget ended training before the planned number of steps."))
    yield note(
        Phase.TRAIN,
        say(
            "{steps:,} steps, {epochs:.1f} passes in {seconds:.0f} s; the loss went from {first:.3f} to {last:.3f}.",
            steps=result.steps,
            epochs=result.epochs,
            seconds=result.seconds,
            first=result.losses[0],
            last=result.losses[-1],
        ),
    )
    return result


def make_checkpoints(loaded: Loaded) -> Checkpoints | None:
    """The run's checkpoints, if it has a working folder, with everything that its weights depend on."""
    spec = loaded.spec
    if spec.work is None:
        return None
    facts: dict[str, Any] = {
        "recipe": loaded.recipe.id,
        "parameters": dict(loaded.values),
        "data": loaded.snapshot.data_hash,
        "base": loaded.base.manifest.id,
        "seed": spec.seed,
        "device": spec.device,
        "threads": spec.threads,
    }
    return Checkpoints(spec.work / "checkpoints", identity=facts)


def _trains(
    loaded: Loaded, prepared: PreparedTowers, budget: Budget, checkpoints: Checkpoints | None
) -> tuple[bool, str]:
    """Whether the entity tower is trained, and why; a resumed run keeps its first decision."""
    if checkpoints is not None and "entity_tower" in (before := checkpoints.kept_before()):
        checkpoints.kept = dict(before)
        trained = before["entity_tower"] == "trained"
        return trained, say(TRAINED_BEFORE if trained else FROZEN_BEFORE)
    wanted = "train" if must_train_entities(loaded) else loaded.wanted.entity_tower
    trained, why = trains_entities(wanted, prepared.work, prepared.rates, budget.left())
    if checkpoints is not None:
        checkpoints.kept = {"entity_tower": "trained" if trained else "frozen"}
    return trained, why


def _vectors(
    loaded: Loaded, prepared: PreparedTowers, towers: Towers, *, trained: bool
) -> Generator[Event, None, FloatArray | None]:
    """Vectors of all entities after training, mapped by the projection if there is one; None for SOM, whose token
    states are written directly to disk."""
    if loaded.recipe.similarity == Similarity.SOM:
        return None
    if trained:
        return (yield from entity_vectors(replace(prepared.encoder, module=towers.entity), prepared.texts))
    assert prepared.vectors is not None
    return towers.projected(prepared.vectors)


def _map(loaded: Loaded, prepared: PreparedTowers, towers: Towers) -> EmbeddingMap:
    """Some held-out mentions and their entities, as encoded by the untrained towers and by these."""
    selection = select_points(prepared.held_out, seed=loaded.spec.seed)
    tokens = loaded.recipe.similarity == Similarity.SOM
    before, after = (seen_by(one, prepared.held_out, selection, tokens=tokens) for one in (prepared.towers, towers))
    return make_map(
        selection,
        prepared.held_out,
        loaded.kb,
        documents=loaded.parts.held_out,
        before=before,
        after=after,
        directions=loaded.recipe.similarity != Similarity.EUCLIDEAN,
        seed=loaded.spec.seed,
    )


def _part(
    loaded: Loaded, prepared: PreparedTowers, towers: Towers, vectors: FloatArray | None, *, trained: bool
) -> TrainedPart:
    mention = replace(prepared.encoder, module=towers.mention, fingerprint="")
    entity = replace(prepared.encoder, module=towers.entity, fingerprint="") if trained else prepared.encoder
    learnt = towers.entity_projection
    projection = None if learnt is None else learnt.weight.detach().float().cpu().numpy()
    return TrainedPart(mention, entity, vectors, loaded.inputs, projection)
