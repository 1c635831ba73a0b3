import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from models.encoders.encoder_folder import BERT_FAMILY, POSITIONS_AFTER_PAD, find_folder, read_folder
from models.encoders.encoders import load_encoder
from models.encoders.pooling import Pooling
from models.errors import ModelError
from models.linker.build import build_untrained
from models.linker.bundle import new_staging, publish
from models.linker.linker import Linker
from models.types import DocumentInput, MentionInput

TEXTS = ["heart failure", "Acute Pain", "乳腺癌"]


@pytest.fixture
def copied(tiny_bert, tmp_path) -> Path:
    """A copy of the tiny encoder (sentence-transformers layout, mean pooling) to be changed."""
    return Path(shutil.copytree(tiny_bert, tmp_path / "copied"))


def change(file: Path, **entries: object) -> None:
    held = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps(held | entries))


def modules(folder: Path, *kinds_and_places: tuple[str, str]) -> None:
    listed = [
        {"idx": i, "name": str(i), "path": place, "type": kind} for i, (kind, place) in enumerate(kinds_and_places)
    ]
    (folder / "modules.json").write_text(json.dumps(listed))


OWN = "sentence_transformers.models."
TRANSFORMER = (f"{OWN}Transformer", "")
POOLING = (f"{OWN}Pooling", "1_Pooling")


def shard(folder: Path) -> None:
    """Weights in two files, as large networks have them."""
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    parts = {f"model-0000{i + 1}-of-00002.safetensors": names[i::2] for i in range(2)}
    for file, held in parts.items():
        save_file({name: tensors[name] for name in held}, folder / file, metadata={"format": "pt"})
    weight_map = {name: file for file, held in parts.items() for name in held}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    (folder / "model.safetensors").unlink()


def test_a_wrong_folder_says_all_that_is_missing(tmp_path, copied) -> None:
    with pytest.raises(ModelError, match="encoder folder"):
        read_folder(tmp_path / "none")
    (copied / "model.safetensors").unlink()
    with pytest.raises(ModelError, match=r"not an encoder folder\. Missing: model\.safetensors\."):
        read_folder(copied)
    for name in ("vocab.txt", "tokenizer.json", "config.json"):
        (copied / name).unlink()
    with pytest.raises(ModelError, match=r"Missing: config\.json, model\.safetensors, a tokenizer "):
        load_encoder(copied, device="cpu")


def test_pickled_weights_are_refused_with_the_way_to_convert_them(copied) -> None:
    (copied / "model.safetensors").rename(copied / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pickle file \(pytorch_model\.bin\).*save_pretrained"):
        load_encoder(copied, device="cpu")


def test_a_pointer_of_git_lfs_is_no_weights(copied) -> None:
    (copied / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\nsize 90868376\n")
    with pytest.raises(ModelError, match="git lfs pull"):
        load_encoder(copied, device="cpu")


def test_damaged_weights_and_foreign_networks_are_refused(copied) -> None:
    (copied / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_encoder(copied, device="cpu")
    change(copied / "config.json", model_type="gpt2")
    with pytest.raises(ModelError, match="'gpt2' network, which is not of the BERT family"):
        load_encoder(copied, device="cpu")
    (copied / "config.json").write_text("[]")
    with pytest.raises(ModelError, match="not of the BERT family"):
        load_encoder(copied, device="cpu")


def test_weights_that_lack_tensors_are_refused_rather_than_drawn_at_random(copied) -> None:
    tensors = load_file(copied / "model.safetensors")
    name = next(name for name in tensors if "query.weight" in name)
    del tensors[name]
    save_file(tensors, copied / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"do not match its config\.json: .*query\.weight is missing"):
        load_encoder(copied, device="cpu")


def test_a_broken_tokenizer_is_told(copied) -> None:
    (copied / "tokenizer.json").write_text("{}")
    (copied / "vocab.txt").unlink()
    with pytest.raises(ModelError, match=r"tokenizer in .* cannot be read"):
        load_encoder(copied, device="cpu")


def test_code_of_a_folder_is_never_run(copied) -> None:
    change(copied / "config.json", auto_map={"AutoModel": "own_code.Network"})
    with pytest.raises(ModelError, match=r"own_code\.Network"):
        load_encoder(copied, device="cpu")
    change(copied / "config.json", auto_map={})
    modules(copied, ("own_code.Transformer", ""), POOLING)
    with pytest.raises(ModelError, match=r"module own_code\.Transformer"):
        load_encoder(copied, device="cpu")


def test_sharded_weights_are_the_same_encoder(copied, tiny_bert, tmp_path) -> None:
    shard(copied)
    np.testing.assert_array_equal(
        load_encoder(copied, device="cpu").encode(TEXTS), load_encoder(tiny_bert, device="cpu").encode(TEXTS)
    )
    read_folder(copied).copy_to(tmp_path / "again")
    assert load_encoder(tmp_path / "again").fingerprint == load_encoder(copied).fingerprint
    next(copied.glob("model-00002-*")).unlink()
    with pytest.raises(ModelError, match=r"Missing: model-00002-of-00002\.safetensors\."):
        load_encoder(copied, device="cpu")
    (copied / "model.safetensors.index.json").write_text('{"weight_map": 3}')
    with pytest.raises(ModelError, match=r"list of weight files .* damaged"):
        load_encoder(copied, device="cpu")


def test_the_network_may_lie_in_a_folder_of_its_own(copied, tmp_path) -> None:
    nested = tmp_path / "nested"
    shutil.copytree(copied, nested / "0_Transformer", ignore=shutil.ignore_patterns("modules.json", "1_Pooling"))
    shutil.copytree(copied / "1_Pooling", nested / "1_Pooling")
    modules(nested, (f"{OWN}Transformer", "0_Transformer"), POOLING)
    change(nested / "0_Transformer" / "sentence_bert_config.json", max_seq_length=9)
    loaded = load_encoder(nested, device="cpu")
    assert (loaded.pooling, loaded.max_tokens) == (Pooling.MEAN, 9)
    read_folder(nested).copy_to(tmp_path / "again")
    again = load_encoder(tmp_path / "again", device="cpu")
    assert (again.fingerprint, again.max_tokens) == (loaded.fingerprint, 9)
    np.testing.assert_array_equal(again.encode(TEXTS), loaded.encode(TEXTS))


def test_modules_may_not_point_outside(copied) -> None:
    modules(copied, (f"{OWN}Transformer", "../elsewhere"), POOLING)
    with pytest.raises(ModelError, match="outside the folder"):
        read_folder(copied)


@pytest.mark.parametrize("kind", ["Dense", "LayerNorm", "CNN", "WordEmbeddings"])
def test_modules_that_would_be_left_out_are_refused_by_name(copied, kind) -> None:
    modules(copied, TRANSFORMER, POOLING, (f"{OWN}{kind}", f"2_{kind}"))
    with pytest.raises(ModelError, match=f"module {kind} .* not supported"):
        load_encoder(copied, device="cpu")


def test_normalising_and_dropout_change_no_cosine(copied, tiny_bert) -> None:
    modules(copied, TRANSFORMER, POOLING, (f"{OWN}Dropout", "2_Dropout"), (f"{OWN}Normalize", "3_Normalize"))
    np.testing.assert_array_equal(
        load_encoder(copied, device="cpu").encode(TEXTS), load_encoder(tiny_bert, device="cpu").encode(TEXTS)
    )


@pytest.mark.parametrize(
    ("modes", "words"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}, "cls and mean"),
        ({"pooling_mode_max_tokens": True}, "max"),
        ({"pooling_mode_lasttoken": True}, "lasttoken"),
        ({"pooling_mode": ["mean", "max"]}, "max and mean"),
        ({}, "none"),
    ],
)
def test_other_poolings_are_refused_by_name(copied, modes, words) -> None:
    (copied / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    with pytest.raises(ModelError, match=rf"other than mean or cls \({words}\)"):
        load_encoder(copied, device="cpu")


@pytest.mark.parametrize("modes", [{"pooling_mode": "cls"}, {"pooling_mode_cls_token": True}])
def test_both_ways_of_writing_a_pooling_are_read(copied, modes) -> None:
    (copied / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    assert read_folder(copied).pooling is Pooling.CLS


def test_a_plain_folder_pools_by_its_first_token_as_sapbert_is_used(make_tiny_bert, tmp_path) -> None:
    folder = make_tiny_bert(tmp_path / "plain", pooling="")
    assert read_folder(folder).pooling is Pooling.CLS
    assert load_encoder(folder, pooling=Pooling.MEAN).pooling is Pooling.MEAN


def test_a_prompt_before_every_text_is_refused(copied) -> None:
    change(copied / "config_sentence_transformers.json", default_prompt_name="query")
    with pytest.raises(ModelError, match="prompt 'query'"):
        load_encoder(copied, device="cpu")
    change(copied / "config_sentence_transformers.json", default_prompt_name=None)
    load_encoder(copied, device="cpu")


def test_texts_are_lower_cased_where_the_settings_say_so(copied) -> None:
    change(copied / "tokenizer.json", normalizer=None)
    change(copied / "tokenizer_config.json", do_lower_case=False)
    before = load_encoder(copied, device="cpu")
    change(copied / "sentence_bert_config.json", do_lower_case=True)
    after = load_encoder(copied, device="cpu")
    assert before.token_ids(["Heart"]) != before.token_ids(["heart"])
    assert after.token_ids(["Heart"]) == after.token_ids(["heart"]) == before.token_ids(["heart"])
    assert before.fingerprint != after.fingerprint


def test_lists_and_settings_that_are_no_json_are_told(copied) -> None:
    (copied / "modules.json").write_text('[{"path": ""}]')
    with pytest.raises(ModelError, match=r"list of modules .* damaged"):
        read_folder(copied)
    modules(copied, POOLING)
    with pytest.raises(ModelError, match="lists no transformer"):
        read_folder(copied)
    (copied / "modules.json").write_text("{")
    with pytest.raises(ModelError, match="list of modules cannot be read"):
        read_folder(copied)


def test_positions_behind_the_padding_token_are_not_used(copied) -> None:
    """RoBERTa's 514 positions hold 512 tokens; the 513th would be an index error."""
    change(copied / "config.json", model_type="roberta", max_position_embeddings=514, pad_token_id=1)
    assert read_folder(copied).positions == 512
    change(copied / "config.json", model_type="bert", max_position_embeddings=512)
    assert read_folder(copied).positions == 512
    assert "roberta" in BERT_FAMILY


@pytest.mark.parametrize(("limit", "expected"), [(20, 20), (10**30, 128), (None, 128), (512, 128)])
def test_the_limit_of_newer_folders_stands_with_the_tokenizer(copied, limit, expected) -> None:
    change(copied / "sentence_bert_config.json", transformer_task="feature-extraction")
    change(copied / "tokenizer_config.json", model_max_length=limit)
    assert load_encoder(copied, device="cpu").max_tokens == expected


def test_only_what_is_read_is_copied(copied, tmp_path) -> None:
    for name in ("pytorch_model.bin", "tf_model.h5", "README.md", "onnx.bin"):
        (copied / name).write_bytes(b"large")
    read_folder(copied).copy_to(tmp_path / "again")
    found = {path.name for path in (tmp_path / "again").rglob("*") if path.is_file()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "modules.json"} <= found
    assert not found & {"pytorch_model.bin", "tf_model.h5", "README.md", "onnx.bin"}
    assert load_encoder(tmp_path / "again").fingerprint == load_encoder(copied).fingerprint


def test_a_name_is_looked_up_in_the_local_cache_only(tiny_bert, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(ModelError, match=r"downloads nothing by itself.*hf download group/tiny-bert"):
        find_folder("group/tiny-bert")
    store = tmp_path / "hub" / "models--group--tiny-bert"
    (store / "refs").mkdir(parents=True)
    (store / "refs" / "main").write_text("0" * 40)
    shutil.copytree(tiny_bert, store / "snapshots" / ("0" * 40))
    by_name = load_encoder(Path("group/tiny-bert"), device="cpu")
    assert by_name.fingerprint == load_encoder(tiny_bert, device="cpu").fingerprint
    assert by_name.folder.is_relative_to(store)


@pytest.mark.parametrize("wrong", ["a/b/c", "../group/name", "group name", "nothing"])
def test_what_is_no_name_is_looked_up_nowhere(wrong) -> None:
    with pytest.raises(ModelError, match=f"encoder folder {re.escape(wrong)} was not found. Choose"):
        read_folder(wrong)


SMALL = {
    "vocab_size": 256,
    "hidden_size": 16,
    "embedding_size": 16,
    "dim": 16,
    "hidden_dim": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "n_layers": 1,
    "num_attention_heads": 2,
    "n_heads": 2,
}


@pytest.mark.parametrize("kind", sorted(BERT_FAMILY))
def test_every_kind_of_the_family_encodes_up_to_its_last_position(kind, tiny_bert, tmp_path) -> None:
    from transformers import AutoConfig, AutoModel

    after_pad = 2 if kind in POSITIONS_AFTER_PAD else 0
    config = AutoConfig.for_model(kind, **SMALL, pad_token_id=1 if after_pad else 0)
    config.max_position_embeddings = 12 + after_pad
    folder = tmp_path / kind
    AutoModel.from_config(config).save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny_bert / name, folder)
    encoder = load_encoder(folder, device="cpu")
    assert encoder.max_tokens == 12
    vectors = encoder.encode(["pain " * 30, "heart failure", ""])
    assert vectors.shape == (3, 16)
    assert np.isfinite(vectors).all()
    alone = encoder.encode(["heart failure"])
    np.testing.assert_allclose(alone[0], vectors[1], atol=1e-5)


def test_a_bundle_is_built_with_a_chosen_encoder_and_number_format(copied, tmp_path) -> None:
    shard(copied)
    kb = tmp_path / "kb.jsonl"
    names = {"D1": "Heart Failure", "D2": "Pain", "D3": "心脏病", "D4": "Рак"}
    kb.write_text("".join(json.dumps({"id": key, "name": name}) + "\n" for key, name in names.items()))
    staging = new_staging(tmp_path / "bundles")
    steps = build_untrained(kb, staging, encoder=copied, precision="bf16", cache=tmp_path / "cache", device="cpu")
    assert [step.done for step in steps if step.stage == "names"][-1] == 4
    linker = Linker.load(publish(staging).path, device="cpu")
    text = "heart failure, Рак"
    answer = next(
        linker.link([DocumentInput("1", text, (MentionInput("a", ((0, 13),)), MentionInput("b", ((15, 18),))))])
    )
    assert [mention.candidates[0].entity_id for mention in answer.mentions] == ["D1", "D4"]
    (folder,) = (tmp_path / "cache" / "embeddings").iterdir()
    assert "-bf16-" in folder.name
