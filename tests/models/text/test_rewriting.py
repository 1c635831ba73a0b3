"""Other wordings of a mention."""

import pytest

from models.text.rewriting import broader, noun_of, poisoned, respelled, rewritings


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("renal injury", "kidney disease"),
        ("Ca2+", "calcium"),
        ("diabetic", "diabetes"),
        ("deficiency of the enzyme", "enzyme deficiency"),
        ("autosomal recessive disorder", "genetic disease"),
        ("X-linked recessive disease", "x linked genetic disease"),
        ("enzyme deficiency", "inborn error of metabolism"),
    ],
)
def test_rewritings(text: str, wording: str) -> None:
    assert wording in rewritings(text)


@pytest.mark.parametrize("text", ["aspirin", "rare disease", "genetic dental abnormality", "", "pain"])
def test_nothing_is_invented(text: str) -> None:
    assert rewritings(text) == ()
    assert poisoned(text) == broader(text) == respelled(text) == ""


def test_toxicity_is_disease_by_drugs() -> None:
    assert poisoned("Hepatotoxicity") == "drug induced liver disease"
    assert poisoned("cardiac toxicity") == "drug induced heart disease"
    assert poisoned("nephrotoxic effects") == "drug induced kidney disease"


def test_the_lack_of_a_gene_product_is_a_genetic_disease() -> None:
    assert broader("SIX5 deficiency") == broader("WT1 dysfunction") == broader("HPRT deficiencies") == "genetic disease"
    assert broader("Sexual dysfunction") == broader("iron deficiency") == ""


def test_respelled_is_american_with_greek_letters_named() -> None:
    assert respelled("α-thalassaemia") == "alpha-thalassemia"


def test_nouns_of_adjectives() -> None:
    assert noun_of("hypertensive") == "hypertension"
    assert noun_of("severely diabetic") == "severely diabetes"
    assert noun_of("") == ""
