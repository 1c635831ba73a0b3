"""Words of other programs, matched by the linker in use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.domain.entities import MatchKind
from curator.domain.jobs import JobState, LinkerState
from curator.domain.suggestions import NilEstimate
from curator.domain.wording import LinkerUnavailableError, UserError
from curator.services.linking.reconciliation import LONGEST, SURE, WordQuery
from tests.curator.services import fakes
from tests.curator.services.fakes import KB, World, finish, make_world

LIDOCAINE, ARREST, ARRHYTHMIA = (str(one["id"]) for one in KB)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[World]:
    world = make_world(tmp_path, kb=True, documents=2)
    world.index()
    finish(world.project.reconciliation.start())
    yield world
    world.project.close()


def ids(world: World, *queries: WordQuery) -> list[list[str]]:
    return [[one.entity.id for one in found] for found in world.project.reconciliation.match(queries)]


def test_without_an_index_it_says_what_makes_one(filled: World) -> None:
    with pytest.raises(UserError, match="curator index P"):
        finish(filled.project.reconciliation.start())


def test_it_begins_with_the_memory_of_the_decisions(tmp_path: Path) -> None:
    world = make_world(tmp_path, kb=True, documents=2)
    world.index()
    world.project.curation.decide(world.mentions(1)[0], Verdict.link(LIDOCAINE))
    finish(world.project.reconciliation.start())
    assert world.linker.memory == {1: {world.mentions(1)[0]: (LIDOCAINE,)}}
    world.project.close()


def test_matches_are_candidates_of_the_types_that_are_asked_for(started: World) -> None:
    heart = WordQuery("heart", types=("Disease",))
    assert ids(started, WordQuery("x"), heart) == [[LIDOCAINE, ARREST, ARRHYTHMIA], [ARREST, ARRHYTHMIA]]
    assert ids(started, replace(heart, types=("Disease", "Chemical"), every_type=True)) == [[]]
    assert ids(started, WordQuery("x", limit=2)) == [[LIDOCAINE, ARREST]]


def test_equal_words_are_linked_once_whatever_number_is_asked_for(started: World) -> None:
    found = ids(started, *(WordQuery(f"word {n % 10}", limit=1 + n % 2) for n in range(1000)))
    assert {len(one) for one in found} == {1, 2}
    assert len(started.linker.asked[-1].documents) == 10
    assert {one.id for one in started.linker.asked[-1].documents} == set(range(-10, 0)), "none is a stored document"
    assert not started.linker.asked[-1].own


def test_a_typed_text_has_the_candidates_of_a_mention(started: World) -> None:
    meant = started.project.reconciliation.meant
    found = meant("belly pain")
    assert [(one.entity.id, one.kind) for one in found] == [
        (id_, MatchKind.MEANING) for id_ in (LIDOCAINE, ARREST, ARRHYTHMIA)
    ]
    assert [one.entity.id for one in meant("belly pain", mention_type="SpecificDisease")] == [ARREST, ARRHYTHMIA]
    assert started.linker.asked[-1].urgent, "before what is linked ahead"
    started.project.branches.restrict("", [ARREST])
    assert [one.entity.id for one in meant("belly pain")] == [ARREST]
    asked = len(started.linker.asked)
    assert meant(" ") == meant("x" * (LONGEST + 1)) == []
    started.linker.set_status(LinkerState.STARTING)
    assert meant("belly pain") == []
    assert len(started.linker.asked) == asked


def test_a_typed_text_that_is_no_longer_wanted_is_cancelled(started: World) -> None:
    started.linker.manual = True
    assert started.project.reconciliation.meant("belly", wanted=lambda: False) == []
    assert started.linker.cancelled


def test_an_identifier_is_its_entity_and_asks_nobody(started: World) -> None:
    asked = len(started.linker.asked)
    [[one], [other]] = started.project.reconciliation.match([WordQuery(ARREST), WordQuery(" OMIM:115000 ")])
    assert (one.entity.id, one.score, one.certain) == (ARREST, SURE, True)
    assert other.entity.id == ARRHYTHMIA
    assert len(started.linker.asked) == asked
    assert ids(started, WordQuery(ARREST, types=("Chemical",))) == [[LIDOCAINE]], "then it is a word like others"


def test_a_text_around_the_words_is_read(started: World) -> None:
    started.project.reconciliation.match([WordQuery("MI", context="After mi, rest."), WordQuery("MI", context="no")])
    first, second = started.linker.asked[-1].documents
    assert (first.text, first.mentions[0].spans) == ("After mi, rest.", (Span(6, 8),))
    assert (second.text, second.mentions[0].spans) == ("MI", (Span(0, 2),))


def test_empty_and_endless_words_match_nothing(started: World) -> None:
    asked = len(started.linker.asked)
    assert ids(started, WordQuery(" "), WordQuery("x" * (LONGEST + 1))) == [[], []]
    assert ids(started) == []
    assert len(started.linker.asked) == asked


def test_only_a_calibrated_sure_answer_is_certain(started: World, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = fakes.suggestion

    def sure(*given: object) -> object:
        found = usual(*given)  # type: ignore[arg-type]
        first = replace(found.candidates[0], probability=0.97)
        return replace(found, candidates=(first, *found.candidates[1:]), nil=NilEstimate(0.0, False, calibrated=True))

    assert not started.project.reconciliation.match([WordQuery("x")])[0][0].certain
    monkeypatch.setattr(fakes, "suggestion", sure)
    first, second, _ = started.project.reconciliation.match([WordQuery("x")])[0]
    assert (first.certain, first.score, second.certain) == (True, pytest.approx(97.0), False)
    assert first.features["probability"] == 0.97


def test_the_projects_branches_restrict_it(started: World) -> None:
    started.kb([{**one, "parents": [ARREST]} if one["id"] == ARRHYTHMIA else one for one in KB], name="tree.jsonl")
    started.project.branches.restrict("", [ARREST])
    started.index()
    finish(started.project.reconciliation.start())
    assert ids(started, WordQuery("x")) == [[ARREST, ARRHYTHMIA]]


def test_a_linker_that_stops_is_said(started: World, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = started.linker.answer
    monkeypatch.setattr(started.linker, "answer", lambda asked: usual(asked, outcome=JobState.CRASHED))
    with pytest.raises(LinkerUnavailableError):
        started.project.reconciliation.match([WordQuery("x")])
