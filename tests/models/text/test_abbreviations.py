"""Schwartz and Hearst's definitions with offsets, and what is made of them."""

import pytest

from models.text.abbreviations import abbreviation_table, expand, find_abbreviations


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
        ("an attenuated adenomatous polyposis coli (AAPC)", "AAPC", "attenuated adenomatous polyposis coli"),
        ("has degeneration of the retina (DR)", "DR", "degeneration of the retina"),
        ("given 5-fluorouracil (5-FU) daily", "5-FU", "5-fluorouracil"),
        ("a selective serotonin re-uptake inhibitor [SSRI; 20 mg]", "SSRI", "selective serotonin re-uptake inhibitor"),
        ("ethinyl estradiol (CPA/EE)", "EE", "ethinyl estradiol"),
    ],
)
def test_long_forms(text: str, short: str, long: str) -> None:
    assert abbreviation_table(text)[short] == long


def test_no_definition_where_letters_do_not_fit() -> None:
    assert abbreviation_table("many rats (Table 2) and placebo (see below) or saline (XYZ)") == {}


@pytest.mark.parametrize(
    "text",
    [
        "as the effects on the level of amino acids (GABA, aspartate)",
        "no changes in normal rats, but during (Na, K)-ATPase activity",
        "in third-generation users (i.e., of pills)",
    ],
)
def test_words_and_symbols_of_elements_are_not_spelled_by_letters_of_other_words(text: str) -> None:
    assert not {"aspartate", "Na", "i.e."} & abbreviation_table(text).keys()


def test_they_stand_for_a_long_form_that_begins_with_them() -> None:
    table = abbreviation_table("rats were given cocaine (Co) or atorvastatin (atorva) in saline")
    assert table == {"Co": "cocaine", "atorva": "atorvastatin"}


def test_short_forms_in_a_long_form_are_written_out() -> None:
    text = "familial adenomatous polyposis (FAP) and attenuated FAP (AFAP); WAS protein (WASP)"
    table = abbreviation_table(text)
    assert table["AFAP"] == "attenuated familial adenomatous polyposis"
    assert table["WASP"] == "WAS protein"


def test_expand_knows_plurals_and_parts() -> None:
    table = {"ADR": "adverse drug reaction", "APC": "adenomatous polyposis coli"}
    assert expand("ADRs", table) == "adverse drug reaction"
    assert expand("APC tumours", table) == "adenomatous polyposis coli tumours"
    assert expand("APC-related", table) == "adenomatous polyposis coli-related"
    assert expand("apc", table) == "apc"


def test_a_long_form_neither_holds_the_short_one_nor_ends_in_a_small_word() -> None:
    assert abbreviation_table("the Na+-binding properties of the (Na) pump") == {}
    assert abbreviation_table("NaCl-binding sodium chloride (NaCl) was given") == {}


def test_a_short_form_behind_its_own_long_form_is_not_written_out_again() -> None:
    table = {"C2": "complement factor 2"}
    assert expand("Complement factor 2 (C2) deficiency", table) == "Complement factor 2 deficiency"
    assert expand("other (C2) deficiency", table) == "other (complement factor 2) deficiency"
