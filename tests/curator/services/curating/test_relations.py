"""Relations: read from records, added, deleted, and what becomes of them with their mentions."""

from __future__ import annotations

import pytest

from curator.domain.decisions import ChangeKind, Verdict
from curator.domain.documents import Span
from curator.domain.relations import Relation, RelationKind
from curator.domain.wording import UserError
from tests.curator.services.fakes import World

BRAT = "T1\tDrug 0 9\tLidocaine\nT2\tEvent 10 16\tslowed\nT3\tSign 20 30\tarrhythmia\n"
RELATED = BRAT + "R1\tSlows Arg1:T1 Arg2:T3\t\nE1\tSlowing:T2 Theme:T3 Cause:T1\n"


def words(relations: list[Relation]) -> list[tuple[str, str]]:
    return [(one.type, one.name) for one in relations]


@pytest.fixture
def brat(filled: World) -> tuple[World, int, list[int]]:
    folder = filled.folder / "brat"
    folder.mkdir()
    (folder / "a.txt").write_text("Lidocaine slowed an arrhythmia.", encoding="utf-8")
    (folder / "a.ann").write_text(RELATED, encoding="utf-8")
    for _ in filled.project.importing.documents([folder]):
        pass
    document = filled.project.queue.open(3)
    return filled, 3, [one.mention.id for one in document.mentions]


def test_what_the_record_says_is_there_with_the_entities_of_the_knowledge_base(filled: World) -> None:
    (found,) = filled.project.relations.of_document(1)
    assert found.kind is RelationKind.ENTITIES
    assert (found.type, found.name) == ("CID", "CID D008012 D006323")
    assert found.entity_ids == ("MESH:D008012", "MESH:D006323")
    assert filled.project.relations.types() == {"CID": 2}


def test_a_relation_is_added_between_mentions_and_between_their_entities(filled: World) -> None:
    project, (first, arrest, *_) = filled.project, filled.mentions(1)
    change = project.relations.add(first, arrest, " causes  harm ")
    assert change.kind is ChangeKind.RELATIONS
    assert change.text == "Added the relation “Lidocaine” → “cardiac arrest” (causes harm)"
    arrhythmia = filled.mentions(1)[2]
    for mention, entity in ((first, "MESH:D008012"), (arrhythmia, "MESH:D001145")):
        project.curation.decide(mention, Verdict.link(entity))
    project.relations.add_between_entities(first, arrhythmia, "CID")
    _, one, other = project.relations.of_document(1)
    assert (one.type, one.mention_ids, one.kind) == ("causes harm", (first, arrest), RelationKind.MENTIONS)
    assert (other.entity_ids, other.author) == (("MESH:D008012", "MESH:D001145"), project.curation.curator)
    project.curation.undo()
    project.curation.undo()
    assert len(project.relations.of_document(1)) == 2
    assert project.relations.types() == {"CID": 2, "causes harm": 1}


def test_what_cannot_be_related_is_refused_with_a_reason(filled: World) -> None:
    project, (first, arrest, *_) = filled.project, filled.mentions(1)
    project.relations.add(first, arrest, "causes")
    for act, said in (
        (lambda: project.relations.add(first, first, "x"), "go to another one"),
        (lambda: project.relations.add(first, filled.mentions(2)[0], "x"), "the same document"),
        (lambda: project.relations.add(first, arrest, " "), "needs a type"),
        (lambda: project.relations.add(first, arrest, "causes"), "already there"),
        (lambda: project.relations.add(first, 999, "x"), "no mention 999"),
        (lambda: project.relations.delete(1, "+99"), "has no relation"),
    ):
        with pytest.raises(UserError, match=said):
            act()
    blorbitis = filled.mentions(1)[3]
    project.curation.decide(blorbitis, Verdict.nil())
    project.curation.decide(first, Verdict.link("MESH:D008012"))
    with pytest.raises(UserError, match="“blorbitis” is not linked"):
        project.relations.add_between_entities(first, blorbitis, "CID")
    assert len(project.relations.of_document(1)) == 2


def test_relations_of_the_record_and_own_ones_are_deleted_undone_and_redone(filled: World) -> None:
    project, (first, arrest, *_) = filled.project, filled.mentions(1)
    project.relations.add(first, arrest, "causes")
    source, own = project.relations.of_document(1)
    assert project.relations.delete(1, source.name).text == "Deleted the relation “Lidocaine” → “Heart Arrest” (CID)"
    project.relations.delete(1, own.name)
    assert project.relations.of_document(1) == []
    project.curation.undo()
    change = project.curation.undo()
    assert change is not None
    assert (change.kind, change.document_ids) == (ChangeKind.RELATIONS, (1,))
    assert words(project.relations.of_document(1)) == words([source, own])
    project.curation.redo()
    assert words(project.relations.of_document(1)) == words([own])
    project.curation.undo()
    project.relations.delete(1, source.name)  # the row of the first deletion serves again
    assert words(project.relations.of_document(1)) == words([own])
    out = filled.folder / "audit.jsonl"
    project.audit.export(out)
    assert "Undid: Deleted the relation “Lidocaine” → “Heart Arrest” (CID)" in out.read_text(encoding="utf-8")


def test_a_mention_takes_its_relations_along_and_brings_them_back(brat: tuple[World, int, list[int]]) -> None:
    world, document, (drug, sign) = brat
    project = world.project
    before = project.relations.of_document(document)
    assert words(before) == [("Slows", "R1"), ("Slowing", "E1")]
    assert [one.role for one in before[0].ends] == ["Arg1", "Arg2"]
    assert before[1].kind is RelationKind.EVENT
    project.relations.add(sign, drug, "treated by")
    change = project.curation.delete_mention(drug)
    assert change.text == "Deleted the mention “Lidocaine” and its 3 relations"
    assert words(project.relations.of_document(document)) == [("Slowing", "E1")]  # without its cause
    project.curation.undo()
    assert words(project.relations.of_document(document)) == [("Slows", "R1"), ("Slowing", "E1"), ("treated by", "+1")]
    with pytest.raises(UserError, match="E1 is an event"):
        project.relations.delete(document, "E1")


def test_a_moved_mention_keeps_its_relations_and_a_joined_one_gets_the_others(
    brat: tuple[World, int, list[int]],
) -> None:
    world, document, (drug, sign) = brat
    project = world.project
    project.curation.change_mention(drug, [Span(0, 16)])
    assert ("Slows", "R1") in words(project.relations.of_document(document))
    added = project.curation.add_mention(document, [Span(17, 19)], "Sign").mention_ids[0]
    change = project.curation.join_mentions(added, sign)
    assert change.text == "Joined “an” and “arrhythmia”, which ends 1 relation"
    (event, joined) = project.relations.of_document(document)
    assert (event.name, joined.mention_ids) == ("E1", (drug, added))
    assert [one.role for one in joined.ends] == ["Arg1", "Arg2"]
    project.curation.undo()
    assert words(project.relations.of_document(document)) == [("Slows", "R1"), ("Slowing", "E1")]
    project.curation.redo()
    assert words(project.relations.of_document(document)) == [("Slowing", "E1"), ("Slows", joined.name)]


def steps(world: World, mention_id: int) -> list[tuple[str, bool, str]]:
    return [(one.words, one.deleted, one.curator) for one in world.project.relations.history(mention_id)]


def test_the_history_of_a_mention_has_its_relations_with_undo_and_redo(filled: World) -> None:
    project, (first, arrest, arrhythmia, *_) = filled.project, filled.mentions(1)
    assert steps(filled, first) == []
    project.relations.add(first, arrest, "causes")
    own = project.relations.of_document(1)[-1]
    project.curation.decide(first, Verdict.link("MESH:D008012"))
    project.relations.delete(1, own.name)
    words, curator = "“Lidocaine” → “cardiac arrest” (causes)", project.curation.curator
    added, deleted = (words, False, curator), (words, True, curator)
    assert steps(filled, first) == steps(filled, arrest) == [added, deleted]
    assert steps(filled, arrhythmia) == []
    for step, seen in ((project.curation.undo, added), (project.curation.redo, deleted)):
        step()
        assert steps(filled, first)[-1] == seen
    times = [one.at for one in project.relations.history(first)]
    assert times == sorted(times)
    project.relations.delete(1, "CID D008012 D006323")
    assert steps(filled, first)[-1] == ("“Lidocaine” → “Heart Arrest” (CID)", True, curator), "of its entity"


def test_a_relation_that_another_mention_takes_over_is_in_its_history(filled: World) -> None:
    project, (first, arrest, arrhythmia, *_) = filled.project, filled.mentions(1)
    project.relations.add(first, arrest, "causes")
    project.curation.join_mentions(arrhythmia, arrest)
    assert [(deleted, words[-8:]) for words, deleted, _ in steps(filled, arrhythmia)] == [(False, "(causes)")]
    assert [deleted for _, deleted, _ in steps(filled, first)] == [False, True, False]


def test_a_relation_that_ends_with_its_other_mention_is_in_the_history_of_the_one_that_stays(filled: World) -> None:
    project, (first, arrest, *_) = filled.project, filled.mentions(1)
    project.relations.add(first, arrest, "causes")
    project.curation.delete_mention(arrest)
    found = project.relations.history(first)
    assert [(one.deleted, one.with_mention) for one in found] == [(False, False), (True, True)]
    assert found[-1].words == "“Lidocaine” → “cardiac arrest” (causes)"
    project.curation.undo()
    assert [(one.deleted, one.with_mention) for one in project.relations.history(first)][-1] == (False, True)
    project.curation.redo()
    assert [one.deleted for one in project.relations.history(first)] == [False, True, False, True]


def test_a_relation_of_a_file_that_ends_with_a_mention_is_in_the_history_too(
    brat: tuple[World, int, list[int]],
) -> None:
    world, _, (drug, *others) = brat
    world.project.curation.delete_mention(drug)
    ended = [world.project.relations.history(one) for one in others]
    assert {(one.deleted, one.with_mention) for some in ended for one in some} == {(True, True)}


def test_relations_are_read_with_their_names(brat: tuple[World, int, list[int]]) -> None:
    world, document, (drug, *_) = brat
    project = world.project
    last = project.relations.with_names(document)
    assert [[one.words(end) for end in each.ends] for one in last for each in one.relations] == [
        ["Lidocaine", "arrhythmia"],
        ["slowed", "arrhythmia", "Lidocaine"],
    ]
    assert [one.relations for one in last] == [tuple(project.relations.of_document(document))]
    project.curation.delete_mention(drug)
    assert [list(one.relations) for one in project.relations.with_names(document)] == [
        project.relations.of_document(document)
    ]
