from models.detection import Detector
from models.kb import order_entities
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


def _found(text: str, **options) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[m.start : m.end], m.entity_ids) for m in Detector.build(KB).detect(text, **options)]


def test_the_longest_match_wins() -> None:
    assert _found("Breast cancer and cancer.") == [("Breast cancer", ("D1",)), ("cancer", ("C2", "D2"))]


def test_types_restrict_and_are_returned() -> None:
    assert _found("a cancer", types=["Chemical"]) == [("cancer", ("C2",))]
    assert _found("a cancer", types=["unknown"]) == []
    assert Detector.build(KB).detect("a cancer")[0].types == ("Chemical", "Disease")


def test_whole_words_only() -> None:
    assert _found("precancer cancers cancer_x") == []
    assert _found("(cancer)/IL-2") == [("cancer", ("C2", "D2")), ("IL-2", ("C1",))]


def test_short_capital_names_need_their_case() -> None:
    assert _found("He aids people with AIDS") == [("AIDS", ("D3",))]


def test_common_words_and_inverted_names() -> None:
    assert _found("in male breast cancer") == [("male breast cancer", ("D1",))]


def test_offsets_are_code_points() -> None:
    text = "😀İé cancer"
    assert _found(text) == [("cancer", ("C2", "D2"))]


def test_nothing_to_find() -> None:
    assert _found("") == []
    single = order_entities([EntityRecord("a", "in")])
    assert Detector.build(single).detect("in it") == []
