"""Decisions that contradict each other: what is listed, what counts, and what marking and settling change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curator.domain.audit import Inconsistency, InconsistencyKind
from curator.domain.decisions import Outcome, Verdict
from curator.domain.wording import UserError
from tests.curator.services.fakes import KB, World, make_world

LIDOCAINE, ARREST, ARRHYTHMIA = (str(one["id"]) for one in KB)
TEXT = "{n}|t|Gout and gout\n{n}|a|Gouts, fever.\n{n}\t0\t4\tGout\tDisease\tX\n{n}\t9\t13\tgout\tDisease\tX\n"
TEXT += "{n}\t14\t19\tGouts\tDisease\tX\n{n}\t21\t26\tfever\tDisease\tX\n\n"
GOUT = [
    {"id": "X:1", "name": "Gout", "types": ["Disease"], "parents": ["X:2"]},
    {"id": "X:2", "name": "Arthritis", "types": ["Disease"], "parents": ["X:3"]},
    {"id": "X:3", "name": "Joint disease", "types": ["Disease"], "parents": ["X:1"]},  # a cycle
    {"id": "X:4", "name": "Fever", "types": ["Disease"], "parents": []},
    {"id": "X:5", "name": "Pyrexia", "types": ["Disease"], "parents": []},
]


@pytest.fixture
def world(tmp_path: Path) -> Any:
    """Three documents with “gout” three times and “fever” once, undecided."""
    made = make_world(tmp_path)
    made.kb(GOUT)
    text = "".join(TEXT.format(n=n) for n in (1, 2, 3))
    for _ in made.project.importing.documents([made.write(text)]):
        pass
    yield made
    made.project.close()


def decide(world: World, document: int, number: int, *entities: str) -> int:
    """Link, or without entities NIL."""
    mention = world.mentions(document)[number]
    world.project.curation.decide(mention, Verdict.link(*entities) if entities else Verdict.nil())
    return mention


def listed(world: World, **where: Any) -> list[Inconsistency]:
    return world.project.inconsistencies.find().chosen(**where)


def kinds(world: World) -> list[str]:
    return [one.kind.value for one in listed(world)]


def test_one_string_linked_two_ways_in_a_document_is_listed_there_alone(world: World) -> None:
    for number, entity in enumerate(("X:4", "X:1", "X:4")):
        decide(world, 1, number, entity)
    (one,) = listed(world)
    assert (one.kind, one.text, one.external_id) == (InconsistencyKind.DOCUMENT, "Gout", "1")
    assert [(way.way, len(way.places)) for way in one.ways] == [(("X:4",), 2), (("X:1",), 1)]
    assert one.places[0].way == ("X:1",)  # the rarest first
    assert world.project.inconsistencies.find().names == {"X:1": "Gout", "X:4": "Fever"}


def test_across_documents_it_is_listed_for_the_project(world: World) -> None:
    decide(world, 1, 0, "X:4")
    decide(world, 2, 0, "X:1")
    decide(world, 3, 2, "X:1")
    (one,) = listed(world)
    assert (one.kind, one.document_id, one.ways[0].way) == (InconsistencyKind.PROJECT, None, ("X:1",))


def test_nil_against_a_link_is_a_kind_of_its_own(world: World) -> None:
    decide(world, 1, 3, "X:4")
    decide(world, 2, 3)
    assert kinds(world) == ["nil"]
    decide(world, 3, 3, "X:5")
    assert kinds(world) == ["project"]
    assert len(listed(world, kind=InconsistencyKind.NIL)) == 1  # it is of both kinds


def test_a_broader_and_a_narrower_entity_are_told_apart_from_two_unrelated_ones(world: World) -> None:
    decide(world, 1, 0, "X:1")
    decide(world, 1, 1, "X:2")
    decide(world, 2, 0, "X:1")
    decide(world, 2, 1, "X:4")
    assert [(one.kind.value, one.external_id) for one in listed(world)] == [
        ("document", "2"),
        ("hierarchy", "1"),
        ("project", ""),
    ]


def test_only_current_links_and_nils_of_living_mentions_count(world: World) -> None:
    first = decide(world, 1, 0, "X:4")
    second = decide(world, 1, 1, "X:1")
    world.project.curation.decide(first, Verdict.reject())
    assert kinds(world) == []
    world.project.curation.undo()
    assert kinds(world) == ["document"]
    world.project.curation.delete_mention(second)
    assert kinds(world) == []


def test_composite_links_are_compared_as_sets(world: World) -> None:
    decide(world, 1, 0, "X:1", "X:4")
    decide(world, 1, 1, "X:4", "X:1")
    assert kinds(world) == []


def test_what_the_knowledge_base_lost_is_listed_with_its_replacement(world: World) -> None:
    decide(world, 1, 3, "X:4")
    gone = decide(world, 2, 0, "X:3")
    new = [
        {**one, "alt_ids": ["X:4"]} if one["id"] == "X:5" else one for one in GOUT if one["id"] not in ("X:3", "X:4")
    ]
    world.kb(new)
    merged, lost = sorted(listed(world), key=lambda one: one.text)
    assert (merged.text, merged.entity_id, [one.id for one in merged.replacements]) == ("Fever", "X:4", ["X:5"])
    assert (lost.text, lost.entity_id, lost.replacements) == ("Joint disease", "X:3", ())
    assert (merged.kind, lost.kind) == (InconsistencyKind.OBSOLETE, InconsistencyKind.OBSOLETE)
    change = world.project.inconsistencies.settle(merged, [merged.places[0].mention_id], Verdict.link("X:5"))
    assert change.text == "Changed 1 decision about “Fever” to X:5 Pyrexia"
    assert [one.places[0].mention_id for one in listed(world)] == [gone]


def test_in_a_composite_link_only_the_lost_entity_is_replaced(world: World) -> None:
    mention = decide(world, 1, 0, "X:3", "X:1")
    world.kb([one for one in GOUT if one["id"] != "X:3"])
    (lost,) = listed(world)
    world.project.inconsistencies.settle(lost, [mention], Verdict.nil())
    assert world.project.curation.current([mention])[mention].verdict == Verdict.link("X:1")


def test_a_mark_survives_is_undone_and_ends_with_another_decision(world: World) -> None:
    decide(world, 1, 0, "X:4")
    decide(world, 2, 0, "X:1")
    service = world.project.inconsistencies
    change = service.mark(listed(world)[0], intended=True)
    assert change.text == "Marked the decisions about “Gout” as intended"
    assert (kinds(world), len(listed(world, intended=True))) == ([], 1)
    world.project.curation.undo()
    assert kinds(world) == ["project"]
    world.project.curation.redo()
    assert kinds(world) == []
    decide(world, 3, 0, "X:2")
    assert kinds(world) == ["project"]
    world.project.curation.undo()
    service.mark(listed(world, intended=True)[0], intended=False)
    assert kinds(world) == ["project"]


def test_settling_is_one_step_with_notes_and_refuses_what_changed_meanwhile(world: World) -> None:
    decide(world, 1, 0, "X:4")
    second, third = decide(world, 1, 1, "X:1"), decide(world, 1, 2, "X:1")
    (one,) = listed(world)
    service = world.project.inconsistencies
    with pytest.raises(UserError, match="No mention was chosen"):
        service.settle(one, [], Verdict.link("X:4"))
    with pytest.raises(UserError, match="already have this decision"):
        service.settle(one, [second], Verdict.link("X:1"))
    service.settle(one, [second, third], Verdict.link("X:4"))
    found = world.project.curation.current([second, third])
    assert {made.note for made in found.values()} == {
        "Was X:1 Gout; changed to X:4 Fever in the list of inconsistencies"
    }
    assert kinds(world) == []
    with pytest.raises(UserError, match="2 of these mentions were decided"):
        service.settle(one, [second, third], Verdict.link("X:4"))
    world.project.curation.undo()
    assert kinds(world) == ["document"]


def test_filters_go_by_curator_and_words(world: World) -> None:
    decide(world, 1, 0, "X:4")
    decide(world, 1, 1, "X:1")
    assert len(listed(world, curator="ada", words="fever")) == 1
    assert listed(world, curator="bob") == listed(world, words="gout nowhere") == []


def test_while_deciding_the_document_is_said_before_the_project(world: World) -> None:
    here, other = decide(world, 1, 0, "X:4"), world.mentions(1)[1]
    decide(world, 2, 0, "X:1")
    decide(world, 3, 0, "X:1")
    say = world.project.inconsistencies.contradiction
    found = say(other, Verdict.link("X:1"))
    assert found is not None
    assert (found.here, found.verdict, found.names, found.number) == (True, Verdict.link("X:4"), ("Fever",), 1)
    found = say(here, Verdict.link("X:4"))  # what this mention itself is linked to does not count
    assert found is not None
    assert (found.here, found.names, found.number, found.of) == (False, ("Gout",), 2, 2)
    lone = world.mentions(1)[3]
    assert say(lone, Verdict.link("X:4")) is None
    found = say(other, Verdict.nil())
    assert found is not None
    assert found.here
    decide(world, 1, 1, "X:1")
    for one in listed(world):
        world.project.inconsistencies.mark(one, intended=True)
    assert say(other, Verdict.link("X:1")) is None


def test_the_project_says_nothing_where_its_majority_agrees(world: World) -> None:
    decide(world, 1, 0, "X:1")
    decide(world, 2, 0, "X:1")
    decide(world, 3, 0, "X:4")
    assert world.project.inconsistencies.contradiction(world.mentions(2)[1], Verdict.link("X:1")) is None
    assert Outcome.NIL not in {way.verdict.outcome for one in listed(world) for way in one.ways}


@pytest.mark.parametrize(("children", "ring"), [(3_000, 300), pytest.param(200_000, 20_000, marks=pytest.mark.soak)])
def test_many_children_and_a_ring_of_parents_neither_hang_nor_recurse(world: World, children: int, ring: int) -> None:
    many = [{"id": f"Y:{n}", "name": f"Child {n}", "types": ["Disease"], "parents": ["X:4"]} for n in range(children)]
    circle = [{"id": f"Z:{n}", "name": f"Ring {n}", "parents": [f"Z:{(n + 1) % ring}"]} for n in range(ring)]
    world.kb([*GOUT, *many, *circle])
    decide(world, 1, 0, "X:4")
    decide(world, 1, 1, f"Y:{children - 1}")
    decide(world, 2, 0, "Z:0")
    decide(world, 2, 1, f"Z:{ring // 2}")
    assert [one.external_id for one in listed(world, kind=InconsistencyKind.HIERARCHY)] == ["1", "2"]
    found = world.project.inconsistencies.contradiction(world.mentions(1)[2], Verdict.link("X:4"))
    assert found is not None
