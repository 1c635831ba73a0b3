"""Spellings of one name are equal, other scripts and marks stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.normalise import normalise, sorted_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tumours", "tumor"),
        ("β-Carotene", "beta carotene"),
        ("TNFα", "TNF-alpha"),
        ("oedema", "Edema"),
        ("Parkinson's disease", "Parkinson disease"),
        ("Parkinson´s disease", "Parkinson’s disease"),
        ("Leukaemias", "leukemia"),
        ("allergies", "allergy"),
        ("ischaemia", "ischemia"),
        ("Sjögren syndrome", "Sjogren Syndrome"),
        ("Type IIb", "type 2b"),
        ("factor V", "factor 5"),
        ("liver\u2013metastases", "Liver metastasis"),
    ],
)
def test_spellings_of_one_name_are_equal(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize("word", ["pancreatitis", "virus", "abscess", "diabetes mellitus", "AIDS"])
def test_normalising_twice_is_normalising_once(word: str) -> None:
    assert normalise(word) == normalise(normalise(word))


@given(st.text(max_size=40))
def test_any_text_has_one_form_without_blanks_at_its_ends(text: str) -> None:
    found = normalise(text)
    assert found == found.strip()
    assert "  " not in found
    assert bool(found) == bool(text.lower().strip()) or not text.isascii()


def test_normalise_leaves_other_scripts_and_marks() -> None:
    assert normalise("Рак Молочной") == "рак молочной"
    assert normalise("乳腺癌") == "乳腺癌"
    assert normalise("***") == "***"
    assert normalise("") == ""


def test_word_order_is_put_right() -> None:
    assert sorted_key("Neoplasms, Breast") == sorted_key("breast neoplasm") == sorted_key("Neoplasm of the Breast")
