"""Linking ahead: order, urgency, stale answers, a linker that dies, a mapping that changes."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.documents import Span
from curator.domain.entities import TypeMapping
from curator.domain.jobs import JobState, LinkerState
from curator.domain.suggestions import Opinion, Stamp
from curator.domain.wording import LinkerUnavailableError, UserError
from curator.services.linking import suggestions
from tests.curator.services.fakes import World, finish, make_world, suggestion

Make = Callable[..., World]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    worlds: list[World] = []

    def made(*, documents: int = 3, manual: bool = False, link_ahead: int = 200) -> World:
        folder = tmp_path / str(len(worlds))
        folder.mkdir()
        world = make_world(folder, start=True, manual=manual, link_ahead=link_ahead)
        worlds.append(world)
        world.kb()
        world.documents(documents)
        return world

    yield made
    for world in worlds:
        world.project.close()


def suggested(world: World, document_id: int) -> list[bool]:
    """Whether each mention has a suggestion that is not stale."""
    views = world.project.queue.open(document_id).mentions
    return [view.suggestion is not None and not view.stale for view in views]


def test_everything_is_linked_once_a_bundle_serves(make: Make) -> None:
    world = make()
    assert suggested(world, 1) == [False] * 4
    heard: list[Change] = []
    world.project.events.subscribe(heard.append)
    world.index()
    assert all(all(suggested(world, one)) for one in (1, 2, 3))
    told = [one.document_ids for one in heard if one.kind is ChangeKind.SUGGESTIONS]
    assert (3,) in told
    assert world.project.suggestions.pending() == 0


def test_candidates_keep_to_the_types_that_the_mention_is_mapped_to(make: Make) -> None:
    world = make(documents=1)
    world.index()
    first, second, *_ = world.project.queue.open(1).mentions
    assert first.suggestion is not None
    assert second.suggestion is not None
    assert [one.entity_id for one in first.suggestion.candidates] == ["MESH:D008012"]
    assert [one.entity_id for one in second.suggestion.candidates] == ["MESH:D006323", "MESH:D001145"]


def test_a_long_answer_comes_in_parts_and_is_announced_when_it_is_whole(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggestions, "ANSWER_MENTIONS", 3)
    world = make(documents=1, manual=True)
    world.index()
    heard: list[Change] = []
    world.project.events.subscribe(heard.append)
    asked = world.linker.asked[-1]
    (document,) = asked.documents
    stamp = Stamp(world.linker.status.bundle_id, document.revision)
    found = [suggestion(one.id, stamp, one.types) for one in document.mentions]
    asked.on_document(document.id, found[:3])
    assert suggested(world, 1) == [True, True, True, False]
    assert not heard
    assert world.project.suggestions.pending() == 1
    asked.on_document(document.id, found[3:])
    assert [one.mention_ids for one in heard] == [tuple(one.mention_id for one in found)]
    assert world.project.suggestions.pending() == 0


def test_the_open_document_overtakes_and_moves_the_queue(make: Make) -> None:
    world = make(documents=6, manual=True, link_ahead=2)
    world.index()
    ahead = [one for one in world.linker.asked if not one.urgent]
    assert [one.id for one in ahead[-1].documents] == [1, 2]
    world.project.suggestions.request([5])
    assert world.linker.asked[-1].urgent
    assert [one.id for one in world.linker.asked[-1].documents] == [5]
    world.linker.answer(ahead[-1])
    assert [one.id for one in world.linker.asked[-1].documents] == [6], "5 is asked for already"


def test_an_answer_for_another_revision_is_dropped(make: Make) -> None:
    world = make(documents=1, manual=True)
    world.index()
    late = world.linker.asked[-1]
    world.project.curation.add_mention(1, [Span(14, 21)], "SpecificDisease")
    world.linker.answer(late)
    assert suggested(world, 1) == [False] * 5
    world.linker.answer(world.linker.asked[-1])
    assert suggested(world, 1) == [True] * 5, "the new revision was asked for at once"


def test_an_answer_of_another_bundle_is_dropped(make: Make) -> None:
    world = make(documents=1, manual=True)
    world.index()
    world.linker.answer(world.linker.asked[-1], bundle_id="another")
    assert suggested(world, 1) == [False] * 4


def test_a_decision_while_the_linker_works_stays(make: Make) -> None:
    world = make(documents=1, manual=True)
    world.index()
    world.project.curation.decide(1, Verdict.nil())
    world.linker.answer(world.linker.asked[-1])
    decision = world.project.queue.open(1).mentions[0].decision
    assert decision is not None
    assert decision.verdict == Verdict.nil()


def test_a_new_bundle_makes_suggestions_stale_and_links_again(make: Make) -> None:
    world = make(documents=2)
    world.index()
    old = [one.id for one in world.project.retraining.bundles()]
    world.linker.manual = True
    world.project.retraining.promote(old[0])
    assert suggested(world, 1) == [False] * 4
    world.linker.answer(world.linker.asked[-1])
    assert suggested(world, 1) == [True] * 4
    assert world.linker.status.bundle_id == old[0]


def test_a_changed_mapping_links_again(make: Make) -> None:
    world = make(documents=2)
    world.index()
    mapping = world.project.knowledge.mapping().allowed
    world.project.knowledge.set_mapping(TypeMapping({**mapping, "Chemical": ("Disease",)}))
    first = world.project.queue.open(2).mentions[0]
    assert first.suggestion is not None
    assert not first.stale
    assert [one.entity_id for one in first.suggestion.candidates] == ["MESH:D006323", "MESH:D001145"]


def test_a_document_that_kills_the_linker_does_not_take_the_others_along(make: Make) -> None:
    world = make(documents=3, manual=True)
    world.index()
    together = world.linker.asked[-1]
    count = len(world.linker.asked)
    world.linker.answer(together, outcome=JobState.CRASHED)
    alone = world.linker.asked[count:]
    assert [[one.id for one in asked.documents] for asked in alone[:3]] == [[1], [2], [3]]
    world.linker.answer(alone[0], outcome=JobState.CRASHED)
    world.linker.answer(alone[1])
    world.linker.answer(alone[2])
    assert [all(suggested(world, one)) for one in (1, 2, 3)] == [False, True, True]
    assert world.project.suggestions.pending() == 0
    assert len(world.linker.asked) == count + 3, "the same request is not sent for ever"


def test_what_was_asked_for_while_the_linker_restarts_is_linked_then(make: Make) -> None:
    world = make(documents=2, manual=True)
    world.index()
    bundle = world.linker.status.bundle_id
    world.linker.set_status(LinkerState.RESTARTING)
    count = len(world.linker.asked)
    world.linker.answer(world.linker.asked[-1], outcome=JobState.CRASHED)
    world.project.suggestions.request([2])
    world.linker.set_status(LinkerState.READY, bundle)
    for asked in world.linker.asked[count:]:
        world.linker.answer(asked)
    assert all(suggested(world, 2))


def test_linking_a_split_covers_decided_mentions_and_keeps_order(make: Make) -> None:
    world = make(documents=3)
    world.index()
    world.project.curation.decide(1, Verdict.nil())
    linked: list[tuple[str, int]] = []
    steps = world.project.suggestions.link_split(
        None, save=False, sink=lambda one: linked.append((one.document.external_id, len(one.suggestions)))
    )
    report = finish(steps)
    assert linked == [("1", 4), ("2", 4), ("3", 4)]
    assert (report.documents, report.mentions) == (3, 12)


def test_without_a_bundle_linking_says_what_to_do(make: Make) -> None:
    with pytest.raises(UserError, match="index"):
        finish(make().project.suggestions.link_split(None))


def test_a_linker_that_cannot_start_is_said(make: Make) -> None:
    world = make()
    world.index()
    world.linker.fail_open = "the bundle is damaged"
    with pytest.raises(LinkerUnavailableError, match="the bundle is damaged"):
        finish(world.project.suggestions.link_split(None))


def test_nothing_is_stored_after_closing(make: Make) -> None:
    world = make(documents=1, manual=True)
    world.index()
    asked = world.linker.asked[-1]
    world.project.suggestions.close()
    world.linker.answer(asked)
    assert suggested(world, 1) == [False] * 4


def test_a_bundle_whose_folder_is_gone_is_said_and_nothing_else_stops(make: Make) -> None:
    world = make(documents=1)
    world.index()
    [active] = [one for one in world.project.retraining.bundles() if one.active]
    shutil.rmtree(active.path)
    world.project.suggestions.restart()
    assert f"Linker {active.id}, which was in use, is missing" in world.project.suggestions.trouble()
    assert world.project.retraining.needs_index()
    mention = world.mentions(1)[0]
    world.project.curation.decide(mention, Verdict.nil())
    assert world.project.queue.open(1).view(mention).decision is not None  # type: ignore[union-attr]


def test_a_bundle_of_a_shared_project_is_fetched_and_then_opened(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make(documents=1)
    world.index()
    suggestions = world.project.suggestions
    [active] = [one for one in world.project.retraining.bundles() if one.active]
    away = Path(active.path).rename(world.folder / "on-the-server")
    opened = threading.Event()
    monkeypatch.setattr(world.store, "team", object())
    monkeypatch.setattr(suggestions._bundles, "all", lambda **_: shutil.move(away, active.path))
    monkeypatch.setattr(world.linker, "open", lambda *_: opened.set())
    suggestions.restart()
    assert opened.wait(20)
    monkeypatch.undo()  # it is closed like any other


def test_an_opinion_links_its_document_again_where_the_linker_hears_it(make: Make) -> None:
    world = make(documents=2)
    world.index()
    first = world.mentions(1)[0]
    news = Change(ChangeKind.OPINIONS, "language model", "answered", (1,), (first,))
    with world.store.write() as unit:
        unit.suggestions.save_opinions([Opinion(first, None, "m", "p", datetime(2026, 5, 4, tzinfo=UTC))])
    before = len(world.linker.asked)
    world.project.events.emit(news)
    assert len(world.linker.asked) == before, "this linker gives opinions no weight"
    world.linker.status = replace(world.linker.status, hears_opinions=True)
    world.project.events.emit(news)
    [asked] = world.linker.asked[before:]
    assert [[one.opinion for one in document.mentions] for document in asked.documents] == [["", None, None, None]]


def test_a_restart_of_the_linker_is_said_while_it_links(make: Make) -> None:
    world = make(manual=True)
    world.index()
    steps = world.project.suggestions.link_split(None)
    while next(steps).phase != "link":
        pass
    world.linker.set_status(LinkerState.RESTARTING, message="It stopped responding.")
    assert next(steps).text == "It stopped responding."
    steps.close()


def test_linking_ahead_goes_on_after_a_read_that_failed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "BATCH", 2)
    world = make(documents=4, manual=True)
    world.index()
    first = world.linker.asked[-1]
    service = world.project.suggestions
    with monkeypatch.context() as patch:
        patch.setattr(service, "_ahead_of_curator", lambda: exec("raise UserError('The server is away.')"))
        world.linker.answer(first)
    assert service.trouble() == "The server is away."
    service.refresh()
    assert [one.id for one in world.linker.asked[-1].documents] == [3, 4]


def test_linking_ahead_goes_on_after_its_request_was_cancelled(make: Make) -> None:
    """A changed type mapping cancels the request, whose end follows later."""
    world = make(documents=4, manual=True, link_ahead=2)
    world.index()
    first, count = world.linker.asked[-1], len(world.linker.asked)
    mapping = world.project.knowledge.mapping().allowed
    world.project.knowledge.set_mapping(TypeMapping({**mapping, "Chemical": ("Disease",)}))
    assert world.linker.cancelled
    assert len(world.linker.asked) == count
    world.linker.answer(first, outcome=JobState.CANCELLED)
    assert len(world.linker.asked) == count + 1
    assert [one.id for one in world.linker.asked[-1].documents] == [1, 2]


def test_what_was_asked_for_waits_for_a_server_that_is_away(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make(documents=3, manual=True, link_ahead=1)
    world.index()
    service, bundle = world.project.suggestions, world.linker.status.bundle_id
    world.linker.set_status(LinkerState.RESTARTING)
    service.request([3])
    with monkeypatch.context() as patch:
        patch.setattr(service, "_stale", lambda *_, **__: exec("raise UserError('The server is away.')"))
        world.linker.set_status(LinkerState.READY, bundle)
    world.linker.set_status(LinkerState.READY, bundle)
    assert [one.id for asked in world.linker.asked if asked.urgent for one in asked.documents] == [3]
