"""Composite mentions and their parts."""

import pytest

from models.text.composites import MAX_PARTS, composite_parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("breast and ovarian cancer", ("breast cancer", "ovarian cancer")),
        ("familial breast and ovarian cancer", ("familial breast cancer", "familial ovarian cancer")),
        ("acute liver and kidney failure", ("acute liver failure", "acute kidney failure")),
        ("Duchenne or Becker muscular dystrophy", ("Duchenne muscular dystrophy", "Becker muscular dystrophy")),
        ("liver, kidney and heart disease", ("liver disease", "kidney disease", "heart disease")),
        ("hypo- and hyperglycemia", ("hypoglycemia", "hyperglycemia")),
        ("pre- and postoperative pain", ("preoperative pain", "postoperative pain")),
        ("T- and B-cell lymphoma", ("T-cell lymphoma", "B-cell lymphoma")),
        ("hepatitis B and C", ("hepatitis B", "hepatitis C")),
        ("vitamins A and D", ("vitamin A", "vitamin D")),
        ("type 1 and 2 diabetes", ("type 1 diabetes", "type 2 diabetes")),
        ("cancer of the breast and ovary", ("cancer of the breast", "cancer of the ovary")),
        ("nausea and vomiting", ("vomiting", "nausea")),
        ("nausea, vomiting", ("nausea", "vomiting")),
        ("CPA/EE", ("EE", "CPA")),
    ],
)
def test_the_parts_are_among_the_proposals(text: str, parts: tuple[str, ...]) -> None:
    found = composite_parts(text)
    assert set(parts) <= set(found)
    assert len(found) <= MAX_PARTS


@pytest.mark.parametrize(
    "text",
    ["breast cancer", "lymphoma, T-cell", "syndrome, type 2", "2,3-dimethyl", "", " and ", "and", "a, b", "x" * 500],
)
def test_what_joins_nothing_has_no_parts(text: str) -> None:
    assert composite_parts(text) == ()


def test_an_adjective_alone_is_no_part() -> None:
    assert composite_parts("renal and hepatic failure") == ("renal failure", "hepatic failure")


def test_no_part_has_half_of_a_pair_of_brackets() -> None:
    assert composite_parts("complement deficiencies (C2 and C7)") == ()
    assert "liver (hepatic) failure" in composite_parts("kidney and liver (hepatic) failure")


def test_a_long_mention_of_many_joints_is_left_alone() -> None:
    assert composite_parts("pain and " * 600) == ()
