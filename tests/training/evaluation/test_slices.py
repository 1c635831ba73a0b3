from __future__ import annotations

import pytest

from models.core.kb import order_entities
from models.types import EntityRecord
from tests.training.evaluation.worlds import NAME_CLASSES, gold, gold_set
from training.data.gold import fold
from training.data.snapshot import SnapshotDocument, Split
from training.evaluation.report import members
from training.evaluation.slices import SliceFacts, name_class, slice_facts, slice_names

KB = order_entities(
    [
        EntityRecord("D1", "Heart Failure", ("CHF", "cold"), ("Disease",)),
        EntityRecord("D2", "Common Cold", ("Cold",), ("Disease",)),
        EntityRecord("C1", "Calcium", ("Ca", "cold"), ("Chemical",)),
    ]
)
TEXT = "Congestive heart failure (CHF) and Ca with a cold."
DOCUMENTS = [SnapshotDocument("d", Split.TEST, TEXT)]
FACTS = slice_facts(
    DOCUMENTS,
    KB,
    train=gold_set(
        gold("t", "D1", document="before", surface="Cold"),
        gold("u", document="before", surface="Xyz"),
        gold("x", "C1", surface="twice"),
    ),
    tuned=gold_set(gold("v", types=("Disease",)), gold("w", "C1", types=("Chemical",))),
)


def named(*ids: str, surface: str, types: tuple[str, ...] = ("Disease",)) -> set[str]:
    return set(slice_names(gold("m", *ids, surface=surface, types=types), FACTS))


def test_seen_surfaces_and_entities() -> None:
    assert {"seen surface", "unseen entity"} <= named("D2", surface=" COLD")
    assert {"unseen surface", "seen entity"} <= named("D1", "D2", surface="colds")
    nil = named(surface="xyz")
    assert "seen surface" in nil
    assert "unseen surface" in named("C1", surface="twice"), "its own document does not count"
    assert not nil & {"seen entity", "unseen entity", "exact match", "no exact match"}


def test_a_homonym_is_one_among_the_entities_that_may_be_linked() -> None:
    assert {"homonym", "exact match"} <= named("D2", surface="Cold")
    assert "homonym" not in named("C1", surface="cold", types=("Chemical",))
    assert "homonym" in named("C1", surface="cold", types=())
    assert {"no exact match"} <= named("D2", surface="heart failure")
    assert "homonym" not in named("D1", surface="heart failure")


@pytest.mark.parametrize(("surface", "names", "expected"), NAME_CLASSES)
def test_the_words_of_a_mention_resemble_the_names_of_its_entity(
    surface: str, names: tuple[str, ...], expected: str
) -> None:
    assert name_class(fold(surface), names).value == expected


def test_the_easiest_class_of_several_entities_counts() -> None:
    assert "another name" in named("D1", "D2", surface="CHF")
    assert "same name" in named("D1", "D2", surface="common  COLD")
    assert "part of a name" in named("D1", "C1", surface="failure")
    nil = named(surface="heart failure")
    assert not nil & {"same name", "another name", "name without brackets", "part of a name", "other words"}


def test_abbreviations_by_letters_and_definition() -> None:
    assert {"abbreviation", "abbreviation, defined"} <= named("D1", surface="CHF")
    assert {"abbreviation", "abbreviation, not defined"} <= named("D1", surface="MI")
    assert "abbreviation" not in named("C1", surface="Ca")
    assert "abbreviation" not in named("C1", surface="calcium ACE")


def test_types_and_what_the_nil_threshold_was_tuned_on() -> None:
    assert {"type: Disease", "type with NIL in tuning", "single"} <= named("D1", surface="x")
    assert {"type: Chemical", "type without NIL in tuning"} <= named("C1", surface="x", types=("Chemical",))
    assert {"type: any", "composite"} <= named("D1", "C1", surface="x", types=())


def test_without_facts_only_what_the_mention_says_itself() -> None:
    assert slice_names(gold("m", "D1", types=("Disease",)), SliceFacts()) == ["single", "type: Disease"]
    none_trained = slice_facts(DOCUMENTS, KB)
    assert not {"seen surface", "unseen surface"} & set(slice_names(gold("m", "D1"), none_trained))


def test_members_are_masks_over_the_gold() -> None:
    found = members(gold_set(gold("a", "D1", types=("Disease",)), gold("b", "D1", "D2")), SliceFacts())
    assert {name: mask.tolist() for name, mask in found.items()} == {
        "composite": [False, True],
        "single": [True, False],
        "type: Disease": [True, False],
        "type: any": [False, True],
    }
