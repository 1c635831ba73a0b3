"""Re-ranking by a cross-encoder: one transformer reads mention and entity together (PEL appendix B).

Score: ``s(m, e) = y W`` with y the mean of the last layer's states over all tokens that are not padding, and W a linear
layer without bias. The paper uses 16 candidates and 256 tokens; the defaults on a CPU are 8 and 128.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from models.core.file_io import atomic_path
from models.core.kb import KnowledgeBase
from models.encoders.encoders import Encoder, EncoderModule
from models.encoders.inputs import InputSettings, entity_tokens, mention_tokens, pair_tokens
from models.encoders.packed import pool_packed
from models.encoders.pooling import Pooling, mean_pool
from models.errors import ModelError, say
from models.rankers.ranker import FLOATS, REMEDY, RankerSettings, relative_by_softmax
from models.retrievers.biencoder import Mentions

HEAD_FILE = "head.safetensors"
HEAD_SPREAD = 0.02


class CrossEncoderModule(nn.Module):
    """The trainable part: a transformer and the linear layer W."""

    def __init__(self, encoder: EncoderModule, head: nn.Linear) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """(n, tokens) ids and mask of pairs → (n,) scores, higher is better."""
        states = self.encoder.token_states(input_ids, attention_mask)
        scores: torch.Tensor = self.head(mean_pool(states, attention_mask)).squeeze(-1)
        return scores


@dataclass(frozen=True, slots=True, eq=False)
class CrossEncoder:
    """``module.encoder`` is the encoder's own network; ``kb`` gives the entities' texts."""

    name: str
    module: CrossEncoderModule
    encoder: Encoder
    settings: RankerSettings
    kb: KnowledgeBase

    def score(self, mentions: Mentions, candidates: Sequence[NDArray[np.int64]]) -> list[FLOATS]:
        """For each mention the (c,) scores of its candidate entity rows; pairs of all mentions share batches."""
        inputs, tokenizer = self.settings.inputs, self.encoder.tokenizer
        rows = {int(row) for own in candidates for row in own}
        entities = {row: entity_tokens(tokenizer, self.kb.entities[row], settings=inputs) for row in rows}
        pairs = []
        for (document, mention), own in zip(mentions, candidates, strict=True):
            ids = mention_tokens(tokenizer, document, mention, settings=inputs).ids
            pairs += [pair_tokens(ids, entities[int(row)]) for row in own]
        scores = iter(score_pairs(self.module, self.encoder, pairs))
        return [np.fromiter(islice(scores, len(own)), dtype=np.float32) for own in candidates]

    def relative(self, scores: FLOATS) -> FLOATS:
        """(c,) scores made relative by softmax, as in training."""
        return relative_by_softmax(scores)


def score_pairs(module: CrossEncoderModule, encoder: Encoder, pairs: Sequence[tuple[int, ...]]) -> FLOATS:
    """(n,) scores of token ids from ``pair_tokens``; equal pairs are scored once, batches have similar lengths."""
    distinct = list(dict.fromkeys(pairs))
    number = {pair: row for row, pair in enumerate(distinct)}
    scores = np.zeros(len(distinct), dtype=np.float32)

    def score(rows: list[int], states: torch.Tensor) -> None:
        vectors = pool_packed(states, [len(distinct[row]) for row in rows], Pooling.MEAN)
        scores[rows] = module.head(vectors.to(module.head.weight.dtype)).squeeze(-1).float().cpu().numpy()

    encoder.each(distinct, score)
    return scores[[number[pair] for pair in pairs]]


def new_head(encoder: Encoder, *, seed: int) -> nn.Linear:
    """An untrained W, small normal numbers from ``seed``."""
    head = nn.Linear(encoder.dimension, 1, bias=False)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        head.weight.copy_(HEAD_SPREAD * torch.randn(head.weight.shape, generator=generator))
    return head.to(device=encoder.device.torch, dtype=encoder.device.dtype)


def check_length(encoder: Encoder, inputs: InputSettings) -> int:
    """The number of tokens of the longest pair; raises ModelError if it exceeds the encoder's limit."""
    wanted = inputs.mention_tokens + inputs.entity_tokens - 1
    most = int(getattr(encoder.module.transformer.config, "max_position_embeddings", wanted))
    if wanted > most:
        raise ModelError(
            say(
                "A cross-encoder reads mention and entity together: {mention_tokens} and {entity_tokens} tokens "
                "are more than the {most} that the encoder {folder} reads. Choose fewer tokens.",
                mention_tokens=inputs.mention_tokens,
                entity_tokens=inputs.entity_tokens,
                most=most,
                folder=encoder.folder,
            )
        )
    return wanted


def save_head(head: nn.Linear, folder: Path, *, encoder: str) -> None:
    """Write W into a bundle's ranker folder, with the fingerprint of the encoder it belongs to."""
    from safetensors.torch import save_file

    with atomic_path(folder / HEAD_FILE) as beside:
        save_file(
            {"weight": head.weight.detach().float().cpu().contiguous()}, str(beside), metadata={"encoder": encoder}
        )


def load_cross_encoder(
    name: str, encoder: Encoder, folder: Path, *, settings: RankerSettings, kb: KnowledgeBase
) -> CrossEncoder:
    """The ranker of a bundle; raises ModelError if W is missing, damaged or for another encoder, or if pairs are too
    long."""
    check_length(encoder, settings.inputs)
    head = nn.Linear(encoder.dimension, 1, bias=False)
    weight = _read_head(folder / HEAD_FILE, encoder)
    with torch.no_grad():
        head.weight.copy_(weight)
    head.to(device=encoder.device.torch, dtype=encoder.device.dtype)
    module = CrossEncoderModule(encoder.module, head)
    return CrossEncoder(name, module.eval(), encoder, settings, kb)


def _read_head(path: Path, encoder: Encoder) -> torch.Tensor:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="pt") as file:
            owner = (file.metadata() or {}).get("encoder")
            weight: torch.Tensor = file.get_tensor("weight")
    except (OSError, SafetensorError) as error:
        raise ModelError(
            say(
                "The ranker's last layer {path} cannot be read ({error}). {remedy}",
                path=path,
                error=error,
                remedy=say(REMEDY),
            )
        ) from error
    if owner != encoder.fingerprint:
        raise ModelError(
            say("The ranker's last layer {path} belongs to another encoder. {remedy}", path=path, remedy=say(REMEDY))
        )
    if tuple(weight.shape) != (1, encoder.dimension) or not bool(torch.isfinite(weight).all()):
        raise ModelError(
            say(
                "The ranker's last layer {path} does not contain {dimension} numbers. {remedy}",
                path=path,
                dimension=encoder.dimension,
                remedy=say(REMEDY),
            )
        )
    return weight
