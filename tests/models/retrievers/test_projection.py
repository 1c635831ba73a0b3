"""The map of entity vectors: its file, and that index, new entities and repair all use it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.core.kb import order_entities
from models.encoders.encoders import Encoder
from models.encoders.inputs import InputSettings
from models.errors import ModelError
from models.retrievers.biencoder import (
    INDEX_FILE,
    Biencoder,
    BiencoderRetriever,
    BiencoderSettings,
    build_entity_index,
    index_source,
)
from models.retrievers.projection import FILE, fingerprint, load_projection, save_projection
from models.retrievers.scorers import Scorer
from models.types import DocumentInput, EntityRecord, MentionInput
from models.vectors.index import VectorIndex

KB = order_entities(
    [EntityRecord("D1", "Breast cancer"), EntityRecord("D2", "Heart failure"), EntityRecord("D3", "Pain")]
)
MENTIONS = [(DocumentInput("d", "Acute pain in the heart."), MentionInput("a", ((6, 10),)))]


def weight(dimension: int) -> np.ndarray:
    drawn = np.random.default_rng(3).normal(size=(dimension, dimension))
    return drawn.astype(np.float32)


@pytest.mark.parametrize("scorer", [Scorer.COSINE, Scorer.DOT])
def test_index_and_new_entities_are_mapped(encoder: Encoder, tmp_path: Path, scorer: Scorer) -> None:
    settings = BiencoderSettings(scorer, InputSettings(24, 16), projected=True)
    w = weight(encoder.dimension)
    towers = Biencoder(encoder, encoder, settings, w)
    list(build_entity_index(towers, KB, tmp_path, kb_hash="kb"))
    source = index_source("kb", encoder.fingerprint, w)
    retriever = BiencoderRetriever("own", towers, VectorIndex.load(tmp_path / INDEX_FILE, rows=3, source=source))
    plain = Biencoder(encoder, encoder, replace(settings, projected=False))
    *_, bare = replace(plain, settings=replace(settings, scorer=Scorer.DOT)).encode_entities(KB)
    mapped = np.stack([w @ vector for vector in np.asarray(bare)])
    mention = plain.encode_mentions(MENTIONS)[0]
    if scorer is Scorer.COSINE:
        mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
    np.testing.assert_allclose(retriever.ask(MENTIONS).score(0, np.arange(3)), mapped @ mention, rtol=1e-3, atol=1e-4)
    grown = retriever.changed([KB.entities[1]], np.asarray([1]))
    np.testing.assert_allclose(grown.index.vectors(np.asarray([3]))[0], mapped[1], rtol=1e-3, atol=1e-4)


def test_an_index_mapped_otherwise_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    towers = Biencoder(encoder, encoder, BiencoderSettings(projected=True), weight(encoder.dimension))
    list(build_entity_index(towers, KB, tmp_path, kb_hash="kb"))
    for other in (None, np.eye(encoder.dimension, dtype=np.float32)):
        with pytest.raises(ModelError, match="another"):
            VectorIndex.load(tmp_path / INDEX_FILE, rows=3, source=index_source("kb", encoder.fingerprint, other))


def test_the_file_is_read_back_and_damage_is_named(tmp_path: Path) -> None:
    w = weight(4)
    assert save_projection(w, tmp_path) == fingerprint(w)
    np.testing.assert_array_equal(load_projection(tmp_path, dimension=4), w)
    assert BiencoderSettings.from_json(BiencoderSettings(projected=True).to_json()).projected
    with pytest.raises(ModelError, match="not 5 by 5"):
        load_projection(tmp_path, dimension=5)
    (tmp_path / FILE).write_bytes(b"short")
    with pytest.raises(ModelError, match=r"missing or damaged .* train the retriever again"):
        load_projection(tmp_path, dimension=4)
    (tmp_path / FILE).unlink()
    with pytest.raises(ModelError, match="missing or damaged"):
        load_projection(tmp_path, dimension=4)
