"""The names' encoder trained on the names alone: two names of one entity attract each other, rivals are pushed away.

The task is that of the recipe `names`, whose mentions are names here. A pair is learnt from where its two names lie
neither together nor worlds apart; rivals are the nearest names of entities that are no kin (twins, ancestors), found
over the whole knowledge base on the encoder's device.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from models.core.kb import KnowledgeBase
from models.encoders.encoders import Encoder, save_encoder
from models.vectors.index import VectorIndex
from training.data.progress import Event
from training.job.recipes import load_recipe
from training.loop.task import TrainSettings
from training.loop.trainer import TrainResult, train
from training.negatives.kinship import NameKinship
from training.tasks.names_task import NamedMention, NamesTask, train_layers

NEAR, FAR = 0.92, 0.35
"""Cosines between which a pair teaches: nearer ones are known already, farther ones have nothing in common."""
RIVALS, SEARCHED = 24, 64
T = TypeVar("T")


@dataclass(frozen=True)
class Learning:
    """How long and how fast; `pairs` at most are drawn, of an entity `per_entity`; `precision` is the trainer's."""

    pairs: int = 60_000
    per_entity: int = 4
    epochs: int = 2
    batch_size: int = 64
    learning_rate: float = 3e-5
    max_steps: int | None = None
    precision: str = "auto"
    seed: int = 0


def pairs_of(encoder: Encoder, kb: KnowledgeBase, kinship: NameKinship, learning: Learning) -> list[NamedMention]:
    """The pairs to learn, in a random order."""
    names = list(kb.names)
    vectors = encoder.encode(names)
    draw = np.random.default_rng(learning.seed)
    chosen: list[tuple[int, int, int]] = []
    for row in draw.permutation(len(kb.entities)).tolist():
        found = _pairs(vectors, int(kb.name_starts[row]), int(kb.name_starts[row + 1]), row, draw)
        chosen += found[: learning.per_entity]
        if len(chosen) >= learning.pairs:
            break
    chosen = chosen[: learning.pairs]
    index = VectorIndex.build(vectors)
    index.to_gpu(wanted=encoder.device.torch.type == "cuda")
    near = index.search(vectors[[one for one, _, _ in chosen]], min(SEARCHED, len(names)))[1]
    tokens = encoder.token_ids([names[one] for one, _, _ in chosen])
    kin = {row: kinship.of([row]) for row in {row for _, _, row in chosen}}
    mentions = []
    for (_, other, row), ids, line in zip(chosen, tokens, near.tolist(), strict=True):
        rivals = tuple(place for place in line if int(kb.name_entity[place]) not in kin[row])[:RIVALS]
        if rivals:
            mentions.append(NamedMention(ids, (row,), (other,), rivals, row))
    return mentions


def _pairs(
    vectors: np.ndarray, start: int, stop: int, row: int, draw: np.random.Generator
) -> list[tuple[int, int, int]]:
    """(name, other name, entity) of one entity, drawn among those that teach."""
    own = vectors[start:stop]
    first, second = np.nonzero(((near := own @ own.T) > FAR) & (near < NEAR))
    order = draw.permutation(len(first))
    return [(start + int(first[at]), start + int(second[at]), row) for at in order]


def make_task(encoder: Encoder, kb: KnowledgeBase, learning: Learning, mentions: list[NamedMention]) -> NamesTask:
    """The recipe's loss and rivals over these pairs; the upper half of the network learns."""
    recipe = load_recipe("names")
    values = recipe.values()
    train_layers(encoder.module)
    return NamesTask(
        encoder.module,
        mentions,
        recipe.make_loss(values),
        names=lambda rows: encoder.token_ids([kb.names[row] for row in rows]),
        entity=lambda rows: kb.name_entity[list(rows)].tolist(),
        kinship=NameKinship(kb),
        negatives=recipe.hyperparameters(values).negative_count,
        batch_size=learning.batch_size,
        seed=learning.seed,
        pad_id=int(encoder.tokenizer.pad_token_id or 0),
        device=encoder.device.torch,
    )


def learn(encoder: Encoder, kb: KnowledgeBase, learning: Learning) -> tuple[TrainResult, int]:
    """Train the encoder in place; the trainer's result, and how many pairs taught."""
    mentions = pairs_of(encoder, kb, NameKinship(kb), learning)
    settings = TrainSettings(
        epochs=learning.epochs,
        learning_rate=learning.learning_rate,
        warmup=0.15,
        seed=learning.seed,
        max_steps=learning.max_steps,
        precision=learning.precision,
    )
    return drained(train(make_task(encoder, kb, learning, mentions), settings)), len(mentions)


def halfway(encoder: Encoder, trained: Encoder) -> None:
    """Put the mean of both encoders' weights into the first (Wortsman et al. 2022, equation 1, with 0.5)."""
    other = trained.module.state_dict()
    with torch.no_grad():
        for name, own in encoder.module.state_dict().items():
            if own.is_floating_point():
                own.lerp_(other[name], 0.5)


def saved(encoder: Encoder, folder: Path) -> Path:
    """The trained encoder as a folder."""
    save_encoder(encoder, folder)
    return folder


def drained(steps: Generator[Event, None, T]) -> T:
    """What a generator returns at last."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
