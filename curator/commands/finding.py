"""Finding a command or a document by a few of its letters."""

from __future__ import annotations

from dataclasses import dataclass

START, WORD, RUN, PLAIN, GAP = 12, 8, 7, 1, 3
"""The score of a matched letter: at the start, at the start of a word, right after the previous match, anywhere; and
the cost of skipping letters."""


@dataclass(frozen=True, slots=True)
class Match:
    """`places` are the indices of the matched letters; a higher `score` is a better match."""

    score: int
    places: tuple[int, ...]


def match(query: str, text: str) -> Match | None:
    """How well the letters of `query` occur in `text` in order; None if they do not.

    Case and spaces of the query are ignored. The best of all placements of the letters counts (dynamic programming over
    the text, len(query) * len(text) steps); unmatched text lowers the score slightly.
    """
    wanted = "".join(query.casefold().split())
    folded = text.casefold()
    if not wanted:
        return Match(0, ())
    if len(folded) != len(text):  # a letter that folds to two would shift the positions
        folded = text.lower() if len(text.lower()) == len(text) else text
    best = _best(wanted, folded)
    return Match(best[0] * 100 - len(text), best[1]) if best is not None else None


def _best(wanted: str, text: str) -> tuple[int, tuple[int, ...]] | None:
    """rows[j] is the best placement of the letters so far with the last one at j."""
    rows: dict[int, tuple[int, tuple[int, ...]]] = {}
    for at, letter in enumerate(wanted):
        found: dict[int, tuple[int, tuple[int, ...]]] = {}
        before: tuple[int, tuple[int, ...]] | None = (0, ()) if at == 0 else None
        for place, one in enumerate(text):
            if at and place - 1 in rows and (before is None or rows[place - 1][0] > before[0]):
                before = rows[place - 1]
            if one == letter:
                ways = [(before[0] - (GAP if at else 0) + _worth(text, place), before[1])] if before is not None else []
                if place - 1 in rows:
                    ways.append((rows[place - 1][0] + max(RUN, _worth(text, place)), rows[place - 1][1]))
                if ways:
                    score, places = max(ways, key=lambda way: way[0])
                    found[place] = (score, (*places, place))
        rows = found
    return max(rows.values(), key=lambda way: way[0], default=None)


def _worth(text: str, place: int) -> int:
    if place == 0:
        return START
    return WORD if not text[place - 1].isalnum() else PLAIN
