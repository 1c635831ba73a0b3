"""Accepting in bulk: what it offers, that only what the sample allows is accepted, and in one step."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.curating.bulk_plan import Audit, AuditState
from curator.services.ports.queue import QueueFilter
from tests.curator.services.bulk_samples import SURE, UNSURE, long_world, suggest
from tests.curator.services.fakes import World


def begun(world: World, *, error: float = 0.05) -> Audit:
    return Audit(world.project.bulk.offer(QueueFilter(), error=error, seed=1).plan)


def checked(world: World, audit: Audit, *, wrong: int = 0) -> Audit:
    for at, one in enumerate(audit.sample):
        world.project.bulk.check(audit, one, at >= wrong)
    return audit


def linked(world: World) -> int:
    return world.project.queue.counts().decisions_by_outcome[Outcome.LINK]


def test_the_offer_counts_what_the_filter_shows(world: World) -> None:
    ids = long_world(world)
    offer = world.project.bulk.offer(QueueFilter(), error=0.05, seed=1)
    assert (offer.undecided, offer.unsuggested, offer.calibrated) == (SURE + UNSURE, 0, True)
    assert offer.plan.sets[0].size == SURE
    world.project.curation.decide_many(ids[:10], Verdict.nil())
    assert world.project.bulk.offer(QueueFilter(), error=0.05, seed=1).undecided == SURE + UNSURE - 10
    assert world.project.bulk.offer(QueueFilter(split=Split.TEST), error=0.05, seed=1).plan.sets == ()


def test_an_impossible_error_is_refused(world: World) -> None:
    with pytest.raises(UserError, match="The error cannot be"):
        world.project.bulk.offer(QueueFilter(), error=0.0)


def test_what_is_checked_right_is_decided_at_once_and_the_rest_in_one_step(world: World) -> None:
    long_world(world)
    audit = begun(world)
    with pytest.raises(UserError, match="has not been checked yet"):
        world.project.bulk.accept(audit)
    checked(world, audit)
    assert linked(world) == len(audit.sample)
    report = world.project.bulk.accept(audit)
    assert report.change is not None
    assert report.change.text == f"Accepted {report.accepted} mentions in bulk (error at most 5.0 %)"
    assert (report.accepted + len(audit.sample), report.left_out) == (SURE, 0)
    assert linked(world) == SURE
    decisions = world.project.curation.current(report.change.mention_ids)
    notes = {one.note for one in decisions.values()}
    assert len(notes) == 1
    assert f"{len(audit.sample)} checked, 0 wrong" in notes.pop()
    assert {one.shown.candidates[0].entity_id for one in decisions.values() if one.shown} == {"MESH:D008012"}
    world.project.curation.undo()
    assert linked(world) == len(audit.sample)
    world.project.curation.redo()
    assert linked(world) == SURE


def test_what_is_wrong_stays_undecided_and_can_be_right_after_all(world: World) -> None:
    long_world(world)
    audit = begun(world)
    first = audit.sample[0]
    assert world.project.bulk.check(audit, first, False) is None
    assert world.project.curation.current([first]) == {}
    world.project.bulk.check(audit, first, True)
    assert world.project.curation.current([first])[first].note == "checked for a bulk step"
    assert world.project.bulk.check(audit, first, True) is None, "the same again changes nothing"
    world.project.bulk.check(audit, first, False)
    assert world.project.curation.current([first]) == {}
    assert audit.marks == {first: False}


def test_too_many_wrong_ones_accept_nothing(world: World) -> None:
    long_world(world)
    audit = checked(world, begun(world), wrong=20)
    assert audit.state is AuditState.FAILED
    with pytest.raises(UserError):
        world.project.bulk.accept(audit)


def test_what_changed_since_the_plan_is_left_out(world: World) -> None:
    ids = long_world(world)
    audit = checked(world, begun(world))
    unseen = [one.mention_id for one in audit.accepted()]
    world.project.curation.decide(unseen[0], Verdict.nil())
    world.project.curation.delete_mention(unseen[1])
    suggest(world, ids[:1] if ids[0] in unseen[2:] else unseen[2:3], entity="MESH:D006323")
    report = world.project.bulk.accept(audit)
    assert report.left_out == 3
    assert report.accepted == len(unseen) - 3
    assert report.limit == pytest.approx(audit.limit * len(unseen) / report.accepted), "the wrong ones may be there all"
    assert world.project.curation.current(unseen[:1])[unseen[0]].verdict == Verdict.nil()


def test_stale_suggestions_are_not_offered(world: World) -> None:
    ids = long_world(world)
    suggest(world, ids[:100], bundle="newer")
    offer = world.project.bulk.offer(QueueFilter(), error=0.05, seed=1)
    assert (offer.undecided, offer.unsuggested) == (100, SURE + UNSURE - 100)
