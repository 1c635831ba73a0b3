"""Replay: imported gold becomes decisions of a simulated curator, with what was shown."""

from __future__ import annotations

from curator.domain.decisions import Verdict
from curator.domain.documents import Split
from tests.curator.services.fakes import World, finish


def test_gold_is_decided_in_order_up_to_the_limit(world: World) -> None:
    world.kb()
    world.documents(3, gold=True)
    world.documents(1, first=9, name="t.pubtator", gold=True, split=Split.TEST)
    world.project.curation.decide(2, Verdict.nil())
    world.index()
    finish(world.project.suggestions.link_split(Split.TRAIN))
    report = finish(world.project.replay.replay(Split.TRAIN, limit=5))
    assert (report.documents, report.decisions, report.links, report.unshown) == (2, 5, 4, 0)
    assert report.first == 3, "both Lidocaines and a cardiac arrest, which sorts before arrhythmia"
    views = world.project.queue.open(1).mentions
    names = [view.decision.curator for view in views if view.decision]
    assert names == ["replay", "ada", "replay", "replay"]
    first = views[0].decision
    assert first is not None
    assert first.verdict == Verdict.link("MESH:D008012")
    assert first.shown is not None
    assert first.shown.candidates[0].entity_id == "MESH:D008012"
    assert finish(world.project.replay.replay(Split.TRAIN, limit=100)).decisions == 6
    assert finish(world.project.replay.replay(Split.TRAIN, limit=100)).decisions == 0


def test_what_was_never_linked_is_counted(world: World) -> None:
    world.kb()
    world.documents(1, gold=True)
    assert finish(world.project.replay.replay(Split.TRAIN, limit=9)).unshown == 4
