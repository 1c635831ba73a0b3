"""Bands: how much attention a suggestion deserves."""

from __future__ import annotations

import pytest

from curator.domain.suggestions import Band, Candidate, NilEstimate, Stamp, Suggestion


@pytest.mark.parametrize(
    ("probability", "is_nil", "calibrated", "band"),
    [
        (0.97, False, True, Band.ACCEPT),
        (0.97, False, False, Band.REVIEW),
        (0.90, False, True, Band.REVIEW),
        (0.97, True, True, Band.PROBABLY_NIL),
        (None, False, True, Band.PROBABLY_NIL),
    ],
)
def test_only_a_calibrated_probability_earns_acceptance(probability, is_nil, calibrated, band) -> None:
    candidates = () if probability is None else (Candidate("X:1", "n", (), "n", 0.5, probability=probability),)
    made = Suggestion(1, candidates, NilEstimate(0.1, is_nil, calibrated), Stamp("b", 1))
    assert made.band is band
