"""The task of the dual-encoder re-ranker's recipes (prototype triplet 2023): mentions against their candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from models.errors import say
from training.data.examples import Example
from training.data.progress import Event, Phase
from training.loop.task import Batch, Task
from training.loop.towers import FloatArray, Towers
from training.losses.base import Loss, LossInputs
from training.negatives.kinship import Kinship, Rows
from training.negatives.mined import hard_rows
from training.tasks.clustering import RadiusSettings, SoftRadius, anchor_distances
from training.tasks.retriever_task import one_of
from training.tasks.vectors import mention_vectors, pool_vectors

SAMPLED_CLUSTERS, SAMPLED_MEMBERS = 64, 4


class System(StrEnum):
    """The four settings of the paper's table 3; clusters are the mentions of one entity in one document.

    TRIPLET: every mention is an anchor. DOWNSAMPLED: one random mention of each cluster is. PROTOTYPE: one random
    mention of each cluster is, and the cluster's mean is learnt. SRN: the mean of the anchor's soft-radius neighbours.
    """

    TRIPLET = "triplet"
    DOWNSAMPLED = "triplet-downsampled"
    PROTOTYPE = "prototype"
    SRN = "prototype-srn"

    @property
    def clustered(self) -> bool:
        return self in (System.PROTOTYPE, System.SRN)


class Hardest(StrEnum):
    """The vectors that are used to choose an anchor's hardest candidate if the entity tower is trained.

    NOW: the tower's current vectors, as in the paper. All candidates are encoded at every step, which needs a GPU.
    BEFORE: the vectors before training (our reading), which takes no time.
    """

    BEFORE = "before"
    NOW = "now"


class RankerTask(Task):
    """A dual encoder over given candidates; a batch holds `batch_size` anchors and, with prototypes, their clusters.

    `candidates` are the rows that the linker in use ranks first, for each example; rows that the curator saw and did
    not choose are added, and the gold row need not be among them. The caller must leave out NIL examples. `vectors` [E,
    d] are the entities' vectors before training. The candidate nearest to the anchor is its negative: the loss gets all
    candidates of a frozen tower, but only the nearest of a trained tower, encoded with a graph (`hardest`).

    Down-sampling draws its mentions once by the seed (our reading), or again in every epoch (`redraw`). `radius` is
    used for SRN only; λ has its own optimiser and is not a parameter of the trainer.
    """

    def __init__(
        self,
        towers: Towers,
        examples: Sequence[Example],
        loss: Loss,
        *,
        candidates: Sequence[Sequence[int]],
        vectors: FloatArray,
        kinship: Kinship,
        batch_size: int,
        seed: int,
        system: str = System.PROTOTYPE,
        radius: RadiusSettings | None = None,
        hardest: str = Hardest.BEFORE,
        redraw: bool = False,
    ) -> None:
        self.towers, self.examples, self.loss_of = towers, examples, loss
        self.vectors, self.batch_size, self.seed = vectors, batch_size, seed
        self.system, self.hardest, self.redraw = System(system), Hardest(hardest), redraw
        self.random = np.random.default_rng([seed, 1])
        self.soft = SoftRadius(radius) if self.system is System.SRN else None
        self.rivals = [
            hard_rows(rows, example.gold, kinship, limit=len(rows) + len(example.shown), shown=example.shown)
            for rows, example in zip(candidates, examples, strict=True)
        ]

    def modules(self) -> Sequence[nn.Module]:
        return self.towers.trained()

    def before_epoch(self, epoch: int) -> Iterator[Event]:
        """Adapt λ to the encoder's scale before the first epoch, if requested."""
        if epoch == 0 and self.soft is not None and not self.soft.scaled:
            yield Event(Phase.TRAIN, text=say("Measuring how far apart the mentions of one entity are"))
            self.soft.rescale(self._distances())

    def after_step(self) -> None:
        if self.soft is not None:
            self.soft.step()

    def state(self) -> dict[str, Any]:
        return {} if self.soft is None else {"radius": self.soft.state()}

    def load_state(self, raw: Mapping[str, Any]) -> None:
        if self.soft is not None:
            self.soft.load_state(raw["radius"])

    def batches(self, epoch: int) -> Sequence[Batch]:
        """Groups of mentions in random order, whole clusters or single mentions; the first of each is its anchor."""
        random = np.random.default_rng([self.seed, epoch])
        groups = self._groups(random, epoch)
        order = random.permutation(len(groups)).tolist()
        return [
            [number for place in order[start : start + self.batch_size] for number in groups[place]]
            for start in range(0, len(order), self.batch_size)
        ]

    def split(self, batch: Batch, size: int) -> Sequence[Batch]:
        """Split between clusters: a part has more than `size` mentions only if it is a single cluster."""
        parts: list[list[int]] = []
        for _, group in groupby(batch, key=lambda number: self.examples[number].cluster):
            members = list(group)
            pieces = [members] if self.system.clustered else [[number] for number in members]
            for piece in pieces:
                if parts and len(parts[-1]) + len(piece) <= size:
                    parts[-1] += piece
                else:
                    parts.append(piece)
        return parts

    def loss(self, batch: Batch) -> Tensor:
        chosen = tuple(self.examples[number] for number in batch)
        numbers = self._numbers(chosen)
        gold = self._gold(chosen, numbers)
        mentions = self.towers.encode_mentions(chosen)
        rivals = self._rivals(batch, numbers, mentions)
        rows = np.unique(np.array([*gold, *(row for own in rivals for row in own)], dtype=np.int64))
        entities, device = self.towers.encode_entities(rows), self.towers.device
        value: Tensor = self.loss_of(
            LossInputs(
                mentions=mentions,
                positives=entities[torch.from_numpy(np.searchsorted(rows, gold)).to(device)],
                candidates=entities,
                eligible=torch.from_numpy(np.stack([np.isin(rows, own) for own in rivals])).to(device),
                linked=torch.ones(len(mentions), dtype=torch.bool, device=device),
                clusters=self._clusters(chosen, numbers, mentions),
            )
        )
        return value

    def _clusters(self, chosen: Sequence[Example], numbers: Rows, mentions: Tensor) -> Tensor:
        """The clusters whose means are trained; with SRN a mention outside of the radius is in none."""
        clusters = torch.from_numpy(numbers).to(mentions.device)
        if self.soft is None:
            return clusters
        return self.soft.select(mentions, clusters, names=[example.cluster for example in chosen])

    def _groups(self, random: np.random.Generator, epoch: int) -> list[list[int]]:
        members: dict[int, list[int]] = {}
        for number in random.permutation(len(self.examples)).tolist():
            members.setdefault(self.examples[number].cluster, []).append(number)
        clusters = [members[key] for key in sorted(members)]
        if self.system.clustered:
            return clusters
        if self.system is System.TRIPLET:
            return [[number] for cluster in clusters for number in cluster]
        draw = np.random.default_rng([self.seed, 2, epoch if self.redraw else 0])
        return [[int(draw.choice(sorted(cluster)))] for cluster in clusters]

    def _numbers(self, chosen: Sequence[Example]) -> Rows:
        """Each mention's cluster within the batch; without prototypes each mention is its own cluster."""
        if not self.system.clustered:
            return np.arange(len(chosen))
        numbers: Rows = np.unique([example.cluster for example in chosen], return_inverse=True)[1]
        return numbers

    def _gold(self, chosen: Sequence[Example], numbers: Rows) -> Rows:
        """One gold row for each mention, the same within a cluster."""
        of_cluster: dict[int, int] = {}
        for example, number in zip(chosen, numbers.tolist(), strict=True):
            if number not in of_cluster:
                of_cluster[number] = one_of(example, self.random)
        return np.array([of_cluster[number] for number in numbers.tolist()], dtype=np.int64)

    def _rivals(self, batch: Batch, numbers: Rows, mentions: Tensor) -> list[list[int]]:
        """The rows that may be negatives of each mention; only the anchors, the first of each cluster, have any.

        `mentions` [B, d] are used to find the nearest rows if the entity tower is trained.
        """
        first = set(np.unique(numbers, return_index=True)[1].tolist())
        own = [self.rivals[number] if place in first else [] for place, number in enumerate(batch)]
        if self.towers.entity_vectors is not None:
            return own
        now = mentions.detach().float().cpu().numpy()
        rows = np.unique(np.array([row for line in own for row in line], dtype=np.int64))
        vectors = self.vectors[rows] if self.hardest is Hardest.BEFORE else pool_vectors(self.towers, rows.tolist())
        return [_hardest(vector, line, rows, vectors) for vector, line in zip(now, own, strict=True)]

    def _distances(self) -> list[float]:
        """Distances of some mentions from the anchor of their cluster, by the current mention tower."""
        clusters = [group for group in self._groups(np.random.default_rng([self.seed, 3]), 0) if len(group) > 1]
        sampled = [number for group in clusters[:SAMPLED_CLUSTERS] for number in group[:SAMPLED_MEMBERS]]
        if not sampled:
            return []
        chosen = [self.examples[number] for number in sampled]
        numbers = torch.from_numpy(self._numbers(chosen))
        found = anchor_distances(torch.from_numpy(mention_vectors(self.towers, chosen)), numbers)
        anchors = set(np.unique(numbers.numpy(), return_index=True)[1].tolist())
        return [distance for place, distance in enumerate(found.tolist()) if place not in anchors]


def _hardest(point: FloatArray, own: list[int], rows: Rows, vectors: FloatArray) -> list[int]:
    """The row among `own` whose vector is nearest to `point` [d]; `vectors` [n, d] belong to the ascending `rows`."""
    if len(own) < 2:
        return own
    return [own[int(np.argmin(np.linalg.norm(vectors[np.searchsorted(rows, own)] - point, axis=1)))]]
