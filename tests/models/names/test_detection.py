import pytest

from models.core.kb import order_entities
from models.names import detection
from models.names.detection import Detector
from models.types import EntityRecord

KB = order_entities(
    [
        EntityRecord("D1", "Breast Neoplasms", ("breast cancer", "Cancer, Male Breast"), ("Disease",)),
        EntityRecord("D2", "Neoplasms", ("cancer",), ("Disease",)),
        EntityRecord("D3", "Acquired Immunodeficiency Syndrome", ("AIDS",), ("Disease",)),
        EntityRecord("C1", "Interleukin-2", ("IL-2", "in"), ("Chemical",)),
        EntityRecord("C2", "Cancer drug X", ("cancer",), ("Chemical",)),
    ]
)


@pytest.fixture(autouse=True, params=["in memory", "where they are stored"])
def names(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test is about both ways to hold the names."""
    if request.param != "in memory":
        monkeypatch.setattr(detection, "FROM_NAMES", 0)


def _found(text: str, **options) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[m.start : m.end], m.entity_ids) for m in Detector.build(KB).detect(text, **options)]


def test_the_longest_match_wins() -> None:
    assert _found("Breast cancer and cancer.") == [("Breast cancer", ("D1",)), ("cancer", ("C2", "D2"))]


def test_types_restrict_and_are_returned() -> None:
    assert _found("a cancer", types=["Chemical"]) == [("cancer", ("C2",))]
    assert _found("a cancer", types=["unknown"]) == []
    assert Detector.build(KB).detect("a cancer")[0].types == ("Chemical", "Disease")


def test_whole_words_only() -> None:
    assert _found("precancer cancerous_x cancer_x xcancer") == []
    assert _found("(cancer)/IL-2") == [("cancer", ("C2", "D2")), ("IL-2", ("C1",))]


def test_short_capital_names_need_their_case() -> None:
    assert _found("He aids people with AIDS") == [("AIDS", ("D3",))]


def test_common_words_and_inverted_names() -> None:
    assert _found("in male breast cancer") == [("male breast cancer", ("D1",))]


def test_plurals_spelling_and_dashes_do_not_matter() -> None:
    assert _found("Cancers of the breast; IL‑2 and breast‐cancers") == [
        ("Cancers", ("C2", "D2")),
        ("IL‑2", ("C1",)),
        ("breast‐cancers", ("D1",)),
    ]


def test_an_adjective_stands_for_its_noun() -> None:
    kb = order_entities([EntityRecord("H", "Hypertension", (), ("Disease",))])
    (found,) = Detector.build(kb).detect("a hypertensive man")
    assert (found.start, found.end, found.entity_ids) == (2, 14, ("H",))


def test_what_a_document_abbreviates_is_marked_wherever_it_stands() -> None:
    text = "BC is common. Breast cancer (BC) and BCs; bc not."
    found = Detector.build(KB).detect(text)
    assert [(text[m.start : m.end], m.entity_ids) for m in found] == [
        ("BC", ("D1",)),
        ("Breast cancer", ("D1",)),
        ("BC", ("D1",)),
        ("BCs", ("D1",)),
    ]


def test_what_a_document_defines_otherwise_is_no_name() -> None:
    assert _found("Active imaging detection systems (AIDS) and AIDS") == []


def test_a_half_known_long_form_defines_and_a_tail_does_not() -> None:
    assert _found("familial breast cancer (FBC), FBC")[1:] == [("FBC", ("D1",)), ("FBC", ("D1",))]
    assert _found("quality of life questionnaire in cancer (QLQIC) QLQIC") == [("cancer", ("C2", "D2"))]


def test_remembered_mentions_are_found_with_their_types() -> None:
    detector = Detector.build(KB, [("blorb syndrome", ("Disease",)), ("lead", ("Chemical",)), ("the", ("Disease",))])
    found = detector.detect("Blorb syndromes by the lead")
    assert [(m.start, m.end, m.types, m.entity_ids) for m in found] == [
        (0, 15, ("Disease",), ()),
        (23, 27, ("Chemical",), ()),
    ]
    assert detector.detect("Blorb syndromes", types=["Chemical"]) == []
    assert detector.remembering([]).detect("Blorb syndromes") == []
    assert detector.remembering([("xyzzy", ("Disease",))]).detect("xyzzy")[0].types == ("Disease",)


def test_a_remembered_mention_joins_the_entities_of_its_name() -> None:
    (found,) = Detector.build(KB, [("breast cancer", ("Symptom",))]).detect("breast cancer")
    assert (found.types, found.entity_ids) == (("Disease", "Symptom"), ("D1",))


def test_only_chosen_types_are_returned() -> None:
    kb = order_entities([EntityRecord("A", "arsenic", (), ("Chemical", "Poison"))])
    assert Detector.build(kb).detect("arsenic", types=["Poison"])[0].types == ("Poison",)


def test_names_in_other_scripts() -> None:
    kb = order_entities([EntityRecord("A", "Рак", ("乳腺癌",)), EntityRecord("B", "癌")])
    text = "患者患乳腺癌。рак и癌"
    assert [(text[m.start : m.end], m.entity_ids) for m in Detector.build(kb).detect(text)] == [
        ("乳腺癌", ("A",)),
        ("рак", ("A",)),
        ("癌", ("B",)),
    ]


def test_offsets_are_code_points() -> None:
    text = "😀İé cancer"
    assert _found(text) == [("cancer", ("C2", "D2"))]


def test_nothing_to_find() -> None:
    assert _found("") == []
    single = order_entities([EntityRecord("a", "in")])
    assert Detector.build(single).detect("in it") == []
