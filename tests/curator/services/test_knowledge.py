"""The knowledge base and the mapping of types."""

from __future__ import annotations

import pytest

from curator.domain.entities import TypeMapping
from curator.domain.errors import UserError
from curator.services.knowledge import SYNONYMS, fold
from tests.curator.services.fakes import World, document, finish


def test_types_are_mapped_by_name_and_by_known_synonyms(filled: World) -> None:
    expected = {"Chemical": ("Chemical",), "SpecificDisease": ("Disease",)}
    assert filled.project.knowledge.mapping().allowed == expected, "stored at import"
    assert filled.project.knowledge.propose_mapping().allowed == expected


@pytest.mark.parametrize("name", ["SpecificDisease", "Modifier", "DiseaseClass", "CompositeMention"])
def test_the_types_of_ncbi_disease_all_mean_disease(name: str) -> None:
    assert SYNONYMS[fold(name)] == "disease"


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


def test_search_keeps_to_the_mention_type(filled: World) -> None:
    search = filled.project.knowledge.search
    assert [one.entity.id for one in search("arrest")] == ["MESH:D006323"]
    assert search("arrest", mention_type="Chemical") == []
    assert [one.entity.id for one in search("arrest", mention_type="SpecificDisease")] == ["MESH:D006323"]
    entity = filled.project.knowledge.entity("OMIM:115000")
    assert entity is not None
    assert entity.id == "MESH:D001145"
