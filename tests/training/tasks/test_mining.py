"""Mined rows against a plain search over all pairs, within types and domains."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from models.core.kb import order_entities
from models.encoders.encoders import Encoder, load_encoder
from models.encoders.inputs import EntityStyle, InputSettings, MentionTokens
from models.errors import ModelError
from models.retrievers.scorers import TokenStates, sum_of_max
from models.types import EntityRecord
from training.data.examples import EntityTexts, Example
from training.loop.towers import Towers, identity_projection
from training.losses.base import Similarity
from training.negatives.choice import make_reach
from training.negatives.kinship import Kinship
from training.negatives.mined import HardNegatives, MinedNegatives, MixedNegatives
from training.negatives.sampling import Reach
from training.tasks import mining, mining_search
from training.tasks.mining import Miner, pool_size
from training.tasks.vectors import mention_vectors, pool_vectors

SETTINGS = InputSettings(mention_tokens=20, entity_tokens=28, style=EntityStyle.TYPES_SYNONYMS)
WORDS = ("heart", "breast", "acute", "acid", "pain", "drug", "disease", "cancer", "failure", "chronic")


def _entity(number: int) -> EntityRecord:
    name = f"{WORDS[number % 10]} {WORDS[(3 * number + 1) % 10]} {WORDS[number // 10]}"
    types = ("Ash", "Birch") if number % 7 == 0 else ("Ash" if number % 2 else "Birch",)
    return EntityRecord(f"E{number:02}", name, types=types, alt_ids=("same",) if number in (4, 8) else ())


KB = order_entities(_entity(number) for number in range(30))
KINSHIP = Kinship(KB.entities)


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> Encoder:
    return load_encoder(tiny_encoder, device="cpu")


@pytest.fixture
def towers(encoder: Encoder) -> Towers:
    texts = EntityTexts(KB, tokenizer=encoder.tokenizer, settings=SETTINGS)
    return Towers(encoder.module, encoder.module, texts, int(encoder.tokenizer.pad_token_id), torch.device("cpu"))


@pytest.fixture(scope="module")
def examples(encoder: Encoder) -> list[Example]:
    """Mentions of several types and lengths, one NIL, one composite, one that saw candidates."""
    texts = ["acute pain", "heart failure of the heart", "drug", "chronic acid disease in pain", "cancer", "pain drug"]
    types: list[tuple[str, ...]] = [("Ash",), (), ("Birch",), (), ("Ash",), ("Ash", "Birch")]
    gold = [(3,), (KB.rows["E04"],), (KB.rows["E12"],), (5, 20), (), (7,)]
    made = []
    for number, text in enumerate(texts):
        ids = tuple(encoder.tokenizer(text)["input_ids"])
        made.append(Example(f"m{number}", MentionTokens(ids, 1, 2), gold[number], types[number], number))
    return [*made[:5], replace(made[5], shown=(29, 7, 11))]


RANKED = [[3, 1, 2], [0, 9, 4], [12, 20, 25, 26], [5, 20, 21], [2, 3], [7, 0]]


def miner(
    towers: Towers, examples: Sequence[Example], similarity: Similarity, *, reach: Reach | None = None, **options: Any
) -> Miner:
    sampler = MixedNegatives(size=40, entities=len(KB.entities), mined={}, reach=reach)
    return Miner(
        towers, examples, kb=KB, kinship=KINSHIP, ranked=RANKED, sampler=sampler, similarity=similarity, **options
    )


def mined(made: Miner, epoch: int) -> list[list[int]]:
    assert [event.text for event in made(epoch)] == ["Looking for entities that are easily confused"]
    return [list(made.sampler.mined[number]) for number in range(len(RANKED))]


def plainly(
    scores: np.ndarray, examples: Sequence[Example], pool: Sequence[int], *, limit: int, in_domain: bool = False
) -> list[list[int]]:
    """The best rows by a pass over all pairs, without gold rows, their kin and what types and domains forbid."""
    expected = []
    for line, example in zip(scores, examples, strict=True):
        near = {kind for row in example.gold for kind in KB.entities[row].types}
        rows = [
            row
            for row in sorted(pool, key=lambda row, line=line: (-line[row], row))  # type: ignore[misc]
            if row not in KINSHIP.of(example.gold)
            and (not example.types or set(example.types) & set(KB.entities[row].types))
            and (not in_domain or not near or near & set(KB.entities[row].types))
        ]
        shown = [row for row in example.shown if row not in KINSHIP.of(example.gold)]
        if in_domain:
            shown = [row for row in shown if near & set(KB.entities[row].types)]
        expected.append(list(dict.fromkeys([*shown, *rows]))[:limit])
    return expected


def som_scores(towers: Towers, examples: Sequence[Example]) -> np.ndarray:
    towers.mention.eval()
    with torch.no_grad():
        entities = towers.entity_states(np.arange(len(KB.entities)))
        return torch.cat([sum_of_max(towers.mention_states([one]), entities) for one in examples]).numpy()


def test_first_epoch_uses_the_linkers_candidates_and_what_was_shown(towers: Towers, examples: list[Example]) -> None:
    found = mined(miner(towers, examples, Similarity.COSINE), 0)
    allowed = [set(np.concatenate([np.arange(*span) for span in KB.ranges(example.types)])) for example in examples]
    kin = [KINSHIP.of(example.gold) for example in examples]
    expected = [
        [row for row in rows if row in may and row not in own]
        for rows, may, own in zip(RANKED, allowed, kin, strict=True)
    ]
    expected[5] = [29, 11, *expected[5]]
    assert found == expected


@pytest.mark.parametrize("in_domain", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("similarity", [Similarity.DOT, Similarity.COSINE])
def test_later_epochs_search_with_the_towers(
    towers: Towers, examples: list[Example], similarity: Similarity, frozen: bool, in_domain: bool
) -> None:
    entities = pool_vectors(towers, range(30))
    reach = make_reach(examples, KB, KINSHIP, scope="in") if in_domain else None
    made = miner(
        replace(towers, entity_vectors=entities) if frozen else towers, examples, similarity, reach=reach, pool=20
    )
    mentions = mention_vectors(towers, examples)
    if similarity is Similarity.COSINE:
        mentions, entities = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (mentions, entities))
    expected = plainly(
        mentions @ entities.T, examples, range(30) if frozen else made.pool, limit=16, in_domain=in_domain
    )
    assert mined(made, 1) == expected
    if in_domain and not frozen:
        assert all(len(rows) < 30 for rows in expected)


def test_a_gpu_encodes_all_entities_for_mining_a_processor_a_pool(
    towers: Towers, examples: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pool_size(torch.device("cpu")) == 2000
    assert pool_size(torch.device("cuda")) == 1_000_000
    monkeypatch.setattr(mining, "pool_size", lambda device: 29)
    assert len(miner(towers, examples, Similarity.DOT).pool) < 29
    monkeypatch.setattr(mining, "pool_size", lambda device: 30)
    made = miner(towers, examples, Similarity.DOT)
    assert made.pool == list(range(30))
    scores = mention_vectors(towers, examples) @ pool_vectors(towers, range(30)).T
    assert mined(made, 1) == plainly(scores, examples, range(30), limit=16)
    assert len(miner(towers, examples, Similarity.SOM).pool) < 29, "all token states are too many"


def test_a_frozen_towers_index_is_kept_and_a_projected_one_built_anew(
    towers: Towers, examples: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []
    build = mining_search.VectorIndex.build
    counted = SimpleNamespace(build=lambda vectors: built.append(len(vectors)) or build(vectors))
    monkeypatch.setattr(mining_search, "VectorIndex", counted)
    vectors = pool_vectors(towers, range(30))
    made = miner(replace(towers, entity_vectors=vectors), examples, Similarity.DOT)
    first = mined(made, 1)
    assert mined(made, 2) == first
    assert built == [30]
    projection = identity_projection(vectors.shape[1], device=torch.device("cpu"))
    mapped = replace(towers, entity_vectors=vectors, entity_projection=projection)
    turned = miner(mapped, examples, Similarity.DOT)
    assert mined(turned, 1) == first
    with torch.no_grad():
        projection.weight.neg_()
    expected = plainly(-mention_vectors(towers, examples) @ vectors.T, examples, range(30), limit=16)
    assert mined(turned, 2) == expected
    assert built == [30, 30, 30]


@pytest.mark.parametrize("frozen", [False, True])
def test_som_is_exact_over_its_shortlist(
    towers: Towers, examples: list[Example], frozen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = np.zeros((30, 4), dtype=np.float32) if frozen else None
    made = miner(replace(towers, entity_vectors=vectors), examples, Similarity.SOM, pool=20)
    expected = plainly(som_scores(towers, examples), examples, made.pool, limit=16)
    towers.mention.train()
    assert mined(made, 1) == expected
    assert towers.mention.training
    assert mined(made, 2) == expected
    monkeypatch.setattr(mining_search, "SHORTLIST", 1)
    made.limit = 1
    shortest = mined(made, 1)
    assert all(set(few) <= set(many) for few, many in zip(shortest, expected, strict=True))


def test_som_encodes_frozen_entities_once(
    towers: Towers, examples: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    states = Towers.entity_states
    monkeypatch.setattr(Towers, "entity_states", lambda self, rows: calls.append(len(rows)) or states(self, rows))
    for entities, expected in ((np.zeros((30, 4), dtype=np.float32), 1), (None, 2)):
        calls.clear()
        made = miner(replace(towers, entity_vectors=entities), examples, Similarity.SOM)
        for epoch in (1, 2):
            mined(made, epoch)
        assert len(calls) == expected


def test_means_leave_pads_out() -> None:
    states = torch.tensor([[[3.0, 4.0], [3.0, 4.0], [9.0, -50.0]], [[0.0, 2.0], [7.0, 7.0], [7.0, 7.0]]])
    found = mining_search.means(TokenStates(states, torch.tensor([[1, 1, 0], [1, 0, 0]])))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 1.0]], rtol=1e-6)


def test_a_set_for_each_mention_asks_for_as_many_as_it_draws(towers: Towers, examples: list[Example]) -> None:
    vectors = pool_vectors(towers, range(30))
    sampler: MinedNegatives = HardNegatives(
        size=22, entities=30, mined={}, reach=make_reach(examples, KB, KINSHIP, sharing="mention")
    )
    made = Miner(
        replace(towers, entity_vectors=vectors), examples, kb=KB, kinship=KINSHIP, ranked=RANKED, sampler=sampler,
        similarity=Similarity.DOT,
    )  # fmt: skip
    found = mined(made, 1)
    assert [len(rows) for rows in found][1] == 22
    drawn = sampler.draw(range(len(examples)), np.random.default_rng(0))
    assert drawn.own is not None
    assert drawn.own.sum(axis=1).tolist() == [len(rows) for rows in found]


def test_a_resumed_sampler_has_the_same_mined_rows(towers: Towers, examples: list[Example]) -> None:
    made = miner(towers, examples, Similarity.COSINE)
    mined(made, 1)
    kept = json.loads(json.dumps(made.sampler.state()))
    fresh = miner(towers, examples, Similarity.COSINE)
    fresh.sampler.load_state(kept)
    assert {key: list(rows) for key, rows in fresh.sampler.mined.items()} == made.sampler.mined


def test_nothing_to_search_in(towers: Towers, examples: list[Example]) -> None:
    nil = [replace(example, gold=()) for example in examples]
    for similarity in (Similarity.SOM, Similarity.DOT):
        sampler = MixedNegatives(size=4, entities=30, mined={})
        made = Miner(
            towers, nil, kb=KB, kinship=KINSHIP, ranked=[[]] * 6, sampler=sampler, similarity=similarity, pool=29
        )  # fmt: skip
        assert made.pool == []
        assert mined(made, 1)[:5] == [[]] * 5


def test_distances_are_not_mined_by(towers: Towers, examples: list[Example]) -> None:
    with pytest.raises(ModelError, match="not by distance"):
        miner(towers, examples, Similarity.EUCLIDEAN)
