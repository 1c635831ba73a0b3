"""The combiner: what it learns, and what its features say."""

from __future__ import annotations

import numpy as np
import pytest

from models.core.kb import KnowledgeBase
from models.errors import ModelError
from models.rankers.combiner import (
    DEFAULT_COMBINER,
    FEATURES,
    HALF_AFTER,
    HEAD,
    LEXICAL_COMBINER,
    Combiner,
    Labelled,
    Wording,
    default_combiner,
    fit_combiner,
    head_features,
)
from models.rankers.conventions import Conventions
from models.retrievers.recalled import Recalled, Votes
from models.types import EntityRecord

F = len(FEATURES)


def no_habits(count: int) -> Conventions:
    """Of candidates without kin, of which nothing was decided."""
    kb = KnowledgeBase(tuple(EntityRecord(str(n), f"name {n}") for n in range(count)))
    return Conventions(kb.hierarchy, np.arange(count), {}, None)


def one_name_each(text: str, names: list[str]) -> Wording:
    every = np.arange(len(names) + 1)
    return Wording(text, names, every[:-1], every[:-1], every)


def mentions(count: int = 60, *, seed: int = 0) -> list[Labelled]:
    """Gold follows from the first two features."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        matrix = rng.normal(size=(int(rng.integers(2, 6)), F))
        logits = 2 * matrix[:, 0] - matrix[:, 1] + rng.gumbel(size=len(matrix)) * 0.3
        found.append(Labelled(matrix, np.arange(len(matrix)) == int(np.argmax(logits))))
    return found


def test_it_learns_what_decides() -> None:
    fitted = fit_combiner(mentions(400))
    assert fitted is not None
    assert fitted.fitted_on == 400
    assert fitted.coefficients[0] > 1 > -0.3 > fitted.coefficients[1]
    right = [
        int(np.argmax(fitted.probabilities(one.matrix))) == int(np.argmax(one.gold)) for one in mentions(200, seed=5)
    ]
    assert np.mean(right) > 0.85


def test_few_mentions_stay_near_what_was_known_and_many_do_not() -> None:
    known = Combiner((-1.0, 3.0, *(0.0 for _ in range(F - 2))))
    few, many = (fit_combiner(mentions(count), near=known) for count in (5, 2000))
    assert few is not None
    assert many is not None
    assert few.coefficients[0] == pytest.approx(-1.0, abs=0.1)
    assert few.coefficients[1] == pytest.approx(3.0, abs=0.1)
    assert many.coefficients[0] > 1 > 0 > many.coefficients[1]


def test_nothing_to_learn_from_gives_none() -> None:
    assert fit_combiner([]) is None
    assert fit_combiner([Labelled(np.zeros((2, F)), np.zeros(2, dtype=bool))]) is None


def test_probabilities_sum_to_one_however_large_the_logits() -> None:
    given = Combiner((1e6,) + (0.0,) * (F - 1)).probabilities(np.eye(3, F))
    assert given == pytest.approx([1, 0, 0])


def test_json_round_trip_and_damage() -> None:
    assert Combiner.from_json(DEFAULT_COMBINER.to_json()) == DEFAULT_COMBINER
    assert Combiner.from_json({}) is None
    with pytest.raises(ModelError, match="combiner is damaged"):
        Combiner.from_json({"coefficients": [1.0, 2.0], "features": ["fused"]})


def test_the_program_brings_one_for_spelling_alone() -> None:
    assert default_combiner(["lexical", "names"]) is DEFAULT_COMBINER
    assert default_combiner(["lexical"]) is LEXICAL_COMBINER
    named = dict(zip(FEATURES, LEXICAL_COMBINER.coefficients, strict=True))
    assert {named[one] for one in ("names", "names_gap", "new_names_gap", "near", "near_gap")} == {0.0}


def test_a_combiner_of_another_version_gives_way_to_the_default() -> None:
    assert Combiner.from_json({"coefficients": [1.0], "features": ["other"]}) is None


def test_features_say_what_stages_memory_and_wording_know() -> None:
    scores = {"lexical": np.asarray([0.2, 1.0], np.float32), "names": np.asarray([0.5, 0.9], np.float32)}
    fused, bare = np.asarray([0.4, 1.4], np.float32), np.asarray([0.4, 0.8], np.float32)
    recalled = Recalled(total=2, votes={"B": Votes(2, 1)}, share={"B": 0.8}, nearest={"A": 0.9}, popular={"B": 3})
    wording = one_name_each("breast cancers", ["lung cancer", "Cancer, Breast"])
    head = head_features(scores, [1, 0], fused, bare, ("A", "B"), wording, no_habits(2), recalled=recalled)
    first, second = head.named(0), head.named(1)
    assert list(head.order) == [1, 0]
    assert first["fused_gap"] == 0
    assert second["bare_gap"] == pytest.approx(-0.4)
    assert (first["share"], second["share"]) == (0.8, 0.0)
    assert first["votes"] == pytest.approx(np.log(2))
    assert first["popular"] == pytest.approx(np.log(4))
    assert (first["near_gap"], second["near_gap"]) == (pytest.approx(-0.9), 0.0)
    assert (first["covers"], first["covered"], first["exact"]) == (1.0, 1.0, 1.0)
    assert (second["covers"], second["exact"]) == (0.5, 0.0)
    assert first["new_names_gap"] == second["new_names_gap"] == 0.0, "the string was seen"
    assert second["names_gap"] == pytest.approx(-0.4)


@pytest.mark.parametrize(
    ("text", "names", "spelled"),
    [
        ("Range voting", ["Range Voting", "Range voting"], [0, 1]),
        ("range voting", ["Range Voting", "Range voting"], [0, 1]),
        ("Condorcet//Approval", ["Condorcet/Approval", "Condorcet//Approval"], [0, 1]),
        ("RANGE VOTING", ["Range Voting", "Range voting"], [0, 0]),
        ("range voting", ["Approval voting", "Range voting"], [0, 0]),
        ("p53", ["P53", "p53"], [1, 1]),
    ],
)
def test_of_entities_with_one_name_those_spelled_like_the_text_are_told_apart(
    text: str, names: list[str], spelled: list[int]
) -> None:
    fused = np.ones(2, dtype=np.float32)
    head = head_features({}, [0, 1], fused, fused, ("A", "B"), one_name_each(text, names), no_habits(2))
    assert [head.named(place)["spelled"] for place in range(2)] == spelled
    if sum(spelled) == 1:
        chances = DEFAULT_COMBINER.probabilities(head.matrix)
        assert np.argmax(chances) == spelled.index(1)


def test_a_synonym_spelled_like_the_text_counts_too() -> None:
    wording = Wording("US", ["us", "USA", "US"], np.asarray([0, 1]), np.asarray([4, 5]), np.asarray([0] * 5 + [1, 3]))
    assert [wording.spelled(0), wording.spelled(1)] == [False, True]


def test_a_definition_says_something_else_the_more_was_decided() -> None:
    scores = {"definition": np.asarray([1.0, 0.0], np.float32)}
    fused = np.asarray([0.9, 0.8], np.float32)
    none_trained, decided = (
        head_features(
            scores,
            [0, 1],
            fused,
            fused,
            ("A", "B"),
            one_name_each("a", ["b", "c"]),
            no_habits(2),
            recalled=recalled,
        )
        for recalled in (Recalled(), Recalled(documents=HALF_AFTER))
    )
    assert none_trained.named(0)["taught_definition"] == 0.0
    assert decided.named(0)["taught_definition"] == 0.5
    assert decided.named(1)["taught_definition"] == 0.0


def test_only_the_head_is_looked_at() -> None:
    size = HEAD + 5
    fused = np.linspace(1, 0, size).astype(np.float32)
    ids = [str(n) for n in range(size)]
    wording = one_name_each("a", ["b"] * size)
    head = head_features({}, range(size), fused, fused, ids, wording, no_habits(size))
    assert head.matrix.shape == (HEAD, F)
