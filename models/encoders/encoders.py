"""BERT-family encoders: texts in, vectors out. Which folders are accepted is defined in
``models.encoders.encoder_folder``."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from models.core.device import Device, Precision, choose_device, give_back_gpu_memory
from models.core.file_io import fsync_file
from models.encoders.encoder_folder import REMEDY, WEIGHTS, EncoderFolder, read_folder
from models.encoders.encoder_modules import write_layout
from models.encoders.packed import PackedBert, packed, pool_packed
from models.encoders.plain_bert import plain_bert, plain_tokenizer
from models.encoders.pooling import Pooling, pool
from models.errors import ModelError, no_memory, nsay, say

EncodeProgress = Callable[[int, int], None]
FloatArray = NDArray[np.float32]


class EncoderModule(nn.Module):
    """The trainable part: a transformer, and the pooling of its token states."""

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
        """The transformer's layers in order. Raises ModelError if it does not expose them."""
        body = getattr(self.transformer, "encoder", None) or getattr(self.transformer, "transformer", None)
        layers = getattr(body, "layer", None) or getattr(body, "layers", None)
        if not isinstance(layers, nn.ModuleList):
            raise ModelError(say("This kind of encoder does not expose its layers. Choose a BERT encoder."))
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
    """An encoder ready to use. ``fingerprint`` identifies weights, tokenizer and pooling on disk.

    Its number format is the device's; vectors in different formats are similar, not equal.
    """

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
        """Equal keys guarantee equal vectors for equal texts, up to rounding; each number format has its own key."""
        key = f"{self.fingerprint[:40]}-{self.max_tokens}"
        return key if self.device.precision is Precision.FP32 else f"{key}-{self.device.precision.value}"

    def encode(
        self,
        texts: Sequence[str],
        *,
        batch_size: int | None = None,
        normalize: bool = True,
        progress: EncodeProgress | None = None,
    ) -> FloatArray:
        """(n, d) float32 vectors in the order of ``texts``, of length 1 if ``normalize``.

        Texts are cut at ``max_tokens``; batches hold texts of similar length, so padding costs little.
        """
        return self.encode_ids(self.token_ids(texts), batch_size=batch_size, normalize=normalize, progress=progress)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, including special tokens, at most ``max_tokens``; half a surrogate pair counts as "?"."""
        if not texts:
            return []
        encoded: list[list[int]] = self.tokenizer(
            [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts],
            truncation=True,
            max_length=self.max_tokens,
            add_special_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=False,
        ).input_ids
        return encoded

    def encode_ids(
        self,
        token_ids: Sequence[Sequence[int]],
        *,
        batch_size: int | None = None,
        normalize: bool = True,
        progress: EncodeProgress | None = None,
    ) -> FloatArray:
        """Like `encode`, for texts given as token ids, including special tokens; a text without tokens gives a zero
        vector."""
        vectors = np.zeros((len(token_ids), self.dimension), dtype=np.float32)
        done = 0

        def encode_rows(rows: list[int]) -> None:
            nonlocal done
            texts = [token_ids[row] for row in rows]
            if not texts[0]:
                return  # longest come first: only empty ones are left
            with torch.inference_mode():
                vectors[rows] = self._pooled(texts).float().cpu().numpy()
            done += len(rows)
            if progress is not None:
                progress(done, len(token_ids))

        self.module.eval()
        limit = batch_size or self.device.batch_size
        in_batches(encode_rows, [len(ids) for ids in token_ids], limit=limit, tokens=self.device.batch_tokens)
        return normalized(vectors) if normalize else vectors

    def each(self, token_ids: Sequence[Sequence[int]], work: Callable[[list[int], torch.Tensor], None]) -> None:
        """Call `work` with the rows of each batch of texts of similar length, and the (tokens, d) float32 states of
        their last layer, concatenated without padding, on the encoder's device.

        A batch that does not fit into memory is done again in halves: `work` must not count what it did before.
        """

        def batch(rows: list[int]) -> None:
            with torch.inference_mode():
                work(rows, self.states([token_ids[row] for row in rows]))

        self.module.eval()
        lengths = [len(ids) for ids in token_ids]
        in_batches(batch, lengths, limit=self.device.batch_size, tokens=self.device.batch_tokens)

    @torch.inference_mode()
    def states(self, texts: Sequence[Sequence[int]]) -> torch.Tensor:
        """(tokens, d) float32 states of the last layer, as in `each`."""
        if bert := self.packed():
            return bert.states(texts)
        ids, mask = self.pad(texts)
        return self.module.token_states(ids, mask)[mask.bool()].float()

    def packed(self) -> PackedBert | None:
        """The network for concatenated texts, with its current weights; None if it pads texts, as on a GPU."""
        return packed(self.module.transformer)

    def _pooled(self, texts: Sequence[Sequence[int]]) -> torch.Tensor:
        if bert := self.packed():
            return pool_packed(bert.states(texts), [len(text) for text in texts], self.pooling)
        return cast(torch.Tensor, self.module(*self.pad(texts)))

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


def in_batches(work: Callable[[list[int]], None], lengths: Sequence[int], *, limit: int, tokens: int) -> None:
    """Do `work` with the rows of each of `length_batches`.

    What does not fit in memory is done again in halves, and so is all that is as large, so `work` must not count what
    it did before it failed. Raises NoMemoryError if one text alone does not fit.
    """
    waiting = length_batches(lengths, limit=limit, tokens=tokens)[::-1]
    room = inf  # tokens, with padding
    while waiting:
        rows = waiting.pop()
        middle = (len(rows) + 1) // 2
        if len(rows) * lengths[rows[0]] <= room or len(rows) == 1:
            if _fits(work, rows):
                continue
            give_back_gpu_memory()
            room = middle * lengths[rows[0]]
        waiting += [rows[middle:], rows[:middle]]


def _fits(work: Callable[[list[int]], None], rows: list[int]) -> bool:
    try:
        work(rows)
    except (RuntimeError, MemoryError) as error:
        if (reported := no_memory(error)) is None:
            raise
        if len(rows) == 1:
            raise reported from error
        return False
    return True


def normalized(vectors: FloatArray) -> FloatArray:
    """Rows of length 1; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: FloatArray = np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)
    return result


def load_encoder(
    folder: Path | str,
    *,
    device: str | Device = "auto",
    precision: Precision | str = Precision.FP32,
    max_tokens: int | None = None,
    pooling: Pooling | None = None,
    trainable: bool = True,
) -> Encoder:
    """Read an encoder's folder, or a Hugging Face name that is on this computer; nothing is downloaded.

    Pooling and length limit are the folder's unless given. ``precision`` (see `choose_precision`) is used if ``device``
    is a name; a Device has its own. An encoder that is not ``trainable`` is for encoding only: a plain BERT on a CPU
    then loads in a fraction of the time. Raises ModelError that names missing or unsupported parts.
    """
    found = read_folder(folder)
    place = choose_device(device, precision=precision) if isinstance(device, str) else device
    used_pooling = pooling or found.pooling
    light = not trainable and place.torch.type == "cpu" and place.precision is Precision.FP32
    module = EncoderModule(
        (plain_bert(found) if light else None) or _load_transformer(found, place.dtype), pooling=used_pooling
    )
    return Encoder(
        module=module.to(place.torch).eval(),
        tokenizer=_load_tokenizer(found, light=light),
        device=place,
        max_tokens=min(max_tokens or found.max_tokens, found.positions),
        fingerprint=found.fingerprint(used_pooling),
        folder=found.root,
    )


def save_encoder(encoder: Encoder, folder: Path) -> str:
    """Write weights, tokenizer, length limit and pooling (sentence-transformers layout); returns the fingerprint."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    transformer = cast(Any, encoder.module.transformer)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in transformer.state_dict().items()}
    save_file(tensors, str(folder / WEIGHTS), metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(transformer.config.to_dict(), indent=1, sort_keys=True))
    encoder.tokenizer.save_pretrained(str(folder))
    write_layout(folder, encoder.pooling, dimension=encoder.dimension, max_tokens=encoder.max_tokens)
    fsync_file(folder / WEIGHTS)
    return read_folder(folder).fingerprint(encoder.pooling)


def _load_tokenizer(found: EncoderFolder, *, light: bool) -> Any:
    """The folder's fast tokenizer."""
    tokenizer = (plain_tokenizer(found.body) if light else None) or _any_tokenizer(found)
    if found.layout.lower_case:
        _lower_case(tokenizer.backend_tokenizer)
    return tokenizer


def _any_tokenizer(found: EncoderFolder) -> Any:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(found.body), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        raise ModelError(
            say(
                "The tokenizer in {body} cannot be read ({error}). {remedy}",
                body=found.body,
                error=error,
                remedy=say(REMEDY),
            )
        ) from error


def _lower_case(tokenizer: Any) -> None:
    """Lower-case first, as the folder's settings require, even if the tokenizer does not."""
    from tokenizers.normalizers import Lowercase, Sequence

    own = tokenizer.normalizer
    tokenizer.normalizer = Lowercase() if own is None else Sequence([Lowercase(), own])


def _load_transformer(found: EncoderFolder, dtype: torch.dtype) -> nn.Module:
    from safetensors import SafetensorError
    from transformers import AutoModel
    from transformers import logging as transformers_logging

    verbosity = transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity(logging.ERROR)  # do not warn about the missing pooler, which is not used
    try:
        model, report = AutoModel.from_pretrained(
            str(found.body),
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=dtype,
            output_loading_info=True,
        )
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(
            say(
                "The encoder in {body} cannot be loaded ({error}). {remedy}",
                body=found.body,
                error=error,
                remedy=say(REMEDY),
            )
        ) from error
    finally:
        transformers_logging.set_verbosity(verbosity)
    _check_complete(found.body, report["missing_keys"])
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # not used here, and not changed by training
    return cast(nn.Module, model)


def _check_complete(folder: Path, missing: Iterable[str]) -> None:
    """Raises ModelError for missing weights, which would be drawn at random and give meaningless vectors."""
    lacking = sorted(name for name in missing if not name.startswith("pooler.") and "position_ids" not in name)
    if lacking:
        raise ModelError(
            nsay(
                "The weights in {folder} do not match its config.json: {first} is missing. {remedy}",
                "The weights in {folder} do not match its config.json: {n} of them are missing, the "
                "first is {first}. {remedy}",
                len(lacking),
                folder=folder,
                first=lacking[0],
                remedy=say(REMEDY),
            )
        )
