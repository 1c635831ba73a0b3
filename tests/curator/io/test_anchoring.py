"""The order of conventions, and what is left ambiguous."""

from __future__ import annotations

import pytest

from curator.domain.documents import Passage, Span
from curator.io.anchoring import NORMALISED, Anchors, alike, same_text

TEXT = "ab\ncd ab"
PASSAGES = (Passage("title", 0, 2), Passage("abstract", 3, 8))


def test_right_offsets_need_no_repair() -> None:
    found = Anchors(TEXT, PASSAGES).find(6, 8, "ab")
    assert found is not None
    assert (found.span, found.repair) == (Span(6, 8), "")


def test_line_breaks_may_be_quoted_as_spaces() -> None:
    assert same_text("b\ncd", "b cd")
    found = Anchors(TEXT, PASSAGES).find(1, 5, "b cd")
    assert found is not None
    assert not found.repair


@pytest.mark.parametrize(
    ("quote", "fits"), [("ab ... ab", True), ("ab\u2026cd [...] ab", True), ("ab...ab...ab", False), ("b...ab", False)]
)
def test_a_quote_may_leave_out_the_middle(quote: str, fits: bool) -> None:
    found = Anchors(TEXT, PASSAGES).find(0, 8, quote)
    assert (found is not None and found.span == Span(0, 8) and "leaves out" in found.repair) == fits


def test_an_empty_quote_or_an_absent_one_is_nowhere() -> None:
    anchors = Anchors(TEXT, PASSAGES)
    assert anchors.find(0, 2, " ") is None
    assert anchors.find(0, 2, "zz") is None


def test_an_offset_outside_of_the_passages_is_not_guessed() -> None:
    assert Anchors(TEXT, PASSAGES).find(90, 92, "ab") is None


def test_an_inclusive_end() -> None:
    found = Anchors("abcd abcd", ()).find(5, 8, "abcd")
    assert found is not None
    assert (found.span, found.repair) == (Span(5, 9), "the end is inclusive")


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("TNF-α", "TNF-a"),
        ("TNF-α", "tnf-alpha"),
        ("β2-Sjögren’s", "beta2-Sjogren's"),
        ("5 μg", "5 ug"),
        ("a–b", "a-b"),
        ("x→y", "x?y"),
    ],
)
def test_a_quote_normalised_to_ascii_is_no_wrong_place(text: str, quote: str) -> None:
    found = Anchors(text + " and on", ()).find(0, len(text), quote)
    assert found is not None
    assert (found.span, found.repair) == (Span(0, len(text)), NORMALISED)


def test_normalising_hides_no_place_that_is_wrong() -> None:
    assert not alike("TNF-α", "TNF-b")
    assert not alike("NF-α ", "TNF-a")
    assert not alike("abc", "abd")
