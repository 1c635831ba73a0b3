"""Coefficients against published worked examples and against krippendorff 0.8, nltk 3.9 and statsmodels 0.14."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.domain.rounds import (
    Coincidences,
    SpanMatch,
    bootstrap,
    cohen_kappa,
    exact_match,
    fleiss_kappa,
    jaccard_distance,
    krippendorff_alpha,
    masi_distance,
    observed,
    overlap_match,
)

# Krippendorff (2011), Computing Krippendorff's alpha-reliability: four observers, twelve units, values missing
KRIPPENDORFF = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
# Fleiss (1971) as worked through in textbooks: ten items, fourteen raters, five categories
FLEISS = (
    "0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1 / 7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / "
    "0 2 2 3 7"
)
SETS = (
    "x:B y:B|x:D y:D|x:E y:B z:B+C|x:D z:D|y:B+D z:D|x:D y:D z:D|x:B y:B z:A+C|z:D|x:A+E y:A z:C|x:A y:A z:A+C|"
    "x:C y:D z:C|x:E z:E"
)


def by_unit(rows: tuple[str, ...]) -> list[dict[str, str]]:
    columns = zip(*(row.split() for row in rows), strict=True)
    return [{str(n): value for n, value in enumerate(column) if value != "."} for column in columns]


def sets() -> list[dict[str, frozenset[str]]]:
    units = (unit.split() for unit in SETS.split("|"))
    return [{part[0]: frozenset(part[2:].split("+")) for part in unit} for unit in units]


def spread(row: str) -> dict[str, int]:
    given_values = [value for value, number in enumerate(row.split()) for _ in range(int(number))]
    return {str(rater): value for rater, value in enumerate(given_values)}


def test_alpha_of_krippendorff_s_own_example() -> None:
    assert krippendorff_alpha(by_unit(KRIPPENDORFF)) == pytest.approx(0.743, abs=5e-4)


def test_kappa_of_fleiss_example() -> None:
    items = [spread(row) for row in FLEISS.split("/")]
    assert fleiss_kappa(items, [str(n) for n in range(14)]) == pytest.approx(0.210, abs=5e-4)


def test_kappa_of_cohen_worked_by_hand() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: Po 0.7, Pe 0.5 * 0.6 + 0.5 * 0.4 = 0.5, kappa 0.4."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    items = [{"a": a, "b": b} for a, b in pairs]
    assert cohen_kappa(items, "a", "b") == pytest.approx(0.4)
    assert observed(items) == pytest.approx(0.7)


def test_sets_of_entities_as_the_reference_libraries_reckon_them() -> None:
    items = sets()
    assert krippendorff_alpha(items) == pytest.approx(0.4130434782608696)
    assert krippendorff_alpha(items, jaccard_distance) == pytest.approx(0.5055493895671476)
    assert krippendorff_alpha(items, masi_distance) == pytest.approx(0.4742156509195815)
    assert fleiss_kappa(items, "xyz") == pytest.approx(0.2116788321167883)
    assert cohen_kappa(items, "x", "y") == pytest.approx(0.52)


def test_distances_of_sets() -> None:
    a, ab, bc, c = (frozenset(word) for word in ("a", "ab", "bc", "c"))
    assert (masi_distance(a, a), masi_distance(a, c)) == (0, 1)
    assert masi_distance(a, ab) == pytest.approx(1 - 1 / 2 * 2 / 3)
    assert masi_distance(ab, bc) == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert jaccard_distance(ab, bc) == pytest.approx(2 / 3)
    assert jaccard_distance(frozenset(), frozenset()) == 0


def test_what_is_not_defined_is_none() -> None:
    alike = [{"a": "x", "b": "x"}] * 3
    assert krippendorff_alpha(alike) is None  # nothing could differ
    assert cohen_kappa(alike, "a", "b") is None
    assert fleiss_kappa(alike, ["a", "b"]) is None
    for nothing in ([], [{"a": "x"}]):
        assert observed(nothing) is None
        assert krippendorff_alpha(nothing) is None
        assert cohen_kappa(nothing, "a", "b") is None
        assert fleiss_kappa(nothing, ["a", "b"]) is None
    assert SpanMatch(0, 0, 0).f1 is None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.frozensets(st.sampled_from("12345"), min_size=1))))
def test_documents_add_up_and_sparse_sums_are_the_full_ones(items: list[dict[str, frozenset[str]]]) -> None:
    halves = [Coincidences.of(part, masi_distance) for part in (items[::2], items[1::2])]
    whole = Coincidences.of(items, masi_distance)
    assert Coincidences.together(halves).alpha(masi_distance) == pytest.approx(whole.alpha(masi_distance))
    counted = list(whole.values.elements())
    full = sum(masi_distance(a, b) for a in counted for b in counted)  # type: ignore[arg-type]
    found = whole.alpha(masi_distance)
    if found is not None:
        assert found == pytest.approx(1 - (len(counted) - 1) * whole.disagreement / full)


def test_spans_exact_and_overlapping() -> None:
    one = [("D", ((0, 5),)), ("D", ((10, 20),)), ("C", ((30, 35),))]
    other = [("D", ((0, 5),)), ("D", ((12, 25),)), ("D", ((30, 35),)), ("C", ((50, 60),))]
    assert exact_match(one, other) == SpanMatch(1, 3, 4)
    assert overlap_match(one, other) == SpanMatch(2, 3, 4)
    assert overlap_match(one, other).f1 == pytest.approx(4 / 7)


def test_overlaps_are_paired_one_to_one_whatever_their_order() -> None:
    """The first long mark could take either short one; only one choice leaves a partner for the second."""
    long, left = ("D", ((0, 20),)), ("D", ((0, 6),))
    short = [("D", ((2, 4),)), ("D", ((15, 18),))]
    for ours in ([long, left], [left, long]):
        assert overlap_match(ours, short).both == 2
        assert overlap_match(ours, short[::-1]).both == 2
    assert overlap_match([long], short).both == 1


def test_fragments_overlap_by_any_of_their_parts() -> None:
    apart = ("D", ((0, 3), (10, 13)))
    assert overlap_match([apart], [("D", ((5, 8),))]).both == 0
    assert overlap_match([apart], [("D", ((12, 15),))]).both == 1


def test_the_interval_follows_from_the_seed_and_holds_the_figure() -> None:
    documents = [[{"a": "x", "b": "x"}, {"a": "y", "b": "y" if n % 3 else "x"}] for n in range(30)]

    def figure(drawn: object) -> float | None:
        return observed(item for document in drawn for item in document)  # type: ignore[attr-defined]

    found = bootstrap(documents, figure, resamples=200, seed=7)
    assert found is not None
    assert found == bootstrap(documents, figure, resamples=200, seed=7)
    assert found.low < figure(documents) < found.high  # type: ignore[operator]
    assert bootstrap(documents[:1], figure) is None
    assert bootstrap(documents, lambda _: None) is None
