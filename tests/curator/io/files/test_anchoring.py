"""The order of conventions, and what is left ambiguous."""

from __future__ import annotations

import time

import pytest

from curator.domain.documents import Passage, Span
from curator.io.files.anchoring import GAP, NORMALISED, Anchors, alike, same_text

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
    assert (found is not None and found.span == Span(0, 8) and "omits something" in found.repair) == fits


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


def learned(*stated: tuple[int, int, str], text: str, passages: tuple[Passage, ...] = ()) -> tuple[Anchors, str]:
    anchors = Anchors(text, passages)
    return anchors, anchors.learn(stated)


def span_of(anchors: Anchors, start: int, end: int, quote: str) -> tuple[Span, str]:
    found = anchors.find(start, end, quote)
    assert found is not None
    return found.span, found.repair


def test_an_ambiguous_mention_takes_the_convention_that_another_one_proves() -> None:
    text = "\U0001f600\U0001f600 ababab ox"  # UTF-16: ab at 5, 7, 9; code points: 3, 5, 7
    ambiguous, proof = (5, 7, "ab"), (12, 14, "ox")
    alone, _ = learned(ambiguous, text=text)
    assert span_of(alone, *ambiguous) == (Span(5, 7), ""), "code points are tried first"
    anchors, conflict = learned(ambiguous, proof, text=text)
    assert span_of(anchors, *ambiguous) == (Span(3, 5), "the offsets count UTF-16 units")
    assert conflict == ""


def test_bytes_are_a_convention_too() -> None:
    text = "\u00e4\u00e4 ababab ox"  # bytes: ab at 5, 7, 9; code points: 3, 5, 7
    ambiguous, proof = (5, 7, "ab"), (12, 14, "ox")
    anchors, conflict = learned(ambiguous, proof, text=text)
    assert span_of(anchors, *ambiguous) == (Span(3, 5), "the offsets count UTF-8 bytes")
    assert conflict == ""


def test_offsets_of_the_passage_are_a_convention_too() -> None:
    text = "a cat\nthe cat, the cat, an ox"
    passages = (Passage("title", 0, 5), Passage("abstract", 6, len(text)))
    # relative to the abstract, `cat` is at 4 and 13; by the text, at 2, 10 and 19
    anchors, conflict = learned((21, 23, "ox"), (2, 5, "cat"), text=text, passages=passages)
    assert span_of(anchors, 21, 23, "ox") == (Span(27, 29), "the offsets are relative to the abstract")
    assert span_of(anchors, 2, 5, "cat") == (Span(2, 5), ""), "in the title both are the same"
    assert conflict == ""


def test_where_mentions_prove_different_conventions_that_is_said() -> None:
    text = "\U0001f600\U0001f600 ababab ox cow"  # code points: ox at 10, cow at 13; UTF-16: 12 and 15
    ambiguous = (5, 7, "ab")
    anchors, conflict = learned(ambiguous, (10, 12, "ox"), (15, 18, "cow"), text=text)
    assert "characters: 2, UTF-16 units: 1" in conflict
    assert "they were read as characters" in conflict
    assert span_of(anchors, *ambiguous) == (Span(5, 7), "")
    assert span_of(anchors, 15, 18, "cow") == (Span(13, 16), "the offsets count UTF-16 units")


def test_a_slip_is_no_conflict() -> None:
    _, conflict = learned((3, 6, "ill"), (18, 20, "ox"), text="an ill ox and an ox")
    assert conflict == ""


def test_a_gap_is_found_soon_behind_any_number_of_spaces() -> None:
    started = time.process_time()
    assert GAP.split("a" + " " * 300_000 + "b ... c [ … ]... d") == ["a" + " " * 300_000 + "b", "c", "", "d"]
    assert time.process_time() - started < 5
