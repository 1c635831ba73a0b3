"""The history of steps: its lines and their states, going back to a step and forward, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.documents import DocumentState, Span
from curator.domain.wording import UserError
from curator.services.curating.curation import CurationService
from curator.services.curating.steps import Step, StepKind, StepService, StepState, Training
from curator.services.ports.curation import StepFilter
from tests.curator.services.fakes import World, context, finish

LIDOCAINE = Verdict.link("MESH:D008012")


class Clock:
    """A minute later each time that it is asked."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def now(self) -> datetime:
        self.at += timedelta(minutes=1)
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def worked(filled: World, clock: Clock) -> World:
    """Five steps by ada: 1 links two mentions, 2 NIL, 3 makes a mention, 4 a state, 5 rejects."""
    curation = curating(filled, clock)
    curation.decide_many([1, 5], LIDOCAINE)
    curation.decide(4, Verdict.nil())
    curation.add_mention(2, [Span(10, 13)], "Disease")
    curation.set_state(2, DocumentState.DONE)
    curation.decide(3, Verdict.reject())
    return filled


def curating(world: World, clock: Clock, *, who: str = "ada") -> CurationService:
    return CurationService(
        context(world.store, events=world.project.events, clock=clock, curator=who), related=lambda *_: []
    )


def service(world: World, clock: Clock, *, trainings: tuple[Training, ...] = ()) -> StepService:
    return StepService(context(world.store, events=world.project.events, clock=clock), trainings=lambda: trainings)


def listed(world: World, where: StepFilter | None = None) -> list[Step]:
    return list(world.project.steps.page(where or StepFilter(), limit=100).steps)


def states(world: World) -> dict[int | None, StepState]:
    return {one.number: one.state for one in listed(world) if one.number is not None}


def test_every_step_is_a_line_and_the_imports_are_among_them(worked: World) -> None:
    lines = listed(worked)
    assert [(one.number, one.mentions, one.text) for one in lines[:5]] == [
        (5, 1, "Rejected “arrhythmia” (not an entity)"),
        (4, 0, "Marked 2 as “done”"),
        (3, 1, "Added the mention “and”"),
        (2, 1, "Marked “blorbitis” as NIL (not in the knowledge base)"),
        (1, 2, "Linked 2 mentions of “Lidocaine” to Lidocaine"),
    ]
    assert (lines[-1].number, lines[-1].text, lines[-1].mentions) == (None, "Imported a.pubtator: 2 documents", 8)
    assert {one.actor for one in lines[:5]} == {"ada"} == set(worked.project.steps.actors())


def test_pages_follow_each_other_without_a_gap(worked: World) -> None:
    whole, found, after = listed(worked), [], None
    while True:
        page = worked.project.steps.page(StepFilter(), limit=2, after=after)
        found += page.steps
        if (after := page.beyond) is None:
            break
    assert found == whole


@pytest.mark.parametrize(
    ("where", "numbers"),
    [
        (StepFilter(actor="ben"), []),
        (StepFilter(kinds=StepKind.DECISIONS.operations), [5, 2, 1]),
        (StepFilter(kinds=StepKind.IMPORTS.operations), [None]),
        (StepFilter(words="blorb"), [2]),
        (StepFilter(words="D008012"), [1]),
        (StepFilter(document_id=2), [4, 3, 1, None]),
        (StepFilter(words="pubtator"), [None]),
    ],
)
def test_the_list_is_narrowed(worked: World, where: StepFilter, numbers: list[int | None]) -> None:
    assert [one.number for one in listed(worked, where)] == numbers


def test_mentions_and_the_place_of_a_step(worked: World) -> None:
    steps = worked.project.steps
    contexts, beyond = steps.contexts(1)
    assert ([one.mention_id for one in contexts], beyond) == ([1, 5], 0)
    assert (steps.place(1), steps.place(4)) == ((1, 1), (2, None))
    with pytest.raises(UserError, match="no step 99"):
        steps.place(99)


def test_going_back_undoes_what_came_after_and_forward_redoes_it(worked: World, clock: Clock) -> None:
    heard: list[Change] = []
    worked.project.events.subscribe(heard.append)
    steps = service(worked, clock)
    back = steps.journey(2)
    assert (back.operations, back.forward, back.decisions, back.refusal) == ((5, 4, 3), False, 1, "")
    assert steps.go(back).text == "Undid 3 steps"
    assert {one.kind for one in heard} == {ChangeKind.DECIDED, ChangeKind.DOCUMENT_STATE, ChangeKind.MENTIONS}
    assert worked.project.queue.open(2).document.state is DocumentState.IN_PROGRESS
    assert worked.project.curation.current([3, 4]).keys() == {4}
    undone = {3: StepState.REDOABLE, 4: StepState.REDOABLE, 5: StepState.REDOABLE}
    assert states(worked) == {1: StepState.DONE, 2: StepState.DONE, **undone}
    forth = steps.journey(4)
    assert (forth.operations, forth.forward) == ((3, 4), True)
    assert steps.go(forth).text == "Redid 2 steps"
    assert worked.project.queue.open(2).document.state is DocumentState.DONE
    assert worked.project.curation.current([3]) == {}
    with pytest.raises(UserError, match="already at step 4"):
        steps.journey(4)


def test_a_long_way_can_be_stopped_at_a_whole_step(
    worked: World, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curator.services.curating.undo.AT_ONCE", 1)
    heard: list[Change] = []
    worked.project.events.subscribe(heard.append)
    steps = service(worked, clock)
    walk = steps.walk(steps.journey(1))
    assert [(one.done, one.total) for one in (next(walk), next(walk), next(walk))] == [(0, 4), (1, 4), (2, 4)]
    assert not heard
    walk.close()
    assert heard[-1].text == "Undid: " + steps.operation(4).text
    assert [number for number, state in states(worked).items() if state is StepState.REDOABLE] == [5, 4]
    assert finish(steps.walk(steps.journey(5))).change.text == "Redid 2 steps"


def test_something_else_in_between_ends_a_long_way(
    worked: World, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curator.services.curating.undo.AT_ONCE", 1)
    steps = service(worked, clock)
    walk = steps.walk(steps.journey(1))
    next(walk)
    next(walk)
    curating(worked, clock).decide(2, Verdict.nil())
    walked = finish(walk)
    assert (walked.change.text, walked.left) == ("Undid 1 step", 3)
    assert states(worked)[7] is StepState.DONE


def test_a_step_whose_redoing_is_lost_is_said_to_be_undone_for_good(worked: World, clock: Clock) -> None:
    steps = service(worked, clock)
    steps.go(steps.journey(4))
    curating(worked, clock).decide(3, Verdict.nil())
    assert states(worked)[5] is StepState.UNDONE
    with pytest.raises(UserError, match=r"Step 5 .* was undone, and other steps"):
        steps.journey(5)


def test_steps_of_others_are_not_undone_together(worked: World, clock: Clock) -> None:
    curating(worked, clock, who="ben").decide(2, Verdict.skip())
    curating(worked, clock).decide(3, Verdict.nil())
    steps = service(worked, clock)
    said = steps.journey(4).refusal
    assert "ben took step 6" in said
    assert "as far as step 6" in said
    with pytest.raises(UserError, match="ben took"):
        steps.go(steps.journey(4))
    assert steps.journey(6).refusal == ""


def test_an_import_or_a_training_in_between_is_said(worked: World, clock: Clock) -> None:
    third = next(one.at for one in listed(worked) if one.number == 3)
    trained = service(worked, clock, trainings=(Training("pel-2", third + timedelta(seconds=1)),))
    assert "pel-2 was trained after step 2" in trained.journey(1).refusal
    assert trained.journey(2).refusal == "", "step 3 made a mention, and no decision that was learned"
    worked.project.curation.undo()
    with worked.store.write() as unit:
        file = unit.imports.all()[0].file.id
        unit.imports.record(
            file, unit.imports.all()[0].kind, batch=7, curator="ada", at=clock.now(), counts={"documents": 1}
        )
    refusal = service(worked, clock).journey(1).refusal
    assert refusal.startswith("After step 4 (")
    assert "documents were imported (a.pubtator)" in refusal


def test_a_way_that_is_no_longer_there_changes_nothing(worked: World, clock: Clock) -> None:
    steps = service(worked, clock)
    back = steps.journey(1)
    curating(worked, clock).decide(2, Verdict.nil())
    with pytest.raises(UserError, match="meanwhile"):
        steps.go(back)
    with pytest.raises(UserError, match="meanwhile"):
        steps.go(replace(steps.journey(1), operations=(6, 2)))
    assert states(worked)[6] is StepState.DONE


def test_a_new_project_has_no_steps(world: World) -> None:
    assert listed(world) == []
    assert StepService(context(world.store)).actors() == []


def test_a_clock_that_was_set_back_a_year_changes_no_order(worked: World, clock: Clock) -> None:
    clock.at -= timedelta(days=365)
    curation, steps = curating(worked, clock), service(worked, clock)
    curation.decide(4, LIDOCAINE)
    assert [one.number for one in listed(worked)] == [6, 5, 4, 3, 2, 1, None]
    with worked.store.read() as unit:
        assert [one.verdict.outcome for one in unit.decisions.history(4)] == [Verdict.nil().outcome, LIDOCAINE.outcome]
    assert "blorbitis" in curation.undo().text
    with worked.store.read() as unit:
        assert unit.decisions.current([4])[4].verdict == Verdict.nil()
    curation.redo()
    back = steps.journey(3)
    assert (back.operations, back.refusal) == ((6, 5, 4), "")
    steps.go(back)
    assert states(worked)[3] is StepState.DONE
