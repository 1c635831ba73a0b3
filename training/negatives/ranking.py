"""From ranked entities to hard negatives, and to the pool in which they are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from training.data.examples import Example
from training.negatives.kinship import Kinship


def hard_rows(
    ranked: Sequence[int], gold: Iterable[int], kinship: Kinship, *, limit: int, shown: Sequence[int] = ()
) -> list[int]:
    """At most `limit` hard negatives of a mention, hardest first: what the curator saw and passed over (`shown`),
    then what an index `ranked` high; never its gold rows or their aliases."""
    forbidden = kinship.of(gold)
    passed_over = list(dict.fromkeys((*shown, *ranked)))
    return [row for row in passed_over if row not in forbidden][:limit]


def gold_and_best(examples: Sequence[Example], ranked: Sequence[Sequence[int]], *, limit: int) -> list[int]:
    """All gold rows of the examples, then the best ranked rows of all of them in turn, up to `limit`; ascending."""
    chosen = dict.fromkeys(row for example in examples for row in example.gold)
    for depth in range(max((len(rows) for rows in ranked), default=0)):
        for rows in ranked:
            if len(chosen) >= limit:
                return sorted(chosen)
            if depth < len(rows):
                chosen[rows[depth]] = None
    return sorted(chosen)
