"""What the re-ranker recipes train: clusters of mentions against the candidates of their anchor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from training.examples import Example
from training.losses import Loss, LossInputs
from training.negatives import Kinship, Rows
from training.towers import FloatArray, Towers, one_of
from training.trainer import Batch, Task


class RankerTask(Task):
    """A dual encoder over given candidates. A batch holds whole clusters: all mentions of one entity in a document.

    `candidates` are the rows that the linker in use ranks first, for each example; the gold row need not be among
    them. NIL examples must be left out before. `vectors` [E, d] are the entities' as the tower was before training:
    where the entity tower is trained, encoding all candidates in every step would take minutes, so the hardest one
    of each anchor is chosen by them (our reading) and only it and the gold entity are encoded.
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
    ) -> None:
        self.towers, self.examples, self.loss_of = towers, examples, loss
        self.vectors, self.batch_size, self.seed = vectors, batch_size, seed
        self.random = np.random.default_rng([seed, 1])
        self.rivals = [
            [row for row in rows if row not in kinship.of(example.gold)]
            for rows, example in zip(candidates, examples, strict=True)
        ]

    def modules(self) -> Sequence[nn.Module]:
        frozen = self.towers.entity_vectors is not None
        return [self.towers.mention] if frozen else [self.towers.mention, self.towers.entity]

    def batches(self, epoch: int) -> Sequence[Batch]:
        """Clusters in random order, their mentions too: the first of a cluster is its anchor."""
        random = np.random.default_rng([self.seed, epoch])
        members: dict[int, list[int]] = {}
        for number in random.permutation(len(self.examples)).tolist():
            members.setdefault(self.examples[number].cluster, []).append(number)
        clusters = [members[key] for key in sorted(members)]
        order = random.permutation(len(clusters)).tolist()
        return [
            [number for place in order[start : start + self.batch_size] for number in clusters[place]]
            for start in range(0, len(order), self.batch_size)
        ]

    def loss(self, batch: Batch) -> Tensor:
        chosen = [self.examples[number] for number in batch]
        numbers = np.unique([example.cluster for example in chosen], return_inverse=True)[1]
        gold = self._gold(chosen, numbers)
        mentions = self.towers.encode_mentions(chosen)
        rivals = self._rivals(batch, numbers, mentions)
        rows = np.unique(np.array([*gold, *(row for own in rivals for row in own)], dtype=np.int64))
        entities = self.towers.encode_entities(rows)
        device = entities.device
        result: Tensor = self.loss_of(
            LossInputs(
                mentions=mentions,
                positives=entities[torch.from_numpy(np.searchsorted(rows, gold)).to(device)],
                candidates=entities,
                eligible=torch.from_numpy(np.stack([np.isin(rows, own) for own in rivals])).to(device),
                linked=torch.ones(len(chosen), dtype=torch.bool, device=device),
                clusters=torch.from_numpy(numbers).to(device),
            )
        )
        return result

    def _gold(self, chosen: Sequence[Example], numbers: Rows) -> Rows:
        """One gold row for each mention, the same within a cluster."""
        of_cluster: dict[int, int] = {}
        for example, number in zip(chosen, numbers.tolist(), strict=True):
            if number not in of_cluster:
                of_cluster[number] = one_of(example, self.random)
        return np.array([of_cluster[number] for number in numbers.tolist()], dtype=np.int64)

    def _rivals(self, batch: Batch, numbers: Rows, mentions: Tensor) -> list[list[int]]:
        """The rows that may be negatives of each mention; only the anchors, first of their cluster, have any."""
        first = set(np.unique(numbers, return_index=True)[1].tolist())
        own = [self.rivals[number] if place in first else [] for place, number in enumerate(batch)]
        if self.towers.entity_vectors is not None:
            return own
        now = mentions.detach().float().cpu().numpy()
        return [self._hardest(vector, rows) for vector, rows in zip(now, own, strict=True)]

    def _hardest(self, vector: FloatArray, rows: list[int]) -> list[int]:
        if len(rows) < 2:
            return rows
        return [rows[int(np.argmin(np.linalg.norm(self.vectors[rows] - vector, axis=1)))]]
