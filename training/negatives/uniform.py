"""Random negatives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from training.negatives.kinship import Rows
from training.negatives.sampling import NegativeSampler


class RandomNegatives(NegativeSampler):
    """Uniform over the knowledge base (PEL §5.3.1 "Random", T-Biencoder §3.2 "Random-CD"), or over the domain of the
    gold entity (T-Biencoder §3.4 "Random-ID")."""

    def rows(self, mentions: Sequence[int], random: np.random.Generator, *, without: Rows) -> Rows:
        return self.uniform(mentions, random, self.size, without=without)
