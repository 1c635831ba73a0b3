"""Mentions that are decided without suggestions."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Decision, Shown, Verdict
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.queue.holdout import HoldoutService, held_out
from curator.services.queue.queue import QueueService
from tests.curator.services.fakes import World, context


def test_the_hold_out_is_as_large_as_asked_and_grows_with_the_share() -> None:
    two, ten = ({one for one in range(20_000) if held_out("a project", one, share)} for share in (2, 10))
    assert 320 < len(two) < 480
    assert 1850 < len(ten) < 2150
    assert two < ten
    assert not any(held_out("a project", one, 0) for one in range(1000))
    assert all(held_out("a project", one, 100) for one in range(1000))
    assert two != {one for one in range(20_000) if held_out("another", one, 2)}


def suggestion(mention_id: int, first: str, *, nil: bool = False) -> Suggestion:
    return Suggestion(
        mention_id, (Candidate(first, first, (), first, 1.0),), NilEstimate(0.1, nil, True), Stamp("b", 0)
    )


@pytest.fixture
def held(filled: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The first two mentions of each document are held out; all are suggested Lidocaine but the fourth, NIL."""
    monkeypatch.setattr(
        "curator.services.queue.holdout.held_out", lambda _, mention, percent: percent and mention % 4 in (1, 2)
    )
    with filled.store.write() as unit:
        unit.suggestions.save([suggestion(one, "MESH:D008012", nil=one % 4 == 0) for one in range(1, 9)])
    return filled


def decide(world: World, mention_id: int, verdict: Verdict, shown: Shown) -> Decision:
    world.project.curation.decide(mention_id, verdict, shown=shown)
    return world.project.curation.history(mention_id)[-1]


def test_suggestions_are_kept_back_until_the_decision(held: World) -> None:
    queue = QueueService(context(held.store), held_out=HoldoutService(context(held.store), percent=lambda: 2).among)
    opened = queue.open(1)
    assert [view.held_out for view in opened.mentions] == [True, True, False, False]
    first = opened.mentions[0]
    assert first.suggestion is None
    assert first.kept_back is not None
    assert not first.stale
    decision = decide(held, 1, Verdict.nil(), Shown("", ()))
    after = first.with_decision(decision)
    assert after.suggestion == first.kept_back
    assert not after.held_out
    assert not queue.open(1).mentions[0].held_out
    assert opened.mentions[2].with_decision(decision).suggestion == opened.mentions[2].suggestion


def test_the_held_out_are_among_those_asked_for(held: World) -> None:
    assert HoldoutService(context(held.store), percent=lambda: 2).among([1, 2, 3]) == {1, 2}
    assert HoldoutService(context(held.store), percent=lambda: 0).among([1, 2, 3]) == set()
