"""The other mentions of a string: found within a scope, decided as one step, never beyond what was shown."""

from __future__ import annotations

import pytest

from curator.domain.attributes import Scheme
from curator.domain.decisions import Change, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.wording import UserError
from curator.services.curating.propagation import GroupKind, Others, PropagationScope, ValueOthers
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World, finish

LIDOCAINE = Verdict.link("MESH:D008012")


@pytest.fixture
def linked(filled: World) -> World:
    """Three documents with suggestions; each holds “Lidocaine” once, ids 1, 5 and 9."""
    filled.index()
    filled.documents(1, first=3, name="b.pubtator", split=Split.TEST)
    finish(filled.project.suggestions.link_split(None))
    return filled


def others(
    world: World, scope: PropagationScope = PropagationScope.PROJECT, *, where: QueueFilter | None = None, of: int = 1
) -> Others:
    return world.project.propagation.others(of, LIDOCAINE, scope=scope, where=where)


def ids(found: Others) -> list[int]:
    return [line.context.mention_id for line in found.lines]


def test_scopes_are_the_document_what_the_filter_shows_and_all(linked: World) -> None:
    assert ids(others(linked, PropagationScope.DOCUMENT)) == []
    assert ids(others(linked, PropagationScope.PROJECT)) == [5, 9]
    assert ids(others(linked, PropagationScope.QUEUE, where=QueueFilter(split=Split.TEST))) == [9]
    assert ids(others(linked, PropagationScope.QUEUE, where=QueueFilter())) == [5, 9]


def test_the_ticked_ones_are_one_step_with_what_their_lines_showed(linked: World) -> None:
    heard: list[Change] = []
    linked.project.events.subscribe(heard.append)
    found = others(linked)
    assert found.names == ("Lidocaine",)
    assert found.ticked == (5, 9)
    change = linked.project.propagation.decide(found, found.ticked)
    assert heard == [change]
    assert change.text == "Linked 2 mentions of “Lidocaine” to Lidocaine"
    assert change.document_ids == (2, 3)
    decision = linked.project.curation.current([5])[5]
    assert decision.verdict == LIDOCAINE
    assert decision.note == "decided with “Lidocaine” of 1"
    assert decision.shown is not None
    assert [one.entity_id for one in decision.shown.candidates] == ["MESH:D008012"], "a line shows the first alone"
    assert decision.shown.bundle_id == linked.linker.status.bundle_id
    assert linked.project.queue.open(2).document.state is DocumentState.IN_PROGRESS
    linked.project.curation.undo()
    assert linked.project.curation.current([5, 9]) == {}
    assert linked.project.queue.open(2).document.state is DocumentState.TODO
    linked.project.curation.redo()
    assert linked.project.curation.current([5, 9]).keys() == {5, 9}
    assert linked.project.curation.current([5])[5].note == "decided with “Lidocaine” of 1"


def test_what_was_not_shown_is_never_decided(linked: World) -> None:
    with pytest.raises(ValueError, match="only what is shown"):
        linked.project.propagation.decide(others(linked), [5, 2])
    assert linked.project.curation.current([2, 5]) == {}


def test_a_decision_taken_meanwhile_stands(linked: World) -> None:
    found = others(linked)
    linked.project.curation.decide(9, Verdict.nil())
    with pytest.raises(UserError, match="1 of these mentions was decided in the meantime"):
        linked.project.propagation.decide(found, found.ticked)
    assert linked.project.curation.current([5]) == {}
    assert [group.kind for group in others(linked).groups] == [GroupKind.ALIKE, GroupKind.DECIDED_OTHERWISE]


def test_deleted_and_unknown_mentions(linked: World) -> None:
    linked.project.curation.delete_mention(5)
    assert ids(others(linked)) == [9]
    with pytest.raises(UserError, match="no mention 77"):
        others(linked, of=77)


def test_without_any_index_there_are_no_suggestions_and_nothing_far_away_is_ticked(filled: World) -> None:
    found = others(filled)
    assert ids(found) == [5]
    assert found.ticked == ()
    change = filled.project.propagation.decide(found, [5])
    assert change.mention_ids == (5,)


def test_a_value_of_an_attribute_is_set_for_this_and_the_ticked_ones_as_one_step(linked: World) -> None:
    project = linked.project
    scheme = Scheme().with_attribute("negation", ("affirmed", "negated"))
    project.attributes.save(scheme)
    one, negated = scheme.get(1), scheme.get(1).values[1]
    project.attributes.set([9], 1, 1)
    project.curation.decide_many([1], LIDOCAINE)

    def listed(of: int = 1) -> ValueOthers:
        scope = PropagationScope.PROJECT
        return project.propagation.others_for_value(of, one, negated, scope=scope)

    found = listed()
    assert [(group.title, [line.context.mention_id for line in group.lines]) for group in found.groups] == [
        ("same entity", [5]),
        ("set to affirmed", [9]),
    ]
    assert found.ticked == (5,)
    with pytest.raises(ValueError, match="only what is shown"):
        project.propagation.set_value(found, [2], project.attributes)
    project.attributes.set([9], 1, None)
    with pytest.raises(UserError, match="of 1 of these mentions was changed"):
        project.propagation.set_value(found, [5, 9], project.attributes)
    project.curation.decide_many([5], Verdict.nil())  # it means something else now
    again = listed()
    assert {group.title: [line.ticked for line in group.lines] for group in again.groups} == {
        "same entity": [True],
        "another entity: NIL": [False],
    }
    change = project.propagation.set_value(again, again.ticked, project.attributes)
    assert change.mention_ids == (1, 9)
    assert [mention for mention, some in project.attributes.of([1, 5, 9]).items() if some] == [1, 9]
    assert {line.context.mention_id: line.why for line in listed(1).lines}[9] == "already set to negated"
    project.curation.undo()
    assert project.attributes.of([1, 5, 9]) == {}


def test_a_value_that_a_colleague_sets_meanwhile_is_not_replaced(
    linked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, write = linked.project, linked.store.write
    scheme = Scheme().with_attribute("negation", ("affirmed", "negated"))
    project.attributes.save(scheme)
    one, negated = scheme.get(1), scheme.get(1).values[1]
    found = project.propagation.others_for_value(1, one, negated, scope=PropagationScope.PROJECT)

    def after_a_colleague() -> object:
        monkeypatch.setattr(linked.store, "write", write)
        project.attributes.set([9], 1, 1)
        return write()

    monkeypatch.setattr(linked.store, "write", after_a_colleague)
    with pytest.raises(UserError, match="of 1 of these mentions was changed"):
        project.propagation.set_value(found, [9], project.attributes)
    assert [value.name for _, value in project.attributes.of([9])[9]] == ["affirmed"]
