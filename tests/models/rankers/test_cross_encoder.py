"""The cross-encoder against a plain loop, its files, and its place in a bundle."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from models.core.kb import KnowledgeBase
from models.encoders.encoders import Encoder, load_encoder, save_encoder
from models.encoders.inputs import EntityStyle, InputSettings, entity_tokens, markers, mention_tokens, pair_tokens
from models.errors import ModelError
from models.linker.bundle import Bundle, EncoderRef, RankerSpec, new_id, new_staging, publish, reuse, seal
from models.linker.linker import Linker
from models.linker.reranking import RANKER
from models.rankers.cross_encoder import (
    HEAD_FILE,
    CrossEncoder,
    CrossEncoderModule,
    check_length,
    load_cross_encoder,
    new_head,
    save_head,
    score_pairs,
)
from models.rankers.ranker import RULE, RankerSettings, RerankRule
from models.retrievers.fusion import FusionWeights
from models.types import DocumentInput, EntityRecord, MentionInput

TEXT = "The heart failure of the drug and chronic pain in a breast cancer with acute pain"
INPUTS = InputSettings(28, 24, EntityStyle.TITLE_TYPES)
SETTINGS = RankerSettings(INPUTS)
KB = KnowledgeBase(
    (
        EntityRecord("A", "heart failure", ("cardiac failure",), ("Disease",), "the heart fails"),
        EntityRecord("B", "pain", (), ("Disease",)),
        EntityRecord("C", "breast cancer of the breast", ("cancer of breast",), (), "a cancer"),
        EntityRecord("D", "drug", (), ("Chemical",), "acid " * 30),
    )
)


def mention(quote: str) -> MentionInput:
    start = TEXT.index(quote)
    return MentionInput(quote, ((start, start + len(quote)),))


DOCUMENT = DocumentInput("d", TEXT, tuple(mention(q) for q in ("heart failure", "drug", "pain", "breast cancer")))
CANDIDATES = [np.array(rows, dtype=np.int64) for rows in ([0, 1, 2, 3], [3], [2, 0], [])]


@pytest.fixture(scope="module")
def ranker(encoder: Encoder) -> CrossEncoder:
    module = CrossEncoderModule(encoder.module, new_head(encoder, seed=3)).eval()
    return CrossEncoder("cross", module, encoder, SETTINGS, KB)


def test_scores_equal_a_plain_loop_without_batches_and_padding(ranker: CrossEncoder) -> None:
    found = ranker.score([(DOCUMENT, one) for one in DOCUMENT.mentions], CANDIDATES)
    assert [len(scores) for scores in found] == [4, 1, 2, 0]
    tokenizer, weight = ranker.encoder.tokenizer, ranker.module.head.weight[0].detach()
    for one, rows, scores in zip(DOCUMENT.mentions, CANDIDATES, found, strict=True):
        for row, score in zip(rows, scores, strict=True):
            left = mention_tokens(tokenizer, DOCUMENT, one, settings=INPUTS).ids
            right = entity_tokens(tokenizer, KB.entities[row], settings=INPUTS)
            with torch.inference_mode():
                output = ranker.encoder.module.transformer(input_ids=torch.tensor([left + right[1:]]))
            expected = output.last_hidden_state[0].mean(0) @ weight
            assert score == pytest.approx(float(expected), rel=1e-4, abs=1e-6)
    assert len({round(float(score), 5) for scores in found for score in scores}) == 7


def test_pads_and_neighbours_change_nothing(ranker: CrossEncoder) -> None:
    pairs = [tuple(range(6, 6 + length)) for length in (3, 40, 11, 25)]
    together = score_pairs(ranker.module, ranker.encoder, [*pairs, pairs[0]])
    alone = [float(score_pairs(ranker.module, ranker.encoder, [pair])[0]) for pair in pairs]
    np.testing.assert_allclose(together, [*alone, alone[0]], rtol=1e-4, atol=1e-6)
    ids, mask = ranker.encoder.pad(pairs)
    other = torch.where(mask.bool(), ids, torch.full_like(ids, 9))
    with torch.inference_mode():
        assert torch.allclose(ranker.module(ids, mask), ranker.module(other, mask), atol=1e-6)


def test_a_pair_is_both_inputs_with_one_cls(encoder: Encoder) -> None:
    marks = markers(encoder.tokenizer)
    left = mention_tokens(encoder.tokenizer, DOCUMENT, DOCUMENT.mentions[0], settings=INPUTS).ids
    right = entity_tokens(encoder.tokenizer, KB.entities[0], settings=INPUTS)
    pair = pair_tokens(left, right)
    assert pair[0] == marks.cls
    assert pair.count(marks.cls) == 1
    assert pair[-1] == marks.sep
    assert (pair.count(marks.start), pair.count(marks.end)) == (1, 1)
    assert len(pair) == len(left) + len(right) - 1 <= check_length(encoder, INPUTS) == 51


def test_pairs_longer_than_the_encoder_reads_are_refused(encoder: Encoder) -> None:
    with pytest.raises(ModelError, match="more than the 128"):
        check_length(encoder, InputSettings(100, 30))


def test_saved_and_loaded_it_scores_the_same(ranker: CrossEncoder, tmp_path: Path) -> None:
    save_head(ranker.module.head, tmp_path, encoder=ranker.encoder.fingerprint)
    again = load_cross_encoder("cross", ranker.encoder, tmp_path, settings=SETTINGS, kb=KB)
    asked = [(DOCUMENT, one) for one in DOCUMENT.mentions]
    for one, other in zip(ranker.score(asked, CANDIDATES), again.score(asked, CANDIDATES), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("damage", ["gone", "cut", "other", "shape", "nan", "name"])
def test_a_damaged_last_layer_is_refused(ranker: CrossEncoder, tmp_path: Path, damage: str) -> None:
    file, owner = tmp_path / HEAD_FILE, {"encoder": ranker.encoder.fingerprint}
    save_head(ranker.module.head, tmp_path, encoder=ranker.encoder.fingerprint if damage != "other" else "x")
    if damage == "gone":
        file.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-10])
    elif damage == "shape":
        save_file({"weight": torch.ones(1, 7)}, str(file), metadata=owner)
    elif damage == "nan":
        save_file({"weight": torch.full((1, 32), float("nan"))}, str(file), metadata=owner)
    elif damage == "name":
        save_file({"bias": torch.ones(1)}, str(file), metadata=owner)
    with pytest.raises(ModelError, match=r"last layer .*head\.safetensors"):
        load_cross_encoder("cross", ranker.encoder, tmp_path, settings=SETTINGS, kb=KB)


@pytest.fixture(scope="module")
def with_cross(bundle: Bundle, make_tiny_bert, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The untrained bundle with a (random) cross-encoder, as a training job would write it."""
    staging = new_staging(bundle.path.parent)
    for part in ("kb.jsonl", "retrievers", "encoders"):
        reuse(bundle, part, staging)
    source = load_encoder(make_tiny_bert(tmp_path_factory.mktemp("t") / "t", seed=9), device="cpu", max_tokens=51)
    fingerprint = save_encoder(source, staging / "encoders" / "cross")
    save_head(new_head(source, seed=1), staging / "rankers" / "cross", encoder=fingerprint)
    settings = {**SETTINGS.to_json(), RULE: RerankRule(2, margin=0.4, share=0.5).to_json()}
    ref = EncoderRef("bundle", fingerprint, "encoders/cross", 51)
    manifest = bundle.manifest.replace(
        id=new_id("cross"),
        ranker=RankerSpec("cross", "cross", "rankers/cross", (ref,), 2, settings),
        fusion=FusionWeights({"names": 1.0, "lexical": 1.0, RANKER: 2.0}).to_json(),
    )
    return publish(seal(staging, manifest, known=bundle).path)


def test_a_bundle_with_a_cross_encoder_links(with_cross: Bundle, bundle: Bundle) -> None:
    linker, plain = (Linker.load(one.path, device="cpu") for one in (with_cross, bundle))
    plain = plain.with_weights(fusion=FusionWeights({"names": 1.0, "lexical": 1.0}))
    text = "Naive breast cancer and calcium with heart failure"
    spans = [(6, 19), (24, 31), (37, 50)]
    document = DocumentInput("d", text, tuple(MentionInput(str(n), (span,)) for n, span in enumerate(spans)))
    (answer,), (bare,) = linker.link([document]), plain.link([document])
    asked = 0
    for own, other in zip(answer.mentions, bare.mentions, strict=True):
        scores = {c.entity_id: c.score for c in other.candidates}
        judged = any(c.scores[RANKER] for c in own.candidates)
        asked += judged
        assert judged == (other.candidates[0].score - other.candidates[1].score <= 0.4)
        assert {c.entity_id for c in own.candidates[:2]} == {c.entity_id for c in other.candidates[:2]} or not judged
        assert all(c.score == pytest.approx(scores[c.entity_id] + c.scores[RANKER], abs=1e-5) for c in own.candidates)
    assert linker.stages.tally.asked == asked
    said = "“cross” re-ranks the first 2 candidates if the first leads by at most 40 percentage points of probability."
    assert said in linker.describe()


def test_a_damaged_ranker_entry_is_refused(with_cross: Bundle, tmp_path: Path) -> None:
    spec = with_cross.manifest.ranker
    assert spec is not None
    for number, (broken, complaint) in enumerate(
        [
            (dataclasses.replace(spec, kind="oracle"), "unknown kind 'oracle'"),
            (dataclasses.replace(spec, encoders=()), "does not name an encoder"),
            (dataclasses.replace(spec, settings={"inputs": {"style": "poem"}}), "settings are damaged"),
            (dataclasses.replace(spec, settings={**spec.settings, RULE: {"margin": "x"}}), "ranker rule"),
        ]
    ):
        copy = tmp_path / f"bundle{number}"
        shutil.copytree(with_cross.path, copy)
        seal(copy, with_cross.manifest.replace(ranker=broken))
        with pytest.raises(ModelError, match=complaint):
            Linker.load(copy, device="cpu")
