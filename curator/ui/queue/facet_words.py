"""What facets and their values are called."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from curator.domain.documents import DocumentState
from curator.domain.facets import (
    MARGIN_BANDS,
    NO,
    NONE,
    ON_DOCUMENT,
    PROBABILITY_BANDS,
    UNDECIDED,
    YES,
    Facet,
    Facets,
    band_key,
)
from curator.domain.wording import tr

FACET_WORDS = {
    Facet.STATE: "State",
    Facet.TYPE: "Type",
    Facet.PROBABILITY: "Probability",
    Facet.MARGIN: "Margin",
    Facet.NIL: "Suggestion",
    Facet.FLAG: "Flag",
    Facet.COMMENT: "Comment",
    Facet.CURATOR: "Curator",
    Facet.SPLIT: "Split",
    Facet.DOCUMENT: "Document",
}
_NOT_YET = "no suggestion"


def _band_words(bands: Iterable[float]) -> dict[str, str]:
    lows = tuple(bands)
    words = {band_key(low): f"{_figure(low)} to {_figure(high)}" for low, high in pairwise(lows)}
    words[band_key(lows[0])] = f"below {_figure(lows[1])}"
    words[band_key(lows[-1])] = f"{_figure(lows[-1])} and more"
    return {**words, NONE: _NOT_YET}


def _figure(value: float) -> str:
    return f"{value:.2f}".lstrip("0")


_WORDS: dict[Facet, dict[str, str]] = {
    Facet.STATE: {
        UNDECIDED: "undecided",
        "link": "linked",
        "nil": "NIL",
        "rejected": "rejected",
        "skipped": "skipped",
    },
    Facet.PROBABILITY: _band_words(PROBABILITY_BANDS),
    Facet.MARGIN: _band_words(MARGIN_BANDS),
    Facet.NIL: {NO: "an entity", YES: "NIL", NONE: _NOT_YET},
    Facet.FLAG: {YES: "flagged", ON_DOCUMENT: "its document flagged", NO: "not flagged"},
    Facet.COMMENT: {YES: "commented", ON_DOCUMENT: "its document commented", NO: "without comments"},
    Facet.CURATOR: {"": "nobody yet"},
    Facet.SPLIT: {one: one for one in ("train", "validation", "test")},
    Facet.DOCUMENT: {state.value: state.words for state in DocumentState},
}


def value_words(facet: Facet, value: str) -> str:
    return tr(_WORDS.get(facet, {}).get(value, value))


def values_in_order(facet: Facet, present: Iterable[str]) -> list[str]:
    """The values to offer: those known beforehand in their order, then others by the alphabet; only those present."""
    found = set(present)
    known = [one for one in _WORDS.get(facet, {}) if one in found]
    return [*known, *sorted(found - set(known), key=str.casefold)]


def chips(facets: Facets) -> list[tuple[Facet, str]]:
    """One for each facet that is set: “State: undecided, skipped”."""
    return [
        (
            facet,
            f"{tr(FACET_WORDS[facet])}: {', '.join(value_words(facet, one) for one in values_in_order(facet, values))}",
        )
        for facet, values in facets.chosen
    ]
