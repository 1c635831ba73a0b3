"""Detection: documents without mentions, decided texts, types of the corpus, undo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.documents import MentionOrigin
from curator.domain.jobs import JobOutcome, JobState, LinkerState
from curator.domain.wording import UserError
from curator.services.linking import remembering
from tests.curator.services.fakes import World, finish, ignore, make_world

BARE = "7|t|An arrhythmia\n7|a|Nothing else.\n\n8|t|Nothing\n8|a|here.\n\n"
DECIDED = "9|t|A blorbitis\n9|a|without mentions.\n\n"


@pytest.fixture(params=[False, True], ids=["one command", "window"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """With an index and two documents; in a window the services run that teach the linker."""
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    made = make_world(tmp_path, start=request.param)
    made.kb()
    made.documents(2)
    made.index()
    yield made
    made.project.close()


def detect(world: World, ids: Sequence[int] | None = None, *, types: Sequence[str] | None = None) -> JobOutcome:
    ended: list[JobOutcome] = []
    handle = world.project.detection.start(ids, types=types, on_progress=ignore, on_end=ended.append)
    assert handle.wait(0) == ended[0]
    return ended[0]


def bare(world: World, text: str = BARE) -> None:
    finish(world.project.importing.documents([world.write(text, name="bare.pubtator")]))


def test_names_are_marked_where_there_are_no_mentions(world: World) -> None:
    bare(world)
    assert world.project.detection.documents_without_mentions() == [3, 4]
    heard: list[Change] = []
    world.project.events.subscribe(heard.append)
    assert detect(world).result == {"documents": 2, "mentions": 1, "message": "Detected 1 mention."}
    mention = world.project.queue.open(3).mentions[0].mention
    assert (mention.text, mention.type, mention.origin) == ("arrhythmia", "SpecificDisease", MentionOrigin.DETECTED)
    assert [one.document_ids for one in heard if one.kind is ChangeKind.MENTIONS] == [(3,)]
    world.project.curation.undo()
    assert world.project.queue.open(3).mentions == ()


def test_a_text_that_was_just_decided_is_marked(world: World) -> None:
    bare(world, DECIDED)
    world.project.curation.decide(world.mentions(1)[3], Verdict.link("MESH:D001145"))
    assert detect(world).result["mentions"] == 1
    assert world.project.queue.open(3).mentions[0].mention.text == "blorbitis"


def test_what_overlaps_a_mention_is_not_added(world: World) -> None:
    assert detect(world, [1]).result["mentions"] == 0
    assert len(world.mentions(1)) == 4


def test_the_usual_types_are_those_that_the_mentions_link_to(world: World) -> None:
    bare(world)
    assert world.project.detection.usual_types() == ("Chemical", "Disease")
    for given, asked in ((None, ("Chemical", "Disease")), (("Disease",), ("Disease",)), ((), ())):
        detect(world, types=given)
        assert world.linker.detected_types == asked


@pytest.mark.parametrize("start", [False, True], ids=["one command", "window"])
def test_without_mentions_no_type_is_usual_and_that_of_the_knowledge_base_serves(tmp_path: Path, start: bool) -> None:
    world = make_world(tmp_path, start=start)
    world.kb()
    bare(world)
    world.index()
    assert world.project.detection.usual_types() == ()
    detect(world)
    assert world.project.queue.open(1).mentions[0].mention.type == "Disease"
    world.project.close()


def test_without_an_index_it_says_so(filled: World) -> None:
    outcome = detect(filled)
    assert (outcome.state, "no index" in outcome.message) == (JobState.FAILED, True)


def test_a_linker_that_cannot_be_used_is_an_outcome(world: World) -> None:
    bare(world)
    world.linker.set_status(LinkerState.FAILED, message="Out of order.")
    outcome = detect(world)
    assert (outcome.state, outcome.message) == (JobState.FAILED, "Out of order.")
    assert world.project.detection.documents_without_mentions() == [3, 4]


def test_decisions_that_cannot_be_learnt_are_an_outcome(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    bare(world, DECIDED)
    with monkeypatch.context() as patched:
        patched.setattr(remembering, "decided_documents", _fail)
        world.project.curation.decide(world.mentions(1)[3], Verdict.link("MESH:D001145"))
        outcome = detect(world)
        assert (outcome.state, "The disk failed." in outcome.message) == (JobState.FAILED, True)
    assert detect(world).result["mentions"] == 1, "what failed is taught again"


def _fail(*_: object) -> None:
    raise UserError("The disk failed.")
