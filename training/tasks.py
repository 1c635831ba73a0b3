"""From a recipe to what the trainer trains: towers, loss, negatives."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import torch

from training.budget import Budget, reserve
from training.losses import AdaptiveMixupLoss, Loss
from training.mining import POOL, Miner
from training.negatives import MixedNegatives, RandomNegatives
from training.preparation import Loaded, PreparedTowers, untrained_towers
from training.recipes import Role
from training.reranking import RankerTask
from training.towers import RetrieverTask, Towers
from training.trainer import Task, TrainSettings


def make_towers(loaded: Loaded, prepared: PreparedTowers, *, trained: bool) -> Towers:
    """Two copies of the untrained network, or one and the kept entity vectors where the entity tower is frozen."""
    vectors = None if trained else prepared.vectors
    shared = untrained_towers(loaded, prepared.encoder, prepared.texts, vectors=vectors)
    mention = copy.deepcopy(prepared.encoder.module)
    return replace(shared, mention=mention, entity=copy.deepcopy(shared.entity) if trained else shared.entity)


def make_settings(loaded: Loaded, prepared: PreparedTowers, budget: Budget, *, trained: bool) -> TrainSettings:
    """The trainer's settings; training gets the seconds that the rest of the job leaves over."""
    left = budget.left()
    return train_settings(
        loaded,
        seconds=None if left is None else left - reserve(prepared.work, prepared.rates, trained=trained),
        epoch_overhead=_mining_seconds(loaded, prepared, trained=trained),
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
        seed=loaded.spec.seed,
        seconds=seconds,
        epoch_overhead=epoch_overhead,
    )


def make_task(loaded: Loaded, prepared: PreparedTowers, towers: Towers) -> Task:
    """The recipe's task on the training examples."""
    loss = loaded.recipe.make_loss(loaded.values)
    ranked = [prepared.ranked.get(example.key, ()) for example in prepared.train]
    if loaded.recipe.role is Role.RANKER:
        return RankerTask(
            towers,
            prepared.train,
            loss,
            candidates=[rows[: loaded.wanted.candidates] for rows in ranked],
            vectors=prepared.vectors,
            kinship=loaded.kinship,
            batch_size=loaded.wanted.batch_size,
            seed=loaded.spec.seed,
        )
    task = _retriever_task(loaded, prepared, towers, loss, ranked)
    if isinstance(loss, AdaptiveMixupLoss) and loss.calibrated:
        with torch.no_grad():
            loss.calibrate(task.inputs(task.batches(0)[0]))
    return task


def _retriever_task(
    loaded: Loaded, prepared: PreparedTowers, towers: Towers, loss: Loss, ranked: Sequence[Sequence[int]]
) -> RetrieverTask:
    wanted, entities, seed = loaded.wanted, len(prepared.vectors), loaded.spec.seed
    mine: Miner | None = None
    sampler: RandomNegatives | MixedNegatives
    sampler = RandomNegatives(size=wanted.negative_count, entities=entities, seed=seed)
    if wanted.negatives == "mixed":
        sampler = MixedNegatives(
            size=wanted.negative_count, entities=entities, seed=seed, mined={}, share=wanted.mined_share
        )
        mine = Miner(
            towers,
            prepared.train,
            kb=loaded.kb,
            kinship=loaded.kinship,
            ranked=ranked,
            sampler=sampler,
            similarity=loaded.recipe.similarity,
        )
    return RetrieverTask(
        towers,
        prepared.train,
        loss,
        sampler=sampler,
        kinship=loaded.kinship,
        batch_size=wanted.batch_size,
        seed=seed,
        similarity=loaded.recipe.similarity,
        mine=mine,
    )


def _mining_seconds(loaded: Loaded, prepared: PreparedTowers, *, trained: bool) -> float:
    """What mining before an epoch takes: all mentions, and the pool of entities where their tower is trained."""
    if loaded.recipe.role is Role.RANKER or loaded.wanted.negatives != "mixed":
        return 0.0
    pool = min(POOL, len(prepared.vectors)) / prepared.rates.entities if trained else 0.0
    return len(prepared.train) / prepared.rates.mentions + pool
