"""From a recipe and its parameters to the objects that the trainer needs: towers, loss, regulariser, negatives."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch

from models.encoders.inputs import EntityStyle
from models.errors import ModelError, say
from resources.recipe_files import Role
from training.data.budget import Budget, reserve
from training.job.preparation import Loaded, PreparedTowers, untrained_towers
from training.job.recipes import UPPER_HALF, Regularisation, make_loss
from training.loop.task import Task, TrainSettings
from training.loop.towers import Towers, identity_projection
from training.losses.amh import AdaptiveMixupLoss
from training.losses.base import Loss, Similarity
from training.losses.multi_similarity import MultiSimilarityLoss
from training.losses.proxy import ProxyLoss
from training.negatives.choice import make_reach, make_sampler
from training.negatives.mined import MinedNegatives
from training.regularisers.base import Regulariser
from training.regularisers.embeddings import freeze_embeddings
from training.regularisers.fgsm import FGSM
from training.regularisers.transformation import Transformation
from training.tasks.clustering import RadiusSettings
from training.tasks.mining import Miner, pool_size
from training.tasks.names_task import train_layers
from training.tasks.reranking import Hardest, RankerTask
from training.tasks.retriever_task import RetrieverTask

CALIBRATED = (AdaptiveMixupLoss, MultiSimilarityLoss, ProxyLoss)
"""Losses whose zero can be set from the scores before training."""


def must_train_entities(loaded: Loaded) -> bool:
    """Whether the entity tower cannot be frozen, since its tokens are compared or its inner states are perturbed.

    Raises ModelError if it was requested to be frozen.
    """
    recipe = loaded.recipe
    if loaded.inputs.style is EntityStyle.MEAN_OF_NAMES and loaded.wanted.entity_tower != "frozen":
        raise ModelError(
            say(
                "Means of name vectors cannot be trained because they are fixed. Set entity_tower to "
                "“frozen”, or set style to one that writes entities out as text."
            )
        )
    needed = recipe.similarity == Similarity.SOM or recipe.regulariser != Regularisation.NONE
    if needed and loaded.wanted.entity_tower == "frozen":
        raise ModelError(
            say(
                "The recipe {id} compares tokens of entities or perturbs their encoder, so the entity "
                "tower cannot be frozen. Set entity_tower to “train”, or choose another recipe.",
                id=recipe.id,
            )
        )
    return needed


def make_towers(loaded: Loaded, prepared: PreparedTowers, *, trained: bool) -> Towers:
    """Two copies of the untrained network, or one and the kept entity vectors if the entity tower is frozen."""
    wanted = loaded.wanted
    shared = untrained_towers(loaded, prepared.encoder, prepared.texts, vectors=None if trained else prepared.vectors)
    towers = replace(
        shared,
        mention=copy.deepcopy(prepared.encoder.module),
        entity=copy.deepcopy(shared.entity) if trained else shared.entity,
        entity_projection=None
        if trained or not wanted.projection
        else identity_projection(prepared.encoder.dimension, device=shared.device),
    )
    for tower in (towers.mention, towers.entity) if trained else (towers.mention,):
        if wanted.layers == UPPER_HALF:
            train_layers(tower)
        elif wanted.freeze_embeddings and trained:
            freeze_embeddings(tower)
    return towers


def make_settings(loaded: Loaded, prepared: PreparedTowers, budget: Budget, *, trained: bool) -> TrainSettings:
    """The trainer's settings; training gets the seconds that the rest of the job does not need."""
    left = budget.left()
    return train_settings(
        loaded,
        seconds=None if left is None else left - reserve(prepared.work, prepared.rates, trained=trained),
        epoch_overhead=_overhead(loaded, prepared, trained=trained),
    )


def train_settings(loaded: Loaded, *, seconds: float | None, epoch_overhead: float = 0.0) -> TrainSettings:
    """The recipe's optimiser and schedule within `seconds`."""
    wanted = loaded.wanted
    return TrainSettings(
        epochs=wanted.epochs,
        learning_rate=wanted.learning_rate,
        warmup=wanted.warmup,
        weight_decay=wanted.weight_decay,
        clip=wanted.clip,
        accumulation=wanted.accumulation,
        precision=wanted.precision,
        seed=loaded.spec.seed,
        seconds=seconds,
        max_steps=loaded.spec.max_steps,
        epoch_overhead=epoch_overhead,
    )


def make_task(loaded: Loaded, prepared: PreparedTowers, towers: Towers) -> Task:
    """The recipe's task on the training examples."""
    loss = make_loss(loaded.recipe, loaded.values)
    ranked = [prepared.ranked.get(example.key, ()) for example in prepared.train]
    if loaded.recipe.role is Role.RANKER:
        assert prepared.vectors is not None
        return RankerTask(
            towers,
            prepared.train,
            loss,
            candidates=[rows[: loaded.wanted.candidates] for rows in ranked],
            vectors=prepared.vectors,
            kinship=loaded.kinship,
            batch_size=loaded.wanted.batch_size,
            seed=loaded.spec.seed,
            system=loaded.recipe.grouping,
            radius=_radius(loaded),
            hardest=Hardest.NOW if towers.device.type == "cuda" else Hardest.BEFORE,
        )
    task = _retriever_task(loaded, prepared, towers, loss, ranked)
    if isinstance(loss, CALIBRATED) and loss.calibrated:
        with torch.no_grad():
            loss.calibrate(task.inputs(task.batches(0)[0]))
    return task


def make_regulariser(loaded: Loaded, loss: Loss, dimension: int) -> Regulariser | None:
    """The regulariser that the recipe adds to the loss of a bi-encoder."""
    options = loaded.recipe.group("regulariser", loaded.values)
    if loaded.recipe.regulariser == Regularisation.FGSM:
        nil = bool(getattr(loss, "nil_negatives", False))
        return FGSM(**options, shared=loaded.wanted.sharing == "batch", nil_negatives=nil)
    if loaded.recipe.regulariser == Regularisation.TRANSFORMATION:
        return Transformation(dimension, **options)
    return None


def _radius(loaded: Loaded) -> RadiusSettings | None:
    """The soft radius, if the recipe uses soft-radius neighbours."""
    options = loaded.recipe.group("grouping", loaded.values)
    if not options:
        return None
    return RadiusSettings(
        radius=options["radius"],
        epsilon=options["slack"],
        learning_rate=options["radius_learning_rate"],
        rescale=options["rescaled"],
    )


def _retriever_task(
    loaded: Loaded, prepared: PreparedTowers, towers: Towers, loss: Loss, ranked: Sequence[Sequence[int]]
) -> RetrieverTask:
    wanted, seed = loaded.wanted, loaded.spec.seed
    reach = make_reach(prepared.train, loaded.kb, loaded.kinship, sharing=wanted.sharing, scope=wanted.domain)
    sampler = make_sampler(
        wanted.negatives,
        size=wanted.negative_count,
        entities=len(loaded.kb.entities),
        share=wanted.mined_share,
        reach=reach,
    )
    mine: Miner | None = None
    if isinstance(sampler, MinedNegatives):
        mine = Miner(
            towers,
            prepared.train,
            kb=loaded.kb,
            kinship=loaded.kinship,
            ranked=ranked,
            sampler=sampler,
            similarity=loaded.similarity,
        )
    return RetrieverTask(
        towers,
        prepared.train,
        loss,
        sampler=sampler,
        kinship=loaded.kinship,
        batch_size=wanted.batch_size,
        seed=seed,
        similarity=loaded.similarity,
        in_batch=wanted.in_batch,
        regulariser=make_regulariser(loaded, loss, prepared.encoder.dimension),
        mine=mine,
    )


def _overhead(loaded: Loaded, prepared: PreparedTowers, *, trained: bool) -> float:
    """Seconds per epoch in addition to its steps: for validation, and for mining (all mentions, and the pool of
    entities if their tower is trained)."""
    most = pool_size(prepared.towers.device)
    pool = min(most, len(loaded.kb.entities)) / prepared.rates.entities if trained else 0.0
    validation = len(prepared.judge.some().examples) / prepared.rates.mentions + pool
    if loaded.recipe.role is Role.RANKER or loaded.wanted.negatives == "random":
        return validation
    return validation + len(prepared.train) / prepared.rates.mentions + pool
