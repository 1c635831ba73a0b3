"""Normalisation, abbreviations, rewriting, queries."""

import pytest

from models.abbreviations import abbreviation_table, expand, find_abbreviations
from models.normalise import normalise, sorted_key
from models.queries import document_queries
from models.rewriting import composite_parts, rewritings
from models.types import DocumentInput, MentionInput


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tumours", "tumor"),
        ("β-Carotene", "beta carotene"),
        ("oedema", "Edema"),
        ("Parkinson's disease", "Parkinson disease"),
        ("Leukaemias", "leukemia"),
        ("allergies", "allergy"),
        ("ischaemia", "ischemia"),
    ],
)
def test_spellings_of_one_name_are_equal(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize("word", ["pancreatitis", "virus", "abscess", "diabetes mellitus", "AIDS"])
def test_what_is_no_plural_stays_apart(word: str) -> None:
    assert normalise(word) == normalise(normalise(word))


def test_normalise_leaves_other_scripts_and_marks() -> None:
    assert normalise("Рак Молочной") == "рак молочной"
    assert normalise("乳腺癌") == "乳腺癌"
    assert normalise("***") == "***"
    assert normalise("") == ""


def test_word_order_is_put_right() -> None:
    assert sorted_key("Neoplasms, Breast") == sorted_key("breast neoplasm") == sorted_key("Neoplasm of the Breast")


def test_definitions_with_offsets() -> None:
    text = "😀 Acute liver failure (ALF) and heart rate (HR). HIV (human immunodeficiency virus), n (n = 5)."
    found = find_abbreviations(text)
    assert [(a.short, a.long) for a in found] == [
        ("ALF", "Acute liver failure"),
        ("HR", "heart rate"),
        ("HIV", "human immunodeficiency virus"),
    ]
    for item in found:
        assert text[slice(*item.short_span)] == item.short
        assert text[slice(*item.long_span)] == item.long


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("given 5-fluorouracil (5-FU) daily", "5-FU", "5-fluorouracil"),
        ("a selective serotonin re-uptake inhibitor [SSRI; 20 mg]", "SSRI", "selective serotonin re-uptake inhibitor"),
        ("ethinyl estradiol (CPA/EE)", "EE", "ethinyl estradiol"),
    ],
)
def test_long_forms(text: str, short: str, long: str) -> None:
    assert abbreviation_table(text)[short] == long


def test_no_definition_where_letters_do_not_fit() -> None:
    assert abbreviation_table("many rats (Table 2) and placebo (see below) or saline (XYZ)") == {}


def test_expand_knows_plurals_and_parts() -> None:
    table = {"ADR": "adverse drug reaction", "APC": "adenomatous polyposis coli"}
    assert expand("ADRs", table) == "adverse drug reaction"
    assert expand("APC tumours", table) == "adenomatous polyposis coli tumours"
    assert expand("APC-related", table) == "adenomatous polyposis coli-related"
    assert expand("apc", table) == "apc"


def test_composites_and_rewritings() -> None:
    assert composite_parts("breast and ovarian cancer")[:2] == ("breast cancer", "ovarian cancer")
    assert composite_parts("breast cancer") == ()
    assert rewritings("renal injury") == ("kidney disease",)
    assert rewritings("Ca2+") == ("calcium",)
    assert rewritings("diabetic") == ("diabetes",)
    assert rewritings("aspirin") == ()


def _document(text: str, *quotes: str) -> DocumentInput:
    mentions = [
        MentionInput(f"m{i}", ((text.index(quote), text.index(quote) + len(quote)),)) for i, quote in enumerate(quotes)
    ]
    return DocumentInput("d", text, tuple(mentions))


def test_a_symbol_in_parentheses_stands_for_the_mention_before_it() -> None:
    document = _document("after dacarbazine (DTIC) therapy", "dacarbazine", "DTIC")
    query = document_queries(document)[1]
    assert query.surface == "DTIC"
    assert query.expanded == "dacarbazine"
    assert "dacarbazine" in [variant.text for variant in query.variants]


def test_abbreviations_hold_before_their_definition() -> None:
    text = "ALF is rare. Acute liver failure (ALF) is seen."
    query = document_queries(DocumentInput("d", text, (MentionInput("m", ((0, 3),)),)))[0]
    assert (query.surface, query.expanded) == ("ALF", "Acute liver failure")


def test_an_undefined_symbol_is_spelled_by_the_only_fitting_mention() -> None:
    document = _document("benzodiazepines were used; BZDs helped", "benzodiazepines", "BZDs")
    assert [variant.text for variant in document_queries(document)[1].variants] == ["BZDs", "benzodiazepines"]


def test_an_empty_mention_has_no_variants_and_fragments_are_joined() -> None:
    text = "breast or ovarian cancer"
    mentions = (MentionInput("e", ((3, 3),)), MentionInput("f", ((0, 6), (18, 24))))
    empty, joined = document_queries(DocumentInput("d", text, mentions))
    assert empty.variants == ()
    assert joined.surface == "breast cancer"
