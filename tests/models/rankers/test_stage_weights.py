"""What the combiner hears of a trained stage, against plain arithmetic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.errors import ModelError
from models.rankers.combiner import DEFAULT_COMBINER, FEATURES, Combiner
from models.rankers.stage_weights import (
    FAVOURITES,
    OPINION,
    StageChoice,
    favourites,
    fit_both,
    fit_stage_weights,
    likelihood,
    nil_columns,
    opinion_lead,
    rise_of,
    stage_columns,
    with_stage,
)

HEAD = np.arange(3)


def mentions(leads: list[list[float]], gold: list[int], *, a_document: int = 2, exact: int = 2) -> list[StageChoice]:
    """Three equally likely candidates each."""
    return [
        StageChoice(
            np.zeros(3),
            stage_columns("som", np.asarray(lead), HEAD, new=False, exact=exact),
            np.arange(3) == at,
            f"d{n // a_document}",
        )
        for n, (lead, at) in enumerate(zip(leads, gold, strict=True))
    ]


@pytest.mark.parametrize(
    ("new", "exact", "leads"), [(False, 2, [0, 0]), (False, 0, [0, 1]), (True, 2, [1, 0]), (True, 0, [1, 1])]
)
def test_columns_are_lead_favourite_and_leads_for_new_strings_and_for_those_that_are_no_name(
    new: bool, exact: int, leads: list[float]
) -> None:
    found = stage_columns("som", np.asarray([-0.2, 0.0, -0.1]), np.asarray([1, 2]), new=new, exact=exact)
    assert np.array_equal(found, [[0.0, 1.0, 0.0, 0.0], [-0.1, 0.0, -0.1 * leads[0], -0.1 * leads[1]]])


@pytest.mark.parametrize("new", [True, False])
def test_of_a_settled_text_only_the_lead_counts_with_its_own_scale(new: bool) -> None:
    found = stage_columns("som", np.asarray([-0.2, 0.0, -0.1]), np.asarray([1, 2]), new=new, exact=1)
    assert np.array_equal(found, [[0.0], [-0.1]])
    coefficients = (9.0, 9.0, 9.0, 9.0, 9.0, 0.5, 4.0)
    assert with_stage(np.asarray([1.0, 2.0]), found, coefficients) == pytest.approx([0.5, 0.6])


def test_an_opinion_is_heard_the_same_for_all_texts() -> None:
    lead = np.asarray([-1.0, 0.0, -1.0])
    settled, other = (stage_columns(OPINION, lead, HEAD, new=False, exact=exact) for exact in (1, 2))
    assert np.array_equal(settled, other)


def test_favourites_are_the_best_and_none_of_a_stage_that_said_nothing() -> None:
    lead = -np.arange(10.0)[::-1]
    assert favourites(lead).tolist() == list(range(9, 9 - FAVOURITES, -1))
    assert favourites(np.zeros(10)).tolist() == []
    assert favourites(np.zeros(0)).tolist() == []


def test_an_opinion_leads_for_its_entity_alone() -> None:
    found = {one: opinion_lead(("A", "B", "C"), one) for one in ("B", "", "D")}
    assert {one: lead.tolist() if lead is not None else None for one, lead in found.items()} == {
        "B": [-1.0, 0.0, -1.0],
        "": [0.0, 0.0, 0.0],
        "D": None,
    }


def test_a_favourite_that_was_likely_before_raises_the_best_logit_more() -> None:
    likely, unlikely = (
        stage_columns("som", np.asarray(lead), HEAD, new=False, exact=2)
        for lead in ([0.0, -1.0, -1.0], [-1.0, -1.0, 0.0])
    )
    logits = np.asarray([2.0, 1.0, -3.0])
    heard = (0.5, 1.0, 3.0, 0.0, 0.0, 1.0, 0.0)
    assert rise_of(logits, likely, heard) == pytest.approx((0.5 * 2 + 3) - 0.5 * 2)
    assert rise_of(logits, unlikely, heard) == pytest.approx(max(0.5 * 2 - 1, 0.5 * -3 + 3) - 0.5 * 2)


def test_what_speaks_against_nil_is_below_zero() -> None:
    lead = np.asarray([-0.4, 0.0, -0.1])
    assert nil_columns(lead, 1, 2.5).tolist() == [-1.0, pytest.approx(-0.1), -2.5, 1.0]
    assert nil_columns(lead, 0, -0.5).tolist() == [0.0, 0.0, 0.5, 1.0]


def test_likelihood_is_the_logarithm_of_the_share() -> None:
    assert likelihood(np.log([1.0, 2.0, 5.0]), np.asarray([True, True, False])) == pytest.approx(np.log(3 / 8))


def test_coefficients_are_those_of_maximum_likelihood() -> None:
    """Right four times of five: the favourite's odds against each other are 4 to ½, so lead and favourite add log 8."""
    leads = [[0.0, -1.0, -1.0]] * 200
    gold = [0 if n % 5 else 1 + n % 2 for n in range(200)]
    found = fit_stage_weights(mentions(leads, gold))
    assert found is not None
    assert found[1] + found[2] == pytest.approx(np.log(8), abs=0.05)
    assert found[3] == 0


def test_settled_texts_have_weights_of_their_own() -> None:
    """Right four times of five where names settle nothing, never where they do; and the other way round."""
    leads, right = [[0.0, -1.0, -1.0]] * 200, [0 if n % 5 else 1 + n % 2 for n in range(200)]
    wrong = [1 + n % 2 for n in range(200)]
    helps, no_use = mentions(leads, right), mentions(leads, wrong)
    settled_helps, settled_no_use = mentions(leads, right, exact=1), mentions(leads, wrong, exact=1)
    alone = fit_stage_weights(helps)
    assert alone is not None
    assert fit_both([*helps, *settled_no_use]) == pytest.approx((*alone, 1.0, 0.0))
    found = fit_both([*no_use, *settled_helps])
    assert found is not None
    assert found[:5] == (1.0, 0.0, 0.0, 0.0, 0.0)
    assert found[6] == pytest.approx(np.log(8), abs=0.05)
    assert fit_both([*no_use, *settled_no_use]) is None


def test_a_stage_against_the_gold_is_not_heard() -> None:
    assert fit_stage_weights(mentions([[0.0, -1.0, -1.0]] * 40, [1] * 40)) is None


def test_a_gain_that_documents_do_not_share_is_none() -> None:
    """One document in eight speaks for the stage, with as many mentions as all others against it."""
    leads = [[0.0, -1.0, -1.0]] * 80
    gold = [0] * 40 + [1] * 40
    every = mentions(leads, gold, a_document=40)[:40] + mentions(leads[40:], gold[40:], a_document=5)
    assert fit_stage_weights(every) is None


def test_what_teaches_nothing_is_left_out() -> None:
    nowhere = StageChoice(np.zeros(3), np.zeros((3, 3)), np.zeros(3, dtype=bool), "d")
    assert fit_stage_weights([nowhere] * 50) is None
    assert fit_stage_weights([]) is None


def test_hearing_is_added_to_the_logits_and_ends_where_the_stage_goes() -> None:
    features = np.zeros((3, len(FEATURES)))
    columns = np.asarray([[0.0, 1, 0, 0], [-1, 0, 0, 0], [-2, 0, 0, 0]])
    hearing = DEFAULT_COMBINER.with_stage_weights("som", (1.0, 2.0, 1.0, 0.0, 0.0, 1.0, 5.0))
    assert hearing.logits(features, {"som": columns}).tolist() == [1.0, -2.0, -4.0]
    assert hearing.logits(features, {"som": columns[:, :1]}).tolist() == [0.0, -5.0, -10.0]
    assert hearing.logits(features, {}).tolist() == [0.0, 0.0, 0.0]
    assert hearing.with_stage_weights("som", None) == DEFAULT_COMBINER
    assert hearing.ablated() == DEFAULT_COMBINER


def test_hearing_is_stored_and_that_of_other_features_is_not_read() -> None:
    hearing = DEFAULT_COMBINER.with_stage_weights("som", (0.9, 2.0, 1.0, 0.5, 8.0, 1.0, 0.0))
    raw = hearing.to_json()
    assert Combiner.from_json(raw) == hearing
    assert "heard" not in DEFAULT_COMBINER.to_json()
    assert Combiner.from_json({**raw, "heard_features": ["lead"]}) == DEFAULT_COMBINER
    with pytest.raises(ModelError, match="damaged"):
        Combiner.from_json({**raw, "heard": {"som": [1.0]}})


def test_it_says_what_it_hears() -> None:
    assert "is not used" in DEFAULT_COMBINER.weights_sentence("som")
    assert "24 per unit" in DEFAULT_COMBINER.with_stage_weights(
        "som", (1.0, 24.0, 1.0, 0.5, 3.0, 1.0, 0.0)
    ).weights_sentence("som")


def test_being_too_unsure_does_not_speak_for_a_stage() -> None:
    """The logits are right and too flat, the stage knows nothing: scaling alone would make the gold likelier."""
    draw = np.random.default_rng(0)
    found = []
    for n in range(300):
        logits = draw.normal(0, 1, 3)
        gold = int(draw.choice(3, p=np.exp(4 * logits) / np.exp(4 * logits).sum()))
        lead = draw.uniform(-1, 0, 3)
        found.append(
            StageChoice(
                logits,
                stage_columns("som", lead - lead.max(), HEAD, new=False, exact=2),
                np.arange(3) == gold,
                f"d{n // 5}",
            )
        )
    assert fit_stage_weights(found) is None


def test_unsure_logits_are_scaled_where_a_stage_is_heard() -> None:
    """Flat by four, and a stage that is right in four of five: each counts as much as it knows."""
    draw = np.random.default_rng(0)
    found = []
    for n in range(300):
        logits = draw.normal(0, 1, 3)
        gold = int(draw.choice(3, p=np.exp(4 * logits) / np.exp(4 * logits).sum()))
        favourite = gold if draw.random() < 0.8 else int(draw.integers(3))
        lead = np.where(np.arange(3) == favourite, 0.0, -0.1)
        found.append(
            StageChoice(
                logits,
                stage_columns("som", lead, HEAD, new=False, exact=2),
                np.arange(3) == gold,
                f"d{n // 5}",
            )
        )
    heard = fit_stage_weights(found)
    assert heard is not None
    assert heard[0] == pytest.approx(4, rel=0.25)


def test_every_type_counts_the_same() -> None:
    """The stage is right for a type of 400 mentions and of no use for one of 100: the weight lies between what either
    wants, as it does with as many mentions of both."""
    leads = [[0.0, -1.0, -1.0]] * 500
    gold = [0 if n % 10 else 1 for n in range(400)] + [n % 3 for n in range(100)]
    kinds = ["A"] * 400 + ["B"] * 100
    found = [replace(one, types=(kind,)) for one, kind in zip(mentions(leads, gold), kinds, strict=True)]
    even = fit_stage_weights([*found[:100], *found[400:]])
    both, flat = fit_stage_weights(found), fit_stage_weights(mentions(leads, gold))
    assert both is not None
    assert even is not None
    assert flat is not None
    assert both[1] + both[2] == pytest.approx(even[1] + even[2], abs=0.1)
    assert flat[1] + flat[2] > both[1] + both[2] + 0.3
