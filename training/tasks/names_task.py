"""The task of the names' encoder: a mention in its search form, names of its entity, and names of wrong candidates.

One encoder reads both sides, the one that the stage over names compares by; before the first step it is exactly the
linker's. Layers that are not trained stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from models.encoders.encoders import EncoderModule, pad_ids
from training.loop.task import Batch, Task
from training.losses.base import Loss, LossInputs
from training.negatives.kinship import NameKinship

Ids = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, eq=False)
class NamedMention:
    """A decided mention: the token ids of the string that is searched for, the gold rows of the knowledge base, the
    names of the gold entities and of wrong candidates, each nearest first. Mentions of one `cluster` are of one entity
    in one document."""

    tokens: Sequence[int]
    gold: tuple[int, ...]
    positives: tuple[int, ...]
    negatives: tuple[int, ...]
    cluster: int


def train_layers(module: EncoderModule, *, every: bool = False) -> None:
    """Leave gradients to the upper half of the layers alone, or to all layers, but never to the embeddings."""
    layers = list(module.layers)
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    for layer in layers[0 if every else len(layers) // 2 :]:
        for parameter in layer.parameters():
            parameter.requires_grad_(True)


class NamesTask(Task):
    """`names` gives the token ids of names, `entity` their entities. Each mention is pulled to its nearest gold name
    and pushed from `negatives` names: half of them the nearest, half drawn from the other wrong candidates. The names
    of the batch's other mentions are negatives too, unless their entities are kin of its own."""

    def __init__(
        self,
        module: EncoderModule,
        mentions: Sequence[NamedMention],
        loss: Loss,
        *,
        names: Callable[[Sequence[int]], Ids],
        entity: Callable[[Sequence[int]], Sequence[int]],
        kinship: NameKinship,
        negatives: int,
        batch_size: int,
        seed: int,
        pad_id: int,
        device: torch.device,
    ) -> None:
        self.module, self.mentions, self.loss_of = module, mentions, loss
        self.names, self.entity, self.kinship = names, entity, kinship
        self.negatives, self.batch_size, self.seed = negatives, batch_size, seed
        self.pad_id, self.device = pad_id, device
        self.random = np.random.default_rng([seed, 3])

    def modules(self) -> Sequence[nn.Module]:
        return [self.module]

    def batches(self, epoch: int) -> Sequence[Batch]:
        """A random order that keeps mentions of one cluster together, so that they have a prototype."""
        draw = np.random.default_rng([self.seed, epoch])
        place = {cluster: draw.random() for cluster in sorted({one.cluster for one in self.mentions})}
        order = sorted(range(len(self.mentions)), key=lambda n: (place[self.mentions[n].cluster], n))
        parts = [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        if len(parts) > 1 and len(parts[-1]) == 1:
            parts[-2:] = [parts[-2] + parts[-1]]
        return [parts[n] for n in draw.permutation(len(parts))]

    def loss(self, batch: Batch) -> Tensor:
        value: Tensor = self.loss_of(self.inputs(batch))
        return value

    def inputs(self, batch: Batch) -> LossInputs:
        """The strings of a batch, encoded, and the mask of allowed negatives."""
        chosen = [self.mentions[number] for number in batch]
        rows = list(dict.fromkeys(row for one in chosen for row in (one.positives[0], *self.rivals(one))))
        column = {row: number for number, row in enumerate(rows)}
        entities = np.asarray(self.entity(rows))
        kin = [np.fromiter(self.kinship.of(one.gold), dtype=np.int64) for one in chosen]
        vectors = self._encoded([*(one.tokens for one in chosen), *self.names(rows)])
        mentions, names = vectors[: len(chosen)], vectors[len(chosen) :]
        return LossInputs(
            mentions=mentions,
            positives=names[[column[one.positives[0]] for one in chosen]],
            candidates=names,
            eligible=torch.from_numpy(np.stack([~np.isin(entities, own) for own in kin])).to(self.device),
            linked=torch.ones(len(chosen), dtype=torch.bool, device=self.device),
            clusters=torch.tensor([one.cluster for one in chosen], device=self.device),
        )

    def rivals(self, one: NamedMention) -> list[int]:
        """The nearest wrong names, and the same number drawn from the others."""
        near, others = one.negatives[: self.negatives // 2], one.negatives[self.negatives // 2 :]
        drawn = self.random.permutation(len(others))[: self.negatives - len(near)]
        return [*near, *(others[n] for n in drawn)]

    def _encoded(self, ids: Ids) -> Tensor:
        found: Tensor = self.module(*pad_ids(ids, pad_id=self.pad_id, device=self.device))
        return found
