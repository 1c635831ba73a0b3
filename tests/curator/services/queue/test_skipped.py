"""A skipped mention is neither decided nor undecided, in every count: four mentions, of which three are decided and one
is skipped."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import DocumentState
from curator.domain.facets import Facet, Facets
from curator.domain.statistics import StatisticsFilter
from curator.services.ports.queue import QueueFilter
from curator.services.queue.ordering import QueueOrder
from curator.services.records.statistics import as_json, head_figures, plots
from tests.curator.services.fakes import World

ALL = StatisticsFilter()
THREE = (Verdict.link("MESH:D008012"), Verdict.nil(), Verdict.reject())


def test_what_decides_a_mention() -> None:
    assert [one for one in Outcome if one.decides] == [Outcome.LINK, Outcome.NIL, Outcome.REJECTED]


def _plot(world: World, name: str) -> dict[str, float | None]:
    found = next(one for one in plots(world.project.statistics.read(), ALL) if one.id == name)
    return {one.name: one.last for one in found.series}


def _headline(world: World, name: str) -> str:
    return next(one for one in head_figures(world.project.statistics.read(), ALL) if one.id == name).hint


def _row(world: World) -> tuple[int, int, int, int]:
    row = world.project.queue.row(1)
    return row.decided, row.skipped, row.undecided, row.mentions


COUNTS: dict[str, tuple[Callable[[World], object], object]] = {
    "the queue's row": (_row, (3, 1, 0, 4)),
    "the open document": (lambda it: it.project.queue.open(1).skipped, 1),
    "whether it is complete": (lambda it: it.project.queue.open(1).complete, False),
    "the project": (lambda it: it.project.queue.counts().undecided, 0),
    "what comes next": (lambda it: it.project.queue.next_undecided(None, QueueFilter()), None),
    "the work list": (lambda it: it.project.ordering.work(QueueFilter(), QueueOrder.UNCERTAIN), []),
    "the facet of undecided ones": (
        lambda it: it.project.queue.mention_ids(QueueFilter(facets=Facets.of({Facet.STATE: ["undecided"]}))),
        [],
    ),
    "the dashboard's share": (lambda it: _headline(it, "decided"), "3 of 4"),
    "the dashboard's plot": (
        lambda it: _plot(it, "progress"),
        {"linked": 1.0, "NIL": 1.0, "rejected": 1.0},
    ),
    "curator stats": (lambda it: as_json(it.project.statistics.read(), ALL)["figures"]["decided"], 0.75),
    "keys and seconds per decision": (
        lambda it: [(one.decisions, one.keys) for one in it.project.statistics.read().counts.efforts],
        [(3, 8)],
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_skipped_mention_is_not_among_the_decided_ones(world: World, name: str) -> None:
    world.kb()
    world.documents(1)
    for mention, verdict in zip(world.mentions(1), (*THREE, Verdict.skip()), strict=True):
        change = world.project.curation.decide(mention, verdict)
        assert change.operation_id is not None
        world.project.efforts.record(change.operation_id, keys=2, milliseconds=1000)
    world.project.efforts.flush()
    count, expected = COUNTS[name]
    assert count(world) == expected


def test_a_document_without_a_skipped_mention_is_complete(world: World) -> None:
    world.kb()
    world.documents(1)
    world.project.curation.decide_many(world.mentions(1), Verdict.nil())
    opened = world.project.queue.open(1)
    assert (opened.skipped, opened.complete) == (0, True)


def test_a_round_counts_skipped_mentions_apart_and_ends_when_nothing_waits(filled: World) -> None:
    project = filled.project
    found = project.rounds.create("pilot", [1])
    seat = project.rounds.seat(found, "ada")
    for mention, verdict in zip(filled.mentions(1), (*THREE, Verdict.skip()), strict=True):
        seat.curation.decide_many([mention], verdict)
    (row,) = seat.queue.rows()
    assert (row.decided, row.skipped, row.mentions, row.state) == (3, 1, 4, DocumentState.DONE)
    assert not seat.queue.open(1).complete
    for progress in (seat.queue.progress, *project.rounds.progress(found.id)):
        if progress.curator == "ada":
            assert (progress.judged, progress.skipped, progress.mentions, progress.done) == (3, 1, 4, True)
    assert seat.queue.next_undecided(None) is None
    assert seat.curation.finish(1).document_ids == (1,)
