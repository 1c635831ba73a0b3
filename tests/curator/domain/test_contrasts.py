from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.domain.documents import Span
from curator.domain.suggestions import Contrast, Stamp, TextRun, WordEffect, apart, names_apart, odds


def test_words_that_only_one_definition_has_stand_out() -> None:
    one, other = "A local anesthetic of the amide type.", "A local anesthetic that also treats arrhythmias."
    assert apart(one, other) == [
        TextRun("A local anesthetic of the ", True),
        TextRun("amide type", False),
        TextRun(".", True),
    ]
    assert [piece.text for piece in apart(other, one) if not piece.common] == ["also treats arrhythmias"]


def test_plurals_and_capitals_are_no_difference() -> None:
    assert all(piece.common for piece in apart("Tumors of Bone", "a bone tumor"))
    assert not any(piece.common for piece in apart("mass", "mas"))


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_are_the_text(text: str, other: str) -> None:
    pieces = apart(text, other)
    assert "".join(piece.text for piece in pieces) == text
    assert all(one.common != two.common for one, two in pairwise(pieces))
    assert all(piece.common for piece in apart(text, text))


def test_names_are_compared_as_wholes() -> None:
    assert names_apart(("Cold", "Acute coryza"), ("cold",)) == [TextRun("Cold", True), TextRun("Acute coryza", False)]


def test_words_speak_for_the_one_whose_lead_they_add_to() -> None:
    words = tuple(WordEffect(Span(i, i + 1), change) for i, change in enumerate((0.5, -2.0, 0.01, None, 1.5)))
    contrast = Contrast(1, "A", "B", 0.7, words, Stamp("b", 1))
    assert [one.change for one in contrast.speaking_for("A")] == [1.5, 0.5]
    assert [one.change for one in contrast.speaking_for("B")] == [-2.0]
    assert [one.span.start for one in contrast.needed] == [3]


def test_odds_have_no_sign_and_an_end() -> None:
    assert odds(0.0) == 1.0
    assert odds(-1.0) == odds(1.0) == pytest.approx(2.718, abs=1e-3)
    assert odds(1e9) == 1000.0
