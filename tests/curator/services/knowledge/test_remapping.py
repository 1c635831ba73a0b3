"""A new version of the knowledge base: what is listed, and what moves when it is asked to."""

from __future__ import annotations

from typing import Any

import pytest

from curator.domain.decisions import NilReason, Verdict
from curator.domain.entities import EntityDraft
from curator.domain.wording import UserError
from curator.services.knowledge.remapping import RemapKind, Remapping
from tests.curator.services.fakes import KB, World, finish

LIDOCAINE, ARREST, ARRHYTHMIA = (dict(one) for one in KB)


def without(*gone: dict[str, Any], plus: tuple[dict[str, Any], ...] = ()) -> list[dict[str, Any]]:
    return [one for one in (LIDOCAINE, ARREST, ARRHYTHMIA) if one not in gone] + list(plus)


def lines(world: World) -> list[Remapping]:
    return list(world.project.remapping.plan().lines)


def told(world: World) -> list[tuple[RemapKind, str, str | None, int]]:
    return [(one.kind, one.name, one.proposed and one.proposed.id, one.mentions) for one in lines(world)]


@pytest.fixture
def decided(filled: World) -> World:
    """Every mention of document 1 decided: three links and a NIL; of document 2 the NIL."""
    ids = ("MESH:D008012", "MESH:D006323", "MESH:D001145")
    for mention, entity in zip(filled.mentions(1), ids, strict=False):
        filled.project.curation.decide(mention, Verdict.link(entity))
    for document in (1, 2):
        filled.project.curation.decide(filled.mentions(document)[3], Verdict.nil())
    return filled


def verdict(world: World, document: int, number: int) -> Verdict:
    mention = world.mentions(document)[number]
    return world.project.curation.current([mention])[mention].verdict


def test_an_id_that_is_an_alternate_one_now_moves_to_its_entity(decided: World) -> None:
    both = decided.mentions(2)[1]
    decided.project.curation.decide(both, Verdict.link("MESH:D006323", "MESH:D001145"))
    decided.kb(without(plus=({"id": "X:1", "name": "Another"},)))
    assert lines(decided) == []  # nothing that was decided is concerned
    decided.kb(without(ARRHYTHMIA, plus=({"id": "X:2", "name": "Dysrhythmia", "alt_ids": ["MESH:D001145"]},)))
    assert told(decided) == [(RemapKind.MERGED, "Arrhythmia", "X:2", 2)]
    assert verdict(decided, 1, 2) == Verdict.link("MESH:D001145")  # nothing is changed unasked
    decided.project.remapping.apply(lines(decided))
    assert verdict(decided, 1, 2) == Verdict.link("X:2")
    assert verdict(decided, 2, 1) == Verdict.link("MESH:D006323", "X:2")  # the other one of the link stays
    note = decided.project.curation.history(decided.mentions(1)[2])[-1].note
    assert note == "Moved from MESH:D001145 “Arrhythmia” to X:2 “Dysrhythmia” with kb.jsonl"
    assert lines(decided) == []
    decided.project.curation.undo()
    assert told(decided) == [(RemapKind.MERGED, "Arrhythmia", "X:2", 2)]


def test_an_id_that_is_gone_is_proposed_the_entity_of_its_old_name_and_a_common_type(decided: World) -> None:
    same = {"id": "X:3", "name": "Dysrhythmia", "synonyms": ["ARRHYTHMIA"], "types": ["Disease"]}
    other = {"id": "X:4", "name": "Lidocaine", "types": ["Disease"]}
    decided.kb(without(ARRHYTHMIA, LIDOCAINE, plus=(same, other)))
    assert told(decided) == [
        (RemapKind.OBSOLETE, "Arrhythmia", "X:3", 1),
        (RemapKind.OBSOLETE, "Lidocaine", None, 1),
    ]
    decided.project.remapping.apply(lines(decided), to={"MESH:D008012": "MESH:D006323"})
    assert verdict(decided, 1, 0) == Verdict.link("MESH:D006323")


def test_where_several_would_do_none_is_proposed(decided: World) -> None:
    heirs = tuple({"id": f"X:{n}", "name": f"Arrhythmia {n}", "alt_ids": ["MESH:D001145"]} for n in (1, 2))
    decided.kb(without(ARRHYTHMIA, plus=heirs))
    [line] = lines(decided)
    assert (line.proposed, [one.id for one in line.others]) == (None, ["X:1", "X:2"])
    with pytest.raises(UserError, match="None of the ticked lines can be changed"):
        decided.project.remapping.apply([line])
    with pytest.raises(UserError, match="X:9"):
        decided.project.remapping.apply([line], to={line.key: "X:9"})
    decided.project.remapping.apply([line], to={line.key: "X:2"})
    assert verdict(decided, 1, 2) == Verdict.link("X:2")


def test_a_provisional_entity_that_is_there_now_is_resolved(decided: World) -> None:
    made = decided.project.provisional.make(EntityDraft("Blorb", ("Disease",), "", ("blorbitis",)), [])
    decided.project.curation.decide(decided.mentions(1)[3], Verdict.link(made.entity_id))
    decided.kb(without(plus=({"id": "X:5", "name": "Blorbitis", "types": ["Disease"]},)))
    assert told(decided) == [(RemapKind.RESOLVED, "Blorb", "X:5", 1), (RemapKind.NIL, "blorbitis", "X:5", 1)]
    decided.project.remapping.apply(lines(decided))
    assert [verdict(decided, n, 3) for n in (1, 2)] == [Verdict.link("X:5")] * 2
    assert decided.project.provisional.all() == []
    decided.project.curation.undo()
    assert decided.project.provisional.all()[0].mentions == 1
    assert verdict(decided, 2, 3) == Verdict.nil()


def test_a_provisional_entity_of_another_type_or_that_stayed_unknown_survives(decided: World) -> None:
    made = decided.project.provisional.make(EntityDraft("Blorb", ("Disease",)), [decided.mentions(1)[3]])
    decided.kb(without(plus=({"id": "X:5", "name": "Blorb", "types": ["Chemical"]},)))
    assert lines(decided) == []
    assert verdict(decided, 1, 3) == Verdict.link(made.entity_id)
    assert {one.entity.id for one in decided.project.knowledge.search("blorb")} == {"X:5", made.entity_id}


def test_an_updated_knowledge_base_takes_the_entity_over_under_its_id(decided: World) -> None:
    made = decided.project.provisional.make(EntityDraft("Blorb", ("Disease",)), [decided.mentions(1)[3]])
    decided.kb(without(plus=({"id": made.entity_id, "name": "Blorb", "types": ["Disease"]},)))
    decisions = len(decided.project.curation.history(decided.mentions(1)[3]))
    decided.project.remapping.apply(lines(decided))
    assert decided.project.provisional.all() == lines(decided) == []
    assert len(decided.project.curation.history(decided.mentions(1)[3])) == decisions  # the link was right already


def test_nils_are_listed_by_type_and_only_those_that_the_version_before_could_not_have(decided: World) -> None:
    project = decided.project
    project.curation.decide(decided.mentions(2)[1], Verdict.nil())  # “cardiac arrest”, knowing that it is there
    project.curation.decide(decided.mentions(2)[2], Verdict.nil(NilReason.TOO_GENERAL))
    plus = ({"id": "X:5", "name": "BLORBITIS", "types": ["Disease"]}, {"id": "X:6", "name": "arrhythmia 2"})
    decided.kb(without(plus=plus))
    assert told(decided) == [(RemapKind.NIL, "blorbitis", "X:5", 2)]
    decided.kb(without(plus=(*plus, {"id": "X:7", "name": "more"})), name="kb3.jsonl")
    assert told(decided) == [(RemapKind.NIL, "blorbitis", "X:5", 2)]  # still to be decided
    assert project.remapping.plan().before == "kb.jsonl"


def test_a_nil_that_is_decided_after_the_update_was_decided_knowing_it(decided: World) -> None:
    plus = ({"id": "X:5", "name": "Blorbitis", "types": ["Disease"]},)
    decided.kb(without(plus=plus))
    for document in (1, 2):
        decided.project.curation.decide(decided.mentions(document)[3], Verdict.nil())
    assert lines(decided) == []


def test_what_was_decided_otherwise_since_the_list_was_made_stays(decided: World) -> None:
    path = decided.write('{"id": "X:5", "name": "Blorbitis", "types": ["Disease"]}\n', name="kb9.jsonl")
    assert finish(decided.project.importing.knowledge_base(path)).counts["decisions to review"] == 5
    plan = lines(decided)
    decided.project.rounds.enter(decided.project.rounds.create("blind", [1]).id)
    with pytest.raises(UserError, match="blind"):
        decided.project.remapping.apply(plan)
    decided.project.rounds.leave()
    decided.project.curation.decide(decided.mentions(1)[3], Verdict.reject())
    decided.project.remapping.apply(plan)
    assert verdict(decided, 1, 3) == Verdict.reject()
    assert verdict(decided, 2, 3) == Verdict.link("X:5")
