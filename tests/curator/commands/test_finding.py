"""A few letters find what was meant first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.commands.command import match
from curator.ui.shell.catalogue import COMMANDS


def first(query: str) -> str:
    found = [(match(query, one.title), one.title) for one in COMMANDS]
    return max((hit.score, title) for hit, title in found if hit is not None)[1]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("undo", "Undo"),
        ("newp", "New project…"),
        ("np", "New project…"),
        ("imd", "Import documents…"),
        ("impkb", "Import knowledge base…"),
        ("RETRAIN", "Retrain…"),
        ("type map", "Type mapping…"),
    ],
)
def test_the_command_that_was_meant_stands_first(query: str, title: str) -> None:
    assert first(query) == title


def test_letters_in_another_order_do_not_match() -> None:
    assert match("odnu", "Undo") is None
    assert match("undox", "Undo") is None


def test_the_best_places_are_taken_not_the_first() -> None:
    found = match("pm", "Type propagation map")
    assert found is not None
    assert found.places == (5, 17)


@settings(max_examples=30, deadline=None)
@given(text=st.text(max_size=30), data=st.data())
def test_letters_of_a_text_in_their_order_always_match_where_they_stand(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, max(len(text) - 1, 0)), max_size=5))) if text else []
    query = "".join(text[place] for place in places)
    if len(text.casefold()) != len(text) or query.casefold() != "".join(one.casefold() for one in query):
        return
    found = match(query, text)
    assert found is not None
    wanted = "".join(query.casefold().split())
    assert "".join(text[place].casefold() for place in found.places) == wanted
    assert list(found.places) == sorted(found.places)
