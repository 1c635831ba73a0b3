import numpy as np
import pytest

from models.errors import ModelError
from models.linker.tuning import average_precision
from models.rankers.nil import DEFAULT_NIL, NilFeatures, NilModel, best_threshold, fit_nil
from models.retrievers.fusion import (
    DEFAULT_WEIGHTS,
    LEAD,
    MEMORY,
    MINMAX,
    SPREAD,
    FusionWeights,
    LabelledScores,
    comparable,
    fit_fusion,
    mean_reciprocal_rank,
    ranking,
)


def _array(*values: float) -> np.ndarray:
    return np.asarray(values, dtype=np.float32)


def test_fusion_is_a_weighted_mean_with_the_lexical_cosine_cubed() -> None:
    weights = FusionWeights({"lexical": 1.0, "names": 3.0, "unused": 0.0})
    fused = weights.fuse({"lexical": _array(0.5, 1.0), "names": _array(0.2, 0.8), "unused": _array(9, 9)})
    np.testing.assert_allclose(fused, [(0.125 + 0.6) / 4, (1 + 2.4) / 4], rtol=1e-6)


def test_minmax_brings_distances_to_zero_and_one() -> None:
    np.testing.assert_allclose(comparable("x", _array(-30, -10, -20), MINMAX), [0, 1, 0.5])
    np.testing.assert_allclose(comparable("x", _array(-3, -3), MINMAX), [1, 1])
    assert comparable("x", _array(), MINMAX).shape == (0,)


@pytest.mark.parametrize(("scale", "values"), [(LEAD, (0.2, 0.5, 0.3)), (SPREAD, (-30.0, -10.0, -20.0))])
def test_a_trained_stage_changes_the_order_and_not_the_scale(scale: str, values: tuple[float, ...]) -> None:
    scores = {"names": _array(0.6, 0.4, 0.5), "own": _array(*values)}
    plain = FusionWeights({"names": 4.0})
    with_stage = FusionWeights({"names": 4.0, "own": 8.0}, {"own": scale})
    averaged = FusionWeights({"names": 4.0, "own": 8.0}, {"own": MINMAX if scale == SPREAD else "raw"})
    fused = with_stage.fuse(scores)
    assert list(np.argsort(-fused)) == list(np.argsort(-averaged.fuse(scores))) == [1, 2, 0]
    assert fused[1] == plain.fuse(scores)[1], "its favourite keeps its score"
    assert comparable("own", _array(), scale).shape == (0,)


def test_a_stage_that_is_missing_changes_nothing_else() -> None:
    weights = FusionWeights({"lexical": 1.0, "names": 3.0})
    np.testing.assert_allclose(weights.fuse({"names": _array(0.4)}), [0.4])
    assert weights.fuse({}).shape == (0,)


def test_ties_go_by_exact_match_then_id() -> None:
    order = ranking(_array(0.5, 0.5, 0.5, 0.9), np.asarray([False, True, False, False]), ["b", "z", "a", "c"])
    assert order == [3, 1, 2, 0]


def _labelled(gold: int, **scores: list[float]) -> LabelledScores:
    arrays = {name: _array(*values) for name, values in scores.items()}
    size = len(next(iter(arrays.values())))
    return LabelledScores(arrays, np.arange(size) == gold)


def test_a_useful_stage_gains_weight_and_a_useless_one_gets_none() -> None:
    mentions = [
        _labelled(1, names=[0.9, 0.8, 0.1], good=[0.0, 1.0, 0.0], bad=[1.0, 0.0, 0.5]),
        _labelled(0, names=[0.7, 0.8, 0.1], good=[1.0, 0.0, 0.0], bad=[0.0, 1.0, 0.5]),
    ] * 5
    start = FusionWeights({"names": 4.0, "good": 0.0, "bad": 1.0})
    fitted = fit_fusion(mentions, start=start)
    assert fitted.weights["bad"] == 0
    assert fitted.weights["good"] > 0
    assert mean_reciprocal_rank(mentions, fitted) == 1 > mean_reciprocal_rank(mentions, start)
    assert fitted == fit_fusion(mentions, start=start)
    assert fitted.fitted_on == 10


def test_nothing_to_learn_from_keeps_the_weights() -> None:
    start = FusionWeights({"names": 1.0})
    assert fit_fusion([], start=start) == start
    assert fit_fusion([_labelled(5, names=[0.1, 0.2])], start=start) == start


def test_weights_json_round_trip_and_damage() -> None:
    weights = FusionWeights({"names": 2.0}, {"ranker": MINMAX}, 7)
    read = FusionWeights.from_json(weights.to_json())
    assert (read.weights["names"], read.scales["ranker"], read.fitted_on) == (2.0, MINMAX, 7)
    assert read.weights[MEMORY] == DEFAULT_WEIGHTS[MEMORY], "weights from before the memory still get it"
    assert FusionWeights.from_json({}) == FusionWeights()
    with pytest.raises(ModelError, match="fusion weights"):
        FusionWeights.from_json({"weights": {"names": "much"}})


def test_best_threshold_against_every_threshold() -> None:
    rng = np.random.default_rng(3)
    scores, truth = rng.random(60).round(2), rng.random(60) < 0.3
    threshold, f1 = best_threshold(scores, truth)

    def f1_at(value: float) -> float:
        called = scores >= value
        return 2 * (called & truth).sum() / (called.sum() + truth.sum())

    assert f1 == pytest.approx(max(f1_at(value) for value in scores))
    assert f1_at(threshold) == pytest.approx(f1)


def test_average_precision_against_scikit_learn() -> None:
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(5)
    scores, truth = rng.random(80).round(1), rng.random(80) < 0.4
    assert average_precision(scores, truth) == pytest.approx(average_precision_score(truth, scores))
    assert average_precision(scores, np.zeros(80, dtype=bool)) == 0


def _validation(nil: int, linked: int) -> tuple[list[NilFeatures], list[bool]]:
    rng = np.random.default_rng(1)
    features = [NilFeatures(top=float(v), types=("C",)) for v in 0.3 + 0.2 * rng.random(nil)]
    features += [NilFeatures(top=float(v), types=("D",)) for v in 0.6 + 0.4 * rng.random(linked)]
    return features, [True] * nil + [False] * linked


def test_calibrated_only_with_thirty_nil_and_a_hundred_linked() -> None:
    for nil, linked in ((29, 100), (30, 99), (0, 0)):
        model = fit_nil(*_validation(nil, linked))
        assert not model.calibrated
        assert model.threshold >= DEFAULT_NIL.threshold
        assert (model.fitted_nil, model.fitted_linked) == (nil, linked)
    model = fit_nil(*_validation(30, 100))
    assert model.calibrated
    features, truth = _validation(50, 150)
    assert [model.score(item) >= model.threshold for item in features] == truth
    assert model.type_weights["C"] > 0 > model.type_weights["D"]


def test_an_uncalibrated_fit_keeps_the_given_default() -> None:
    default = NilModel(0.7, calibrated=True)
    assert fit_nil(*_validation(3, 5), default=default).threshold == 0.7
    assert not fit_nil(*_validation(3, 5), default=default).calibrated


@pytest.mark.parametrize(("nil", "called"), [(0, 2), (2, 6), (10, 16)])
def test_without_nils_to_fit_no_more_are_called_nil_than_there_may_well_be(nil: int, called: int) -> None:
    """A new field's linked mentions score as NILs did elsewhere: the default would call all of them NIL. The 95 % upper
    bounds of a Poisson mean after 0, 2 and 10 events are 2.996, 6.296 and 16.962."""
    features = [NilFeatures(top=0.1 + at / 1000) for at in range(120)]
    truth = [at < nil for at in range(120)]
    model = fit_nil(features, truth)
    assert not model.calibrated
    assert sum(model.score(item) >= model.threshold for item in features) == called
    few = fit_nil(features[:50], truth[:50])
    assert few.threshold == DEFAULT_NIL.threshold, "too few to tell"
    sure = fit_nil([NilFeatures(top=0.9)] * 120, [False] * 120)
    assert sure.threshold == DEFAULT_NIL.threshold, "it is raised, never lowered"


def test_nil_json_round_trip_and_damage() -> None:
    model = fit_nil(*_validation(40, 120))
    assert NilModel.from_json(model.to_json()) == model
    assert NilModel.from_json({}) == DEFAULT_NIL
    with pytest.raises(ModelError, match="NIL model"):
        NilModel.from_json({"threshold": 0.5, "coefficients": [1.0], "features": ["top"]})


def test_plain_nil_score_is_one_minus_the_top_score() -> None:
    assert NilModel(0.5).score(NilFeatures(top=0.8)) == pytest.approx(0.2)
