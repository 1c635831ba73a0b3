from __future__ import annotations

from dataclasses import replace

from curator.domain.suggestions import Candidate, CandidateOrder, NilEstimate, Stamp, Suggestion, presented


def suggestion(mention_id: int, *, number: int = 8) -> Suggestion:
    found = tuple(Candidate(f"E{i}", f"name {i}", (), "", 1 / (i + 1)) for i in range(number))
    return Suggestion(mention_id, found, NilEstimate(0.1, False, True), Stamp("b", 1))


def ids(found: Suggestion) -> list[str]:
    return [one.entity_id for one in found.candidates]


def test_ranked_only_cuts() -> None:
    assert ids(presented(suggestion(1), limit=3, order=CandidateOrder.RANKED)) == ["E0", "E1", "E2"]


def test_shuffled_shows_the_same_candidates_in_an_order_of_the_mention_s_own() -> None:
    orders = [tuple(ids(presented(suggestion(i), limit=5, order=CandidateOrder.SHUFFLED))) for i in range(40)]
    assert all(sorted(one) == ["E0", "E1", "E2", "E3", "E4"] for one in orders)
    assert len(set(orders)) > 20
    firsts = [one[0] for one in orders]
    assert all(2 <= firsts.count(f"E{i}") <= 16 for i in range(5)), "no candidate is favoured"
    assert orders[7] == tuple(ids(presented(suggestion(7), limit=5, order=CandidateOrder.SHUFFLED)))


def test_the_order_does_not_tell_the_ranking() -> None:
    one = suggestion(3, number=5)
    turned = replace(one, candidates=one.candidates[::-1])
    assert ids(presented(one, limit=9, order=CandidateOrder.SHUFFLED)) == ids(
        presented(turned, limit=9, order=CandidateOrder.SHUFFLED)
    )


def test_scores_stay_with_their_candidates() -> None:
    for one in presented(suggestion(5), limit=8, order=CandidateOrder.SHUFFLED).candidates:
        assert one.score == 1 / (int(one.entity_id[1:]) + 1)
