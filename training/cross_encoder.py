"""What the cross-encoder recipes train: one network that reads a mention with each of its candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from models.cross_encoder import CrossEncoderModule
from models.encoders import Encoder, length_batches, pad_ids
from models.inputs import pair_tokens
from training.examples import EntityTexts, Example
from training.losses import CandidateCrossEntropy
from training.negatives import Kinship, hard_rows
from training.towers import one_of
from training.trainer import Batch, Task

PAIRS_AT_ONCE, TOKENS_AT_ONCE = 32, 2048
"""A batch's pairs are read in parts of like length: padding would cost more than the larger matrices save."""


class CrossEncoderTask(Task):
    """Each mention's gold entity against its own candidates (PEL appendix B).

    `ranked` are the rows that the linker in use ranks first, for each example. The gold entity is always put beside
    them, whether found or not (the paper trains on what was retrieved); it and its aliases are never wrong ones.
    What the curator saw and passed over comes before what was only retrieved. NIL examples must be left out before;
    an example without any wrong candidate is left out here.
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
    ) -> None:
        self.module, self.encoder, self.texts = module, encoder, texts
        self.batch_size, self.seed = batch_size, seed
        self.random = np.random.default_rng([seed, 1])
        self.loss_of = CandidateCrossEntropy()
        pairs = [
            (example, hard_rows(rows, example.gold, kinship, limit=candidates - 1, shown=example.shown))
            for example, rows in zip(examples, ranked, strict=True)
        ]
        self.examples = [example for example, wrong in pairs if wrong]
        self.wrong = [wrong for _, wrong in pairs if wrong]

    def modules(self) -> Sequence[nn.Module]:
        return [self.module]

    def batches(self, epoch: int) -> Sequence[Batch]:
        """A random order of all examples."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.examples)).tolist()
        return [order[start : start + self.batch_size] for start in range(0, len(order), self.batch_size)]

    def loss(self, batch: Batch) -> Tensor:
        rows = [[one_of(self.examples[number], self.random), *self.wrong[number]] for number in batch]
        pairs = [
            pair_tokens(self.examples[number].tokens.ids, entity)
            for number, own in zip(batch, rows, strict=True)
            for entity in self.texts.of(own)
        ]
        scores, given = spread(self.scores(pairs), [len(own) for own in rows])
        result: Tensor = self.loss_of(scores, given)
        return result

    def scores(self, pairs: Sequence[tuple[int, ...]]) -> Tensor:
        """(n,) scores with a graph."""
        pad_id, device = int(self.encoder.tokenizer.pad_token_id or 0), self.encoder.device.torch
        parts, order = [], []
        for rows in length_batches([len(pair) for pair in pairs], limit=PAIRS_AT_ONCE, tokens=TOKENS_AT_ONCE):
            parts.append(self.module(*pad_ids([pairs[row] for row in rows], pad_id=pad_id, device=device)))
            order += rows
        return torch.cat(parts)[torch.tensor(np.argsort(order), device=device)]


def spread(scores: Tensor, counts: Sequence[int]) -> tuple[Tensor, Tensor]:
    """(n,) scores of mentions one after another → [B, C] with zeros behind short rows, and the mask of real ones."""
    given = torch.arange(max(counts)).unsqueeze(0) < torch.tensor(counts).unsqueeze(1)
    given = given.to(scores.device)
    return scores.new_zeros(given.shape).masked_scatter(given, scores), given
