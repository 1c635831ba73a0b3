"""Arithmetic of spans, and words to snap to in every script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.domain.documents import Span, slice_spans
from curator.domain.spans import (
    apart,
    hull,
    next_word_end,
    next_word_start,
    overlaps,
    previous_word_end,
    previous_word_start,
    snapped,
    trimmed,
    with_span,
    without_span,
    word_at,
)

TEXT = "left or right ventricular failure"


def at(words: str, text: str = TEXT) -> Span:
    start = text.index(words)
    return Span(start, start + len(words))


def test_a_further_part_stands_in_text_order_and_joins_what_it_touches() -> None:
    parts = with_span([at("ventricular failure")], at("left"))
    assert slice_spans(TEXT, parts) == "left ventricular failure"
    assert with_span(parts, at("or right ")) == (at("left"), at("or right ventricular failure"))
    assert with_span(parts, at("left or right ventricular")) == (at(TEXT),)


def test_what_is_taken_out_of_the_middle_leaves_two_parts_without_white_space() -> None:
    assert without_span(TEXT, [at(TEXT)], at("or right")) == (at("left"), at("ventricular failure"))
    assert without_span(TEXT, [at("left"), at("ventricular")], at("left")) == (at("ventricular"),)
    assert without_span(TEXT, [at("left")], at(TEXT)) == ()
    assert without_span(TEXT, [at("left")], at("right")) == (at("left"),)


def test_spans_apart_and_over_each_other() -> None:
    assert apart([at("right"), at("left")])
    assert not apart([at("left or"), at("or right")])
    assert overlaps([at("left or")], at("or right"))
    assert not overlaps([at("left")], at("right"))
    assert hull([at("failure"), at("left")]) == at(TEXT)
    assert trimmed(TEXT, 4, 8) == at("or")
    assert trimmed(TEXT, 4, 5) is None


@pytest.mark.parametrize(
    ("text", "inside", "word"),
    [
        ("lidocaine-induced", "cain", "lidocaine"),
        ("Na\u0308ive dose", "a\u0308", "Na\u0308ive"),
        ("\u0928\u093f\u0926\u093e\u0928 x", "\u0926", "\u0928\u093f\u0926\u093e\u0928"),  # vowel signs are marks
        ("of \u05d0\u05e1\u05e4\u05d9\u05e8\u05d9\u05df now", "\u05e4", "\u05d0\u05e1\u05e4\u05d9\u05e8\u05d9\u05df"),
        ("a \U0001f9ec\U0001f9ec b", "\U0001f9ec", "\U0001f9ec"),
        ("a \u2764\ufe0f b", "\u2764", "\u2764\ufe0f"),
        ("\u809d\u708e\u60a3\u8005", "\u708e", "\u708e"),  # no spaces between Chinese words: one sign at a time
        ("10\u00a0mg", "0", "10"),
        ("x" * 10_000, "xx", "x" * 10_000),
        ("\U0001d6c3-blocker", "\U0001d6c3", "\U0001d6c3"),
    ],
)
def test_words_of_every_script(text: str, inside: str, word: str) -> None:
    where = at(inside, text)
    found = word_at(text, where.start)
    assert found is not None
    assert text[found.start : found.end] == word
    assert snapped(text, Span(where.start, where.start + 1)) == found


def test_there_is_no_word_on_white_space_and_outside() -> None:
    assert [word_at("a b", n) for n in (-1, 1, 3)] == [None] * 3
    assert snapped("a b", Span(1, 2)) == Span(1, 2)


def test_steps_by_words() -> None:
    right = at("right")
    assert next_word_end(TEXT, right.end) == at("ventricular").end
    assert next_word_start(TEXT, right.start) == at("ventricular").start
    assert previous_word_start(TEXT, right.start) == at("or").start
    assert previous_word_end(TEXT, right.end) == at("or").end
    assert (next_word_end(TEXT, len(TEXT)), previous_word_start(TEXT, 0)) == (len(TEXT), 0)
    assert (next_word_start(TEXT, len(TEXT)), previous_word_end(TEXT, 3)) == (len(TEXT), 0)


@pytest.mark.parametrize(
    ("text", "stops"),  # where the ends of a mention stop, from the first word on
    [
        ("Arrest (cardiac arrest).", ["Arrest", "Arrest (cardiac", "Arrest (cardiac arrest"]),
        (
            "a \u201cquoted\u201d word, and\u2026",
            ["a", "a \u201cquoted", "a \u201cquoted\u201d word", "a \u201cquoted\u201d word, and"],
        ),
        ("N-acetyl; x", ["N", "N-acetyl", "N-acetyl; x"]),
        ("TNF-\u03b1.", ["TNF", "TNF-\u03b1"]),
        ("5'-UTR, end", ["5'", "5'-UTR", "5'-UTR, end"]),
        ("3\u2032,5\u2032-cAMP.", ["3\u2032", "3\u2032,5\u2032", "3\u2032,5\u2032-cAMP"]),
        ("p.V600E.", ["p", "p.V600E"]),
        ("Ca2+. Na+ x", ["Ca2+", "Ca2+. Na+", "Ca2+. Na+ x"]),
        ("Cl\u2212, CD4+-cell", ["Cl\u2212", "Cl\u2212, CD4+", "Cl\u2212, CD4+-cell"]),
        ("A+B, 5% 'x'", ["A", "A+B", "A+B, 5%", "A+B, 5% 'x"]),
        (
            "Fe(III) poly(A), (IL-6)",
            ["Fe", "Fe(III)", "Fe(III) poly", "Fe(III) poly(A)", "Fe(III) poly(A), (IL", "Fe(III) poly(A), (IL-6"],
        ),
        ("Alzheimer's disease!", ["Alzheimer", "Alzheimer's", "Alzheimer's disease"]),
        (
            "dose \u2764\ufe0f. \u809d\u708e\u3002",
            ["dose", "dose \u2764\ufe0f", "dose \u2764\ufe0f. \u809d", "dose \u2764\ufe0f. \u809d\u708e"],
        ),
    ],
)
def test_an_end_stops_behind_words_and_never_behind_punctuation(text: str, stops: list[str]) -> None:
    ends = [len(one) for one in stops]
    assert [next_word_end(text, one) for one in (0, *ends)] == [*ends, ends[-1]]
    assert [previous_word_end(text, one) for one in reversed(ends)] == [*reversed(ends[:-1]), 0]
    assert previous_word_end(text, len(text)) == (ends[-1] if ends[-1] < len(text) else ends[-2])


@pytest.mark.parametrize(
    ("text", "stops"),  # what follows from where the start of a mention stops
    [
        ("(cardiac) arrest", ["cardiac) arrest", "arrest"]),
        ("x, TNF-\u03b1", ["x, TNF-\u03b1", "TNF-\u03b1", "\u03b1"]),
        ("of 5'-UTR", ["of 5'-UTR", "5'-UTR", "UTR"]),
        ("Ca2+ p.V600E", ["Ca2+ p.V600E", "p.V600E", "V600E"]),
        ("x Fe(III) chloride", ["x Fe(III) chloride", "Fe(III) chloride", "chloride"]),
        ("\u201cN-acetyl", ["N-acetyl", "acetyl"]),
        ("end. Next", ["end. Next", "Next"]),
    ],
)
def test_a_start_stops_before_words_and_never_before_punctuation(text: str, stops: list[str]) -> None:
    starts = [len(text) - len(one) for one in stops]
    assert [next_word_start(text, one) for one in starts] == [*starts[1:], len(text)]
    assert [previous_word_start(text, one) for one in (len(text), *reversed(starts))] == [*reversed(starts), starts[0]]


def test_steps_stay_inside_a_word_that_they_begin_in() -> None:
    assert next_word_end("arrests.", 3) == 7
    assert previous_word_start("arrests.", 3) == 0
    assert next_word_end("Ca2+.", 3) == 4


TEXTS = st.text(alphabet="ab\u0308 \n\u00a0-\U0001f9ec\u05d0\u809d\u200d", min_size=1, max_size=20)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.data())
def test_no_step_leaves_the_text_or_stands_still_inside_it(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    assert offset <= next_word_start(text, offset) <= len(text)
    assert offset <= next_word_end(text, offset) <= len(text)
    assert 0 <= previous_word_start(text, offset) <= offset
    assert 0 <= previous_word_end(text, offset) <= offset
    if text[offset:].replace("-", "").strip():
        assert next_word_end(text, offset) > offset
    if text[:offset].replace("-", "").strip():
        assert previous_word_start(text, offset) < offset


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.data())
def test_a_part_added_and_taken_out_again_leaves_nothing_of_itself(text: str, data: st.DataObject) -> None:
    ends = sorted(
        data.draw(st.lists(st.integers(0, len(text)), min_size=4, max_size=4, unique=True))
        if len(text) > 3
        else [0, 1, 1, 1]
    )
    one = Span(ends[0], ends[1])
    parts = with_span([one], Span(ends[2], ends[3])) if ends[2] < ends[3] else (one,)
    assert apart(parts)
    left = without_span(text, parts, one)
    assert not overlaps(left, one)
    assert all(text[part.start : part.end] == text[part.start : part.end].strip() for part in left if part not in parts)
