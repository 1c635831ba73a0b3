"""British and American, Greek letters, accents, plurals, numerals."""

import pytest

from models.text.normalise import american, american_text, arabic, greek_names, plain_letters, singular


@pytest.mark.parametrize(
    ("british", "american_word"),
    [
        ("tumour", "tumor"),
        ("behavioural", "behavioral"),
        ("haemoglobinaemia", "hemoglobinemia"),
        ("oedema", "edema"),
        ("diarrhoea", "diarrhea"),
        ("leucocyte", "leukocyte"),
        ("sulphate", "sulfate"),
        ("fibre", "fiber"),
        ("centres", "centers"),
        ("catalysed", "catalyzed"),
        ("immunisation", "immunization"),
        ("aluminium", "aluminum"),
        ("anaesthetised", "anesthetized"),
        ("fistulae", "fistula"),
    ],
)
def test_british_words_in_american_spelling(british: str, american_word: str) -> None:
    assert american(british) == american_word
    assert american(american_word) == american_word


def test_a_text_keeps_all_that_is_not_certainly_british() -> None:
    assert american_text("Cerebellar Haemangioblastoma") == "Cerebellar Hemangioblastoma"
    assert american_text("ischaemic oedematous tumours") == "ischemic edematous tumors"
    for untouched in (
        "aerobic exercise",
        "angioedema",
        "leucovorin",
        "Michaelis",
        "anaerobic",
        "hour",
        "colourless"[:3],
    ):
        assert american_text(untouched) == untouched


def test_single_greek_letters_are_named_and_greek_words_stay() -> None:
    assert plain_letters("TNFα").split() == ["TNF", "alpha"]
    assert greek_names("β-carotene, 5 µg") == "beta-carotene, 5 mug"
    assert plain_letters("καρκίνος") == "καρκίνος"


def test_accents_and_ligatures_of_latin_letters_only() -> None:
    assert plain_letters("sjögren œdema ßøł ménière") == "sjogren oedema ssol meniere"
    assert plain_letters("Ёлка й ひらがな") == "Ёлка й ひらがな"
    assert plain_letters("Ca²⁺") == "Ca2+"


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("metastases", "metastasis"),
        ("diagnoses", "diagnosis"),
        ("analyses", "analysis"),
        ("prostheses", "prosthesis"),
        ("carcinomata", "carcinoma"),
        ("emboli", "embolus"),
        ("staphylococci", "staphylococcus"),
        ("viruses", "virus"),
        ("bacteria", "bacterium"),
        ("abscesses", "abscess"),
        ("allergies", "allergy"),
        ("feet", "foot"),
        ("cancers", "cancer"),
    ],
)
def test_regular_latin_and_greek_plurals(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


@pytest.mark.parametrize("word", ["pancreatitis", "virus", "abscess", "sclerosis", "gas", "pancreas"])
def test_what_ends_in_s_and_is_no_plural_stays(word: str) -> None:
    assert singular(word) in (word, word.removesuffix("s"))
    assert singular(singular(word)) == singular(word)


@pytest.mark.parametrize(("enzymes", "enzyme"), [("proteases", "protease"), ("elastases", "elastase")])
def test_enzymes_are_no_greek_plurals(enzymes: str, enzyme: str) -> None:
    assert singular(enzymes) == enzyme


def test_roman_numerals() -> None:
    assert arabic(["type", "iia"]) == ["type", "2a"]
    assert arabic(["factor", "v", "leiden"]) == ["factor", "5", "leiden"]
    assert arabic(["via", "vitamin", "x"]) == ["via", "vitamin", "x"]
