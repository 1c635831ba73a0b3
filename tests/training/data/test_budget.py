import pytest

from training.data.budget import Budget, Rates, Workload, epoch_seconds, reserve, trains_entities

WORK = Workload(examples=2000, entities=38_000, documents=50, batch_size=32, negatives=32)
RATES = Rates(mentions=100.0, entities=150.0, seconds_per_document=0.2)


def test_what_is_left() -> None:
    now = [10.0]
    budget = Budget(2.0, clock=lambda: now[0])
    now[0] = 40.0
    assert (budget.elapsed, budget.left()) == (30.0, 90.0)
    assert Budget(None).left() is None


def test_reserve_holds_encoding_only_for_a_trained_tower() -> None:
    frozen, trained = (reserve(WORK, RATES, trained=flag) for flag in (False, True))
    assert trained - frozen == pytest.approx(1.15 * 38_000 / 150)
    assert epoch_seconds(WORK, RATES, trained=True) > 2 * epoch_seconds(WORK, RATES, trained=False)


def test_the_entity_tower_is_trained_where_there_is_time() -> None:
    needed = reserve(WORK, RATES, trained=True) + epoch_seconds(WORK, RATES, trained=True)
    for left, expected in ((needed + 1, True), (needed - 1, False), (None, True), (-5.0, False)):
        trained, sentence = trains_entities("auto", WORK, RATES, left)
        assert trained is expected
        assert ("trained:" if expected else "frozen:") in sentence
    assert trains_entities("frozen", WORK, RATES, None)[0] is False
    assert trains_entities("train", WORK, RATES, 1.0)[0] is True
