"""Identifiers of registries are checked against how these write them."""

from __future__ import annotations

import re

import pytest

from curator.domain.curies import PREFIXES, REGISTRIES, checked_identifier, is_identifier, miswritten, registry_of
from curator.domain.entities import EntityDraft
from curator.domain.wording import UserError


@pytest.mark.parametrize("prefix", REGISTRIES)
def test_every_example_is_one_of_its_registry(prefix: str) -> None:
    registry = REGISTRIES[prefix]
    re.compile(registry.pattern)
    assert checked_identifier(registry.example) == registry.example
    assert registry_of(registry.example) is registry
    assert PREFIXES.get(prefix.lower(), prefix) == prefix, "as identifiers are written here"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" mesh:D008012 ", "MESH:D008012"),
        ("MIM:104300", "OMIM:104300"),
        ("https://omim.org/entry/104300", "OMIM:104300"),
        ("http://purl.obolibrary.org/obo/DOID_4", "DOID:4"),
        ("https://identifiers.org/mesh:D008012", "MESH:D008012"),
        ("drugbank: DB00945", "DrugBank:DB00945"),
        ("so:0000704", "SO:0000704"),
        ("uniprot:P04637-2", "UniProt:P04637-2"),
    ],
)
def test_the_usual_spellings_are_taken(text: str, found: str) -> None:
    assert is_identifier(text)
    assert checked_identifier(text) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("104300", "does not begin with the prefix of a known registry"),
        ("LAB:17", "does not begin with the prefix of a known registry"),
        ("", "does not begin with"),
        ("OMIM:", "is not written as OMIM writes its identifiers, for example OMIM:104300"),
        ("OMIM:10430", "is not written as OMIM"),
        ("OMIM:1043000", "is not written as OMIM"),
        ("HP:٠٠٠١٢٥٠", "is not written as Human Phenotype Ontology"),
        ("MESH:D008012; DROP", "is not written as Medical Subject Headings"),
        ("https://example.org/104300", "does not begin with"),
    ],
)
def test_others_are_refused_with_what_is_wrong(text: str, words: str) -> None:
    assert not is_identifier(text)
    with pytest.raises(UserError, match=re.escape(words)):
        checked_identifier(text)


def test_a_draft_keeps_the_identifier_as_it_is_written_here() -> None:
    assert EntityDraft("Alzheimer disease", id=" mim:104300").tidied().id == "OMIM:104300"
    assert EntityDraft("Alzheimer disease", id="  ").tidied().id == ""
    with pytest.raises(UserError, match="OMIM"):
        EntityDraft("Alzheimer disease", id="OMIM:1").tidied()


@pytest.mark.parametrize("text", ["OMIM:99999999999", "mesh:D00801", "HP:1250"])
def test_what_begins_like_an_identifier_is_said_to_be_miswritten(text: str) -> None:
    assert "is not written as" in miswritten(text)


@pytest.mark.parametrize("text", ["OMIM:104300", "LAB:17", "cold :: virus", "type:disease", "GO:", "heart", ""])
def test_other_queries_are_not(text: str) -> None:
    assert miswritten(text) == ""
