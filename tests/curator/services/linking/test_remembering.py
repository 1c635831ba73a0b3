"""The linker's memory follows the decisions of train documents, and of no others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.bootstrap import join
from curator.domain.decisions import NilReason, Verdict
from curator.domain.documents import Split
from curator.domain.jobs import LinkerState
from curator.domain.wording import UserError
from curator.services.linking import remembering
from curator.services.linking.remembering import PER_REQUEST
from curator.settings.schema import Settings
from curator.storage import project as storage
from tests.curator.services.fakes import FakeJobs, FakeLinker, World, finish, make_world

FAILED = threading.Event()


def _fail(*_: object) -> None:
    FAILED.set()
    raise UserError("The disk failed.")


def nothing_but(world: World, document_id: int) -> bool:
    """Whether a decision there, which is learnt after all that came before, is all that the memory holds."""
    one = world.mentions(document_id)[0]
    world.project.curation.decide(one, Verdict.link("MESH:D008012"))
    return world.remembered({document_id: {one: ("MESH:D008012",)}})


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = make_world(tmp_path, start=True)
    made.kb()
    made.documents(3)
    made.index()
    yield made
    made.project.close()


def test_a_decision_is_learnt_and_unlearnt(world: World) -> None:
    one, two, *_ = world.mentions(1)
    world.project.curation.decide(one, Verdict.link("MESH:D008012"))
    world.project.curation.decide(two, Verdict.nil(NilReason.NOT_IN_KB))
    assert world.remembered({1: {one: ("MESH:D008012",), two: ()}})
    world.project.curation.undo()
    assert world.remembered({1: {one: ("MESH:D008012",)}})
    world.project.curation.undo()
    assert world.remembered({})
    world.project.curation.redo()
    assert world.remembered({1: {one: ("MESH:D008012",)}})


def test_a_step_over_many_documents_is_learnt_and_unlearnt_in_small_requests(world: World) -> None:
    world.documents(2 * PER_REQUEST, first=10, name="b.pubtator")
    ids = [world.mentions(document_id)[0] for document_id in range(1, 2 * PER_REQUEST + 4)]
    world.project.curation.decide_many(ids, Verdict.link("MESH:D008012"))
    every = {document_id: {one: ("MESH:D008012",)} for document_id, one in enumerate(ids, start=1)}
    assert world.remembered(every)
    assert max(len(part) for part in world.linker.taught) == PER_REQUEST
    world.project.curation.undo()
    assert world.remembered({})


def test_decisions_close_together_are_taught_together(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembering, "MOMENT", 1.5)
    assert nothing_but(world, 3), "and what came before is over"
    before = len(world.linker.taught)
    expected = {n: dict.fromkeys(world.mentions(n)[:2], ("MESH:D008012",)) for n in (1, 2)}
    for one in (one for some in expected.values() for one in some):
        world.project.curation.decide(one, Verdict.link("MESH:D008012"))
    assert list(world.linker.memory) == [3], "not while the key is answered"
    assert world.remembered(world.linker.memory | expected)
    assert world.linker.taught[before:] == [[1, 2]]


def test_a_project_that_closes_right_after_a_decision_forgets_nothing(world: World) -> None:
    one = world.mentions(1)[0]
    world.project.curation.decide(one, Verdict.link("MESH:D008012"))
    world.project.close()
    linker = FakeLinker(process=2)
    store = storage.open_project(world.project.folder)
    project = join(store, Settings(), linker_port=linker, job_port=FakeJobs())
    try:
        assert World(project, store, linker, FakeJobs(), world.folder).remembered({1: {one: ("MESH:D008012",)}})
    finally:
        project.close()


def test_a_request_that_fails_does_not_end_the_teaching(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, *_ = world.mentions(1)
    with monkeypatch.context() as patched:
        patched.setattr(remembering, "decided_documents", _fail)
        world.project.curation.decide(one, Verdict.link("MESH:D008012"))
        assert FAILED.wait(10)
    world.project.curation.decide(two, Verdict.nil())
    assert world.remembered({1: {one: ("MESH:D008012",), two: ()}})


def test_rejected_skipped_and_deleted_mentions_teach_nothing(world: World) -> None:
    one, two, three, _ = world.mentions(1)
    world.project.curation.decide(one, Verdict.reject())
    world.project.curation.decide(two, Verdict.skip())
    world.project.curation.decide(three, Verdict.link("MESH:D001145"))
    world.project.curation.delete_mention(three)
    assert nothing_but(world, 2)


def test_validation_and_test_documents_teach_nothing(world: World) -> None:
    world.documents(1, first=4, name="v.pubtator", split=Split.VALIDATION)
    world.documents(1, first=5, name="t.pubtator", split=Split.TEST)
    for document_id in (4, 5):
        world.project.curation.decide(world.mentions(document_id)[0], Verdict.link("MESH:D008012"))
    assert nothing_but(world, 2)


def test_a_new_process_is_taught_all_anew_and_a_new_bundle_is_not(world: World) -> None:
    one = world.mentions(1)[0]
    world.project.curation.decide(one, Verdict.link("MESH:D008012"))
    assert world.remembered({1: {one: ("MESH:D008012",)}})
    bundle = world.linker.status.bundle_id
    world.linker.memory.clear()
    world.linker.set_status(LinkerState.READY, bundle)
    assert nothing_but(world, 2), "the same process knows it"
    world.linker.memory.clear()
    world.linker.process += 1
    world.linker.set_status(LinkerState.READY, bundle)
    assert world.remembered({1: {one: ("MESH:D008012",)}, 2: {world.mentions(2)[0]: ("MESH:D008012",)}})


def test_the_documents_at_hand_are_linked_anew(world: World) -> None:
    world.project.suggestions.request([1])
    world.linker.linked.clear()
    world.project.curation.decide(world.mentions(1)[0], Verdict.link("MESH:D008012"))
    assert world.linker.comes(lambda: world.linker.linked == [1])
    world.project.suggestions.request([2])
    assert world.linker.linked == [1, 2], "another document when it is opened"
    world.project.suggestions.request([2])
    assert world.linker.linked == [1, 2], "and only once"
    world.project.curation.decide_many(world.mentions(1), Verdict.nil(NilReason.NOT_IN_KB))
    assert world.linker.comes(lambda: world.linker.linked == [1, 2, 2])
    world.project.suggestions.request([1])
    assert world.linker.linked == [1, 2, 2], "the one at hand; nothing is left to suggest in the other"


def test_linking_for_a_file_uses_the_memory_or_leaves_it_out(tmp_path: Path) -> None:
    world = make_world(tmp_path, start=False)
    try:
        world.kb()
        world.documents(2)
        world.index()
        one = world.mentions(1)[0]
        world.project.curation.decide(one, Verdict.link("MESH:D008012"))
        finish(world.project.suggestions.link_split(None, memory=False))
        assert world.linker.memory == {}
        finish(world.project.suggestions.link_split(None))
        assert world.linker.memory == {1: {one: ("MESH:D008012",)}}
        assert not any(asked.own for asked in world.linker.asked)
    finally:
        world.project.close()
