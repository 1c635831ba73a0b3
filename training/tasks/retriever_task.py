"""The task of a retriever: two towers, a batch of decisions, and a loss over their vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from training.data.examples import Example
from training.data.progress import Event
from training.loop.task import Batch, Task, TrainSettings
from training.loop.towers import Towers
from training.losses.base import Loss, LossInputs, Similarity
from training.negatives.batch import candidate_set
from training.negatives.kinship import Kinship
from training.negatives.sampling import NegativeSampler
from training.regularisers.base import DrawnBatch, Regulariser

Mine = Callable[[int], Iterator[Event]]


class RetrieverTask(Task):
    """A bi-encoder: each mention's gold entity and its negatives are its candidates.

    `sampler` draws the negatives, one set for the batch or one for each mention; with `in_batch` the gold entities of
    the batch's other mentions are negatives as well. `similarity` is the loss's: SOM compares states of tokens, the
    others vectors. `regulariser` adds its term to the loss of each batch. `projection_rate` is the learning rate of the
    projection of frozen entities, in multiples of the encoders'.
    """

    def __init__(
        self,
        towers: Towers,
        examples: Sequence[Example],
        loss: Loss,
        *,
        sampler: NegativeSampler,
        kinship: Kinship,
        batch_size: int,
        seed: int,
        similarity: Similarity,
        in_batch: bool = True,
        regulariser: Regulariser | None = None,
        projection_rate: float = 1.0,
        mine: Mine | None = None,
    ) -> None:
        self.towers, self.examples, self.loss_of = towers, examples, loss
        self.sampler, self.kinship, self.mine = sampler, kinship, mine
        self.batch_size, self.seed = batch_size, seed
        self.similarity, self.in_batch, self.regulariser = similarity, in_batch, regulariser
        self.projection_rate = projection_rate
        self.random = np.random.default_rng([seed, 2])
        if regulariser is not None:
            regulariser.bind(towers)

    def modules(self) -> Sequence[nn.Module]:
        learns = self.regulariser is not None and any(p.requires_grad for p in self.regulariser.parameters())
        return [*self.towers.trained(), *([self.regulariser] if self.regulariser and learns else [])]

    def parameter_groups(self, settings: TrainSettings) -> list[dict[str, Any]]:
        """The encoders at the settings' rate; the projection and a regulariser's parameters at their own rates, without
        weight decay."""
        projection = self.towers.entity_projection
        encoders = [module for module in self.towers.trained() if module is not projection]
        learnt = dict.fromkeys(p for module in encoders for p in module.parameters() if p.requires_grad)
        groups: list[dict[str, Any]] = [{"params": list(learnt)}]
        if projection is not None:
            rate = self.projection_rate * settings.learning_rate
            groups.append({"params": list(projection.parameters()), "lr": rate, "weight_decay": 0.0})
        return groups + (self.regulariser.parameter_groups(settings) if self.regulariser else [])

    def before_epoch(self, epoch: int) -> Iterator[Event]:
        if self.mine is not None:
            yield from self.mine(epoch)

    def after_step(self) -> None:
        if self.regulariser is not None:
            self.regulariser.after_step()

    def state(self) -> dict[str, Any]:
        return {"sampler": self.sampler.state()}

    def load_state(self, raw: Mapping[str, Any]) -> None:
        self.sampler.load_state(raw["sampler"])

    def batches(self, epoch: int) -> Sequence[Batch]:
        """A random order of all examples. If negatives have domains, a domain fills whole batches; the rest is mixed.
        A last batch of one example, which has nothing to compare with, is merged into the previous batch."""
        random = np.random.default_rng([self.seed, epoch])
        order = random.permutation(len(self.examples)).tolist()
        filled, order = self._of_one_domain(order)
        parts = [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        if len(parts) > 1 and len(parts[-1]) == 1:
            parts[-2:] = [parts[-2] + parts[-1]]
        parts = [*filled, *parts]
        return [parts[at] for at in random.permutation(len(parts))] if filled else parts

    def _of_one_domain(self, order: list[int]) -> tuple[list[list[int]], list[int]]:
        """Full batches of one domain each, and the examples that are left."""
        domains = self.sampler.reach.domains
        if domains is None or not self.in_batch:
            return [], order
        filled, waiting = [], defaultdict(list)
        for number in order:
            waiting[domains[number]].append(number)
            if len(waiting[domains[number]]) == self.batch_size:
                filled.append(waiting.pop(domains[number]))
        return filled, [number for own in waiting.values() for number in own]

    def loss(self, batch: Batch) -> Tensor:
        """The scalar clean loss plus the regulariser's term."""
        drawn = self.draw(batch)
        clean = drawn.inputs(drawn.mentions.whole(), drawn.entities.whole())
        value: Tensor = self.loss_of(clean)
        return value if self.regulariser is None else value + self.regulariser.term(drawn, self.loss_of, clean)

    def inputs(self, batch: Batch) -> LossInputs:
        """The clean texts of a batch, encoded, and the mask of allowed negatives."""
        drawn = self.draw(batch)
        return drawn.inputs(drawn.mentions.whole(), drawn.entities.whole())

    def draw(self, batch: Batch) -> DrawnBatch:
        """Draw gold entities and negatives of a batch; nothing is encoded yet."""
        chosen = tuple(self.examples[number] for number in batch)
        gold = [one_of(example, self.random) for example in chosen]
        rows, allowed = candidate_set(
            [example.gold for example in chosen],
            gold,
            self.sampler.draw(batch, self.random),
            self.kinship,
            in_batch=self.in_batch,
        )
        if not len(rows):  # only NIL mentions and nothing drawn: one entity that is no mention's negative
            rows, allowed = np.zeros(1, dtype=np.int64), np.zeros((len(batch), 1), dtype=bool)
        device, tokens = self.towers.device, self.similarity is Similarity.SOM
        return DrawnBatch(
            towers=self.towers,
            examples=chosen,
            rows=rows,
            place=torch.from_numpy(np.searchsorted(rows, np.maximum(gold, rows[0]))).to(device),
            linked=torch.tensor([row >= 0 for row in gold], device=device),
            eligible=torch.from_numpy(allowed).to(device),
            similarity=self.similarity,
            mentions=self.towers.mention_side(chosen, tokens=tokens),
            entities=self.towers.entity_side(rows, tokens=tokens),
        )


def one_of(example: Example, random: np.random.Generator) -> int:
    """The gold row to pull towards: one at random for a composite mention, −1 for NIL."""
    if len(example.gold) < 2:
        return example.gold[0] if example.gold else -1
    return int(random.choice(example.gold))
