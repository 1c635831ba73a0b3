from __future__ import annotations

import numpy as np
import pytest
import torch

from models.core.kb import KnowledgeBase, order_entities
from models.encoders.encoders import Encoder
from models.encoders.inputs import EntityStyle, InputSettings, entity_tokens, mention_tokens
from models.encoders.pooling import Pooling
from models.errors import ModelError
from models.retrievers.biencoder import (
    INDEX_FILE,
    Biencoder,
    BiencoderRetriever,
    BiencoderSettings,
    build_entity_index,
    index_source,
    means_of,
    pooling_by,
)
from models.retrievers.fusion import LEAD, SPREAD
from models.retrievers.scorers import Scorer, TokenStates, score
from models.types import DocumentInput, EntityRecord, MentionInput, Progress
from models.vectors.index import VectorIndex

INPUTS = InputSettings(24, 16)
KB = order_entities(
    [
        EntityRecord("D1", "Breast cancer", (), ("Disease",), "a disease of the breast"),
        EntityRecord("D2", "Heart failure", ("chf",), ("Disease",)),
        EntityRecord("D3", "Pain", (), ("Disease",), "acute or chronic"),
        EntityRecord("C1", "Acid", (), ("Chemical",), "a drug"),
    ]
)
TEXT = "Acute pain and heart failure in breast cancer, pain."
MENTIONS = [
    (DocumentInput("d", TEXT), MentionInput("a", ((6, 10),))),
    (DocumentInput("d", TEXT), MentionInput("b", ((15, 28),))),
    (DocumentInput("e", TEXT), MentionInput("a", ((6, 10),))),
]


def states(encoder: Encoder, ids: list[tuple[int, ...]]) -> TokenStates:
    tokens, mask = encoder.pad(ids)
    with torch.inference_mode():
        return TokenStates(encoder.module.token_states(tokens, mask), mask)


def expected_scores(encoder: Encoder, settings: BiencoderSettings, kb: KnowledgeBase = KB) -> np.ndarray:
    """By the functions that training uses, over padded token states."""
    mentions = [mention_tokens(encoder.tokenizer, d, m, settings=settings.inputs).ids for d, m in MENTIONS]
    entities = [entity_tokens(encoder.tokenizer, e, settings=settings.inputs) for e in kb.entities]
    found = score(states(encoder, mentions), states(encoder, entities), settings.scorer, pooling=encoder.pooling)
    return found.numpy()


def build(encoder: Encoder, settings: BiencoderSettings, folder) -> BiencoderRetriever:  # type: ignore[no-untyped-def]
    towers = Biencoder(encoder, encoder, settings)
    *_, last = build_entity_index(towers, KB, folder, kb_hash="kb")
    assert last == Progress("entities", 4, 4)
    index = VectorIndex.load(folder / INDEX_FILE, rows=4, source=index_source("kb", encoder.fingerprint))
    return BiencoderRetriever("own", towers, index)


@pytest.mark.parametrize("scorer", [Scorer.COSINE, Scorer.DOT, Scorer.DUAL, Scorer.MEAN])
@pytest.mark.parametrize("pooling", list(Pooling))
def test_retrieval_scores_as_training_does(encoder: Encoder, tmp_path, scorer: Scorer, pooling: Pooling) -> None:
    own = pooling_by(encoder, pooling)
    settings = BiencoderSettings(scorer, INPUTS)
    expected = expected_scores(own, settings)
    retriever = build(own, settings, tmp_path)
    asked = retriever.ask(MENTIONS)
    np.testing.assert_allclose(asked.score(1, np.asarray([3, 0, 2])), expected[1, [3, 0, 2]], rtol=1e-4, atol=1e-5)
    scores, rows = asked.search([1, 0], 5, ranges=KB.ranges(()))
    assert rows[:, :4].tolist() == np.argsort(-expected[[1, 0]], axis=1).tolist()
    assert rows[:, 4].tolist() == [-1, -1]
    np.testing.assert_allclose(scores[1, :4], -np.sort(-expected[0]), rtol=1e-4, atol=1e-5)
    assert retriever.scale == (LEAD if scorer is Scorer.COSINE else SPREAD)
    assert scorer.value in retriever.sentence()
    assert "exact" in retriever.sentence()


def test_types_restrict_and_equal_mentions_are_encoded_once(encoder: Encoder, tmp_path, monkeypatch) -> None:
    asked = build(encoder, BiencoderSettings(Scorer.DOT, INPUTS), tmp_path).ask(MENTIONS)
    _, rows = asked.search([0], 5, ranges=KB.ranges(("Disease",)))
    assert set(rows[0].tolist()) == {-1, *range(*KB.ranges(("Disease",))[0])}
    counted: list[int] = []
    pooled = Encoder._pooled

    def count(self, texts):
        counted.append(len(texts))
        return pooled(self, texts)

    monkeypatch.setattr(Encoder, "_pooled", count)
    vectors = Biencoder(encoder, encoder, BiencoderSettings(Scorer.DUAL, INPUTS)).encode_mentions(MENTIONS)
    assert sum(counted) == 2
    np.testing.assert_array_equal(vectors[0], vectors[2])


def test_pooling_by_shares_the_network(encoder: Encoder) -> None:
    assert pooling_by(encoder, None) is encoder
    assert pooling_by(encoder, encoder.pooling) is encoder
    other = pooling_by(encoder, Pooling.CLS)
    assert other.pooling is Pooling.CLS
    assert other.module.transformer is encoder.module.transformer
    assert encoder.pooling is Pooling.MEAN


@pytest.mark.parametrize("scorer", list(Scorer))
def test_settings_survive_json(scorer: Scorer) -> None:
    settings = BiencoderSettings(scorer, InputSettings(48, 96, EntityStyle.TITLE_DESCRIPTION), shortlist=77)
    assert BiencoderSettings.from_json(settings.to_json()) == settings
    assert BiencoderSettings.from_json({}) == BiencoderSettings()


@pytest.mark.parametrize(
    "raw",
    [{"scorer": "magic"}, {"inputs": {"words": 3}}, {"inputs": 3}, {"shortlist": 0}, {"shortlist": "many"}],
)
def test_damaged_settings_are_told(raw: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="settings are damaged"):
        BiencoderSettings.from_json(raw)


def test_new_entities_are_found_and_removed_ones_are_not(encoder: Encoder, tmp_path) -> None:
    new = EntityRecord("D4", "Chronic pain", (), ("Disease",))
    settings = BiencoderSettings(Scorer.COSINE, INPUTS)
    retriever = build(encoder, settings, tmp_path)
    grown = retriever.changed([new], np.asarray([1]))
    expected = expected_scores(encoder, settings, KnowledgeBase((*KB.entities, new)))
    asked = grown.ask(MENTIONS)
    np.testing.assert_allclose(asked.score(0, np.asarray([4])), expected[0, [4]], atol=1e-5)
    _, rows = asked.search([0], 5, ranges=((0, 5),))
    assert rows[0].tolist() == [row for row in np.argsort(-expected[0]).tolist() if row != 1] + [-1]
    assert len(grown.changed([], np.asarray([2])).index) == 5


@pytest.mark.parametrize("projected", [False, True])
def test_an_entity_may_be_the_mean_of_its_names(encoder: Encoder, tmp_path, projected: bool) -> None:
    inputs = InputSettings(24, 16, EntityStyle.MEAN_OF_NAMES)
    w = np.random.default_rng(0).normal(size=(encoder.dimension,) * 2).astype(np.float32) if projected else None
    towers = Biencoder(encoder, encoder, BiencoderSettings(Scorer.COSINE, inputs, projected=projected), w)
    *_, found = towers.encode_entities(KB)
    for row, entity in enumerate(KB.entities):
        mean = np.mean([encoder.encode([name], normalize=True)[0] for name in entity.names], axis=0)
        expected = mean if w is None else w @ mean
        np.testing.assert_allclose(found[row], expected / np.linalg.norm(expected), rtol=1e-3, atol=1e-4)
    with pytest.raises(ValueError, match="not written out"):
        entity_tokens(encoder.tokenizer, KB.entities[0], settings=inputs)


def test_means_of_groups() -> None:
    vectors = np.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=np.float32)
    assert means_of(vectors, [1, 2]).tolist() == [[1.0, 2.0], [4.0, 5.0]]
