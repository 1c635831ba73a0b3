"""A plain BERT and its WordPiece tokenizer, read without transformers: for encoding only, never for training.

Importing transformers with its BERT takes 1.9 s of CPU time and 120 MiB of memory, more than everything else that a
linker loads besides PyTorch. Most encoders are plain BERT, which this module reads from the same files, with the same
token ids and states. For other settings, the functions return None, and transformers is used.

Weights are memory-mapped; pages needed only for reordering them (`packed`) are released.
"""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from models.encoders.encoder_folder import EncoderFolder

SPECIAL = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
TOKENIZERS = ("BertTokenizer", "BertTokenizerFast")
PLAIN_SETTINGS: Mapping[str, tuple[Any, ...]] = {
    "model_type": ("bert",),
    "hidden_act": ("gelu",),
    "position_embedding_type": (None, "absolute"),
    "is_decoder": (None, False),
    "add_cross_attention": (None, False),
    "embedding_size": (None,),
}
SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)
Weights = Mapping[str, Tensor]
Affine = TypeVar("Affine", nn.Linear, nn.LayerNorm)


class Bert(nn.Module):
    """The weights under the names of transformers' `BertModel`, without pooler and dropout; `packed` computes with
    them. They are views of a file's `mapping`, which must not be written."""

    def __init__(self, config: SimpleNamespace, weights: Weights, mapping: mmap.mmap) -> None:
        super().__init__()
        self.config = config
        self.mapping = mapping
        size, lines = config.hidden_size, config.max_position_embeddings
        self.embeddings = _parts(
            word_embeddings=_embedding(weights, "embeddings.word_embeddings", config.vocab_size, size),
            position_embeddings=_embedding(weights, "embeddings.position_embeddings", lines, size),
            token_type_embeddings=_embedding(weights, "embeddings.token_type_embeddings", config.type_vocab_size, size),
            LayerNorm=_norm(weights, "embeddings.LayerNorm", config),
        )
        layers = (_layer(config, weights, f"encoder.layer.{at}") for at in range(config.num_hidden_layers))
        self.encoder = _parts(layer=nn.ModuleList(layers))

    def give_back(self) -> None:
        """Release the pages of the weights; they are read again when needed."""
        if sys.platform != "win32":
            self.mapping.madvise(mmap.MADV_DONTNEED)


def _layer(config: SimpleNamespace, weights: Weights, name: str) -> nn.Module:
    size, inner = config.hidden_size, config.intermediate_size
    own, joined = f"{name}.attention.self", f"{name}.attention.output"
    asked = {part: _linear(weights, f"{own}.{part}", size, size) for part in ("query", "key", "value")}
    attended = _parts(
        dense=_linear(weights, f"{joined}.dense", size, size), LayerNorm=_norm(weights, f"{joined}.LayerNorm", config)
    )
    return _parts(
        attention=_parts(self=_parts(**asked), output=attended),
        intermediate=_parts(dense=_linear(weights, f"{name}.intermediate.dense", size, inner)),
        output=_parts(
            dense=_linear(weights, f"{name}.output.dense", inner, size),
            LayerNorm=_norm(weights, f"{name}.output.LayerNorm", config),
        ),
    )


def _parts(**named: nn.Module) -> nn.Module:
    """A module with these parts, one of which may be named `self`."""
    found = nn.Module()
    for name, part in named.items():
        found.add_module(name, part)
    return found


def _embedding(weights: Weights, name: str, rows: int, size: int) -> nn.Embedding:
    made = nn.Embedding(1, 1)  # skips random initial weights
    made.num_embeddings, made.embedding_dim = rows, size
    made.weight = nn.Parameter(_taken(weights, f"{name}.weight", rows, size), requires_grad=False)
    return made


def _linear(weights: Weights, name: str, inputs: int, outputs: int) -> nn.Linear:
    made = nn.Linear(1, 1)
    made.in_features, made.out_features = inputs, outputs
    return _given(made, _taken(weights, f"{name}.weight", outputs, inputs), _taken(weights, f"{name}.bias", outputs))


def _norm(weights: Weights, name: str, config: SimpleNamespace) -> nn.LayerNorm:
    size = config.hidden_size
    made = nn.LayerNorm(size, eps=config.layer_norm_eps)
    return _given(made, _taken(weights, f"{name}.weight", size), _taken(weights, f"{name}.bias", size))


def _given(made: Affine, weight: Tensor, bias: Tensor) -> Affine:
    made.weight, made.bias = nn.Parameter(weight, requires_grad=False), nn.Parameter(bias, requires_grad=False)
    return made


def _taken(weights: Weights, name: str, *shape: int) -> Tensor:
    """The tensor of this name and shape. Raises KeyError or ValueError if there is none."""
    if weights[name].shape != shape:
        raise ValueError(f"{name} is {tuple(weights[name].shape)}, not {shape}")
    return weights[name]


def plain_bert(found: EncoderFolder) -> Bert | None:
    """The network of a folder, its float32 weights in their file; None if it is not plain BERT or lacks a weight."""
    config = found.config
    plain = all(config.get(name) in allowed for name, allowed in PLAIN_SETTINGS.items())
    if not plain or len(found.weights) != 1 or not all(isinstance(config.get(name), int) for name in SIZES):
        return None
    try:
        mapping, weights = _mapped(found.weights[0])
        return Bert(SimpleNamespace(**{"layer_norm_eps": 1e-12, **config}), weights, mapping)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return None  # transformers reports the error


def _mapped(path: Path) -> tuple[mmap.mmap, Weights]:
    """The float32 tensors of a safetensors file: eight bytes for the header's length, the header in JSON, numbers."""
    with path.open("rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    start = 8 + int.from_bytes(mapping[:8], "little")
    tensors = {}
    for name, place in json.loads(mapping[8:start]).items():
        if name == "__metadata__" or place["dtype"] != "F32":
            continue
        first, last = place["data_offsets"]
        if (last - first) % 4 or not 0 <= first < last <= len(mapping) - start:
            raise ValueError(f"{name} does not lie in the file")
        flat = torch.frombuffer(mapping, dtype=torch.float32, count=(last - first) // 4, offset=start + first)
        tensors[name] = flat.view(place["shape"])
    return mapping, tensors


@dataclass(frozen=True, slots=True)
class Tokenised:
    """The token ids of each text and their (start, end) in code points."""

    input_ids: list[list[int]]
    offset_mapping: list[list[tuple[int, int]]]


class PlainTokenizer:
    """The part of a transformers tokenizer that `models` uses, with the same `backend_tokenizer`."""

    def __init__(self, backend: Any) -> None:
        self.backend_tokenizer = backend
        ids = {name: backend.token_to_id(token) for name, token in SPECIAL.items()}
        self.unk_token_id: int = ids["unk_token"]
        self.pad_token_id: int = ids["pad_token"]
        self.cls_token_id: int = ids["cls_token"]
        self.sep_token_id: int = ids["sep_token"]

    def __call__(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool = True,
        truncation: bool = False,
        max_length: int | None = None,
        return_offsets_mapping: bool = False,
        **_: object,
    ) -> Tokenised:
        backend = self.backend_tokenizer
        if truncation and max_length is not None:
            backend.enable_truncation(max_length)
        else:
            backend.no_truncation()
        # offsets in code points take longer
        encode = backend.encode_batch if return_offsets_mapping else backend.encode_batch_fast
        found = encode(list(texts), add_special_tokens=add_special_tokens)
        offsets = [list(one.offsets) for one in found] if return_offsets_mapping else []
        return Tokenised([one.ids for one in found], offsets)

    def convert_tokens_to_ids(self, token: str) -> int:
        """The id of a token, or of the unknown token."""
        found = self.backend_tokenizer.token_to_id(token)
        return self.unk_token_id if found is None else int(found)


def plain_tokenizer(body: Path) -> PlainTokenizer | None:
    """The tokenizer of a folder; None if its settings differ from its `tokenizer.json`."""
    from tokenizers import Tokenizer

    try:
        stored = json.loads((body / "tokenizer.json").read_text(encoding="utf-8"))
        settings = json.loads((body / "tokenizer_config.json").read_text(encoding="utf-8"))
        special = body / "special_tokens_map.json"
        others = json.loads(special.read_text(encoding="utf-8")) if special.is_file() else {}
        if not _is_plain(stored, settings, others):
            return None
        backend = Tokenizer.from_str(json.dumps(stored))
    except Exception:  # of the tokenizers library, which raises nothing narrower; transformers reports the error
        return None
    backend.no_padding()
    ends = [backend.token_to_id(SPECIAL[name]) for name in ("cls_token", "sep_token")]
    return PlainTokenizer(backend) if None not in ends and backend.encode("").ids == ends else None


def _is_plain(stored: Any, settings: Any, others: Any) -> bool:
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": settings.get("tokenize_chinese_chars", True),
        "strip_accents": settings.get("strip_accents"),
        "lowercase": settings.get("do_lower_case", True),
    }
    pieces = {"type": "WordPiece", "unk_token": SPECIAL["unk_token"], "continuing_subword_prefix": "##"}
    model, added = stored["model"], stored["added_tokens"]
    return (
        settings.get("tokenizer_class") in TOKENIZERS
        and all(one.get(name, token) == token for one in (settings, others) for name, token in SPECIAL.items())
        and not (settings.keys() | others.keys()) & {"additional_special_tokens", "extra_special_tokens"}
        and stored["normalizer"] == normalizer
        and stored["pre_tokenizer"] == {"type": "BertPreTokenizer"}
        and {name: model[name] for name in pieces} == pieces
        and model["max_input_chars_per_word"] == 100
        and {token["content"] for token in added} == set(SPECIAL.values())
        and all(token["special"] and not token["normalized"] for token in added)
        and not any(token[side] for token in added for side in ("lstrip", "rstrip", "single_word"))
    )
