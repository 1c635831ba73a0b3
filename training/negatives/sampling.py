"""The base of all samplers: how many rows, for which mentions, from which domain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import ModelError, say
from training.data.domains import Domain
from training.negatives.batch import DrawnNegatives
from training.negatives.kinship import Rows

NOTHING: Rows = np.empty(0, dtype=np.int64)


class Sharing(StrEnum):
    """BATCH: one set for the whole batch, which saves encoding (our reading of "N per mention" on a CPU). MENTION: a
    set for each mention, as in the papers."""

    BATCH = "batch"
    MENTION = "mention"


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """The users and the range of drawn rows.

    By mention number: `domains` are the ranges of its negatives (None: the whole knowledge base, "across domains"),
    `forbidden` are the rows of its gold entities and their aliases. A mention's own set leaves them out. A set for a
    batch may hold them, since other mentions may use them; `candidate_set` masks them.
    """

    sharing: Sharing = Sharing.BATCH
    domains: Sequence[Domain] | None = None
    forbidden: Sequence[Collection[int]] | None = None


class NegativeSampler(ABC):
    """Draws entity rows for a batch.

    `size` is the number of rows of a set, for a batch or for a mention as `reach` says; `entities` the number of rows
    in all. Raises ModelError for a negative `size`.
    """

    def __init__(self, *, size: int, entities: int, reach: Reach | None = None) -> None:
        if size < 0:
            raise ModelError(
                say("The number of negatives must not be below 0, but is {size}. Change the recipe.", size=size)
            )
        self.size = min(size, entities)
        self.reach = reach or Reach()
        self.everything = Domain(((0, entities),) if entities else ())

    def draw(self, mentions: Sequence[int], random: np.random.Generator) -> DrawnNegatives:
        """Negatives of a batch of mention numbers, each row once. `candidate_set` gives the allowed pairs."""
        domains = self.reach.domains
        if self.reach.sharing is Sharing.MENTION:
            sets = [self.rows([mention], random, without=self._forbidden(mention)) for mention in mentions]
            rows = np.unique(np.concatenate([NOTHING, *sets]))
            return DrawnNegatives(rows, _mask([np.isin(rows, own) for own in sets], len(rows)))
        rows = self.rows(mentions, random, without=NOTHING)
        if domains is None:
            return DrawnNegatives(rows)
        return DrawnNegatives(rows, _mask([domains[mention].holds(rows) for mention in mentions], len(rows)))

    @abstractmethod
    def rows(self, mentions: Sequence[int], random: np.random.Generator, *, without: Rows) -> Rows:
        """One set for `mentions`: distinct rows, at most `size`, each in the domain of one of them, none `without`."""

    def state(self) -> dict[str, Any]:
        """What a resumed run needs, as JSON."""
        return {}

    def load_state(self, raw: Mapping[str, Any]) -> None:  # noqa: B027 the default has no state
        """Continue from the `state` of another sampler."""

    def uniform(self, mentions: Sequence[int], random: np.random.Generator, count: int, *, without: Rows) -> Rows:
        """`count` distinct rows, uniform over the domain of the mentions, none `without`.

        If they have several domains, each mention gets the same number of rows; the remainder goes to mentions at
        random. There are fewer rows if a domain has fewer.
        """
        taken = without
        for domain, share in self._shares(mentions, random, count):
            taken = np.concatenate([taken, domain.draw(random, share, without=taken)])
        return taken[len(without) :]

    def _shares(self, mentions: Sequence[int], random: np.random.Generator, count: int) -> list[tuple[Domain, int]]:
        if self.reach.domains is None:
            return [(self.everything, count)]
        order = random.permutation(len(mentions)).tolist()
        turns = islice(cycle(order), count)
        places = [self.reach.domains[mentions[place]] for place in turns]
        return list(Counter(places).items())

    def _forbidden(self, mention: int) -> Rows:
        known = self.reach.forbidden
        return NOTHING if known is None else np.fromiter(known[mention], dtype=np.int64)


def _mask(lines: Sequence[NDArray[np.bool_]], width: int) -> NDArray[np.bool_]:
    return np.stack(lines) if lines else np.empty((0, width), dtype=bool)


class RandomNegatives(NegativeSampler):
    """Uniform over the knowledge base (PEL §5.3.1 "Random", T-Biencoder §3.2 "Random-CD"), or over the domain of the
    gold entity (T-Biencoder §3.4 "Random-ID")."""

    def rows(self, mentions: Sequence[int], random: np.random.Generator, *, without: Rows) -> Rows:
        return self.uniform(mentions, random, self.size, without=without)
