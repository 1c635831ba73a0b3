"""What is looked up for a mention."""

from models.core.queries import document_queries
from models.types import DocumentInput, MentionInput


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


def test_a_british_spelling_is_looked_up_in_american_too() -> None:
    document = _document("a cerebellar haemangioblastoma", "cerebellar haemangioblastoma")
    variants = document_queries(document)[0].variants
    assert [(v.text, v.weight) for v in variants[:2]] == [
        ("cerebellar haemangioblastoma", 1.0),
        ("cerebellar hemangioblastoma", 1.0),
    ]


def test_toxicity_outweighs_plain_harm_and_a_broader_term_counts_least() -> None:
    document = _document("hepatotoxicity or SIX5 deficiency", "hepatotoxicity", "SIX5 deficiency")
    toxic, lacking = document_queries(document)
    weights = {variant.text: variant.weight for variant in toxic.variants}
    assert weights["drug induced liver disease"] > weights["liver disease"]
    assert lacking.variants[-1].weight < weights["liver disease"]
