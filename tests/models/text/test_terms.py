from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from models.text.terms import char_terms, word_terms


@given(st.lists(st.text(max_size=15), max_size=4))
def test_char_terms_are_those_of_scikit_learn(texts: list[str]) -> None:
    """As many of each: every n-gram has one number and every number one n-gram."""
    analyze = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5), lowercase=False).build_analyzer()
    rows, terms = char_terms(texts)
    for row, text in enumerate(texts):
        expected = Counter(analyze(" ".join(text.split())))
        assert sorted(Counter(terms[rows == row].tolist()).values()) == sorted(expected.values())


def test_equal_terms_have_equal_numbers_in_any_text() -> None:
    rows, terms = char_terms(["heart", "the heart", "乳腺癌"])
    first, second, third = (set(terms[rows == row].tolist()) for row in range(3))
    assert first < second
    assert not first & third


@pytest.mark.parametrize("texts", [[], [""], ["of the"]])
def test_no_word(texts: list[str]) -> None:
    rows, terms = word_terms(texts)
    assert (len(rows), len(terms)) == (0, 0)
    assert terms.dtype == np.uint64


def test_words_are_split_lowered_and_stripped_of_stop_words() -> None:
    rows, terms = word_terms(["Type-2 diabetes", "diabetes of the TYPE 2"])
    assert set(terms[rows == 0].tolist()) == set(terms[rows == 1].tolist())
    assert len(set(terms.tolist())) == 3
