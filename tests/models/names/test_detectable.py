"""Which names may be searched, and in which letters they may be quoted."""

import pytest

from models.names.detectable import case_fits, is_symbol, is_usable, is_usable_memory


@pytest.mark.parametrize("name", ["aspirin", "AIDS", "pH", "pain", "gold", "癌", "рак", "Lead Poisoning"])
def test_names_that_are_searched(name: str) -> None:
    assert is_usable(name)


@pytest.mark.parametrize("name", ["lead", "Is", "rest", "disease", "kg", "SD", "at", "K", "Na+", "12", "", "+"])
def test_words_units_and_letters_are_not(name: str) -> None:
    assert not is_usable(name)


def test_what_a_curator_marked_is_searched_unless_it_is_a_function_word() -> None:
    assert is_usable_memory("lead")
    assert is_usable_memory("K")
    assert not is_usable_memory("The")
    assert not is_usable_memory("12")


def test_symbols_keep_their_case() -> None:
    assert is_symbol("AIDS")
    assert not is_symbol("aspirin")
    assert case_fits("AIDS", "AIDS")
    assert case_fits("ADR", "ADRs")
    assert case_fits("IL-2", "IL 2")
    assert not case_fits("AIDS", "aids")
    assert not case_fits("act", "ACT")
    assert case_fits("Aspirin", "ASPIRIN")
    assert case_fits("pain", "Pain")
