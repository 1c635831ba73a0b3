"""Judging in rounds: apart from the project and from each other, with undo across restarts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import DocumentState, Span
from curator.domain.jobs import LinkerState
from curator.domain.rounds import Round, RoundKind
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from curator.services.rounds.rounds import RoundService
from tests.curator.services.fakes import World, context

LIDOCAINE, ARREST = Verdict.link("MESH:D008012"), Verdict.link("MESH:D006323")
ALL = QueueFilter()


class Clock:
    def __init__(self) -> None:
        self.time = datetime.now(UTC)

    def now(self) -> datetime:
        return self.time


class Seat:
    """One curator at the window, in a round."""

    def __init__(self, world: World, found: Round, name: str) -> None:
        taken = world.project.rounds.seat(found, name)
        self.suggestions, self.queue, self.curation = taken.suggestions, taken.queue, taken.curation

    def sees(self, document_id: int) -> list[str]:
        """The outcomes in text order, `?` where nothing is judged."""
        views = self.queue.open(document_id).mentions
        return [one.decision.verdict.outcome.value if one.decision else "?" for one in views]


@pytest.fixture
def found(filled: World) -> Round:
    return filled.project.rounds.create("pilot", filled.project.queue.ids(ALL))


@pytest.fixture
def ada(filled: World, found: Round) -> Seat:
    return Seat(filled, found, "ada")


@pytest.fixture
def ben(filled: World, found: Round) -> Seat:
    return Seat(filled, found, "ben")


def test_nobody_sees_another_s_judgements_nor_the_project_s_decisions(filled: World, ada: Seat, ben: Seat) -> None:
    document, *_ = filled.project.queue.ids(ALL)
    first, second, *_ = filled.mentions(document)
    filled.project.curation.decide(first, ARREST)
    ada.curation.decide_many([first], LIDOCAINE)
    assert ada.sees(document) == ["link", "?", "?", "?"]
    assert ben.sees(document) == ["?"] * 4
    assert ben.curation.history(first) == []
    ben.curation.decide_many([second], Verdict.nil())
    assert ada.sees(document) == ["link", "?", "?", "?"]
    [decision] = filled.project.curation.history(first)
    assert decision.verdict == ARREST
    assert filled.project.queue.open(document).view(second).decision is None  # type: ignore[union-attr]


def test_a_round_whose_documents_are_all_hidden_is_empty(filled: World, found: Round) -> None:
    imported = [one.record.file.id for one in filled.project.imports.files()]
    filled.project.imports.undo(imported)
    taken = filled.project.rounds.seat(found, "ada")
    assert (taken.queue.progress.judged, taken.queue.progress.mentions, taken.queue.progress.done) == (0, 0, False)
    assert (taken.queue.count(), taken.queue.counts().mentions, taken.queue.next_undecided(None)) == (0, 0, None)


def test_judgements_teach_the_linker_nothing_and_are_no_steps_of_the_project(filled: World, ada: Seat) -> None:
    heard: list[object] = []
    filled.project.events.subscribe(heard.append)
    document, *_ = filled.project.queue.ids(ALL)
    ada.curation.decide_many([filled.mentions(document)[0]], LIDOCAINE)
    assert heard == []
    assert not filled.project.curation.can_undo()


def test_undo_and_redo_go_through_the_round_and_survive_a_restart(filled: World, found: Round, ada: Seat) -> None:
    document, *_ = filled.project.queue.ids(ALL)
    first, second, *_ = filled.mentions(document)
    ada.curation.decide_many([first], LIDOCAINE)
    ada.curation.decide_many([first], ARREST)
    ada.curation.decide_many([second], Verdict.reject())
    again = Seat(filled, found, "ada")
    assert again.curation.undo().mention_ids == (second,)  # type: ignore[union-attr]
    again.curation.undo()
    view = again.queue.open(document).view(first)
    assert view is not None
    assert view.decision is not None
    assert view.decision.verdict == LIDOCAINE
    again.curation.redo()
    assert again.sees(document)[:2] == ["link", "?"]
    assert again.queue.open(document).view(first).decision.verdict == ARREST  # type: ignore[union-attr]
    again.curation.undo()
    again.curation.undo()
    assert (again.sees(document), again.curation.undo()) == (["?"] * 4, None)
    again.curation.decide_many([first], Verdict.nil())
    assert not again.curation.can_redo()


def test_a_curator_s_undo_leaves_the_others_judgements(filled: World, ada: Seat, ben: Seat) -> None:
    document, *_ = filled.project.queue.ids(ALL)
    first, *_ = filled.mentions(document)
    ada.curation.decide_many([first], LIDOCAINE)
    ben.curation.decide_many([first], ARREST)
    ada.curation.undo()
    assert (ada.sees(document)[0], ben.sees(document)[0]) == ("?", "link")


def test_a_mention_made_in_a_round_is_its_maker_s_until_another_makes_it_too(
    filled: World, ada: Seat, ben: Seat
) -> None:
    document, *_ = filled.project.queue.ids(ALL)
    before = filled.mentions(document)
    span = Span(39, 45)
    [made] = ada.curation.add_mention(document, [span], "Disease").mention_ids
    ada.curation.decide_many([made], Verdict.nil())
    assert len(ada.sees(document)) == 5
    assert (len(ben.sees(document)), filled.mentions(document)) == (4, before)
    with pytest.raises(UserError, match="at exactly this position"):
        ada.curation.add_mention(document, [span], "Disease")
    assert ben.curation.add_mention(document, [span], "Disease").mention_ids == (made,)
    assert ben.sees(document).count("?") == 5


def test_nothing_else_of_the_project_can_be_changed_from_a_round(filled: World, found: Round) -> None:
    document, *_ = filled.project.queue.ids(ALL)
    first, *_ = filled.mentions(document)
    seat = filled.project.rounds.seat(found, "ada").for_window
    assert seat.editing is None
    with pytest.raises(UserError, match="judging in the round “pilot”"):
        seat.edit(lambda editing: editing.delete_mention(first))
    assert filled.mentions(document)[0] == first


def test_the_queue_is_the_round_s_and_goes_round_once(filled: World, ada: Seat) -> None:
    one, two = filled.project.queue.ids(ALL)
    for mention in filled.mentions(two):
        ada.curation.decide_many([mention], Verdict.nil())
    assert ada.queue.next_undecided(one) == (one, filled.mentions(one)[0])
    assert [row.state for row in ada.queue.rows()] == [DocumentState.TODO, DocumentState.DONE]
    assert ada.curation.finish(two).text == "Judged the whole document"
    with pytest.raises(UserError, match="4 mentions"):
        ada.curation.finish(one)
    progress = ada.queue.progress
    assert (progress.judged, progress.mentions, progress.done) == (4, 8, False)
    counts = ada.queue.counts()
    assert (counts.mentions, counts.decisions_by_outcome[Outcome.NIL]) == (8, 4)
    for mention in filled.mentions(one):
        ada.curation.decide_many([mention], Verdict.nil())
    assert ada.queue.next_undecided(one) is None


def test_suggestions_know_nothing_of_the_document_s_own_decisions(filled: World, found: Round, ada: Seat) -> None:
    filled.index()
    document, *_ = filled.project.queue.ids(ALL)
    filled.linker.asked.clear()
    ada.suggestions.request([document])
    assert filled.linker.asked == [], "nothing serves yet"
    filled.linker.set_status(LinkerState.READY, filled.project.retraining.bundles()[-1].id)
    assert [one.own for one in filled.linker.asked] == [False, False]
    assert all(view.suggestion is not None for view in ada.queue.open(document).mentions)
    unaided = Seat(filled, filled.project.rounds.create("bare", [document], kind=RoundKind.UNAIDED), "ada")
    unaided.suggestions.request([document])
    assert all(view.suggestion is None for view in unaided.queue.open(document).mentions)


def test_a_closed_round_takes_nothing_and_is_left(filled: World, found: Round, ada: Seat) -> None:
    rounds = filled.project.rounds
    rounds.enter(found.id)
    assert rounds.active() is not None
    rounds.close(found.id)
    assert rounds.active() is None
    document, *_ = filled.project.queue.ids(ALL)
    with pytest.raises(UserError, match="was closed"):
        ada.curation.decide_many([filled.mentions(document)[0]], LIDOCAINE)
    with pytest.raises(UserError, match="is closed"):
        rounds.enter(found.id)
    rounds.reopen(found.id)
    rounds.enter(found.id)
    rounds.leave()
    assert rounds.active() is None


def test_rounds_are_made_with_a_name_and_documents_of_a_seed(filled: World, found: Round) -> None:
    rounds = filled.project.rounds
    for name, ids in (("", [1]), ("pilot", [1]), ("empty", [])):
        with pytest.raises(UserError):
            rounds.create(name, ids)
    with pytest.raises(UserError, match="“pilot”"):
        rounds.named("other")
    assert rounds.choose_documents(1, seed=3) == rounds.choose_documents(1, seed=3)
    assert len(rounds.choose_documents(99)) == 2
    with pytest.raises(UserError, match="no entity X"):
        Seat(filled, found, "ada").curation.decide_many([filled.mentions(1)[0]], Verdict.link("X"))


def test_a_round_that_is_left_hears_no_more_of_the_linker(filled: World, found: Round) -> None:
    before = list(filled.linker.listeners)
    for _ in range(3):
        filled.project.rounds.seat(found, "ada").suggestions.close()
    assert filled.linker.listeners == before


def test_own_consistency_is_measured_in_a_round_over_what_one_decided_before(filled: World) -> None:
    project = filled.project
    one, two, *_ = filled.mentions(1)
    for mention in (one, two):
        project.curation.decide(mention, ARREST)
    later = Clock()
    me = project.curation.curator
    rounds = RoundService(context(filled.store, clock=later, curator=me), filled.linker)
    assert rounds.choose_documents(9, decided=True) == [], "nothing is a day old yet"
    later.time += timedelta(days=3)
    again = rounds.choose_documents(9, decided=True)
    assert again == [1]
    seat = rounds.seat(rounds.enter(rounds.create("again", again, kind=RoundKind.CONSISTENCY).id))
    view = seat.queue.open(1).view(one)
    assert view is not None
    assert (view.decision, seat.curation.history(one)) == (None, [])
    seat.curation.decide_many([one], Verdict.nil())
    seat.curation.decide_many([two], ARREST)
    assert [made.verdict for made in project.curation.history(one)] == [ARREST]
    [row, month] = project.agreement.consistency()
    assert (row.curator, row.items, row.same, round(row.days)) == (me, 2, 1, 3)
    assert (month.period, month.share) == (f"{later.time:%Y-%m}", 0.5)
