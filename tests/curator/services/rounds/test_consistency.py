"""Mentions that are asked again silently: the answer is kept apart, the decision stays, and both are compared."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from curator.domain.decisions import Verdict
from curator.services.curating.curation import CurationService
from curator.services.ports.queue import QueueFilter
from curator.services.queue.seat import Seat
from curator.services.rounds.agreement import AgreementService
from curator.services.rounds.consistency import APART, Repeats, repeating_seat
from tests.curator.services.fakes import World

ARREST, LIDOCAINE = Verdict.link("MESH:D006323"), Verdict.link("MESH:D008012")
ALL = QueueFilter()


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 11, 2, 9, tzinfo=UTC)

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


def curation_of(world: World, clock: Clock) -> CurationService:
    return CurationService(world.store, world.project.events, clock, curator=lambda: "ada", related=lambda *_: [])


def seat(world: World, own: CurationService, clock: Clock) -> Seat:
    store, suggestions = world.store, world.project.suggestions
    return repeating_seat(store, own, suggestions, clock, curator=lambda: "ada", share=lambda: 100.0)


def test_a_decided_mention_is_asked_again_later_and_its_decision_stays(filled: World) -> None:
    clock = Clock()
    store = filled.store
    curation = curation_of(filled, clock)
    one, two, *_ = filled.mentions(1)
    curation.decide_many([one], ARREST)
    curation.decide_many([two], ARREST)
    taken = seat(filled, curation, clock)
    queue = taken.lists(ALL)
    working = filled.mentions(2)
    for _ in range(APART):
        taken.curation.decide_many([working[0]], LIDOCAINE)
    assert queue.next_undecided(1) == (2, working[1]), "nothing is a day old yet"
    clock.time += timedelta(days=3)

    document, asked = queue.next_undecided(1)  # type: ignore[misc]
    assert asked in (one, two, working[0])
    before = filled.project.curation.history(asked)
    view = taken.queue.open(document).view(asked)
    assert view is not None
    assert (view.decision, taken.curation.history(asked)) == (None, [])
    taken.curation.decide_many([asked], Verdict.nil())
    shown = taken.queue.open(document).view(asked)
    assert shown is not None
    assert shown.decision is not None
    assert shown.decision.verdict == Verdict.nil(), "what was answered, not what was decided"
    assert filled.project.curation.history(asked) == before
    assert queue.next_undecided(1) == (2, working[1]), "not two in a row"

    taken.curation.undo()
    assert taken.queue.open(document).view(asked).decision is None  # type: ignore[union-attr]
    taken.curation.decide_many([asked], before[-1].verdict)
    [row, month] = AgreementService(store).consistency()
    assert (row.curator, row.items, row.same, round(row.days)) == ("ada", 1, 1, 3)
    assert (month.period, month.share) == ("2026-11", 1.0)
    taken.curation.decide_many([working[1]], LIDOCAINE)
    taken.curation.undo()
    assert filled.project.queue.open(2).view(working[1]).decision is None  # type: ignore[union-attr]


def test_off_asks_nothing_and_a_share_asks_the_same_ones_for_ever(filled: World) -> None:
    clock = Clock()
    store = filled.store
    curation = curation_of(filled, clock)
    for mention in (*filled.mentions(1), *filled.mentions(2)):
        curation.decide_many([mention], ARREST)
    clock.time += timedelta(days=2)
    due = [
        Repeats(store, clock, curator=lambda: "ada", share=lambda share=share: share).due()
        for share in (0.0, 50.0, 50.0, 100.0)
    ]
    assert due[0] == []
    assert due[1] == due[2]
    assert len(due[3]) == 8
    assert set(due[1]) <= set(due[3])
