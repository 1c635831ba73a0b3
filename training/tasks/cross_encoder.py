"""The task of the cross-encoder recipes: one network that reads a mention with each of its candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from models.encoders.encoders import Encoder, length_batches
from models.encoders.inputs import pair_tokens
from models.rankers.cross_encoder import CrossEncoderModule
from training.data.examples import EntityTexts, Example
from training.loop.task import Batch, Task
from training.losses.cross_entropy import CandidateCrossEntropy
from training.negatives.kinship import Kinship
from training.negatives.mined import hard_rows
from training.regularisers.fgsm_pairs import PairFGSM
from training.tasks.retriever_task import one_of

PAIRS_AT_ONCE, TOKENS_AT_ONCE = 32, 2048
"""A batch's pairs are encoded in parts of similar length: padding would cost more than larger matrices save."""
GRAPH_PAIRS = 64
"""Pairs whose graph is built at a time, in whole mentions: all 256 of a batch took 11 GB and more time."""
ON_GPU = 16
"""On a GPU, this many times as many: it needs large batches."""


class CrossEncoderTask(Task):
    """Each mention's gold entity against its own candidates (PEL appendix B).

    `ranked` are the rows that the linker in use ranks first, for each example. The gold entity is always added, whether
    found or not (the paper trains on retrieved entities); it and its aliases are never wrong candidates. Candidates
    that the curator saw and did not choose come before those that were only retrieved. The caller must leave out NIL
    examples; examples without a wrong candidate are left out here. `regulariser` adds the loss of the same pairs,
    perturbed.
    """

    def __init__(
        self,
        module: CrossEncoderModule,
        encoder: Encoder,
        examples: Sequence[Example],
        *,
        texts: EntityTexts,
        ranked: Sequence[Sequence[int]],
        kinship: Kinship,
        candidates: int,
        batch_size: int,
        seed: int,
        regulariser: PairFGSM | None = None,
    ) -> None:
        self.module, self.encoder, self.texts = module, encoder, texts
        self.regulariser = regulariser
        if regulariser is not None:
            regulariser.bind(module)
        self.batch_size, self.seed = batch_size, seed
        self.random = np.random.default_rng([seed, 1])
        self.loss_of = CandidateCrossEntropy()
        pairs = [
            (example, hard_rows(rows, example.gold, kinship, limit=candidates - 1, shown=example.shown))
            for example, rows in zip(examples, ranked, strict=True)
        ]
        self.at_once = max(1, GRAPH_PAIRS * self._times // candidates)
        self.examples = [example for example, wrong in pairs if wrong]
        self.wrong = [wrong for _, wrong in pairs if wrong]

    def modules(self) -> Sequence[nn.Module]:
        return [self.module]

    def batches(self, epoch: int) -> Sequence[Batch]:
        """A random order of all examples."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.examples)).tolist()
        return [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]

    def loss(self, batch: Batch) -> Tensor:
        """Scalar cross-entropy of the clean scores, plus λ times that of the moved pairs."""
        made = self.drawn(batch)
        value: Tensor = self.loss_of(*made.scores(made.clean))
        if self.regulariser is None:
            return value
        moved: Tensor = self.loss_of(*made.scores(partial(made.moved, self.regulariser)))
        return value + self.regulariser.weight * moved

    @property
    def _times(self) -> int:
        return 1 if self.encoder.device.torch.type == "cpu" else ON_GPU

    def drawn(self, batch: Batch) -> PairBatch:
        """The pairs of a batch; nothing is encoded yet."""
        rows = [[one_of(self.examples[number], self.random), *self.wrong[number]] for number in batch]
        pairs = [
            EncodedPair(pair_tokens(mention, entity), start=len(mention), gold=place == 0)
            for mention, own in zip((self.examples[number].tokens.ids for number in batch), rows, strict=True)
            for place, entity in enumerate(self.texts.of(own))
        ]
        lengths = [len(pair.ids) for pair in pairs]
        parts = length_batches(lengths, limit=PAIRS_AT_ONCE * self._times, tokens=TOKENS_AT_ONCE * self._times)
        return PairBatch(self.module, self.encoder, pairs, parts, [len(own) for own in rows])


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """A mention with one candidate; `start` is where the entity begins in `ids`, `gold` whether the candidate is the
    mention's gold entity."""

    ids: tuple[int, ...]
    start: int
    gold: bool


@dataclass(frozen=True, slots=True, eq=False)
class PairBatch:
    """A drawn batch. `parts` are indices of the `pairs` that are encoded at once; `counts` is the number of candidates
    of each mention, the gold entity first."""

    module: CrossEncoderModule
    encoder: Encoder
    pairs: Sequence[EncodedPair]
    parts: Sequence[Sequence[int]]
    counts: Sequence[int]

    def scores(self, score: Callable[[Sequence[int]], Tensor]) -> tuple[Tensor, Tensor]:
        """Scores [B, C], (n,) for each part by `score`, and the mask of real scores."""
        order = [number for part in self.parts for number in part]
        found = torch.cat([score(part) for part in self.parts])
        found = found if found.dtype is torch.double else found.float()
        return spread(found[torch.tensor(np.argsort(order), device=found.device)], self.counts)

    def clean(self, part: Sequence[int]) -> Tensor:
        scores: Tensor = self.module(*self._padded(part))
        return scores

    def moved(self, regulariser: PairFGSM, part: Sequence[int]) -> Tensor:
        chosen, device = [self.pairs[number] for number in part], self.encoder.device.torch
        starts = torch.tensor([pair.start for pair in chosen], device=device)
        gold = torch.tensor([pair.gold for pair in chosen], device=device)
        return regulariser.scores(self.module, *self._padded(part), starts=starts, gold=gold)

    def _padded(self, part: Sequence[int]) -> tuple[Tensor, Tensor]:
        return self.encoder.pad([self.pairs[number].ids for number in part])


def spread(scores: Tensor, counts: Sequence[int]) -> tuple[Tensor, Tensor]:
    """(n,) scores of mentions one after another → [B, C] with zeros after short rows, and the mask of real scores."""
    given = torch.arange(max(counts)).unsqueeze(0) < torch.tensor(counts).unsqueeze(1)
    given = given.to(scores.device)
    return scores.new_zeros(given.shape).masked_scatter(given, scores), given
