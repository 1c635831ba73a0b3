"""Attributes of mentions: set, cleared, undone, and kept when the project's list of them changes."""

from __future__ import annotations

import csv

import pytest

from curator.domain.attributes import Scheme
from curator.domain.decisions import ChangeKind, Verdict
from curator.domain.wording import UserError
from tests.curator.services.fakes import World

SCHEME = (
    Scheme()
    .with_attribute("negation", ("affirmed", "negated"))
    .with_attribute("severity", ("mild", "severe"), ("SpecificDisease",))
)


def given(world: World, document: int = 1) -> list[dict[str, str]]:
    views = world.project.queue.open(document).mentions
    return [{name.name: value.name for name, value in view.attributes} for view in views]


def test_a_value_is_set_changed_cleared_and_undone(filled: World) -> None:
    project, (first, second, *_) = filled.project, filled.mentions(1)
    project.attributes.save(SCHEME)
    change = project.attributes.set([first], 1, 2)
    assert (change.kind, change.text) == (ChangeKind.ATTRIBUTES, "Set negation of “Lidocaine” to negated")
    assert (change.document_ids, change.mention_ids) == ((1,), (first,))
    project.attributes.set([second], 2, 4)
    assert given(filled) == [{"negation": "negated"}, {"severity": "severe"}, {}, {}]
    project.attributes.set([first], 1, 1)
    assert project.attributes.set([first], 1, None).text == "Cleared negation of “Lidocaine”"
    assert given(filled)[0] == {}
    project.curation.undo()
    assert given(filled)[0] == {"negation": "affirmed"}
    project.curation.undo()
    assert given(filled)[0] == {"negation": "negated"}
    undone = project.curation.redo()
    assert undone is not None
    assert (undone.kind, undone.mention_ids) == (ChangeKind.ATTRIBUTES, (first,))
    assert given(filled)[0] == {"negation": "affirmed"}
    assert [one.value_id for one in project.attributes.history(first)] == [2, 1, None, 1, 2, 1]


def test_several_mentions_are_one_step_and_decisions_stay(filled: World) -> None:
    project, ids = filled.project, filled.mentions(1)
    project.attributes.save(SCHEME)
    project.curation.decide(ids[0], Verdict.link("MESH:D008012"))
    assert project.attributes.set(ids[:3], 1, 2).text == "Set negation of 3 mentions to negated"
    assert [one.get("negation") for one in given(filled)] == ["negated", "negated", "negated", None]
    project.curation.undo()
    assert given(filled) == [{}, {}, {}, {}]
    assert list(project.curation.current(ids)) == [ids[0]]


def test_what_cannot_be_set_is_said_and_nothing_is_stored(filled: World) -> None:
    project, (first, second, *_) = filled.project, filled.mentions(1)
    project.attributes.save(SCHEME.hidden(1, True))
    for mention, attribute, value in ((first, 1, 2), (first, 2, 3), (second, 2, 9), (second, 9, 1), (999, 2, 3)):
        with pytest.raises(UserError):
            project.attributes.set([mention], attribute, value)
    project.attributes.set([second], 2, 3)
    with pytest.raises(UserError, match="already"):
        project.attributes.set([second], 2, 3)
    assert given(filled) == [{}, {"severity": "mild"}, {}, {}]


def test_the_list_is_changed_undone_and_keeps_what_mentions_have(filled: World) -> None:
    project, (first, *_) = filled.project, filled.mentions(1)
    assert project.attributes.notes(SCHEME) == []
    project.attributes.save(SCHEME)
    project.attributes.set([first], 1, 2)
    project.attributes.save(SCHEME.renamed(1, "polarity").value_renamed(2, "denied"))
    assert given(filled)[0] == {"polarity": "denied"}
    without = project.attributes.scheme().hidden(1, True)
    assert project.attributes.notes(without) == [
        "1 mention keeps its value of “polarity”, hidden; restoring what you deleted shows it again."
    ]
    change = project.attributes.save(without)
    assert change is not None
    assert change.text == "Deleted the attribute “polarity”"
    assert given(filled)[0] == {}
    assert project.attributes.uses() == {2: 1}
    project.curation.undo()
    assert given(filled)[0] == {"polarity": "denied"}
    project.curation.undo()
    assert given(filled)[0] == {"negation": "negated"}
    assert project.attributes.save(project.attributes.scheme()) is None
    with pytest.raises(UserError, match="in the meantime"):
        project.attributes.save(Scheme())


def test_curators_of_a_round_set_their_own_and_undo_in_order(filled: World) -> None:
    project, (first, second, *_) = filled.project, filled.mentions(1)
    project.attributes.save(SCHEME)
    project.attributes.set([first], 1, 1)
    found = project.rounds.create("pilot", [1])
    seats = {name: project.rounds.seat(found, name) for name in ("ann", "ben")}
    ann = seats["ann"].for_window
    assert ann.attributes is not None
    ann.curation.decide_many([first], Verdict.nil())
    ann.attributes.set([first], 1, 2)
    ann.attributes.set([second], 2, 3)

    def seen(name: str) -> list[dict[str, str]]:
        views = seats[name].queue.open(1).mentions
        return [{one.name: value.name for one, value in view.attributes} for view in views[:2]]

    assert seen("ann") == [{"negation": "negated"}, {"severity": "mild"}]
    assert seen("ben") == [{}, {}]
    assert given(filled)[0] == {"negation": "affirmed"}
    undone = ann.curation.undo()
    assert undone is not None
    assert (undone.kind, undone.mention_ids) == (ChangeKind.ATTRIBUTES, (second,))
    again = project.rounds.seat(found, "ann").for_window.curation  # after a restart
    again.undo()
    assert seen("ann") == [{}, {}]
    again.redo()
    again.undo()
    assert list(again.current([first])) == [first]
    again.undo()
    assert not again.current([first])
    again.redo()
    again.redo()
    assert seen("ann") == [{"negation": "negated"}, {}]
    assert list(again.current([first])) == [first]
    assert project.attributes.notes(SCHEME.renamed(1, "polarity")) == [
        "Open rounds use the new list at once: “pilot”. What their curators have set is kept."
    ]


def test_the_audit_trail_names_mention_and_value(filled: World) -> None:
    project, (first, *_) = filled.project, filled.mentions(1)
    project.attributes.save(SCHEME)
    project.attributes.set([first], 1, 2)
    project.curation.undo()
    seat = project.rounds.seat(project.rounds.create("pilot", [1]), "ann").for_window
    assert seat.attributes is not None
    seat.attributes.set([first], 1, 1)
    out = filled.folder / "audit.csv"
    project.audit.export(out)
    with out.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] in ("attribute", "operation")]
    assert [(row["kind"], row["step"], row["text"], row["mention_text"], row["round"]) for row in rows] == [
        ("operation", "define_attributes", "Added the attribute “negation”, “severity”", "", ""),
        ("attribute", "set_attribute", "negation = negated", "Lidocaine", ""),
        ("attribute", "undo", "negation =", "Lidocaine", ""),
        ("attribute", "judge", "negation = affirmed", "Lidocaine", "pilot"),
    ]
