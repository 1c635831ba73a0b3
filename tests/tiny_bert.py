"""A tiny random BERT with a WordPiece vocabulary, written as a real encoder folder."""

from __future__ import annotations

import json
import string
from pathlib import Path

import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel

SPECIAL = ["[PAD]", "[unused0]", "[unused1]", "[unused2]", "[unused3]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [
    "the",
    "of",
    "and",
    "in",
    "a",
    "cancer",
    "disease",
    "breast",
    "ovarian",
    "heart",
    "failure",
    "acute",
    "chronic",
    "acid",
    "pain",
    "drug",
]


def vocabulary() -> list[str]:
    """Special tokens, a few words, and every ASCII letter, digit and mark as word and as continuation."""
    characters = list(string.ascii_lowercase + string.digits)
    marks = list("-,.;:()[]|/+'αβγé")
    return SPECIAL + WORDS + characters + [f"##{c}" for c in characters] + marks


def build_tiny_bert(
    folder: Path, *, seed: int = 0, hidden: int = 32, layers: int = 2, pooling: str = "mean", positions: int = 128
) -> Path:
    """Write config, safetensors weights, tokenizer and (for a sentence-transformers layout) pooling.

    ``pooling`` "" gives the plain transformers layout.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = vocabulary()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertModel(
            BertConfig(
                vocab_size=len(words),
                hidden_size=hidden,
                num_hidden_layers=layers,
                num_attention_heads=2,
                intermediate_size=2 * hidden,
                max_position_embeddings=positions,
                initializer_range=0.2,
            ),
            add_pooling_layer=False,
        )
    model.save_pretrained(folder, safe_serialization=True)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    BertWordPieceTokenizer(str(folder / "vocab.txt"), lowercase=True).save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "model_max_length": positions,
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    if pooling:
        _write_pooling(folder, pooling, hidden)
    return folder


def _write_pooling(folder: Path, pooling: str, hidden: int) -> None:
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling")
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (kind, path) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "1_Pooling").mkdir(exist_ok=True)
    modes = {
        "word_embedding_dimension": hidden,
        "pooling_mode_cls_token": pooling == "cls",
        "pooling_mode_mean_tokens": pooling == "mean",
    }
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes), encoding="utf-8")
