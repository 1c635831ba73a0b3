"""Addresses of entities at their sources, and what is said where there is none."""

from __future__ import annotations

import pytest

from curator.domain.curies import PREFIXES
from curator.domain.entity_pages import PAGES, address_of, own_pages, pages_text, registry_of
from curator.domain.wording import UserError

WITHOUT = {"ICD9", "tmVar"}
"""Registries whose old browsers are gone."""


@pytest.mark.parametrize(
    ("entity_id", "address"),
    [
        ("MESH:D008012", "https://meshb.nlm.nih.gov/record/ui?ui=D008012"),
        ("mesh:D008012", "https://meshb.nlm.nih.gov/record/ui?ui=D008012"),
        ("OMIM:104300", "https://omim.org/entry/104300"),
        ("entrez:7157", "https://www.ncbi.nlm.nih.gov/gene/7157"),
        ("CHEBI:15365", "https://www.ebi.ac.uk/chebi/searchId.do?chebiId=CHEBI:15365"),
        ("UBERON:0000948", "http://purl.obolibrary.org/obo/UBERON_0000948"),
        ("OMIM:1 0/<a>", "https://omim.org/entry/1%200%2F%3Ca%3E"),
        ("OMIM:javascript:alert(1)", "https://omim.org/entry/javascript:alert%281%29"),
        ("OMIM:@evil.example/?a=%s&b#c", "https://omim.org/entry/%40evil.example%2F%3Fa%3D%25s%26b%23c"),
        ("OMIM:\"'\\\n\u202e", "https://omim.org/entry/%22%27%5C%0A%E2%80%AE"),
    ],
)
def test_an_identifier_has_the_address_of_its_registry(entity_id: str, address: str) -> None:
    assert address_of(entity_id) == address


def test_every_known_prefix_has_an_address_that_holds_the_identifier_once() -> None:
    prefixes = [one.prefix for one in PAGES]
    assert len(set(prefixes)) == len(prefixes)
    assert set(PREFIXES.values()) - set(prefixes) == WITHOUT
    for one in PAGES:
        assert one.pattern.count("{id}") == 1
        assert one.source
        assert one.registry
        assert "X1" in address_of(f"{one.prefix}:X1")


def test_own_patterns_come_first_and_identifiers_without_a_prefix_have_one_of_their_own() -> None:
    own = {"MESH": "https://id.nlm.nih.gov/mesh/{id}.html", "*": "https://wiki.example/{id}", "lab": "http://lab/{id}"}
    assert address_of("MESH:D1", own) == "https://id.nlm.nih.gov/mesh/D1.html"
    assert address_of("4711", own) == "https://wiki.example/4711"
    assert address_of("LAB:7", own) == "http://lab/7"
    assert address_of("OMIM:1", own) == "https://omim.org/entry/1"


@pytest.mark.parametrize(
    ("entity_id", "own", "said"),
    [
        ("4711", {}, "has no prefix"),
        ("ICD9:250", {}, "begin with ICD9"),
        ("NEW:0001", {}, "made in this project"),
        ("MESH:D1", {"MESH": "https://meshb.nlm.nih.gov/"}, "has no {id}"),
        ("MESH:D1", {"MESH": "javascript:{id}"}, "does not begin with http"),
        ("MESH:", {}, "has no prefix"),
        ("javascript:alert(1)", {}, "begin with javascript"),
        ("file:///etc/passwd", {}, "begin with file"),
        ("http://evil.example/", {}, "begin with http"),
        ("x:1", {"x": "file:///{id}"}, "does not begin with http"),
        ("x:1", {"x": " https://a/{id}"}, "does not begin with http"),
    ],
)
def test_where_there_is_no_address_a_sentence_says_why(entity_id: str, own: dict[str, str], said: str) -> None:
    with pytest.raises(UserError) as found:
        address_of(entity_id, own)
    assert said in str(found.value)


def test_the_table_is_edited_as_lines_of_which_only_the_differences_are_kept() -> None:
    text = pages_text({"LAB": "http://lab/{id}"})
    assert own_pages(text) == {"LAB": "http://lab/{id}"}
    assert own_pages(text.replace("https://omim.org/entry/", "https://mirror/")) == {
        "LAB": "http://lab/{id}",
        "OMIM": "https://mirror/{id}",
    }
    assert own_pages("\n\nmesh: https://a/{id}\n") == {"MESH": "https://a/{id}"}
    with pytest.raises(UserError, match="Line 2"):
        own_pages("MESH https://a/{id}\nOMIM")
    with pytest.raises(UserError, match="OMIM has no"):
        own_pages("OMIM https://omim.org")


def test_registries_have_names() -> None:
    assert [registry_of(one) for one in ("MESH:D1", "X:1", "4711")] == ["MeSH Browser", "X", ""]
