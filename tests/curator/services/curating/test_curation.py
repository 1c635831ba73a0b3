"""Decisions, mentions and states: what they change, what they refuse, and that undo restores exactly."""

from __future__ import annotations

from typing import Any

import pytest

from curator.domain.decisions import Change, ChangeKind, Outcome, RejectReason, Shown, ShownCandidate, Verdict
from curator.domain.documents import DocumentState, MentionOrigin, Span
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, finish

LIDOCAINE = Verdict.link("MESH:D008012")


def state(world: World, document_id: int = 1) -> Any:
    """All that undo has to restore: document state and mentions with their decisions' content."""
    opened = world.project.queue.open(document_id)
    decisions = [
        (view.mention.id, view.decision and (view.decision.verdict, view.decision.curator, view.decision.shown))
        for view in opened.mentions
    ]
    return opened.document.state, decisions


def test_deciding_starts_the_document_and_tells_who_and_what(filled: World) -> None:
    heard: list[Change] = []
    filled.project.events.subscribe(heard.append)
    change = filled.project.curation.decide(1, LIDOCAINE, note="sure")
    opened = filled.project.queue.open(1)
    decision = opened.mentions[0].decision
    assert heard == [change]
    assert change.kind is ChangeKind.DECIDED
    assert (change.actor, change.document_ids, change.mention_ids) == ("ada", (1,), (1,))
    assert change.text == "Linked “Lidocaine” to Lidocaine"
    assert decision is not None
    assert (decision.verdict, decision.curator, decision.shown, decision.note) == (LIDOCAINE, "ada", None, "sure")
    assert opened.document.state is DocumentState.IN_PROGRESS
    assert filled.project.queue.open(2).document.state is DocumentState.TODO


def test_a_decision_keeps_what_was_shown(filled: World) -> None:
    filled.index()
    finish(filled.project.suggestions.link_split(None))
    filled.project.curation.decide(2, Verdict.nil())
    shown = Shown("b", (ShownCandidate("MESH:D008012", 0.5),), 0.9)
    filled.project.curation.decide(1, LIDOCAINE, shown=shown)
    views = filled.project.queue.open(1).mentions
    assert views[0].decision is not None
    assert views[1].decision is not None
    assert views[0].decision.shown == shown
    stored = views[1].decision.shown
    assert stored is not None
    assert stored.bundle_id == filled.linker.status.bundle_id
    assert [one.entity_id for one in stored.candidates] == ["MESH:D006323", "MESH:D001145"]


def test_several_mentions_are_one_operation(filled: World) -> None:
    before = state(filled), state(filled, 2)
    change = filled.project.curation.decide_many([1, 5], LIDOCAINE)
    assert change.text == "Linked 2 mentions of “Lidocaine” to Lidocaine"
    assert change.document_ids == (1, 2)
    filled.project.curation.undo()
    assert (state(filled), state(filled, 2)) == before


def test_clearing_keeps_the_history(filled: World) -> None:
    filled.project.curation.decide(1, LIDOCAINE)
    filled.project.curation.clear(1)
    assert filled.project.queue.open(1).mentions[0].decision is None
    outcomes = [one.verdict.outcome for one in filled.project.curation.history(1)]
    assert outcomes == [Outcome.LINK, Outcome.CLEARED]


@pytest.mark.parametrize(
    ("spans", "kind", "reason"),
    [
        ((), "Disease", "Select some text"),
        ((Span(0, 9999),), "Disease", "is not within the text"),
        ((Span(9, 10),), "Disease", "white space"),
        ((Span(0, 5), Span(4, 9)), "Disease", "overlap"),
        ((Span(0, 9),), " ", "needs a type"),
        ((Span(0, 9),), "Chemical", "already exists at exactly this position"),
    ],
)
def test_a_wrong_mention_is_refused_with_its_reason(
    filled: World, spans: tuple[Span, ...], kind: str, reason: str
) -> None:
    with pytest.raises(UserError, match=reason):
        filled.project.curation.add_mention(1, spans, kind)
    assert len(filled.mentions(1)) == 4
    assert not filled.project.curation.can_undo()


def test_a_mention_is_added_with_its_fragments(filled: World) -> None:
    change = filled.project.curation.add_mention(1, [Span(14, 21), Span(0, 9)], "Disease")
    added = filled.project.queue.open(1).view(change.mention_ids[0])
    assert added is not None
    assert added.mention.text == "Lidocaine cardiac"
    assert added.mention.spans == (Span(0, 9), Span(14, 21))
    assert added.mention.origin is MentionOrigin.CURATOR


def test_deleted_mentions_cannot_be_decided(filled: World) -> None:
    filled.project.curation.delete_mention(1)
    with pytest.raises(UserError, match="was deleted"):
        filled.project.curation.decide(1, LIDOCAINE)


def test_an_unknown_entity_or_mention_is_refused(filled: World) -> None:
    with pytest.raises(UserError, match="no entity MESH:D999"):
        filled.project.curation.decide(1, Verdict.link("MESH:D008012", "MESH:D999"))
    with pytest.raises(UserError, match="no mention 77"):
        filled.project.curation.decide(77, LIDOCAINE)
    assert state(filled)[0] is DocumentState.TODO


def test_undo_and_redo_restore_every_state_exactly(filled: World) -> None:
    curation = filled.project.curation
    steps = [
        lambda: curation.decide(1, LIDOCAINE),
        lambda: curation.decide(1, Verdict.reject(RejectReason.WRONG_SPAN)),
        lambda: curation.add_mention(1, [Span(14, 21)], "SpecificDisease"),
        lambda: curation.delete_mention(2),
        lambda: curation.set_state(1, DocumentState.DONE),
        lambda: curation.clear(1),
        lambda: curation.set_state(1, DocumentState.TODO),
        lambda: curation.decide(3, Verdict.nil()),
    ]
    states = [state(filled)]
    for step in steps:
        step()
        states.append(state(filled))
    for expected in reversed(states[:-1]):
        assert curation.undo() is not None
        assert state(filled) == expected
    assert curation.undo() is None
    for expected in states[1:]:
        assert curation.redo() is not None
        assert state(filled) == expected
    assert curation.redo() is None


def test_a_new_step_ends_redoing_and_nothing_recorded_is_lost(filled: World) -> None:
    curation = filled.project.curation
    curation.decide(1, LIDOCAINE)
    undone = curation.undo()
    assert undone is not None
    assert undone.text == "Undid: Linked “Lidocaine” to Lidocaine"
    curation.decide(2, Verdict.nil())
    assert not curation.can_redo()
    assert [one.verdict.outcome for one in curation.history(1)] == [Outcome.LINK, Outcome.CLEARED]


def test_undoing_restores_the_decision_of_an_import(world: World) -> None:
    world.kb()
    world.documents(gold=True)
    before = state(world)
    world.project.curation.decide(1, Verdict.nil())
    assert state(world) != before
    world.project.curation.undo()
    assert state(world) == before
    assert world.project.curation.undo() is None, "an import is not undone by Ctrl+Z"
