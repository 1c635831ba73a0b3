from __future__ import annotations

import pytest

from curator.domain.curies import contract, curie, medic_id, with_prefix


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("mesh:D1", "MESH:D1"),
        ("MSH:D1", "MESH:D1"),
        ("MIM: 104300 ", "OMIM:104300"),
        ("go:GO:0001", "GO:0001"),
        ("Own:7", "Own:7"),
        ("D1", "D1"),
    ],
)
def test_prefixes_are_written_as_usual(given: str, found: str) -> None:
    assert curie(given) == found


def test_bare_ids_get_a_prefix_and_others_keep_theirs() -> None:
    assert with_prefix("123", "entrez") == "NCBIGene:123"
    assert with_prefix("OMIM:1", "MESH") == "OMIM:1"
    assert with_prefix("123", "") == "123"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("http://purl.obolibrary.org/obo/DOID_0014667", "DOID:0014667"),
        ("http://id.nlm.nih.gov/mesh/D000001", "MESH:D000001"),
        ("https://identifiers.org/mesh:D000001", "MESH:D000001"),
        ("http://identifiers.org/omim/104300", "OMIM:104300"),
        ("http://example.org/x/5", "ex:5"),
        ("http://example.org/x/", "http://example.org/x/"),
        ("http://elsewhere.org/5", "http://elsewhere.org/5"),
    ],
)
def test_addresses_are_contracted(address: str, found: str) -> None:
    assert contract(address, {"http://example.org/x/": "ex"}) == found


def test_ids_of_the_merged_disease_vocabulary() -> None:
    assert [medic_id(one) for one in ("104300", "D005", "C5", "omim:1")] == [
        "OMIM:104300",
        "MESH:D005",
        "MESH:C5",
        "OMIM:1",
    ]
