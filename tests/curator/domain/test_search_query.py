from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.domain.facets import SearchQuery, only_words, parse_query


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", SearchQuery()),
        ("  lidocaine   hydr", SearchQuery("lidocaine hydr")),
        ("lidocaine ", SearchQuery("lidocaine", typing=False, typing_definition=False)),
        ("MESH:D008012", SearchQuery("MESH:D008012")),
        ('"beta-block"', SearchQuery(phrases=("beta-block",), typing=False)),
        ('"beta-bl', SearchQuery(phrases=("beta-bl",), typing=False)),
        ('heart "a b" fail', SearchQuery("heart fail", phrases=("a b",))),
        ("type:disease", SearchQuery(types=("disease",), typing=False)),
        ("cold TYPE:Disease,chemical", SearchQuery("cold", types=("Disease", "chemical"), typing=False)),
        ('type:"cell line" hela', SearchQuery("hela", types=("cell line",))),
        ("type:a type:b type:a x", SearchQuery("x", types=("a", "b"))),
        ("cold :: virus inf", SearchQuery("cold", definition="virus inf", typing=False)),
        (":: virus", SearchQuery(definition="virus", typing=False)),
        ("cold :: virus type:disease", SearchQuery("cold", types=("disease",), definition="virus", typing=False)),
        ("prototype:x", SearchQuery("prototype:x")),
        ('"a::b" :: c', SearchQuery(phrases=("a::b",), definition="c", typing=False)),
        ("a :: b :: c", SearchQuery("a", definition="b :: c", typing=False)),
    ],
)
def test_the_grammar(typed: str, expected: SearchQuery) -> None:
    assert parse_query(typed) == expected


@pytest.mark.parametrize(
    "typed", ['"', '""', "type:", 'type:""', "type:,", "::", ":::", ' :: "" type: ', "\t\n", '" "']
)
def test_syntax_without_content_asks_for_nothing(typed: str) -> None:
    query = parse_query(typed)
    assert query.empty or query.definition == ":"


def test_plain_means_that_it_may_be_an_identifier() -> None:
    assert parse_query("D00").plain
    assert not parse_query("D00 type:x").plain


@given(st.text(st.sampled_from('ab :"\u00a0type,'), max_size=30))
def test_no_nonsense_fails_and_no_word_is_lost(typed: str) -> None:
    query = parse_query(typed)
    found = " ".join((query.text, *query.phrases, *query.types, query.definition))
    lost = {"a", "b"} & set(typed) - set(found)
    assert not lost
    assert query.text == " ".join(query.text.split())


@given(st.text())
def test_the_words_of_a_text_are_never_syntax(text: str) -> None:
    query = parse_query(only_words(text))
    assert query.plain
    assert not query.typing
    assert query.text.split() == text.replace('"', " ").replace(":", " ").split()
