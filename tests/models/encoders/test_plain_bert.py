"""A plain BERT read without transformers: the same token ids, offsets and states, and nothing else is taken for one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from models.encoders.default_encoder import default_encoder_folder
from models.encoders.encoder_folder import read_folder
from models.encoders.encoders import Encoder, load_encoder
from models.encoders.inputs import markers
from models.encoders.packed import PackedBert
from models.encoders.plain_bert import Bert, PlainTokenizer, plain_bert, plain_tokenizer

TEXTS = ["", "Acute heart failure", "[SEP] of the [MASK]", "é ÅÄ β-acid 中文", "\ud800 half", "pain\x00 \t (a/b)" * 40]


@pytest.fixture(scope="module")
def folder(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy that the tests may change for a moment."""
    return Path(shutil.copytree(tiny_bert, tmp_path_factory.mktemp("plain") / "tiny"))


@pytest.fixture(scope="module")
def plain(folder: Path) -> Encoder:
    return load_encoder(folder, device="cpu", max_tokens=64, trainable=False)


def test_it_is_the_encoder_that_transformers_reads(plain: Encoder, encoder: Encoder) -> None:
    assert isinstance(plain.module.transformer, Bert)
    assert isinstance(plain.tokenizer, PlainTokenizer)
    assert plain.token_ids(TEXTS) == encoder.token_ids(TEXTS)
    assert (plain.cache_key, plain.dimension, plain.max_tokens) == (
        encoder.cache_key,
        encoder.dimension,
        encoder.max_tokens,
    )
    texts = encoder.token_ids(TEXTS[1:])
    ids, mask = encoder.pad(texts)
    with torch.inference_mode():
        expected = encoder.module.token_states(ids, mask)[mask.bool()]
    torch.testing.assert_close(plain.states(texts), expected, atol=1e-5, rtol=0)
    assert isinstance(plain.packed(), PackedBert)
    np.testing.assert_allclose(plain.encode(TEXTS), encoder.encode(TEXTS), atol=1e-6)
    assert plain.module.layers[0] is plain.module.transformer.encoder.layer[0]  # type: ignore[union-attr, index]


def test_the_tokenizer_answers_as_that_of_transformers(plain: Encoder, encoder: Encoder) -> None:
    assert markers(plain.tokenizer) == markers(encoder.tokenizer)
    assert plain.tokenizer.convert_tokens_to_ids("no such token") == encoder.tokenizer.unk_token_id
    asked = {"add_special_tokens": False, "return_offsets_mapping": True}
    texts = [text.encode("utf-8", "replace").decode() for text in TEXTS]
    found, expected = (one.tokenizer(texts, **asked) for one in (plain, encoder))
    assert found.input_ids == expected.input_ids
    assert [list(map(tuple, one)) for one in found.offset_mapping] == [
        list(map(tuple, one)) for one in expected.offset_mapping
    ]


def test_the_weights_are_read_again_after_their_pages_were_given_back(plain: Encoder) -> None:
    before = plain.encode(TEXTS)
    network = plain.module.transformer
    assert isinstance(network, Bert)
    network.give_back()
    np.testing.assert_array_equal(plain.encode(TEXTS), before)
    assert float(network.embeddings.word_embeddings.weight.abs().sum()) > 0  # type: ignore[union-attr, operator, arg-type]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"position_embedding_type": "relative_key"}),
        ("config.json", {"hidden_size": 64}),
        ("config.json", {"intermediate_size": None}),
    ],
)
def test_another_network_is_left_to_transformers(folder: Path, name: str, change: dict[str, object]) -> None:
    with_change(folder / name, lambda raw: {**raw, **change}, lambda: plain_bert(read_folder(folder)))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("tokenizer_config.json", {"strip_accents": True}),
        ("tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer"}),
        ("tokenizer_config.json", {"cls_token": "[START]"}),
        ("tokenizer_config.json", {"additional_special_tokens": ["[X]"]}),
        ("tokenizer.json", {"pre_tokenizer": {"type": "Whitespace"}}),
        ("tokenizer.json", {"post_processor": None}),
        ("tokenizer.json", {"added_tokens": []}),
        ("tokenizer.json", {"model": {"type": "WordPiece"}}),
    ],
)
def test_another_tokenizer_is_left_to_transformers(folder: Path, name: str, change: dict[str, object]) -> None:
    with_change(folder / name, lambda raw: {**raw, **change}, lambda: plain_tokenizer(folder))


def with_change(path: Path, change: Callable[[dict], dict], read: Callable[[], object]) -> None:
    """The file as it is can be read; changed, it cannot."""
    before = path.read_text(encoding="utf-8")
    assert read() is not None
    try:
        path.write_text(json.dumps(change(json.loads(before))), encoding="utf-8")
        assert read() is None
    finally:
        path.write_text(before, encoding="utf-8")


def test_weights_in_another_format_or_damaged_are_left_to_transformers(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    weights = other / "model.safetensors"
    save_file({name: one.half() for name, one in load_file(weights).items()}, weights, metadata={"format": "pt"})
    assert plain_bert(read_folder(other)) is None
    loaded = load_encoder(other, device="cpu", trainable=False)
    assert not isinstance(loaded.module.transformer, Bert)
    weights.write_bytes((folder / "model.safetensors").read_bytes()[:-4])
    assert plain_bert(read_folder(other)) is None


def test_other_number_formats_are_left_to_transformers(folder: Path) -> None:
    loaded = load_encoder(folder, device="cpu", precision="bf16", trainable=False)
    assert not isinstance(loaded.module.transformer, Bert)


def test_the_default_encoder_is_plain_and_needs_no_transformers() -> None:
    code = (
        "import sys; from models.encoders.encoders import load_encoder;"
        f"e = load_encoder({str(default_encoder_folder())!r}, device='cpu', trainable=False); e.encode(['heart']);"
        "print(type(e.module.transformer).__name__, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Bert", "False"]
