"""BERT-family encoders read from a local folder; nothing is ever fetched, no code of the folder is run.

Two layouts are understood: plain transformers (``config.json``, ``model.safetensors``, a tokenizer) and
sentence-transformers (the same, with ``modules.json`` and a pooling folder).
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from models.device import Device, choose_device
from models.errors import ModelError
from models.files import fsync_file, read_json, sha256_file, write_json
from models.pooling import Pooling, pool

BERT_FAMILY = frozenset({"albert", "bert", "deberta-v2", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta"})
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model", "spm.model")
WEIGHTS = "model.safetensors"
REMEDY = "Choose a folder of a BERT-family encoder with safetensors weights."

EncodeProgress = Callable[[int, int], None]
FloatArray = NDArray[np.float32]


class EncoderModule(nn.Module):
    """The trainable part: a transformer, and how its token states become one vector."""

    def __init__(self, transformer: nn.Module, *, pooling: Pooling) -> None:
        super().__init__()
        self.transformer = transformer
        self.pooling = pooling

    @property
    def hidden_size(self) -> int:
        return int(cast(Any, self.transformer).config.hidden_size)

    @property
    def embeddings(self) -> nn.Module:
        """The input embedding layer (word + position + segment), for freezing or perturbing it."""
        return cast(nn.Module, self.transformer.embeddings)

    @property
    def layers(self) -> nn.ModuleList:
        """The transformer's layers in order."""
        body = getattr(self.transformer, "encoder", None) or getattr(self.transformer, "transformer", None)
        layers = getattr(body, "layer", None) or getattr(body, "layers", None)
        if not isinstance(layers, nn.ModuleList):
            raise ModelError("This kind of encoder does not show its layers; choose a BERT encoder.")
        return layers

    def token_states(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """(n, tokens) ids and mask → (n, tokens, d) states of the last layer."""
        output = self.transformer(input_ids=input_ids, attention_mask=attention_mask)
        return cast(torch.Tensor, output.last_hidden_state)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """(n, tokens) ids and mask → (n, d) pooled vectors, not normalised."""
        return pool(self.token_states(input_ids, attention_mask), attention_mask, self.pooling)


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """An encoder ready to use. ``fingerprint`` names weights, tokenizer and pooling as they were on disk."""

    module: EncoderModule
    tokenizer: Any
    device: Device
    max_tokens: int
    fingerprint: str
    folder: Path

    @property
    def dimension(self) -> int:
        return self.module.hidden_size

    @property
    def pooling(self) -> Pooling:
        return self.module.pooling

    @property
    def cache_key(self) -> str:
        """Equal keys promise equal vectors for equal texts."""
        return f"{self.fingerprint[:40]}-{self.max_tokens}"

    def encode(
        self,
        texts: Sequence[str],
        *,
        batch_size: int | None = None,
        normalize: bool = True,
        progress: EncodeProgress | None = None,
    ) -> FloatArray:
        """(n, d) float32 vectors in the order of ``texts``, of length 1 if ``normalize``.

        Texts are cut at ``max_tokens``; batches are made of texts of like length, so padding costs little.
        """
        encoded = (
            self.tokenizer(
                list(texts),
                truncation=True,
                max_length=self.max_tokens,
                add_special_tokens=True,
                return_attention_mask=False,
                return_token_type_ids=False,
            ).input_ids
            if texts
            else []
        )
        return self.encode_ids(encoded, batch_size=batch_size, normalize=normalize, progress=progress)

    def encode_ids(
        self,
        token_ids: Sequence[Sequence[int]],
        *,
        batch_size: int | None = None,
        normalize: bool = True,
        progress: EncodeProgress | None = None,
    ) -> FloatArray:
        """The same for texts that are token ids already, special tokens included."""
        vectors = np.zeros((len(token_ids), self.dimension), dtype=np.float32)
        limit = batch_size or self.device.batch_size
        done = 0
        self.module.eval()
        for rows in length_batches([len(ids) for ids in token_ids], limit=limit, tokens=self.device.batch_tokens):
            ids, mask = self.pad([token_ids[row] for row in rows])
            with torch.inference_mode():
                output = self.module(ids, mask)
            vectors[rows] = output.float().cpu().numpy()
            done += len(rows)
            if progress is not None:
                progress(done, len(token_ids))
        return normalized(vectors) if normalize else vectors

    def pad(self, token_ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and mask, each (n, longest) int64 on the encoder's device."""
        return pad_ids(token_ids, pad_id=int(self.tokenizer.pad_token_id or 0), device=self.device.torch)


def pad_ids(
    token_ids: Sequence[Sequence[int]], *, pad_id: int, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Right-padded ids and their mask, each (n, longest) int64."""
    width = max((len(ids) for ids in token_ids), default=0)
    ids = np.full((len(token_ids), width), pad_id, dtype=np.int64)
    mask = np.zeros((len(token_ids), width), dtype=np.int64)
    for row, tokens in enumerate(token_ids):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def length_batches(lengths: Sequence[int], *, limit: int, tokens: int) -> list[list[int]]:
    """Rows grouped longest first, at most ``limit`` texts and about ``tokens`` tokens each."""
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    batches: list[list[int]] = []
    at = 0
    while at < len(order):
        size = max(1, min(limit, tokens // max(1, lengths[order[at]])))
        batches.append(order[at : at + size])
        at += size
    return batches


def normalized(vectors: FloatArray) -> FloatArray:
    """Rows of length 1; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: FloatArray = np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)
    return result


def load_encoder(
    folder: Path | str,
    *,
    device: str | Device = "auto",
    dtype: torch.dtype | None = None,
    max_tokens: int | None = None,
    pooling: Pooling | None = None,
) -> Encoder:
    """Read an encoder; pooling and length limit are the folder's own unless given.

    Raises ModelError naming what is missing or unfit.
    """
    path = Path(folder)
    config = check_folder(path)
    place = choose_device(device, dtype=dtype) if isinstance(device, str) else device
    used_pooling = pooling or read_pooling(path)
    module = EncoderModule(_load_transformer(path, place.dtype), pooling=used_pooling)
    limit = max_tokens or _folder_limit(path, config)
    return Encoder(
        module=module.to(place.torch).eval(),
        tokenizer=load_tokenizer(path),
        device=place,
        max_tokens=min(limit, int(config.get("max_position_embeddings", 512))),
        fingerprint=fingerprint(path, used_pooling),
        folder=path,
    )


def load_tokenizer(folder: Path) -> Any:
    """The folder's fast tokenizer."""
    from transformers import AutoTokenizer

    check_folder(folder)
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The tokenizer in {folder} cannot be read ({error}). {REMEDY}") from error


def save_encoder(encoder: Encoder, folder: Path) -> str:
    """Write weights, tokenizer, length limit and pooling (sentence-transformers layout); its fingerprint."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    transformer = cast(Any, encoder.module.transformer)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in transformer.state_dict().items()}
    save_file(tensors, str(folder / WEIGHTS), metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(transformer.config.to_dict(), indent=1, sort_keys=True))
    encoder.tokenizer.save_pretrained(str(folder))
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": encoder.max_tokens})
    write_pooling(folder, encoder.pooling, dimension=encoder.dimension)
    fsync_file(folder / WEIGHTS)
    return fingerprint(folder, encoder.pooling)


def write_pooling(folder: Path, pooling: Pooling, *, dimension: int) -> None:
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    write_json(folder / "modules.json", modules)
    modes = {
        "word_embedding_dimension": dimension,
        "pooling_mode_cls_token": pooling is Pooling.CLS,
        "pooling_mode_mean_tokens": pooling is Pooling.MEAN,
    }
    write_json(folder / "1_Pooling" / "config.json", modes)


def read_pooling(folder: Path) -> Pooling:
    """The pooling a sentence-transformers folder asks for; [CLS] for a plain one, as SapBERT is used."""
    if not (folder / "modules.json").exists():
        return Pooling.CLS
    modules = read_json(folder / "modules.json", what="The list of modules", remedy=REMEDY)
    places = [module.get("path", "") for module in modules if str(module.get("type", "")).endswith("Pooling")]
    if not places:
        return Pooling.MEAN
    modes = read_json(folder / places[0] / "config.json", what="The pooling settings", remedy=REMEDY)
    if modes.get("pooling_mode_cls_token") or modes.get("pooling_mode") == "cls":
        return Pooling.CLS
    if modes.get("pooling_mode_mean_tokens") or modes.get("pooling_mode") == "mean":
        return Pooling.MEAN
    raise ModelError(f"{folder / places[0]} asks for a pooling other than mean or cls. Choose another encoder.")


def check_folder(folder: Path) -> dict[str, Any]:
    """The folder's config; ModelError names everything that is missing or unfit."""
    if not folder.is_dir():
        raise ModelError(f"There is no encoder folder {folder}. {REMEDY}")
    missing = [name for name in ("config.json", WEIGHTS) if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        missing.append("a tokenizer (tokenizer.json or vocab.txt)")
    if missing:
        raise ModelError(f"{folder} is not an encoder folder: {', '.join(missing)} missing. {REMEDY}")
    config: dict[str, Any] = read_json(folder / "config.json", what="The encoder's config", remedy=REMEDY)
    kind = config.get("model_type")
    if kind not in BERT_FAMILY:
        raise ModelError(f"{folder} holds a {kind!r} network, which is not of the BERT family. {REMEDY}")
    return config


def fingerprint(folder: Path, pooling: Pooling) -> str:
    """SHA-256 over weights, tokenizer files and pooling."""
    digest = hashlib.sha256(pooling.value.encode())
    for name in (WEIGHTS, "config.json", *TOKENIZER_FILES):
        if (folder / name).is_file():
            digest.update(f"{name}:{sha256_file(folder / name)}".encode())
    return digest.hexdigest()


def _folder_limit(folder: Path, config: dict[str, Any]) -> int:
    settings = folder / "sentence_bert_config.json"
    if settings.is_file():
        found = read_json(settings, what="The encoder's settings", remedy=REMEDY).get("max_seq_length")
        if isinstance(found, int) and found > 0:
            return found
    return min(512, int(config.get("max_position_embeddings", 512)))


def _load_transformer(folder: Path, dtype: torch.dtype) -> nn.Module:
    from safetensors import SafetensorError
    from transformers import AutoModel
    from transformers import logging as transformers_logging

    verbosity = transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity(logging.ERROR)  # the unused pooler's absence is no news
    try:
        model = AutoModel.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, trust_remote_code=False, dtype=dtype
        )
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(f"The encoder in {folder} cannot be loaded ({error}). {REMEDY}") from error
    finally:
        transformers_logging.set_verbosity(verbosity)
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # never used here, and a tensor that training would leave unchanged
    return cast(nn.Module, model)
