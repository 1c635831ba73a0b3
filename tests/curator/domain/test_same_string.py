"""Mentions of the same string: what may differ between them, and that the index's own rules agree."""

from __future__ import annotations

import pytest

from curator.domain.same_string import string_key
from models.text.normalise import normalise

SAME = [
    ("Heart attack", "heart-attacks"),
    ("Crohn's disease", "Crohn disease"),
    ("haemorrhage", "Hemorrhages"),
    ("tumours", "Tumor"),
    ("na\u00efve", "naive"),
    ("Sj\u00f6gren", "Sjogren"),
    ("cardiac\u00a0arrest", "Cardiac  arrest"),
    ("neuropathies", "neuropathy"),
    ("sulphate", "sulfate"),
]
APART = [("AS", "A"), ("lead", "leader"), ("IL-2", "IL-3"), ("Na", "Na+"), ("αβ", "γδ"), ("ALS", "AL")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_variants_of_one_string_have_one_key(one: str, other: str) -> None:
    assert string_key(one) == string_key(other)
    assert normalise(one) == normalise(other), "the index holds them for the same name, too"


@pytest.mark.parametrize(("one", "other"), APART)
def test_other_strings_have_other_keys(one: str, other: str) -> None:
    assert string_key(one) != string_key(other)
    assert normalise(one) != normalise(other)


def test_marks_alone_keep_a_key() -> None:
    assert string_key(" ++ ") == "++"
    assert string_key(" … ") == "..."
