"""The knowledge base and the mapping of types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from curator.domain.curies import kind_of
from curator.domain.decisions import Verdict
from curator.domain.entities import Entity, TypeMapping
from curator.domain.wording import UserError
from curator.services.knowledge.knowledge import path_up
from tests.curator.services.fakes import World, document, finish


def test_types_are_mapped_by_name_and_by_known_synonyms(filled: World) -> None:
    expected = {"Chemical": ("Chemical",), "SpecificDisease": ("Disease",)}
    assert filled.project.knowledge.mapping().allowed == expected, "stored at import"
    assert filled.project.knowledge.propose_mapping().allowed == expected


@pytest.mark.parametrize("name", ["SpecificDisease", "Modifier", "DiseaseClass", "CompositeMention"])
def test_the_types_of_ncbi_disease_all_mean_disease(name: str) -> None:
    assert kind_of(name) == "disease"


def test_other_types_are_mapped_by_what_the_train_gold_says(world: World) -> None:
    world.kb()
    text = document(1).replace("SpecificDisease", "Finding")
    finish(world.project.importing.documents([world.write(text)], gold=True))
    assert world.project.knowledge.mapping().allowed["Finding"] == ("Disease",)


def test_test_documents_have_no_vote(world: World) -> None:
    from curator.domain.documents import Split

    world.kb()
    text = document(1).replace("SpecificDisease", "Finding")
    finish(world.project.importing.documents([world.write(text)], gold=True, split=Split.TEST))
    assert world.project.knowledge.mapping().allowed["Finding"] == ()


def test_what_the_curator_set_stays_at_the_next_import(filled: World) -> None:
    filled.project.knowledge.set_mapping(TypeMapping({"SpecificDisease": ("Disease", "Chemical")}))
    filled.documents(1, first=9, name="b.pubtator")
    assert filled.project.knowledge.mapping().allowed == {
        "SpecificDisease": ("Disease", "Chemical"),
        "Chemical": ("Chemical",),
    }


def test_a_type_that_the_knowledge_base_lacks_is_refused(filled: World) -> None:
    with pytest.raises(UserError, match="no type Gene"):
        filled.project.knowledge.set_mapping(TypeMapping({"Chemical": ("Gene",)}))
    assert filled.project.knowledge.mapping().allowed["Chemical"] == ("Chemical",)


def test_search_puts_entities_of_the_mention_s_types_first(filled: World) -> None:
    search = filled.project.knowledge.search
    assert [one.entity.id for one in search("ar")] == ["MESH:D001145", "MESH:D006323"]
    assert [one.entity.id for one in search("l", mention_type="Chemical")] == ["MESH:D008012"]
    assert [one.entity.id for one in search("arrest", mention_type="Chemical")] == ["MESH:D006323"]
    entity = filled.project.knowledge.entity("OMIM:115000")
    assert entity is not None
    assert entity.id == "MESH:D001145"


def test_the_last_linked_entities_are_told_newest_first(filled: World) -> None:
    assert filled.project.knowledge.recent() == [], "imported gold is not what somebody chose"
    first, second, third, _ = filled.mentions(1)
    for mention, entity in ((first, "MESH:D008012"), (second, "MESH:D006323"), (third, "MESH:D008012")):
        filled.project.curation.decide(mention, Verdict.link(entity), shown=None)
    assert [one.entity.id for one in filled.project.knowledge.recent()] == ["MESH:D008012", "MESH:D006323"]
    filled.project.curation.undo()
    filled.project.curation.undo()
    assert [one.entity.id for one in filled.project.knowledge.recent()] == ["MESH:D008012"], "undone ones are left out"


def _tree(
    *pairs: tuple[str, tuple[str, ...]],
) -> tuple[Callable[[Sequence[str]], dict[str, Entity]], dict[str, Entity]]:
    known = {one: Entity(one, one, parents=parents) for one, parents in pairs}
    return (lambda ids: {one: known[one] for one in ids if one in known}), known


def test_the_path_goes_up_the_shortest_way() -> None:
    look, known = _tree(
        ("top", ()), ("a", ("top",)), ("b", ("a",)), ("c", ("b", "a")), ("d", ("gone", "c")), ("alone", ())
    )
    assert [one.id for one in path_up(look, known["d"])] == ["top", "a", "c"]
    assert [one.id for one in path_up(look, known["b"])] == ["top", "a"]
    assert path_up(look, known["alone"]) == path_up(look, known["top"]) == ()


def test_a_circle_of_parents_ends() -> None:
    look, known = _tree(("a", ("b",)), ("b", ("c",)), ("c", ("a",)))
    assert [one.id for one in path_up(look, known["a"])] == ["c", "b"]
