"""The life of provisional entities: made, linked to, edited, merged, deleted, undone; and what learns of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.domain.decisions import NilReason, Outcome, Shown, ShownCandidate, Verdict
from curator.domain.documents import Split
from curator.domain.entities import EntityDraft
from curator.domain.wording import UserError
from curator.services.knowledge.remapping import RemapKind
from curator.services.training.snapshots import count_gold
from tests.curator.services.fakes import KB, World, document, finish, make_world

DRAFT = EntityDraft("Blorbitis", ("Disease",), "An inflamed blorb.", ("blorb disease",))


def blorbs(world: World) -> list[int]:
    """The mention “blorbitis” of each document."""
    return [world.mentions(one)[3] for one in (1, 2)]


def verdicts(world: World, mention_ids: list[int]) -> list[Verdict | None]:
    current = world.project.curation.current(mention_ids)
    return [current[one].verdict if one in current else None for one in mention_ids]


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """With a linker that serves, and two documents."""
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    made = make_world(tmp_path, start=True)
    made.kb()
    made.documents(2)
    made.index()
    yield made
    made.project.close()


def test_made_of_nil_mentions_in_one_step_and_taken_back(filled: World) -> None:
    project, ids = filled.project, blorbs(filled)
    project.curation.decide_many(ids, Verdict.nil(NilReason.TOO_SPECIFIC))
    made = project.provisional.make(DRAFT, ids)
    assert made.entity_id == "NEW:0001"
    assert verdicts(filled, ids) == [Verdict.link("NEW:0001")] * 2
    assert [(one.found.entity.name, one.mentions) for one in project.provisional.all()] == [("Blorbitis", 2)]
    assert "2 mentions" in made.change.text
    project.curation.undo()
    assert verdicts(filled, ids) == [Verdict.nil(NilReason.TOO_SPECIFIC)] * 2
    assert project.provisional.all() == []
    with pytest.raises(UserError, match="NEW:0001"):
        project.curation.decide(ids[0], Verdict.link("NEW:0001"))
    project.curation.undo()
    project.curation.redo()
    project.curation.redo()
    assert verdicts(filled, ids) == [Verdict.link("NEW:0001")] * 2


def test_an_id_that_was_undone_is_not_given_again(filled: World) -> None:
    filled.project.provisional.make(DRAFT)
    filled.project.curation.undo()
    assert filled.project.provisional.make(DRAFT).entity_id == "NEW:0002"


def test_it_is_decided_and_found_like_any_other(filled: World) -> None:
    project, (first, second) = filled.project, blorbs(filled)
    made = project.provisional.make(DRAFT, [first])
    change = project.curation.decide(second, Verdict.link(made.entity_id))
    assert change.text == "Linked “blorbitis” to Blorbitis"
    assert project.knowledge.search("blorb dis")[0].entity.id == "NEW:0001"
    entity = project.knowledge.entity("NEW:0001")
    assert entity is not None
    assert entity.definition == "An inflamed blorb."
    assert [one.mention_id for one in project.provisional.contexts("NEW:0001")] == [first, second]


def test_candidates_count_as_shown_only_where_they_were(filled: World) -> None:
    first, second = blorbs(filled)
    shown = Shown("b", (ShownCandidate("MESH:D006323", 0.4),))
    filled.project.provisional.make(DRAFT, [first, second], shown={first: shown})
    current = filled.project.curation.current([first, second])
    assert current[first].shown is not None
    assert current[first].shown.candidates == shown.candidates
    assert current[second].shown is not None
    assert not current[second].shown.candidates


def test_editing_keeps_the_links(filled: World) -> None:
    project, ids = filled.project, blorbs(filled)
    made = project.provisional.make(DRAFT, ids)
    project.provisional.edit(made.entity_id, EntityDraft("Blorbosis", ("Chemical",), "", ("Blorbitis",)))
    [one] = project.provisional.all()
    assert (one.found.entity.name, one.found.entity.types, one.mentions) == ("Blorbosis", ("Chemical",), 2)
    assert one.found.author == "ada"
    project.curation.undo()
    assert project.provisional.all()[0].found.entity.name == "Blorbitis"
    assert verdicts(filled, ids) == [Verdict.link("NEW:0001")] * 2


def test_deleting_makes_its_mentions_nil_and_leaves_a_link_to_others(filled: World) -> None:
    project, (first, second) = filled.project, blorbs(filled)
    made = project.provisional.make(DRAFT, [first])
    project.curation.decide(second, Verdict.link("MESH:D006323", made.entity_id))
    project.provisional.delete(made.entity_id)
    assert verdicts(filled, [first, second]) == [Verdict.nil(), Verdict.link("MESH:D006323")]
    assert project.knowledge.entity("NEW:0001") is None
    former = project.knowledge.former("NEW:0001")
    assert former is not None
    assert former.name == "Blorbitis"
    assert "deleted" in project.curation.history(first)[-1].note
    with pytest.raises(UserError, match="deleted or replaced"):
        project.provisional.edit("NEW:0001", DRAFT)
    project.curation.undo()
    assert verdicts(filled, [first, second]) == [Verdict.link("NEW:0001"), Verdict.link("MESH:D006323", "NEW:0001")]


def test_merging_moves_decisions_and_keeps_their_notes(filled: World) -> None:
    project, (first, second) = filled.project, blorbs(filled)
    one = project.provisional.make(DRAFT, [first])
    two = project.provisional.make(EntityDraft("Blorb fever"), [])
    project.curation.decide(second, Verdict.link(one.entity_id), note="adjudicated")
    project.provisional.merge(one.entity_id, two.entity_id)
    assert verdicts(filled, [first, second]) == [Verdict.link("NEW:0002")] * 2
    assert project.curation.history(second)[-1].note.startswith("adjudicated; NEW:0001 “Blorbitis” was merged into")
    assert [one.found.id for one in project.provisional.all()] == ["NEW:0002"]
    project.provisional.merge("NEW:0002", "MESH:D006323")
    assert verdicts(filled, [first]) == [Verdict.link("MESH:D006323")]
    project.curation.undo()
    project.curation.undo()
    assert verdicts(filled, [first]) == [Verdict.link("NEW:0001")]
    assert len(project.provisional.all()) == 2


def test_what_cannot_be_is_refused_and_changes_nothing(filled: World) -> None:
    project, ids = filled.project, blorbs(filled)
    with pytest.raises(UserError, match="name"):
        project.provisional.make(EntityDraft("  "), ids)
    with pytest.raises(UserError):
        project.provisional.make(DRAFT, [999])
    assert project.provisional.all() == []  # nothing half-done
    made = project.provisional.make(DRAFT, ids)
    for into in (made.entity_id, "MESH:none"):
        with pytest.raises(UserError):
            project.provisional.merge(made.entity_id, into)
    project.rounds.enter(project.rounds.create("blind", [1]).id)
    for act in (lambda: project.provisional.make(DRAFT), lambda: project.provisional.delete("NEW:0001")):
        with pytest.raises(UserError, match="blind"):
            act()


def test_entities_of_the_same_name_are_named(filled: World) -> None:
    project = filled.project
    project.provisional.make(DRAFT)
    same_named = project.provisional.same_named
    assert (
        [one.id for one in same_named("blorbitis")] == [one.id for one in same_named("Blorb  diseases")] == ["NEW:0001"]
    )
    assert [one.id for one in same_named("CARDIAC ARREST")] == ["MESH:D006323"]
    assert [one.id for one in same_named("Cardiac-arrest's")] == ["MESH:D006323"]
    assert [one.id for one in same_named("Blorb-Disease")] == ["NEW:0001"]
    assert same_named(" ") == same_named("cardiac") == []


def test_the_linker_is_taught_at_once_and_forgets_with_undo(started: World) -> None:
    project, linker = started.project, started.linker
    made = project.provisional.make(DRAFT, blorbs(started))
    assert linker.entities == {made.entity_id: project.knowledge.entity(made.entity_id)}
    project.provisional.edit(made.entity_id, EntityDraft("Blorbosis"))
    assert linker.entities[made.entity_id].name == "Blorbosis"
    assert started.remembered({n: {one: (made.entity_id,)} for n, one in enumerate(blorbs(started), start=1)})
    project.provisional.delete(made.entity_id)
    assert linker.entities == {}
    project.curation.undo()
    assert list(linker.entities) == [made.entity_id]


def test_another_bundle_is_taught_anew_and_so_is_a_later_session(started: World) -> None:
    project, linker = started.project, started.linker
    made = project.provisional.make(DRAFT)
    linker.entities = {}
    started.index()
    project.retraining.build_index(again=True, on_progress=lambda _: None, on_end=lambda _: None)
    assert list(linker.entities) == [made.entity_id]


def test_in_training_it_is_nil_and_never_a_candidate_that_was_passed_over(filled: World) -> None:
    project, (first, second) = filled.project, blorbs(filled)
    made = project.provisional.make(DRAFT, [first])
    project.curation.decide(second, Verdict.link("MESH:D006323", made.entity_id))
    arrest = filled.mentions(1)[1]
    shown = Shown("b", (ShownCandidate("NEW:0001", 0.4), ShownCandidate("MESH:D001145", 0.3)))
    project.curation.decide(arrest, Verdict.link("MESH:D006323"), shown=shown)
    counts = count_gold(filled.store, Split.TRAIN)
    assert (counts.nils, counts.links, counts.entities, counts.passed_over) == (1, 2, {"MESH:D006323"}, 1)
    current = project.curation.current([first])[first]
    assert current.verdict.outcome is Outcome.LINK  # what is stored and exported stays the link


def test_the_export_says_what_the_identifiers_are(filled: World, tmp_path: Path) -> None:
    filled.project.provisional.make(DRAFT, blorbs(filled))
    report = filled.project.exporting.export(tmp_path / "out.pubtator", "pubtator")
    assert "blorbitis\tSpecificDisease\tNEW:0001" in (tmp_path / "out.pubtator").read_text(encoding="utf-8")
    assert any("kb export" in one.text for one in report.problems)


def test_gold_with_its_identifiers_comes_back_as_links(filled: World) -> None:
    filled.project.provisional.make(DRAFT)
    text = document(7).replace("-1", "NEW:0001")
    finish(filled.project.importing.documents([filled.write(text, name="b.pubtator")], gold=True))
    assert filled.project.provisional.all()[0].mentions == 1


# --- with an identifier of a registry ---

FOREIGN = EntityDraft("Blorb syndrome", ("Disease",), id="omim:104300")


def test_an_identifier_that_is_not_here_is_taken_and_linked_to(filled: World) -> None:
    project, ids = filled.project, blorbs(filled)
    made = project.provisional.make(FOREIGN, ids)
    assert made.entity_id == "OMIM:104300"
    assert verdicts(filled, ids) == [Verdict.link("OMIM:104300")] * 2
    entity = project.knowledge.entity("OMIM:104300")
    assert entity is not None
    assert entity.name == "Blorb syndrome"
    assert project.knowledge.search("OMIM:104300")[0].entity == entity
    assert project.provisional.make(DRAFT).entity_id == "NEW:0001"
    [first, *_] = project.provisional.all()
    assert first.found.draft.id == "OMIM:104300"
    project.curation.undo()
    project.curation.undo()
    assert project.knowledge.entity("OMIM:104300") is None


def test_one_that_is_here_is_refused_with_its_name(filled: World) -> None:
    project = filled.project
    with pytest.raises(UserError, match="MESH:D006323 is already here: “Heart Arrest”"):
        project.provisional.make(EntityDraft("Cardiac arrest", id="MESH:D006323"))
    project.provisional.make(FOREIGN)
    with pytest.raises(UserError, match="OMIM:104300 is already here: “Blorb syndrome”"):
        project.provisional.make(FOREIGN)
    assert len(project.provisional.all()) == 1


def test_a_deleted_one_can_be_made_again_and_that_be_undone(filled: World) -> None:
    project, ids = filled.project, blorbs(filled)
    project.provisional.make(FOREIGN, ids)
    project.provisional.delete("OMIM:104300")
    again = EntityDraft("Another name", id="OMIM:104300")
    project.provisional.make(again)
    assert [one.found.entity.name for one in project.provisional.all()] == ["Another name"]
    project.curation.undo()
    assert project.provisional.all() == []
    former = project.knowledge.former("OMIM:104300")
    assert former is not None
    assert former.name == "Blorb syndrome"
    project.curation.undo()
    assert verdicts(filled, ids) == [Verdict.link("OMIM:104300")] * 2


def test_a_later_knowledge_base_that_has_it_takes_its_place(filled: World) -> None:
    project, ids = filled.project, blorbs(filled)
    project.provisional.make(FOREIGN, ids)
    later = {"id": "OMIM:104300", "name": "Alzheimer Disease", "types": ["Disease"]}
    filled.kb([*KB, later], name="later.jsonl")
    entity = project.knowledge.entity("OMIM:104300")
    assert entity is not None
    assert entity.name == "Alzheimer Disease"
    assert verdicts(filled, ids) == [Verdict.link("OMIM:104300")] * 2
    [line] = [one for one in project.remapping.plan().lines if one.key == "OMIM:104300"]
    assert line.kind is RemapKind.RESOLVED
    assert line.proposed is not None
    assert line.proposed.id == "OMIM:104300"
