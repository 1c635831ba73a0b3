from dataclasses import replace

import numpy as np
import pytest

from models.core.kb import KnowledgeBase, order_entities
from models.encoders.inputs import MentionTokens
from models.errors import ModelError
from models.types import EntityRecord
from training.data.examples import Example
from training.negatives.choice import make_reach, make_sampler
from training.negatives.kinship import Kinship, NameKinship, eligible
from training.negatives.mined import HardNegatives, MinedNegatives, MixedNegatives, hard_rows
from training.negatives.sampling import RandomNegatives, Sharing

ENTITIES = [
    EntityRecord("A", "a", alt_ids=("x", "y")),
    EntityRecord("B", "b", alt_ids=("x",)),
    EntityRecord("C", "c", alt_ids=("A",)),
    EntityRecord("D", "d"),
]


def test_kin_share_an_id_primary_or_alternate() -> None:
    kinship = Kinship(ENTITIES)
    assert kinship.of([0]) == {0, 1, 2}
    assert kinship.of([1]) == {0, 1}
    assert kinship.of([3]) == {3}
    assert kinship.of([]) == frozenset()


def test_gold_and_aliases_are_never_eligible() -> None:
    mask = eligible([[0], [3], [], [1, 3]], np.array([3, 2, 1, 0]), Kinship(ENTITIES))
    assert mask.tolist() == [
        [True, False, False, False],
        [False, True, True, True],
        [True, True, True, True],
        [False, True, False, False],
    ]


def test_a_small_knowledge_base_gives_what_it_has() -> None:
    assert sorted(RandomNegatives(size=9, entities=4).draw([0], np.random.default_rng(0)).rows.tolist()) == [0, 1, 2, 3]
    assert RandomNegatives(size=0, entities=4).draw([0], np.random.default_rng(0)).rows.tolist() == []


def test_hard_rows_are_shown_then_ranked_without_gold_and_kin() -> None:
    kinship = Kinship(ENTITIES)
    assert hard_rows([0, 1, 2, 3], [1], kinship, limit=5, shown=[3, 0]) == [3, 2]
    assert hard_rows([0, 1, 2, 3], [], kinship, limit=2) == [0, 1]


def test_parameters_out_of_range() -> None:
    with pytest.raises(ModelError, match="negatives"):
        RandomNegatives(size=-1, entities=4)
    with pytest.raises(ModelError, match="share"):
        MixedNegatives(size=2, entities=4, mined={}, share=1.5)


def test_a_recipes_words_make_a_sampler() -> None:
    for kind, expected in (("random", RandomNegatives), ("hard", HardNegatives), ("mixed", MixedNegatives)):
        sampler = make_sampler(kind, size=3, entities=10, share=1.0)
        assert type(sampler) is expected
        assert not isinstance(sampler, MinedNegatives) or sampler.hard == 3
    with pytest.raises(ModelError, match="random, hard, mixed"):
        make_sampler("soft", size=3, entities=10)


def test_reach_follows_gold_types_and_kin() -> None:
    kb = order_entities(replace(entity, types=(kind,)) for entity, kind in zip(ENTITIES, "ssts", strict=True))
    made = [Example("a", MentionTokens((1,), 0, 0), gold, ("t",), 0) for gold in ((kb.rows["D"],), ())]
    near = make_reach(made, kb, Kinship(kb.entities), sharing="mention", scope="in")
    assert near.sharing is Sharing.MENTION
    assert near.domains is not None
    assert [[kb.entities[row].id for row in domain.at(np.arange(len(domain)))] for domain in near.domains] == [
        ["A", "B", "D"],
        ["C"],
    ]
    assert near.forbidden == [{kb.rows["D"]}, frozenset()]
    assert make_reach(made, kb, Kinship(kb.entities)).domains is None
    with pytest.raises(ValueError, match="nearby"):
        make_reach(made, kb, Kinship(kb.entities), scope="nearby")


def test_names_of_twins_and_of_ancestors_never_compete() -> None:
    entities = (
        EntityRecord("A", "Heart Diseases", synonyms=("cardiac disease",)),
        EntityRecord("B", "Heart failure", parents=("A",)),
        EntityRecord("C", "failure, heart"),  # the same words as B's
        EntityRecord("D", "Kidney failure", alt_ids=("E",)),
        EntityRecord("E", "renal failure"),
        EntityRecord("F", "Heart failure, acute", parents=("B",)),
    )
    kb = KnowledgeBase(entities)
    kin = {one.id: {entities[row].id for row in NameKinship(kb).of([kb.rows[one.id]])} for one in entities}
    assert kin == {
        "A": {"A", "B", "F"},
        "B": {"A", "B", "C", "F"},
        "C": {"B", "C"},
        "D": {"D", "E"},
        "E": {"D", "E"},
        "F": {"A", "B", "F"},
    }
    assert NameKinship(kb).of([]) == frozenset()
