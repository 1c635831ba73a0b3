"""Every use of an entity: what is listed, in which order, and what moving some of them changes."""

from __future__ import annotations

import pytest

from curator.domain.decisions import NilReason, Outcome, Shown, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.domain.wording import UserError
from curator.services.knowledge.uses import UseFilter, UseOrder
from tests.curator.services.fakes import KB, World

LIDOCAINE, ARREST, ARRHYTHMIA = (str(one["id"]) for one in KB)


def decide(world: World, document: int, number: int, *entities: str) -> int:
    mention = world.mentions(document)[number]
    world.project.curation.decide(mention, Verdict.link(*entities))
    return mention


def verdict(world: World, mention: int) -> Verdict:
    return world.project.curation.current([mention])[mention].verdict


def suggest(world: World, mention: int, *candidates: tuple[str, float]) -> None:
    found = tuple(Candidate(one, one, (), one, chance, {}, chance) for one, chance in candidates)
    with world.store.write() as unit:
        unit.suggestions.save([Suggestion(mention, found, NilEstimate(0.0, False, True), Stamp("b", 1), "")])


@pytest.fixture
def linked(filled: World) -> World:
    """“cardiac arrest” of both documents, and “arrhythmia” of the first, are Heart Arrest."""
    for document, number in ((1, 1), (1, 2), (2, 1)):
        decide(filled, document, number, ARREST)
    return filled


def test_every_use_is_listed_with_its_context_its_curator_and_its_document(linked: World) -> None:
    linked.project.curation.finish(2)
    found = linked.project.uses.of(ARREST)
    assert (found.name, found.gone, found.documents, found.done) == ("Heart Arrest", False, 2, 1)
    first, _, last = found.uses
    assert (first.context.left, first.context.text, first.context.curator) == (
        "Lidocaine and ",
        "cardiac arrest",
        "ada",
    )
    assert (first.split, first.state, last.state) == (Split.TRAIN, DocumentState.IN_PROGRESS, DocumentState.DONE)
    assert first.probability is None
    assert [(one.text, one.number) for one in found.strings()] == [("cardiac arrest", 2), ("arrhythmia", 1)]
    assert found.curators() == ("ada",)


def test_the_doubtful_ones_come_first_and_those_without_a_suggestion_last(linked: World) -> None:
    first, second, third = (one.context.mention_id for one in linked.project.uses.of(ARREST).uses)
    suggest(linked, first, (ARREST, 0.9), (ARRHYTHMIA, 0.1))
    suggest(linked, third, (ARRHYTHMIA, 0.8))
    found = linked.project.uses.of(ARREST)
    listed = [(one.context.mention_id, one.probability) for one in found.chosen(UseFilter(), UseOrder.DOUBTFUL)]
    assert listed == [(third, 0.0), (first, 0.9), (second, None)]
    newest = [one.context.mention_id for one in found.chosen(UseFilter(), UseOrder.NEWEST)]
    assert newest == [third, second, first]


def test_filters_narrow_by_string_curator_and_split(linked: World) -> None:
    found = linked.project.uses.of(ARREST)
    by = lambda **what: len(found.chosen(UseFilter(**what), UseOrder.DOCUMENT))  # noqa: E731
    assert by(string="cardiac arrest") == 2
    assert by(curator="ada") == 3
    assert by(curator="bob") == 0
    assert by(split=Split.TRAIN) == 3
    assert by(split=Split.TEST) == 0


def test_some_move_to_another_entity_as_one_step_that_one_undo_takes_back(linked: World) -> None:
    found = linked.project.uses.of(ARREST)
    first, second, third = (one.context.mention_id for one in found.uses)
    change = linked.project.uses.change(found, [first, third], Verdict.link(ARRHYTHMIA))
    assert change.text == "Moved 2 uses of “Heart Arrest” to “Arrhythmia”"
    assert verdict(linked, first) == verdict(linked, third) == Verdict.link(ARRHYTHMIA)
    assert verdict(linked, second) == Verdict.link(ARREST)
    last = linked.project.curation.history(first)[-1]
    assert last.note == "Moved from MESH:D006323 “Heart Arrest” to MESH:D001145 “Arrhythmia” in the list of its uses"
    assert last.shown == Shown("", ())
    assert [one.context.mention_id for one in linked.project.uses.of(ARREST).uses] == [second]
    linked.project.curation.undo()
    assert len(linked.project.uses.of(ARREST).uses) == 3


def test_some_become_nil_with_a_reason(linked: World) -> None:
    found = linked.project.uses.of(ARREST)
    mention = found.uses[1].context.mention_id
    change = linked.project.uses.change(found, [mention], Verdict.nil(NilReason.TOO_GENERAL))
    assert change.text == "Marked 1 use of “Heart Arrest” NIL"
    assert verdict(linked, mention) == Verdict.nil(NilReason.TOO_GENERAL)


def test_the_other_entities_of_a_link_of_several_stay(filled: World) -> None:
    both = decide(filled, 1, 1, LIDOCAINE, ARREST)
    found = filled.project.uses.of(ARREST)
    filled.project.uses.change(found, [both], Verdict.link(ARRHYTHMIA))
    assert verdict(filled, both) == Verdict.link(LIDOCAINE, ARRHYTHMIA)
    found = filled.project.uses.of(ARRHYTHMIA)
    filled.project.uses.change(found, [both], Verdict.link(LIDOCAINE))  # each entity once
    assert verdict(filled, both) == Verdict.link(LIDOCAINE)
    both = decide(filled, 1, 1, LIDOCAINE, ARREST)
    filled.project.uses.change(filled.project.uses.of(ARREST), [both], Verdict.nil())
    assert verdict(filled, both) == Verdict.link(LIDOCAINE)


def test_what_was_decided_or_deleted_meanwhile_stops_the_step(linked: World) -> None:
    found = linked.project.uses.of(ARREST)
    first, second, third = (one.context.mention_id for one in found.uses)
    decide(linked, 1, 1, LIDOCAINE)
    with pytest.raises(UserError, match="1 of these mentions was decided or deleted"):
        linked.project.uses.change(found, [first, second], Verdict.link(ARRHYTHMIA))
    linked.project.curation.delete_mention(third)
    with pytest.raises(UserError, match="Look at the list again"):
        linked.project.uses.change(found, [third], Verdict.nil())
    assert verdict(linked, second) == Verdict.link(ARREST)


def test_wrong_targets_and_empty_choices_are_refused_with_a_sentence(linked: World) -> None:
    service = linked.project.uses
    found = service.of(ARREST)
    mention = found.uses[0].context.mention_id
    with pytest.raises(UserError, match="No mention was chosen"):
        service.change(found, [], Verdict.nil())
    with pytest.raises(UserError, match="already"):
        service.change(found, [mention], Verdict.link(ARREST))
    with pytest.raises(UserError, match="no entity MESH:X"):
        service.change(found, [mention], Verdict.link("MESH:X"))
    with pytest.raises(UserError, match="Look at the list again"):
        service.change(found, [999], Verdict.nil())
    with pytest.raises(ValueError, match="one entity"):
        service.change(found, [mention], Verdict.reject())
    assert verdict(linked, mention).outcome is Outcome.LINK


def test_nothing_is_changed_while_judging_in_a_round(linked: World) -> None:
    found = linked.project.uses.of(ARREST)
    made = linked.project.rounds.create("pilot", [1, 2])
    linked.project.rounds.enter(made.id)
    with pytest.raises(UserError, match="round “pilot”"):
        linked.project.uses.change(found, [found.uses[0].context.mention_id], Verdict.nil())


def test_an_entity_without_uses_one_that_is_gone_and_one_that_never_was(linked: World) -> None:
    service = linked.project.uses
    assert service.of(LIDOCAINE).uses == ()
    assert service.of("OMIM:115000").entity_id == ARRHYTHMIA  # by its alternate id
    with pytest.raises(UserError, match="no entity MESH:X, and no mention is linked"):
        service.of("MESH:X")
    linked.kb([KB[0]], name="kb2.jsonl")
    found = service.of(ARREST)
    assert (found.gone, found.name, len(found.uses), found.successor) == (True, "Heart Arrest", 3, None)
    linked.kb([KB[0], {"id": "X:1", "name": "Arrest", "alt_ids": [ARREST]}], name="kb3.jsonl")
    found = service.of(ARREST)
    assert found.successor is not None
    assert (found.successor.id, len(found.uses)) == ("X:1", 3)
    service.change(found, [one.context.mention_id for one in found.uses], Verdict.link("X:1"))
    assert len(service.of(ARREST).uses) == 3  # by the alternate id now
    assert service.of(ARREST).entity_id == "X:1"
