"""What the recipes train: two towers, a batch of decisions, and a loss over their vectors.

The entity tower may be frozen; then its vectors are looked up instead of computed, which saves more than half of
every step and all re-encoding afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad

from models.encoders import EncoderModule, pad_ids
from models.errors import ModelError
from models.pooling import marker_mean
from models.scorers import TokenStates
from training.events import Event
from training.examples import EntityTexts, Example
from training.losses import Loss, LossInputs
from training.negatives import Kinship, NegativeSampler, Rows, candidate_set
from training.projection import project
from training.trainer import Batch, Task

CHUNK = 32
FloatArray = NDArray[np.float32]
Mine = Callable[[int], Iterator[Event]]


@dataclass(frozen=True, slots=True, eq=False)
class Towers:
    """The two networks. `entity_vectors` [E, d], not normalised, stand in for a frozen entity tower, and
    `entity_projection` [d, d], where there is one, maps them (see `training.projection`).

    `markers` asks for the mean of the two marker states as mention vector (re-ranker); otherwise the tower pools.
    """

    mention: EncoderModule
    entity: EncoderModule
    texts: EntityTexts
    pad_id: int
    device: torch.device
    entity_vectors: FloatArray | None = None
    markers: bool = False
    entity_projection: nn.Linear | None = None

    def __post_init__(self) -> None:
        if self.entity_projection is not None and self.entity_vectors is None:
            raise ModelError("A projection maps the vectors of a frozen entity tower; this one is trained itself.")

    def trained(self) -> list[nn.Module]:
        """The networks that learn: the mention tower, and the entity tower or the projection of its vectors."""
        if self.entity_vectors is None:
            return [self.mention, self.entity]
        return [self.mention] if self.entity_projection is None else [self.mention, self.entity_projection]

    def projected(self, vectors: FloatArray) -> FloatArray:
        """`vectors` [n, d] of frozen entities as the projection maps them now; as they are where there is none."""
        return vectors if self.entity_projection is None else project(self.entity_projection, vectors)

    def encode_mentions(self, examples: Sequence[Example]) -> Tensor:
        """Vectors [B, d], not normalised."""
        ids, mask = pad_ids([example.tokens.ids for example in examples], pad_id=self.pad_id, device=self.device)
        if not self.markers:
            pooled: Tensor = self.mention(ids, mask)
            return pooled
        starts, ends = (
            torch.tensor([getattr(example.tokens, side) for example in examples], device=self.device)
            for side in ("start", "end")
        )
        return marker_mean(self.mention.token_states(ids, mask), starts, ends)

    def encode_entities(self, rows: Rows) -> Tensor:
        """Vectors [N, d], not normalised; encoded in chunks of like length, so padding costs little."""
        if self.entity_vectors is not None:
            vectors = torch.from_numpy(np.asarray(self.entity_vectors[rows], dtype=np.float32)).to(self.device)
            projected: Tensor = vectors if self.entity_projection is None else self.entity_projection(vectors)
            return projected
        parts, back = self._by_length(rows)
        return torch.cat([self.entity(ids, mask) for ids, mask in parts])[back]

    def mention_states(self, examples: Sequence[Example]) -> TokenStates:
        """States [B, tokens, d] of all tokens of the mentions in context, for SOM."""
        ids, mask = pad_ids([example.tokens.ids for example in examples], pad_id=self.pad_id, device=self.device)
        return TokenStates(self.mention.token_states(ids, mask), mask)

    def entity_states(self, rows: Rows) -> TokenStates:
        """States [N, tokens, d] of all tokens of the entities, for SOM; a frozen entity tower has none at hand."""
        parts, back = self._by_length(rows)
        width = max((mask.shape[1] for _, mask in parts), default=0)
        states = [pad(self.entity.token_states(ids, mask), (0, 0, 0, width - ids.shape[1])) for ids, mask in parts]
        masks = [pad(mask, (0, width - mask.shape[1])) for _, mask in parts]
        return TokenStates(torch.cat(states)[back], torch.cat(masks)[back])

    def _by_length(self, rows: Rows) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
        """Padded ids and masks of the entities, chunk by chunk of like length, and the way back to their order."""
        texts = self.texts.of(rows.tolist())
        order = sorted(range(len(texts)), key=lambda number: (len(texts[number]), number))
        chunks = [order[start : start + CHUNK] for start in range(0, len(order), CHUNK)]
        parts = [pad_ids([texts[n] for n in chunk], pad_id=self.pad_id, device=self.device) for chunk in chunks]
        return parts, torch.tensor(np.argsort(order), device=self.device)


class RetrieverTask(Task):
    """A bi-encoder: each batch's gold entities and one shared set of negatives are the candidates of all mentions."""

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
        mine: Mine | None = None,
    ) -> None:
        self.towers, self.examples, self.loss_of = towers, examples, loss
        self.sampler, self.kinship, self.mine = sampler, kinship, mine
        self.batch_size, self.seed = batch_size, seed

    def modules(self) -> Sequence[nn.Module]:
        return self.towers.trained()

    def before_epoch(self, epoch: int) -> Iterator[Event]:
        if self.mine is not None:
            yield from self.mine(epoch)

    def batches(self, epoch: int) -> Sequence[Batch]:
        """A random order of all examples; a last batch of one (nothing to compare with) joins the one before."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.examples)).tolist()
        parts = [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]
        if len(parts) > 1 and len(parts[-1]) == 1:
            parts[-2:] = [parts[-2] + parts[-1]]
        return parts

    def loss(self, batch: Batch) -> Tensor:
        result: Tensor = self.loss_of(self.inputs(batch))
        return result

    def inputs(self, batch: Batch) -> LossInputs:
        """The vectors of a batch and who may be a negative of whom."""
        chosen = [self.examples[number] for number in batch]
        gold = [one_of(example, self.sampler.random) for example in chosen]
        drawn = self.sampler.draw(batch)
        rows, allowed = candidate_set([example.gold for example in chosen], gold, drawn, self.kinship, in_batch=True)
        candidates = self.towers.encode_entities(rows)
        place = torch.from_numpy(np.searchsorted(rows, np.maximum(gold, rows[0]))).to(candidates.device)
        return LossInputs(
            mentions=self.towers.encode_mentions(chosen),
            positives=candidates[place],
            candidates=candidates,
            eligible=torch.from_numpy(allowed).to(candidates.device),
            linked=torch.tensor([g >= 0 for g in gold], device=candidates.device),
        )


def one_of(example: Example, random: np.random.Generator) -> int:
    """The gold row to pull towards: one at random for a composite mention, −1 for NIL."""
    if len(example.gold) < 2:
        return example.gold[0] if example.gold else -1
    return int(random.choice(example.gold))
