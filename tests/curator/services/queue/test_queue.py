"""The queue and an opened document."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState
from curator.domain.wording import DamagedTextError
from curator.services.ports.queue import QueueFilter
from curator.services.queue.queue import Direction
from tests.curator.services.fakes import World

ANY = QueueFilter()


def test_an_opened_document_shows_mentions_in_text_order(filled: World) -> None:
    opened = filled.project.queue.open(2)
    assert [view.mention.text for view in opened.mentions] == ["Lidocaine", "cardiac arrest", "arrhythmia", "blorbitis"]
    assert all(view.decision is None and view.suggestion is None and not view.stale for view in opened.mentions)


def test_a_text_is_compared_when_its_document_is_opened_and_not_at_every_key(filled: World) -> None:
    queue = filled.project.queue
    queue.open(1)
    with filled.store.write() as unit:
        unit.connection.exec_driver_sql("UPDATE document_texts SET text = text || 'x'")
    assert queue.open(1).document.text.endswith("x")
    for _ in range(2):
        with pytest.raises(DamagedTextError, match="differs from the one imported"):
            queue.open(2)


def test_next_undecided_goes_round_once(filled: World) -> None:
    first, second, third, last = filled.mentions(1)
    filled.project.curation.decide_many([second, last], Verdict.nil())
    opened = filled.project.queue.open(1)
    assert [opened.next_undecided(one) for one in (None, first, third, last)] == [first, third, first, first]
    filled.project.curation.decide_many([first, third], Verdict.nil())
    assert filled.project.queue.open(1).next_undecided() is None


def test_neighbours_follow_the_filter_even_from_outside_it(world: World) -> None:
    world.documents(4)
    queue = world.project.queue
    world.project.curation.set_state(2, DocumentState.DONE)
    todo = QueueFilter(state=DocumentState.TODO)
    assert queue.ids(todo) == [1, 3, 4]
    assert queue.neighbour(2, todo, Direction.NEXT) == 3
    assert queue.neighbour(2, todo, Direction.PREVIOUS) == 1
    assert queue.neighbour(4, todo, Direction.NEXT) is None
    assert queue.neighbour(1, todo, Direction.PREVIOUS) is None
    assert queue.neighbour(None, ANY, Direction.NEXT) == 1
    assert queue.neighbour(None, ANY, Direction.PREVIOUS) == 4
    assert queue.neighbour(None, QueueFilter(text="nowhere"), Direction.NEXT) is None


def test_the_next_undecided_mention_of_the_queue(filled: World) -> None:
    filled.project.curation.decide_many(filled.mentions(1), Verdict.nil())
    assert filled.project.queue.next_undecided(None, ANY) == (2, filled.mentions(2)[0])
    assert filled.project.queue.next_undecided(2, ANY) is None


def test_counts(filled: World) -> None:
    filled.project.curation.decide(1, Verdict.nil())
    counts = filled.project.queue.counts()
    assert (counts.mentions, sum(counts.decisions_by_outcome.values())) == (8, 1)
    assert counts.documents[DocumentState.IN_PROGRESS] == 1
    assert filled.project.queue.row(1).decided == 1
    assert filled.project.queue.mention_types() == {"SpecificDisease": 6, "Chemical": 2}
