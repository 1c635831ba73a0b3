"""Spans are half-open ranges of code points; fragments are joined by one space."""

from __future__ import annotations

import pytest

from curator.domain.documents import Span, slice_spans, text_hash
from curator.domain.entities import TypeMapping
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 3), (4, 2)])
def test_empty_and_backward_spans_are_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="start < end"):
        Span(start, end)


def test_fragments_join_with_one_space() -> None:
    assert slice_spans("breast and ovarian cancer", (Span(0, 6), Span(19, 25))) == "breast cancer"


def test_the_hash_sees_every_character() -> None:
    assert len({text_hash(t) for t in ("é", "e\u0301", "e", "e ", "\ud83d")}) == 5


def test_an_unmapped_type_restricts_nothing() -> None:
    mapping = TypeMapping({"SpecificDisease": ("Disease",)})
    assert mapping.types_for("SpecificDisease") == ("Disease",)
    assert mapping.types_for("Gene") == ()


def test_the_margin_needs_two_candidates() -> None:
    first, second = (Candidate(i, i, (), i, s) for i, s in (("X:1", 0.75), ("X:2", 0.5)))
    nil, stamp = NilEstimate(0.1, False, False), Stamp("b", 0)
    assert Suggestion(1, (first, second), nil, stamp).margin == 0.25
    assert Suggestion(1, (first,), nil, stamp).margin is None
