"""Words with their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.normalise import key_of, words_of


def _quoted(text: str) -> list[tuple[str, str]]:
    return [(text[word.start : word.end], word.normal) for word in words_of(text)]


def test_words_are_normalised_one_by_one_and_keep_their_places() -> None:
    assert _quoted("😀 Tumours, TNFα!") == [("Tumours", "tumor"), ("TNFα", "tnf alpha")]


def test_the_s_of_a_possessive_is_no_word() -> None:
    assert key_of("Parkinson's disease") == " parkinson disease " == key_of("Parkinson disease")
    assert [word.normal for word in words_of("Parkinson’s disease")] == ["parkinson", "disease"]


def test_han_and_kana_are_words_of_one_character() -> None:
    assert _quoted("患乳腺癌") == [(c, c) for c in "患乳腺癌"]
    assert key_of("рак груди") == " рак груди "


def test_a_text_without_words_has_no_key() -> None:
    assert key_of("") == key_of("*** ...") == ""
    assert words_of("... ") == []


@pytest.mark.parametrize("name", ["Neoplasms, Breast", "IL-2", "Ca2+", "5-HT(1B)", "β-Carotene", "Crohn´s disease"])
def test_a_name_has_the_key_of_its_own_words(name: str) -> None:
    assert key_of(name) == f" {' '.join(word.normal for word in words_of(name))} "


@given(st.text(max_size=60))
def test_words_of_any_text_stand_in_order_and_inside(text: str) -> None:
    ends = 0
    for word in words_of(text):
        assert ends <= word.start < word.end <= len(text)
        assert word.normal == word.normal.strip() != ""
        ends = word.end
