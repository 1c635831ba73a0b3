"""Suggestions by spelling alone: what they find, and that they give way to the linker's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.suggestions import Band, Suggestion
from curator.services.linking.name_linking import BY_NAME, NameLinking
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import KB, World, finish, make_world

LIMIT = 30
DOCUMENT = (
    "7|t|{text}\n"
    "7|a|\n"
    "7\t0\t{end}\t{text}\t{type}\t-1\n"
    "\n"
)  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path, start=True)
    yield made
    made.project.close()


def found(world: World, ask: Callable[[], None]) -> set[int]:
    """The documents that are announced to have suggestions after `ask`."""
    told: set[int] = set()
    heard = threading.Event()

    def listen(change: Change) -> None:
        if change.kind is ChangeKind.SUGGESTIONS:
            told.update(change.document_ids)
            heard.set()

    stop = world.project.events.subscribe(listen)
    ask()
    assert heard.wait(LIMIT)
    stop()
    return told


def stored(world: World, document_id: int = 1) -> list[Suggestion | None]:
    return [view.suggestion for view in world.project.queue.open(document_id).mentions]


def linked(world: World, text: str, *, type_: str = "SpecificDisease", kb: Any = KB) -> list[tuple[str, float]]:
    """Ids and scores of the candidates of a mention with this text."""
    world.kb(kb)
    world.write(DOCUMENT.format(text=text, end=len(text), type=type_))
    finish(world.project.importing.documents([world.folder / "a.pubtator"]))
    linking = NameLinking(world.store, lambda *_: None)
    linking.ask([1])
    linking.settle()
    linking.close()
    (suggestion,) = stored(world)
    return [(one.entity_id, one.score) for one in suggestion.candidates] if suggestion is not None else []


def test_a_document_that_is_opened_before_the_first_index_gets_suggestions(world: World) -> None:
    world.kb()
    world.documents(1)
    assert found(world, lambda: world.project.suggestions.request([1])) == {1}
    lidocaine, arrest, arrhythmia, blorbitis = stored(world)
    assert lidocaine is not None
    assert arrest is not None
    assert arrhythmia is not None
    assert blorbitis is None, "what no name resembles is not called NIL"
    assert [one.entity_id for one in lidocaine.candidates] == ["MESH:D008012"]
    assert [(one.entity_id, one.matched) for one in arrest.candidates] == [("MESH:D006323", "Cardiac arrest")]
    assert {one.stamp.bundle_id for one in (lidocaine, arrest, arrhythmia)} == {BY_NAME}
    assert lidocaine.band is Band.REVIEW
    assert lidocaine.candidates[0].probability == 0.0
    with world.store.read() as unit:
        assert unit.queue.chances(QueueFilter(), bundle_id="") == [], "nothing to accept in bulk"


def test_the_index_takes_their_place(world: World) -> None:
    world.kb()
    world.documents(1)
    found(world, lambda: world.project.suggestions.request([1]))
    assert all(view.stale for view in world.project.queue.open(1).mentions if view.suggestion is not None)
    world.index()
    views = world.project.queue.open(1).mentions
    assert not any(view.stale for view in views)
    assert BY_NAME not in {view.suggestion.stamp.bundle_id for view in views if view.suggestion is not None}


def test_where_an_index_serves_names_are_not_asked(world: World) -> None:
    world.kb()
    world.documents(1)
    world.index()
    before = stored(world)
    linking = NameLinking(world.store, lambda *_: None)
    linking.ask([1])
    linking.settle()
    linking.close()
    assert stored(world) == before


def test_a_knowledge_base_that_comes_while_a_document_is_open_is_asked_at_once(world: World) -> None:
    world.documents(1)
    world.project.suggestions.request([1])
    assert found(world, world.kb) == {1}


def test_what_is_decided_is_left_alone(world: World) -> None:
    world.kb()
    world.documents(1)
    first, *_ = world.mentions(1)
    world.project.curation.decide(first, Verdict.reject())
    found(world, lambda: world.project.suggestions.request([1]))
    assert stored(world)[0] is None


def test_the_decision_remembers_what_it_was_shown(world: World) -> None:
    world.kb()
    world.documents(1)
    found(world, lambda: world.project.suggestions.request([1]))
    first, *_ = world.project.queue.open(1).mentions
    world.project.curation.decide(first.mention.id, Verdict.link("MESH:D008012"))
    (decision,) = world.project.curation.history(first.mention.id)
    assert decision.shown is not None
    assert decision.shown.bundle_id == BY_NAME


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("heart arrest", ["MESH:D006323"]),
        ("arrest, cardiac", ["MESH:D006323"]),
        ("Arythmia", ["MESH:D001145"]),
        ("sudden cardiac arrest", ["MESH:D006323"]),
        ("Lidocaine", []),
        ("arrh", []),
        ('"type:Chemical" :: x', []),
    ],
    ids=["name", "word order", "slip", "a word more", "another type", "an abbreviation's beginning", "syntax"],
)
def test_what_is_spelt_alike(world: World, text: str, expected: list[str]) -> None:
    assert [name for name, _ in linked(world, text)] == expected


def test_the_likest_name_comes_first_and_an_entity_once(world: World) -> None:
    kb = (
        {"id": "X:1", "name": "Renal failure, acute", "types": ["Disease"]},
        {"id": "X:2", "name": "Renal failure", "synonyms": ["Failure, renal", "Chronic renal failure"], "types": []},
    )
    (first, sure), (second, less) = linked(world, "renal failure", kb=kb, type_="Any")
    assert (first, second) == ("X:2", "X:1")
    assert sure == 1.0 > less >= 0.6


def test_a_document_that_is_gone_is_passed_over(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.kb()
    linking = NameLinking(world.store, lambda *_: None)
    linking.ask([99])
    linking.settle()
    linking.close()
    assert "99" in caplog.text
    caplog.clear()
    linking.ask([99])
    linking.settle()
    assert not caplog.text, "nothing is asked of what is closed"
